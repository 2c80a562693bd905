/* SPDX-License-Identifier: MIT */
/*
 * Sums over the events of an op. The analysis ops makes them while the events come by; others read them (facts/ops.h).
 * And the hull of events: from the first start to the last end on the timeline.
 */
#ifndef TS_MODEL_TALLY_H
#define TS_MODEL_TALLY_H

#include "model/block.h"

struct ts_record;
struct ts_tally_row {
	int64_t occurrences; /* 0: never seen */
	int64_t total_ps, self_ps;
	int64_t nr_own_flops; /* occurrences that said their FLOPs themselves (custom calls, kernels of traces) */
	double own_flops; /* what those said, summed, in terms of the bf16 peak */
	uint32_t device;  /* the first that ran it */
};

/* FLOPs of all its executions as the profile and the module have them; NaN: unknown. */
double ts_tally_flops(const struct ts_tally_row *row, const struct ts_op *op);

/* Zeroed it is that of no events. */
struct ts_hull {
	int64_t first_ps, last_ps; /* when nr_events > 0 */
	uint64_t nr_events;
};

void ts_hull_block(struct ts_hull *hull, const struct ts_block *block);
void ts_hull_merge(struct ts_hull *into, const struct ts_hull *from);
extern const struct ts_record ts_hull_record; /* what it is made of, for states */

#endif
