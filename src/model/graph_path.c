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

uint32_t ts_replay_node_at(const struct ts_replay *replay, uint32_t row, int64_t t_ps)
{
	const struct ts_graph_row *of = &replay->graph->rows[row];
	uint32_t lo = of->first, hi = of->first + of->nr;

	while (lo < hi) { /* the first one that ends at T or later */
		uint32_t mid = lo + (hi - lo) / 2;

		if (replay->end_ps[mid] < t_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < of->first + of->nr && ts_replay_start(replay, lo) < t_ps ? lo : TS_GRAPH_NONE;
}

void ts_replay_path_within(const struct ts_replay *replay, uint32_t row, int64_t begin_ps,
			   int64_t end_ps, ts_graph_part_seen *seen, void *ctx)
{
	const struct ts_graph *graph = replay->graph;
	uint32_t node = ts_replay_node_at(replay, row, end_ps);
	int64_t at_ps = end_ps;

	/* Each turn takes a node that the run ordered before the one of the turn before. */
	for (size_t i = 0; node != TS_GRAPH_NONE && at_ps > begin_ps && i < graph->nr_nodes; i++) {
		uint32_t awaits = graph->nodes[node].awaits;
		struct ts_graph_part part = { .node = node, .end_ps = at_ps };

		part.is_transfer = graph_path_waited(replay, node);
		if (part.is_transfer &&
		    replay->met_ps[awaits] >= at_ps) { /* it waits all the time */
			node = ts_replay_node_at(replay, graph->nodes[replay->last[awaits]].row,
						 at_ps);
			continue;
		}
		part.start_ps = TS_MAX(part.is_transfer ? replay->met_ps[awaits]
							: ts_replay_start(replay, node),
				       begin_ps);
		if (part.start_ps < part.end_ps)
			seen(ctx, &part);
		at_ps = part.start_ps;
		node = part.is_transfer ? graph_path_cross(replay, awaits)
					: graph_path_before(graph, node);
	}
	if (at_ps > begin_ps)
		seen(ctx, &(struct ts_graph_part){
				  .node = TS_GRAPH_NONE, .start_ps = begin_ps, .end_ps = at_ps });
}

void ts_replay_path(const struct ts_replay *replay, ts_graph_part_seen *seen, void *ctx)
{
	uint32_t last = graph_path_last(replay);

	if (last != TS_GRAPH_NONE)
		ts_replay_path_within(replay, replay->graph->nodes[last].row,
				      replay->graph->begin_ps, replay->end_ps[last], seen, ctx);
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
