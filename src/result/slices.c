/* SPDX-License-Identifier: MIT */
/*
 * Slices of a track, kept below a budget.
 *
 * Two rules join a new slice with the last one. The first loses nothing: the same label, and they
 * touch. The second begins when the budget is full: the last slice is shorter than the resolution
 * and the gap is not longer than that. A slice so grows until it is as long as the resolution, and
 * then stands; what is left is at most two slices a resolution of the track's span. Its label is
 * that of the part that had most time of its own, its own_ps that part's: a lower bound.
 */
#include "result/result.h"

#include "base/check.h"
#include "base/record.h"

#define HEADROOM 16 /* the first resolution is this part of an even division into the budget */

static TS_INLINE void result_slices_join(struct ts_slice *last, const struct ts_slice *next)
{
	if (last->label == next->label) {
		last->own_ps = ts_i64_add(last->own_ps, next->own_ps);
	} else if (next->own_ps > last->own_ps) {
		last->label = next->label;
		last->own_ps = next->own_ps;
	}
	last->end_ps = next->end_ps;
	last->nr_events = next->nr_events > UINT32_MAX - last->nr_events
				  ? UINT32_MAX
				  : last->nr_events + next->nr_events;
}

/* True: NEXT is now part of LAST. */
static TS_INLINE bool result_slices_absorb(struct ts_slices *slices, struct ts_slice *last,
					   const struct ts_slice *next)
{
	bool exact = last->label == next->label && last->end_ps == next->start_ps;

	if (!exact && !(ts_i64_sub(last->end_ps, last->start_ps) < slices->resolution_ps &&
			ts_i64_sub(next->start_ps, last->end_ps) <= slices->resolution_ps))
		return false;
	slices->nr_folded += !exact;
	result_slices_join(last, next);
	return true;
}

static void result_slices_coarsen(struct ts_slices *slices)
{
	struct ts_slice *items = slices->items;
	size_t kept = 0;

	for (size_t i = 1; i < slices->nr; i++)
		if (!result_slices_absorb(slices, &items[kept], &items[i]))
			items[++kept] = items[i];
	TS_ASSERT(slices->nr > 0 && kept < slices->nr);
	slices->nr = kept + 1;
}

static void result_slices_make_room(struct ts_slices *slices)
{
	int64_t span;

	TS_ASSERT(slices->nr > 0 && slices->budget > 0);
	span = ts_i64_sub(slices->items[slices->nr - 1].end_ps, slices->items[0].start_ps);

	while (slices->nr >= slices->budget && slices->nr > 1) {
		if (slices->resolution_ps == 0)
			slices->resolution_ps = 1 + span / HEADROOM / (int64_t)slices->budget;
		else
			slices->resolution_ps = ts_i64_mul(slices->resolution_ps, 2);
		result_slices_coarsen(slices);
	}
}

static bool result_slices_append(struct ts_slices *slices, const struct ts_slice *next)
{
	if (!ts_grow(&slices->items, &slices->cap, slices->nr + 1, sizeof(*next)))
		return false;
	slices->items[slices->nr++] = *next;
	return true;
}

static struct ts_slice result_slices_slice_of(int64_t start_ps, int64_t end_ps, uint32_t label)
{
	return (struct ts_slice){ start_ps, end_ps, label, 1, ts_i64_sub(end_ps, start_ps) };
}

/* One that the last slice does not take, where the budget may be full. */
static bool result_slices_place(struct ts_slices *slices, int64_t start_ps, int64_t end_ps,
				uint32_t label)
{
	struct ts_slice next = result_slices_slice_of(start_ps, end_ps, label), *last;

	if (slices->nr < slices->budget)
		return result_slices_append(slices, &next);
	result_slices_make_room(slices);
	last = &slices->items[slices->nr - 1];
	if (result_slices_absorb(slices, last, &next))
		return true;
	if (slices->nr < slices->budget)
		return result_slices_append(slices, &next);
	slices->nr_folded++; /* a budget of one */
	result_slices_join(last, &next);
	return true;
}

/* One that begins where LAST ends, or later: most often LAST takes it, with no more than is needed for that. */
static TS_INLINE bool add_behind(struct ts_slices *slices, struct ts_slice *last, int64_t start_ps,
				 int64_t end_ps, uint32_t label)
{
	struct ts_slice next = result_slices_slice_of(start_ps, end_ps, label);

	return result_slices_absorb(slices, last, &next) ||
	       result_slices_place(slices, start_ps, end_ps, label);
}

/* One that begins before LAST ends: what is shown already stays. */
static bool add_over(struct ts_slices *slices, struct ts_slice *last, int64_t end_ps,
		     uint32_t label)
{
	if (end_ps > last->end_ps)
		return add_behind(slices, last, last->end_ps, end_ps, label);
	slices->nr_folded++; /* all of it was covered */
	last->nr_events += last->nr_events < UINT32_MAX;
	return true;
}

bool ts_slices_add(struct ts_slices *slices, int64_t start_ps, int64_t end_ps, uint32_t label)
{
	struct ts_slice *last;

	TS_ASSERT_HOT(slices && !slices->kept && slices->nr <= slices->cap);
	if (end_ps <= start_ps || slices->budget == 0)
		return true;
	if (slices->nr == 0)
		return result_slices_place(slices, start_ps, end_ps, label);
	last = &slices->items[slices->nr - 1];
	return start_ps < last->end_ps ? add_over(slices, last, end_ps, label)
				       : add_behind(slices, last, start_ps, end_ps, label);
}

void ts_slices_release(struct ts_slices *slices)
{
	TS_ASSERT(slices);
	free(slices->items);
	*slices = (struct ts_slices){ .budget = slices->budget };
}

void ts_slices_keep(struct ts_slices *slices, struct ts_arena *arena)
{
	TS_ASSERT(slices);
	if (slices->kept || !arena || slices->nr == 0)
		return;
	slices->kept = ts_arena_dup(arena, slices->items, slices->nr, sizeof(*slices->items));
	if (!slices->kept)
		return;
	free(slices->items);
	slices->items = NULL;
	slices->cap = 0;
}

bool ts_slices_finish(struct ts_slices *slices, struct ts_result *result, struct ts_track *track)
{
	struct ts_slice *copy = NULL;

	TS_ASSERT(slices && result);
	TS_ASSERT(slices->kept || slices->nr <= slices->cap);
	ts_slices_keep(slices, result->owner->kept);
	if (track)
		copy = slices->kept ? slices->kept
				    : ts_arena_dup(&result->owner->arena, slices->items, slices->nr,
						   sizeof(*copy));
	if (!copy) {
		result->owner->failed = true;
		return false;
	}
	track->slices = copy;
	track->nr_slices = slices->nr;
	track->nr_folded = slices->nr_folded;
	ts_slices_release(slices);
	return true;
}

#define TS_SELF struct ts_slice
static TS_RECORD(slice, TS_NUMBER(1, start_ps, TS_BY_HAND), TS_NUMBER(2, end_ps, TS_BY_HAND),
		 TS_NUMBER(3, label, TS_BY_HAND), TS_NUMBER(4, nr_events, TS_BY_HAND),
		 TS_NUMBER(5, own_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_slices
TS_RECORD_AS(ts_slices_record, slices, ,
	     TS_RECORDS_CAP(1, items, nr, cap, slice_record, TS_BY_NOTHING, TS_BY_HAND),
	     TS_NUMBER(2, budget, TS_BY_HAND), TS_NUMBER(3, resolution_ps, TS_BY_HAND),
	     TS_NUMBER(4, nr_folded, TS_BY_HAND));
#undef TS_SELF
