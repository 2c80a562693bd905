/* SPDX-License-Identifier: MIT */
/*
 * The feed: what is learnt about a running job goes to all listeners as events. An event is a
 * struct and one line of JSON (schema tpusight-live/1, docs/live.md); both are good during the call
 * only.
 *
 * Listeners are called one after the other, on the thread that samples. A listener with slow
 * readers (the clients of a page) copies the line and returns. Listeners are added before the first
 * event.
 */
#ifndef TS_LIVE_FEED_H
#define TS_LIVE_FEED_H

#include "run/annotate.h"
#include "live/alert.h"
#include "live/ring.h"
#include "live/sampler.h"
#include "live/watch.h"

#define TS_LIVE_SCHEMA "tpusight-live/1"

/* A sample of the job, or a round in which no host answered. */
struct ts_live_sample {
	uint64_t number;	      /* counts from 1 the samples that have figures */
	int64_t unix_ms;	      /* when it ended */
	int64_t elapsed_ms;	      /* since watching began */
	int64_t took_ms, analysed_ms; /* how long it took to get it, and to analyse it */
	size_t nr_hosts; /* hosts in it; 0: no host answered, and there are no figures */
	const struct ts_service *services;
	size_t nr_services;
	double values[TS_NR_METRICS];
	const char *captured; /* the session that this sample was kept as (live/captured.h); NULL */
	struct ts_error problem; /* why an answer could not be read; an empty text: no problem */
	const struct ts_ring *history; /* this sample is the newest row, where it has figures */
	const struct ts_alerts *alerts;
	const struct ts_results *results; /* of this sample; NULL where there are no figures */
	/* where a log directory is watched (there are no services then); otherwise NULL */
	const struct ts_watch *watch;
};

/* A session that was found in the log directory. Its figures, alerts and results are in the
 * sample of the event, whose number counts the annotated sessions. */
enum ts_live_session_state {
	/* it is not complete; .problem says why, unless it only needs more time */
	TS_SESSION_WAITING,
	TS_SESSION_ANNOTATED,
	TS_SESSION_FAILED,
};

struct ts_live_session {
	enum ts_live_session_state state;
	/* its folder or its first file; the log directory where .session is NULL */
	const char *path;
	const struct ts_session *session;	/* NULL: the event is about the log directory */
	const struct ts_annotation *annotation; /* NULL while it waits */
	int64_t captured_unix_ms;		/* when its profiler started; TS_UNKNOWN */
	bool dry_run;				/* nothing was written */
	const char *problem;			/* NULL: there is none */
};

enum ts_feed_kind { TS_FEED_SAMPLE, TS_FEED_ALERT, TS_FEED_END, TS_FEED_SESSION };

struct ts_feed_event {
	enum ts_feed_kind kind;
	const struct ts_live_sample *sample; /* the latest one, with alerts and the end too */
	const struct ts_alert *alert; /* the alert of TS_FEED_ALERT, which was raised or cleared */
	/* The session of TS_FEED_SESSION, or the one that an alert is about; NULL: services are
	 * watched. */
	const struct ts_live_session *session;
	struct ts_bytes json; /* an object, without a line end */
};

typedef void ts_feed_fn(void *ctx, const struct ts_feed_event *event);

#define TS_MAX_LISTENERS 8
struct ts_feed {
	struct {
		ts_feed_fn *fn;
		void *ctx;
	} listeners[TS_MAX_LISTENERS];
	size_t nr;
	struct ts_buf line;
};

/* False: there are too many. */
bool ts_feed_listen(struct ts_feed *feed, ts_feed_fn *fn, void *ctx);
void ts_feed_release(struct ts_feed *feed);

/* For live.c and sessions.c: makes the line and calls all listeners. */
enum ts_status ts_feed_emit(struct ts_feed *feed, enum ts_feed_kind kind,
			    const struct ts_live_sample *sample, const struct ts_alert *alert,
			    const struct ts_live_session *session, struct ts_error *err);
/* "waiting" */
const char *ts_live_session_state_name(enum ts_live_session_state state);

#endif
