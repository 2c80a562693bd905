/* SPDX-License-Identifier: MIT */
/* Slices: bounded, sorted, disjoint, and never claiming time that is not theirs. */
#include "tests/test.h"
#include "result/result.h"

static void assert_slice(const struct ts_slice *slice, int64_t start_ps, int64_t end_ps,
			 uint32_t label, uint32_t nr_events, int64_t own_ps)
{
	assert_int_equal(slice->start_ps, start_ps);
	assert_int_equal(slice->end_ps, end_ps);
	assert_int_equal(slice->label, label);
	assert_int_equal(slice->nr_events, nr_events);
	assert_int_equal(slice->own_ps, own_ps);
}

TEST(below_the_budget_nothing_is_changed)
{
	struct ts_slices slices = { .budget = 10 };

	assert_true(ts_slices_add(&slices, 0, 10, 1));
	assert_true(ts_slices_add(&slices, 10, 11, 2)); /* short, but its own */
	assert_true(ts_slices_add(&slices, 20, 30, 2)); /* same label, does not touch */
	assert_int_equal(slices.nr, 3);
	assert_slice(&slices.items[1], 10, 11, 2, 1, 1);
	assert_int_equal(slices.nr_folded, 0);
	ts_slices_release(&slices);
}

TEST(neighbours_of_one_label_that_touch_are_one)
{
	struct ts_slices slices = { .budget = 10 };

	ts_slices_add(&slices, 0, 10, 1);
	ts_slices_add(&slices, 10, 20, 1);
	ts_slices_add(&slices, 20, 30, 1);
	assert_int_equal(slices.nr, 1);
	assert_slice(&slices.items[0], 0, 30, 1, 3, 30);
	assert_int_equal(slices.nr_folded, 0); /* nothing was lost */
	ts_slices_release(&slices);
}

TEST(overlap_is_cut_from_the_later_one)
{
	struct ts_slices slices = { .budget = 10 };

	ts_slices_add(&slices, 0, 10, 1);
	ts_slices_add(&slices, 5, 15, 2);
	ts_slices_add(&slices, 6, 12, 3); /* nothing is left of it */
	assert_int_equal(slices.nr, 2);
	assert_slice(&slices.items[1], 10, 15, 2, 2, 5);
	assert_int_equal(slices.nr_folded, 1);
	ts_slices_release(&slices);
}

TEST(empty_slices_and_no_budget_keep_nothing)
{
	struct ts_slices slices = { .budget = 10 }, none = { .budget = 0 };

	assert_true(ts_slices_add(&slices, 5, 5, 1));
	assert_true(ts_slices_add(&slices, 5, 4, 1));
	assert_int_equal(slices.nr, 0);
	assert_true(ts_slices_add(&none, 0, 10, 1));
	assert_int_equal(none.nr, 0);
	ts_slices_release(&slices);
}

TEST(joined_slice_has_the_label_with_most_time)
{
	struct ts_slices slices = { .budget = 1 };

	ts_slices_add(&slices, 0, 10, 1);
	ts_slices_add(&slices, 15, 45, 2);
	ts_slices_add(&slices, 50, 60, 1);
	assert_int_equal(slices.nr, 1);
	assert_slice(&slices.items[0], 0, 60, 2, 3, 30);
	assert_int_equal(slices.nr_folded, 2);
	ts_slices_release(&slices);
}

