/* SPDX-License-Identifier: MIT */
#include "analysis/doctor/replay.h"

#include "base/check.h"

#define MAX_MOMENTS (1 << 15) /* a replay takes a millisecond of them, and a finding takes several */

static bool replay_make_times(const struct ts_run_replay *run, struct ts_replay_times *times)
{
	const struct ts_rooms *rooms = run->path.graph.rooms;
	size_t nr = run->path.graph.nr_nodes + 1;

	times->own_ps = ts_room_array(rooms, nr, sizeof(*times->own_ps));
	times->lag_ps = ts_room_array(rooms, nr, sizeof(*times->lag_ps));
	times->gaps = ts_room_array(rooms, run->nr_gaps + 1, sizeof(*times->gaps));
	return times->own_ps && times->lag_ps && times->gaps;
}

static void replay_free_times(struct ts_replay_times *times)
{
	ts_room_free(times->own_ps);
	ts_room_free(times->lag_ps);
	ts_room_free(times->gaps);
}

static bool replay_make_arrays(struct ts_run_replay *run)
{
	const struct ts_rooms *rooms = run->path.graph.rooms;
	size_t nr = run->path.graph.nr_nodes + 1;

	run->fact = ts_room_array(rooms, nr, sizeof(*run->fact));
	run->exposed_ps = ts_room_array(rooms, nr, sizeof(*run->exposed_ps));
	run->gaps = ts_room_array(rooms, run->nr_gaps + 1, sizeof(*run->gaps));
	run->free_ps = ts_room_array(rooms, run->nr_gaps + 1, sizeof(*run->free_ps));
	run->op_ps = ts_room_array(rooms, run->nr_facts + 1, sizeof(*run->op_ps));
	run->op_recorded_ps = ts_room_array(rooms, run->nr_facts + 1, sizeof(*run->op_recorded_ps));
	run->op_left_ps = ts_room_array(rooms, run->nr_facts + 1, sizeof(*run->op_left_ps));
	return run->fact && run->exposed_ps && run->gaps && run->free_ps && run->op_ps &&
	       run->op_left_ps && run->op_recorded_ps && replay_make_times(run, &run->kept);
}

bool ts_run_replay_receives(const struct ts_run_replay *run, uint32_t node)
{
	const struct ts_graph_node *of = &run->path.graph.nodes[node];

	return of->kind == TS_PATH_OP && of->awaits != TS_GRAPH_NONE &&
	       run->path.ctx->profile->ops[of->what].category_id == TS_OPCODE_RECV_DONE;
}

/* What of the recorded time is left when all that it awaits is there. */
static int64_t replay_exposed(const struct ts_run_replay *run, uint32_t i)
{
	const struct ts_graph_node *node = &run->path.graph.nodes[i];
	int64_t from_ps;

	if (node->awaits == TS_GRAPH_NONE || run->replay.last[node->awaits] == TS_GRAPH_NONE)
		return 0;
	from_ps =
		TS_MAX(ts_i64_add(node->start_ps, node->own_ps), run->replay.met_ps[node->awaits]);
	return TS_MAX(ts_i64_sub(node->end_ps, from_ps), 0);
}

/* When what of a gap is its own begins: before that it waited for others. */
static int64_t replay_gap_start(const struct ts_graph_node *node)
{
	if (node->awaits == TS_GRAPH_NONE)
		return node->start_ps;
	return TS_MAX(node->start_ps, node->end_ps - TS_MAX(node->own_ps, node->lag_ps));
}

/* Of a thread the time that devices do not wait for is not a gap's. */
static void replay_fill_gap(struct ts_run_replay *run, uint32_t node, uint32_t at)
{
	const struct ts_graph_node *of = &run->path.graph.nodes[node];
	int64_t start_ps = replay_gap_start(of);
	struct ts_path_gap *gap = &run->gaps[at];

	*gap = ts_path_gap_of(&run->path, node, start_ps, of->end_ps);
	run->fact[node] = at;
	run->free_ps[at] = of->end_ps - start_ps - ts_path_gap_sum(gap);
}

