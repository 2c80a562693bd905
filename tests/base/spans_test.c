/* SPDX-License-Identifier: MIT */
/* Spans against a bitmap of the same moments: every operation on many random lists. */
#include "base/spans.h"
#include "tests/base/rng.h"
#include "tests/test.h"

#define NR_MOMENTS 200
#define ROUNDS	   400

struct bitmap {
	bool at[NR_MOMENTS];
};

static void paint(struct bitmap *map, int64_t start, int64_t end)
{
	for (int64_t t = start; t < end; t++)
		map->at[t] = true;
}

static int64_t count(const struct bitmap *map, int64_t start, int64_t end)
{
	int64_t sum = 0;

	for (int64_t t = start; t < end; t++)
		sum += map->at[t];
	return sum;
}

/* Sorted, not touching, and the same moments as the bitmap. */
static void assert_same(const struct ts_spans *spans, const struct bitmap *map)
{
	struct bitmap drawn = { { false } };

	for (size_t i = 0; i < spans->nr; i++) {
		assert_true(spans->items[i].start_ps < spans->items[i].end_ps);
		assert_true(i == 0 || spans->items[i - 1].end_ps < spans->items[i].start_ps);
		paint(&drawn, spans->items[i].start_ps, spans->items[i].end_ps);
	}
	assert_memory_equal(&drawn, map, sizeof(drawn));
	assert_int_equal(ts_spans_total(spans), count(map, 0, NR_MOMENTS));
}

static void add_random(struct rng *rng, struct ts_spans *spans, struct bitmap *map, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int64_t start = (int64_t)rng_below(rng, NR_MOMENTS);
		int64_t n = (int64_t)rng_below(rng, 12), end = start + n;

		end = TS_MIN(end, NR_MOMENTS);
		assert_true(ts_spans_add(spans, start, end));
		paint(map, start, end);
	}
}

TEST(adding_is_painting)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct ts_spans spans = { .nr = 0 };
		struct bitmap map = { { false } };
		struct rng rng = rng_of(seed);

		add_random(&rng, &spans, &map, rng_below(&rng, 40));
		assert_same(&spans, &map);
		ts_spans_release(&spans);
	}
}

TEST(union_and_subtraction_are_or_and_and_not)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct ts_spans a = { .nr = 0 }, b = { .nr = 0 };
		struct bitmap map_a = { { false } }, map_b = { { false } };
		struct rng rng = rng_of(seed);

		add_random(&rng, &a, &map_a, rng_below(&rng, 30));
		add_random(&rng, &b, &map_b, rng_below(&rng, 30));
		if (seed % 2) {
			assert_true(ts_spans_union(&a, &b));
			for (size_t t = 0; t < NR_MOMENTS; t++)
				map_a.at[t] |= map_b.at[t];
		} else {
			assert_true(ts_spans_subtract(&a, &b));
			for (size_t t = 0; t < NR_MOMENTS; t++)
				map_a.at[t] &= !map_b.at[t];
		}
		assert_same(&a, &map_a);
		assert_same(&b, &map_b);
		ts_spans_release(&a);
		ts_spans_release(&b);
	}
}

/* Asked in the order of time with the hint, and anywhere with any hint: the same answers. */
TEST(covered_counts_painted_moments)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct ts_spans spans = { .nr = 0 };
		struct bitmap map = { { false } };
		struct rng rng = rng_of(seed);
		size_t walk = 0;

		add_random(&rng, &spans, &map, 25);
		assert_true(seed % 2 || ts_spans_seal(&spans)); /* the answers are the same */
		for (int64_t t = 0; t + 7 <= NR_MOMENTS; t += 7) {
			size_t any = (size_t)rng_below(&rng, spans.nr + 3);
			int64_t end = t + (int64_t)rng_below(&rng, (uint64_t)(NR_MOMENTS - t));

			assert_int_equal(ts_spans_covered(&spans, t, t + 7, &walk),
					 count(&map, t, t + 7));
			assert_int_equal(ts_spans_covered(&spans, t, end, &any),
					 count(&map, t, end));
		}
		add_random(&rng, &spans, &map, 3); /* what was sealed may change all the same */
		assert_int_equal(ts_spans_covered(&spans, 0, NR_MOMENTS, &walk),
				 count(&map, 0, NR_MOMENTS));
		ts_spans_release(&spans);
	}
}

