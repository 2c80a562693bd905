/* SPDX-License-Identifier: MIT */
/*
 * What is measured of one of the runs that are compared: its results at hand, and its time by step.
 *
 * A step's time is the mean of its cores, as in the report; its buckets are shared out the same way, so
 * that the buckets of a run sum to its time. Steps that a host marked for its GPUs take as long as the work
 * that they launched (step_ps); their buckets, and so the mean step, are of the marks. A run without steps has its wall time instead, per core
 * too. Looks into the run's results, which must live longer.
 */
#ifndef TS_COMPARE_MEASURED_H
#define TS_COMPARE_MEASURED_H

#include "model/bucket.h"
#include "result/result.h"

struct ts_measured {
	const struct ts_result *time, *overview, *capacity, *doctor, *capture; /* NULL: not there */
	const struct ts_table *ops, *modules, *steps;			       /* likewise */
	double *step_ps; /* one a step, in the order of time */
	size_t nr_steps;
	bool by_step;			 /* the times below are of a step, not of the whole run */
	double time_ps;			 /* mean step, else wall time; NaN: the run has none */
	double bucket_ps[TS_NR_BUCKETS]; /* of it; NaN unknown */
	double parts; /* what all cores did is divided by it: steps x cores, else cores */
};

/* BY_STEP false: the wall time, also where there are steps. */
enum ts_status ts_measured_init(struct ts_measured *measured, const struct ts_results *results,
				bool by_step, struct ts_error *err);
/* How its steps are known: marked, inferred, launched (a host's marks, to the end of the work), or host (its marks
 * alone); .n 0: it has none. */
struct ts_bytes ts_measured_step_source(const struct ts_measured *measured);
void ts_measured_release(struct ts_measured *measured);

/*
 * A figure of a run by name: a short name (step_time_ms.mean, wall_ms, peak_memory_mb, buckets.idle_ms,
 * buckets.idle_pct, health_score ...) or the path of a number in the report (time.wall_ps,
 * overview.duty_cycle_pct). False: nothing of the report has that name; NaN: it is unknown here.
 */
bool ts_measured_value(const struct ts_measured *measured, const struct ts_results *results,
		       struct ts_bytes path, double *value);

#endif