/* What of the time of a gap nothing has taken. */
static int64_t replay_gap_left(const struct ts_run_replay *run, uint32_t at)
{
	return ts_path_gap_sum(&run->gaps[at]) + run->free_ps[at];
}

static void replay_fill(struct ts_run_replay *run, const struct ts_ops_facts *ops)
{
	const struct ts_graph *graph = &run->path.graph;
	uint32_t gap = 0;

	for (uint32_t i = 0; i < graph->nr_nodes; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];

		run->nr_inferred += node->is_inferred && node->awaits != TS_GRAPH_NONE;
		run->fact[i] = TS_NONE;
		run->exposed_ps[i] = replay_exposed(run, i);
		if (node->kind == TS_PATH_OP && ops->of_op)
			run->fact[i] = ops->of_op[node->what];
		if (run->fact[i] != TS_NONE)
			run->op_recorded_ps[run->fact[i]] +=
				(double)ts_path_weight(&run->path, run->path.step[i]) *
				(double)(node->end_ps - node->start_ps);
		if (ts_path_is_gap(&run->path, i))
			replay_fill_gap(run, i, gap++);
	}
}

/* What is left of its wait for the transfer. */
static double replay_waits(const struct ts_run_replay *run, uint32_t i)
{
	int64_t cut_ps = ts_i64_sub(run->path.graph.nodes[i].lag_ps, run->replay.lag_ps[i]);

	if (run->exposed_ps[i] <= 0 || run->replay.lag_ps[i] <= 0)
		return 0;
	return fmax((double)(run->exposed_ps[i] - cut_ps), 0);
}

static void replay_count(const struct ts_run_replay *run, double *ops, double *classes)
{
	const struct ts_graph *graph = &run->path.graph;

	memset(ops, 0, (run->nr_facts + 1) * sizeof(*ops));
	memset(classes, 0, TS_NR_BUCKETS * sizeof(*classes));
	for (uint32_t i = 0; i < graph->nr_nodes; i++) {
		double weight = (double)ts_path_weight(&run->path, run->path.step[i]);

		if (run->fact[i] == TS_NONE)
			continue;
		if (graph->nodes[i].kind == TS_PATH_OP) {
			ops[run->fact[i]] +=
				weight * ((double)run->replay.own_ps[i] + replay_waits(run, i));
			continue;
		}
		for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
			classes[b] +=
				weight * (double)run->gaps[run->fact[i]].ps[b - TS_FIRST_PAUSE];
	}
}

/* What the findings begin with: all that is there. */
static void replay_begin(struct ts_run_replay *run, int64_t measured_ps)
{
	replay_count(run, run->op_ps, run->class_ps);
	ts_run_replay_keep(run, run->recorded_ps, measured_ps);
}

enum ts_status ts_run_replay_open(struct ts_run_replay *run, const struct ts_context *ctx,
				  const struct ts_critical_path_facts *facts,
				  const struct ts_ops_facts *ops, int64_t wall_ps,
				  struct ts_error *err)
{
	enum ts_status st;

	*run = (struct ts_run_replay){ .nr_facts = ops->nr, .scale = 1 };
	st = ts_path_make(&run->path, facts->sum, ctx, MAX_MOMENTS, err);
	if (st == TS_OK && run->path.graph.nr_nodes == 0)
		return TS_OK;
	if (st == TS_OK)
		st = ts_replay_open(&run->replay, &run->path.graph, err);
	if (st)
		return st;
	run->is_known = true;
	for (size_t i = 0; i < run->path.graph.nr_nodes; i++)
		run->nr_gaps += ts_path_is_gap(&run->path, (uint32_t)i);
	if (!replay_make_arrays(run))
		return ts_fail_nomem(err);
	run->recorded_ps = ts_replay_run(&run->replay);
	replay_fill(run, ops);
	if (run->nr_inferred > 0 && !replay_make_times(run, &run->aside))
		return ts_fail_nomem(err);
	if (run->path.until_ps < INT64_MAX && run->recorded_ps > 0) {
		run->scale = fmax((double)wall_ps / (double)run->recorded_ps, 1);
		run->recorded_ps = (int64_t)(run->scale * (double)run->recorded_ps);
	}
	replay_begin(run, ts_run_replay_length_measured(run, run->recorded_ps));
	if (run->nr_inferred > 0)
		ts_replay_run(&run->replay);
	return TS_OK;
}

