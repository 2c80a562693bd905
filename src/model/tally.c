/* Sums over the events of each op. */
#include "model/tally.h"

#include "base/check.h"

#include <math.h>

#include "base/record.h"

static void add_hull(struct ts_tally *tally, int64_t first_ps, int64_t last_ps)
{
	if (tally->nr_events == 0 || first_ps < tally->first_ps)
		tally->first_ps = first_ps;
	if (tally->nr_events == 0 || last_ps > tally->last_ps)
		tally->last_ps = last_ps;
}

static void add_event(struct ts_tally_row *row, const struct ts_block *block, size_t i,
		      uint32_t device)
{
	int64_t nr = block->occurrences ? block->occurrences[i] : 1;

	if (row->occurrences == 0)
		row->device = device;
	row->occurrences = ts_i64_add(row->occurrences, nr);
	row->total_ps = ts_i64_add(row->total_ps, block->total_ps[i]);
	row->self_ps = ts_i64_add(row->self_ps, block->self_ps[i]);
	if (block->flops && block->flops[i] != TS_UNKNOWN) {
		row->nr_own_flops = ts_i64_add(row->nr_own_flops, nr);
		row->own_flops += (double)block->flops[i];
	}
}

bool ts_tally_block(struct ts_tally *tally, const struct ts_block *block, uint32_t device)
{
	TS_ASSERT(tally && block);
	for (size_t i = 0; i < block->nr_events; i++) {
		uint32_t op = block->op[i];

		if (op >= block->profile->nr_ops)
			continue;
		if (op >= tally->nr) {
			if (!ts_grow(&tally->rows, &tally->cap, (size_t)op + 1,
				     sizeof(*tally->rows)))
				return false;
			tally->nr = (size_t)op + 1;
		}
		add_event(&tally->rows[op], block, i, device);
		add_hull(tally, block->start_ps[i],
			 ts_i64_add(block->start_ps[i], block->dur_ps[i]));
		tally->nr_events++;
	}
	return true;
}

static void merge_row(struct ts_tally_row *into, const struct ts_tally_row *from)
{
	if (from->occurrences == 0)
		return;
	if (into->occurrences == 0)
		into->device = from->device;
	into->occurrences = ts_i64_add(into->occurrences, from->occurrences);
	into->total_ps = ts_i64_add(into->total_ps, from->total_ps);
	into->self_ps = ts_i64_add(into->self_ps, from->self_ps);
	into->nr_own_flops = ts_i64_add(into->nr_own_flops, from->nr_own_flops);
	into->own_flops += from->own_flops;
}

bool ts_tally_merge(struct ts_tally *into, const struct ts_tally *from)
{
	TS_ASSERT(into && from);
	if (from->nr_events == 0)
		return true;
	if (!ts_grow(&into->rows, &into->cap, from->nr, sizeof(*into->rows)))
		return false;
	into->nr = TS_MAX(into->nr, from->nr);
	for (size_t i = 0; i < from->nr; i++)
		merge_row(&into->rows[i], &from->rows[i]);
	add_hull(into, from->first_ps, from->last_ps);
	into->nr_events += from->nr_events;
	return true;
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

#define TS_SELF struct ts_tally_row
static const struct ts_member row_members[] = {
	TS_NUMBER(1, occurrences, TS_ADD), TS_NUMBER(2, total_ps, TS_ADD),
	TS_NUMBER(3, self_ps, TS_ADD),	   TS_NUMBER(4, nr_own_flops, TS_ADD),
	TS_NUMBER(5, own_flops, TS_ADD),   TS_INDEX(6, device, TS_BY_DEVICE, TS_KEEP),
};

static bool is_row(const void *self)
{
	return ((const struct ts_tally_row *)self)->device != TS_NONE;
}
static const struct ts_record row_record =
	TS_RECORD(row_members, TS_EMPTY(occurrences), .is_valid = is_row);
#undef TS_SELF

#define TS_SELF struct ts_tally
static const struct ts_member tally_members[] = {
	TS_RECORDS_CAP(1, rows, nr, cap, row_record, TS_BY_OP, TS_BY_HAND),
	TS_NUMBER(2, first_ps, TS_BY_HAND),
	TS_NUMBER(3, last_ps, TS_BY_HAND),
	TS_NUMBER(4, nr_events, TS_BY_HAND),
};
const struct ts_record ts_tally_record = TS_RECORD(tally_members);
#undef TS_SELF
