/* SPDX-License-Identifier: MIT */
/* An amount over time in at most TS_BINS equal bins. */
#include "result/result.h"

#include "base/check.h"
#include "base/record.h"

#include <math.h>

void ts_bins_init(struct ts_bins *bins, int64_t origin_ps, int64_t width_ps)
{
	TS_ASSERT(bins);
	*bins = (struct ts_bins){ .origin_ps = origin_ps, .width_ps = TS_MAX(width_ps, 0) };
}

/* Behind the last one that was used are zeros: a line with one late event costs no more than one with an early one. */
static void bins_fold(struct ts_bins *bins)
{
	size_t nr = (bins->nr + 1) / 2;

	for (size_t i = 0; i < nr; i++)
		bins->amount[i] = bins->amount[2 * i] + bins->amount[2 * i + 1];
	memset(&bins->amount[nr], 0, (bins->nr - nr) * sizeof(*bins->amount));
	bins->nr = nr;
	bins->width_ps *= 2; /* 2^54 at most: then 1024 bins hold all of 64 bits */
}

/* Offset from the origin; what lies before it counts as its first moment. */
static uint64_t offset_of(const struct ts_bins *bins, int64_t t)
{
	return t > bins->origin_ps ? (uint64_t)t - (uint64_t)bins->origin_ps : 0;
}

static size_t bins_bin_of(struct ts_bins *bins, uint64_t offset)
{
	size_t bin;

	while (offset / (uint64_t)bins->width_ps >= TS_BINS)
		bins_fold(bins);
	bin = (size_t)(offset / (uint64_t)bins->width_ps);
	TS_ASSERT_HOT(bin < TS_BINS);
	bins->nr = TS_MAX(bins->nr, bin + 1);
	return bin;
}

void ts_bins_add(struct ts_bins *bins, int64_t start_ps, int64_t end_ps, double amount)
{
	uint64_t start = offset_of(bins, start_ps), end = offset_of(bins, end_ps);
	double left = amount, whole = (double)end_ps - (double)start_ps;
	size_t first, last;

	TS_ASSERT_HOT(bins && bins->width_ps >= 0 && bins->nr <= TS_BINS);
	if (!isfinite(amount))
		return;
	if (bins->width_ps == 0)
		bins->width_ps = 1;
	last = bins_bin_of(bins,
			   end > start ? end - 1 : start); /* may fold: before any other index */
	first = bins_bin_of(bins, start);
	for (size_t i = last; i > first; i--) {
		uint64_t edge = (uint64_t)i * (uint64_t)bins->width_ps;
		double part = amount * ((double)(end - edge) / whole);

		bins->amount[i] += part;
		left -= part;
		end = edge;
	}
	if ((left < 0) == (amount < 0))	     /* else: what rounding left of nothing */
		bins->amount[first] += left; /* the rest, and what was before the origin */
}

static TS_INLINE bool bins_is_near(const struct ts_bins *bins, uint64_t start, uint64_t last)
{
	uint64_t width = (uint64_t)bins->width_ps, from = bins->near * width;

	return bins->near < bins->nr && start >= from && last - from < width;
}

/* The bins that the time spans; all are folded alike. */
static void place_each(struct ts_bins *bins, size_t nr, uint64_t start, uint64_t last, size_t at[2])
{
	uint64_t width;

	while (last / (uint64_t)bins->width_ps >= TS_BINS)
		for (size_t i = 0; i < nr; i++)
			bins_fold(&bins[i]);
	width = (uint64_t)bins->width_ps;
	at[1] = (size_t)(last / width);
	at[0] = start / width == at[1] ? at[1] : (size_t)(start / width);
	TS_ASSERT_HOT(at[0] <= at[1] && at[1] < TS_BINS);
	for (size_t i = 0; bins->nr <= at[1] && i < nr; i++)
		bins[nr - 1 - i].nr = at[1] + 1; /* the first one last: it is asked */
	bins->near = at[1];
}

static void spread(struct ts_bins *bins, const size_t at[2], uint64_t end, double whole,
		   double amount)
{
	double left = amount;

	for (size_t i = at[1]; i > at[0]; i--) {
		uint64_t edge = (uint64_t)i * (uint64_t)bins->width_ps;
		double part = amount * ((double)(end - edge) / whole);

		bins->amount[i] += part;
		left -= part;
		end = edge;
	}
	bins->amount[at[0]] += left > 0 ? left : 0;
}

void ts_bins_add_each(struct ts_bins *bins, size_t nr, int64_t start_ps, int64_t end_ps,
		      const double *amount)
{
	uint64_t start = offset_of(bins, start_ps), end = offset_of(bins, end_ps);
	uint64_t last = end > start ? end - 1 : start;
	double whole = (double)end_ps - (double)start_ps;
	size_t at[2] = { bins->near, bins->near };

	TS_ASSERT_HOT(bins && amount && nr > 0 && bins->nr <= TS_BINS);
	for (size_t i = 0; bins->width_ps == 0 && i < nr; i++)
		bins[nr - 1 - i].width_ps = 1;
	if (!bins_is_near(bins, start, last))
		place_each(bins, nr, start, last, at);
	for (size_t i = 0; at[0] == at[1] && i < nr; i++)
		if (amount[i] > 0)
			bins[i].amount[at[0]] += amount[i];
	for (size_t i = 0; at[0] < at[1] && i < nr; i++)
		if (amount[i] > 0)
			spread(&bins[i], at, end, whole, amount[i]);
}

