/* SPDX-License-Identifier: MIT */
/*
 * The events of many lines of one host, interleaved: in the order of their starts, the longer first,
 * whatever line they stand on. For analyses that look at a moment across lines: which device was
 * idle while a thread did what, which launch a kernel waited for, which op held memory.
 *
 * A block of them is owned by run/interleave.c and is good during the call. Events that start together and
 * last as long come in the order of their lines, of one line as the file has them (a parent first).
 */
#ifndef TS_MODEL_INTERLEAVED_H
#define TS_MODEL_INTERLEAVED_H

#include "model/block.h"

struct ts_interleaved;
/* The stat of this name of an event; false: it has no such stat. Only this stat is decoded. */
bool ts_interleaved_stat(const struct ts_interleaved *interleaved, size_t event, const char *name,
			 struct ts_stat *stat);

/* Of NR names at once: a stat that the event has not keeps what it was. How many it has. */
size_t ts_interleaved_stats(const struct ts_interleaved *interleaved, size_t event,
			    const char *const *names, size_t nr, struct ts_stat *stats);

struct ts_interleaved_look { /* of a line: how its reader finds stats; .one NULL: it has no stats */
	ts_stat_find *one;
	ts_stats_find *all;
};

struct ts_interleaved {
	const struct ts_profile *profile;
	uint32_t host;
	size_t nr_events;
	const uint32_t *line, *op; /* indices into the profile's lines and ops */
	const int64_t *start_ps, *dur_ps;
	const uint64_t *link; /* a launch and its kernel have the same; TS_NO_LINK */
	/* for ts_interleaved_stat() and ts_interleaved_stats() */
	const struct ts_bytes *body;
	const struct ts_interleaved_look *look; /* by line of the profile */
};

struct ts_interleaved_sink {
	void *ctx;
	enum ts_status (*block)(void *ctx, const struct ts_interleaved *interleaved,
				struct ts_error *err);
};

#endif
