/* SPDX-License-Identifier: MIT */
/* Events are written as lines of JSON and given to the listeners. */
#include "live/feed.h"

#include "base/check.h"
#include "codec/json.h"

bool ts_feed_listen(struct ts_feed *feed, ts_feed_fn *fn, void *ctx)
{
	TS_ASSERT(feed != NULL && fn != NULL);
	TS_ASSERT(feed->nr <= TS_MAX_LISTENERS);
	if (feed->nr == TS_MAX_LISTENERS)
		return false;
	feed->listeners[feed->nr].fn = fn;
	feed->listeners[feed->nr++].ctx = ctx;
	return true;
}

void ts_feed_release(struct ts_feed *feed)
{
	TS_ASSERT(feed != NULL);
	ts_buf_release(&feed->line);
	feed->nr = 0;
}

static void write_service(struct ts_json *json, const struct ts_service *service)
{
	ts_json_object(json);
	ts_json_put_known(json, "service", ts_bytes_of(service->address));
	ts_json_put_known(json, "state", ts_bytes_of(ts_service_state_name(service->state)));
	ts_json_put_i64(json, "samples", (int64_t)service->nr_samples);
	ts_json_put_i64(json, "failures", (int64_t)service->nr_failed);
	ts_json_put_i64(json, "restarts", (int64_t)service->nr_restarts);
	ts_json_put_i64(json, "bytes", (int64_t)service->nr_bytes);
	ts_json_put_i64(json, "took_ms", service->took_ms);
	ts_json_put_known(json, "problem", ts_bytes_of(service->problem.text));
	ts_json_object_end(json);
}

/* Times in ps are whole numbers, as in all JSON of TPUsight. */
static void write_metric(struct ts_json *json, enum ts_metric metric, double value)
{
	TS_ASSERT(metric < TS_NR_METRICS);
	ts_json_key(json, ts_metric_rows[metric].name);
	if (ts_metric_rows[metric].unit == TS_METRIC_PS && isfinite(value))
		ts_json_i64(json, (int64_t)value);
	else
		ts_json_double(json, value);
}

static void write_metrics(struct ts_json *json, const double values[TS_NR_METRICS])
{
	ts_json_key(json, "metrics");
	ts_json_object(json);
	for (size_t i = 0; i < TS_NR_METRICS; i++)
		write_metric(json, (enum ts_metric)i, values[i]);
	ts_json_object_end(json);
}

/* Figures of the whole watch. */
static void write_sampling(struct ts_json *json, const double values[TS_NR_METRICS])
{
	static const enum ts_metric metrics[] = { TS_METRIC_SAMPLED, TS_METRIC_STEP,
						  TS_METRIC_STEP_UNSAMPLED, TS_METRIC_COST };

	ts_json_key(json, "sampling");
	ts_json_object(json);
	for (size_t i = 0; i < TS_NELEM(metrics); i++)
		write_metric(json, metrics[i], values[metrics[i]]);
	ts_json_object_end(json);
}

static void write_alert(struct ts_json *json, const struct ts_alert *alert,
			const struct ts_alerts *alerts)
{
	TS_ASSERT(alert != NULL && alerts != NULL);
	ts_json_put_known(json, "rule", ts_bytes_of(alert->rule));
	ts_json_put_known(json, "severity", ts_bytes_of(ts_severity_name(alert->severity)));
	ts_json_put_known(json, "message", ts_buf_bytes(&alert->title));
	ts_json_put_known(json, "evidence", ts_buf_bytes(&alert->evidence));
	ts_json_put_known(json, "advice", ts_buf_bytes(&alert->advice));
	ts_json_put_double(json, "value", alert->value);
	ts_json_put_double(json, "threshold", alert->threshold);
	ts_json_put_i64(json, "for_ms", alert->is_active ? alerts->now_ms - alert->since_ms : 0);
}

static void write_alerts(struct ts_json *json, const struct ts_alerts *alerts)
{
	TS_ASSERT(alerts != NULL && alerts->nr <= TS_MAX_ALERTS);
	ts_json_key(json, "alerts");
	ts_json_array(json);
	for (size_t i = 0; i < alerts->nr; i++) {
		if (!alerts->items[i].is_active)
			continue;
		ts_json_object(json);
		write_alert(json, &alerts->items[i], alerts);
		ts_json_object_end(json);
	}
	ts_json_array_end(json);
}

static void write_sample(struct ts_json *json, const struct ts_live_sample *sample)
{
	ts_json_put_i64(json, "took_ms", sample->took_ms);
	ts_json_put_i64(json, "analysed_ms", sample->analysed_ms);
	ts_json_key(json, "services");
	ts_json_array(json);
	for (size_t i = 0; i < sample->nr_services; i++)
		write_service(json, &sample->services[i]);
	ts_json_array_end(json);
	ts_json_put_i64(json, "hosts", (int64_t)sample->nr_hosts);
	ts_json_put_known(json, "problem", ts_bytes_of(sample->problem.text));
	ts_json_put_known(json, "captured", ts_bytes_of(sample->captured));
	write_metrics(json, sample->values);
	write_alerts(json, sample->alerts);
}

const char *ts_live_session_state_name(enum ts_live_session_state state)
{
	static const char *const names[] = { "waiting", "annotated", "failed" };

	TS_ASSERT(state <= TS_SESSION_FAILED);
	return names[state];
}

