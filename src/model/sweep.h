/* SPDX-License-Identifier: MIT */
/*
 * A walk through time over events of several kinds that come in the order of their starts
 * (model/interleaved.h): which kinds run at a moment.
 *
 * Of each kind the latest end so far is all that must be known, so the memory is the same whatever
 * runs at once. Kinds are numbered from 0; a moment has a bit for each kind that runs.
 */
#ifndef TS_MODEL_SWEEP_H
#define TS_MODEL_SWEEP_H

#include "base/bytes.h"

#define TS_SWEEP_KINDS 16

struct ts_sweep {
	void *ctx;
	/* Moments follow each other without a gap, from the first start to the last end. RUNNING may
	 * be 0: between events nothing runs. */
	void (*moment)(void *ctx, int64_t from_ps, int64_t to_ps, unsigned running);
	bool begun;
	int64_t first_ps, now_ps; /* meaningful once begun; all before now was shown */
	int64_t until_ps[TS_SWEEP_KINDS];
	unsigned running;
};

struct ts_record;
extern const struct ts_record ts_sweep_record; /* for states; .ctx and .moment are not saved */

/* Shows what lies before PS; the first time: begins there. */
void ts_sweep_to(struct ts_sweep *sweep, int64_t ps);
/* The next event, which starts no earlier than those before. */
void ts_sweep_add(struct ts_sweep *sweep, unsigned kind, int64_t start_ps, int64_t dur_ps);

#endif
