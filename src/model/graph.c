/* SPDX-License-Identifier: MIT */
/* A graph of what waited for what: how it is made. */
#include "model/graph.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/units.h"

enum ts_status ts_graph_add_row(struct ts_graph *graph, struct ts_error *err)
{
	TS_ASSERT(graph && graph->nr_rows < TS_GRAPH_NONE);
	if (!ts_grow(&graph->rows, &graph->cap_rows, graph->nr_rows + 1, sizeof(*graph->rows)))
		return ts_fail_nomem(err);
	graph->rows[graph->nr_rows++] = (struct ts_graph_row){ .first = (uint32_t)graph->nr_nodes };
	return TS_OK;
}

enum ts_status ts_graph_add(struct ts_graph *graph, const struct ts_graph_node *node,
			    struct ts_error *err)
{
	struct ts_graph_row *row;

	TS_ASSERT(graph->nr_rows > 0 && node->start_ps <= node->end_ps);
	if (graph->nr_nodes >= TS_GRAPH_NONE)
		return ts_fail(err, TS_LIMIT, "a graph has more than %u nodes", TS_GRAPH_NONE);
	if (!ts_room_grow(graph->rooms, &graph->nodes, &graph->cap_nodes, graph->nr_nodes + 1,
			  sizeof(*graph->nodes)))
		return ts_fail_nomem(err);
	row = &graph->rows[graph->nr_rows - 1];
	TS_ASSERT(row->nr == 0 || graph->nodes[graph->nr_nodes - 1].end_ps == node->start_ps);
	graph->nodes[graph->nr_nodes] = *node;
	graph->nodes[graph->nr_nodes++].row = (uint32_t)graph->nr_rows - 1;
	row->nr++;
	return TS_OK;
}

uint32_t ts_graph_add_meeting(struct ts_graph *graph)
{
	return graph->nr_meetings++;
}

/* When each meeting was, by the recorded times; INT64_MIN: nobody joined it. */
static void graph_meet(struct ts_graph *graph, int64_t *met_ps)
{
	for (size_t i = 0; i < graph->nr_meetings; i++)
		met_ps[i] = INT64_MIN;
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];

		if (node->joins != TS_GRAPH_NONE) {
			graph->nr_members[node->joins]++;
			met_ps[node->joins] = TS_MAX(met_ps[node->joins], node->start_ps);
		}
		if (node->ends != TS_GRAPH_NONE) {
			graph->nr_members[node->ends]++;
			met_ps[node->ends] = TS_MAX(met_ps[node->ends], node->end_ps);
		}
	}
}

/* From the node's meeting to its end; -1: it awaits none. */
static int64_t graph_lag(const struct ts_graph_node *node, const int64_t *met_ps)
{
	if (node->awaits == TS_GRAPH_NONE || met_ps[node->awaits] == INT64_MIN)
		return -1;
	return node->end_ps - met_ps[node->awaits];
}

/* By what a node is: the least lag of any. NULL: no memory. */
static int64_t *graph_least_lags(const struct ts_graph *graph, const int64_t *met_ps)
{
	uint32_t nr = 0;
	int64_t *least_ps;

	for (size_t i = 0; i < graph->nr_nodes; i++)
		if (graph->nodes[i].what != TS_GRAPH_NONE)
			nr = TS_MAX(nr, graph->nodes[i].what + 1);
	least_ps = ts_room_array(graph->rooms, (size_t)nr + 1, sizeof(*least_ps));
	for (size_t i = 0; least_ps && i < nr; i++)
		least_ps[i] = INT64_MAX;
	for (size_t i = 0; least_ps && i < graph->nr_nodes; i++) {
		uint32_t what = graph->nodes[i].what;
		int64_t lag_ps = graph_lag(&graph->nodes[i], met_ps);

		if (what != TS_GRAPH_NONE && lag_ps >= 0)
			least_ps[what] = TS_MIN(least_ps[what], lag_ps);
	}
	return least_ps;
}

/* Own time and lag that give the recorded end. */
static void graph_settle(struct ts_graph *graph, struct ts_graph_node *node, const int64_t *met_ps,
			 const int64_t *least_ps)
{
	int64_t dur_ps = node->end_ps - node->start_ps, lag_ps = graph_lag(node, met_ps);

	graph->nr_broken += node->awaits != TS_GRAPH_NONE && lag_ps < 0;
	if (lag_ps < 0) {
		node->awaits = TS_GRAPH_NONE;
		node->own_ps = dur_ps;
		return;
	}
	if (dur_ps <= node->own_ps && node->what != TS_GRAPH_NONE)
		lag_ps = TS_MIN(lag_ps, least_ps[node->what]);
	node->lag_ps = dur_ps <= node->own_ps ? TS_MIN(lag_ps, node->lag_ps) : lag_ps;
	node->own_ps = TS_MIN(node->own_ps, dur_ps);
}

static void graph_settle_all(struct ts_graph *graph, const int64_t *met_ps, const int64_t *least_ps)
{
	graph->begin_ps = INT64_MAX;
	graph->end_ps = INT64_MIN;
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		graph_settle(graph, &graph->nodes[i], met_ps, least_ps);
		graph->begin_ps = TS_MIN(graph->begin_ps, graph->nodes[i].start_ps);
		graph->end_ps = TS_MAX(graph->end_ps, graph->nodes[i].end_ps);
	}
}

enum ts_status ts_graph_seal(struct ts_graph *graph, struct ts_error *err)
{
	int64_t *met_ps = calloc((size_t)graph->nr_meetings + 1, sizeof(*met_ps));
	int64_t *least_ps = NULL;

	graph->nr_members = calloc((size_t)graph->nr_meetings + 1, sizeof(*graph->nr_members));
	if (met_ps && graph->nr_members) {
		graph_meet(graph, met_ps);
		least_ps = graph_least_lags(graph, met_ps);
	}
	if (least_ps)
		graph_settle_all(graph, met_ps, least_ps);
	free(met_ps);
	if (!least_ps)
		return ts_fail_nomem(err);
	ts_room_free(least_ps);
	return TS_OK;
}

void ts_graph_release(struct ts_graph *graph)
{
	ts_room_free(graph->nodes);
	free(graph->rows);
	free(graph->nr_members);
	memset(graph, 0, sizeof(*graph));
}
