/* SPDX-License-Identifier: MIT */
/* The loop over sessions of a log directory: wait until one is complete, annotate it, report it. */
#include "live/inside.h"

#include "base/check.h"
#include "base/clock.h"

#define NS_PER_MS 1000000

static void open_session(struct ts_live *live, const struct ts_watch_event *event)
{
	struct ts_live_sample *sample = &live->sample;

	live->session = (struct ts_live_session){
		.path = event->session ? ts_session_place(event->session)
				       : live->options.watch.logdir,
		.session = event->session,
		.problem = event->problem,
		.captured_unix_ms = TS_UNKNOWN,
		.dry_run = live->options.annotate.dry_run,
	};
	sample->unix_ms = ts_unix_us() / 1000;
	sample->elapsed_ms = ts_now_ms() - live->start_ms;
	sample->took_ms = sample->analysed_ms = 0;
	sample->nr_hosts = 0;
	sample->results = NULL;
	ts_metrics_read(sample->values, NULL);
	ts_alerts_forget(&live->alerts);
}

/* The figures of a session. The history has a row a session. */
static void read_figures(struct ts_live *live, const struct ts_run *run)
{
	struct ts_live_sample *sample = &live->sample;
	struct ts_ring_row *row = ts_ring_add(&live->ring);

	sample->nr_hosts = run->profile.nr_hosts;
	sample->results = &run->results;
	ts_metrics_read(sample->values, &run->results);
	sample->values[TS_METRIC_COMPILING] = ts_live_compiling_pct(run, NAN);
	sample->values[TS_METRIC_MEMORY] = ts_live_memory_bytes(run, NULL);
	row->at_ms = ts_now_ms();
	memcpy(row->values, sample->values, sizeof(row->values));
}

/* Every session is judged by itself: what was wrong with another session does not matter. */
static enum ts_status sessions_judge(struct ts_live *live, const struct ts_run *run,
				     struct ts_error *err)
{
	ts_alerts_begin(&live->alerts, ts_now_ms());
	ts_alerts_metrics(&live->alerts, live->sample.values, &run->results);
	ts_alerts_findings(&live->alerts, &run->results, false);
	ts_alerts_end(&live->alerts, true, ts_live_emit_alert, live);
	return live->emitted || live->alerts.failed ? ts_fail_nomem(err) : TS_OK;
}

/* Puts the first cause into STORY, where one is known that says more. */
static void sessions_explain(const struct ts_annotation *one, struct ts_error *story)
{
	const struct ts_profile *profile = &one->run.profile;

	if (story->status != TS_FORMAT)
		return;
	if (one->run.nr_problems > 0) {
		ts_fail(story, story->status, "%s", one->run.problems[0]);
		return;
	}
	for (size_t i = 0; one->is_analysed && !one->of_traces && i < profile->nr_damage; i++) {
		const struct ts_damage *damage = &profile->damage[i];

		if (damage->minor)
			continue;
		ts_fail(story, story->status, "%.*s: byte %llu: %.*s (copy the profile again)",
			TS_ARG(damage->file), (unsigned long long)damage->offset,
			TS_ARG(damage->cause));
		return;
	}
}

/* Reports to the watch which files we changed ourselves. */
static enum ts_status report_done(struct ts_live *live, const struct ts_annotation *one,
				  const struct ts_error *story, bool *is_stale,
				  struct ts_error *err)
{
	const struct ts_overlay_report *report = &one->report;
	const char **names = calloc(report->nr_entries + 1, sizeof(*names));
	struct ts_watch_deed deed = { .status = story->status,
				      .problem = story->status ? story : NULL,
				      .names = names };
	enum ts_status st;

	if (!names)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < report->nr_entries; i++)
		if (report->entries[i].deed != TS_DEED_SKIPPED &&
		    report->entries[i].deed != TS_DEED_FAILED)
			names[deed.nr_names++] = report->entries[i].name;
	st = ts_watch_done(live->watch, &deed, err);
	*is_stale = deed.is_stale;
	free(names);
	return st;
}

static enum ts_status sessions_emit(struct ts_live *live, struct ts_error *err)
{
	return ts_feed_emit(&live->feed, TS_FEED_SESSION, &live->sample, NULL, &live->session, err);
}

/* With IS_KNOWN its failure was reported before, and is not reported again. */
static enum ts_status sessions_report(struct ts_live *live, const struct ts_annotation *one,
				      bool is_known, struct ts_error *story, struct ts_error *err)
{
	struct ts_live_session *session = &live->session;
	enum ts_status st;

	if (story->status) {
		session->state = TS_SESSION_FAILED;
		session->problem = story->text;
		return is_known ? TS_OK : sessions_emit(live, err);
	}
	live->sample.number++;
	session->state = TS_SESSION_ANNOTATED;
	if (one->run.profile.start_unix_ns != TS_UNKNOWN)
		session->captured_unix_ms = one->run.profile.start_unix_ns / NS_PER_MS;
	read_figures(live, &one->run);
	st = sessions_judge(live, &one->run, err);
	return st ? st : sessions_emit(live, err);
}

static enum ts_status sessions_annotate(struct ts_live *live, const struct ts_watch_event *event,
					struct ts_error *err)
{
	TS_ASSERT(event->kind == TS_WATCH_COMPLETE && event->session != NULL);

	struct ts_error story = TS_ERROR_INIT;
	struct ts_annotation one;
	int64_t start_ms = ts_now_ms();
	bool is_stale = false;
	enum ts_status st;

	ts_annotation_init(&one);
	if (ts_annotate(&one, event->session, &live->options.annotate, &story))
		sessions_explain(&one, &story);
	open_session(live, event);
	live->session.annotation = &one;
	live->sample.took_ms = ts_now_ms() - start_ms;
	st = report_done(live, &one, &story, &is_stale, err);
	/* what was written before memory was out looks like a change of somebody's */
	is_stale &= story.status != TS_NOMEM;
	if (st == TS_OK) /* reported before, or it changed meanwhile */
		st = sessions_report(live, &one, event->is_again || is_stale, &story, err);
	live->sample.results = NULL;
	live->session = (struct ts_live_session){ .path = NULL };
	ts_annotation_release(&one);
	return st;
}

enum ts_status ts_live_sessions(struct ts_live *live, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(live != NULL && live->watch != NULL);
	while (st == TS_OK && !live->has_failed) {
		struct ts_watch_event event;

		st = ts_watch_next(live->watch, ts_live_end_ms(live), &event, err);
		if (st || event.kind == TS_WATCH_OVER || event.kind == TS_WATCH_STOPPED)
			break;
		if (event.kind == TS_WATCH_COMPLETE) {
			st = sessions_annotate(live, &event, err);
			continue;
		}
		open_session(live, &event);
		st = sessions_emit(live, err);
	}
	return st;
}
