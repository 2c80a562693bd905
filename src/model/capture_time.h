/* SPDX-License-Identifier: MIT */
/*
 * Which times the events of a capture can have. Profilers write some at a time that cannot be (a record whose clock was never
 * read stands at 0), and one such event would be the beginning of the run. Nothing captures for an hour in which no thread and no
 * device does anything: times that lie farther apart are of different groups, and the group with the most events is the
 * capture. Memory is a few numbers, whatever the capture.
 */
#ifndef TS_MODEL_CAPTURE_TIME_H
#define TS_MODEL_CAPTURE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

#define TS_CAPTURE_GAP_PS (3600 * TS_PS_PER_S)
#define TS_TIME_GROUPS	  16 /* what begins in more is counted in none */

struct ts_time_group {
	int64_t first, last; /* starts */
	int64_t end;	     /* the latest end that was noted of it */
	uint64_t nr;
};

/* Times in any one unit. */
struct ts_time_groups {
	int64_t gap; /* TS_CAPTURE_GAP_PS in this unit */
	struct ts_time_group items[TS_TIME_GROUPS];
	size_t nr;
	uint32_t at; /* the group of the last time */
};

/* The group that NR events at this time belong to, made if it is not there; TS_TIME_GROUPS: there are too many. */
uint32_t ts_time_groups_add(struct ts_time_groups *groups, int64_t time, uint64_t nr);
/* The group with the most events, the latest of several, with what grew together with it; NULL: there is none. */
const struct ts_time_group *ts_time_groups_most(struct ts_time_groups *groups);

/* Some of many times, evenly over them in the order in which they come. */
#define TS_TIME_SAMPLES 64
struct ts_time_samples {
	int64_t items[TS_TIME_SAMPLES];
	size_t nr;
	uint64_t nr_all, stride; /* of so many one is kept */
};
void ts_time_samples_add(struct ts_time_samples *samples, int64_t time);
/* Are nine of ten from FIRST to LAST? */
bool ts_time_samples_are_in(const struct ts_time_samples *samples, int64_t first, int64_t last);

/*
 * What the events of a host may take up: none begins before .first_ps or after .last_ps, and what lasts longer than that ends at
 * .end_ps. Since the host's own start.
 */
struct ts_capture_time {
	int64_t first_ps, last_ps, end_ps;
};
extern const struct ts_capture_time ts_capture_time_any;

/* Narrowed to what a profiler says of itself, from its start to its stop; its clock may be off by as much as it ran. */
struct ts_capture_time ts_capture_time_between(struct ts_capture_time time, int64_t start_ps,
					       int64_t stop_ps);

#endif
