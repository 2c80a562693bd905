/* SPDX-License-Identifier: MIT */
/* Levels: the highest of each stretch, whatever is set and however often they fold. */
#include "tests/test.h"
#include "base/bytes.h"
#include "result/result.h"

TEST(a_level_holds_until_it_is_set_again)
{
	struct ts_levels levels = { .width_ps = 0 };

	ts_levels_set(&levels, 100, 7);
	ts_levels_set(&levels, 103, 2);
	ts_levels_set(&levels, 105, 5);
	assert_int_equal(levels.nr, 6);
	assert_int_equal(ts_levels_time(&levels, 0), 100);
	assert_int_equal(levels.high[0], 7);
	assert_int_equal(levels.high[2], 7);
	assert_int_equal(levels.high[3], 2);
	assert_int_equal(levels.high[4], 2);
	assert_int_equal(levels.high[5], 5);
}

TEST(unknown_is_below_all)
{
	struct ts_levels levels = { .width_ps = 0 };

	ts_levels_set(&levels, 0, -1);
	ts_levels_set(&levels, 1, -1);
	ts_levels_set(&levels, 2, 3);
	assert_int_equal(levels.high[1], -1);
	assert_int_equal(levels.high[2], 3);
}

TEST(time_before_the_first_counts_as_its_moment)
{
	struct ts_levels levels = { .width_ps = 0 };

	ts_levels_set(&levels, 100, 7);
	ts_levels_set(&levels, 50, 9);
	assert_int_equal(levels.nr, 1);
	assert_int_equal(levels.high[0], 9);
}

TEST(all_of_time_fits)
{
	struct ts_levels levels = { .width_ps = 0 };

	ts_levels_set(&levels, -(INT64_C(1) << 61), 1);
	ts_levels_set(&levels, INT64_C(1) << 61, 2);
	assert_true(levels.nr > 1 && levels.nr <= TS_LEVELS);
	assert_int_equal(levels.high[0], 1);
	assert_int_equal(levels.high[levels.nr - 1], 2);
	assert_true(ts_levels_time(&levels, levels.nr - 1) <= INT64_C(1) << 61);
}

/* Against every level that was set, for each bin: the highest that held at some moment of it. */
TEST(folded_bins_have_the_highest_of_their_stretch)
{
	enum { NR = 3000 };
	static int64_t at[NR], value[NR];
	struct ts_levels levels = { .width_ps = 0 };
	uint64_t seed = 1;

	for (size_t i = 0; i < NR; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		at[i] = (i ? at[i - 1] : 17) + (int64_t)(seed >> 33) % 5000;
		value[i] = (int64_t)(seed >> 40) % 1000;
		ts_levels_set(&levels, at[i], value[i]);
	}
	for (size_t bin = 0; bin < levels.nr; bin++) {
		int64_t from = ts_levels_time(&levels, bin), to = from + levels.width_ps, most = -1;

		for (size_t i = 0; i < NR; i++)
			if (at[i] < to && (i + 1 == NR || at[i + 1] > from || at[i] == from))
				most = TS_MAX(most, value[i]);
		assert_int_equal(levels.high[bin], most);
	}
}