static void write_written(struct ts_json *json, const struct ts_annotation *annotation)
{
	ts_json_key(json, "written");
	ts_json_array(json);
	for (size_t i = 0; annotation && i < annotation->report.nr_entries; i++)
		if (annotation->report.entries[i].deed == TS_DEED_WRITTEN)
			ts_json_string(json, ts_bytes_of(annotation->report.entries[i].name));
	ts_json_array_end(json);
}

static void write_session(struct ts_json *json, const struct ts_live_session *session,
			  const struct ts_live_sample *sample)
{
	TS_ASSERT(session->path != NULL);

	size_t nr_files = session->session ? session->session->nr_files : 0;
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < nr_files; i++)
		nr_bytes = ts_u64_add(nr_bytes, session->session->files[i].nr_bytes);
	ts_json_put_known(json, "path", ts_bytes_of(session->path));
	ts_json_put_known(json, "state", ts_bytes_of(ts_live_session_state_name(session->state)));
	ts_json_key(json, "captured_unix_ms");
	if (session->captured_unix_ms == TS_UNKNOWN)
		ts_json_null(json);
	else
		ts_json_i64(json, session->captured_unix_ms);
	ts_json_put_i64(json, "files", (int64_t)nr_files);
	ts_json_put_i64(json, "bytes", (int64_t)nr_bytes);
	ts_json_put_i64(json, "hosts", (int64_t)sample->nr_hosts);
	ts_json_put_i64(json, "took_ms", sample->took_ms);
	write_written(json, session->annotation);
	ts_json_put_bool(json, "dry_run", session->dry_run);
	ts_json_put_known(json, "problem", ts_bytes_of(session->problem));
	write_metrics(json, sample->values);
	write_alerts(json, sample->alerts);
}

/* The sessions that are not annotated, and why. */
static void write_left(struct ts_json *json, const struct ts_watch *watch)
{
	struct ts_watch_counts counts = ts_watch_count(watch);
	const char *path, *problem;
	size_t at = 0;

	ts_json_key(json, "sessions");
	ts_json_object(json);
	ts_json_put_i64(json, "found", (int64_t)counts.nr_known);
	ts_json_put_i64(json, "waiting", (int64_t)counts.nr_waiting);
	ts_json_put_i64(json, "failed", (int64_t)counts.nr_failed);
	ts_json_object_end(json);
	ts_json_key(json, "left");
	ts_json_array(json);
	while (ts_watch_left(watch, &at, &path, &problem)) {
		ts_json_object(json);
		ts_json_put_known(json, "path", ts_bytes_of(path));
		ts_json_put_known(json, "problem", ts_bytes_of(problem));
		ts_json_object_end(json);
	}
	ts_json_array_end(json);
}

static void write_end(struct ts_json *json, const struct ts_live_sample *sample)
{
	const struct ts_alerts *alerts = sample->alerts;

	write_sampling(json, sample->values);
	ts_json_key(json, "raised");
	ts_json_object(json);
	for (int i = 0; i < TS_NR_SEVERITIES; i++)
		ts_json_put_i64(json, ts_severity_name((enum ts_severity)i),
				(int64_t)alerts->nr_raised[i]);
	ts_json_object_end(json);
	write_alerts(json, alerts);
}

static void write_event(struct ts_json *json, const struct ts_feed_event *event)
{
	static const char *const types[] = { "sample", "alert", "end", "session" };
	const struct ts_live_sample *sample = event->sample;
	const struct ts_alert *alert = event->alert;

	ts_json_object(json);
	ts_json_put_known(json, "schema", TS_LIT(TS_LIVE_SCHEMA));
	ts_json_put_known(json, "type", ts_bytes_of(types[event->kind]));
	ts_json_put_i64(json, "sample", (int64_t)sample->number);
	ts_json_put_i64(json, "time_unix_ms", sample->unix_ms);
	ts_json_put_i64(json, "elapsed_ms", sample->elapsed_ms);
	if (event->kind == TS_FEED_SAMPLE)
		write_sample(json, sample);
	if (event->kind == TS_FEED_SESSION)
		write_session(json, event->session, sample);
	if (event->kind == TS_FEED_ALERT) {
		if (event->session)
			ts_json_put_known(json, "session", ts_bytes_of(event->session->path));
		ts_json_put_known(json, "state",
				  ts_bytes_of(alert->is_active ? "raised" : "cleared"));
		write_alert(json, alert, sample->alerts);
	}
	if (event->kind == TS_FEED_END)
		write_end(json, sample);
	if (event->kind == TS_FEED_END && sample->watch)
		write_left(json, sample->watch);
	ts_json_object_end(json);
}

enum ts_status ts_feed_emit(struct ts_feed *feed, enum ts_feed_kind kind,
			    const struct ts_live_sample *sample, const struct ts_alert *alert,
			    const struct ts_live_session *session, struct ts_error *err)
{
	TS_ASSERT(feed != NULL && sample != NULL && sample->alerts != NULL);
	TS_ASSERT(kind <= TS_FEED_SESSION);
	TS_ASSERT((kind == TS_FEED_ALERT) == (alert != NULL));
	TS_ASSERT(kind != TS_FEED_SESSION || session != NULL);

	struct ts_json json = ts_json_of(&feed->line, TS_JSON_COMPACT);
	struct ts_feed_event event = {
		.kind = kind, .sample = sample, .alert = alert, .session = session
	};

	ts_buf_clear(&feed->line);
	write_event(&json, &event);
	if (feed->line.failed)
		return ts_fail_nomem(err);
	event.json = ts_buf_bytes(&feed->line);
	for (size_t i = 0; i < feed->nr; i++)
		feed->listeners[i].fn(feed->listeners[i].ctx, &event);
	return TS_OK;
}
