/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and edges of a step, as HolisticTraceAnalysis has them (hta/analyzers/critical_path_analysis.py):
 *
 *	on a thread	from the start or end before, inside of an operator: the time between them, which
 *			belongs to the innermost operator; between outermost operators: nothing
 *	launch delay	from the call's start to the kernel's, if the stream had nothing more to do when
 *			the call began
 *	queue delay	else: from the end of the step's kernel before on this stream; if it has none, the
 *			stream was busy for another step, and nothing of this one leads to the kernel
 *	synchronization	from the kernel's end to that of the call that waits for it: nothing; and the call's
 *			own time is nothing, as it is the kernel's
 *
 * Events come in the order of their starts. A thread's ends are made up when something later begins on it,
 * or before a kernel begins, so a call that waits sees the kernels that began before its end and no others.
 */
#include "analysis/gpu/critical_path.h"

#include "base/check.h"
#include "base/units.h"

struct edge {
	uint32_t from;
	int64_t weight_ps;
	uint32_t op;
	enum cp_kind kind;
};

static uint32_t add_node(struct cp_graph *graph, int64_t at_ps, uint32_t op)
{
	if (graph->nr_nodes >= CP_NODES) {
		graph->is_cut = true;
		return TS_NONE;
	}
	if (!ts_grow(&graph->nodes, &graph->cap_nodes, graph->nr_nodes + 1, sizeof(*graph->nodes)))
		return TS_NONE;
	graph->nodes[graph->nr_nodes] = (struct cp_node){
		.at_ps = at_ps, .before = TS_NONE, .op = op, .kind = CP_DEPENDENCY
	};
	return (uint32_t)graph->nr_nodes++;
}

/* Nodes come after all that leads to them, so an edge into TO is taken or forgotten. Of two ways that are as long
 * the later one is taken: a wait leads to the kernel rather than to the call's own start. */
static void add_edge(struct cp_graph *graph, uint32_t to, struct edge edge)
{
	struct cp_node *node = &graph->nodes[to];
	int64_t long_ps;

	TS_ASSERT_HOT(edge.from < to && to < graph->nr_nodes);
	long_ps = ts_i64_add(graph->nodes[edge.from].long_ps, TS_MAX(edge.weight_ps, 0));
	if (node->before != TS_NONE && long_ps < node->long_ps)
		return;
	node->long_ps = long_ps;
	node->before = edge.from;
	node->op = edge.op;
	node->kind = (uint8_t)edge.kind;
}

static struct cp_lane *lane_of(struct cp_graph *graph, uint32_t line)
{
	for (size_t i = 0; i < graph->nr_lanes; i++)
		if (graph->lanes[i].line == line)
			return &graph->lanes[i];
	if (!ts_grow(&graph->lanes, &graph->cap_lanes, graph->nr_lanes + 1, sizeof(*graph->lanes)))
		return NULL;
	graph->lanes[graph->nr_lanes] = (struct cp_lane){ .line = line, .last = TS_NONE };
	return &graph->lanes[graph->nr_lanes++];
}

/* --- ends of what threads do */

/* The last kernels of streams that ended before END; a stream's last one may still run. */
static bool is_waited_for(const struct cp_graph *graph, const struct cp_lane *lane,
			  const struct cp_open *open)
{
	int64_t at_ps;

	if (lane->is_thread || lane->last == TS_NONE)
		return false;
	at_ps = graph->nodes[lane->last].at_ps;
	return at_ps <= open->end_ps && (open->sync != CP_SYNC_EVENT || at_ps > open->start_ps);
}

