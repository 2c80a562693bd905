/* SPDX-License-Identifier: MIT */
/* Given rows of all kinds of keys, the first key that differs decides, and no distance is too far. */
#include "base/order.h"

#include <stdlib.h>

#include "tests/test.h"

struct row {
	int64_t time_ps;
	uint32_t index;
	struct ts_bytes name;
	const char *text;
	double share;
	bool is_last;
};

TS_ORDER(by_time, struct row, TS_DOWN(time_ps) TS_UP(index))
TS_ORDER(by_text, struct row, TS_UP(is_last) TS_UP(name) TS_DOWN(text) TS_UP(share))
TS_ORDER_AT(at_time, struct row, TS_UP(time_ps))

static int64_t tens(int64_t number)
{
	return number / 10;
}

static size_t length_of(const struct row *row)
{
	return row->name.n;
}

struct pair {
	struct row left, right;
};

TS_ORDER(by_tens, struct row, TS_DOWN_OF(tens, time_ps) TS_UP_OF(tens, index))
TS_ORDER(by_length, struct row, TS_UP_BY(length_of) TS_DOWN_BY(length_of))
TS_ORDER(longest_first, struct row, TS_DOWN_BY(length_of))
TS_ORDER_AT(at_place, struct row, TS_UP(time_ps) TS_UP_ADDRESS)
TS_ORDER(by_right, struct pair, TS_AS(by_time, right) TS_AS(by_time, left))

TEST(keys_can_be_made_by_functions)
{
	const struct row rows[] = { { .time_ps = 11, .index = 9, .name = TS_LIT("a") },
				    { .time_ps = 19, .index = 10, .name = TS_LIT("bb") },
				    { .time_ps = 20, .index = 19, .name = TS_LIT("") } };

	assert_true(by_tens(&rows[0], &rows[1]) < 0);
	assert_true(by_tens(&rows[2], &rows[1]) < 0);
	assert_true(by_length(&rows[0], &rows[1]) < 0);
	assert_true(longest_first(&rows[0], &rows[1]) > 0);
	assert_true(longest_first(&rows[2], &rows[0]) > 0);
}

TEST(equal_rows_of_one_array_keep_their_places)
{
	const struct row rows[2] = { { .time_ps = 1 }, { .time_ps = 1 } };
	const struct row *at[] = { &rows[1], &rows[0] };

	qsort(at, TS_NELEM(at), sizeof(const struct row *), at_place);
	assert_ptr_equal(at[0], &rows[0]);
	assert_ptr_equal(at[1], &rows[1]);
}

TEST(an_order_serves_the_structs_inside_others)
{
	const struct pair low = { .left = { .time_ps = 1 }, .right = { .time_ps = 3 } };
	struct pair other = { .left = { .time_ps = 2 }, .right = { .time_ps = 2 } };

	assert_true(by_right(&low, &other) < 0); /* the longest first */
	other.right.time_ps = 3;
	assert_true(by_right(&low, &other) > 0);
}

TEST(the_first_key_that_differs_decides)
{
	struct row rows[] = { { .time_ps = 1, .index = 3 },
			      { .time_ps = 2, .index = UINT32_MAX },
			      { .time_ps = 2, .index = 1 } };

	qsort(rows, TS_NELEM(rows), sizeof(*rows), by_time);
	assert_int_equal(rows[0].index, 1);
	assert_int_equal(rows[1].index, UINT32_MAX);
	assert_int_equal(rows[2].index, 3);
}

TEST(numbers_far_apart_do_not_overflow)
{
	const struct row low = { .time_ps = INT64_MIN }, high = { .time_ps = INT64_MAX };
	const struct row *p = &low, *q = &high;

	assert_true(by_time(&high, &low) < 0);
	assert_true(by_time(&low, &high) > 0);
	assert_true(at_time(&p, &q) < 0);
	assert_int_equal(at_time(&p, &p), 0);
}

TEST(keys_have_the_order_of_their_type)
{
	const struct row first = { .name = TS_LIT("a"), .text = "y", .share = 0.1 };
	struct row other = first;

	assert_int_equal(by_text(&first, &other), 0);
	other.share = 0.2;
	assert_true(by_text(&first, &other) < 0);
	other.text = "z"; /* the last comes first */
	assert_true(by_text(&first, &other) > 0);
	other.name = TS_LIT("aa");
	assert_true(by_text(&first, &other) < 0);
	other.name = TS_LIT("");
	other.is_last = true;
	assert_true(by_text(&first, &other) < 0);
}
