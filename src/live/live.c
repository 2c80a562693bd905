/* SPDX-License-Identifier: MIT */
/* The loop of samples: a round of samples, its analysis, the states over time, the events. */
#include "live/inside.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "live/captured.h"

#define EMPTY_PAUSE_MS 100 /* at least, behind a round without an answer */
#define MINUTE_MS 60000
#define GRACE_MS  2000 /* an answer may come so much later than .for_ms */

enum ts_status ts_live_new(struct ts_live **out, const struct ts_live_options *options,
			   struct ts_error *err)
{
	TS_ASSERT(out != NULL && options != NULL && options->settings != NULL);
	TS_ASSERT(options->watch.logdir || options->sampler.nr_addresses > 0);
	TS_ASSERT(options->interval_ms >= 0 && options->for_ms >= 0);
	TS_ASSERT(options->hold_ms >= 0 && options->clear_ms >= 0);
	TS_ASSERT(options->fail_on <= TS_NR_SEVERITIES);

	struct ts_live *live = calloc(1, sizeof(*live));
	enum ts_status st;

	*out = NULL;
	if (!live)
		return ts_fail_nomem(err);
	live->options = *options;
	live->stall.limit_ms = options->stall_ms;
	ts_told_init(&live->told, options->is_told ? STDIN_FILENO : -1);
	if (options->watch.logdir) { /* each session is judged at once and by itself */
		ts_alerts_init(&live->alerts, options->settings, 0, 0);
		st = ts_watch_new(&live->watch, &options->watch, err);
	} else {
		ts_alerts_init(&live->alerts, options->settings, options->hold_ms,
			       options->clear_ms);
		st = ts_sampler_new(&live->sampler, &options->sampler, err);
	}
	if (st) {
		ts_live_free(live);
		return st;
	}
	*out = live;
	return TS_OK;
}

void ts_live_free(struct ts_live *live)
{
	if (!live)
		return;
	ts_sampler_free(live->sampler);
	ts_watch_free(live->watch);
	ts_feed_release(&live->feed);
	ts_alerts_release(&live->alerts);
	ts_programs_release(&live->programs);
	ts_told_release(&live->told);
	ts_buf_release(&live->captured);
	free(live);
}

struct ts_feed *ts_live_feed(struct ts_live *live)
{
	TS_ASSERT(live != NULL);
	return &live->feed;
}

void ts_live_stop(struct ts_live *live)
{
	TS_ASSERT(live != NULL && (live->watch || live->sampler));
	if (live->watch)
		ts_watch_stop(live->watch);
	else
		ts_sampler_stop(live->sampler);
}

/* In the last minute, or in the part of it that was watched. */
static double compilation_ms(const struct ts_live *live, int64_t now_ms)
{
	int64_t from_ms = TS_MAX(live->start_ms, now_ms - MINUTE_MS);

	if (live->told.is_ready)
		return (double)ts_told_compiled_ms(&live->told, from_ms, now_ms);
	if (now_ms <= from_ms) /* a first sample that took less than a millisecond */
		return 0;
	return ts_ring_mean(&live->ring, TS_METRIC_COMPILING, from_ms) / 100 *
	       (double)(now_ms - from_ms);
}

/*
 * The share of the sample in which a host compiled. What the job says of itself is all of it. Of a compilation that neither begins
 * nor ends in the sample there is nothing in it: a sample in which the job does not advance does not say that none went on.
 */
static double compiling_pct(const struct ts_live *live, const struct ts_round *round,
			    const struct ts_run *run, bool advances)
{
	double unknown_ps = (double)live->options.sampler.sample_ms * TS_PS_PER_MS;
	int64_t round_ms = round->end_ms - round->start_ms;
	double seen_pct;

	if (live->told.is_ready && round_ms > 0)
		return (double)ts_told_compiled_ms(&live->told, round->start_ms, round->end_ms) /
		       (double)round_ms * 100;
	seen_pct = ts_live_compiling_pct(run, unknown_ps);
	return seen_pct > 0 || advances ? seen_pct : NAN;
}

static void read_history(struct ts_live *live, int64_t now_ms)
{
	struct ts_ring_row *row = ts_ring_add(&live->ring);
	double *values = live->sample.values;

	row->at_ms = now_ms;
	memcpy(row->values, values, sizeof(row->values));
	ts_stall_explain(&live->stall, &live->ring, ts_programs_nr_new(&live->programs),
			 live->is_fresh);
	values[TS_METRIC_COMPILATION] = compilation_ms(live, now_ms);
	values[TS_METRIC_COST] = ts_overhead_pct(&live->ring, values[TS_METRIC_SAMPLED]);
	memcpy(row->values, values, sizeof(row->values));
}

