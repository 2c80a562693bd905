/* SPDX-License-Identifier: MIT */
/*
 * JSON as strict readers take it: where they refuse a text, and the text mended. What is refused and what is not
 * is RFC 8259's grammar, worked out by hand.
 */
#include "codec/strict.h"
#include "tests/test.h"

#define GOOD UINT64_MAX

static const struct row {
	const char *text, *mended; /* NULL: as it is */
	uint64_t first_at, nr;	   /* GOOD: nothing is refused */
} rows[] = {
	/* good: every byte stays */
	{ "{\"a\": [1, -0.5e+3, 0, \"x\\n\\u00e9\"], \"b\": {}, \"c\": null}\n", NULL, GOOD, 0 },
	{ " [ ] ", NULL, GOOD, 0 },
	{ "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"", NULL, GOOD, 0 },
	{ "[1E5,true,false]", NULL, GOOD, 0 },
	{ "-1", NULL, GOOD, 0 },
	/* numbers that are none */
	{ "[inf,1]", "[null,1]", 1, 1 },
	{ "{\"a\": nan, \"b\": -inf}", "{\"a\": null, \"b\": null}", 6, 2 },
	{ "[NaN]", "[null]", 1, 1 },
	{ "[1.#INF]", "[null]", 1, 1 },
	{ "[007, 1., .5, +2, -03.50, 1.e3]", "[7, 1, 0.5, 2, -3.50, 1e3]", 1, 6 },
	{ "[., -, e5, 1e]", "[null, null, null, null]", 1, 4 },
	{ "[True]", "[null]", 1, 1 },
	/* bytes in texts */
	{ "[\"a\x01\n\t\"]", "[\"a\\u0001\\u000a\\u0009\"]", 3, 3 },
	{ "[\"\x9f\"]", "[\"\\ufffd\"]", 2, 1 },
	{ "[\"\xe2\x82\"]", "[\"\\ufffd\"]", 2, 1 },
	{ "[\"\xed\xa0\x80\"]", "[\"\\ufffd\\ufffd\\ufffd\"]", 2, 3 },
	{ "[\"\xc0\xaf\xf5\"]", "[\"\\ufffd\\ufffd\\ufffd\"]", 2, 3 },
	{ "[\"\\x41\\u12\"]", "[\"\\\\x41\\\\u12\"]", 2, 2 },
	{ "{\"k\x02\": 1}", "{\"k\\u0002\": 1}", 3, 1 },
	/* commas, colons and brackets */
	{ "[1,]", "[1]", 3, 1 },
	{ "[1 ,\n 2,, 3]", "[1 ,\n 2, 3]", 8, 1 },
	{ "{\"a\":1,}", "{\"a\":1}", 7, 1 },
	{ "[{} {}]", "[{} ,{}]", 4, 1 },
	{ "{\"a\" 1}", "{\"a\" :1}", 5, 1 },
	{ "{\"a\":}", "{\"a\":null}", 5, 1 },
	{ "[{\"a\":1]]", "[{\"a\":1}]", 7, 1 },
	{ "[1}", "[1]", 2, 1 },
	/* around it */
	{ "\xef\xbb\xbf{}", "{}", 0, 1 },
	{ "[]\x01", "[]", 2, 1 },
	{ "[1]\n[2]", "[1]\n", 4, 1 },
	{ "[1,{\"a\":\"b", "[1,{\"a\":\"b\"}]", 10, 1 },
	{ "[1", "[1]", 2, 1 },
	{ "", "null", 0, 1 },
};

static void assert_mended(const struct row *row, size_t piece)
{
	struct ts_bytes text = ts_bytes_of(row->text);
	struct ts_buf out = TS_BUF_INIT;
	struct ts_strict strict;

	ts_strict_init(&strict, &out);
	for (size_t at = 0; at < text.n; at += piece)
		ts_strict_put(&strict, ts_bytes_cut(text, at, piece));
	ts_strict_end(&strict);
	ts_buf_putc(&out, '\0');
	assert_string_equal((const char *)out.p, row->mended ? row->mended : row->text);
	assert_int_equal(strict.nr_refused, row->nr);
	assert_int_equal(strict.first ? strict.first_at : GOOD, row->first_at);
	ts_buf_release(&out);
}

TEST(what_strict_readers_refuse_is_mended)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		for (size_t piece = 1; piece < 9; piece++)
			assert_mended(&rows[i], piece);
}

