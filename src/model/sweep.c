/* SPDX-License-Identifier: MIT */
/* From change to change: the next one is the nearest end of what runs. */
#include "model/sweep.h"

#include "base/check.h"
#include "base/record.h"

static int64_t nearest_end(const struct ts_sweep *sweep, int64_t limit_ps)
{
	for (unsigned left = sweep->running; left; left &= left - 1)
		limit_ps = TS_MIN(limit_ps, sweep->until_ps[__builtin_ctz(left)]);
	return limit_ps;
}

void ts_sweep_to(struct ts_sweep *sweep, int64_t ps)
{
	TS_ASSERT_HOT(sweep);
	if (!sweep->begun) {
		sweep->begun = true;
		sweep->first_ps = sweep->now_ps = ps;
	}
	while (sweep->now_ps < ps) {
		int64_t to_ps = nearest_end(sweep, ps);

		sweep->moment(sweep->ctx, sweep->now_ps, to_ps, sweep->running);
		sweep->now_ps = to_ps;
		for (unsigned left = sweep->running; left; left &= left - 1) {
			unsigned kind = (unsigned)__builtin_ctz(left);

			if (sweep->until_ps[kind] <= sweep->now_ps)
				sweep->running &= ~(1u << kind);
		}
	}
}

void ts_sweep_add(struct ts_sweep *sweep, unsigned kind, int64_t start_ps, int64_t dur_ps)
{
	int64_t end_ps = start_ps + TS_MAX(dur_ps, 0);

	TS_ASSERT_HOT(sweep);
	ts_sweep_to(sweep, start_ps);
	if (end_ps <= sweep->now_ps)
		return;
	if (!(sweep->running >> kind & 1) || end_ps > sweep->until_ps[kind])
		sweep->until_ps[kind] = end_ps;
	sweep->running |= 1u << kind;
}

#define TS_SELF struct ts_sweep
/* Of all that runs the end is still to come. */
static bool is_sweep(const void *self)
{
	const struct ts_sweep *sweep = self;

	for (unsigned kind = 0; kind < 8 * sizeof(sweep->running); kind++)
		if ((sweep->running >> kind & 1) &&
		    (kind >= TS_SWEEP_KINDS || sweep->until_ps[kind] <= sweep->now_ps))
			return false;
	return true;
}
TS_RECORD_AS(ts_sweep_record, sweep, TS_VALID_IF(is_sweep), TS_NUMBER(1, begun, TS_BY_HAND),
	     TS_NUMBER(2, first_ps, TS_BY_HAND), TS_NUMBER(3, now_ps, TS_BY_HAND),
	     TS_NUMBERS(4, until_ps, TS_BY_HAND), TS_NUMBER(5, running, TS_BY_HAND));
#undef TS_SELF
