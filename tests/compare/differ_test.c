/* SPDX-License-Identifier: MIT */
/*
 * Whether steps differ. Expected values are worked out by hand: a binomial's tails, Wald and Wolfowitz's
 * mean and variance, ways to deal ranks out.
 */
#include <math.h>

#include "tests/test.h"
#include "compare/differ.h"

#define MOST 64

static struct ts_differ differ_of(const double *a, const int64_t *a_ns, size_t nr_a,
				  const double *b, const int64_t *b_ns, size_t nr_b)
{
	const struct ts_step_times as = { a, a_ns, nr_a }, bs = { b, b_ns, nr_b };
	struct ts_differ differ;

	assert_int_equal(ts_differ(&as, &bs, &differ, NULL), TS_OK);
	return differ;
}

static void assert_near(double ours, double theirs)
{
	if (!(fabs(ours - theirs) <= 1e-9 * fabs(theirs)))
		fail_msg("%.17g is not %.17g", ours, theirs);
}

/* Steps that change sides all the time count each; 2 of the 16 over 8 ways have one set below the other. */
TEST(steps_without_an_order_count_each)
{
	const double a[] = { 20, 23, 21, 24, 20.5, 23.5, 21.5, 24.5 };
	const double b[] = { 10, 13, 11, 14, 10.5, 13.5, 11.5, 14.5 };
	struct ts_differ differ = differ_of(a, NULL, 8, b, NULL, 8);

	assert_int_equal(differ.counted[0], 8);
	assert_int_equal(differ.counted[1], 8);
	assert_int_equal(differ.turns, 0);
	assert_near(differ.rank.p, 2.0 / 12870);
	/* of 8, nothing may be left out: 2 * 0.5^8 is 0.8 %, with one at each end it is 7 % */
	assert_near(differ.ratio_low, 20 / 14.5);
	assert_near(differ.ratio_high, 24.5 / 10);
}

/*
 * Sixteen slow steps in one stretch, between sixteen fast ones: 2 changes where 16 are usual. q is
 * 1/16, cot^2(pi/32) is 103: the run has shown its machine once.
 */
TEST(a_stall_that_lasts_is_one_observation)
{
	double a[MOST], b[MOST];
	struct ts_differ differ;

	for (size_t i = 0; i < 32; i++) {
		a[i] = (i >= 8 && i < 24 ? 20 : 1) + 0.01 * (double)(i % 3);
		b[i] = 0.5 + 0.01 * (double)(i * 7 % 5);
	}
	differ = differ_of(a, NULL, 32, b, NULL, 32);
	assert_int_equal(differ.counted[0], 1);
	assert_int_equal(differ.counted[1], 32);
	assert_true(differ.rank.p > 0.05); /* 2 / 33, where steps by themselves have 1e-18 */
	assert_true(isnan(differ.ratio_low) && isnan(differ.ratio_high));
}

/* Stretches of four: 7 changes of 16 usual ones. cot^2(7/64 pi) is 7.8: blocks of 8, four of them. */
TEST(shorter_stretches_make_shorter_blocks)
{
	double a[MOST], b[MOST];
	struct ts_differ differ;

	for (size_t i = 0; i < 32; i++) {
		a[i] = (i / 4 % 2 ? 4 : 1) + 0.001 * (double)i;
		b[i] = a[i];
	}
	differ = differ_of(a, NULL, 32, b, NULL, 32);
	assert_int_equal(differ.counted[0], 4);
	assert_int_equal(differ.counted[1], 4);
	assert_near(differ.rank.p, 1);
}

/* Each step is a little slower than the one before, and the runs differ a thousand times as much. */
TEST(a_drift_that_does_not_matter_makes_no_blocks)
{
	double a[10], b[10];
	struct ts_differ differ;

	for (size_t i = 0; i < 10; i++) {
		a[i] = 10000 + (double)i;
		b[i] = 20000 + (double)i;
	}
	differ = differ_of(a, NULL, 10, b, NULL, 10);
	assert_int_equal(differ.counted[0], 10);
	assert_near(differ.rank.p, 2.0 / 184756);
	differ = differ_of(a, NULL, 10, a, NULL, 10); /* where nothing differs, all of it matters */
	assert_int_equal(differ.counted[0], 1);
}

/* Both are slow during a stall when they take turns: the ratio of each turn is the programs' own. */
TEST(turns_rule_a_stall_out)
{
	double a[10], b[10];
	int64_t a_ns[10], b_ns[10];
	struct ts_differ differ;

	for (size_t i = 0; i < 10; i++) {
		double stall = i >= 3 && i < 7 ? 50 : 1;

		a[i] = 2 * stall * (1 + 0.01 * (double)i);
		b[i] = stall;
		a_ns[i] = (int64_t)i * 100;
		b_ns[i] = (int64_t)i * 100 + 50;
	}
	differ = differ_of(a, a_ns, 10, b, b_ns, 10);
	assert_int_equal(differ.turns, 10);
	/* of 10, one at each end may be left out: 2 * (1 + 10) / 1024 is 2.1 % */
	assert_near(differ.ratio_low, 2 * 1.01);
	assert_near(differ.ratio_high, 2 * 1.08);
}

/* Turns of several steps count once each. */
TEST(a_turn_is_the_median_of_its_steps)
{
	const double a[] = { 4, 5, 9, 4, 6, 5 }, b[] = { 2, 3, 2 };
	const int64_t a_ns[] = { 0, 1, 2, 10, 11, 12 }, b_ns[] = { 5, 6, 15 };
	struct ts_differ differ = differ_of(a, a_ns, 6, b, b_ns, 3);

	assert_int_equal(differ.turns, 2);
	assert_int_equal(differ.counted[0], 2);
	assert_int_equal(differ.counted[1], 2);
	assert_true(differ.rank.p > 0.05); /* two turns tell nothing */
}

TEST(one_run_after_the_other_is_one_turn)
{
	const double a[] = { 20, 21, 20, 21, 20, 21 }, b[] = { 1, 2, 1, 2, 1, 2 };
	const int64_t a_ns[] = { 0, 1, 2, 3, 4, 5 }, b_ns[] = { 10, 11, 12, 13, 14, 15 };
	struct ts_differ differ = differ_of(a, a_ns, 6, b, b_ns, 6);

	assert_int_equal(differ.turns, 1);
	assert_int_equal(differ.counted[0], 6);
	assert_true(differ.rank.p < 0.05);
	assert_int_equal(differ_of(b, b_ns, 6, a, a_ns, 6).turns, 1); /* whoever was first */
}

TEST(nothing_to_compare_is_unknown)
{
	const double a[] = { 1 };
	struct ts_differ differ = differ_of(a, NULL, 1, a, NULL, 0);

	assert_true(isnan(differ.rank.p) && isnan(differ.ratio_low));
}
