/* SPDX-License-Identifier: MIT */
/* Times without a cause, where a finding knows them: late cores and ranks, uneven ops, slow steps, a slower pace, waiting for what is sent. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/op_cores.h"
#include "base/order.h"

static void cures_level(struct ts_run_replay *run, uint32_t node, int64_t usual_ps)
{
	uint32_t at = run->fact[node];

	if (usual_ps >= run->replay.own_ps[node])
		return;
	if (run->path.graph.nodes[node].kind == TS_PATH_GAP && at != TS_NONE) {
		double keep = (double)usual_ps / (double)run->replay.own_ps[node];

		for (int i = 0; i < TS_NR_PAUSES; i++)
			run->gaps[at].ps[i] = (int64_t)(keep * (double)run->gaps[at].ps[i]);
	}
	run->replay.own_ps[node] = usual_ps;
}

static bool cures_has_device(const struct ts_cure *cure, uint32_t device)
{
	for (size_t i = 0; i < cure->nr_devices; i++)
		if (cure->devices[i] == device)
			return true;
	return false;
}

/* Whether the cure changes a node. Where one core has less of what is shared out, others have more. */
static bool cures_is_about(const struct ts_run_replay *run, const struct ts_cure *cure,
			   uint32_t node, bool is_shared)
{
	const struct ts_graph_node *of = &run->path.graph.nodes[node];

	if (of->kind != TS_PATH_OP || run->usual_ps[TS_LEVEL_PEERS][node] == TS_USUAL_UNKNOWN)
		return false;
	if (cure->kind == TS_CURE_UNEVEN)
		return of->what == cure->op;
	return is_shared || cures_has_device(cure, run->path.device[of->row]);
}

/* As on the other cores. */
static void cures_even(struct ts_run_replay *run, const struct ts_cure *cure)
{
	for (uint32_t i = 0; i < run->path.graph.nr_nodes; i++) {
		bool is_shared = run->usual_ps[TS_LEVEL_MEAN] && ts_run_replay_is_shared(run, i);

		if (!cures_is_about(run, cure, i, is_shared))
			continue;
		if (is_shared)
			run->replay.own_ps[i] = run->usual_ps[TS_LEVEL_MEAN][i];
		else
			cures_level(run, i, run->usual_ps[TS_LEVEL_PEERS][i]);
	}
}

/* What no op took of a step, on one stream or thread. */
struct pause {
	uint32_t step;
	int64_t ps, usual_ps; /* usual: that it is to be, at most */
};

struct pauses {
	struct pause *items; /* in the order of time */
	size_t nr;
};

/* Of a row. They lie in the doctor's scratch. */
static struct pauses cures_list_pauses(struct ts_doctor *doctor, size_t row)
{
	const struct ts_run_replay *run = doctor->run;
	const struct ts_graph_row *of = &run->path.graph.rows[row];
	struct pauses list = { ts_arena_array(&doctor->scratch, of->nr + 1, sizeof(struct pause)),
			       0 };

	doctor->failed |= !list.items;
	for (uint32_t i = of->first; list.items && i < of->first + of->nr; i++) {
		uint32_t step = run->path.step[i];

		if (step == TS_NONE)
			continue;
		if (list.nr == 0 || list.items[list.nr - 1].step != step)
			list.items[list.nr++] = (struct pause){ .step = step };
		if (ts_path_is_gap(&run->path, i))
			list.items[list.nr - 1].ps += ts_path_gap_sum(&run->gaps[run->fact[i]]);
	}
	return list;
}

static int64_t cures_pause_in(const struct pauses *list, uint32_t step)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].step == step)
			return list->items[i].ps;
	return 0;
}

static bool cures_is_in(const struct ts_doctor *doctor, const struct ts_draft *draft, uint32_t node)
{
	const struct ts_graph_node *of = &doctor->run->path.graph.nodes[node];

	for (size_t i = 0; i < doctor->nr_ranges; i++)
		if (doctor->ranges[i].draft == draft->serial &&
		    of->start_ps >= doctor->ranges[i].start_ps &&
		    of->start_ps < doctor->ranges[i].end_ps)
			return true;
	return false;
}

/*
 * A thread pauses now here and now there: in a step each of its pauses is as much shorter as all of them are to be. LIST is the
 * row's; DRAFT: in its times alone, NULL: everywhere.
 */
