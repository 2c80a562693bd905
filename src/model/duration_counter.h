/* SPDX-License-Identifier: MIT */
#ifndef TS_MODEL_DURATION_COUNTER_H
#define TS_MODEL_DURATION_COUNTER_H

#include "model/block.h"

/*
 * Counts how long events are while a pass shows their blocks: the budget of a trace chooses by that
 * (trace/plan.h). It is not an analysis and has no result. block() may be called on several
 * threads at once, for different lines; NULL: nothing is counted.
 */
struct ts_duration_counter {
	void *ctx;
	bool (*wants)(void *ctx, const struct ts_profile *profile, uint32_t line);
	void (*restart)(void *ctx, uint32_t line); /* what was seen of the line does not count */
	enum ts_status (*block)(void *ctx, const struct ts_block *block, struct ts_error *err);
};

#endif
