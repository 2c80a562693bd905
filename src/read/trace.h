/* SPDX-License-Identifier: MIT */
/*
 * Where the events of a trace's text stand in the model: for code that writes that text again and
 * must place each event where the reader placed it. HOST is one of a reader with TS_FORM_TRACE.
 */
#ifndef TS_READ_TRACE_H
#define TS_READ_TRACE_H

#include "model/profile.h"

/* A time of the text ("ts": 12.5, the token) on the run's timeline; false: it is not a time. */
bool ts_trace_time(const struct ts_profile *profile, uint32_t host, struct ts_bytes token,
		   int64_t *ps);
/* The length of an event ("dur": 3); 0 where the token is not a length. */
int64_t ts_trace_length(struct ts_bytes token);
/*
 * The plane of an event of process PID; of a complete event (ph X) CATEGORY says whether that is
 * the process's device or its host, of others it is empty. TS_NONE: the model has no events there.
 */
uint32_t ts_trace_plane(const struct ts_profile *profile, uint32_t host, struct ts_bytes pid,
			struct ts_bytes category);

#endif
