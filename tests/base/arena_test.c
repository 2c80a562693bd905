/* SPDX-License-Identifier: MIT */
/* Memory that dies together, and arrays that grow. */
#include <stdalign.h>

#include "base/arena.h"
#include "tests/base/rng.h"
#include "tests/test.h"

/* Every piece is filled to its end, and keeps what it holds while others come. */
TEST(pieces_are_aligned_and_apart)
{
	enum { NR = 400 };
	struct ts_arena arena = TS_ARENA_INIT;
	struct rng rng = rng_of(1);
	uint8_t *pieces[NR];
	size_t sizes[NR];

	for (size_t i = 0; i < NR; i++) {
		sizes[i] = (size_t)rng_below(&rng, i % 20 == 0 ? 100000 : 200);
		pieces[i] = ts_arena_alloc(&arena, sizes[i]);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
		memset(pieces[i], (int)(i & 0xff), sizes[i]);
	}
	for (size_t i = 0; i < NR; i++)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(pieces[i][k], i & 0xff);
	assert_false(arena.failed);
	ts_arena_release(&arena);
	assert_int_equal(arena.total, 0);
	assert_non_null(ts_arena_alloc(&arena, 1)); /* usable again */
	ts_arena_release(&arena);
}

/* Small pieces of a few bytes each cost memory in proportion, not a chunk each. */
TEST(small_pieces_share_chunks)
{
	struct ts_arena arena = TS_ARENA_INIT;

	for (size_t i = 0; i < 100000; i++)
		assert_non_null(ts_arena_alloc(&arena, 10));
	assert_true(arena.total < 4 * 16 * 100000);
	ts_arena_release(&arena);
}

TEST(arrays_are_cleared_and_their_size_is_checked)
{
	struct ts_arena arena = TS_ARENA_INIT;
	const uint64_t *numbers = ts_arena_array(&arena, 1000, sizeof(*numbers));

	assert_non_null(numbers);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], 0);
	assert_non_null(ts_arena_array(&arena, 0, 8));
	assert_false(arena.failed);
	assert_null(ts_arena_array(&arena, SIZE_MAX / 4, 8));
	assert_true(arena.failed); /* so a look at the end is enough */
	ts_arena_release(&arena);
	assert_false(arena.failed);
	assert_null(ts_arena_alloc(&arena, SIZE_MAX));
	assert_true(arena.failed);
	ts_arena_release(&arena);
}

TEST(copies_of_arrays_are_apart_and_their_size_is_checked)
{
	struct ts_arena arena = TS_ARENA_INIT;
	uint64_t numbers[] = { 1, 2, 3 };
	const uint64_t *copy = ts_arena_dup(&arena, numbers, TS_NELEM(numbers), sizeof(*numbers));

	assert_non_null(copy);
	numbers[0] = 7;
	assert_int_equal(copy[0], 1);
	assert_int_equal(copy[2], 3);
	assert_non_null(ts_arena_dup(&arena, NULL, 0, 8));
	assert_false(arena.failed);
	assert_null(ts_arena_dup(&arena, numbers, SIZE_MAX / 4, 8));
	assert_true(arena.failed);
	ts_arena_release(&arena);
}

TEST(copies_are_terminated)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes copy =
		ts_arena_copy(&arena, (struct ts_bytes){ (const uint8_t *)"a\0b", 3 });
	struct ts_bytes none = ts_arena_copy(&arena, (struct ts_bytes){ NULL, 0 });
	struct ts_bytes text = ts_arena_printf(&arena, "%s %d", "fusion", 12);

	assert_int_equal(copy.n, 3);
	assert_memory_equal(copy.p, "a\0b", 4);
	assert_non_null(none.p);
	assert_int_equal(none.p[0], '\0');
	assert_true(ts_bytes_is(text, "fusion 12"));
	assert_int_equal(text.p[text.n], '\0');
	ts_arena_release(&arena);
}

TEST(growing_keeps_the_old_and_clears_the_new)
{
	uint32_t *items = NULL;
	size_t cap = 0;

	for (uint32_t i = 0; i < 5000; i++) {
		assert_true(ts_grow(&items, &cap, i + 1, sizeof(*items)));
		assert_true(cap >= i + 1);
		assert_int_equal(items[i], 0);
		items[i] = i + 1;
	}
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(items[i], i + 1);
	assert_true(cap < 2 * 5000);
	assert_false(ts_grow(&items, &cap, SIZE_MAX / 2, sizeof(*items)));
	assert_int_equal(items[4999], 5000); /* the old one stands */
	free(items);
}
