/* SPDX-License-Identifier: MIT */
/* Groups of times, by hand: the one with the most events is the capture. */
#include "model/capture_time.h"

#include "tests/test.h"

TEST(times_near_each_other_are_one_group)
{
	struct ts_time_groups groups = { .gap = 10 };
	const struct ts_time_group *most;

	assert_null(ts_time_groups_most(&groups));
	ts_time_groups_add(&groups, 0, 1);
	ts_time_groups_add(&groups, 1000, 1);
	ts_time_groups_add(&groups, 1009, 1);
	ts_time_groups_add(&groups, 1018, 1);
	most = ts_time_groups_most(&groups);
	assert_int_equal(most->first, 1000);
	assert_int_equal(most->last, 1018);
	assert_int_equal(most->nr, 3);
}

/* In whatever order they come: what lies between two joins them. */
TEST(groups_grow_together)
{
	struct ts_time_groups groups = { .gap = 10 };

	for (int64_t i = 0; i < 8; i++)
		ts_time_groups_add(&groups, i * 20, 1);
	for (int64_t i = 0; i < 7; i++)
		ts_time_groups_add(&groups, i * 20 + 10, 1);
	assert_int_equal(ts_time_groups_most(&groups)->first, 0);
	assert_int_equal(ts_time_groups_most(&groups)->last, 140);
	assert_int_equal(ts_time_groups_most(&groups)->nr, 15);
}

TEST(of_as_many_the_latest_counts_and_more_groups_than_there_is_room_for_count_nowhere)
{
	struct ts_time_groups groups = { .gap = 10 };

	for (int64_t i = 0; i < 3 * TS_TIME_GROUPS; i++) {
		uint32_t at = ts_time_groups_add(&groups, i * 100, 1);

		assert_int_equal(at, i < TS_TIME_GROUPS ? i : TS_TIME_GROUPS);
	}
	assert_int_equal(ts_time_groups_most(&groups)->first, (TS_TIME_GROUPS - 1) * 100);
	ts_time_groups_add(&groups, INT64_MIN, 1);
	ts_time_groups_add(&groups, INT64_MAX, 1);
	assert_int_equal(groups.nr, TS_TIME_GROUPS);
}

TEST(what_the_profiler_says_of_itself_counts_where_it_fits_the_events)
{
	struct ts_capture_time time = { 0, 100 * TS_PS_PER_S, 90 * TS_PS_PER_S };
	struct ts_capture_time narrow =
		ts_capture_time_between(time, 10 * TS_PS_PER_S, 12 * TS_PS_PER_S);

	assert_int_equal(narrow.first_ps, 7 * TS_PS_PER_S);
	assert_int_equal(narrow.last_ps, 15 * TS_PS_PER_S);
	assert_int_equal(narrow.end_ps, 15 * TS_PS_PER_S);
	narrow = ts_capture_time_between(time, 500 * TS_PS_PER_S, 501 * TS_PS_PER_S);
	assert_int_equal(narrow.last_ps, time.last_ps);
}

TEST(samples_stand_for_all)
{
	struct ts_time_samples samples = { .nr = 0 };

	for (int64_t i = 0; i < 100000; i++)
		ts_time_samples_add(&samples, i);
	assert_true(samples.nr >= TS_TIME_SAMPLES / 2 && samples.nr <= TS_TIME_SAMPLES);
	for (size_t i = 1; i < samples.nr; i++)
		assert_int_equal(samples.items[i] - samples.items[i - 1], samples.stride);
	assert_true(ts_time_samples_are_in(&samples, 0, 95000));
	assert_false(ts_time_samples_are_in(&samples, 0, 80000));
}