static void wait_for_kernels(struct cp_graph *graph, const struct cp_open *open, uint32_t end)
{
	uint32_t latest = TS_NONE;

	for (size_t i = 0; i < graph->nr_lanes; i++) {
		const struct cp_lane *lane = &graph->lanes[i];

		if (!is_waited_for(graph, lane, open))
			continue;
		if (open->sync == CP_SYNC_DEVICE)
			add_edge(graph, end, (struct edge){ lane->last, 0, open->op, CP_SYNC });
		else if (latest == TS_NONE ||
			 graph->nodes[latest].at_ps < graph->nodes[lane->last].at_ps)
			latest = lane->last;
	}
	if (latest != TS_NONE)
		add_edge(graph, end, (struct edge){ latest, 0, open->op, CP_SYNC });
}

/* The innermost open event of LANE ends. */
static bool end_innermost(struct cp_graph *graph, struct cp_lane *lane)
{
	struct cp_open open = lane->open[--lane->nr_open];
	uint32_t end = add_node(graph, open.end_ps, open.op);
	int64_t own_ps;

	if (end == TS_NONE)
		return graph->is_cut;
	own_ps = open.sync == CP_SYNC_NONE ? open.end_ps - graph->nodes[lane->last].at_ps : 0;
	add_edge(graph, end, (struct edge){ lane->last, own_ps, open.op, (enum cp_kind)open.kind });
	if (open.sync > CP_SYNC_BLOCKS)
		wait_for_kernels(graph, &open, end);
	lane->last = end;
	return true;
}

static bool end_until(struct cp_graph *graph, struct cp_lane *lane, int64_t at_ps)
{
	while (lane->nr_open > 0 && lane->open[lane->nr_open - 1].end_ps <= at_ps && !graph->is_cut)
		if (!end_innermost(graph, lane))
			return false;
	return true;
}

/* --- */

uint32_t ts_cp_begin(struct cp_graph *graph, uint32_t line, const struct cp_open *fresh)
{
	struct cp_lane *lane = lane_of(graph, line);
	const struct cp_open *outer;
	uint32_t node;

	if (!lane || !end_until(graph, lane, fresh->start_ps) || graph->is_cut ||
	    !ts_grow(&lane->open, &lane->cap_open, lane->nr_open + 1, sizeof(*lane->open)))
		return TS_NONE;
	lane->is_thread = true;
	node = add_node(graph, fresh->start_ps, fresh->op);
	if (node == TS_NONE)
		return TS_NONE;
	outer = lane->nr_open > 0 ? &lane->open[lane->nr_open - 1] : NULL;
	if (outer)
		add_edge(graph, node,
			 (struct edge){ lane->last,
					fresh->start_ps - graph->nodes[lane->last].at_ps, outer->op,
					(enum cp_kind)outer->kind });
	else if (lane->last != TS_NONE)
		add_edge(graph, node, (struct edge){ lane->last, 0, fresh->op, CP_DEPENDENCY });
	lane->last = node;
	lane->open[lane->nr_open] = *fresh;
	/* What ends later than that which holds it would be open after it. */
	if (outer)
		lane->open[lane->nr_open].end_ps = TS_MIN(fresh->end_ps, outer->end_ps);
	lane->nr_open++;
	return node;
}

bool ts_cp_kernel(struct cp_graph *graph, uint32_t line, uint32_t launch, uint32_t op,
		  enum cp_kind kind, int64_t start_ps, int64_t end_ps, int64_t busy_ps)
{
	struct cp_lane *lane;
	uint32_t start, end;

	for (size_t i = 0; i < graph->nr_lanes; i++)
		if (!end_until(graph, &graph->lanes[i], start_ps))
			return false;
	lane = lane_of(graph, line);
	if (!lane)
		return false;
	start = add_node(graph, start_ps, op);
	if (start == TS_NONE)
		return graph->is_cut;
	if (busy_ps < graph->nodes[launch].at_ps)
		add_edge(graph, start,
			 (struct edge){ launch, start_ps - graph->nodes[launch].at_ps, op,
					CP_LAUNCH_DELAY });
	else if (lane->last != TS_NONE)
		add_edge(graph, start,
			 (struct edge){ lane->last, start_ps - graph->nodes[lane->last].at_ps, op,
					CP_QUEUE_DELAY });
	end = add_node(graph, end_ps, op);
	if (end == TS_NONE)
		return graph->is_cut;
	add_edge(graph, end, (struct edge){ start, end_ps - start_ps, op, kind });
	lane->last = end;
	return true;
}