/* When other processes answer than before, their programs are not new ones: the list begins
 * anew. */
static bool note_who_is_here(struct ts_live *live)
{
	const struct ts_live_sample *sample = &live->sample;
	uint64_t nr_joined = 0;
	bool has_modules = true, is_fresh = true;

	for (size_t i = 0; i < sample->nr_services; i++) {
		const struct ts_service *service = &sample->services[i];

		nr_joined += service->nr_restarts + (service->nr_samples > 0);
		has_modules &= service->has_modules || service->state != TS_SERVICE_UP;
		is_fresh &= service->is_fresh || service->state != TS_SERVICE_UP;
	}
	if (nr_joined != live->nr_joined) {
		ts_programs_reset(&live->programs);
		ts_stall_reset(&live->stall);
	}
	live->nr_joined = nr_joined;
	live->is_fresh = is_fresh;
	return has_modules;
}

static enum ts_status live_read_run(struct ts_live *live, const struct ts_round *round,
				    struct ts_run *run, struct ts_error *err)
{
	struct ts_look look = { .steps = NULL };
	bool has_modules = note_who_is_here(live), unknown = false, advances;
	double *values = live->sample.values;
	enum ts_status st = ts_look_make(&look, &run->profile, err);

	if (st)
		goto done;
	ts_metrics_read(values, &run->results);
	values[TS_METRIC_MEMORY] = ts_live_memory_bytes(run, &live->told);
	advances = ts_stall_sample(&live->stall, &look, &run->profile, values, round->end_ms);
	values[TS_METRIC_NO_STEP] = (double)(round->end_ms - live->stall.last_ms);
	values[TS_METRIC_COMPILING] = compiling_pct(live, round, run, advances);
	st = ts_overhead_sample(&live->overhead, &look, &run->profile, round->start_ms,
				round->end_ms, values, err);
	if (st)
		goto done;
	st = ts_programs_sample(&live->programs, &run->profile, &run->results, &look, has_modules,
				round->end_ms, &unknown, err);
	if (st == TS_OK)
		read_history(live, round->end_ms);
	/* what is compiled now runs next: by then its modules have been asked for; of a job that stands still it is not known yet */
	if (unknown || values[TS_METRIC_COMPILING] > 0 || ts_stall_is_open(&live->stall))
		ts_sampler_want_hlo(live->sampler);
done:
	ts_look_release(&look);
	return st;
}

static enum ts_status live_judge(struct ts_live *live, const struct ts_run *run, int64_t now_ms,
				 struct ts_error *err)
{
	enum ts_status st;

	ts_alerts_begin(&live->alerts, now_ms);
	ts_stall_services(&live->alerts, live->sample.services, live->sample.nr_services, now_ms);
	if (run) {
		ts_stall_judge(&live->stall, &live->alerts, &live->ring, &live->told, now_ms);
		ts_alerts_metrics(&live->alerts, live->sample.values, &run->results);
		st = ts_programs_judge(&live->programs, &live->alerts, &run->profile, &run->results,
				       now_ms, err);
		if (st)
			return st;
		ts_alerts_findings(&live->alerts, &run->results, true);
	}
	ts_alerts_end(&live->alerts, run != NULL, ts_live_emit_alert, live);
	if (live->emitted || live->alerts.failed)
		return ts_fail_nomem(err);
	return ts_feed_emit(&live->feed, TS_FEED_SAMPLE, &live->sample, NULL, NULL, err);
}

static void open_sample(struct ts_live *live, const struct ts_round *round)
{
	struct ts_live_sample *sample = &live->sample;

	sample->services = ts_sampler_services(live->sampler, &sample->nr_services);
	sample->unix_ms = ts_unix_us() / 1000;
	sample->elapsed_ms = round->end_ms - live->start_ms;
	sample->took_ms = round->end_ms - round->start_ms;
	sample->analysed_ms = 0;
	sample->nr_hosts = 0;
	sample->history = &live->ring;
	sample->alerts = &live->alerts;
	sample->results = NULL;
	sample->captured = NULL;
	sample->problem = (struct ts_error)TS_ERROR_INIT;
	ts_metrics_read(sample->values, NULL);
}

static enum ts_status take_round(struct ts_live *live, const struct ts_round *round,
				 struct ts_error *err)
{
	TS_ASSERT(round->nr <= live->options.sampler.nr_addresses);

