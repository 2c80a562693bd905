/* SPDX-License-Identifier: MIT */
/* How the clocks of the hosts differ, as the analysis collectives found out: the table clocks. */
#include "analysis/run/capture.h"
#include "result/schema/capture.def"

static const char *const sources[] = {
	[TS_CLOCK_NO_CORES] = "unknown: it ran no collective",
	[TS_CLOCK_NOT_SHARED] = "unknown: it shares no collective with another host",
	[TS_CLOCK_TOO_FEW] = "unknown: too few collectives are on both hosts",
	[TS_CLOCK_TOO_WIDE] = "unknown: cores do not leave collectives together",
	[TS_CLOCK_REFERENCE] = "reference",
	[TS_CLOCK_COLLECTIVES] = "collectives",
	[TS_CLOCK_REGULAR] = "collectives, but for whole intervals: they come too regularly",
};

static bool capture_clocks_is_known(const struct ts_host_clock *clock)
{
	return clock->source == TS_CLOCK_COLLECTIVES || clock->source == TS_CLOCK_REFERENCE;
}

static bool is_aligned(const struct ts_host_clock *clock)
{
	return clock->source == TS_CLOCK_COLLECTIVES || clock->source == TS_CLOCK_REGULAR;
}

static struct ts_value in_ns(int64_t ps)
{
	return ts_real((double)ps / TS_PS_PER_NS);
}

#define IF_KNOWN(value) (capture_clocks_is_known(clock) ? (value) : ts_null())
#define IF_ALIGNED(value) (is_aligned(clock) ? (value) : ts_null())

#define CLOCK_CELLS(X) \
	X(host, ts_text_or_null(profile->hosts[i].name)) \
	X(clock_offset_ns, IF_KNOWN(in_ns(clock->offset_ps))) \
	X(clock_spread_ns, IF_ALIGNED(in_ns(clock->spread_ps))) \
	X(clock_drift_ppm, IF_ALIGNED(ts_real(clock->drift * 1e6))) \
	X(clock_matched, IF_ALIGNED(ts_int(clock->nr_matched))) \
	X(clock_reference, clock->reference == TS_NONE ? ts_null() \
				      : ts_text(profile->hosts[clock->reference].name)) \
	X(clock_source, ts_text(ts_bytes_of(sources[clock->source])))

void ts_capture_put_clocks(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_collectives_facts *facts = ts_collectives_facts(ctx);
	const struct ts_profile *profile = ctx->profile;
	struct ts_table *table;

	if (facts->nr_clocks == 0)
		return;
	table = TS_TABLE(result, capture_clocks);
	for (size_t i = 0; i < facts->nr_clocks; i++) {
		const struct ts_host_clock *clock = &facts->clocks[i];

		TS_CELLS(result, table, capture_clocks, CLOCK_CELLS);
	}
}