/* --- the path */

struct rows {
	struct cp_row *items;
	struct ts_map by_key;
	size_t nr, cap;
};

static bool count_row(struct rows *rows, const struct cp_node *node, int64_t time_ps)
{
	uint64_t key = (uint64_t)node->op * CP_NR_KINDS + node->kind;
	uint32_t at = ts_map_find(&rows->by_key, key);

	if (at == TS_NONE) {
		at = (uint32_t)rows->nr;
		if (!ts_grow(&rows->items, &rows->cap, rows->nr + 1, sizeof(*rows->items)) ||
		    !ts_map_set(&rows->by_key, key, at))
			return false;
		rows->items[rows->nr++] = (struct cp_row){ .op = node->op, .kind = node->kind };
	}
	rows->items[at].time_ps = ts_i64_add(rows->items[at].time_ps, time_ps);
	rows->items[at].nr++;
	return true;
}

static int by_time(const void *pa, const void *pb)
{
	const struct cp_row *a = pa, *b = pb;

	if (a->time_ps != b->time_ps)
		return a->time_ps > b->time_ps ? -1 : 1;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static void keep_rows(struct cp_path *path, struct rows *rows)
{
	if (rows->nr > 0)
		qsort(rows->items, rows->nr, sizeof(*rows->items), by_time);
	path->nr_rows = (uint32_t)TS_MIN(rows->nr, CP_ROWS);
	for (size_t i = 0; i < path->nr_rows; i++)
		path->rows[i] = rows->items[i];
	for (size_t i = path->nr_rows; i < rows->nr; i++) {
		path->others_ps = ts_i64_add(path->others_ps, rows->items[i].time_ps);
		path->nr_others += rows->items[i].nr;
	}
}

static uint32_t longest(const struct cp_graph *graph)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < graph->nr_nodes; i++)
		if (graph->nodes[i].long_ps >= graph->nodes[best].long_ps)
			best = i;
	return best;
}

static bool walk_back(const struct cp_graph *graph, struct cp_path *path)
{
	struct rows rows = { 0 };
	bool good = true;

	for (uint32_t i = longest(graph); good && graph->nodes[i].before != TS_NONE;
	     i = graph->nodes[i].before) {
		const struct cp_node *node = &graph->nodes[i];
		int64_t time_ps = node->long_ps - graph->nodes[node->before].long_ps;

		TS_ASSERT_HOT(node->before < i && node->kind < CP_NR_KINDS);
		path->kind_ps[node->kind] = ts_i64_add(path->kind_ps[node->kind], time_ps);
		path->nr_edges[node->kind]++;
		if (time_ps > 0)
			good = count_row(&rows, node, time_ps);
	}
	if (good)
		keep_rows(path, &rows);
	free(rows.items);
	ts_map_release(&rows.by_key);
	return good;
}

bool ts_cp_finish(struct cp_graph *graph, struct cp_path *path)
{
	for (size_t i = 0; i < graph->nr_lanes; i++)
		if (!end_until(graph, &graph->lanes[i], INT64_MAX))
			return false;
	path->number = graph->number;
	path->nr_nodes = graph->nr_nodes;
	path->start_ps = graph->start_ps;
	path->end_ps = graph->number == TS_NO_NUMBER ? graph->start_ps : graph->until_ps;
	for (size_t i = 0; i < graph->nr_nodes; i++)
		path->end_ps = TS_MAX(path->end_ps, graph->nodes[i].at_ps);
	for (size_t i = 0; i < CP_ROWS; i++)
		path->rows[i].op = TS_NONE;
	path->is_cut = graph->is_cut;
	return graph->is_cut || graph->nr_nodes == 0 || walk_back(graph, path);
}
