/* SPDX-License-Identifier: MIT */
/*
 * What the analysis timeline knows: for how long hosts and devices worked, over all ranks.
 */
#ifndef TS_ANALYSIS_FACTS_TIMELINE_H
#define TS_ANALYSIS_FACTS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

/* A step of a trace that marks steps on the host and has GPUs, over all ranks that have its number. */
struct ts_worked_step {
	uint64_t number;
	int64_t start_ps;    /* the earliest */
	int64_t duration_ps; /* to the end of the last kernel that it launched; the ranks' mean */
	int64_t nr_ranks;
	int64_t excess_ps; /* over the median of its kind, where that was asked for */
	uint32_t kind;	   /* of its work (model/steps.h) */
};

struct ts_timeline_facts {
	int64_t total_ps;	/* from the first event to the last; -1: there are no events */
	int64_t cpu_time_ps;	/* sum over threads of the time in which something ran; -1 */
	int64_t device_time_ps; /* sum over events of devices; -1: unknown, or no device */
	int64_t steps_ps;	/* sum over the steps of all ranks; 0: there are none */
	int64_t other_ps;	/* moments of these in which no class of work was seen */
	const struct ts_worked_step *steps; /* those that are counted, by their numbers */
	size_t nr_steps;	/* 0: steps are not marks of the host, or launch nothing */
	int64_t median_step_ps; /* of them; 0: there are none */
};

#endif
