/* SPDX-License-Identifier: MIT */
/* Who gets how much of the overlay: a percentage of a host's slices for each kind of row. */
#include "analysis/analysis.h"

static const size_t percent[TS_NR_SHARES] = {
	[TS_SHARE_TIME] = 33,  [TS_SHARE_FINDINGS] = 33,    [TS_SHARE_PADDING] = 12,
	[TS_SHARE_TIMES] = 10, [TS_SHARE_COMPILATIONS] = 6, [TS_SHARE_SPARSECORES] = 6,
};

size_t ts_overlay_share(const struct ts_context *ctx, enum ts_share share, size_t nr_rows)
{
	size_t whole = ctx->overlay_budget / 100, rest = ctx->overlay_budget % 100;

	return (whole * percent[share] + rest * percent[share] / 100) / TS_MAX(nr_rows, 1);
}

size_t ts_overlay_device_share(const struct ts_context *ctx, enum ts_share share, uint32_t device)
{
	const struct ts_device *devices = ctx->profile->devices;
	size_t nr = 0;

	for (size_t i = 0; i < ctx->profile->nr_devices; i++)
		nr += devices[i].host == devices[device].host;
	return ts_overlay_share(ctx, share, nr);
}
