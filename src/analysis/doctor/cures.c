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

/* Ops whose work is shared out among the cores by the data, as tokens among experts: what one has less, others have more. */
static bool cures_is_shared(const struct ts_op *op)
{
	static const char *const words[] = { "ragged", "gmm", "grouped_matmul", "megablox" };

	for (size_t i = 0; i < TS_NELEM(words); i++)
		if (ts_bytes_has(op->name, words[i]))
			return true;
	return false;
}

static bool cures_is_shared_node(const struct ts_run_replay *run, uint32_t node)
{
	const struct ts_graph_node *of = &run->path.graph.nodes[node];

	return of->kind == TS_PATH_OP && cures_is_shared(&run->path.ctx->profile->ops[of->what]);
}

static void cures_late(struct ts_run_replay *run, const struct ts_cure *cure,
		       const int64_t *usual_ps, const int64_t *mean_ps)
{
	const struct ts_graph *graph = &run->path.graph;

	for (uint32_t i = 0; i < graph->nr_nodes; i++) {
		if (graph->nodes[i].kind != TS_PATH_OP || usual_ps[i] == TS_USUAL_UNKNOWN)
			continue;
		if (cures_is_shared_node(run, i))
			run->replay.own_ps[i] = mean_ps[i];
		else if (cures_has_device(cure, run->path.device[graph->nodes[i].row]))
			cures_level(run, i, usual_ps[i]);
	}
}

static void cures_uneven(struct ts_run_replay *run, const struct ts_cure *cure,
			 const int64_t *usual_ps, const int64_t *mean_ps)
{
	const struct ts_graph *graph = &run->path.graph;

	for (uint32_t i = 0; i < graph->nr_nodes; i++) {
		if (graph->nodes[i].kind != TS_PATH_OP || graph->nodes[i].what != cure->op ||
		    usual_ps[i] == TS_USUAL_UNKNOWN)
			continue;
		if (cures_is_shared_node(run, i))
			run->replay.own_ps[i] = mean_ps[i];
		else
			cures_level(run, i, usual_ps[i]);
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

static void cures_steps(struct ts_doctor *doctor, const struct ts_draft *draft,
			const int64_t *usual_ps)
{
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
		if (ts_run_replay_receives(run, i)) {
			run->replay.own_ps[i] = 0;
			run->replay.lag_ps[i] = INT64_MIN / 4;
		}
}

void ts_doctor_cure(struct ts_doctor *doctor, const struct ts_draft *draft)
{
	const int64_t *peers_ps = doctor->usual_ps[TS_LEVEL_PEERS];

	switch (draft->cure.kind) {
	case TS_CURE_NONE: break;
	case TS_CURE_LATE:
		cures_late(doctor->run, &draft->cure, peers_ps, doctor->usual_ps[TS_LEVEL_MEAN]);
		break;
	case TS_CURE_UNEVEN:
		cures_uneven(doctor->run, &draft->cure, peers_ps, doctor->usual_ps[TS_LEVEL_MEAN]);
		break;
	case TS_CURE_STEPS:    cures_steps(doctor, draft, doctor->usual_ps[TS_LEVEL_STEPS]); break;
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