void ts_run_replay_close(struct ts_run_replay *run)
{
	if (run->is_known)
		ts_replay_close(&run->replay);
	ts_path_release(&run->path);
	ts_room_free(run->fact);
	ts_room_free(run->exposed_ps);
	ts_room_free(run->gaps);
	replay_free_times(&run->kept);
	replay_free_times(&run->aside);
	ts_room_free(run->free_ps);
	ts_room_free(run->op_ps);
	ts_room_free(run->op_left_ps);
	ts_room_free(run->op_recorded_ps);
	for (int i = 0; i < TS_NR_LEVELS; i++)
		ts_room_free(run->usual_ps[i]);
	*run = (struct ts_run_replay){ .is_known = false };
}

static void replay_less(int64_t *ps, double share)
{
	*ps -= (int64_t)(share * (double)*ps);
}

#define ALL 0.99 /* of a wait: then the transfer itself is gone, and would not show elsewhere */

/* A share of what the core waits for the transfer; what compute hides of it stays. */
static void replay_take_lag(struct ts_run_replay *run, uint32_t i, double share)
{
	const struct ts_graph_node *node = &run->path.graph.nodes[i];

	if (node->awaits == TS_GRAPH_NONE || node->lag_ps == TS_GRAPH_UNKNOWN)
		return;
	if (share >= ALL)
		run->replay.lag_ps[i] = TS_MIN(run->replay.lag_ps[i], 0);
	else
		run->replay.lag_ps[i] -= (int64_t)(share * replay_waits(run, i));
}

/* The node of a gap takes what is left of it. */
static void replay_follow_gap(struct ts_run_replay *run, uint32_t i)
{
	int64_t left_ps = replay_gap_left(run, run->fact[i]);

	run->replay.own_ps[i] = TS_MIN(run->replay.own_ps[i], left_ps);
	if (run->path.graph.nodes[i].awaits != TS_GRAPH_NONE)
		run->replay.lag_ps[i] = TS_MIN(run->replay.lag_ps[i], left_ps);
}

void ts_run_replay_shorten(struct ts_run_replay *run, uint32_t node, double keep)
{
	struct ts_path_gap *gap = &run->gaps[run->fact[node]];

	TS_ASSERT_HOT(ts_path_is_gap(&run->path, node));
	for (int i = 0; i < TS_NR_PAUSES; i++)
		replay_less(&gap->ps[i], 1 - keep);
	replay_follow_gap(run, node);
}

void ts_run_replay_take(struct ts_run_replay *run, const struct ts_shares *shares)
{
	const struct ts_graph *graph = &run->path.graph;

	for (uint32_t i = 0; i < graph->nr_nodes; i++) {
		uint32_t at = run->fact[i];
		struct ts_path_gap *gap;

		if (at == TS_NONE)
			continue;
		if (graph->nodes[i].kind == TS_PATH_OP) {
			replay_less(&run->replay.own_ps[i], shares->ops[at]);
			replay_take_lag(run, i, shares->ops[at]);
			continue;
		}
		gap = &run->gaps[at];
		for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
			replay_less(&gap->ps[b - TS_FIRST_PAUSE], shares->classes[b]);
		replay_follow_gap(run, i);
	}
}

/*
 * Where not all steps are kept each kept one stands for several: by how much it got shorter counts as often. A row's steps lie
 * between holes; what the run has lost by the end of the last of a row's nodes before a hole is known from that row.
 */
static double replay_weighed(const struct ts_run_replay *run)
{
	const struct ts_graph *graph = &run->path.graph;
	double longest = 0, saved = 0;
	int64_t before_ps = 0;

	for (uint32_t row = 0; row < graph->nr_rows; row++) { /* the row that lost the least */
		uint32_t first = graph->rows[row].first;

		saved = 0;
		before_ps = 0;
		for (uint32_t i = first; i < first + graph->rows[row].nr; i++) {
			int64_t now_ps = graph->nodes[i].end_ps - run->replay.end_ps[i];

			saved += (double)(now_ps - before_ps) *
				 (double)ts_path_weight(&run->path, run->path.step[i]);
			before_ps = now_ps;
		}
		longest = row == 0 ? saved : fmin(longest, saved);
	}
	return longest;
}

