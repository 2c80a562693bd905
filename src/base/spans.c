/* SPDX-License-Identifier: MIT */
/* Sorted, disjoint intervals. */
#include "base/spans.h"

#include "base/check.h"
#include "base/arena.h"
#include "base/record.h"
#include "base/order.h"

/* Up to so many spans are summed one by one; for more, sums are used that were made ahead. */
#define WALKED 8

/* Closes every gap up to the median one: about half of the intervals are joined. */
static bool spans_coarsen(struct ts_spans *spans)
{
	size_t nr_gaps = spans->nr - 1, kept = 0;
	int64_t *gaps = malloc(nr_gaps * sizeof(*gaps));
	int64_t median;

	if (!gaps)
		return false;
	for (size_t i = 0; i < nr_gaps; i++)
		gaps[i] = spans->items[i + 1].start_ps - spans->items[i].end_ps;
	qsort(gaps, nr_gaps, sizeof(*gaps), ts_i64_order);
	median = gaps[nr_gaps / 2];
	free(gaps);
	for (size_t i = 1; i < spans->nr; i++) {
		int64_t gap = spans->items[i].start_ps - spans->items[kept].end_ps;

		if (gap <= median) {
			spans->closed_ps = ts_i64_add(spans->closed_ps, gap);
			spans->items[kept].end_ps = spans->items[i].end_ps;
		} else {
			spans->items[++kept] = spans->items[i];
		}
	}
	spans->nr = kept + 1;
	return true;
}

static bool insert_at(struct ts_spans *spans, size_t at, struct ts_span span)
{
	size_t last = at; /* one behind the last span that the new one touches */

	while (last < spans->nr && spans->items[last].start_ps <= span.end_ps)
		last++;
	if (last > at) {
		span.start_ps = TS_MIN(span.start_ps, spans->items[at].start_ps);
		span.end_ps = TS_MAX(span.end_ps, spans->items[last - 1].end_ps);
		spans->items[at] = span;
		memmove(&spans->items[at + 1], &spans->items[last],
			(spans->nr - last) * sizeof(span));
		spans->nr -= last - at - 1;
		return true;
	}
	if (!ts_grow(&spans->items, &spans->cap, spans->nr + 1, sizeof(span)))
		return false;
	memmove(&spans->items[at + 1], &spans->items[at], (spans->nr - at) * sizeof(span));
	spans->items[at] = span;
	spans->nr++;
	return true;
}

static void unseal(struct ts_spans *spans)
{
	free(spans->before_ps);
	spans->before_ps = NULL;
}

