/* SPDX-License-Identifier: MIT */
/* Records come back in order, each once and in its part, however little memory there is. */
#include "tmpdir.h"

#include "io/sorter.h"

struct record {
	struct ts_sort_key key;
	uint64_t number;
	uint16_t part;
	uint64_t more[2]; /* not in the shorter records */
};

static bool before(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->number <= y->number;
}

static const struct ts_sort_kind one_part = {
	.size = sizeof(struct record), .max = 2000, .merge_bytes = 4096, .before = before
};
static const struct ts_sort_kind parts = { .size = sizeof(struct record),
					   .max = 2000,
					   .merge_bytes = 4096,
					   .before = before,
					   .part_at = offsetof(struct record, part) };

/* Expects the records of part P, keys P, P + NR_PARTS, ... below NR. */
static void expect_part(const struct ts_sorter *sorter, uint32_t p, uint32_t nr_parts, size_t nr)
{
	struct ts_sort_cursor *cursor;
	const struct record *record;
	enum ts_status st = TS_OK;
	int64_t key = p;

	assert_int_equal(ts_sort_cursor_open(sorter, p, &cursor, NULL), TS_OK);
	while ((record = ts_sort_cursor_next(cursor, &st, NULL))) {
		assert_int_equal(record->key.start_ps, key);
		assert_int_equal(record->part, p);
		key += nr_parts;
	}
	assert_int_equal(st, TS_OK);
	assert_true(key >= (int64_t)nr && key < (int64_t)(nr + nr_parts));
	assert_null(ts_sort_cursor_next(cursor, &st, NULL)); /* and still */
	ts_sort_cursor_free(cursor);
}

/* Orders in which NR keys are put, each key from 0 to NR - 1 once. */
static size_t rising(size_t i, size_t nr)
{
	return i;
}

static size_t falling(size_t i, size_t nr)
{
	return nr - 1 - i;
}

static size_t scattered(size_t i, size_t nr)
{
	return i * 7919 % nr;
}

static size_t children_first(size_t i, size_t nr) /* of NR / 50 parents with 49 children each */
{
	return i % 50 == 49 ? i - 49 : i + 1;
}

static size_t root_last(size_t i, size_t nr)
{
	return (i + 1) % nr;
}

static size_t (*const orders[])(size_t i, size_t nr) = { rising, falling, scattered, children_first,
							 root_last };

static void put_and_expect(const struct ts_sort_kind *kind, uint32_t nr_parts,
			   size_t (*order)(size_t i, size_t nr), size_t max)
{
	const size_t nr = 1000;
	struct ts_sorter sorter;

	ts_sorter_init(&sorter, kind);
	sorter.max = max;
	for (size_t i = 0; i < nr; i++) {
		struct record record = { .key = { (int64_t)order(i, nr), 1 }, .number = i };

		record.part = (uint16_t)(record.key.start_ps % nr_parts);
		assert_int_equal(ts_sorter_put(&sorter, &record, NULL), TS_OK);
	}
	assert_int_equal(ts_sorter_close(&sorter, NULL), TS_OK);
	for (uint32_t p = 0; p < nr_parts; p++)
		expect_part(&sorter, p, nr_parts, nr);
	assert_int_equal(ts_sorter_rest(&sorter, NULL), TS_OK);
	assert_null(sorter.records);
	for (uint32_t p = 0; p < nr_parts; p++)
		expect_part(&sorter, p, nr_parts, nr);
	ts_sorter_release(&sorter);
}

TEST(records_come_back_in_order_from_memory_and_from_disk)
{
	static const size_t max[] = { 2000, 1000, 999, 33, 16, 7, 1 };

	for (size_t o = 0; o < TS_NELEM(orders); o++)
		for (size_t i = 0; i < TS_NELEM(max); i++) {
			put_and_expect(&one_part, 1, orders[o], max[i]);
			put_and_expect(&parts, 1, orders[o], max[i]);
			put_and_expect(&parts, 13, orders[o], max[i]);
		}
}

TEST(records_of_any_size_come_back_in_order)
{
	for (size_t size = offsetof(struct record, more); size <= sizeof(struct record);
	     size += sizeof(uint64_t))
		for (size_t o = 0; o < TS_NELEM(orders); o++) {
			struct ts_sort_kind kind = parts;

			kind.size = size;
			put_and_expect(&kind, 3, orders[o], 2000);
			put_and_expect(&kind, 3, orders[o], 100);
		}
}

TEST(of_equal_starts_the_longer_is_first_then_what_the_kind_says)
{
	static const struct record expected[] = {
		{ .key = { 5, 9 }, .number = 3 },
		{ .key = { 5, 4 }, .number = 1 },
		{ .key = { 5, 4 }, .number = 2 },
		{ .key = { 6, 1 }, .number = 0 },
	};
	struct ts_sort_cursor *cursor;
	struct ts_sorter sorter;
	enum ts_status st = TS_OK;

	ts_sorter_init(&sorter, &one_part);
	sorter.max = 2;
	for (size_t i = TS_NELEM(expected); i-- > 0;)
		assert_int_equal(ts_sorter_put(&sorter, &expected[i], NULL), TS_OK);
	assert_int_equal(ts_sorter_close(&sorter, NULL), TS_OK);
	assert_int_equal(ts_sort_cursor_open(&sorter, 0, &cursor, NULL), TS_OK);
	for (size_t i = 0; i < TS_NELEM(expected); i++)
		assert_memory_equal(ts_sort_cursor_next(cursor, &st, NULL), &expected[i],
				    sizeof(expected[i]));
	assert_null(ts_sort_cursor_next(cursor, &st, NULL));
	ts_sort_cursor_free(cursor);
	ts_sorter_release(&sorter);
}

TEST(nothing_was_put_and_nothing_comes)
{
	struct ts_sort_cursor *cursor;
	struct ts_sorter sorter;
	enum ts_status st = TS_OK;

	ts_sorter_init(&sorter, &parts);
	assert_int_equal(ts_sorter_close(&sorter, NULL), TS_OK);
	assert_int_equal(ts_sort_cursor_open(&sorter, 5, &cursor, NULL), TS_OK);
	assert_null(ts_sort_cursor_next(cursor, &st, NULL));
	assert_int_equal(st, TS_OK);
	ts_sort_cursor_free(cursor);
	ts_sorter_release(&sorter);
}

TEST(a_sorter_that_was_released_can_be_filled_again)
{
	const struct record record = { .key = { 3, 1 } };
	struct ts_sort_cursor *cursor;
	struct ts_sorter sorter;
	enum ts_status st = TS_OK;

	ts_sorter_init(&sorter, &one_part);
	sorter.max = 1;
	for (int i = 0; i < 3; i++)
		assert_int_equal(ts_sorter_put(&sorter, &(struct record){ .key = { 9, 1 } }, NULL),
				 TS_OK);
	ts_sorter_release(&sorter);
	assert_int_equal(ts_sorter_put(&sorter, &record, NULL), TS_OK);
	assert_int_equal(ts_sorter_close(&sorter, NULL), TS_OK);
	assert_int_equal(ts_sort_cursor_open(&sorter, 0, &cursor, NULL), TS_OK);
	assert_memory_equal(ts_sort_cursor_next(cursor, &st, NULL), &record, sizeof(record));
	assert_null(ts_sort_cursor_next(cursor, &st, NULL));
	ts_sort_cursor_free(cursor);
	ts_sorter_release(&sorter);
}
