/* SPDX-License-Identifier: MIT */
/* Starts and dones put together. */
#include "model/async.h"

#include "base/check.h"
#include "base/record.h"

static bool is_paired_done(const struct ts_op *op)
{
	return op->async == TS_ASYNC_DONE && op->partner != TS_NONE;
}

static bool has_slot(const struct ts_op *op, bool (*wanted)(const struct ts_op *op))
{
	return !is_paired_done(op) && wanted(op);
}

enum ts_status ts_async_slots_make(struct ts_async_slots *slots, const struct ts_profile *profile,
				   bool (*wanted)(const struct ts_op *op), struct ts_error *err)
{
	TS_ASSERT(slots && profile);
	slots->nr = 0;
	slots->of_op = ts_room_alloc(profile->rooms, (profile->nr_ops + 1) * sizeof(*slots->of_op));
	for (uint32_t i = 0; slots->of_op && i < profile->nr_ops; i++)
		slots->of_op[i] =
			has_slot(&profile->ops[i], wanted) ? (uint32_t)slots->nr++ : TS_NONE;
	slots->op = malloc((slots->nr + 1) * sizeof(*slots->op));
	if (!slots->of_op || !slots->op)
		return ts_fail_nomem(err);
	if (slots->nr == 0) /* as on each of very many lines */
		return TS_OK;
	for (uint32_t i = 0; i < profile->nr_ops; i++)
		if (slots->of_op[i] != TS_NONE)
			slots->op[slots->of_op[i]] = i;
	for (uint32_t i = 0; i < profile->nr_ops; i++)
		if (is_paired_done(&profile->ops[i]) && wanted(&profile->ops[i]))
			slots->of_op[i] = slots->of_op[profile->ops[i].partner];
	return TS_OK;
}

void ts_async_end(struct ts_async_seen *seen)
{
	TS_ASSERT_HOT(seen);
	if (!seen->is_open)
		return;
	seen->interval_ps = ts_i64_add(seen->interval_ps, seen->open_dur_ps);
	seen->exposed_ps = ts_i64_add(seen->exposed_ps, seen->open_dur_ps);
	seen->is_open = false;
}

static void add_done(struct ts_async_seen *seen, int64_t start_ps, int64_t dur_ps)
{
	int64_t from_ps = seen->is_open ? seen->open_ps : start_ps;
	int64_t interval_ps = ts_i64_sub(ts_i64_add(start_ps, dur_ps), from_ps);
	int64_t exposed_ps = ts_i64_add(dur_ps, seen->is_open ? seen->open_dur_ps : 0);

	seen->interval_ps = ts_i64_add(seen->interval_ps, interval_ps);
	seen->exposed_ps = ts_i64_add(seen->exposed_ps, TS_MIN(exposed_ps, interval_ps));
	seen->is_open = false;
}

void ts_async_add(struct ts_async_seen *seen, const struct ts_op *op, int64_t start_ps,
		  int64_t dur_ps, int64_t occurrences)
{
	TS_ASSERT_HOT(seen && op);
	if (is_paired_done(op)) {
		add_done(seen, start_ps, dur_ps);
		return;
	}
	ts_async_end(seen);
	seen->occurrences = ts_i64_add(seen->occurrences, occurrences);
	if (op->partner != TS_NONE) {
		seen->is_open = true;
		seen->open_ps = start_ps;
		seen->open_dur_ps = dur_ps;
		return;
	}
	seen->interval_ps = ts_i64_add(seen->interval_ps, dur_ps);
	seen->exposed_ps = ts_i64_add(seen->exposed_ps, dur_ps);
}

void ts_async_merge(struct ts_async_seen *into, const struct ts_async_seen *from)
{
	TS_ASSERT(into && from);
	into->occurrences = ts_i64_add(into->occurrences, from->occurrences);
	into->exposed_ps = ts_i64_add(into->exposed_ps, from->exposed_ps);
	into->interval_ps = ts_i64_add(into->interval_ps, from->interval_ps);
}

#define TS_SELF struct ts_async_seen
TS_RECORD_AS(ts_async_seen_record, seen, , TS_NUMBER(1, occurrences, TS_ADD),
	     TS_NUMBER(2, exposed_ps, TS_ADD), TS_NUMBER(3, interval_ps, TS_ADD),
	     TS_NUMBER(4, is_open, TS_BY_HAND), TS_NUMBER(5, open_ps, TS_BY_HAND),
	     TS_NUMBER(6, open_dur_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_async_slots
TS_RECORD_AS(ts_async_slots_record, slots, , TS_SCRATCH_ROOM(of_op), TS_SCRATCH(op));
#undef TS_SELF
