/* SPDX-License-Identifier: MIT */
/* The busy time of a GPU is what the time classes of a running op sum to. */
#include "analysis/kit/gpu_idle.h"

#include "base/check.h"

static bool are_gpus(const struct ts_profile *profile, const struct ts_time_facts *time)
{
	for (size_t i = 0; i < time->nr_cores; i++)
		if (!profile->devices[time->cores[i].device].is_gpu)
			return false;
	return time->nr_cores > 0;
}

static int64_t gpu_idle_busy_ps(const struct ts_time_facts *time)
{
	int64_t busy_ps = time->total_ps;

	for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
		busy_ps -= time->bucket_ps[b];
	return busy_ps;
}

double ts_gpu_idle(const struct ts_context *ctx, const struct ts_time_facts *time)
{
	int64_t window_ps = TS_MAX(ctx->profile->capture_ps, time->wall_ps);

	TS_ASSERT(ctx && time);
	if (!are_gpus(ctx->profile, time) || window_ps <= 0)
		return NAN;
	return 1 - (double)gpu_idle_busy_ps(time) / ((double)window_ps * (double)time->nr_cores);
}
