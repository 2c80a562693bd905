/* SPDX-License-Identifier: MIT */
/*
 * Nodes and edges of a step, as HolisticTraceAnalysis has them (hta/analyzers/hta_critical_path_analysis.py):
 *
 *	on a thread	from the start or end before, inside of an operator: the time between them, which
 *			belongs to the innermost operator; between outermost operators: nothing
 *	launch delay	from the call's start to the kernel's, if the stream had nothing more to do when
 *			the call began
 *	queue delay	else: from the end of the step's kernel before on this stream; if it has none, the
 *			stream was busy for another step, and nothing of this one leads to the kernel
 *	synchronization	from the kernel's end to that of the call that waits for it: nothing; and the call's
 *			own time is nothing, as it is the kernel's. From a kernel's end to the start of the one whose
 *			stream waited for it: nothing; and if that ended last, there is neither of the delays
 *
 * Where the trace does not say what a stream waits for, and a thread called cudaStreamWaitEvent before it launched a
 * kernel, the kernel waits for the one of another stream that ended last before it starts: if that ended when nothing
 * else held it any more.
 *
 * Events come in the order of their starts. A thread's ends are made up when something later begins on it,
 * or before a kernel begins, so a call that waits sees the kernels that began before its end and no others.
 */
#include "analysis/gpu/hta_critical_path.h"

#include "base/check.h"
#include "base/units.h"

struct edge {
	uint32_t from;
	int64_t weight_ps;
	uint32_t op;
	enum cp_kind kind;
};

/* *NODE TS_NONE: the graph is full, and cut here. */
static enum ts_status add_node(struct cp_graph *graph, int64_t at_ps, uint32_t op, uint32_t *node,
			       struct ts_error *err)
{
	*node = TS_NONE;
	if (graph->nr_nodes >= CP_NODES) {
		graph->is_cut = true;
		return TS_OK;
	}
	if (!ts_grow(&graph->nodes, &graph->cap_nodes, graph->nr_nodes + 1, sizeof(*graph->nodes)))
		return ts_fail_nomem(err);
	graph->nodes[graph->nr_nodes] = (struct cp_node){ .at_ps = at_ps,
							  .before = TS_NONE,
							  .op = op,
							  .beside = TS_NONE,
							  .kind = CP_DEPENDENCY };
	*node = (uint32_t)graph->nr_nodes++;
	return TS_OK;
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

static struct cp_lane *find_lane(const struct cp_graph *graph, uint32_t line)
{
	for (size_t i = 0; i < graph->nr_lanes; i++)
		if (graph->lanes[i].line == line)
			return &graph->lanes[i];
	return NULL;
}

static struct cp_lane *hta_critical_path_graph_lane_of(struct cp_graph *graph, uint32_t line)
{
	struct cp_lane *lane = find_lane(graph, line);

	if (lane)
		return lane;
	if (!ts_grow(&graph->lanes, &graph->cap_lanes, graph->nr_lanes + 1, sizeof(*graph->lanes)))
		return NULL;
	graph->lanes[graph->nr_lanes] = (struct cp_lane){ .line = line, .last = TS_NONE };
	return &graph->lanes[graph->nr_lanes++];
}

/* --- what is waited for */

/* Streams run kernels in the order of their launches. The end of a stream's last one that was launched until
 * BEFORE_PS and ended until END_PS, or TS_NONE. */
static uint32_t last_kernel(const struct cp_graph *graph, const struct cp_lane *lane,
			    int64_t before_ps, int64_t end_ps)
{
	uint32_t end = lane->is_thread ? TS_NONE : lane->last;

	for (size_t i = 0; i < CP_BEHIND && end != TS_NONE && end > 0; i++) {
		uint32_t launch = graph->nodes[end - 1].beside;

		if (launch != TS_NONE && graph->nodes[launch].at_ps <= before_ps)
			return graph->nodes[end].at_ps <= end_ps ? end : TS_NONE;
		end = graph->nodes[end].beside;
	}
	return TS_NONE;
}

/* The end of a stream's last kernel that ended until AT_PS, or TS_NONE. */
static uint32_t last_ended(const struct cp_graph *graph, const struct cp_lane *lane, int64_t at_ps)
{
	uint32_t end = lane->is_thread ? TS_NONE : lane->last;

	for (size_t i = 0; i < CP_BEHIND && end != TS_NONE; i++) {
		if (graph->nodes[end].at_ps <= at_ps)
			return end;
		end = graph->nodes[end].beside;
	}
	return TS_NONE;
}

static uint32_t awaited_kernel(const struct cp_graph *graph, struct cp_awaited what, int64_t end_ps)
{
	const struct cp_lane *lane = what.line == TS_NONE ? NULL : find_lane(graph, what.line);

	return lane ? last_kernel(graph, lane, what.before_ps, end_ps) : TS_NONE;
}

/* What OPEN waits for is known. */
static void wait_as_told(struct cp_graph *graph, const struct cp_open *open, uint32_t end)
{
	uint32_t kernel = awaited_kernel(graph, open->what, open->end_ps);

	if (kernel != TS_NONE)
		add_edge(graph, end, (struct edge){ kernel, 0, open->op, CP_SYNC });
}

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
	bool is_of_all = (open->told ? open->told : open->sync) == CP_SYNC_DEVICE;
	uint32_t latest = TS_NONE;

