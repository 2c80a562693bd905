/* SPDX-License-Identifier: MIT */
/* The steps of a host that are not finished yet, the oldest first, and the calls of theirs that a kernel or a wait may name. */
#include "analysis/gpu/hta_critical_path.h"

#include "base/check.h"

/* Of the value that is noted with a launch: which node of which step. */
#define NODE_BITS 20
#define ID_MASK	  0xFFFU
_Static_assert(CP_NODES == 1U << NODE_BITS, "a node's index has NODE_BITS");

static void release_graph(struct cp_graph *graph)
{
	for (size_t i = 0; i < graph->nr_lanes; i++)
		free(graph->lanes[i].open), free(graph->lanes[i].waits);
	free(graph->lanes);
	free(graph->nodes);
	*graph = (struct cp_graph){ 0 };
}

static enum ts_status keep_path(struct cp_state *state, struct cp_graph *graph,
				struct ts_error *err)
{
	struct cp_path path = { .host = state->host };
	enum ts_status st = ts_cp_end(graph, err);

	if (st)
		return st;
	st = ts_cp_path(graph, &path, err);
	if (st)
		return st;
	if (!ts_grow(&state->paths, &state->cap_paths, state->nr_paths + 1, sizeof(*state->paths)))
		return ts_fail_nomem(err);
	state->paths[state->nr_paths++] = path;
	return TS_OK;
}

enum ts_status ts_cp_finish_oldest(struct cp_state *state, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (state->nr_paths < CP_STEPS)
		st = keep_path(state, &state->live[0], err);
	else
		state->nr_dropped++;
	release_graph(&state->live[0]);
	state->nr_live--;
	memmove(&state->live[0], &state->live[1], state->nr_live * sizeof(*state->live));
	return st;
}

enum ts_status ts_cp_begin_step(struct cp_state *state, uint64_t number, int64_t start_ps,
				int64_t until_ps, struct ts_error *err)
{
	enum ts_status st = state->nr_live == CP_LIVE ? ts_cp_finish_oldest(state, err) : TS_OK;

	if (st)
		return st;
	if (!ts_grow(&state->live, &state->cap_live, state->nr_live + 1, sizeof(*state->live)))
		return ts_fail_nomem(err);
	state->live[state->nr_live++] = (struct cp_graph){ .number = number,
							   .id = state->nr_ids++ & ID_MASK,
							   .start_ps = start_ps,
							   .until_ps = until_ps };
	return TS_OK;
}

struct cp_graph *ts_cp_step_at(struct cp_state *state, int64_t at_ps)
{
	for (size_t i = state->nr_live; i-- > 0;)
		if (state->live[i].start_ps <= at_ps && at_ps <= state->live[i].until_ps)
			return &state->live[i];
	return NULL;
}

struct cp_graph *ts_cp_call(struct cp_state *state, uint64_t link, uint32_t *node)
{
	uint32_t call = TS_NONE;

	if (link != TS_NO_LINK)
		call = ts_launches_find(&state->launches, link);
	*node = call & (CP_NODES - 1);
	for (size_t i = state->nr_live; call != TS_NONE && i-- > 0;)
		if (state->live[i].id == call >> NODE_BITS)
			return state->live[i].is_cut ? NULL : &state->live[i];
	return NULL;
}

enum ts_status ts_cp_note_call(struct cp_state *state, uint64_t link, const struct cp_graph *graph,
			       uint32_t node, struct ts_error *err)
{
	return link == TS_NO_LINK ? TS_OK
				  : ts_launches_note(&state->launches, link,
						     graph->id << NODE_BITS | node, err);
}
