/* SPDX-License-Identifier: MIT */
/* Spreads against the same figures worked out from all of the numbers. */
#include "analysis/kit/spread.h"
#include "base/record.h"
#include "tests/base/rng.h"

#include <math.h>
#include <stdlib.h>

#include "tests/test.h"

#define NR 5000

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* From 1 to 2^40, small ones as often as large ones. */
static void some_numbers(int64_t numbers[NR])
{
	struct rng rng = rng_of(7);

	for (size_t i = 0; i < NR; i++)
		numbers[i] = (int64_t)(1 + rng_below(&rng, UINT64_C(2) << rng_below(&rng, 40)));
}

static void assert_close(double got, double wanted, double share)
{
	if (!(fabs(got - wanted) <= share * fabs(wanted)))
		fail_msg("%.17g is not %.17g", got, wanted);
}

static void assert_figures(const struct ts_spread *spread, const int64_t numbers[NR])
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < NR; i++)
		mean += (double)numbers[i] / NR;
	for (size_t i = 0; i < NR; i++)
		squares += ((double)numbers[i] - mean) * ((double)numbers[i] - mean);
	assert_int_equal(spread->nr, NR);
	assert_int_equal(spread->min, numbers[0]);
	assert_int_equal(spread->max, numbers[NR - 1]);
	assert_close(ts_spread_mean(spread), mean, 1e-12);
	assert_close(ts_spread_deviation(spread), sqrt(squares / (NR - 1)), 1e-9);
	for (int percent = 1; percent < 100; percent++)
		assert_close((double)ts_spread_percentile(spread, percent / 100.0),
			     (double)numbers[(size_t)ceil(percent / 100.0 * NR) - 1], 1.0 / 62);
}

TEST(figures_are_those_of_the_numbers)
{
	int64_t numbers[NR];
	struct ts_spread spread;

	some_numbers(numbers);
	assert_int_equal(ts_spread_init(&spread, NULL), TS_OK);
	for (size_t i = 0; i < NR; i++)
		ts_spread_add(&spread, numbers[i]);
	qsort(numbers, NR, sizeof(*numbers), ascending);
	assert_figures(&spread, numbers);
	ts_record_release(&ts_spread_record, &spread);
}

TEST(two_merged_are_one_of_all)
{
	int64_t numbers[NR];
	struct ts_spread a, b;

	some_numbers(numbers);
	assert_int_equal(ts_spread_init(&a, NULL), TS_OK);
	assert_int_equal(ts_spread_init(&b, NULL), TS_OK);
	for (size_t i = 0; i < NR; i++)
		ts_spread_add(i % 3 ? &a : &b, numbers[i]);
	ts_spread_merge(&a, &b);
	qsort(numbers, NR, sizeof(*numbers), ascending);
	assert_figures(&a, numbers);
	ts_record_release(&ts_spread_record, &a);
	ts_record_release(&ts_spread_record, &b);
}

TEST(of_no_numbers_nothing_is_known)
{
	struct ts_spread spread = { .nr = 0 }, other = { .nr = 0 };

	ts_spread_merge(&spread, &other);
	assert_true(isnan(ts_spread_mean(&spread)));
	assert_true(isnan(ts_spread_deviation(&spread)));
	assert_int_equal(ts_spread_percentile(&spread, 0.5), -1);
}

TEST(one_number_does_not_deviate)
{
	struct ts_spread spread = { .nr = 0 };

	ts_spread_add(&spread, -5);
	assert_true(ts_spread_mean(&spread) < -4.9 && ts_spread_deviation(&spread) <= 0);
	assert_int_equal(ts_spread_percentile(&spread, 0.5), -1); /* it has no bins */
}

TEST(a_median_of_an_even_number_lies_between)
{
	int64_t odd[] = { 9, 1, 4 }, even[] = { 8, 1, 5, 4 }, one[] = { 7 };

	assert_int_equal(ts_median_of(odd, 3), 4);
	assert_int_equal(ts_median_of(even, 4), 5); /* 4.5, rounded away from 0 */
	assert_int_equal(ts_median_of(one, 1), 7);
	assert_int_equal(ts_median_of(one, 0), 0);
}