TEST(seek_finds_the_first_that_ends_later)
{
	struct ts_spans spans = { .nr = 0 };

	assert_true(ts_spans_add(&spans, 10, 20) && ts_spans_add(&spans, 30, 40));
	for (size_t hint = 0; hint < 5; hint++) {
		assert_int_equal(ts_spans_seek(&spans, -5, hint), 0);
		assert_int_equal(ts_spans_seek(&spans, 19, hint), 0);
		assert_int_equal(ts_spans_seek(&spans, 20, hint), 1);
		assert_int_equal(ts_spans_seek(&spans, 35, hint), 1);
		assert_int_equal(ts_spans_seek(&spans, 40, hint), 2);
	}
	ts_spans_release(&spans);
	assert_int_equal(ts_spans_seek(&spans, 0, 0), 0);
}

TEST(touching_intervals_become_one_and_empty_ones_none)
{
	struct ts_spans spans = { .nr = 0 };

	assert_true(ts_spans_add(&spans, 10, 20));
	assert_true(ts_spans_add(&spans, 20, 25));
	assert_true(ts_spans_add(&spans, 5, 10));
	assert_true(ts_spans_add(&spans, 50, 50));
	assert_true(ts_spans_add(&spans, 60, 55));
	assert_int_equal(spans.nr, 1);
	assert_int_equal(spans.items[0].start_ps, 5);
	assert_int_equal(spans.items[0].end_ps, 25);
	ts_spans_release(&spans);
}

/* Past .max the list covers all it should, and exactly closed_ps more than that. */
TEST(what_coarsening_adds_is_counted)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct ts_spans spans = { .max = 8 };
		struct rng rng = rng_of(seed);
		int64_t at = 0, exact = 0;

		for (size_t i = 0; i < 100; i++) {
			int64_t n = 1 + (int64_t)rng_below(&rng, 20);

			at += 1 + (int64_t)rng_below(&rng, 50);
			assert_true(ts_spans_add(&spans, at, at + n));
			assert_true(spans.nr <= 8);
			at += n;
			exact += n;
		}
		assert_int_equal(ts_spans_total(&spans), exact + spans.closed_ps);
		ts_spans_release(&spans);
		assert_int_equal(spans.max, 8);
	}
}

/* A union of two long lists stays below the bound too, and says what it closed. */
TEST(a_union_is_bounded)
{
	struct ts_spans a = { .max = 16 }, b = { .max = 16 };

	for (int64_t i = 0; i < 15; i++) {
		assert_true(ts_spans_add(&a, i * 100, i * 100 + 10));
		assert_true(ts_spans_add(&b, i * 100 + 50, i * 100 + 60));
	}
	assert_true(ts_spans_union(&a, &b));
	assert_true(a.nr <= 16);
	assert_int_equal(ts_spans_total(&a), 300 + a.closed_ps);
	ts_spans_release(&a);
	ts_spans_release(&b);
}

/* However many lists there are, their sum has the moments of all, and what each has closed. */
TEST(a_sum_of_lists_has_the_moments_of_all)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct ts_spans out = { .nr = 0 };
		struct ts_spans_sum sum = { .nr = 0 };
		struct bitmap map = { { false } };
		struct rng rng = rng_of(seed);
		size_t nr = rng_below(&rng, 20);

		for (size_t i = 0; i < nr; i++) {
			struct ts_spans list = { .closed_ps = 3 };

			add_random(&rng, &list, &map, rng_below(&rng, 4));
			assert_true(ts_spans_sum_add(&sum, &list));
			assert_int_equal(list.nr, 0);
			assert_null(list.items);
		}
		assert_true(ts_spans_sum_finish(&sum, &out));
		assert_same(&out, &map);
		assert_int_equal(out.closed_ps, (int64_t)nr * 3);
		ts_spans_release(&out);
	}
}
