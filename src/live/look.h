/* SPDX-License-Identifier: MIT */
/*
 * A look at a sample's host threads: the steps that the job counted, and the programs that ran on
 * the CPU, which have no line of their own. Little is read: the job's own annotations, and the
 * stats of only those events that were seen to have them.
 */
#ifndef TS_LIVE_LOOK_H
#define TS_LIVE_LOOK_H

#include "model/profile.h"

#define TS_LOOK_MAX_STEPS    4096
#define TS_LOOK_MAX_PROGRAMS 4096

struct ts_look_step {
	uint64_t number;
	int64_t start_ps, end_ps;
	uint32_t host, op;
};

struct ts_look_program {
	uint64_t id;
	struct ts_bytes module; /* its name; a view into the profile */
	uint32_t host;
};

struct ts_look {
	/* The steps of one annotation (jax.profiler.StepTraceAnnotation) on one host, in the
	 * order of time: of the first one that has many. None where the job does not count
	 * steps. */
	struct ts_look_step *steps;
	size_t nr_steps, cap_steps;
	bool lowers; /* a function was traced or lowered: a compilation comes next */
	struct ts_look_program *programs; /* programs that ran, each of them once a host */
	size_t nr_programs, cap_programs;
};

/* LOOK is zeroed before the call. Its views are into the profile. */
enum ts_status ts_look_make(struct ts_look *look, const struct ts_profile *profile,
			    struct ts_error *err);
void ts_look_release(struct ts_look *look);

#endif
