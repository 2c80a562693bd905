/* SPDX-License-Identifier: MIT */
/*
 * The outline of a run: what must be known of it before the ops are read block by block.
 *
 * Made by run/ in a first, cheap pass over the lines of steps, modules and host threads.
 */
#ifndef TS_MODEL_OUTLINE_H
#define TS_MODEL_OUTLINE_H

#include "base/spans.h"
#include "model/bucket.h"
#include "model/host_event.h"
#include "model/scopes.h"
#include "model/steps.h"

/* What the threads did that a host's cores wait for: its own, and those of hosts without cores, as
 * a single controller of many hosts has. */
struct ts_host_spans {
	struct ts_spans compile; /* one of them was compiling */
	struct ts_spans input;	 /* input was waited for, and not one compiled */
	struct ts_spans launch; /* one that launches was in a launch, and it was neither of these */
};

/* What LEFT_PS of the time from FROM_PS to TO_PS, in which no op ran, is: PS has a number for each class from TS_FIRST_PAUSE on. */
void ts_host_spans_divide(const struct ts_host_spans *host, int64_t from_ps, int64_t to_ps,
			  int64_t left_ps, int64_t ps[TS_NR_PAUSES]);

struct ts_outline {
	struct ts_steps steps;
	struct ts_host_spans *hosts; /* one a host of the profile */
	size_t nr_hosts;
	struct ts_spans compile; /* some thread of some host was compiling */
	int64_t nr_compiles;	 /* stretches of time with backend compilations */
	int64_t compile_ps;	 /* time with one in progress, on however many threads */
	uint8_t *host_activity;	 /* of each op of the profile: enum ts_host_activity */
	/* The threads that launch what devices run, as lines of the profile: of each host those that are
	 * nearest to the user's program. */
	uint32_t *launching;
	size_t nr_launching;
	/* What the user's program marked on the threads of hosts. */
	struct ts_steps host_steps; /* a "device" is a host; .made_of is the marks' name */
	struct ts_scopes scopes;
	int64_t host_first_ps, host_last_ps; /* hull of all their events; first > last: none */
	/* Where the file of one host is read by itself: the hull of the events that all devices of the
	 * run have on their lines of steps, modules and ops. */
	bool has_wall;
	int64_t wall_start_ps, wall_end_ps;
};

void ts_outline_release(struct ts_outline *outline);
bool ts_outline_launches(const struct ts_outline *outline, uint32_t line);

#endif
