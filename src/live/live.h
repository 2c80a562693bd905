/*
 * Watching a running job: sample, analyse, tell; until told to stop. Or a log directory, into which
 * jobs write sessions: wait for one that is complete (live/watch.h), annotate it, tell.
 *
 *	struct ts_live *live;
 *	ts_live_new(&live, &options, err);
 *	ts_feed_listen(ts_live_feed(live), on_event, ctx);
 *	ts_live_run(live, &summary, err);	... until ts_live_stop(live) from another thread
 *	ts_live_free(live);
 *
 * A sample goes the way of every profile (flow/run.h), in memory; its run is released before the next
 * one. Memory is the largest sample, the modules that are remembered (live/kept_modules.h) and a bounded
 * history. Nothing is written anywhere. A session goes the way of `tpusight annotate`
 * (flow/annotate.h); memory is that of the largest one.
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
	struct ts_watch_options watch; /* .logdir not NULL: that is watched, and no services */
	struct ts_annotate_options annotate; /* of its sessions */
	int64_t interval_ms;		     /* from the end of a sample to the start of the next */
	int64_t for_ms;			     /* 0: until it is stopped */
	int64_t hold_ms, clear_ms;	     /* of alerts */
	const struct ts_settings *settings;
	size_t nr_threads;
	/* Ends when an alert of this severity, or a worse one, is raised; TS_NR_SEVERITIES: never */
	enum ts_severity fail_on;
};

struct ts_live_summary {
	uint64_t nr_samples; /* or sessions annotated */
	size_t nr_silent;    /* hosts that never answered */
	size_t nr_sessions,
		nr_left; /* of a log directory: that are there; not annotated of these */
	bool has_failed; /* .fail_on came true */
};

enum ts_status ts_live_new(struct ts_live **live, const struct ts_live_options *options,
			   struct ts_error *err);
void ts_live_free(struct ts_live *live); /* NULL is fine */
struct ts_feed *ts_live_feed(struct ts_live *live);

/* TS_NOMEM; what is wrong with hosts and samples is in the events. */
enum ts_status ts_live_run(struct ts_live *live, struct ts_live_summary *summary,
			   struct ts_error *err);
void ts_live_stop(struct ts_live *live); /* from any thread, also before and after the run */

#endif