	struct ts_run_options options = { .nr_threads = live->options.nr_threads,
					  .settings = live->options.settings };
	struct ts_live_sample *sample = &live->sample;
	struct ts_run run;
	enum ts_status st;

	open_sample(live, round);
	ts_told_read(&live->told, round->end_ms, live->sample.unix_ms);
	if (round->nr == 0 && round->is_long && !round->goes_on)
		ts_sampler_want_long(live->sampler, TS_CAPTURE_MS); /* once more */
	if (round->nr == 0)
		return live_judge(live, NULL, round->end_ms, err);
	if (round->is_long && live->capture_rule[0]) {
		if (ts_captured_write(live->options.capture_to, live->capture_rule, round,
				      sample->unix_ms, &live->captured, &sample->problem) == TS_OK)
			sample->captured = (const char *)live->captured.p;
		live->capture_rule[0] = '\0';
	}
	ts_run_init(&run);
	st = ts_run_open_bytes(&run, round->items, round->nr, &options, &sample->problem);
	if (st == TS_OK)
		st = ts_run_analyse(&run, &options, &sample->problem);
	if (st == TS_OK) {
		sample->number++;
		sample->nr_hosts = run.profile.nr_hosts;
		sample->results = &run.results;
		st = live_read_run(live, round, &run, err);
		sample->analysed_ms = ts_now_ms() - round->end_ms;
		if (st == TS_OK)
			st = live_judge(live, &run, round->end_ms, err);
	} else if (st != TS_NOMEM) {
		st = live_judge(live, NULL, round->end_ms, err); /* the cause is in the sample */
	} else {
		st = ts_fail_nomem(err);
	}
	sample->results = NULL;
	ts_run_release(&run);
	return st;
}

static void live_sum_up(const struct ts_live *live, struct ts_live_summary *summary)
{
	size_t nr;
	const struct ts_service *services;

	*summary = (struct ts_live_summary){ .nr_samples = live->sample.number,
					     .has_failed = live->has_failed };
	if (live->watch) {
		struct ts_watch_counts counts = ts_watch_count(live->watch);

		summary->nr_sessions = counts.nr_known;
		summary->nr_left = counts.nr_waiting + counts.nr_failed;
		return;
	}
	services = ts_sampler_services(live->sampler, &nr);
	for (size_t i = 0; i < nr; i++)
		summary->nr_silent += services[i].nr_samples == 0;
}

/* A round in which no host answered may have cost no time, so an interval of 0 is not enough. */
static int64_t next_round_ms(const struct ts_live *live, const struct ts_round *round)
{
	int64_t pause_ms = live->options.interval_ms;

	if (round->nr == 0)
		pause_ms = TS_MAX(pause_ms, EMPTY_PAUSE_MS);
	return TS_MIN(ts_now_ms() + pause_ms, ts_live_end_ms(live));
}

static enum ts_status take_samples(struct ts_live *live, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct ts_round round;

	/* an alert that ends the watch has its capture first */
	while (st == TS_OK && (!live->has_failed || live->capture_rule[0]) &&
	       ts_now_ms() < ts_live_end_ms(live)) {
		/* A sample that has begun in time may end; one that no host answers ends after GRACE_MS. */
		st = ts_sampler_round(live->sampler,
				      ts_i64_add(ts_live_end_ms(live),
						 live->options.sampler.sample_ms + GRACE_MS),
				      &round, err);
		if (st || round.is_stopped)
			break;
		st = take_round(live, &round, err);
		if (round.goes_on)
			continue;
		if (st || !ts_sampler_wait(live->sampler, next_round_ms(live, &round)))
			break;
	}
	return st;
}

enum ts_status ts_live_run(struct ts_live *live, struct ts_live_summary *summary,
			   struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(live != NULL && summary != NULL);
	TS_ASSERT(live->start_ms == 0); /* it runs once */
	live->start_ms = ts_now_ms();
	live->sample.alerts = &live->alerts;
	live->sample.history = &live->ring;
	live->sample.watch = live->watch;
	ts_metrics_read(live->sample.values, NULL);
	st = live->watch ? ts_live_sessions(live, err) : take_samples(live, err);
	live->sample.unix_ms = ts_unix_us() / 1000;
	live->sample.elapsed_ms = ts_now_ms() - live->start_ms;
	if (!live->watch)
		ts_overhead_end(&live->overhead, &live->ring, ts_now_ms(), live->sample.values);
	if (st == TS_OK)
		st = ts_feed_emit(&live->feed, TS_FEED_END, &live->sample, NULL, NULL, err);
	live_sum_up(live, summary);
	return st;
}
