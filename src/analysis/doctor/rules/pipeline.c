/* SPDX-License-Identifier: MIT */
/*
 * The rule about a pipeline of stages: each core works on what the one before it sends, so at the start of a step the later
 * ones have nothing to do, and at its end the earlier ones. Of S stages and M microbatches (S - 1) / (M + S - 1) of
 * the time is such a bubble (GPipe, Huang et al. 2019, section 2.3).
 *
 * Stages are cores that wait for one another in receives, each at the beginning of its steps, and by one stage's delay more
 * than the one before. How many microbatches there are follows from that delay: a stage works through all in its busy time.
 */
#include "analysis/doctor/doctor.h"

#include "base/order.h"

#define ALIKE 0.2 /* of the delay, of the busy time: by so much stages may differ */

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

static bool rules_pipeline_is_near(int64_t x, int64_t y, int64_t of)
{
	return (double)(x > y ? x - y : y - x) <= ALIKE * (double)of;
}

/* Each one begins a delay after the one before it. */
static bool rules_pipeline_grows(const struct pipeline *pipeline)
{
	const struct stage *stages = pipeline->stages;
	int64_t delay_ps = stages[pipeline->nr - 1].first_wait_ps / (int64_t)(pipeline->nr - 1);

	if (delay_ps <= 0)
		return false;
	for (size_t i = 0; i < pipeline->nr; i++)
		if (!rules_pipeline_is_near(stages[i].first_wait_ps, (int64_t)i * delay_ps,
					    delay_ps) ||
		    !rules_pipeline_is_near(stages[i].busy_ps, stages[0].busy_ps,
					    stages[0].busy_ps))
			return false;
	return true;
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
	if (!rules_pipeline_grows(pipeline))
		return false;
	for (size_t i = 0; i < pipeline->nr; i++) {
		pipeline->busy_ps += pipeline->stages[i].busy_ps;
		pipeline->wait_ps += pipeline->stages[i].wait_ps;
	}
	pipeline->microbatches = (double)pipeline->stages[0].busy_ps * (double)(pipeline->nr - 1) /
				 (double)pipeline->stages[pipeline->nr - 1].first_wait_ps;
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
	       "Each stage begins {time} a run after the one before it, and works for {time}: that "
	       "is {number} microbatches. "
	       "Of {count} stages and {number} microbatches {share} of the time is a bubble, in "
	       "which stages wait for the first or for the last. "
	       "Twice as many microbatches of half the size would give {time} of the run, four "
	       "times as many {time}.",
	       TS_TIME(pipeline.stages[pipeline.nr - 1].first_wait_ps / (int64_t)(pipeline.nr - 1)),
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
