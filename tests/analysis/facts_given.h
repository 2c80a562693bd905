/* SPDX-License-Identifier: MIT */
/*
 * Facts for tests that run one analysis without those that it needs: nothing is known, until a test
 * puts facts of its own into the context.
 */
#ifndef TESTS_ANALYSIS_FACTS_GIVEN_H
#define TESTS_ANALYSIS_FACTS_GIVEN_H

#include "analysis/analysis.h"
#include "analysis/facts/kernels.h"
#include "analysis/facts/memory.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/systolic.h"
#include "analysis/facts/time.h"
#include "analysis/facts/timeline.h"
#include "analysis/list.h"

#define DECLARE_ID(name) extern const size_t ts_id_##name;
TS_ANALYSES(DECLARE_ID)
#undef DECLARE_ID

static inline void facts_of_nothing(struct ts_context *ctx)
{
	static const union {
		char bytes[4096];
		int64_t align;
	} nothing;
	static const struct ts_time_facts no_time = {
		.wall_start_ps = -1,
		.wall_ps = -1,
		.total_ps = -1,
		.bucket_ps = { -1, -1, -1, -1, -1, -1, -1, -1, -1 },
		.duty_cycle = NAN,
		.nr_slow_steps = -1,
		.slow_period = -1,
		.median_step_ps = -1,
		.step_mad_ps = -1,
	};
	static const struct ts_systolic_facts no_systolic = { .run = { .share = NAN },
							      .utilization = NAN };
	static const struct ts_memory_facts no_memory = { .hbm = { .share = NAN } };
	static const struct ts_padding_facts no_padding = { .waste_ps = -1, .waste_share = NAN };
	static const struct ts_timeline_facts no_timeline = { .total_ps = -1,
							      .cpu_time_ps = -1,
							      .device_time_ps = -1 };
	static const struct ts_kernels_facts no_kernels = { .occupancy_pct = NAN, .mean_ps = NAN };

	for (size_t id = 0; ts_analyses[id]; id++)
		ctx->facts[id] = &nothing;
	ctx->facts[ts_id_kernels] = &no_kernels;
	ctx->facts[ts_id_memory] = &no_memory;
	ctx->facts[ts_id_padding] = &no_padding;
	ctx->facts[ts_id_systolic] = &no_systolic;
	ctx->facts[ts_id_timeline] = &no_timeline;
	ctx->facts[ts_id_time] = &no_time;
}

#endif
