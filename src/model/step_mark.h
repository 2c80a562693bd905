/* SPDX-License-Identifier: MIT */
/*
 * Ranges of a host's threads that mark steps, by their names: those that frameworks write once a step, those that the
 * user named for it, and any range of the user's own, which has to prove it (run/outline_ranges.h).
 *
 * Servers of language models say in the range's name what the step works on. The forms: vLLM's worker (annotate_profile),
 * SGLang's scheduler, ATOM; as TraceLens lists them:
 *
 *	execute_context_2(6144)_generation_3(3)
 *	execute_6147_context_2(sq6144sk7144...)_generation_3(sq3sk6144...)
 *	execute_new_1_cached_31
 *	step[EXTEND bs=2 toks=14721]	step[DECODE bs=64]	step[MIXED bs=2 c=1 g=1 c_sq=5 ... g_sq=1 ...]
 *	prefill[bs=2 tok=14721 ...]	decode[bs=64 tok=64 d=64]
 */
#ifndef TS_MODEL_STEP_MARK_H
#define TS_MODEL_STEP_MARK_H

#include "model/block.h"
#include "model/steps.h"

enum ts_step_mark {
	TS_MARK_NONE,
	TS_MARK_USER, /* a range of the user's: a step where it repeats and holds the launches */
	TS_MARK_OPTIMIZER, /* Optimizer.step#: the end of a step, whoever trains */
	TS_MARK_FRAMEWORK, /* a step of a framework's loop */
	TS_MARK_SERVING,   /* a step of a server */
	TS_MARK_NAMED	   /* by --step-mark */
};

enum ts_step_mark ts_step_mark_of(const struct ts_profile *profile, const struct ts_op *op);
/* Does it mark a step whatever else is known? */
bool ts_step_mark_is_sure(enum ts_step_mark mark);

/* What all marks of one series of steps have in common, and steps are called by: "train_step", "execute_*". */
struct ts_bytes ts_step_mark_series(const struct ts_profile *profile, const struct ts_op *op);
/* The number behind the name of a range of the user's: "step 12"; TS_NO_NUMBER. */
uint64_t ts_step_mark_number(struct ts_bytes name);

/* What the name says of the step's work: phase, tokens and, of all that, its kind. Nothing: .kind 0. */
struct ts_step_work ts_step_mark_work(struct ts_bytes name);

#endif
