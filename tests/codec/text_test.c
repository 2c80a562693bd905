/* SPDX-License-Identifier: MIT */
/* Text for HTML pages and for terminals. */
#include "tests/test.h"
#include "codec/html.h"
#include "codec/markdown.h"
#include "codec/term.h"
#include "codec/utf8.h"

#define DOTS TS_TERM_ELLIPSIS
#define BAD  TS_UTF8_REPLACEMENT

static void assert_text(struct ts_buf *out, const char *expected)
{
	ts_buf_putc(out, '\0');
	assert_false(out->failed);
	assert_string_equal((char *)out->p, expected);
	ts_buf_clear(out);
}

struct row {
	struct ts_bytes in;
	const char *html, *term;
};

static const struct row rows[] = {
	{ TS_LIT(""), "", "" },
	{ TS_LIT("plain"), "plain", "plain" },
	{ TS_LIT("<b a='1' c=\"2\">&amp;"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;",
	  "<b a='1' c=\"2\">&amp;" },
	{ TS_LIT("a\nb\tc\rd"), "a\nb\tc\rd", "a b c d" },
	{ TS_LIT("\x1b[2J\x07\x7f"), BAD "[2J" BAD BAD, BAD "[2J" BAD BAD },
	{ TS_LIT("a\0b"), "a" BAD "b", "a" BAD "b" },
	{ TS_LIT("\xC2\x9B"
		 "31m"),
	  BAD "31m", BAD "31m" },
	{ TS_LIT("\xE2\x80\xAEgpj.exe"), BAD "gpj.exe", BAD "gpj.exe" },
	{ TS_LIT("\xFF\xC3"), BAD BAD, BAD BAD },
	{ TS_LIT("\xE4\xB8\xAD\xF0\x9F\x98\x80"), "\xE4\xB8\xAD\xF0\x9F\x98\x80",
	  "\xE4\xB8\xAD\xF0\x9F\x98\x80" },
};

TEST(text_is_made_safe_as_written_by_hand)
{
	struct ts_buf out = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		ts_html_text(&out, rows[i].in);
		assert_text(&out, rows[i].html);
		ts_term_text(&out, rows[i].in);
		assert_text(&out, rows[i].term);
	}
	ts_buf_release(&out);
}

TEST(random_bytes_leave_nothing_dangerous)
{
	struct ts_buf out = TS_BUF_INIT;
	uint64_t seed = 17;
	uint8_t text[32];

	for (int round = 0; round < 50000; round++) {
		const uint8_t *p, *end;

		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[i] = (uint8_t)(seed >> 40);
		}
		ts_html_text(&out, (struct ts_bytes){ text, seed >> 59 });
		ts_buf_putc(&out, '\0');
		assert_null(strpbrk((char *)out.p, "<>\"'"));
		for (p = out.p, end = p + out.n - 1; p < end;)
			assert_int_not_equal(ts_utf8_next(&p, end), TS_UTF8_BAD);
		ts_buf_clear(&out);
		ts_term_text(&out, (struct ts_bytes){ text, seed >> 59 });
		for (p = out.p, end = p + out.n; p < end;) {
			uint32_t c = ts_utf8_next(&p, end);

			assert_int_not_equal(c, TS_UTF8_BAD);
			assert_false(ts_utf8_is_control(c));
		}
		assert_int_equal(ts_term_width(ts_buf_bytes(&out)),
				 ts_term_width((struct ts_bytes){ text, seed >> 59 }));
		ts_buf_clear(&out);
	}
	ts_buf_release(&out);
}

struct cut {
	const char *in;
	size_t width;
	const char *out;
};

static const struct cut cuts[] = {
	{ "abcdefgh", 8, "abcdefgh" },
	{ "abcdefgh", 7, "abc" DOTS "fgh" },
	{ "abcdefgh", 4, "ab" DOTS "h" },
	{ "abcdefgh", 2, "a" DOTS },
	{ "abcdefgh", 1, DOTS },
	{ "abcdefgh", 0, "" },
	{ "", 3, "" },
	{ "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F", 3, "\xC3\xA4" DOTS "\xC3\x9F" },
};

TEST(long_names_lose_their_middle)
{
	struct ts_buf out = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(cuts); i++) {
		ts_term_cut(&out, ts_bytes_of(cuts[i].in), cuts[i].width);
		assert_int_equal(ts_term_width(ts_buf_bytes(&out)),
				 TS_MIN(cuts[i].width, ts_term_width(ts_bytes_of(cuts[i].in))));
		assert_text(&out, cuts[i].out);
	}
	ts_buf_release(&out);
}

TEST(cells_are_filled_on_the_other_side)
{
	struct ts_buf out = TS_BUF_INIT;

	ts_term_cell(&out, TS_LIT("\xC3\xA4"), 3, TS_TERM_LEFT);
	assert_text(&out, "\xC3\xA4  ");
	ts_term_cell(&out, TS_LIT("ab"), 3, TS_TERM_RIGHT);
	assert_text(&out, " ab");
	ts_term_cell(&out, TS_LIT("abcd"), 3, TS_TERM_RIGHT);
	assert_text(&out, "a" DOTS "d");
	ts_buf_release(&out);
}

struct wrap {
	const char *in;
	struct ts_term_wrap how;
	const char *out;
};

static const struct wrap wraps[] = {
	{ "one two three", { 0, 0, 0, 0 }, "one two three" },
	{ "  one\n\ttwo   three  ", { 0, 0, 0, 0 }, "one two three" },
	{ "one two three", { 7, 0, 0, 0 }, "one two\nthree" },
	{ "one two three", { 8, 3, 2, 0 }, "one\n  two\n  three" },
	{ "one two three", { 7, 0, 0, 2 }, "one two\nthree" },
	{ "one two three four", { 7, 0, 0, 2 }, "one two\nthree " DOTS },
	{ "one two three four", { 6, 0, 0, 2 }, "one\ntwo " DOTS },
	{ "one two three", { 7, 0, 0, 1 }, "one " DOTS },
	{ "one two", { 7, 0, 0, 1 }, "one two" },
	{ "abcdefghij", { 6, 0, 0, 0 }, "abcdefghij" },
	{ "abcdefghij", { 6, 0, 0, 1 }, "abc" DOTS "ij" },
	{ "", { 6, 2, 2, 1 }, "" },
};

TEST(of_a_link_the_text_stays)
{
	static const char *const texts[][2] = {
		{ "", "" },
		{ "`ops[]` (by self time)", "`ops[]` (by self time)" },
		{ "[chips](../chips.md)", "chips" },
		{ "as `a[]`: [x](y), ([z](../z.md#w)).", "as `a[]`: x, (z)." },
		{ "[cut](off", "cut" },
	};
	struct ts_buf out = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(texts); i++) {
		ts_markdown_put_unlinked(&out, texts[i][0]);
		assert_text(&out, texts[i][1]);
	}
	ts_buf_release(&out);
}

TEST(words_break_into_lines_as_written_by_hand)
{
	struct ts_buf out = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(wraps); i++) {
		ts_term_wrap(&out, ts_bytes_of(wraps[i].in), wraps[i].how);
		assert_text(&out, wraps[i].out);
	}
	ts_buf_release(&out);
}
