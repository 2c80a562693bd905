/* SPDX-License-Identifier: MIT */
/*
 * What a profile holds that no rule takes, and devices that are neither TPU nor GPU, in words. For capture_ran.c
 * alone.
 */
#ifndef TS_ANALYSIS_CAPTURE_SEEN_H
#define TS_ANALYSIS_CAPTURE_SEEN_H

#include "base/buf.h"
#include "model/profile.h"

struct capture_unread {
	uint64_t nr_events;   /* on lines of which nothing is read */
	uint64_t nr_counters; /* those of them that are values of a device's counters */
};

/* Values of devices' counters that are read: events. */
struct capture_counters {
	uint64_t nr_ended;    /* when the capture ended */
	uint64_t nr_sampled;  /* over time */
	struct ts_bytes chip; /* of the first device that has some, as the profile calls it */
};

struct capture_unread ts_capture_unread(const struct ts_profile *profile);
struct capture_counters ts_capture_counters(const struct ts_profile *profile);
/* "3 events of category x on process 17, 2 ...": the first few. */
void ts_capture_put_unread(struct ts_buf *text, const struct ts_profile *profile);
/* The word in the name of the first device that is neither TPU nor GPU, "MTIA"; empty: there is none. */
struct ts_bytes ts_capture_other_device(const struct ts_profile *profile);

#endif
