/* SPDX-License-Identifier: MIT */
/* Runs of TPU cores that wait for one another: each core is written op by op, each step as a scene says. Times are in us. */
#ifndef TESTS_ANALYSIS_CORES_GIVEN_H
#define TESTS_ANALYSIS_CORES_GIVEN_H

#include "tests/analysis/given.h"

/* What a core may run. PLAIN: without a channel; PAIRS: an all-reduce of two; MARK: a step. */
enum { WORK = 1, LATE, RECV, PLAIN_RECV, SEND, PLAIN_SEND, REDUCE, PAIRS, START, DONE, MARK };

#define MAX_STEPS 4096

/* A core that is being written. */
struct core {
	struct xp xp;
	int64_t at_us, from_us; /* of its next op; of the step */
	int64_t step_us[MAX_STEPS];
	size_t nr_steps;
};

/* Step I of core C. */
typedef void core_step(struct core *core, int c, int i);

/* An op with its HLO text, which says what it waits for. */
static inline void text_op(struct xp *xp, int64_t id, const char *text, const char *name,
			   const char *category)
{
	struct xp_meta meta = xp_meta(xp, id, text, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", category);
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)id);
	xp_meta_end(xp, meta);
}

static inline void begin_core(struct given *given, struct core *core, int c)
{
	char name[32];

	snprintf(name, sizeof(name), "/device:TPU:%d", c);
	core->xp = given_core(given, name);
	core->at_us = core->from_us = 0;
	core->nr_steps = 0;
	xp_op(&core->xp, WORK, "fusion.1", "loop fusion", PROGRAM, WORK);
	xp_op(&core->xp, LATE, "fusion.2", "loop fusion", PROGRAM, LATE);
	text_op(&core->xp, RECV, "%recv-done.3 = f32[8]{0} recv-done(f32[8]{0} %b), channel_id=7",
		"recv-done.3", "recv-done");
	text_op(&core->xp, PLAIN_RECV, "%recv-done.9 = f32[8]{0} recv-done(f32[8]{0} %b)",
		"recv-done.9", "recv-done");
	text_op(&core->xp, SEND, "%send.7 = f32[8]{0} send(f32[8]{0} %a), channel_id=7", "send.7",
		"send");
	text_op(&core->xp, PLAIN_SEND, "%send.8 = f32[8]{0} send(f32[8]{0} %a)", "send.8", "send");
	xp_op(&core->xp, REDUCE, "all-reduce.4", "all-reduce", PROGRAM, REDUCE);
	text_op(&core->xp, PAIRS,
		"%all-reduce.5 = f32[8]{0} all-reduce(f32[8]{0} %b), replica_groups={{0,1},{2,3}}",
		"all-reduce.5", "all-reduce");
	text_op(&core->xp, START, "%copy-start.6 = (f32[8]{0}) copy-start(f32[8]{0} %c)",
		"copy-start.6", "copy-start");
	text_op(&core->xp, DONE, "%copy-done.6 = f32[8]{0} copy-done((f32[8]{0}) %copy-start.6)",
		"copy-done.6", "copy-done");
	xp_name(&core->xp, MARK, "step");
	xp_line(&core->xp, "XLA Ops", 0);
}

/* No event for no time. */
static inline void run(struct core *core, int64_t op, int64_t us)
{
	if (us > 0)
		given_event(&core->xp, op, core->at_us, us);
	core->at_us += us;
}

/* Up to a time of the step. */
static inline void run_until(struct core *core, int64_t op, int64_t us)
{
	run(core, op, core->from_us + us - core->at_us);
}

/* A step that was to take so long. */
static inline void end_step(struct core *core, int64_t us)
{
	assert_int_equal(core->at_us, core->from_us + us);
	assert_true(core->nr_steps < MAX_STEPS);
	core->step_us[core->nr_steps++] = us;
	core->from_us = core->at_us;
}

/* Steps are marked where any was ended. */
static inline void end_core(struct core *core)
{
	int64_t at_us = 0;

	xp_line_end(&core->xp);
	if (core->nr_steps > 0) {
		xp_line(&core->xp, "Steps", 0);
		for (size_t i = 0; i < core->nr_steps; at_us += core->step_us[i++])
			given_event(&core->xp, MARK, at_us, core->step_us[i]);
		xp_line_end(&core->xp);
	}
	xp_plane_end(&core->xp);
}

/* Not analysed yet. */
static inline struct given *given_cores(int nr_cores, int nr_steps, core_step *step)
{
	struct given *given = given_nothing();
	struct core core;

	for (int c = 0; c < nr_cores; c++) {
		begin_core(given, &core, c);
		for (int i = 0; i < nr_steps; i++)
			step(&core, c, i);
		end_core(&core);
	}
	return given;
}

#endif
