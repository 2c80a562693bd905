/* SPDX-License-Identifier: MIT */
/*
 * What watching costs the job: the share of the time that is sampled, and how much longer a step
 * takes while it is.
 *
 * Steps are those that the job numbers itself. The step time within a sample is the median time from
 * one start to the next. The step time between
 * two samples is the time from the last start in the one to the first start in the next, divided in
 * the same way; both starts are of one host, because each host has a clock of its own. The time
 * that the profiler needs to begin and to end falls between samples, so the overhead is a lower
 * bound: (step within samples / step between samples - 1) x share sampled. Where that is negative, it is too
 * small to measure: something else made the difference.
 */
#ifndef TS_LIVE_OVERHEAD_H
#define TS_LIVE_OVERHEAD_H

#include "live/look.h"
#include "live/ring.h"

struct ts_overhead {
	int64_t first_ms;   /* when watching began; by ts_now_ms() */
	int64_t sampled_ms; /* in all samples until now */
	bool has_last;
	uint64_t last_series; /* a hash of host and annotation: which steps they are */
	uint64_t last_number;
	int64_t last_unix_ns; /* the start of the last step that was seen */
};

/*
 * Sets STEP, STEP_MARKED, STEP_UNSAMPLED and SAMPLED of VALUES. STEP stays that of the results where the job does not number its
 * steps: theirs is a device's, from start to start, or the mark's of a host. LOOK is NULL where no host answered.
 * TS_NOMEM fails.
 */
enum ts_status ts_overhead_sample(struct ts_overhead *overhead, const struct ts_look *look,
				  const struct ts_profile *profile, int64_t start_ms,
				  int64_t end_ms, double values[TS_NR_METRICS],
				  struct ts_error *err);
/* Sets the same three for the whole time until NOW_MS (the steps are medians of the history), and
 * COST. All other VALUES become unknown. */
void ts_overhead_end(const struct ts_overhead *overhead, const struct ts_ring *ring, int64_t now_ms,
		     double values[TS_NR_METRICS]);
/* COST in percent, from the history; NaN while it is unknown, or too small to measure. */
double ts_overhead_pct(const struct ts_ring *ring, double sampled_pct);

#endif
