/* SPDX-License-Identifier: MIT */
/* The longest path of a step: back from its end over the nodes before, and by name and kind what time it takes. */
#include "analysis/gpu/hta_critical_path.h"

#include "base/check.h"
#include "base/units.h"
#include "base/order.h"

struct rows {
	struct cp_row *items;
	struct ts_map by_key;
	size_t nr, cap;
};

static enum ts_status count_row(struct rows *rows, const struct cp_node *node, int64_t time_ps,
				struct ts_error *err)
{
	uint64_t key = (uint64_t)node->op * CP_NR_KINDS + node->kind;
	uint32_t at = ts_map_find(&rows->by_key, key);

	if (at == TS_NONE) {
		at = (uint32_t)rows->nr;
		if (!ts_grow(&rows->items, &rows->cap, rows->nr + 1, sizeof(*rows->items)) ||
		    !ts_map_set(&rows->by_key, key, at))
			return ts_fail_nomem(err);
		rows->items[rows->nr++] = (struct cp_row){ .op = node->op, .kind = node->kind };
	}
	rows->items[at].time_ps = ts_i64_add(rows->items[at].time_ps, time_ps);
	rows->items[at].nr++;
	return TS_OK;
}

TS_ORDER(hta_critical_path_path_by_time, struct cp_row, TS_DOWN(time_ps) TS_UP(op) TS_UP(kind))

static void keep_rows(struct cp_path *path, struct rows *rows)
{
	TS_SORT(rows->items, rows->nr, hta_critical_path_path_by_time);
	path->nr_rows = (uint32_t)TS_MIN(rows->nr, CP_ROWS);
	for (size_t i = 0; i < path->nr_rows; i++)
		path->rows[i] = rows->items[i];
	for (size_t i = path->nr_rows; i < rows->nr; i++) {
		path->others_ps = ts_i64_add(path->others_ps, rows->items[i].time_ps);
		path->nr_others += rows->items[i].nr;
		path->nr_other_rows++;
	}
}

static uint32_t hta_critical_path_path_longest(const struct cp_graph *graph)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < graph->nr_nodes; i++)
		if (graph->nodes[i].long_ps >= graph->nodes[best].long_ps)
			best = i;
	return best;
}

static enum ts_status walk_back(const struct cp_graph *graph, struct cp_path *path,
				struct ts_error *err)
{
	struct rows rows = { 0 };
	enum ts_status st = TS_OK;

	for (uint32_t i = hta_critical_path_path_longest(graph);
	     !st && graph->nodes[i].before != TS_NONE; i = graph->nodes[i].before) {
		const struct cp_node *node = &graph->nodes[i];
		int64_t time_ps = node->long_ps - graph->nodes[node->before].long_ps;

		TS_ASSERT_HOT(node->before < i && node->kind < CP_NR_KINDS);
		path->kind_ps[node->kind] = ts_i64_add(path->kind_ps[node->kind], time_ps);
		path->nr_edges[node->kind]++;
		if (time_ps > 0)
			st = count_row(&rows, node, time_ps, err);
	}
	if (!st)
		keep_rows(path, &rows);
	free(rows.items);
	ts_map_release(&rows.by_key);
	return st;
}

enum ts_status ts_cp_path(const struct cp_graph *graph, struct cp_path *path, struct ts_error *err)
{
	TS_ASSERT(graph && path);
	path->number = graph->number;
	path->nr_nodes = graph->nr_nodes;
	path->start_ps = graph->start_ps;
	path->end_ps = graph->number == TS_NO_NUMBER ? graph->start_ps : graph->until_ps;
	for (size_t i = 0; i < graph->nr_nodes; i++)
		path->end_ps = TS_MAX(path->end_ps, graph->nodes[i].at_ps);
	for (size_t i = 0; i < CP_ROWS; i++)
		path->rows[i].op = TS_NONE;
	path->is_cut = graph->is_cut;
	return graph->is_cut || graph->nr_nodes == 0 ? TS_OK : walk_back(graph, path, err);
}
