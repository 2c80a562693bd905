/*
 * Which functions are compiled again and again, seen over samples: a sample of a tenth of a second
 * is often too short for a compilation to begin and end in it, but the program it made is there in
 * the next one.
 *
 * A program is a module's name and its id; a function is all programs of a name. It has grown in a
 * sample when there is a program that none of the samples before had, or when it was seen being
 * compiled. What was there at first is no growth: a job may have variants for good reasons.
 */
#ifndef TS_LIVE_PROGRAMS_H
#define TS_LIVE_PROGRAMS_H

#include "live/alert.h"
#include "live/look.h"

#define TS_MAX_FUNCTIONS 1024 /* others are not watched */
#define TS_GROWTHS	 8

struct ts_function {
	char name[128]; /* of the module: jit_train_step */
	uint64_t nr_programs;
	uint64_t nr_new;  /* in this sample */
	uint64_t nr_made; /* since the first sample that had all modules */
	bool is_compiled; /* seen so in this sample */
	bool is_pending;  /* it is to be told of, and its shapes come with the next sample */
	int64_t grown_ms[TS_GROWTHS]; /* when; the newest at (nr_grown - 1) % TS_GROWTHS */
	uint64_t nr_grown;
};

struct ts_programs {
	struct ts_function functions[TS_MAX_FUNCTIONS];
	size_t nr;
	struct ts_map known;
	bool is_primed; /* a sample with all modules was seen: from now on new is new */
};

void ts_programs_release(struct ts_programs *programs);
/* The processes are others now, or not the same ones: begin anew. */
void ts_programs_reset(struct ts_programs *programs);

/* Learns a sample. HAS_MODULES: it has all modules of the processes. *UNKNOWN: something ran that is
 * not among them. False: no memory. */
bool ts_programs_sample(struct ts_programs *programs, const struct ts_profile *profile,
			const struct ts_results *results, const struct ts_look *look,
			bool has_modules, int64_t now_ms, bool *unknown);
/* Tells the alerts of the function that grows most, if one does; a sample later where the modules that
 * have its shapes were not asked for in this one. False: no memory. */
bool ts_programs_judge(struct ts_programs *programs, struct ts_alerts *alerts,
		       const struct ts_profile *profile, const struct ts_results *results,
		       int64_t now_ms);

#endif
