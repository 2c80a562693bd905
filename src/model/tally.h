/*
 * Sums over the events of an op, for analyses that work per op: they keep one in their state, feed
 * it every block and merge it line by line.
 *
 * Memory grows with the highest op index seen. Sums are integers (and doubles where integers could
 * not hold them), so they do not depend on how the lines were spread over threads as long as states
 * are merged in the order of the lines. A zeroed struct is an empty tally.
 */
#ifndef TS_MODEL_TALLY_H
#define TS_MODEL_TALLY_H

#include "model/block.h"

struct ts_record;
struct ts_tally_row {
	int64_t occurrences; /* 0: never seen */
	int64_t total_ps, self_ps;
	int64_t nr_own_flops; /* occurrences that said their FLOPs themselves (custom calls) */
	double own_flops;     /* what those said, summed */
	uint32_t device;      /* the first that ran it */
};

struct ts_tally {
	struct ts_tally_row *rows; /* by op */
	size_t nr, cap;
	int64_t first_ps, last_ps; /* hull of the events on the timeline, when nr_events > 0 */
	uint64_t nr_events;
};

/* False: no memory. DEVICE is the index of the line's device. */
bool ts_tally_block(struct ts_tally *tally, const struct ts_block *block, uint32_t device);
bool ts_tally_merge(struct ts_tally *into, const struct ts_tally *from);
void ts_tally_release(struct ts_tally *tally);
extern const struct ts_record ts_tally_record; /* what it is made of, for states */

/*
 * FLOPs of all its executions as the profile and the module have them; NaN when they are unknown.
 */
double ts_tally_flops(const struct ts_tally_row *row, const struct ts_op *op);

#endif
