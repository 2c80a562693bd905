/* SPDX-License-Identifier: MIT */
/* CSV (RFC 4180), written. The guard against formulas follows OWASP's "CSV Injection". */
#include "codec/csv.h"

#include "base/check.h"

#include <math.h>

#include "codec/json.h"
#include "codec/utf8.h"

static void next_cell(struct ts_csv *csv)
{
	if (csv->in_row)
		ts_buf_putc(csv->out, ',');
	csv->in_row = true;
}

/* Spreadsheets take the full-width forms of these signs, too. */
static bool begins_with_sign(struct ts_bytes text)
{
	static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					    "\xef\xbc\xa0" };

	for (size_t i = 0; i < TS_NELEM(wide); i++)
		if (ts_bytes_starts(text, wide[i]))
			return true;
	return text.n > 0 && text.p[0] != '\0' && strchr("=+-@", text.p[0]);
}

static bool is_formula(struct ts_bytes text)
{
	return begins_with_sign(text) ||
	       (text.n > 0 && text.p[0] != '\0' && strchr("\t\r\n", text.p[0]));
}

/* Where a spreadsheet may begin a cell in the middle of ours: its separator is ; or a tab in much of the world, and quotes mean
 * nothing to it behind the first of them. */
static bool parts_cells(uint32_t c)
{
	return c == ';' || c == '\t' || c == '\n' || c == '\r';
}

static bool needs_quotes(struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '"' || text.p[i] == ',' || parts_cells(text.p[i]))
			return true;
	return text.n > 0 && (text.p[0] == ' ' || text.p[text.n - 1] == ' ');
}

/* These bytes may not reach a terminal that shows the table, and they belong in no name. */
static bool csv_is_forbidden(uint32_t c)
{
	return c == TS_UTF8_BAD || (ts_utf8_is_control(c) && c != '\t' && c != '\n' && c != '\r');
}

static void put_valid(struct ts_buf *out, struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = text.p + text.n;

	while (p < end) {
		const uint8_t *start = p;
		uint32_t c = ts_utf8_next(&p, end);

		if (csv_is_forbidden(c))
			ts_buf_puts(out, TS_UTF8_REPLACEMENT);
		else
			ts_buf_put(out, (struct ts_bytes){ start, (size_t)(p - start) });
		if (c == '"')
			ts_buf_putc(out, '"');
		if (parts_cells(c) && begins_with_sign((struct ts_bytes){ p, (size_t)(end - p) }))
			ts_buf_putc(out, '\'');
	}
}

void ts_csv_text(struct ts_csv *csv, struct ts_bytes text)
{
	bool quotes = needs_quotes(text);

	TS_ASSERT_HOT(csv);
	TS_ASSERT_HOT(text.p || text.n == 0);
	next_cell(csv);
	if (quotes)
		ts_buf_putc(csv->out, '"');
	if (is_formula(text))
		ts_buf_putc(csv->out, '\'');
	if (text.n)
		put_valid(csv->out, text);
	if (quotes)
		ts_buf_putc(csv->out, '"');
}

void ts_csv_i64(struct ts_csv *csv, int64_t value)
{
	TS_ASSERT_HOT(csv);
	next_cell(csv);
	ts_buf_i64(csv->out, value);
}

void ts_csv_u64(struct ts_csv *csv, uint64_t value)
{
	TS_ASSERT_HOT(csv);
	next_cell(csv);
	ts_buf_u64(csv->out, value);
}

void ts_csv_double(struct ts_csv *csv, double value)
{
	TS_ASSERT_HOT(csv);
	next_cell(csv);
	if (isfinite(value))
		ts_json_number(csv->out, value);
}

void ts_csv_empty(struct ts_csv *csv)
{
	TS_ASSERT_HOT(csv);
	next_cell(csv);
}

void ts_csv_end_row(struct ts_csv *csv)
{
	TS_ASSERT_HOT(csv);
	ts_buf_putc(csv->out, '\n');
	csv->in_row = false;
}