static void cures_shorten(struct ts_doctor *doctor, const struct ts_draft *draft, size_t row,
			  const struct pauses *list)
{
	struct ts_run_replay *run = doctor->run;
	const struct ts_graph_row *of = &run->path.graph.rows[row];
	const struct pause *pause = list->items;

	for (uint32_t i = of->first; list->nr > 0 && i < of->first + of->nr; i++) {
		if (run->path.step[i] == TS_NONE)
			continue;
		pause += pause->step != run->path.step[i];
		if (ts_path_is_gap(&run->path, i) && pause->ps > pause->usual_ps &&
		    (!draft || cures_is_in(doctor, draft, i)))
			ts_run_replay_shorten(run, i, (double)pause->usual_ps / (double)pause->ps);
	}
}

static int64_t cures_median(int64_t *ps, size_t nr)
{
	qsort(ps, nr, sizeof(*ps), ts_i64_order);
	return nr > 0 ? ps[(nr - 1) / 2] : 0;
}

static bool cures_is_like(const struct ts_path *path, size_t row, size_t other)
{
	const struct ts_stream_lane *x = ts_path_lane(path, row), *y = ts_path_lane(path, other);

	return y && x->is_thread == y->is_thread;
}

/* The how-manieth of its device's streams, or of its threads, a row is. */
static size_t cures_ordinal(const struct ts_path *path, size_t row)
{
	size_t nr = 0;

	for (size_t i = 0; i < row; i++)
		nr += path->device[i] == path->device[row] && cures_is_like(path, row, i);
	return nr;
}

/* The rows that do on other devices what this one does. */
static size_t cures_peers(struct ts_doctor *doctor, size_t row, struct pauses *peers)
{
	const struct ts_path *path = &doctor->run->path;
	size_t nr = 0, ordinal = cures_ordinal(path, row);

	for (size_t i = 0; i < path->graph.nr_rows; i++)
		if (path->device[i] != path->device[row] && cures_is_like(path, row, i) &&
		    cures_ordinal(path, i) == ordinal)
			peers[nr++] = cures_list_pauses(doctor, i);
	return nr;
}

/* As long as on the other devices, step by step. */
static void cures_pauses_of_row(struct ts_doctor *doctor, size_t row)
{
	size_t nr_rows = doctor->run->path.graph.nr_rows;
	struct pauses *peers = ts_arena_array(&doctor->scratch, nr_rows + 1, sizeof(*peers));
	int64_t *ps = ts_arena_array(&doctor->scratch, nr_rows + 1, sizeof(*ps));
	struct pauses own = cures_list_pauses(doctor, row);
	size_t nr = peers ? cures_peers(doctor, row, peers) : 0;

	doctor->failed |= !peers || !ps;
	if (nr == 0 || doctor->failed)
		return;
	for (size_t i = 0; i < own.nr; i++) {
		for (size_t k = 0; k < nr; k++)
			ps[k] = cures_pause_in(&peers[k], own.items[i].step);
		own.items[i].usual_ps = cures_median(ps, nr);
	}
	cures_shorten(doctor, NULL, row, &own);
}

/* What a rank does not launch in time it does not run in time. */
static void cures_late_rank(struct ts_doctor *doctor, const struct ts_cure *cure)
{
	const struct ts_path *path = &doctor->run->path;

	if (doctor->run->usual_ps[TS_LEVEL_PEERS])
		cures_even(doctor->run, cure);
	for (size_t row = 0; row < path->graph.nr_rows; row++)
		if (ts_path_lane(path, row) && cures_has_device(cure, path->device[row]))
			cures_pauses_of_row(doctor, row);
}

/* As in the median step. */
static void cures_pauses_of_steps(struct ts_doctor *doctor, const struct ts_draft *draft,
				  size_t row)
{
	struct pauses list = cures_list_pauses(doctor, row);
	int64_t *ps = ts_arena_array(&doctor->scratch, list.nr + 1, sizeof(*ps)), usual_ps;

	doctor->failed |= !ps;
	if (!ps)
		return;
	for (size_t i = 0; i < list.nr; i++)
		ps[i] = list.items[i].ps;
	usual_ps = cures_median(ps, list.nr);
	for (size_t i = 0; i < list.nr; i++)
		list.items[i].usual_ps = usual_ps;
	cures_shorten(doctor, draft, row, &list);
}

