/* SPDX-License-Identifier: MIT */
/*
 * What the hosts of a run have for a trace of it: of each how many events, and where the first begins and the last ends.
 * A host's share of the events that are written depends on what the others have (trace/plan.h), and so does where the trace's
 * time begins; so map pass counts it of its file, and map overlay knows it of all.
 */
#ifndef TS_TRACE_WANTS_H
#define TS_TRACE_WANTS_H

#include "base/record.h"
#include "model/duration_counter.h"
#include "trace/plan.h"

extern const struct ts_record ts_trace_wants_record; /* of struct ts_trace_wants */

/* Adds those of the hosts that follow. */
enum ts_status ts_trace_wants_add(struct ts_trace_wants *wants, const struct ts_trace_wants *more,
				  struct ts_error *err);

/* Counting, in a pass over some hosts of a profile. */
struct ts_line_want {
	uint64_t nr_events;
	int64_t first_ps, last_ps;
};
struct ts_wanting {
	struct ts_line_want *lines; /* of the profile */
};

enum ts_status ts_wanting_init(struct ts_wanting *wanting, const struct ts_profile *profile,
			       struct ts_error *err);
struct ts_duration_counter ts_wanting_counter(struct ts_wanting *wanting);
/* Of the hosts from FIRST on, NR of them. WANTS, zeroed before, is the caller's to release. */
enum ts_status ts_wanting_sum(const struct ts_wanting *wanting, const struct ts_profile *profile,
			      uint32_t first, uint32_t nr, struct ts_trace_wants *wants,
			      struct ts_error *err);
void ts_wanting_release(struct ts_wanting *wanting);

#endif
