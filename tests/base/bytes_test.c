/* SPDX-License-Identifier: MIT */
/* Byte views, numbers in text, and arithmetic that saturates; the growing buffer and the error. */
#include "base/buf.h"
#include "tests/base/rng.h"
#include "tests/test.h"

TEST(views_compare_and_search)
{
	struct ts_bytes text = TS_LIT("fusion.12"), none = { NULL, 0 };

	assert_true(ts_bytes_starts(text, "fusion") && ts_bytes_starts(text, "") &&
		    ts_bytes_starts(none, ""));
	assert_false(ts_bytes_starts(text, "fusion.123") || ts_bytes_starts(none, "f"));
	assert_true(ts_bytes_ends(text, ".12") && ts_bytes_ends(text, "fusion.12") &&
		    ts_bytes_ends(none, ""));
	assert_false(ts_bytes_ends(text, "xfusion.12") || ts_bytes_ends(none, "2"));
	assert_true(ts_bytes_has(text, "on.1") && ts_bytes_has(text, "") &&
		    !ts_bytes_has(text, "2f"));
	assert_int_equal(ts_bytes_find(text, "12"), 7);
	assert_int_equal(ts_bytes_find(text, "13"), 9);
	assert_int_equal(ts_bytes_find(none, "1"), 0);
	assert_true(ts_bytes_is(none, "") && ts_bytes_is(text, "fusion.12") &&
		    !ts_bytes_is(text, "fusion"));
	assert_true(ts_bytes_eq(none, TS_LIT("")) && !ts_bytes_eq(text, none));
	assert_int_equal(ts_bytes_of(NULL).n, 0);
}

TEST(views_are_cut_to_what_is_there)
{
	struct ts_bytes text = TS_LIT("abcdef");

	assert_true(ts_bytes_is(ts_bytes_cut(text, 2, 2), "cd"));
	assert_true(ts_bytes_is(ts_bytes_cut(text, 4, 100), "ef"));
	assert_int_equal(ts_bytes_cut(text, 100, 1).n, 0);
	assert_int_equal(ts_bytes_cut(text, 6, SIZE_MAX).n, 0);
	assert_int_equal(ts_bytes_cut(text, SIZE_MAX, SIZE_MAX).n, 0);
	assert_true(ts_bytes_is(ts_bytes_cut(text, 1, SIZE_MAX), "bcdef"));
}

TEST(order_is_by_bytes_then_length)
{
	assert_true(ts_bytes_cmp(TS_LIT("a"), TS_LIT("b")) < 0);
	assert_true(ts_bytes_cmp(TS_LIT("a"), TS_LIT("aa")) < 0);
	assert_true(ts_bytes_cmp(TS_LIT("\xff"), TS_LIT("a")) > 0);
	assert_int_equal(ts_bytes_cmp(TS_LIT("a"), TS_LIT("a")), 0);
	assert_int_equal(ts_bytes_cmp((struct ts_bytes){ NULL, 0 }, TS_LIT("")), 0);
}

struct number_row {
	const char *text;
	bool is_u64, is_i64;
	uint64_t u64;
	int64_t i64;
};

static const struct number_row numbers[] = {
	{ "0", true, true, 0, 0 },
	{ "007", true, true, 7, 7 },
	{ "18446744073709551615", true, false, UINT64_MAX, 0 },
	{ "18446744073709551616", false, false, 0, 0 },
	{ "99999999999999999999999", false, false, 0, 0 },
	{ "9223372036854775807", true, true, INT64_MAX, INT64_MAX },
	{ "9223372036854775808", true, false, UINT64_C(1) << 63, 0 },
	{ "-9223372036854775808", false, true, 0, INT64_MIN },
	{ "-9223372036854775809", false, false, 0, 0 },
	{ "-1", false, true, 0, -1 },
	{ "+5", false, false, 0, 0 },
	{ "", false, false, 0, 0 },
	{ "-", false, false, 0, 0 },
	{ " 1", false, false, 0, 0 },
	{ "1 ", false, false, 0, 0 },
	{ "0x10", false, false, 0, 0 },
	{ "1.5", false, false, 0, 0 },
};

