/* SPDX-License-Identifier: MIT */
/*
 * The chip by whose peaks times without a device of their own are modelled.
 */
#ifndef TS_ANALYSIS_PEAKS_H
#define TS_ANALYSIS_PEAKS_H

#include "analysis/analysis.h"
#include "model/aten_work.h"

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

/* FLOP/s of products of this type; NaN: the chip's are unknown, or the type is. */
static inline double ts_type_peak(const struct ts_rates *rates, enum ts_aten_type type)
{
	switch (type) {
	case TS_ATEN_F32:  return rates->peak_f32_per_s;
	case TS_ATEN_BF16:
	case TS_ATEN_F16:  return rates->peak_flops_per_s;
	case TS_ATEN_FP8:  return rates->peak_fp8_per_s;
	case TS_ATEN_INT8: return rates->peak_int8_per_s;
	default:	   return NAN;
	}
}

/* What FLOPs of the type are worth in those of bf16, by whose peak a chip is measured; 1: that is unknown. */
static inline double ts_type_scale(const struct ts_rates *rates, enum ts_aten_type type)
{
	double scale = rates->peak_flops_per_s / ts_type_peak(rates, type);

	return scale > 0 ? scale : 1;
}

/* Picoseconds that a byte takes at HBM's peak; NaN: unknown. */
static inline double ts_hbm_byte_ps(const struct ts_context *ctx)
{
	const struct ts_rates *rates = ts_hbm_rates(ctx);

	return rates ? 1e12 / rates->hbm_bytes_per_s : NAN;
}

#endif
