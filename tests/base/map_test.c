/* SPDX-License-Identifier: MIT */
/* Maps from ids and from bytes, against an array that is searched from end to end. */
#include "base/map.h"
#include "tests/base/rng.h"
#include "tests/test.h"

TEST(ids_of_any_sign_and_size_are_kept)
{
	static const int64_t ids[] = {
		0, 1, -1, INT64_MAX, INT64_MIN, INT64_C(1) << 40, -(INT64_C(1) << 40)
	};
	struct ts_map map = { NULL, 0, 0 };

	for (uint32_t i = 0; i < TS_NELEM(ids); i++) {
		assert_int_equal(ts_map_find(&map, (uint64_t)ids[i]), TS_NONE);
		assert_true(ts_map_set(&map, (uint64_t)ids[i], i));
	}
	for (uint32_t i = 0; i < TS_NELEM(ids); i++)
		assert_int_equal(ts_map_find(&map, (uint64_t)ids[i]), i);
	assert_int_equal(ts_map_find(&map, 2), TS_NONE);
	assert_int_equal(map.nr, TS_NELEM(ids));
	ts_map_release(&map);
	assert_int_equal(ts_map_find(&map, 0), TS_NONE);
}

TEST(the_newest_value_wins)
{
	struct ts_map map = { NULL, 0, 0 };

	assert_true(ts_map_set(&map, 7, 1) && ts_map_set(&map, 7, 2));
	assert_int_equal(ts_map_find(&map, 7), 2);
	assert_int_equal(map.nr, 1);
	ts_map_release(&map);
}

/* Keys that differ in the highest bits only, or are multiples of a power of two: what a hash that
 * looks at the low bits alone would put into one place. */
TEST(regular_keys_do_not_get_lost)
{
	for (unsigned shift = 0; shift < 64; shift += 7) {
		struct ts_map map = { NULL, 0, 0 };
		uint64_t nr = shift > 50 ? (UINT64_C(1) << (64 - shift)) - 1 : 5000;

		for (uint64_t i = 0; i < nr; i++)
			assert_true(ts_map_set(&map, i << shift, (uint32_t)i));
		assert_int_equal(map.nr, nr);
		for (uint64_t i = 0; i < nr; i++)
			assert_int_equal(ts_map_find(&map, i << shift), i);
		assert_int_equal(ts_map_find(&map, nr << shift), TS_NONE);
		ts_map_release(&map);
	}
}

TEST(random_ids_against_a_list)
{
	enum { NR = 600 };
	uint64_t keys[NR];
	uint32_t values[NR];
	struct ts_map map = { NULL, 0, 0 };
	struct rng rng = rng_of(3);

	for (uint32_t i = 0; i < NR; i++) {
		keys[i] = rng_below(&rng, 200); /* many come again */
		values[i] = (uint32_t)rng_below(&rng, 1000);
		assert_true(ts_map_set(&map, keys[i], values[i]));
		for (uint32_t k = 0; k < i; k++)
			if (keys[k] == keys[i])
				values[k] = values[i];
	}
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(ts_map_find(&map, keys[i]), values[i]);
	ts_map_release(&map);
}

/* Texts of all lengths round the hash's word, with NULs inside, and one that is empty. */
TEST(texts_that_begin_the_same_are_told_apart)
{
	enum { NR = 64 };
	static const uint8_t zeros[NR];
	struct ts_strmap map = { NULL, 0, 0 };

	for (uint32_t n = 0; n < NR; n++)
		assert_true(ts_strmap_set(&map, (struct ts_bytes){ zeros, n }, n));
	for (uint32_t n = 0; n < NR; n++)
		assert_int_equal(ts_strmap_find(&map, (struct ts_bytes){ zeros, n }), n);
	assert_int_equal(ts_strmap_find(&map, (struct ts_bytes){ NULL, 0 }), 0);
	assert_int_equal(ts_strmap_find(&map, TS_LIT("a")), TS_NONE);
	assert_true(ts_strmap_set(&map, TS_LIT("a"), 99));
	assert_true(ts_strmap_set(&map, ts_bytes_of("a"), 100));
	assert_int_equal(ts_strmap_find(&map, TS_LIT("a")), 100);
	assert_int_equal(map.nr, NR + 1);
	ts_strmap_release(&map);
}

TEST(many_texts_survive_growth)
{
	enum { NR = 20000 };
	struct ts_strmap map = { NULL, 0, 0 };
	char(*names)[16] = calloc(NR, sizeof(*names));

	assert_non_null(names);
	for (uint32_t i = 0; i < NR; i++) {
		snprintf(names[i], sizeof(names[i]), "fusion.%u", i);
		assert_true(ts_strmap_set(&map, ts_bytes_of(names[i]), i));
	}
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(ts_strmap_find(&map, ts_bytes_of(names[i])), i);
	ts_strmap_release(&map);
	free(names);
}

TEST(a_hash_depends_on_bytes_length_and_seed)
{
	assert_true(ts_hash(TS_LIT("abcdefgh"), 1) == ts_hash(TS_LIT("abcdefgh"), 1));
	assert_true(ts_hash(TS_LIT("abcdefgh"), 1) != ts_hash(TS_LIT("abcdefgh"), 2));
	assert_true(ts_hash(TS_LIT("abcdefgh"), 1) != ts_hash(TS_LIT("abcdefgi"), 1));
	assert_true(ts_hash(TS_LIT("a"), 1) != ts_hash(TS_LIT("a\0"), 1));
	assert_true(ts_hash((struct ts_bytes){ NULL, 0 }, 1) == ts_hash(TS_LIT(""), 1));
}

/* Few keys, many of them neighbours in the table: a hole must not hide what was pushed past it. */
TEST(what_is_dropped_is_gone_and_nothing_else)
{
	enum { NR = 512, ROUNDS = 50000 };
	bool there[NR] = { false };
	struct ts_map map = { NULL, 0, 0 };
	uint64_t seed = 7;
	size_t nr = 0;

	ts_map_drop(&map, 1);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t key;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		key = seed >> 33;
		key %= NR;
		if (seed >> 63) {
			assert_true(ts_map_set(&map, key, (uint32_t)key));
			nr += !there[key];
		} else {
			ts_map_drop(&map, key);
			nr -= there[key];
		}
		there[key] = seed >> 63;
		assert_int_equal(map.nr, nr);
		if (i % 64 == 0)
			for (uint32_t k = 0; k < NR; k++)
				assert_int_equal(ts_map_find(&map, k), there[k] ? k : TS_NONE);
	}
	assert_true(map.cap <= 4 * NR);
	ts_map_release(&map);
}
