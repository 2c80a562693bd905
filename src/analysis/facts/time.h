/* SPDX-License-Identifier: MIT */
/*
 * What the analysis time knows: where each moment of the cores went, as other analyses read it.
 *
 * Core time is the sum over cores of the wall time, which runs from the first device event to the
 * last one. Times are in picoseconds since the run's start.
 */
#ifndef TS_ANALYSIS_FACTS_TIME_H
#define TS_ANALYSIS_FACTS_TIME_H

#include "analysis/kit/split.h"

/* A step over all devices that ran it. */
struct ts_time_step {
	uint64_t number;
	int64_t start_ps, total_ps, cores, ps[TS_NR_BUCKETS]; /* core time; .cores is above 0 */
	uint32_t work; /* what it does (ts_steps_work()); of a listed step alone */
};

struct ts_time_core {
	uint32_t device;
	int64_t ps[TS_NR_BUCKETS];
};

/* What explains the time of an op that is split, over all cores. */
struct ts_time_op {
	int64_t split_ps;		/* all of it; 0: the op did not run, or is not split */
	int64_t part_ps[TS_SPLIT_REST]; /* of it; what is left over is unexplained */
};

/* A time in which no op ran. */
struct ts_time_gap {
	uint32_t device;
	int64_t start_ps, dur_ps;
	enum ts_bucket cause; /* compilation, input, launch or idle */
};

/* A step that took long, and why. */
struct ts_slow_step {
	size_t step;			/* index into .steps: it is listed */
	int64_t duration_ps, excess_ps; /* over the median step */
	int64_t period;			/* it comes every so many steps; -1: it does not */
	enum ts_bucket cause;		/* the bucket that grew most */
	int64_t cause_excess_ps;	/* core time */
	int64_t growth_ps[TS_NR_BUCKETS];
	uint32_t device;   /* where the cause grew most; TS_NONE: none stands out */
	bool is_straggler; /* the other cores waited for that device */
	uint32_t op;	   /* that grew most; TS_NONE: no op did */
	int64_t op_excess_ps;
	struct ts_time_gap gap; /* the longest of it under the cause; .device TS_NONE: none */
};

struct ts_time_facts {
	size_t nr_cores; /* that had an event; 0: all times below are -1 */
	int64_t wall_start_ps, wall_ps;
	int64_t total_ps;		  /* core time: wall_ps x nr_cores */
	int64_t bucket_ps[TS_NR_BUCKETS]; /* their sum is total_ps */
	int64_t part_ps
		[TS_SPLIT_REST];      /* of all ops that are split, before GPUs' streams overlap */
	const struct ts_time_op *ops; /* by index into profile->ops; NULL: nothing ran */
	double duty_cycle;	      /* 0..1; NaN: unknown */
	/* Those that ran, in the order of time: the ones that reports list (kit/run_steps.h), and the sum of
	 * all others, whose .cores is 0. What is asked of every step walks over them (ts_time_next_step). */
	const struct ts_time_step *steps;
	size_t nr_steps;  /* of the run */
	size_t nr_listed; /* in .steps; where no step is left out, .nr_steps */
	struct ts_time_step others;
	int64_t others_ps;	/* the sum of their durations */
	struct ts_bytes packed; /* all of them; .n 0: .steps has all */
	const struct ts_time_core *cores;
	const struct ts_time_gap *gaps; /* the longest of all cores, the longest first */
	size_t nr_gaps;
	const struct ts_slow_step *slow; /* the slowest, the slowest first */
	size_t nr_slow;
	int64_t nr_slow_steps;		     /* all of them; -1: no steps */
	int64_t slow_period;		     /* -1: none */
	int64_t median_step_ps, step_mad_ps; /* median, median deviation from it; -1 */
};

/* Every step of the run, in the order of time:
 *
 *	for (struct ts_time_walk walk = { .time = time }; ts_time_next_step(&walk);)
 *		... walk.step
 */
struct ts_time_walk {
	const struct ts_time_facts *time;
	struct ts_time_step step;
	size_t nr; /* with this one */
	size_t at; /* in the packed bytes */
};
bool ts_time_next_step(struct ts_time_walk *walk);

static inline int64_t ts_time_op_in(const struct ts_time_op *op, enum ts_bucket bucket)
{
	int64_t ps = bucket == TS_BUCKET_UNEXPLAINED ? op->split_ps : 0;

	for (enum ts_split_part part = 0; part < TS_SPLIT_REST; part++) {
		if (bucket == TS_BUCKET_UNEXPLAINED)
			ps -= op->part_ps[part];
		else if (ts_split_bucket(part) == bucket)
			ps += op->part_ps[part];
	}
	return ps;
}

static inline int64_t ts_time_step_duration(const struct ts_time_step *step)
{
	return step->total_ps / step->cores;
}

#endif
