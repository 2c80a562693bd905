/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the answer of a job's server: the profile is taken out of its frame and message, its
 * modules are kept and put behind the next one; it is analysed, judged, and written as a line of
 * JSON.
 */
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "run/run.h"
#include "io/rpc.h"
#include "live/overhead.h"
#include "live/feed.h"
#include "live/kept_modules.h"
#include "live/profiler.h"
#include "live/programs.h"
#include "tests/fuzz/mutate/mutator.h"

#define NR_SAMPLES 3 /* of the same answer, so that kept modules meet it again */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(answer)

struct watching {
	struct ts_settings settings;
	struct ts_kept_modules modules;
	struct ts_programs programs;
	struct ts_alerts alerts;
	struct ts_ring ring;
	struct ts_overhead overhead;
	struct ts_feed feed;
	struct ts_live_sample sample;
};

static void emit(void *ctx, const struct ts_alert *alert)
{
	struct watching *watching = ctx;

	(void)ts_feed_emit(&watching->feed, TS_FEED_ALERT, &watching->sample, alert, NULL, NULL);
}

static void judge(struct watching *watching, const struct ts_run *run, int64_t now_ms)
{
	double *values = watching->sample.values;
	struct ts_look look = { .steps = NULL };
	bool unknown;

	if (ts_look_make(&look, &run->profile, NULL) == TS_OK) {
		ts_metrics_read(values, &run->results);
		(void)ts_overhead_sample(&watching->overhead, &look, &run->profile, now_ms - 100,
					 now_ms, values, NULL);
		memcpy(ts_ring_add(&watching->ring)->values, values,
		       sizeof(watching->sample.values));
		values[TS_METRIC_COST] =
			ts_overhead_pct(&watching->ring, values[TS_METRIC_SAMPLED]);
		(void)ts_programs_sample(&watching->programs, &run->profile, &run->results, &look,
					 true, now_ms, &unknown, NULL);
		ts_alerts_begin(&watching->alerts, now_ms);
		ts_alerts_metrics(&watching->alerts, values, &run->results);
		(void)ts_programs_judge(&watching->programs, &watching->alerts, &run->profile,
					&run->results, now_ms, NULL);
		ts_alerts_findings(&watching->alerts, &run->results, true);
		ts_alerts_end(&watching->alerts, true, emit, watching);
		(void)ts_feed_emit(&watching->feed, TS_FEED_SAMPLE, &watching->sample, NULL, NULL,
				   NULL);
	}
	ts_look_release(&look);
}

static void take(struct watching *watching, struct ts_bytes xspace, int64_t now_ms)
{
	struct ts_run_options options = { .nr_threads = 1, .settings = &watching->settings };
	struct ts_buf whole = TS_BUF_INIT;
	struct ts_run_bytes item = { .file = TS_LIT("h:1"),
				     .host = TS_LIT("h:1"),
				     .reader = "xplane" };
	struct ts_run run;

	ts_buf_put(&whole, xspace);
	(void)ts_kept_modules_take(&watching->modules, xspace, NULL);
	if (!ts_xspace_has_modules(xspace))
		ts_buf_put(&whole, ts_buf_bytes(&watching->modules.planes));
	item.bytes = ts_buf_bytes(&whole);
	ts_run_init(&run);
	if (ts_run_open_bytes(&run, &item, 1, &options, NULL) == TS_OK &&
	    ts_run_analyse(&run, &options, NULL) == TS_OK)
		judge(watching, &run, now_ms);
	ts_run_release(&run);
	ts_buf_release(&whole);
}

static void watch(struct ts_bytes xspace)
{
	static struct watching watching; /* large; one thread */

	memset(&watching, 0, sizeof(watching));
	ts_settings_init(&watching.settings);
	ts_alerts_init(&watching.alerts, &watching.settings, 0, 0);
	watching.sample.alerts = &watching.alerts;
	watching.sample.history = &watching.ring;
	for (int64_t i = 1; i <= NR_SAMPLES; i++)
		take(&watching, xspace, i * 600);
	ts_alerts_release(&watching.alerts);
	ts_programs_release(&watching.programs);
	ts_kept_modules_release(&watching.modules);
	ts_feed_release(&watching.feed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_profiler_answer answer;
	struct ts_bytes message;

	if (ts_rpc_unframe((struct ts_bytes){ data, n }, &message, NULL) == TS_OK &&
	    ts_profiler_read(message, &answer, NULL) == TS_OK && answer.has_xspace)
		watch(answer.xspace);
	return 0;
}
