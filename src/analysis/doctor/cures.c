/* SPDX-License-Identifier: MIT */
/* Times without a cause, where a finding knows them: late cores, uneven ops, slow steps, a slower pace, waiting for what is sent. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/op_cores.h"

static void cures_level(struct ts_run_replay *run, uint32_t node, int64_t usual_ps)
{
	uint32_t at = run->fact[node];

	if (usual_ps >= run->replay.own_ps[node])
		return;
	if (run->path.graph.nodes[node].kind == TS_PATH_GAP && at != TS_NONE) {
		double keep = (double)usual_ps / (double)run->replay.own_ps[node];

		run->gaps[at].compile_ps = (int64_t)(keep * (double)run->gaps[at].compile_ps);
		run->gaps[at].input_ps = (int64_t)(keep * (double)run->gaps[at].input_ps);
		run->gaps[at].idle_ps = (int64_t)(keep * (double)run->gaps[at].idle_ps);
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

static void cures_steps(struct ts_doctor *doctor, const struct ts_draft *draft)
{
	const int64_t *usual_ps = doctor->run->usual_ps[TS_LEVEL_STEPS];

	for (uint32_t i = 0; i < doctor->run->path.graph.nr_nodes; i++)
		if (usual_ps[i] != TS_USUAL_UNKNOWN && cures_is_in(doctor, draft, i))
			cures_level(doctor->run, i, usual_ps[i]);
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

void ts_doctor_cure(struct ts_doctor *doctor, const struct ts_draft *draft)
{
	switch (draft->cure.kind) {
	case TS_CURE_NONE:     break;
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
