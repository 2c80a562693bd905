/* SPDX-License-Identifier: MIT */
/*
 * A graph run again: each row goes on until a node awaits a meeting to which somebody has not come yet, and on from there when the last
 * one comes. So every node and every wait is looked at once.
 */
#include "model/graph.h"

#include "base/check.h"
#include "base/units.h"

enum ts_status ts_replay_open(struct ts_replay *replay, const struct ts_graph *graph,
			      struct ts_error *err)
{
	size_t nodes = graph->nr_nodes + 1, rows = graph->nr_rows + 1;
	size_t meetings = (size_t)graph->nr_meetings + 1;

	TS_ASSERT(graph->nr_members);
	*replay = (struct ts_replay){ .graph = graph };
	replay->own_ps = ts_room_array(graph->rooms, nodes, sizeof(*replay->own_ps));
	replay->lag_ps = ts_room_array(graph->rooms, nodes, sizeof(*replay->lag_ps));
	replay->end_ps = ts_room_array(graph->rooms, nodes, sizeof(*replay->end_ps));
	replay->order = ts_room_array(graph->rooms, nodes, sizeof(*replay->order));
	replay->met_ps = calloc(meetings, sizeof(*replay->met_ps));
	replay->last = calloc(meetings, sizeof(*replay->last));
	replay->missing = calloc(meetings, sizeof(*replay->missing));
	replay->waiting = calloc(meetings, sizeof(*replay->waiting));
	replay->next = calloc(rows, sizeof(*replay->next));
	replay->at = calloc(rows, sizeof(*replay->at));
	replay->ready = calloc(rows, sizeof(*replay->ready));
	replay->has_come = calloc(rows, sizeof(*replay->has_come));
	if (!replay->own_ps || !replay->lag_ps || !replay->end_ps || !replay->order ||
	    !replay->met_ps || !replay->last || !replay->missing || !replay->waiting ||
	    !replay->next || !replay->at || !replay->ready || !replay->has_come) {
		ts_replay_close(replay);
		return ts_fail_nomem(err);
	}
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		replay->own_ps[i] = graph->nodes[i].own_ps;
		replay->lag_ps[i] = graph->nodes[i].lag_ps;
	}
	return TS_OK;
}

void ts_replay_close(struct ts_replay *replay)
{
	ts_room_free(replay->own_ps);
	ts_room_free(replay->lag_ps);
	ts_room_free(replay->end_ps);
	ts_room_free(replay->order);
	free(replay->met_ps);
	free(replay->last);
	free(replay->missing);
	free(replay->waiting);
	free(replay->next);
	free(replay->at);
	free(replay->ready);
	free(replay->has_come);
	memset(replay, 0, sizeof(*replay));
}

static void replay_reset(struct ts_replay *replay)
{
	const struct ts_graph *graph = replay->graph;

	replay->nr_order = replay->nr_cut = replay->nr_ready = 0;
	for (size_t i = 0; i < graph->nr_meetings; i++) {
		replay->met_ps[i] = INT64_MIN;
		replay->missing[i] = graph->nr_members[i];
		replay->last[i] = replay->waiting[i] = TS_GRAPH_NONE;
	}
	for (size_t i = graph->nr_rows; i > 0; i--) { /* the first row goes first */
		replay->at[i - 1] = graph->rows[i - 1].first;
		replay->has_come[i - 1] = false;
		replay->ready[replay->nr_ready++] = (uint32_t)i - 1;
	}
}

/* All rows that wait for the meeting can go on. */
static void replay_wake(struct ts_replay *replay, uint32_t meeting)
{
	uint32_t row = replay->waiting[meeting];

	replay->waiting[meeting] = TS_GRAPH_NONE;
	for (; row != TS_GRAPH_NONE; row = replay->next[row])
		replay->ready[replay->nr_ready++] = row;
}

