/* SPDX-License-Identifier: MIT */
/*
 * A job that stands still, and hosts that have gone: what is told by nothing happening.
 *
 * The job advances in a sample in which it begins a step, runs a program, or keeps a device at work. A sample without any of that
 * says nothing: the job may compile, wait for input, or hang. What such a stretch of samples was shows behind it: where a program
 * runs that is new, it was a compilation. Where nothing comes for long, that is an alert (no_step), and so is a host that does
 * not answer any more (service_down).
 */
#ifndef TS_LIVE_STALL_H
#define TS_LIVE_STALL_H

#include "live/alert.h"
#include "live/look.h"
#include "live/ring.h"
#include "live/sampler.h"
#include "live/told.h"

#define TS_STALL_MS 10000 /* the default of .limit_ms */
#define TS_DOWN_MS  5000

struct ts_stall {
	int64_t limit_ms; /* without an advance for so long is an alert, and ten of its steps; 0: never */
	int64_t last_ms; /* the end of the last sample in which it advanced, or of the first sample */
	bool has_advanced; /* since the watch began, or the job was started again */
	bool lowers;   /* that sample, or one since, has seen a function being traced or lowered */
	bool is_quiet; /* the last sample is one in which it did not advance */
	bool has_number;
	uint64_t number; /* of the last step that was seen */
	char name[64];	 /* of its annotation */
	/* the stretch before an advance, the longest of those that may still show what they were; 0: none may */
	int64_t from_ms, to_ms;
	bool has_new; /* a sample of the stretch had a new program: compiled, and not run yet */
};

/* Another process answers now: begins anew. */
void ts_stall_reset(struct ts_stall *stall);

/* Takes in a sample that ended at NOW_MS; VALUES are its figures. True: the job advanced in it. */
bool ts_stall_sample(struct ts_stall *stall, const struct ts_look *look,
		     const struct ts_profile *profile, const double values[TS_NR_METRICS],
		     int64_t now_ms);
/*
 * NR_NEW programs are in the sample that none had before: the stretch in front of it was spent compiling, and its rows in RING say so.
 * A sample that IS_FRESH has the modules that each host has now: nothing new comes behind it that was compiled before.
 */
void ts_stall_explain(struct ts_stall *stall, struct ts_ring *ring, uint64_t nr_new, bool is_fresh);
/* Is a stretch still to be explained, for which the modules of now are wanted? */
bool ts_stall_is_open(const struct ts_stall *stall);
/* The condition no_step; for rounds in which a host answered. */
void ts_stall_judge(const struct ts_stall *stall, struct ts_alerts *alerts,
		    const struct ts_ring *ring, const struct ts_told *told, int64_t now_ms);
/* The condition service_down. */
void ts_stall_services(struct ts_alerts *alerts, const struct ts_service *services, size_t nr,
		       int64_t now_ms);

#endif
