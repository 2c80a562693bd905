/* SPDX-License-Identifier: MIT */
/* Bins: nothing is lost, whatever is added and however often they fold. */
#include "tests/test.h"
#include "result/result.h"

#define SECOND INT64_C(1000000000000) /* in ps */

static double sum_of(const struct ts_bins *bins)
{
	double sum = 0;

	for (size_t i = 0; i < TS_BINS; i++)
		sum += bins->amount[i];
	return sum;
}

static void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-9 * fmax(1, fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

TEST(amount_is_spread_over_the_bins_it_covers)
{
	struct ts_bins bins;

	ts_bins_init(&bins, 100, 10);
	ts_bins_add(&bins, 105, 125, 40); /* half a bin, a bin, half a bin: 2 a picosecond */
	assert_int_equal(bins.nr, 3);
	assert_near(bins.amount[0], 10);
	assert_near(bins.amount[1], 20);
	assert_near(bins.amount[2], 10);
	ts_bins_add(&bins, 110, 120, 1); /* ends on an edge: no bin behind it */
	assert_near(bins.amount[1], 21);
	assert_int_equal(bins.nr, 3);
}

TEST(moment_without_length_falls_into_one_bin)
{
	struct ts_bins bins;

	ts_bins_init(&bins, 0, 10);
	ts_bins_add(&bins, 20, 20, 5);
	ts_bins_add(&bins, 20, 10, 2); /* ends before it starts: as if without length */
	assert_near(bins.amount[2], 7);
	assert_int_equal(bins.nr, 3);
}

TEST(time_before_the_origin_counts_as_its_first_moment)
{
	struct ts_bins bins;

	ts_bins_init(&bins, 100, 10);
	ts_bins_add(&bins, 90, 110, 20);
	ts_bins_add(&bins, 0, 50, 3);
	assert_near(bins.amount[0], 23);
	assert_int_equal(bins.nr, 1);
}

TEST(bins_fold_in_pairs_when_time_runs_past_the_last)
{
	struct ts_bins bins;

	ts_bins_init(&bins, 0, 10);
	ts_bins_add(&bins, 0, 10, 1);
	ts_bins_add(&bins, 10, 20, 2);
	ts_bins_add(&bins, 20, 30, 4);
	ts_bins_add(&bins, 10239, 10240, 8); /* the last moment of the last bin */
	assert_int_equal(bins.width_ps, 10);
	assert_int_equal(bins.nr, 1024);
	ts_bins_add(&bins, 10240, 10241, 16); /* one more */
	assert_int_equal(bins.width_ps, 20);
	assert_int_equal(bins.nr, 513);
	assert_near(bins.amount[0], 3);
	assert_near(bins.amount[1], 4);
	assert_near(bins.amount[511], 8);
	assert_near(bins.amount[512], 16);
}

TEST(width_may_be_left_to_the_first_amount)
{
	struct ts_bins bins;

	ts_bins_init(&bins, 0, 0);
	ts_bins_add(&bins, 0, INT64_MAX, 1000);
	assert_true(bins.nr <= TS_BINS);
	assert_near(sum_of(&bins), 1000);
	assert_near(bins.amount[0], bins.amount[1]);
}

TEST(numbers_that_are_none_are_left_out)
{
	struct ts_bins bins;

	ts_bins_init(&bins, 0, 1);
	ts_bins_add(&bins, 0, 1, NAN);
	ts_bins_add(&bins, 0, 1, INFINITY);
	assert_near(sum_of(&bins), 0);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 20;
}

TEST(sum_is_kept_whatever_is_added)
{
	uint64_t seed = 11;

	for (int round = 0; round < 200; round++) {
		struct ts_bins bins;
		double added = 0;

		ts_bins_init(&bins, (int64_t)(next_random(&seed) % 1000), 1 + round % 7);
		for (int i = 0; i < 500; i++) {
			int64_t start = (int64_t)(next_random(&seed) >> next_random(&seed) % 44);
			int64_t end =
				start + (int64_t)(next_random(&seed) >> next_random(&seed) % 44);
			double amount = (double)(next_random(&seed) % 100000) / 7;

			ts_bins_add(&bins, start, end, amount);
			added += amount;
		}
		assert_near(sum_of(&bins), added);
		for (size_t i = 0; i < TS_BINS; i++)
			assert_true(bins.amount[i] >= 0 && (i < bins.nr || bins.amount[i] == 0));
	}
}

TEST(ends_of_time_do_not_overflow)
{
	struct ts_bins bins;

	ts_bins_init(&bins, INT64_MIN, 1);
	ts_bins_add(&bins, INT64_MIN, INT64_MAX, 1);
	ts_bins_add(&bins, INT64_MAX, INT64_MAX, 1);
	assert_near(sum_of(&bins), 2);
	assert_true(bins.nr <= TS_BINS);
}

TEST(points_are_rates_and_end_in_zero)
{
	struct ts_results results;
	struct ts_result *result;
	struct ts_track *track;
	struct ts_bins bins;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", "R");
	track = ts_result_track(result, TS_TRACK_COUNTER, "c", 0, 0);
	ts_bins_init(&bins, 5000000, 1000000); /* bins of a microsecond */
	ts_bins_add(&bins, 6000000, 8000000, 6);
	ts_bins_add(&bins, 9000000, 10000000, 1);
	assert_true(ts_bins_finish(&bins, result, track, 1e-6)); /* millions a second */
	assert_int_equal(track->nr_points, 5);
	assert_int_equal(track->points[0].at_ps, 5000000);
	assert_near(track->points[0].value, 0);
	assert_int_equal(track->points[1].at_ps, 6000000); /* and 7000000: the same, not said */
	assert_near(track->points[1].value, 3);
	assert_int_equal(track->points[2].at_ps, 8000000);
	assert_near(track->points[2].value, 0);
	assert_int_equal(track->points[3].at_ps, 9000000);
	assert_near(track->points[3].value, 1);
	assert_int_equal(track->points[4].at_ps, 10000000);
	assert_near(track->points[4].value, 0);
	ts_results_release(&results);
}

TEST(empty_bins_give_no_points)
{
	struct ts_results results;
	struct ts_result *result;
	struct ts_track *track;
	struct ts_bins bins;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", "R");
	track = ts_result_track(result, TS_TRACK_COUNTER, "c", 0, 0);
	ts_bins_init(&bins, 0, 0);
	assert_true(ts_bins_finish(&bins, result, track, 1));
	assert_int_equal(track->nr_points, 0);
	assert_false(ts_bins_finish(&bins, result, NULL, 1)); /* a track that found no memory */
	assert_true(results.failed);
	ts_results_release(&results);
}

/* Of ten bins of 1 s the first five are full. A peak a second of 10; the second quantity has none. */
TEST(what_passes_a_peak_goes_to_bins_that_have_room)
{
	static const struct {
		double amount, full, empty; /* what the bins of each half then hold */
	} rows[] = {
		{ 10, 10, 2 },
		{ 40, 10, 8 },
		{ 60, 12, 10 }, /* there is no more room: the rest stays where it is even */
	};
	static const double before[] = { 10, 0 }, peak[] = { 10, NAN };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		double amount[] = { rows[i].amount, 2 * rows[i].amount };
		struct ts_bins bins[2];

		for (size_t k = 0; k < 2; k++)
			ts_bins_init(&bins[k], 0, SECOND);
		for (int64_t at = 0; at < 5; at++)
			ts_bins_add_each(bins, 2, at * SECOND, (at + 1) * SECOND, before);
		ts_bins_add_below(bins, 2, 0, 10 * SECOND, amount, peak);
		assert_near(sum_of(&bins[0]), 50 + amount[0]);
		assert_near(sum_of(&bins[1]), amount[1]);
		for (size_t at = 0; at < 10; at++) {
			double here = at < 5 ? rows[i].full : rows[i].empty;

			assert_near(bins[0].amount[at], here);
			assert_near(bins[1].amount[at], 2 * (at < 5 ? here - 10 : here));
		}
	}
}

