/* SPDX-License-Identifier: MIT */
/* Numbers in bins of equal ratio: 32 to an octave, as a float of five digits has them. */
#include "analysis/kit/spread.h"

#include <math.h>

#include "base/check.h"
#include "base/record.h"
#include "base/order.h"

#define DIGITS 5 /* binary, behind the leading one */

static size_t spread_bin_of(int64_t number)
{
	uint64_t n = number > 0 ? (uint64_t)number : 0;
	unsigned octave = 0;

	while (n >> (octave + DIGITS + 1))
		octave++;
	return TS_MIN((size_t)octave * (1 << DIGITS) + (size_t)(n >> octave), TS_SPREAD_BINS - 1);
}

/* The middle of the numbers that fall into it. */
static int64_t spread_number_of(size_t bin)
{
	size_t octave = bin >> DIGITS;

	if (octave == 0)
		return (int64_t)bin;
	octave--;
	return (int64_t)(((bin - (octave << DIGITS)) << octave) + (((size_t)1 << octave) >> 1));
}

enum ts_status ts_spread_init(struct ts_spread *spread, struct ts_error *err)
{
	*spread = (struct ts_spread){ .bins = calloc(TS_SPREAD_BINS, sizeof(*spread->bins)),
				      .nr_bins = TS_SPREAD_BINS };
	return spread->bins ? TS_OK : ts_fail_nomem(err);
}

void ts_spread_add(struct ts_spread *spread, int64_t number)
{
	double from_mean = (double)number - spread->mean;

	spread->min = spread->nr == 0 ? number : TS_MIN(spread->min, number);
	spread->max = spread->nr == 0 ? number : TS_MAX(spread->max, number);
	spread->nr++;
	spread->sum = ts_i64_add(spread->sum, number);
	spread->mean += from_mean / (double)spread->nr;
	spread->squares += from_mean * ((double)number - spread->mean);
	if (spread->bins)
		spread->bins[spread_bin_of(number)]++;
}

void ts_spread_merge(struct ts_spread *into, const struct ts_spread *from)
{
	double a = (double)into->nr, b = (double)from->nr, apart = from->mean - into->mean;

	if (from->nr == 0)
		return;
	into->min = into->nr == 0 ? from->min : TS_MIN(into->min, from->min);
	into->max = into->nr == 0 ? from->max : TS_MAX(into->max, from->max);
	into->nr += from->nr;
	into->sum = ts_i64_add(into->sum, from->sum);
	into->squares += from->squares + apart * apart * a * b / (a + b);
	into->mean += apart * b / (a + b);
	for (size_t i = 0; into->bins && from->bins && i < TS_SPREAD_BINS; i++)
		into->bins[i] += from->bins[i];
}

double ts_spread_mean(const struct ts_spread *spread)
{
	return spread->nr > 0 ? (double)spread->sum / (double)spread->nr : NAN;
}

double ts_spread_deviation(const struct ts_spread *spread)
{
	if (spread->nr == 0)
		return NAN;
	return spread->nr > 1 ? sqrt(spread->squares / (double)(spread->nr - 1)) : 0;
}

int64_t ts_spread_percentile(const struct ts_spread *spread, double share)
{
	double wanted = share * (double)spread->nr;
	uint64_t seen = 0;

	TS_ASSERT(share >= 0 && share <= 1);
	if (spread->nr == 0 || !spread->bins)
		return -1;
	for (size_t i = 0; i < TS_SPREAD_BINS; i++) {
		seen += spread->bins[i];
		if (seen > 0 && (double)seen >= wanted)
			return TS_MIN(TS_MAX(spread_number_of(i), spread->min), spread->max);
	}
	return spread->max;
}

#define TS_SELF struct ts_spread
static bool is_spread(const void *self)
{
	const struct ts_spread *spread = self;

	return spread->nr_bins == 0 || spread->nr_bins == TS_SPREAD_BINS;
}
TS_RECORD_AS(ts_spread_record, spread, TS_VALID_IF(is_spread), TS_NUMBER(1, nr, TS_BY_HAND),
	     TS_NUMBER(2, sum, TS_BY_HAND), TS_NUMBER(3, min, TS_BY_HAND),
	     TS_NUMBER(4, max, TS_BY_HAND), TS_NUMBER(5, mean, TS_BY_HAND),
	     TS_NUMBER(6, squares, TS_BY_HAND),
	     TS_ARRAY(7, bins, nr_bins, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

static void swap(int64_t *a, int64_t *b)
{
	int64_t was = *a;

	*a = *b;
	*b = was;
}

/* The middle one of the first, the middle and the last: sorted and equal numbers are divided well. */
static int64_t pivot_of(const int64_t *numbers, size_t low, size_t high)
{
	int64_t a = numbers[low], b = numbers[low + (high - low) / 2], c = numbers[high];

	return TS_MAX(TS_MIN(a, b), TS_MIN(TS_MAX(a, b), c));
}

/* Hoare's selection; where his divisions are bad too often, by sorting. */
int64_t ts_select(int64_t *numbers, size_t nr, size_t at)
{
	size_t low = 0, high = nr - 1;

	TS_ASSERT(numbers && at < nr);
	for (int rounds = 128; low < high; rounds--) {
		int64_t pivot = pivot_of(numbers, low, high);
		size_t i = low, j = high;

		if (rounds == 0) {
			qsort(numbers + low, high - low + 1, sizeof(*numbers), ts_i64_order);
			break;
		}
		while (true) {
			while (numbers[i] < pivot)
				i++;
			while (numbers[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&numbers[i++], &numbers[j--]);
		}
		if (at <= j)
			high = j;
		else
			low = j + 1;
	}
	return numbers[at];
}

int64_t ts_median_of(int64_t *numbers, size_t nr)
{
	int64_t low, high;

	if (nr == 0)
		return 0;
	high = low = ts_select(numbers, nr, nr / 2);
	if (nr % 2 == 0) /* what stands before it is not above it */
		low = ts_select(numbers, nr / 2, nr / 2 - 1);
	return low + (int64_t)llround((double)ts_i64_sub(high, low) / 2);
}