static void replay_come(struct ts_replay *replay, uint32_t meeting, uint32_t node, int64_t at_ps)
{
	if (at_ps > replay->met_ps[meeting] || replay->last[meeting] == TS_GRAPH_NONE) {
		replay->met_ps[meeting] = at_ps;
		replay->last[meeting] = node;
	}
	if (replay->missing[meeting] > 0 && --replay->missing[meeting] == 0)
		replay_wake(replay, meeting);
}

static bool replay_must_wait(const struct ts_replay *replay, uint32_t meeting)
{
	return meeting != TS_GRAPH_NONE && replay->missing[meeting] > 0;
}

static int64_t replay_end(const struct ts_replay *replay, uint32_t node)
{
	uint32_t awaits = replay->graph->nodes[node].awaits;
	int64_t end_ps = ts_i64_add(ts_replay_start(replay, node), replay->own_ps[node]);

	if (awaits == TS_GRAPH_NONE || replay->met_ps[awaits] == INT64_MIN)
		return end_ps;
	return TS_MAX(end_ps, ts_i64_add(replay->met_ps[awaits], replay->lag_ps[node]));
}

/* One row, until it waits or ends. */
static void replay_row(struct ts_replay *replay, uint32_t row)
{
	const struct ts_graph *graph = replay->graph;
	uint32_t past = graph->rows[row].first + graph->rows[row].nr;

	for (; replay->at[row] < past; replay->at[row]++) {
		uint32_t i = replay->at[row];
		const struct ts_graph_node *node = &graph->nodes[i];

		if (node->joins != TS_GRAPH_NONE && !replay->has_come[row])
			replay_come(replay, node->joins, i, ts_replay_start(replay, i));
		replay->has_come[row] = replay_must_wait(replay, node->awaits);
		if (replay->has_come[row]) {
			replay->next[row] = replay->waiting[node->awaits];
			replay->waiting[node->awaits] = row;
			return;
		}
		replay->end_ps[i] = replay_end(replay, i);
		replay->order[replay->nr_order++] = i;
		if (node->ends != TS_GRAPH_NONE)
			replay_come(replay, node->ends, i, replay->end_ps[i]);
	}
}

/*
 * Where all rows wait, the recorded order contradicts itself: the one that ended first goes on, as if it had met when it did. False:
 * none waits.
 */
static bool replay_cut(struct ts_replay *replay)
{
	const struct ts_graph *graph = replay->graph;
	uint32_t first = TS_GRAPH_NONE, meeting;

	for (uint32_t row = 0; row < graph->nr_rows; row++) {
		uint32_t at = replay->at[row];

		if (at == graph->rows[row].first + graph->rows[row].nr)
			continue;
		if (first == TS_GRAPH_NONE || graph->nodes[at].end_ps < graph->nodes[first].end_ps)
			first = at;
	}
	if (first == TS_GRAPH_NONE)
		return false;
	meeting = graph->nodes[first].awaits;
	replay->missing[meeting] = 0;
	replay->met_ps[meeting] = TS_MAX(replay->met_ps[meeting],
					 graph->nodes[first].end_ps - graph->nodes[first].lag_ps);
	replay->nr_cut++;
	replay_wake(replay, meeting);
	return true;
}

int64_t ts_replay_run(struct ts_replay *replay)
{
	const struct ts_graph *graph = replay->graph;
	int64_t end_ps = graph->nr_nodes > 0 ? graph->begin_ps : 0;

	replay_reset(replay);
	do {
		while (replay->nr_ready > 0)
			replay_row(replay, replay->ready[--replay->nr_ready]);
	} while (replay_cut(replay));
	for (size_t i = 0; i < graph->nr_rows; i++)
		if (graph->rows[i].nr > 0)
			end_ps = TS_MAX(
				end_ps,
				replay->end_ps[graph->rows[i].first + graph->rows[i].nr - 1]);
	return end_ps - (graph->nr_nodes > 0 ? graph->begin_ps : 0);
}
