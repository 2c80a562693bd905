/* SPDX-License-Identifier: MIT */
/*
 * Which functions are compiled again and again, seen over several samples. A sample of a tenth of a
 * second is often too short for a compilation to begin and end in it, but the program that was made
 * is there in the next sample.
 *
 * A program is a module's name and its id; a function is all programs with one name. It has grown
 * in a sample when there is a program that no sample before had, or when it was seen being
 * compiled. What is there in the first sample is not growth: a job may have variants for good
 * reasons.
 */
#ifndef TS_LIVE_PROGRAMS_H
#define TS_LIVE_PROGRAMS_H

#include "live/alert.h"
#include "live/look.h"

#define TS_MAX_FUNCTIONS 1024 /* more functions are not watched */
#define TS_GROWTHS	 8

struct ts_function {
	char name[128]; /* the module's name: jit_train_step */
	uint64_t nr_programs;
	uint64_t nr_new;  /* in this sample */
	uint64_t nr_made; /* since the first sample that had all modules */
	bool is_compiled; /* it was seen being compiled in this sample */
	bool is_pending;  /* it is to be reported, and its shapes come with the next sample */
	/* the times when it grew; the newest at (nr_grown - 1) % TS_GROWTHS */
	int64_t grown_ms[TS_GROWTHS];
	uint64_t nr_grown;
};

struct ts_programs {
	struct ts_function functions[TS_MAX_FUNCTIONS];
	size_t nr;
	struct ts_map known;
	bool was_primed; /* .is_primed before the last sample */
	bool is_primed;	 /* a sample with all modules was seen: programs after it are new ones */
};

void ts_programs_release(struct ts_programs *programs);
/* Other processes answer now: begins anew. */
void ts_programs_reset(struct ts_programs *programs);

/* Takes in a sample. HAS_MODULES: it has all modules of the processes. *UNKNOWN is set where a
 * program ran that is not among the modules. */
enum ts_status ts_programs_sample(struct ts_programs *programs, const struct ts_profile *profile,
				  const struct ts_results *results, const struct ts_look *look,
				  bool has_modules, int64_t now_ms, bool *unknown,
				  struct ts_error *err);
/* Programs of the last sample that no sample before it had; 0 while it is not known which were there before. */
uint64_t ts_programs_nr_new(const struct ts_programs *programs);
/* Gives ALERTS the condition of the function that has the most programs, of those that grow too
 * much. It does so one sample later where this sample does not have the modules that show its
 * shapes. */
enum ts_status ts_programs_judge(struct ts_programs *programs, struct ts_alerts *alerts,
				 const struct ts_profile *profile, const struct ts_results *results,
				 int64_t now_ms, struct ts_error *err);

#endif
