/* SPDX-License-Identifier: MIT */
/* CSV cells: quoting by hand, and random text read back by a small RFC 4180 reader. */
#include "tests/test.h"

#include <math.h>

#include "codec/csv.h"

struct row {
	struct ts_bytes in;
	const char *out;
};

static const struct row cells[] = {
	{ TS_LIT(""), "" },
	{ TS_LIT("fusion.12"), "fusion.12" },
	{ TS_LIT("a,b"), "\"a,b\"" },
	{ TS_LIT("say \"hi\""), "\"say \"\"hi\"\"\"" },
	{ TS_LIT("two\nlines"), "\"two\nlines\"" },
	{ TS_LIT(" edge"), "\" edge\"" },
	{ TS_LIT("=1+1"), "'=1+1" },
	{ TS_LIT("+1"), "'+1" },
	{ TS_LIT("-1"), "'-1" },
	{ TS_LIT("@SUM(A1)"), "'@SUM(A1)" },
	{ TS_LIT("=a,b"), "\"'=a,b\"" },
	{ TS_LIT("\t=1"), "\"'\t'=1\"" },
	{ TS_LIT("\r=1"), "\"'\r'=1\"" },
	{ TS_LIT("\nx"), "\"'\nx\"" },
	{ TS_LIT("a;b"), "\"a;b\"" },
	{ TS_LIT("a;=1+1;b"), "\"a;'=1+1;b\"" },
	{ TS_LIT("a\t-1"), "\"a\t'-1\"" },
	{ TS_LIT("a\r\n@x\r\n"), "\"a\r\n'@x\r\n\"" },
	{ TS_LIT("\xEF\xBC\x9D"
		 "1+1"),
	  "'\xEF\xBC\x9D"
	  "1+1" },
	{ TS_LIT("a;\xEF\xBC\xA0"), "\"a;'\xEF\xBC\xA0\"" },
	{ TS_LIT("\xEF\xBC\x8C"), "\xEF\xBC\x8C" },
	{ TS_LIT("a=1"), "a=1" },
	{ TS_LIT("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F" },
	{ TS_LIT("a\xFF"
		 "b\0c\x1b"),
	  "a\xEF\xBF\xBD"
	  "b\xEF\xBF\xBD"
	  "c\xEF\xBF\xBD" },
};

TEST(text_is_quoted_and_guarded_as_written_by_hand)
{
	struct ts_buf out = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(cells); i++) {
		struct ts_csv csv = ts_csv_of(&out);

		ts_buf_clear(&out);
		ts_csv_text(&csv, cells[i].in);
		ts_buf_putc(&out, '\0');
		assert_string_equal((char *)out.p, cells[i].out);
	}
	ts_buf_release(&out);
}

TEST(numbers_are_left_alone)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_csv csv = ts_csv_of(&out);

	ts_csv_i64(&csv, -5);
	ts_csv_u64(&csv, UINT64_MAX);
	ts_csv_double(&csv, -0.5);
	ts_csv_double(&csv, NAN);
	ts_csv_empty(&csv);
	ts_csv_end_row(&csv);
	ts_csv_i64(&csv, 1);
	ts_csv_end_row(&csv);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, "-5,18446744073709551615,-0.5,,\n1\n");
	ts_buf_release(&out);
}

/* One cell from *AT on; its text in CELL. Stands behind the comma or line end afterwards. */
static size_t read_cell(const uint8_t **at, const uint8_t *end, uint8_t *cell)
{
	const uint8_t *p = *at;
	bool quoted = p < end && *p == '"';
	size_t n = 0;

	for (p += quoted; p < end; p++) {
		if (quoted && *p == '"') {
			p++;
			if (p == end || *p != '"')
				quoted = false;
		}
		if (!quoted && p < end && (*p == ',' || *p == '\n'))
			break;
		assert_true(p < end);
		cell[n++] = *p;
	}
	*at = p + 1;
	return n;
}

/* The text with its apostrophes: in front, and where another separator would begin a cell. */
static size_t with_guards(const uint8_t *text, size_t n, uint8_t *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_sign = memchr("=+-@", text[i], 4) != NULL;
		bool is_space = memchr("\t\r\n", text[i], 3) != NULL;

		if (i == 0 ? is_sign || is_space : is_sign && memchr(";\t\r\n", text[i - 1], 4))
			out[nr++] = '\'';
		out[nr++] = text[i];
	}
	return nr;
}

TEST(random_text_reads_back)
{
	static const char letters[] = "ab=+-@\",\n\r\t ' ;x";
	struct ts_buf out = TS_BUF_INIT;
	uint64_t seed = 9;

	for (int round = 0; round < 50000; round++) {
		struct ts_csv csv = ts_csv_of(&out);
		uint8_t text[3][12], cell[64], guarded[24];
		size_t n[3];
		const uint8_t *at;

		ts_buf_clear(&out);
		for (int c = 0; c < 3; c++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			n[c] = (size_t)(seed >> 40) % 12;
			for (size_t i = 0; i < n[c]; i++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				text[c][i] = (uint8_t)letters[(seed >> 40) % (sizeof(letters) - 1)];
			}
			ts_csv_text(&csv, (struct ts_bytes){ text[c], n[c] });
		}
		ts_csv_end_row(&csv);
		at = out.p;
		for (int c = 0; c < 3; c++) {
			size_t got = read_cell(&at, out.p + out.n, cell);

			assert_int_equal(got, with_guards(text[c], n[c], guarded));
			assert_memory_equal(cell, guarded, got);
		}
		assert_ptr_equal(at, out.p + out.n);
	}
	ts_buf_release(&out);
}
