/* SPDX-License-Identifier: MIT */
/*
 * The rank test. Expected values are counted by hand where that can be done, else scipy's (1.17):
 * stats.mannwhitneyu(b, a, method=...), and for ties stats.permutation_test over the same statistic.
 */
#include <math.h>

#include "tests/test.h"
#include "compare/rank.h"

static struct ts_rank rank_of(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	struct ts_rank rank;

	assert_int_equal(ts_rank_test(a, nr_a, b, nr_b, &rank, NULL), TS_OK);
	return rank;
}

static void assert_near(double ours, double theirs)
{
	if (!(fabs(ours - theirs) <= 1e-9 * fabs(theirs)))
		fail_msg("%.17g is not %.17g", ours, theirs);
}

/* 3 of 6 can be chosen in 20 ways; the three largest are one of them, the three smallest another. */
TEST(all_of_one_larger_is_counted_by_hand)
{
	const double a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 };
	struct ts_rank rank = rank_of(a, 3, b, 3);

	assert_true(rank.exact);
	assert_near(rank.u, 9);
	assert_near(rank.effect, 1);
	assert_near(rank.p, 2.0 / 20);
	assert_near(rank.p_least, 2.0 / 20);
	assert_near(rank_of(b, 3, a, 3).effect, -1);
}

TEST(the_same_samples_do_not_differ)
{
	const double a[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	struct ts_rank rank = rank_of(a, 8, a, 8);

	assert_near(rank.p, 1);
	assert_true(rank.effect == 0);
}

TEST(samples_all_alike_do_not_differ)
{
	double a[40];

	for (size_t i = 0; i < 40; i++)
		a[i] = 7;
	assert_near(rank_of(a, 3, a, 4).p, 1);
	assert_near(rank_of(a, 40, a, 40).p, 1); /* the approximation has no variance there */
}

TEST(nothing_to_compare_is_unknown)
{
	const double a[] = { 1 };

	assert_true(isnan(rank_of(a, 1, a, 0).p));
	assert_true(isnan(rank_of(a, 0, a, 1).effect));
}

/* Ways to choose 2 of {1, 2, 2, 3} (ranks 1, 2.5, 2.5, 4): sums 3.5 3.5 5 5 6.5 6.5. Seen: 2 and 3. */
TEST(ties_are_counted_by_hand)
{
	const double a[] = { 1, 2 }, b[] = { 2, 3 };
	struct ts_rank rank = rank_of(a, 2, b, 2);

	assert_near(rank.u, 3.5);
	assert_near(rank.p, 2 * 2.0 / 6);
}

TEST(small_samples_are_as_scipy_has_them)
{
	static const struct {
		double a[8], b[8];
		size_t nr_a, nr_b;
		double u, p;
	} rows[] = {
		{ { 10.1, 9.8, 10.4, 11.2, 9.9, 10.0 },
		  { 9.7, 9.6, 10.2, 9.5, 9.65, 9.55, 10.05 },
		  6,
		  7,
		  7,
		  0.05128205128205128 },
		/* with ties: over all 792 and 462 ways to deal the ranks out */
		{ { 2.85, 2.86, 2.84, 2.855, 2.87 },
		  { 2.88, 2.86, 2.9, 2.95, 2.83, 2.91, 2.99 },
		  5,
		  7,
		  28.5,
		  0.08333333333333333 },
		{ { 1, 1, 2, 2, 3 }, { 2, 3, 3, 4, 4, 5 }, 5, 6, 27, 0.04329004329004329 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_rank rank = rank_of(rows[i].a, rows[i].nr_a, rows[i].b, rows[i].nr_b);

		assert_true(rank.exact);
		assert_near(rank.u, rows[i].u);
		assert_near(rank.p, rows[i].p);
	}
}

/* 105 samples of which 81 values are different, and the same in steps of four: many ties. */
TEST(many_samples_are_approximated_as_scipy_does)
{
	double a[60], b[45];
	struct ts_rank rank;

	for (int i = 0; i < 60; i++)
		a[i] = i * 37 % 101;
	for (int i = 0; i < 45; i++)
		b[i] = i * 53 % 89 + 14;
	rank = rank_of(a, 60, b, 45);
	assert_false(rank.exact);
	assert_near(rank.u, 1540);
	assert_near(rank.p, 0.21977217859803544);
	for (int i = 0; i < 60; i++)
		a[i] = i * 37 % 101 / 4 * 4;
	for (int i = 0; i < 45; i++)
		b[i] = i * 53 % 89 / 4 * 4;
	rank = rank_of(a, 60, b, 45);
	assert_near(rank.u, 1164.5);
	assert_near(rank.p, 0.2305517147081464);
}