bool ts_spans_add(struct ts_spans *spans, int64_t start_ps, int64_t end_ps)
{
	struct ts_span span = { start_ps, end_ps };
	size_t max = spans->max ? spans->max : TS_SPANS_MAX;
	size_t lo = 0, hi;

	TS_ASSERT_HOT(spans);
	if (end_ps <= start_ps)
		return true;
	unseal(spans);
	if (spans->nr >= max && spans->nr > 2 && !spans_coarsen(spans))
		return false;
	hi = spans->nr;
	if (hi > 0 && spans->items[hi - 1].end_ps < start_ps)
		return insert_at(spans, hi, span); /* the common case: behind all others */
	while (lo < hi) { /* the first span that ends at or after the new one's start */
		size_t mid = lo + (hi - lo) / 2;

		if (spans->items[mid].end_ps < start_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	return insert_at(spans, lo, span);
}

bool ts_spans_union(struct ts_spans *spans, const struct ts_spans *other)
{
	struct ts_spans sum = { .max = spans->max };
	size_t a = 0, b = 0;

	TS_ASSERT(spans && other);
	sum.closed_ps = ts_i64_add(spans->closed_ps, other->closed_ps);
	if (other->nr == 0) {
		spans->closed_ps = sum.closed_ps;
		return true;
	}
	while (a < spans->nr || b < other->nr) {
		bool first = b == other->nr || (a < spans->nr && spans->items[a].start_ps <=
									 other->items[b].start_ps);
		struct ts_span next = first ? spans->items[a++] : other->items[b++];

		if (!ts_spans_add(&sum, next.start_ps, next.end_ps)) {
			ts_spans_release(&sum);
			return false;
		}
	}
	ts_spans_release(spans);
	*spans = sum;
	return true;
}

/*
 * Level K is empty or holds the union of 2^K lists: adding one carries, as counting in binary does.
 */
bool ts_spans_sum_add(struct ts_spans_sum *sum, struct ts_spans *list)
{
	struct ts_spans carry = *list;
	size_t k = 0;

	TS_ASSERT(sum && list);
	*list = (struct ts_spans){ .max = list->max };
	for (; sum->nr >> k & 1; k++) {
		bool good = ts_spans_union(&sum->levels[k], &carry);

		ts_spans_release(&carry);
		if (!good)
			return false;
		carry = sum->levels[k];
		sum->levels[k] = (struct ts_spans){ .nr = 0 };
	}
	sum->levels[k] = carry;
	sum->nr++;
	return true;
}

bool ts_spans_sum_finish(struct ts_spans_sum *sum, struct ts_spans *out)
{
	bool good = true;

	TS_ASSERT(sum && out);
	for (size_t k = 0; k < TS_NELEM(sum->levels) && good; k++)
		good = ts_spans_union(out, &sum->levels[k]);
	ts_spans_sum_release(sum);
	return good;
}

void ts_spans_sum_release(struct ts_spans_sum *sum)
{
	TS_ASSERT(sum);
	for (size_t k = 0; k < TS_NELEM(sum->levels); k++)
		ts_spans_release(&sum->levels[k]);
	sum->nr = 0;
}

bool ts_spans_subtract(struct ts_spans *spans, const struct ts_spans *other)
{
	struct ts_spans rest = { .max = spans->max, .closed_ps = spans->closed_ps };
	bool good = true;
	size_t at = 0;

	TS_ASSERT(spans && other);
	for (size_t i = 0; i < spans->nr && good; i++) {
		int64_t start_ps = spans->items[i].start_ps, end_ps = spans->items[i].end_ps;

		at = ts_spans_seek(other, start_ps, at);
		for (size_t j = at; good && j < other->nr && other->items[j].start_ps < end_ps;
		     j++) {
			good = ts_spans_add(&rest, start_ps, other->items[j].start_ps);
			start_ps = TS_MAX(start_ps, other->items[j].end_ps);
		}
		good = good && ts_spans_add(&rest, start_ps, end_ps);
	}
	if (!good) {
		ts_spans_release(&rest);
		return false;
	}
	ts_spans_release(spans);
	*spans = rest;
	return true;
}

int64_t ts_spans_total(const struct ts_spans *spans)
{
	int64_t total = 0;

	TS_ASSERT_HOT(spans);
	for (size_t i = 0; i < spans->nr; i++)
		total += spans->items[i].end_ps - spans->items[i].start_ps;
	return total;
}

size_t ts_spans_seek(const struct ts_spans *spans, int64_t t, size_t hint)
{
	size_t lo = 0, hi = spans->nr;

	TS_ASSERT_HOT(spans);
	if (hint <= spans->nr && (hint == 0 || spans->items[hint - 1].end_ps <= t)) {
		for (size_t tries = 0; tries < 8; tries++, hint++) /* mostly it is right here */
			if (hint == spans->nr || spans->items[hint].end_ps > t)
				return hint;
		lo = hint;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (spans->items[mid].end_ps <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool ts_spans_seal(struct ts_spans *spans)
{
	TS_ASSERT(spans);
	unseal(spans);
	spans->before_ps = malloc((spans->nr + 1) * sizeof(*spans->before_ps));
	if (!spans->before_ps)
		return false;
	spans->before_ps[0] = 0;
	for (size_t i = 0; i < spans->nr; i++)
		spans->before_ps[i + 1] =
			spans->before_ps[i] + spans->items[i].end_ps - spans->items[i].start_ps;
	return true;
}

/* Time of all spans before T, where AT is the first that ends after it. Of sealed ones. */
static int64_t total_before(const struct ts_spans *spans, int64_t t, size_t at)
{
	bool inside = at < spans->nr && spans->items[at].start_ps < t;

	return spans->before_ps[at] + (inside ? t - spans->items[at].start_ps : 0);
}

int64_t ts_spans_covered(const struct ts_spans *spans, int64_t start_ps, int64_t end_ps,
			 size_t *hint)
{
	size_t first = ts_spans_seek(spans, start_ps, *hint);
	int64_t covered = 0;

	TS_ASSERT_HOT(spans);
	*hint = first;
	for (size_t at = first; at < spans->nr && spans->items[at].start_ps < end_ps; at++) {
		if (spans->before_ps && at - first == WALKED)
			return total_before(spans, end_ps, ts_spans_seek(spans, end_ps, at)) -
			       total_before(spans, start_ps, first);
		covered += TS_MIN(end_ps, spans->items[at].end_ps) -
			   TS_MAX(start_ps, spans->items[at].start_ps);
	}
	return covered;
}

void ts_spans_release(struct ts_spans *spans)
{
	TS_ASSERT(spans);
	free(spans->items);
	free(spans->before_ps);
	*spans = (struct ts_spans){ .max = spans->max };
}

#define TS_SELF struct ts_span
static TS_RECORD(span, TS_NUMBER(1, start_ps, TS_BY_HAND), TS_NUMBER(2, end_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_spans
/* Sorted and disjoint: all code that walks spans relies on that. */
static bool are_spans(const void *self)
{
	const struct ts_spans *spans = self;

	for (size_t i = 0; i < spans->nr; i++)
		if (spans->items[i].start_ps >= spans->items[i].end_ps ||
		    (i > 0 && spans->items[i - 1].end_ps > spans->items[i].start_ps))
			return false;
	return true;
}
TS_RECORD_AS(ts_spans_record, spans, TS_VALID_IF(are_spans),
	     TS_RECORDS_CAP(1, items, nr, cap, span_record, TS_BY_NOTHING, TS_BY_HAND),
	     TS_NUMBER(2, max, TS_BY_HAND), TS_NUMBER(3, closed_ps, TS_BY_HAND),
	     TS_SCRATCH(before_ps));
#undef TS_SELF

#define TS_SELF struct ts_spans_sum
TS_RECORD_AS(ts_spans_sum_record, spans_sum, , TS_STRUCT(1, levels, ts_spans_record),
	     TS_NUMBER(2, nr, TS_BY_HAND));
#undef TS_SELF