TEST(numbers_are_whole_texts)
{
	for (size_t i = 0; i < TS_NELEM(numbers); i++) {
		const struct number_row *row = &numbers[i];
		struct ts_bytes text = ts_bytes_of(row->text);
		uint64_t u64 = 0;
		int64_t i64 = 0;

		if (ts_bytes_u64(text, &u64) != row->is_u64 || (row->is_u64 && u64 != row->u64))
			fail_msg("\"%s\" as u64", row->text);
		if (ts_bytes_i64(text, &i64) != row->is_i64 || (row->is_i64 && i64 != row->i64))
			fail_msg("\"%s\" as i64", row->text);
	}
}

/* 128 bits say what the result would be without a bound. */
__extension__ typedef __int128 wide;

static int64_t bound(wide x)
{
	return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

TEST(sums_and_products_saturate)
{
	static const int64_t odd[] = { 0,
				       1,
				       -1,
				       2,
				       -2,
				       INT64_MAX,
				       INT64_MIN,
				       INT64_MAX - 1,
				       INT64_MIN + 1,
				       INT64_C(3037000500),
				       -INT64_C(3037000500),
				       INT64_C(1) << 62 };
	struct rng rng = rng_of(1);

	for (size_t i = 0; i < 2000; i++) {
		int64_t a = i < 144 ? odd[i / 12] : (int64_t)rng_next(&rng) >> rng_below(&rng, 64);
		int64_t b = i < 144 ? odd[i % 12] : (int64_t)rng_next(&rng) >> rng_below(&rng, 64);

		assert_true(ts_i64_add(a, b) == bound((wide)a + b));
		assert_true(ts_i64_sub(a, b) == bound((wide)a - b));
		assert_true(ts_i64_mul(a, b) == bound((wide)a * b));
	}
	assert_true(ts_u64_add(UINT64_MAX, 1) == UINT64_MAX && ts_u64_add(1, 2) == 3);
	assert_true(ts_u64_mul(UINT64_C(1) << 32, UINT64_C(1) << 32) == UINT64_MAX);
	assert_true(ts_u64_mul(0, UINT64_MAX) == 0 && ts_u64_mul(UINT64_MAX, 1) == UINT64_MAX);
}

TEST(a_buffer_keeps_what_is_written)
{
	struct ts_buf buf = TS_BUF_INIT;

	assert_int_equal(ts_buf_bytes(&buf).n, 0);
	ts_buf_puts(&buf, "a=");
	ts_buf_i64(&buf, INT64_MIN);
	ts_buf_putc(&buf, ',');
	ts_buf_u64(&buf, UINT64_MAX);
	ts_buf_pad(&buf, '.', 3);
	ts_buf_pad(&buf, '.', 0);
	ts_buf_printf(&buf, "%s|%d", "x", 5);
	ts_buf_put(&buf, (struct ts_bytes){ NULL, 0 });
	assert_true(ts_bytes_is(ts_buf_bytes(&buf),
				"a=-9223372036854775808,18446744073709551615...x|5"));
	ts_buf_clear(&buf);
	assert_int_equal(buf.n, 0);
	for (size_t i = 0; i < 5000; i++)
		ts_buf_printf(&buf, "%05zu", i);
	assert_int_equal(buf.n, 25000);
	assert_true(ts_bytes_is(ts_bytes_cut(ts_buf_bytes(&buf), 24995, 5), "04999"));
	ts_buf_release(&buf);
}

/* A size that cannot be: the failure sticks, and nothing that follows is written. */
TEST(the_first_failure_of_a_buffer_sticks)
{
	struct ts_buf buf = TS_BUF_INIT;

	ts_buf_puts(&buf, "kept");
	assert_false(ts_buf_room(&buf, SIZE_MAX));
	assert_true(buf.failed);
	ts_buf_puts(&buf, "lost");
	assert_true(ts_bytes_is(ts_buf_bytes(&buf), "kept"));
	ts_buf_clear(&buf);
	assert_false(buf.failed);
	ts_buf_release(&buf);
}

TEST(an_error_is_cut_and_never_overrun)
{
	struct ts_error err = TS_ERROR_INIT;
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(ts_fail(&err, TS_IO, "%s", text), TS_IO);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(ts_fail_at(&err, TS_IO, "%s", "file"), TS_IO);
	assert_true(ts_bytes_starts(ts_bytes_of(err.text), "file: xxx"));
	assert_true(strlen(err.text) < sizeof(err.text));
	assert_int_equal(ts_fail(NULL, TS_LIMIT, "nobody listens"), TS_LIMIT);
	assert_int_equal(ts_fail_at(NULL, TS_LIMIT, "nobody listens"), TS_LIMIT);
}
