/*
 * Watching a log directory: which of its sessions are complete and have no annotation of their
 * present state. Nothing is read of a session before it is complete, but for heads of traces
 * (io/captures.h) and what tells whether a file is whole (live/whole.h).
 *
 * A session is complete when its parts (live/session_files.h) have not changed for .settle_ms, when all are
 * whole, when no program has one open for writing, and when none is a temporary. The last is given
 * up after TS_WATCH_PATIENCE times as long: a name left behind holds nothing up for ever.
 *
 * The folder is looked through every .poll_ms, and when the system says that something happened
 * (live/notify.h), whatever kind of file system it is on. Memory grows with the sessions that are
 * there.
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
	const char *logdir; /* the caller's, as long as the watch */
	int64_t settle_ms, poll_ms;
	bool new_only;	    /* what is there at first is left alone, until it changes */
	bool join_sessions; /* io/siblings.h */
	bool only_poll;	    /* do not ask the system for words */
};

enum ts_watch_kind {
	TS_WATCH_WAITS, /* a session was met that is not complete, or cannot become so as it is */
	TS_WATCH_COMPLETE, /* and has no annotation: call ts_watch_done() */
	TS_WATCH_OVER,	   /* the time is up */
	TS_WATCH_STOPPED,
};

struct ts_watch_event {
	enum ts_watch_kind kind;
	const struct ts_session *session; /* NULL: it is about the log directory itself */
	const char *problem;		  /* why it waits; NULL: it is being written */
	bool is_again;			  /* COMPLETE: it failed before */
};

/* What became of a session. */
struct ts_watch_deed {
	enum ts_status status; /* TS_IO, TS_NOMEM: it is tried again, less and less often */
	const struct ts_error *problem; /* NULL: none */
	const char *const
		*names; /* files that were put there or replaced: those changes are ours */
	size_t nr_names;
	bool is_stale; /* set by ts_watch_done(): it was changed meanwhile, and waits again */
};

struct ts_watch_counts {
	size_t nr_known;   /* sessions that are there */
	size_t nr_waiting; /* of those, not annotated as they are now: not complete */
	size_t nr_failed;  /* or it did not succeed */
};

struct ts_watch;
enum ts_status ts_watch_new(struct ts_watch **watch, const struct ts_watch_options *options,
			    struct ts_error *err);
void ts_watch_free(struct ts_watch *watch); /* NULL is fine */

/* Waits for the next event, until UNTIL_MS by ts_now_ms(). TS_NOMEM. What it says is good until the
 * next call. */
enum ts_status ts_watch_next(struct ts_watch *watch, int64_t until_ms, struct ts_watch_event *event,
			     struct ts_error *err);
/* Of the session of the last event, which was COMPLETE. TS_NOMEM. */
enum ts_status ts_watch_done(struct ts_watch *watch, struct ts_watch_deed *deed,
			     struct ts_error *err);
struct ts_watch_counts ts_watch_count(const struct ts_watch *watch);
/* The sessions that wait or failed, one after the other from *AT = 0 on, and why (NULL: not known
 * yet). */
bool ts_watch_left(const struct ts_watch *watch, size_t *at, const char **path,
		   const char **problem);
void ts_watch_stop(struct ts_watch *watch); /* from any thread */

#endif
