/*
 * The feed: what is learnt of a running job, to everybody who listens. An event comes as a struct and
 * as one line of JSON (schema tpusight-live/1, docs/live.md); both are good during the call only.
 *
 * Listeners are called one after the other on the thread that samples; one that has to do with slow
 * readers (a page's clients) copies the line and goes. They are added before the first event.
 */
#ifndef TS_LIVE_FEED_H
#define TS_LIVE_FEED_H

#include "flow/annotate.h"
#include "live/alert.h"
#include "live/ring.h"
#include "live/sampler.h"
#include "live/watch.h"

#define TS_LIVE_SCHEMA "tpusight-live/1"

/* A sample of the job, or the attempt at one. */
struct ts_live_sample {
	uint64_t number;	      /* from 1; of those that brought something */
	int64_t unix_ms;	      /* of its end */
	int64_t elapsed_ms;	      /* since watching began */
	int64_t took_ms, analysed_ms; /* to get it; to work it out */
	size_t nr_hosts; /* that are in it; 0: nobody answered, and there are no figures */
	const struct ts_service *services;
	size_t nr_services;
	double values[TS_NR_METRICS];
	struct ts_error problem;       /* why an answer could not be read; text empty: none */
	const struct ts_ring *history; /* this sample is its newest, where it has figures */
	const struct ts_alerts *alerts;
	const struct ts_results *results; /* of this sample; NULL when there are no figures */
	const struct ts_watch *watch;	  /* of a log directory: there are no services; else NULL */
};

/* Of a log directory: a session that was met. Its figures, alerts and results are in the sample of
 * the event, whose number counts the sessions annotated. */
enum ts_live_session_state {
	TS_SESSION_WAITING, /* is not complete: .problem says why, where more than time is lacking */
	TS_SESSION_ANNOTATED,
	TS_SESSION_FAILED,
};

struct ts_live_session {
	enum ts_live_session_state state;
	const char *path; /* of its folder, or its first file; of the log directory: of that */
	const struct ts_session *session;	/* NULL: the log directory */
	const struct ts_annotation *annotation; /* NULL: while it waits */
	bool dry_run;				/* nothing was written */
	const char *problem;			/* NULL: none */
};

enum ts_feed_kind { TS_FEED_SAMPLE, TS_FEED_ALERT, TS_FEED_END, TS_FEED_SESSION };

struct ts_feed_event {
	enum ts_feed_kind kind;
	const struct ts_live_sample *sample; /* the latest, also of an alert and of the end */
	const struct ts_alert *alert;	     /* TS_FEED_ALERT: raised or cleared */
	/* TS_FEED_SESSION, and the one that an alert is of; NULL: services are watched */
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

/* For live.c: makes the line and tells everybody. False: no memory. */
bool ts_feed_emit(struct ts_feed *feed, enum ts_feed_kind kind, const struct ts_live_sample *sample,
		  const struct ts_alert *alert, const struct ts_live_session *session);
/* "waiting" */
const char *ts_live_session_state_name(enum ts_live_session_state state);

#endif
