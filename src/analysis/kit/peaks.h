/* SPDX-License-Identifier: MIT */
/*
 * The chip by whose peaks times without a device of their own are modelled.
 */
#ifndef TS_ANALYSIS_PEAKS_H
#define TS_ANALYSIS_PEAKS_H

#include "analysis/analysis.h"

/* Of the first device whose HBM rate is known, else of the chip that the user named; or NULL. */
static inline const struct ts_rates *ts_hbm_rates(const struct ts_context *ctx)
{
	for (size_t i = 0; ctx->rates && i < ctx->profile->nr_devices; i++)
		if (ctx->rates[i].hbm_bytes_per_s > 0)
			return &ctx->rates[i];
	return ctx->chip && ctx->chip->hbm_bytes_per_s > 0 ? ctx->chip : NULL;
}

/* Of the first device whose FLOPs are known; or NULL. */
static inline const struct ts_rates *ts_flops_rates(const struct ts_context *ctx)
{
	for (size_t i = 0; ctx->rates && i < ctx->profile->nr_devices; i++)
		if (ctx->rates[i].peak_flops_per_s > 0)
			return &ctx->rates[i];
	return NULL;
}

/* Picoseconds that a byte takes at HBM's peak; NaN: unknown. */
static inline double ts_hbm_byte_ps(const struct ts_context *ctx)
{
	const struct ts_rates *rates = ts_hbm_rates(ctx);

	return rates ? 1e12 / rates->hbm_bytes_per_s : NAN;
}

#endif
