/*
 * A look at a sample's host threads: the steps that the job counted, and the programs that ran on the
 * CPU, which have no line of their own. Small: a job's own annotations, and the stats of those
 * events alone that have been seen to carry them.
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
	/* Of one annotation (jax.profiler.StepTraceAnnotation) on one host, in the order of time: the
	 * first that has many. Nothing: nobody counts. */
	struct ts_look_step *steps;
	size_t nr_steps, cap_steps;
	struct ts_look_program *programs; /* that ran, each once a host */
	size_t nr_programs, cap_programs;
};

/* LOOK is zeroed at first; its views are into the profile. */
enum ts_status ts_look_make(struct ts_look *look, const struct ts_profile *profile,
			    struct ts_error *err);
void ts_look_release(struct ts_look *look);

#endif