static void cures_steps(struct ts_doctor *doctor, const struct ts_draft *draft)
{
	const struct ts_path *path = &doctor->run->path;
	const int64_t *usual_ps = doctor->run->usual_ps[TS_LEVEL_STEPS];

	for (uint32_t i = 0; i < path->graph.nr_nodes; i++)
		if (usual_ps[i] != TS_USUAL_UNKNOWN && cures_is_in(doctor, draft, i))
			cures_level(doctor->run, i, usual_ps[i]);
	for (size_t row = 0; row < path->graph.nr_rows; row++)
		if (ts_path_lane(path, row))
			cures_pauses_of_steps(doctor, draft, row);
}

static void cures_pace_of(struct ts_run_replay *run, const struct ts_slowdown *slowdown)
{
	const struct ts_graph *graph = &run->path.graph;
	double keep = (double)slowdown->fair_ps / (double)slowdown->slow_ps;

	for (uint32_t i = 0; i < graph->nr_nodes; i++)
		if (graph->nodes[i].kind == TS_PATH_OP &&
		    run->path.device[graph->nodes[i].row] == slowdown->device &&
		    graph->nodes[i].start_ps >= slowdown->since_ps)
			run->replay.own_ps[i] = (int64_t)(keep * (double)run->replay.own_ps[i]);
}

static void cures_pace(struct ts_doctor *doctor)
{
	const struct ts_op_cores_facts *facts = ts_op_cores_facts(doctor->ctx);

	for (size_t i = 0; i < facts->nr_slowdowns; i++)
		cures_pace_of(doctor->run, &facts->slowdowns[i]);
}

static void cures_receives(struct ts_run_replay *run)
{
	const struct ts_graph *graph = &run->path.graph;

	for (uint32_t i = 0; i < graph->nr_nodes; i++)
		if (ts_run_replay_receives(run, i))
			ts_run_replay_stop_waiting(run, i, 0);
}

const struct ts_op_fact *ts_doctor_grown_op(struct ts_doctor *doctor, int64_t *excess_ps)
{
	const struct ts_run_replay *run = doctor->run;
	const struct ts_draft *draft = &doctor->drafts[doctor->nr_drafts - 1];
	const int64_t *usual_ps = run->usual_ps[TS_LEVEL_STEPS];
	int64_t *grown_ps =
		ts_arena_array(&doctor->scratch, doctor->nr_facts + 1, sizeof(*grown_ps));
	size_t most = 0;

	doctor->failed |= !grown_ps;
	for (uint32_t i = 0; grown_ps && usual_ps && i < run->path.graph.nr_nodes; i++)
		if (run->path.graph.nodes[i].kind == TS_PATH_OP && run->fact[i] != TS_NONE &&
		    usual_ps[i] != TS_USUAL_UNKNOWN && cures_is_in(doctor, draft, i))
			grown_ps[run->fact[i]] += run->replay.own_ps[i] - usual_ps[i];
	for (size_t i = 1; grown_ps && i < doctor->nr_facts; i++)
		if (grown_ps[i] > grown_ps[most])
			most = i;
	*excess_ps = grown_ps && doctor->nr_facts > 0 ? grown_ps[most] : 0;
	return *excess_ps > 0 ? &doctor->facts[most] : NULL;
}

void ts_doctor_cure(struct ts_doctor *doctor, const struct ts_draft *draft)
{
	switch (draft->cure.kind) {
	case TS_CURE_NONE:     break;
	case TS_CURE_RANK:     cures_late_rank(doctor, &draft->cure); break;
	case TS_CURE_LATE:
	case TS_CURE_UNEVEN:   cures_even(doctor->run, &draft->cure); break;
	case TS_CURE_STEPS:    cures_steps(doctor, draft); break;
	case TS_CURE_PACE:     cures_pace(doctor); break;
	case TS_CURE_RECEIVES: cures_receives(doctor->run); break;
	}
}

int64_t ts_doctor_cure_gain(struct ts_doctor *doctor, const struct ts_cure *cure)
{
	const struct ts_draft draft = { .cure = *cure, .serial = SIZE_MAX };
	struct ts_run_replay *run = doctor->run;
	int64_t length_ps;

	ts_doctor_cure(doctor, &draft);
	length_ps = ts_run_replay_length(run);
	ts_run_replay_undo(run);
	return TS_MAX(run->length_ps - length_ps, 0);
}