TEST(long_slices_survive_among_many_short_ones)
{
	struct ts_slices slices = { .budget = 64 };
	bool found = false;

	for (int64_t t = 0; t < 50000; t += 2)
		ts_slices_add(&slices, t, t + 1, 1);
	ts_slices_add(&slices, 50000, 80000, 2);
	for (int64_t t = 80000; t < 100000; t += 2)
		ts_slices_add(&slices, t, t + 1, 1);
	assert_true(slices.nr <= 64);
	for (size_t i = 0; i < slices.nr; i++)
		found |= slices.items[i].label == 2 && slices.items[i].own_ps == 30000;
	assert_true(found);
	ts_slices_release(&slices);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

#define NR_LABELS 5

/* Feeds random slices; ACTUAL gets the time of each label, the count of slices comes back. */
static uint64_t feed(struct ts_slices *slices, uint64_t seed, int64_t actual[NR_LABELS])
{
	uint64_t nr = 200 + next_random(&seed) % 3000;
	unsigned spread = 1 + (unsigned)next_random(&seed) % 20;
	int64_t t = (int64_t)next_random(&seed) - (1 << 30);

	for (uint64_t i = 0; i < nr; i++) {
		int64_t gap = next_random(&seed) % 3 ? 0 : (int64_t)next_random(&seed) >> spread;
		int64_t length =
			1 + ((int64_t)next_random(&seed) >> (spread + next_random(&seed) % 9));
		uint32_t label = (uint32_t)next_random(&seed) % NR_LABELS;

		t += gap;
		assert_true(ts_slices_add(slices, t, t + length, label));
		actual[label] += length;
		t += length;
	}
	return nr;
}

TEST(random_slices_keep_every_promise)
{
	static const size_t budgets[] = { 1, 2, 3, 10, 100, 1000, 100000 };

	for (uint64_t round = 0; round < 700; round++) {
		size_t budget = budgets[round % TS_NELEM(budgets)];
		struct ts_slices slices = { .budget = budget };
		int64_t actual[NR_LABELS] = { 0 }, own[NR_LABELS] = { 0 };
		uint64_t nr = feed(&slices, round, actual), events = 0;

		assert_true(slices.nr > 0 && slices.nr <= budget);
		for (size_t i = 0; i < slices.nr; i++) {
			const struct ts_slice *slice = &slices.items[i];

			assert_true(slice->start_ps < slice->end_ps);
			assert_true(i == 0 || slice->start_ps >= slice[-1].end_ps);
			assert_true(slice->own_ps > 0);
			assert_true(slice->own_ps <= slice->end_ps - slice->start_ps);
			own[slice->label] += slice->own_ps;
			events += slice->nr_events;
		}
		for (size_t i = 0; i < NR_LABELS; i++)
			assert_true(own[i] <= actual[i]);
		assert_int_equal(events, nr);
		assert_true(slices.nr_folded <= nr - slices.nr);
		if (budget >= nr)
			assert_int_equal(slices.nr_folded, 0);
		ts_slices_release(&slices);
	}
}

/* Labels that differ at every edge: nothing joins by itself, so all that is gone was merged away. */
TEST(merged_away_is_what_is_not_shown)
{
	struct ts_slices slices = { .budget = 50 };
	uint64_t seed = 5;
	int64_t t = 0;

	for (uint32_t i = 0; i < 5000; i++) {
		int64_t length = 1 + (int64_t)next_random(&seed) % 1000;

		ts_slices_add(&slices, t, t + length, i);
		t += length;
	}
	assert_true(slices.nr <= 50);
	assert_true(slices.nr >= 10); /* and the budget is used */
	assert_int_equal(slices.nr_folded, 5000 - slices.nr);
	ts_slices_release(&slices);
}

TEST(same_input_gives_the_same_slices)
{
	struct ts_slices a = { .budget = 77 }, b = { .budget = 77 };
	int64_t unused[NR_LABELS] = { 0 };

	feed(&a, 99, unused);
	feed(&b, 99, unused);
	assert_int_equal(a.nr, b.nr);
	assert_memory_equal(a.items, b.items, a.nr * sizeof(*a.items));
	ts_slices_release(&a);
	ts_slices_release(&b);
}

TEST(ends_of_time_do_not_overflow)
{
	struct ts_slices slices = { .budget = 2 };

	ts_slices_add(&slices, INT64_MIN, INT64_MIN + 1, 1);
	ts_slices_add(&slices, 0, 1, 2);
	ts_slices_add(&slices, INT64_MAX - 1, INT64_MAX, 3);
	ts_slices_add(&slices, INT64_MAX, INT64_MAX, 3);
	assert_true(slices.nr > 0 && slices.nr <= 2);
	ts_slices_release(&slices);
}

TEST(finish_moves_them_into_the_track)
{
	struct ts_slices slices = { .budget = 8 };
	struct ts_results results;
	struct ts_result *result;
	struct ts_track *track;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", "R");
	track = ts_result_track(result, TS_TRACK_SLICES, "t", 0, 0);
	ts_slices_add(&slices, 0, 10, 1);
	ts_slices_add(&slices, 3, 8, 1);
	assert_true(ts_slices_finish(&slices, result, track));
	assert_int_equal(slices.nr, 0);
	assert_null(slices.items);
	assert_int_equal(track->nr_slices, 1);
	assert_slice(&track->slices[0], 0, 10, 1, 2, 10);
	assert_int_equal(track->nr_folded, 1);
	assert_true(ts_slices_finish(&slices, result, track)); /* an empty one */
	assert_int_equal(track->nr_slices, 0);
	ts_results_release(&results);
}
