/* SPDX-License-Identifier: MIT */
/*
 * Watching a running job: take a sample, analyse it, give it to the listeners, until
 * ts_live_stop(). Or watching a log directory into which jobs write sessions: wait until one is
 * complete (live/watch.h), annotate it, give it to the listeners.
 *
 *	struct ts_live *live;
 *	ts_live_new(&live, &options, err);
 *	ts_feed_listen(ts_live_feed(live), on_event, ctx);
 *	ts_live_run(live, &summary, err);	... until ts_live_stop(live) from another thread
 *	ts_live_free(live);
 *
 * A sample goes the way of every profile (run/run.h), in memory; its run is released before the
 * next one. Memory is that of the largest sample, the kept modules (live/kept_modules.h) and a
 * bounded history. Nothing is written, except by servers that write into the folder of .repository;
 * their files are removed. A session goes the way of `tpusight annotate` (run/annotate.h); memory
 * is that of the largest one.
 */
#ifndef TS_LIVE_LIVE_H
#define TS_LIVE_LIVE_H

#include "live/feed.h"
#include "live/watch.h"

struct ts_live;

#define TS_LIVE_INTERVAL_MS 500
#define TS_LIVE_SAMPLE_MS   100
#define TS_LIVE_TIMEOUT_MS  30000
#define TS_LIVE_MAX_BYTES   ((size_t)1 << 30)

struct ts_live_options {
	struct ts_sampler_options sampler;
	/* where .logdir is not NULL, it is watched instead of services */
	struct ts_watch_options watch;
	struct ts_annotate_options annotate; /* of the sessions of .logdir */
	int64_t interval_ms;		     /* from the end of a sample to the start of the next */
	int64_t for_ms;			     /* 0: until ts_live_stop() */
	int64_t hold_ms, clear_ms;	     /* of alerts: live/alert.h */
	int64_t stall_ms;		     /* without a step: live/stall.h; 0: no alert */
	/* an alert's capture is kept there (live/captured.h); NULL: none is taken */
	const char *capture_to;
	bool is_told; /* the job says on standard input what it does: live/told.h */
	const struct ts_settings *settings;
	size_t nr_threads;
	/* The watch ends when an alert of this severity, or a worse one, is raised;
	 * TS_NR_SEVERITIES: alerts do not end it */
	enum ts_severity fail_on;
};

struct ts_live_summary {
	uint64_t nr_samples; /* or annotated sessions */
	size_t nr_silent;    /* hosts that never answered */
	/* of a log directory: sessions that are there, and those of them that are not annotated */
	size_t nr_sessions, nr_left;
	bool has_failed; /* .fail_on came true */
};

enum ts_status ts_live_new(struct ts_live **live, const struct ts_live_options *options,
			   struct ts_error *err);
void ts_live_free(struct ts_live *live); /* NULL is fine */
struct ts_feed *ts_live_feed(struct ts_live *live);

/* Runs once. TS_NOMEM; what is wrong with hosts and samples is in the events. */
enum ts_status ts_live_run(struct ts_live *live, struct ts_live_summary *summary,
			   struct ts_error *err);
void ts_live_stop(struct ts_live *live); /* from any thread, also before and after the run */

#endif
