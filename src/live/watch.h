/* SPDX-License-Identifier: MIT */
/*
 * Watching a log directory: which of its sessions are complete and have no annotation of their
 * present state. Before a session is complete, nothing of it is read but heads of traces
 * (io/captures.h) and what shows whether a file is whole (live/whole.h).
 *
 * A session is complete when its files (live/session_files.h) have not changed for .settle_ms, when
 * all are whole, when no program has one of them open for writing, and when none is a temporary.
 * The last condition is dropped after TS_WATCH_PATIENCE times .settle_ms, so that a temporary that
 * was left behind does not hold up its session for ever.
 *
 * The folder is looked through every .poll_ms, on every kind of file system, and also when the
 * system gives notice of a change (live/notify.h). Memory grows with the sessions that are there.
 *
 *	while (ts_watch_next(watch, until_ms, &event, err) == TS_OK && event.kind < TS_WATCH_OVER)
 *		if (event.kind == TS_WATCH_COMPLETE)
 *			... annotate event.session, then ts_watch_done(watch, &deed, err)
 */
#ifndef TS_LIVE_WATCH_H
#define TS_LIVE_WATCH_H

#include "io/rundir.h"

#define TS_WATCH_SETTLE_MS 3000
#define TS_WATCH_POLL_MS   5000
#define TS_WATCH_PATIENCE  20

struct ts_watch_options {
	const char *logdir; /* it belongs to the caller and must outlive the watch */
	int64_t settle_ms, poll_ms;
	bool new_only;	    /* sessions that are there at first are left alone until they change */
	bool join_sessions; /* io/siblings.h */
	struct ts_remote *
		remote; /* LOGDIR is a URL (remote/remote.h), and its listing is polled; NULL: it is not */
	bool only_poll; /* do not ask the system for notice of changes */
	/* the time: each wait that nothing ends turns it to its end, at once; NULL: ts_now_ms() */
	int64_t *clock_ms;
};

enum ts_watch_kind {
	/* a session was found that is not complete, or cannot become complete as it is */
	TS_WATCH_WAITS,
	/* a session is complete and has no annotation: annotate it, call ts_watch_done() */
	TS_WATCH_COMPLETE,
	TS_WATCH_OVER, /* the time is up */
	TS_WATCH_STOPPED,
};

struct ts_watch_event {
	enum ts_watch_kind kind;
	const struct ts_session *session; /* NULL: the event is about the log directory itself */
	const char *problem;		  /* why it waits; NULL: it is being written */
	bool is_again;			  /* of TS_WATCH_COMPLETE: it failed before */
};

/* What became of a session. */
struct ts_watch_deed {
	/* TS_IO, TS_NOMEM: the session is tried again, less and less often */
	enum ts_status status;
	const struct ts_error *problem; /* NULL: none */
	/* files that we made or replaced: their changes are ours */
	const char *const *names;
	size_t nr_names;
	bool is_stale; /* set by ts_watch_done(): the session changed meanwhile, and waits again */
};

struct ts_watch_counts {
	size_t nr_known; /* sessions that are there */
	/* those of them that are not annotated as they are now, and did not fail */
	size_t nr_waiting;
	size_t nr_failed; /* those that failed */
};

struct ts_watch;
enum ts_status ts_watch_new(struct ts_watch **watch, const struct ts_watch_options *options,
			    struct ts_error *err);
void ts_watch_free(struct ts_watch *watch); /* NULL is fine */

/* Waits for the next event until UNTIL_MS, by .clock_ms. TS_NOMEM. The event is good until the
 * next call. */
enum ts_status ts_watch_next(struct ts_watch *watch, int64_t until_ms, struct ts_watch_event *event,
			     struct ts_error *err);
/* To be called for the session of the last event, a TS_WATCH_COMPLETE. TS_NOMEM. */
enum ts_status ts_watch_done(struct ts_watch *watch, struct ts_watch_deed *deed,
			     struct ts_error *err);
struct ts_watch_counts ts_watch_count(const struct ts_watch *watch);
/* Gives the sessions that wait or failed one after the other, from *AT = 0 on, and why they do
 * (NULL: that is not known yet). False: there are no more. */
bool ts_watch_left(const struct ts_watch *watch, size_t *at, const char **path,
		   const char **problem);
void ts_watch_stop(struct ts_watch *watch); /* may be called from any thread */

#endif
