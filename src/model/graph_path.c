/* SPDX-License-Identifier: MIT */
/* What a replay says: the critical path, and the slack of what is off it. */
#include "model/graph.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/units.h"

/* Whether it is the meeting that made the node end when it did, and not its own time. */
static bool graph_path_waited(const struct ts_replay *replay, uint32_t i)
{
	uint32_t awaits = replay->graph->nodes[i].awaits;
	int64_t end_ps = replay->end_ps[i];

	if (awaits == TS_GRAPH_NONE || replay->last[awaits] == TS_GRAPH_NONE)
		return false;
	return ts_i64_add(replay->met_ps[awaits], replay->lag_ps[i]) == end_ps &&
	       ts_i64_add(ts_replay_start(replay, i), replay->own_ps[i]) < end_ps;
}

/* The node whose end is the last one; TS_GRAPH_NONE: there is none. */
static uint32_t graph_path_last(const struct ts_replay *replay)
{
	const struct ts_graph *graph = replay->graph;
	uint32_t last = TS_GRAPH_NONE;

	for (size_t i = 0; i < graph->nr_rows; i++) {
		uint32_t at = graph->rows[i].first + graph->rows[i].nr - 1;

		if (graph->rows[i].nr > 0 &&
		    (last == TS_GRAPH_NONE || replay->end_ps[at] > replay->end_ps[last]))
			last = at;
	}
	return last;
}

/* What came before NODE on its row; TS_GRAPH_NONE: the row begins with it. */
static uint32_t graph_path_before(const struct ts_graph *graph, uint32_t node)
{
	return ts_graph_is_first(graph, node) ? TS_GRAPH_NONE : node - 1;
}

/* Who came last to the meeting: the path goes on behind it, or with what ended into it. */
static uint32_t graph_path_cross(const struct ts_replay *replay, uint32_t meeting)
{
	const struct ts_graph *graph = replay->graph;
	uint32_t last = replay->last[meeting];

	return graph->nodes[last].ends == meeting ? last : graph_path_before(graph, last);
}

void ts_replay_path(const struct ts_replay *replay, ts_graph_part_seen *seen, void *ctx)
{
	const struct ts_graph *graph = replay->graph;
	uint32_t node = graph_path_last(replay);
	int64_t at_ps = node == TS_GRAPH_NONE ? graph->begin_ps : replay->end_ps[node];

	/* Each turn takes a node that the run ordered before the one of the turn before. */
	for (size_t i = 0; node != TS_GRAPH_NONE && i < graph->nr_nodes; i++) {
		struct ts_graph_part part = { .node = node, .end_ps = at_ps };

		part.is_transfer = graph_path_waited(replay, node);
		part.start_ps = part.is_transfer ? replay->met_ps[graph->nodes[node].awaits]
						 : ts_replay_start(replay, node);
		seen(ctx, &part);
		at_ps = part.start_ps;
		node = part.is_transfer ? graph_path_cross(replay, graph->nodes[node].awaits)
					: graph_path_before(graph, node);
	}
	if (at_ps > graph->begin_ps)
		seen(ctx, &(struct ts_graph_part){ .node = TS_GRAPH_NONE,
						   .start_ps = graph->begin_ps,
						   .end_ps = at_ps });
}

/* How late NODE may end: MET has the same of meetings; the node behind it on its row has its own already. */
static int64_t graph_path_latest(const struct ts_replay *replay, const int64_t *latest_ps,
				 const int64_t *met_ps, int64_t end_ps, uint32_t i)
{
	const struct ts_graph_node *node = &replay->graph->nodes[i];
	const struct ts_graph_row *row = &replay->graph->rows[node->row];
	const struct ts_graph_node *next = node + 1;

	if (i + 1 < row->first + row->nr) {
		end_ps = ts_i64_sub(latest_ps[i + 1], replay->own_ps[i + 1]);
		if (next->joins != TS_GRAPH_NONE)
			end_ps = TS_MIN(end_ps, met_ps[next->joins]);
	}
	if (node->ends != TS_GRAPH_NONE)
		end_ps = TS_MIN(end_ps, met_ps[node->ends]);
	return end_ps;
}

enum ts_status ts_replay_slack(const struct ts_replay *replay, int64_t *slack_ps,
			       struct ts_error *err)
{
	const struct ts_graph *graph = replay->graph;
	int64_t *met_ps = calloc(graph->nr_meetings + 1, sizeof(*met_ps));
	uint32_t last = graph_path_last(replay);

	if (!met_ps)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < graph->nr_meetings; i++)
		met_ps[i] = INT64_MAX;
	for (size_t i = replay->nr_order; i > 0; i--) {
		uint32_t at = replay->order[i - 1], awaits = graph->nodes[at].awaits;

		slack_ps[at] =
			graph_path_latest(replay, slack_ps, met_ps, replay->end_ps[last], at);
		if (awaits != TS_GRAPH_NONE)
			met_ps[awaits] = TS_MIN(met_ps[awaits],
						ts_i64_sub(slack_ps[at], replay->lag_ps[at]));
	}
	for (size_t i = 0; i < graph->nr_nodes; i++)
		slack_ps[i] = TS_MAX(ts_i64_sub(slack_ps[i], replay->end_ps[i]), 0);
	free(met_ps);
	return TS_OK;
}
