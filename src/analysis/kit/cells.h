/*
 * What tables of several analyses are filled with.
 */
#ifndef TS_ANALYSIS_CELLS_H
#define TS_ANALYSIS_CELLS_H

#include "model/hlo.h"
#include "result/result.h"

/* A shape as XLA prints it. Null when memory is out, as the results then know. */
static inline struct ts_value ts_shape_cell(struct ts_result *result, const struct ts_shape *shape)
{
	struct ts_bytes text = ts_shape_text(&result->owner->arena, shape);

	result->owner->failed |= !text.p;
	return ts_text_or_null(text);
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

/* "train.py:12"; without a line, -1, the file alone. .n 0: the file is unknown. */
static inline struct ts_bytes ts_source_text(struct ts_result *result, struct ts_bytes file,
					     int64_t line)
{
	if (file.n == 0 || line < 0)
		return file;
	return ts_result_text(result, "%.*s:%lld", TS_ARG(file), (long long)line);
}

#endif
