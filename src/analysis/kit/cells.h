/* SPDX-License-Identifier: MIT */
/*
 * What tables and facts of several analyses are filled with.
 */
#ifndef TS_ANALYSIS_CELLS_H
#define TS_ANALYSIS_CELLS_H

#include "model/profile.h"
#include "result/result.h"

/* A shape as XLA prints it; empty when memory is out, as the results then know. */
static inline struct ts_bytes ts_result_shape(struct ts_result *result,
					      const struct ts_shape *shape)
{
	struct ts_bytes text = ts_shape_text(&result->owner->arena, shape);

	result->owner->failed |= !text.p;
	return text;
}

static inline struct ts_value ts_shape_cell(struct ts_result *result, const struct ts_shape *shape)
{
	return ts_text_or_null(ts_result_shape(result, shape));
}

/* Empty: TS_NONE, or the module has no name. */
static inline struct ts_bytes ts_module_name(const struct ts_profile *profile, uint32_t module)
{
	return module == TS_NONE ? (struct ts_bytes){ NULL, 0 } : profile->modules[module].name;
}

/* A constant text; null: NULL or empty. */
static inline struct ts_value ts_string_cell(const char *text)
{
	return ts_text_or_null(ts_bytes_of(text));
}

/* A whole number; -1: it is unknown or does not fit. */
static inline int64_t ts_whole(double value)
{
	return isfinite(value) && value < 9e18 ? llround(value) : -1;
}

/* PART of WHOLE in percent; null: WHOLE is not above 0. */
static inline struct ts_value ts_part_pct(int64_t part, int64_t whole)
{
	return whole > 0 ? ts_real(100 * (double)part / (double)whole) : ts_null();
}

/* A number that is counted in whole ones. Null: it is unknown, or too large for a count. */
static inline struct ts_value ts_whole_or_null(double value)
{
	return isfinite(value) && fabs(value) < 9e18 ? ts_int(llround(value)) : ts_null();
}

#endif