	for (size_t i = 0; i < graph->nr_lanes; i++) {
		const struct cp_lane *lane = &graph->lanes[i];

		if (!is_waited_for(graph, lane, open))
			continue;
		if (is_of_all)
			add_edge(graph, end, (struct edge){ lane->last, 0, open->op, CP_SYNC });
		else if (latest == TS_NONE ||
			 graph->nodes[latest].at_ps < graph->nodes[lane->last].at_ps)
			latest = lane->last;
	}
	if (latest != TS_NONE)
		add_edge(graph, end, (struct edge){ latest, 0, open->op, CP_SYNC });
}

/* --- ends of what threads do */

/* The innermost open event of LANE ends. */
static enum ts_status end_innermost(struct cp_graph *graph, struct cp_lane *lane,
				    struct ts_error *err)
{
	struct cp_open open = lane->open[--lane->nr_open];
	uint32_t end;
	enum ts_status st = add_node(graph, open.end_ps, open.op, &end, err);
	int64_t own_ps;

	if (st || end == TS_NONE)
		return st;
	own_ps = open.sync < CP_SYNC_BLOCKS ? open.end_ps - graph->nodes[lane->last].at_ps : 0;
	add_edge(graph, end, (struct edge){ lane->last, own_ps, open.op, (enum cp_kind)open.kind });
	if (open.told == CP_SYNC_STREAM || open.told == CP_SYNC_EVENT)
		wait_as_told(graph, &open, end);
	else if (open.told == CP_SYNC_DEVICE || open.sync > CP_SYNC_BLOCKS)
		wait_for_kernels(graph, &open, end);
	lane->last = end;
	return TS_OK;
}

static enum ts_status end_until(struct cp_graph *graph, struct cp_lane *lane, int64_t at_ps,
				struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (lane->nr_open > 0 && lane->open[lane->nr_open - 1].end_ps <= at_ps &&
	       !graph->is_cut && !st)
		st = end_innermost(graph, lane, err);
	return st;
}

/* --- */

enum ts_status ts_cp_begin(struct cp_graph *graph, uint32_t line, const struct cp_open *fresh,
			   uint32_t *begun, struct ts_error *err)
{
	struct cp_lane *lane = hta_critical_path_graph_lane_of(graph, line);
	const struct cp_open *outer;
	enum ts_status st;
	uint32_t node;

	*begun = TS_NONE;
	if (!lane)
		return ts_fail_nomem(err);
	st = end_until(graph, lane, fresh->start_ps, err);
	if (st || graph->is_cut)
		return st;
	if (!ts_grow(&lane->open, &lane->cap_open, lane->nr_open + 1, sizeof(*lane->open)))
		return ts_fail_nomem(err);
	lane->is_thread = true;
	st = add_node(graph, fresh->start_ps, fresh->op, &node, err);
	if (st || node == TS_NONE)
		return st;
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
	lane->open[lane->nr_open].node = node;
	if (fresh->launches) {
		graph->nodes[node].waits = lane->next_waits;
		lane->next_waits = false;
	}
	/* What ends later than that which holds it would be open after it. */
	if (outer)
		lane->open[lane->nr_open].end_ps = TS_MIN(fresh->end_ps, outer->end_ps);
	lane->nr_open++;
	*begun = node;
	return TS_OK;
}

/* START: of a kernel of LANE that was launched at LAUNCH_PS. Until when its stream had to wait for others. */
static int64_t end_of_waits(struct cp_graph *graph, struct cp_lane *lane, int64_t launch_ps,
			    uint32_t start)
{
	int64_t latest_ps = INT64_MIN;
	size_t nr = 0;

	for (; nr < lane->nr_waits && lane->waits[nr].at_ps <= launch_ps; nr++) {
		uint32_t kernel =
			awaited_kernel(graph, lane->waits[nr].what, graph->nodes[start].at_ps);

		if (kernel == TS_NONE)
			continue;
		add_edge(graph, start, (struct edge){ kernel, 0, graph->nodes[start].op, CP_SYNC });
		latest_ps = TS_MAX(latest_ps, graph->nodes[kernel].at_ps);
	}
	lane->nr_waits -= nr;
	if (nr > 0)
		memmove(lane->waits, lane->waits + nr, lane->nr_waits * sizeof(*lane->waits));
	return latest_ps;
}