/* Work whose ends are known. */
struct flight {
	uint64_t start, end; /* from the origin */
	const double *amount, *peak;
};

/* A bin's share of the work: when it is even, and the largest that stays below every peak. */
struct part {
	double even, room;
};

static struct part bins_part_of(const struct ts_bins *bins, size_t nr, size_t at,
				const struct flight *flight)
{
	double width = (double)bins->width_ps, from = (double)at * width;
	double covered =
		fmin((double)flight->end, from + width) - fmax((double)flight->start, from);
	struct part part = { covered / ((double)flight->end - (double)flight->start), 1 };

	for (size_t i = 0; i < nr; i++) {
		double peak = flight->peak[i] * 1e-12;
		double free = fmin(peak * covered, peak * width - bins[i].amount[at]);

		if (flight->amount[i] > 0 && isfinite(peak))
			part.room = fmin(part.room, fmax(free, 0) / flight->amount[i]);
	}
	return part;
}

static void bins_fill(struct ts_bins *bins, size_t nr, const size_t at[2],
		      const struct flight *flight)
{
	double over = 0, spare = 0, moved;

	for (size_t i = at[0]; i <= at[1]; i++) {
		struct part part = bins_part_of(bins, nr, i, flight);

		over += fmax(part.even - part.room, 0);
		spare += fmax(part.room - part.even, 0);
	}
	moved = fmin(over, spare);
	for (size_t i = at[0]; i <= at[1]; i++) {
		struct part part = bins_part_of(bins, nr, i, flight);
		double past = part.even - part.room, share = part.even;

		if (moved > 0)
			share -= past * moved / (past > 0 ? over : spare);
		for (size_t k = 0; k < nr; k++)
			bins[k].amount[i] += fmax(flight->amount[k], 0) * share;
	}
}

void ts_bins_add_below(struct ts_bins *bins, size_t nr, int64_t start_ps, int64_t end_ps,
		       const double *amount, const double *peak)
{
	struct flight flight = { offset_of(bins, start_ps), offset_of(bins, end_ps), amount, peak };
	size_t at[2];

	TS_ASSERT(bins && amount && peak && nr > 0);
	TS_ASSERT(bins->width_ps > 0);
	place_each(bins, nr, flight.start, TS_MAX(flight.end, flight.start + 1) - 1, at);
	if (at[0] < at[1])
		bins_fill(bins, nr, at, &flight);
	else
		ts_bins_add_each(bins, nr, start_ps, end_ps, amount);
}

/* To six digits: a counter is drawn, and its bins are no finer than that. */
static double bins_rounded(double value)
{
	double scale = value == 0 ? 1 : pow(10, 5 - floor(log10(fabs(value))));

	return isfinite(scale) && scale > 0 ? round(value * scale) / scale : value;
}

bool ts_bins_finish(const struct ts_bins *bins, struct ts_result *result, struct ts_track *track,
		    double scale)
{
	double per_s = bins->width_ps ? 1e12 / (double)bins->width_ps : 0;
	struct ts_point *points = NULL;
	size_t nr = 0;

	TS_ASSERT(bins && result);
	TS_ASSERT(bins->nr <= TS_BINS && bins->width_ps >= 0);
	if (track)
		points = ts_arena_array(&result->owner->arena, bins->nr + 1, sizeof(*points));
	if (!points) {
		result->owner->failed = true;
		return false;
	}
	for (size_t i = 0; i < bins->nr + (bins->nr > 0); i++) {
		double value = i < bins->nr ? bins_rounded(bins->amount[i] * per_s * scale) : 0;
		int64_t at = ts_i64_add(bins->origin_ps, ts_i64_mul((int64_t)i, bins->width_ps));

		/* it holds until the next point; the last one says where that ends */
		if (nr == 0 || points[nr - 1].value != value || i == bins->nr)
			points[nr++] = (struct ts_point){ at, value };
	}
	track->points = points;
	track->nr_points = nr;
	return true;
}

#define TS_SELF struct ts_bins
static bool are_bins(const void *self)
{
	const struct ts_bins *bins = self;

	return bins->nr <= TS_BINS && bins->width_ps >= 0;
}
TS_RECORD_AS(ts_bins_record, bins, TS_VALID_IF(are_bins), TS_NUMBER(1, origin_ps, TS_BY_HAND),
	     TS_NUMBER(2, width_ps, TS_BY_HAND), TS_NUMBERS(3, amount, TS_BY_HAND),
	     TS_NUMBER(4, nr, TS_BY_HAND));
#undef TS_SELF
