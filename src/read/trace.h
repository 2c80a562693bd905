/*
 * Where the events of a trace's text stand in the model: for whoever rewrites that text, and must
 * say of each event what the reader said.
 */
#ifndef TS_READ_TRACE_H
#define TS_READ_TRACE_H

#include "model/profile.h"

/* Is this host's profile a trace in JSON, which the functions below know? */
bool ts_trace_is(const struct ts_profile *profile, uint32_t host);
/* A time of the text ("ts": 12.5, the token) on the run's timeline; false: it is no time. */
bool ts_trace_time(const struct ts_profile *profile, uint32_t host, struct ts_bytes token,
		   int64_t *ps);
/* The length of an event ("dur": 3); 0 where it is none. */
int64_t ts_trace_length(struct ts_bytes token);
/*
 * The plane of an event of process PID; of a complete event (ph X) CATEGORY says whether that is
 * the process's device or its host, of others it is empty. TS_NONE: no event of the model is there.
 */
uint32_t ts_trace_plane(const struct ts_profile *profile, uint32_t host, struct ts_bytes pid,
			struct ts_bytes category);

#endif
