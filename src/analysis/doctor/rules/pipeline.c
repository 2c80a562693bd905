/* SPDX-License-Identifier: MIT */
/*
 * The rule about a pipeline of stages: each core works on what the one before it sends, so at the start of a step the later
 * ones have nothing to do, and at its end the earlier ones. Of S stages and M microbatches (S - 1) / (M + S - 1) of
 * the time is such a bubble (GPipe, Huang et al. 2019, section 2.3).
 *
 * Stages are cores that begin their steps by waiting for one another in receives: each one longer than the one before, by
 * what that one takes for a microbatch. So its busy time says how many there are, which has to be the same of all stages.
 */
#include "analysis/doctor/doctor.h"

#include "base/order.h"

#define MIN_MICROBATCHES 1.5 /* of one alone nothing runs beside another */
#define ALIKE 0.2 /* of the number of microbatches: by so much stages may differ */

struct stage {
	uint32_t row;
	int64_t first_wait_ps;	  /* in the receive that begins its steps, of all steps */
	int64_t busy_ps, wait_ps; /* in ops, and in receives and collectives for others */
};

TS_ORDER(rules_pipeline_first_first, struct stage, TS_UP(first_wait_ps) TS_UP(row))

struct pipeline {
	struct stage *stages; /* the first one first */
	size_t nr;
	double microbatches;
	int64_t busy_ps, wait_ps; /* of all */
};

/* A stage has done no work in a step when it waits for the first thing. */
static void rules_pipeline_row(const struct ts_doctor *doctor, uint32_t row, struct stage *stage)
{
	const struct ts_run_replay *run = doctor->run;
	const struct ts_graph *graph = &run->path.graph;
	uint32_t first = graph->rows[row].first, step = TS_NONE;
	bool has_worked = false;

	*stage = (struct stage){ .row = row };
	for (uint32_t i = first; i < first + graph->rows[row].nr; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];
		int64_t dur_ps = node->end_ps - node->start_ps;
		int64_t wait_ps = dur_ps - node->own_ps - run->exposed_ps[i];

		if (node->kind != TS_PATH_OP)
			continue;
		if (run->path.step[i] != step)
			has_worked = false;
		step = run->path.step[i];
		if (ts_run_replay_receives(run, i) && !has_worked)
			stage->first_wait_ps += dur_ps;
		if (node->awaits == TS_GRAPH_NONE) {
			stage->busy_ps += dur_ps;
			has_worked = true;
		} else
			stage->wait_ps += ts_run_replay_receives(run, i) ? dur_ps : wait_ps;
	}
}

/* By how much later the stage behind begins, which is what this one takes for a microbatch. */
static int64_t rules_pipeline_delay(const struct pipeline *pipeline, size_t stage)
{
	return pipeline->stages[stage + 1].first_wait_ps - pipeline->stages[stage].first_wait_ps;
}

static double rules_pipeline_microbatches(const struct pipeline *pipeline, size_t stage)
{
	return (double)pipeline->stages[stage].busy_ps /
	       (double)rules_pipeline_delay(pipeline, stage);
}

static bool rules_pipeline_agrees(struct pipeline *pipeline)
{
	for (size_t i = 0; i + 1 < pipeline->nr; i++) {
		if (rules_pipeline_delay(pipeline, i) <= 0)
			return false;
		pipeline->microbatches +=
			rules_pipeline_microbatches(pipeline, i) / (double)(pipeline->nr - 1);
	}
	for (size_t i = 0; i + 1 < pipeline->nr; i++)
		if (fabs(rules_pipeline_microbatches(pipeline, i) - pipeline->microbatches) >
		    ALIKE * pipeline->microbatches)
			return false;
	return pipeline->microbatches >= MIN_MICROBATCHES;
}

static bool rules_pipeline_find(struct ts_doctor *doctor, struct pipeline *pipeline)
{
	const struct ts_graph *graph = &doctor->run->path.graph;

	pipeline->nr = graph->nr_rows;
	pipeline->stages =
		ts_arena_array(&doctor->scratch, pipeline->nr, sizeof(*pipeline->stages));
	doctor->failed |= !pipeline->stages;
	if (!pipeline->stages || pipeline->nr < 2)
		return false;
	for (uint32_t row = 0; row < pipeline->nr; row++)
		rules_pipeline_row(doctor, row, &pipeline->stages[row]);
	TS_SORT(pipeline->stages, pipeline->nr, rules_pipeline_first_first);
	if (!rules_pipeline_agrees(pipeline))
		return false;
	for (size_t i = 0; i < pipeline->nr; i++) {
		pipeline->busy_ps += pipeline->stages[i].busy_ps;
		pipeline->wait_ps += pipeline->stages[i].wait_ps;
	}
	return true;
}

static double rules_pipeline_bubble(const struct pipeline *pipeline, double times)
{
	double more = (double)(pipeline->nr - 1);

	return more / (times * pipeline->microbatches + more);
}

/* What the run gets shorter where there are so many times as many microbatches, of a TIMES-th of the size. */
static int64_t rules_pipeline_saved(const struct pipeline *pipeline, double times)
{
	double busy_ps = (double)pipeline->busy_ps / (double)pipeline->nr;

	return (int64_t)(busy_ps / (1 - rules_pipeline_bubble(pipeline, 1)) -
			 busy_ps / (1 - rules_pipeline_bubble(pipeline, times)));
}

static void check_pipeline_bubble(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct pipeline pipeline = { .nr = 0 };
	struct ts_finding *finding;
	double share;

	if (!doctor->run->is_known || !rules_pipeline_find(doctor, &pipeline))
		return;
	share = (double)pipeline.wait_ps / (double)(pipeline.wait_ps + pipeline.busy_ps);
	finding = ts_doctor_report_run(doctor, rule, pipeline.wait_ps);
	finding->root.kind = "pipeline";
	ts_doctor_cures(doctor, (struct ts_cure){ .kind = TS_CURE_RECEIVES });
	finding->title =
		TS_SENTENCE(doctor,
			    "The bubble of a pipeline of {count} stages takes {share} of the "
			    "time of its cores",
			    TS_COUNT(pipeline.nr), TS_SHARE(share));
	TS_PUT(doctor,
	       "Each stage begins its steps by what the one before it takes for a microbatch "
	       "later, which "
	       "in all steps makes {time} for the last one; as the first one works for {time}, "
	       "there are {number} "
	       "microbatches. Of {count} stages and {number} microbatches {share} of the time is a "
	       "bubble, in which stages wait for the first or for the last. Twice as many "
	       "microbatches of "
	       "half the size would give {time} of the run, four times as many {time}.",
	       TS_TIME(pipeline.stages[pipeline.nr - 1].first_wait_ps),
	       TS_TIME(pipeline.stages[0].busy_ps), TS_ROUNDED(pipeline.microbatches),
	       TS_COUNT(pipeline.nr), TS_ROUNDED(pipeline.microbatches),
	       TS_SHARE(rules_pipeline_bubble(&pipeline, 1)),
	       TS_TIME(rules_pipeline_saved(&pipeline, 2)),
	       TS_TIME(rules_pipeline_saved(&pipeline, 4)));
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_pipeline_bubble = {
	.name = "pipeline_bubble",
	.confidence = TS_LIKELY,
	.check = check_pipeline_bubble,
	.classes = TS_CLASS(TS_BUCKET_COMMUNICATION),
	.ceiling = "the core time in which stages wait for others",
};