/* Times that come mostly in order, some of them again and before the first, until bins were joined several times. */
TEST(quantities_together_are_as_each_alone)
{
	struct ts_bins together[2], alone[2];
	uint32_t seed = 1;
	int64_t at = 0;

	for (size_t k = 0; k < 2; k++) {
		ts_bins_init(&together[k], 1000, 7);
		ts_bins_init(&alone[k], 1000, 7);
	}
	for (size_t i = 0; i < 20000; i++) {
		double amount[2] = { 1 + i % 5, i % 3 };
		int64_t back, dur;

		seed = seed * 1664525 + 1013904223;
		back = seed >> 28 == 0 ? 400 : 0;
		dur = seed >> 20 & 15;
		at += seed >> 24 & 7;
		ts_bins_add_each(together, 2, at - back, at - back + dur, amount);
		for (size_t k = 0; k < 2; k++)
			ts_bins_add(&alone[k], at - back, at - back + dur, amount[k]);
	}
	assert_true(together[0].width_ps > 7);
	for (size_t k = 0; k < 2; k++) {
		assert_int_equal(together[k].nr, alone[k].nr);
		assert_int_equal(together[k].width_ps, alone[k].width_ps);
		for (size_t i = 0; i < TS_BINS; i++)
			assert_near(together[k].amount[i], alone[k].amount[i]);
	}
}

/* Amounts that meet inside a bin, as launches in a queue do: what rounding leaves of them is not drawn. */
TEST(what_fills_a_bin_is_a_whole_number)
{
	struct ts_results results;
	struct ts_result *result;
	struct ts_track *track;
	struct ts_bins bins;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", "R");
	track = ts_result_track(result, TS_TRACK_COUNTER, "queue", 0, 0);
	ts_bins_init(&bins, 0, 1000000);
	for (int64_t at = 0; at < 5000000; at += 333333)
		ts_bins_add(&bins, at, at + 333333, 333333e-12);
	assert_true(ts_bins_finish(&bins, result, track, 1));
	assert_true(track->points[0].value == 1);
	assert_int_equal(track->points[1].at_ps, 5000000); /* one value until then */
	ts_results_release(&results);
}