/* What was mended is not refused. */
TEST(mended_texts_are_good)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_buf out = TS_BUF_INIT, again = TS_BUF_INIT;

		ts_strict_value(ts_bytes_of(rows[i].text), &out);
		if (out.n > 0)
			assert_int_equal(ts_strict_value(ts_buf_bytes(&out), &again), 0);
		ts_buf_release(&again);
		ts_buf_release(&out);
	}
}

TEST(what_is_nested_too_deep_is_null)
{
	struct ts_buf text = TS_BUF_INIT, out = TS_BUF_INIT, again = TS_BUF_INIT;

	ts_buf_pad(&text, '[', TS_STRICT_DEPTH + 5);
	ts_buf_puts(&text, "\"]\"");
	ts_buf_pad(&text, ']', TS_STRICT_DEPTH + 5);
	assert_int_equal(ts_strict_value(ts_buf_bytes(&text), &out), 1);
	assert_int_equal(out.n, 2 * TS_STRICT_DEPTH + strlen("null"));
	assert_int_equal(ts_strict_value(ts_buf_bytes(&out), &again), 0);
	ts_buf_release(&again);
	ts_buf_release(&out);
	ts_buf_release(&text);
}

TEST(items_go_in_at_a_seam)
{
	static const struct {
		const char *before, *item, *behind, *whole;
	} seams[] = {
		{ "[1", ",9", "]", "[1,9]" },
		{ "[1, ", ",9", "]", "[1 ,9]" },
		{ "{\"a\":[nan,", ",9", "],\"b\":2}", "{\"a\":[null,9],\"b\":2}" },
		{ "[1,{}", ",9", "", "[1,{},9]" },
	};

	for (size_t i = 0; i < TS_NELEM(seams); i++) {
		struct ts_buf out = TS_BUF_INIT;
		struct ts_strict strict;

		ts_strict_init(&strict, &out);
		ts_strict_put(&strict, ts_bytes_of(seams[i].before));
		ts_strict_seam(&strict);
		ts_buf_puts(&out, seams[i].item);
		ts_strict_put(&strict, ts_bytes_of(seams[i].behind));
		ts_strict_end(&strict);
		ts_buf_putc(&out, '\0');
		assert_string_equal((const char *)out.p, seams[i].whole);
		ts_buf_release(&out);
	}
}

/* The whole text in one piece takes the fast road over what is good, byte by byte never. */
TEST(pieces_change_nothing)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_buf text = TS_BUF_INIT, whole = TS_BUF_INIT, bytes = TS_BUF_INIT;
		struct ts_strict one, many;

		ts_buf_puts(&text, "[{\"ph\": \"X\", \"ts\": 12.5, \"args\": {\"a\": [1, 2], "
				   "\"b\\n\": null}},\n");
		ts_buf_puts(&text, rows[i].text);
		ts_buf_puts(&text, ", {\"name\": true} , -1e5, [], {}");
		ts_buf_pad(&text, ' ', 100);
		ts_buf_putc(&text, ']');
		ts_strict_init(&one, &whole);
		ts_strict_put(&one, ts_buf_bytes(&text));
		ts_strict_end(&one);
		ts_strict_init(&many, &bytes);
		for (size_t at = 0; at < text.n; at++)
			ts_strict_put(&many, ts_bytes_cut(ts_buf_bytes(&text), at, 1));
		ts_strict_end(&many);
		assert_true(ts_bytes_eq(ts_buf_bytes(&whole), ts_buf_bytes(&bytes)));
		assert_int_equal(one.nr_refused, many.nr_refused);
		assert_int_equal(one.first_at, many.first_at);
		assert_true(one.nr_refused > 0 ||
			    ts_bytes_eq(ts_buf_bytes(&whole), ts_buf_bytes(&text)));
		ts_buf_release(&text);
		ts_buf_release(&whole);
		ts_buf_release(&bytes);
	}
}
