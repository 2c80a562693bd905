/* SPDX-License-Identifier: MIT */
/*
 * The outline in its two halves: what the lines gave, each for itself, and the outline that is made of
 * all of them. A machine that has all files of a run makes both (run/outline.h); where each host's file
 * is looked at by itself, the first half is saved with it (pod/saved.h).
 */
#ifndef TS_RUN_OUTLINE_LINES_H
#define TS_RUN_OUTLINE_LINES_H

#include "run/outline_scopes.h"
#include "run/outline_steps.h"

/* What one line gave. Owned by the struct. */
struct ts_outline_line {
	struct outline_marks marks;
	struct ts_spans compile, input, transfer, launches;
	struct ts_spans
		work; /* of a thread that launches: it was at anything else that has a name */
	enum ts_host_launch launch;
	/* While it is read: waits, and the latest start of a launch, and of work. */
	struct ts_spans waits;
	bool has_launched, has_worked;
	int64_t launched_ps, worked_ps;
	struct outline_scopes scopes;
	struct ts_bytes damage; /* of a host's thread, with a NUL behind it; empty: none */
	char *own_damage;	/* the bytes of it, where they are the line's own */
	/* Of a device's line of steps, modules or ops: the hull of its events, where it was asked for
	 * (ts_outline_hulls()). */
	bool has_hull;
	int64_t first_ps, last_ps;
};

struct ts_outline_lines {
	struct ts_outline_line *items; /* one a line of the profile */
	size_t nr;
};

/* Streams the lines of steps, modules and host threads. ACTIVITY is as ts_outline_activity() makes it.
 * Both are the caller's to release, in any case. */
enum ts_status ts_outline_lines_make(struct ts_profile *profile, size_t nr_threads,
				     struct ts_outline_lines *lines, uint8_t **activity,
				     struct ts_error *err);
/* Streams the lines of devices as well, to know the hull of their events. */
enum ts_status ts_outline_hulls(struct ts_profile *profile, size_t nr_threads,
				struct ts_outline_lines *lines, struct ts_error *err);
void ts_outline_lines_release(struct ts_outline_lines *lines);

/* Fills OUTLINE, but for its .host_activity; LINES are used up. Notes their damage. */
enum ts_status ts_outline_join(struct ts_profile *profile, struct ts_outline_lines *lines,
			       struct ts_outline *outline, struct ts_error *err);
/* The same but for the steps of devices: their marks are left. */
enum ts_status ts_outline_join_threads(struct ts_profile *profile, struct ts_outline_lines *lines,
				       struct ts_outline *outline, struct ts_error *err);
/* Of each line, in a list that the caller frees; NULL: no memory. */
struct outline_marks **ts_outline_marks_of(const struct ts_outline_lines *lines);

/* Of each op of the profile: enum ts_host_activity. NULL: no memory. */
uint8_t *ts_outline_activity(const struct ts_profile *profile);
/* Makes its spans quick to ask, as they are when the outline is made. */
enum ts_status ts_outline_seal(struct ts_outline *outline, struct ts_error *err);

#endif
