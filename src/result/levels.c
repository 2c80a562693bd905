/* SPDX-License-Identifier: MIT */
/* A level over time in at most TS_LEVELS equal bins, the highest of each. */
#include "result/result.h"

#include "base/check.h"
#include "base/record.h"

static void levels_fold(struct ts_levels *levels)
{
	for (size_t i = 0; i < (levels->nr + 1) / 2; i++) {
		levels->high[i] = levels->high[2 * i];
		if (2 * i + 1 < levels->nr)
			levels->high[i] = TS_MAX(levels->high[i], levels->high[2 * i + 1]);
	}
	levels->nr = (levels->nr + 1) / 2;
	levels->width_ps *= 2; /* 2^55 at most: then the bins hold all of 64 bits */
}

void ts_levels_set(struct ts_levels *levels, int64_t at_ps, int64_t value)
{
	uint64_t offset;
	size_t bin;

	TS_ASSERT_HOT(levels && levels->nr <= TS_LEVELS);
	if (levels->width_ps == 0)
		*levels = (struct ts_levels){ at_ps, 1, value, { value }, 1 };
	offset = at_ps > levels->origin_ps ? (uint64_t)at_ps - (uint64_t)levels->origin_ps : 0;
	while (offset / (uint64_t)levels->width_ps >= TS_LEVELS)
		levels_fold(levels);
	bin = (size_t)(offset / (uint64_t)levels->width_ps);
	TS_ASSERT_HOT(bin < TS_LEVELS && levels->nr <= TS_LEVELS);
	while (levels->nr < bin || (levels->nr == bin && offset % (uint64_t)levels->width_ps > 0))
		levels->high[levels->nr++] = levels->now; /* it held meanwhile */
	levels->high[bin] = levels->nr > bin ? TS_MAX(levels->high[bin], value) : value;
	levels->nr = TS_MAX(levels->nr, bin + 1);
	levels->now = value;
}

#define TS_SELF struct ts_levels
static bool are_levels(const void *self)
{
	const struct ts_levels *levels = self;

	return levels->nr <= TS_LEVELS && levels->width_ps >= 0;
}
TS_RECORD_AS(ts_levels_record, levels, TS_VALID_IF(are_levels), TS_NUMBER(1, origin_ps, TS_BY_HAND),
	     TS_NUMBER(2, width_ps, TS_BY_HAND), TS_NUMBER(3, now, TS_BY_HAND),
	     TS_NUMBERS(4, high, TS_BY_HAND), TS_NUMBER(5, nr, TS_BY_HAND));
#undef TS_SELF