/* Likewise, where it is not said for whom: for the other stream's kernel that ended last, if that was after SINCE_PS. */
static int64_t end_of_some_wait(struct cp_graph *graph, const struct cp_lane *own, uint32_t start,
				int64_t since_ps)
{
	uint32_t latest = TS_NONE;

	for (size_t i = 0; i < graph->nr_lanes; i++) {
		const struct cp_lane *lane = &graph->lanes[i];
		uint32_t end =
			lane == own ? TS_NONE : last_ended(graph, lane, graph->nodes[start].at_ps);

		if (end != TS_NONE && graph->nodes[end].at_ps > since_ps) {
			since_ps = graph->nodes[end].at_ps;
			latest = end;
		}
	}
	if (latest == TS_NONE)
		return INT64_MIN;
	add_edge(graph, start, (struct edge){ latest, 0, graph->nodes[start].op, CP_SYNC });
	return since_ps;
}

/* What leads to the start of a kernel: what ended last of its launch, its stream's kernel before and what it waits for. */
static void lead_to_kernel(struct cp_graph *graph, struct cp_lane *lane, uint32_t launch,
			   uint32_t start, int64_t busy_ps)
{
	int64_t start_ps = graph->nodes[start].at_ps, launch_ps = graph->nodes[launch].at_ps;
	uint32_t op = graph->nodes[start].op;
	int64_t waits_ps = end_of_waits(graph, lane, launch_ps, start);

	if (graph->nodes[launch].waits)
		waits_ps = end_of_some_wait(graph, lane, start, TS_MAX(launch_ps, busy_ps));
	if (busy_ps < launch_ps && waits_ps < launch_ps)
		add_edge(graph, start,
			 (struct edge){ launch, start_ps - launch_ps, op, CP_LAUNCH_DELAY });
	else if (lane->last != TS_NONE && waits_ps < graph->nodes[lane->last].at_ps)
		add_edge(graph, start,
			 (struct edge){ lane->last, start_ps - graph->nodes[lane->last].at_ps, op,
					CP_QUEUE_DELAY });
}

enum ts_status ts_cp_kernel(struct cp_graph *graph, uint32_t line, uint32_t launch, uint32_t op,
			    enum cp_kind kind, int64_t start_ps, int64_t end_ps, int64_t busy_ps,
			    struct ts_error *err)
{
	struct cp_lane *lane;
	uint32_t start, end;
	enum ts_status st;

	for (size_t i = 0; i < graph->nr_lanes; i++) {
		st = end_until(graph, &graph->lanes[i], start_ps, err);
		if (st)
			return st;
	}
	lane = hta_critical_path_graph_lane_of(graph, line);
	if (!lane)
		return ts_fail_nomem(err);
	st = add_node(graph, start_ps, op, &start, err);
	if (st || start == TS_NONE)
		return st;
	lead_to_kernel(graph, lane, launch, start, busy_ps);
	st = add_node(graph, end_ps, op, &end, err);
	if (st || end == TS_NONE)
		return st;
	add_edge(graph, end, (struct edge){ start, end_ps - start_ps, op, kind });
	graph->nodes[start].beside = launch;
	graph->nodes[end].beside = lane->last;
	lane->last = end;
	return TS_OK;
}

/* --- what synchronization events say */

static struct cp_open *hta_critical_path_graph_find_open(struct cp_graph *graph, uint32_t node)
{
	for (size_t i = 0; i < graph->nr_lanes; i++)
		for (size_t at = graph->lanes[i].nr_open; at-- > 0;)
			if (graph->lanes[i].open[at].node == node)
				return &graph->lanes[i].open[at];
	return NULL;
}

void ts_cp_call_waits(struct cp_graph *graph, uint32_t call, enum cp_sync told,
		      struct cp_awaited what)
{
	struct cp_open *open = hta_critical_path_graph_find_open(graph, call);

	if (!open)
		return;
	open->told = (uint8_t)told;
	open->what = what;
}

enum ts_status ts_cp_stream_waits(struct cp_graph *graph, uint32_t line, struct cp_wait wait,
				  struct ts_error *err)
{
	struct cp_lane *lane = hta_critical_path_graph_lane_of(graph, line);

	if (!lane)
		return ts_fail_nomem(err);
	if (lane->nr_waits == CP_WAITS)
		return TS_OK;
	if (!ts_grow(&lane->waits, &lane->cap_waits, lane->nr_waits + 1, sizeof(*lane->waits)))
		return ts_fail_nomem(err);
	lane->waits[lane->nr_waits++] = wait;
	return TS_OK;
}

void ts_cp_next_waits(struct cp_graph *graph, uint32_t line)
{
	struct cp_lane *lane = find_lane(graph, line);

	if (lane)
		lane->next_waits = true;
}

uint32_t ts_cp_latest(const struct cp_graph *graph, uint32_t line)
{
	const struct cp_lane *lane = find_lane(graph, line);

	return lane ? lane->last : TS_NONE;
}

enum ts_status ts_cp_end(struct cp_graph *graph, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < graph->nr_lanes && !st; i++)
		st = end_until(graph, &graph->lanes[i], INT64_MAX, err);
	return st;
}
