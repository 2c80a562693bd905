/* SPDX-License-Identifier: MIT */
/* Sums over the events of each op, and the hull of events. */
#include "model/tally.h"

#include "base/check.h"

#include <math.h>

#include "base/record.h"

void ts_hull_block(struct ts_hull *hull, const struct ts_block *block)
{
	struct ts_hull seen = { INT64_MAX, INT64_MIN, block->nr_events };

	TS_ASSERT(hull && block);
	for (size_t i = 0; i < block->nr_events; i++) {
		int64_t end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);

		seen.first_ps = TS_MIN(seen.first_ps, block->start_ps[i]);
		seen.last_ps = TS_MAX(seen.last_ps, end_ps);
	}
	ts_hull_merge(hull, &seen);
}

void ts_hull_merge(struct ts_hull *into, const struct ts_hull *from)
{
	TS_ASSERT(into && from);
	if (from->nr_events == 0)
		return;
	if (into->nr_events == 0)
		*into = (struct ts_hull){ from->first_ps, from->last_ps, 0 };
	into->first_ps = TS_MIN(into->first_ps, from->first_ps);
	into->last_ps = TS_MAX(into->last_ps, from->last_ps);
	into->nr_events += from->nr_events;
}

double ts_tally_flops(const struct ts_tally_row *row, const struct ts_op *op)
{
	int64_t rest = row->occurrences - row->nr_own_flops;

	TS_ASSERT_HOT(row && op);
	if (op->flops == TS_UNKNOWN && row->nr_own_flops == 0)
		return NAN;
	if (op->flops == TS_UNKNOWN || rest <= 0)
		return row->own_flops;
	return row->own_flops + (double)rest * (double)op->flops;
}

#define TS_SELF struct ts_hull
TS_RECORD_AS(ts_hull_record, hull, , TS_NUMBER(1, first_ps, TS_BY_HAND),
	     TS_NUMBER(2, last_ps, TS_BY_HAND), TS_NUMBER(3, nr_events, TS_BY_HAND));
#undef TS_SELF
