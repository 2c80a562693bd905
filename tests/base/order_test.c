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
