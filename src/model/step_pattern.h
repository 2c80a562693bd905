/* SPDX-License-Identifier: MIT */
/*
 * The pattern that repeats in the executions of modules: what a step is made of where steps are not
 * marked.
 *
 * A step is the smallest period of the sequence of modules on a core: one module, or several in
 * turn (gradients k times, then an update). Modules that ran once are not part of it, nor are those
 * whose names say that they run beside the training (evaluation, checkpoints). Where no period
 * holds most of the time there is no pattern: rather no steps than wrong ones.
 */
#ifndef TS_MODEL_STEP_PATTERN_H
#define TS_MODEL_STEP_PATTERN_H

#include "model/steps.h"

#define TS_STEP_PERIOD_MAX 130 /* executions a step */

/* An execution of a module, by a number from 0 on that all variants of one module share. */
struct ts_execution {
	int64_t start_ps, end_ps;
	uint32_t symbol;
	uint32_t program; /* by which variants are told apart */
};

struct ts_step_pattern {
	uint32_t symbols[TS_STEP_PERIOD_MAX];
	size_t nr; /* 0: there is no pattern */
};

/*
 * The pattern of executions in the order of their starts. NAMES (by symbol, NR_SYMBOLS of them) are
 * the modules' names without fingerprint.
 */
enum ts_status ts_step_pattern_find(const struct ts_execution *executions, size_t nr,
				    const struct ts_bytes *names, size_t nr_symbols,
				    struct ts_step_pattern *pattern, struct ts_error *err);

/*
 * The steps of a core by the pattern, numbered from 0: each lasts until the next one starts, or,
 * where the next does not follow at once, or a module runs that is not part of a step (by its
 * name), until that or its own last end. A first or last one that the capture cut is not a step. ALL gets what they do.
 */
enum ts_status ts_step_pattern_apply(const struct ts_step_pattern *pattern,
				     const struct ts_execution *executions, size_t nr,
				     const struct ts_bytes *names, struct ts_steps *all,
				     struct ts_device_steps *steps, struct ts_error *err);

/* "4 x jit_grad + jit_update" into OUT (cut at SIZE). */
void ts_step_pattern_text(const struct ts_step_pattern *pattern, const struct ts_bytes *names,
			  char *out, size_t size);

#endif