int64_t ts_run_replay_length(struct ts_run_replay *run)
{
	int64_t length_ps = ts_replay_run(&run->replay);

	if (run->path.level == 0)
		return (int64_t)(run->scale * (double)length_ps);
	return run->recorded_ps - (int64_t)replay_weighed(run);
}

static void replay_copy(struct ts_run_replay *run, const struct ts_replay_times *from,
			const struct ts_replay_times *into)
{
	size_t nr = run->path.graph.nr_nodes;

	memcpy(into->own_ps, from->own_ps, nr * sizeof(*into->own_ps));
	memcpy(into->lag_ps, from->lag_ps, nr * sizeof(*into->lag_ps));
	memcpy(into->gaps, from->gaps, run->nr_gaps * sizeof(*into->gaps));
}

static struct ts_replay_times replay_now(struct ts_run_replay *run)
{
	return (struct ts_replay_times){ run->replay.own_ps, run->replay.lag_ps, run->gaps };
}

void ts_run_replay_stop_waiting(struct ts_run_replay *run, uint32_t node, int64_t own_ps)
{
	run->replay.own_ps[node] = own_ps;
	run->replay.lag_ps[node] =
		INT64_MIN / 4; /* so long before anything can be awaited that no sum overflows */
}

/* What it takes if it waits for nobody: as long as it did, less what was taken of it. */
static int64_t replay_measured(const struct ts_run_replay *run, uint32_t i)
{
	const struct ts_graph_node *node = &run->path.graph.nodes[i];
	int64_t taken_ps = 0;

	if (ts_path_is_gap(&run->path, i))
		taken_ps =
			node->end_ps - replay_gap_start(node) - replay_gap_left(run, run->fact[i]);
	return node->end_ps - node->start_ps - taken_ps;
}

int64_t ts_run_replay_length_measured(struct ts_run_replay *run, int64_t length_ps)
{
	const struct ts_graph *graph = &run->path.graph;
	struct ts_replay_times now = replay_now(run);

	if (run->nr_inferred == 0)
		return length_ps;
	replay_copy(run, &now, &run->aside);
	for (uint32_t i = 0; i < graph->nr_nodes; i++)
		if (graph->nodes[i].is_inferred && graph->nodes[i].awaits != TS_GRAPH_NONE)
			ts_run_replay_stop_waiting(run, i, replay_measured(run, i));
	length_ps = ts_run_replay_length(run);
	replay_copy(run, &run->aside, &now);
	return length_ps;
}

void ts_run_replay_keep(struct ts_run_replay *run, int64_t length_ps, int64_t measured_ps)
{
	struct ts_replay_times now = replay_now(run);

	replay_copy(run, &now, &run->kept);
	run->length_ps = length_ps;
	run->measured_ps = measured_ps;
	replay_count(run, run->op_left_ps, run->class_left_ps);
}

void ts_run_replay_free_gaps(struct ts_run_replay *run,
			     bool (*is_free)(const void *arg, uint32_t node), const void *arg)
{
	for (uint32_t i = 0; i < run->path.graph.nr_nodes; i++) {
		struct ts_path_gap *gap;

		if (!ts_path_is_gap(&run->path, i) || !is_free(arg, i))
			continue;
		gap = &run->gaps[run->fact[i]];
		run->free_ps[run->fact[i]] += gap->ps[TS_BUCKET_IDLE - TS_FIRST_PAUSE];
		gap->ps[TS_BUCKET_IDLE - TS_FIRST_PAUSE] = 0;
	}
	replay_begin(run, run->measured_ps);
}

void ts_run_replay_undo(struct ts_run_replay *run)
{
	struct ts_replay_times now = replay_now(run);

	replay_copy(run, &run->kept, &now);
}
