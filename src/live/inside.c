/* SPDX-License-Identifier: MIT */
/* What the loop of samples (live.c) and the loop of sessions (sessions.c) both do. */
#include "live/inside.h"

#include "base/check.h"
#include "live/captured.h"
#include "result/schema/allocators.def"
#include "result/schema/time.def"

int64_t ts_live_end_ms(const struct ts_live *live)
{
	TS_ASSERT(live != NULL && live->options.for_ms >= 0);
	return live->options.for_ms > 0 ? live->start_ms + live->options.for_ms : INT64_MAX;
}

/* The next round is the capture, whatever else is raised until then; a job in trouble is not captured on and on. */
static void live_want_capture(struct ts_live *live, const struct ts_alert *alert)
{
	if (live->captured_ms > 0 && live->alerts.now_ms - live->captured_ms < TS_CAPTURE_PAUSE_MS)
		return;
	live->captured_ms = live->alerts.now_ms;
	snprintf(live->capture_rule, sizeof(live->capture_rule), "%s", alert->rule);
	ts_sampler_want_long(live->sampler, TS_CAPTURE_MS);
}

void ts_live_emit_alert(void *ctx, const struct ts_alert *alert)
{
	struct ts_live *live = ctx;

	TS_ASSERT(ctx != NULL && alert != NULL);
	if (alert->is_active && alert->severity <= live->options.fail_on &&
	    live->options.fail_on != TS_NR_SEVERITIES)
		live->has_failed = true;
	/* of a host that is gone there is nothing to capture */
	if (alert->is_active && live->options.capture_to && !live->watch &&
	    strcmp(alert->rule, "service_down") != 0)
		live_want_capture(live, alert);
	if (ts_feed_emit(&live->feed, TS_FEED_ALERT, &live->sample, alert,
			 live->watch ? &live->session : NULL, NULL) != TS_OK)
		live->emitted = TS_NOMEM;
}

double ts_live_compiling_pct(const struct ts_run *run, double unknown_ps)
{
	TS_ASSERT(run != NULL);

	const struct ts_result *time = TS_FIND(&run->results, time);
	double host_ps = time ? ts_value_number(TS_GET(time, time, compilation_host_ps)) : NAN;
	double capture_ps =
		run->profile.capture_ps > 0 ? (double)run->profile.capture_ps : unknown_ps;
	double share = host_ps / capture_ps;

	return share > 1 ? 100 : share * 100;
}

double ts_live_memory_bytes(const struct ts_run *run, const struct ts_told *told)
{
	TS_ASSERT(run != NULL);

	const struct ts_table *table = TS_FIND_TABLE(&run->results, allocators, allocators);
	double sum = NAN;

	if (told && isfinite(told->memory_bytes))
		return told->memory_bytes;
	for (size_t i = 0; i < ts_table_rows(table); i++) {
		double bytes =
			ts_value_number(TS_CELL_OF(table, allocators_allocators, i, peak_bytes));

		if (isfinite(bytes))
			sum = (isfinite(sum) ? sum : 0) + bytes;
	}
	return sum;
}
