/* SPDX-License-Identifier: MIT */
/* Rows by key (analysis/kit/keyed.h): found again, summed, and asked whether a map fits its rows. */
#include <stdlib.h>

#include "tests/test.h"
#include "analysis/kit/keyed.h"
#include "base/record.h"

struct row {
	uint32_t op;
	int64_t nr, first_ps;
};

#define TS_SELF struct row
static TS_RECORD(row, TS_INDEX(1, op, TS_BY_OP, TS_KEEP_KNOWN), TS_NUMBER(2, nr, TS_ADD),
		 TS_NUMBER(3, first_ps, TS_MIN_OF));
#undef TS_SELF

struct list {
	struct row *rows;
	size_t nr_rows, cap_rows;
	struct ts_map row_of_key;
};

static struct ts_keyed keyed(struct list *list)
{
	return TS_KEYED(list, rows, row_of_key);
}

static void add(struct list *list, uint64_t key, struct row row)
{
	assert_non_null(ts_keyed_row(keyed(list), key, &row));
}

static void release(struct list *list)
{
	free(list->rows);
	ts_map_release(&list->row_of_key);
}

TEST(a_key_that_was_met_finds_its_row)
{
	struct list list = { .nr_rows = 0 };
	struct row other = { 9, 9, 9 }, *row;

	for (uint32_t i = 0; i < 100; i++)
		add(&list, UINT64_MAX - i, (struct row){ .op = i });
	row = ts_keyed_row(keyed(&list), UINT64_MAX - 42, &other);
	assert_int_equal(list.nr_rows, 100);
	assert_int_equal(row->op, 42);
	assert_true(ts_keyed_is_valid(&list.row_of_key, 100));
	assert_false(ts_keyed_is_valid(&list.row_of_key, 99));
	assert_false(ts_keyed_is_valid(&list.row_of_key, 101));
	release(&list);
}

TEST(a_sum_has_the_rows_of_both_in_the_order_of_their_first_meeting)
{
	struct list into = { .nr_rows = 0 }, from = { .nr_rows = 0 };

	add(&into, 7, (struct row){ TS_NONE, 1, 50 });
	add(&from, 8, (struct row){ 3, 10, 20 });
	add(&from, 7, (struct row){ 4, 100, 30 });
	assert_int_equal(ts_keyed_sum(keyed(&into), keyed(&from), &row_record, NULL), TS_OK);
	assert_int_equal(into.nr_rows, 2);
	assert_int_equal(into.rows[0].op, 4); /* the first that is known */
	assert_int_equal(into.rows[0].nr, 101);
	assert_int_equal(into.rows[0].first_ps, 30);
	assert_int_equal(into.rows[1].op, 3);
	assert_int_equal(into.rows[1].nr, 10);
	assert_int_equal(ts_keyed_sum(keyed(&into), keyed(&from), &row_record, NULL), TS_OK);
	assert_int_equal(into.nr_rows, 2);
	assert_int_equal(into.rows[1].nr, 20);
	assert_true(ts_keyed_is_valid(&into.row_of_key, 2));
	release(&into);
	release(&from);
}

TEST(a_sum_of_nothing_is_nothing)
{
	struct list into = { .nr_rows = 0 }, from = { .nr_rows = 0 };

	assert_int_equal(ts_keyed_sum(keyed(&into), keyed(&from), &row_record, NULL), TS_OK);
	assert_int_equal(into.nr_rows, 0);
	assert_true(ts_keyed_is_valid(&into.row_of_key, 0));
}
