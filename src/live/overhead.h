/*
 * What watching costs the job: the share of the time that is sampled, and how much longer a step
 * takes meanwhile.
 *
 * Steps are the ones the job numbers itself. Within a sample a step's time is from the first start
 * to the last one, by their numbers; between two samples from the last start of the one to the first
 * start of the next, of the same host, whose clock is its own. What the profiler needs to begin and to end falls into the second kind, so the
 * cost is what can be seen of it: not less than (step in samples / step between - 1) x share sampled.
 */
#ifndef TS_LIVE_OVERHEAD_H
#define TS_LIVE_OVERHEAD_H

#include "live/look.h"
#include "live/ring.h"

struct ts_overhead {
	int64_t first_ms;   /* when watching began; by ts_now_ms() */
	int64_t sampled_ms; /* so far */
	bool has_last;
	uint64_t last_series; /* whose steps they are: host and annotation */
	uint64_t last_number;
	int64_t last_unix_ns; /* the start of the last step seen */
};

/* Sets STEP (where the results had none), STEP_UNSAMPLED, SAMPLED of VALUES. LOOK NULL: nobody
 * answered. */
void ts_overhead_sample(struct ts_overhead *overhead, const struct ts_look *look,
			const struct ts_profile *profile, int64_t start_ms, int64_t end_ms,
			double values[TS_NR_METRICS]);
/* The same three of all the time until NOW_MS, the steps as medians of the history, and COST; all
 * other VALUES are unknown then. */
void ts_overhead_end(const struct ts_overhead *overhead, const struct ts_ring *ring, int64_t now_ms,
		     double values[TS_NR_METRICS]);
/* COST, from the history, %: NaN while it cannot be told. */
double ts_overhead_pct(const struct ts_ring *ring, double sampled_pct);

#endif
