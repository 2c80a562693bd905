/* SPDX-License-Identifier: MIT */
/*
 * What ran together. Of each type only one moment need be known: until when the kernels run that
 * have begun. As kernels come in the order of their starts, the set of types that run only shrinks
 * between two starts.
 */
#include "analysis/gpu/hta.h"

#include "base/check.h"

static void hta_times_advance(struct hta_overlaps *overlaps, int64_t to)
{
	while (overlaps->at < to) {
		int64_t next = to;
		unsigned set = 0;

		for (unsigned type = 0; type < TS_NR_KERNEL_TYPES; type++)
			if (overlaps->until[type] > overlaps->at) {
				set |= 1U << type;
				next = TS_MIN(next, overlaps->until[type]);
			}
		overlaps->time[set] = ts_i64_add(overlaps->time[set], next - overlaps->at);
		overlaps->at = next;
	}
}

void ts_hta_overlaps_add(struct hta_overlaps *overlaps, enum ts_kernel_type type, int64_t start,
			 int64_t end)
{
	TS_ASSERT_HOT((unsigned)type < TS_NR_KERNEL_TYPES);
	if (!overlaps->begun) {
		*overlaps = (struct hta_overlaps){ .begun = true, .first = start, .last = end };
		overlaps->at = start;
		for (unsigned i = 0; i < TS_NR_KERNEL_TYPES; i++)
			overlaps->until[i] = start;
	}
	hta_times_advance(overlaps, start);
	overlaps->until[type] = TS_MAX(overlaps->until[type], end);
	overlaps->last = TS_MAX(overlaps->last, end);
}

void ts_hta_overlaps_finish(struct hta_overlaps *overlaps)
{
	hta_times_advance(overlaps, overlaps->last);
}

int64_t ts_hta_overlaps_both(const struct hta_overlaps *overlaps, unsigned a, unsigned b)
{
	int64_t sum = 0;

	for (unsigned set = 0; set < TS_NELEM(overlaps->time); set++)
		if ((set & a) != 0 && (set & b) != 0)
			sum = ts_i64_add(sum, overlaps->time[set]);
	return sum;
}

int64_t ts_hta_overlaps_any(const struct hta_overlaps *overlaps, unsigned with)
{
	return ts_hta_overlaps_both(overlaps, with, with);
}

void ts_hta_union_add(struct hta_union *un, int64_t start, int64_t end)
{
	if (!un->begun)
		*un = (struct hta_union){ true, start, start, end, 0 };
	if (start > un->end) {
		un->total += un->end - un->start;
		un->start = start;
		un->end = end;
	}
	un->end = TS_MAX(un->end, end);
}

void ts_hta_union_finish(struct hta_union *un)
{
	un->total += un->end - un->start;
	un->start = un->end;
}
