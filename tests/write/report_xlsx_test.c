/* SPDX-License-Identifier: Apache-2.0 */
/* Spreadsheets, unpacked again here; tests/python/spreadsheet_test.py reads whole reports with other readers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <zlib.h>

#include "codec/zipw.h"
#include "write/report_xlsx.h"

#include "sample.h"

enum { HEADER = 30, CRC_AT = 14, PACKED_AT = 18, PLAIN_AT = 22, NAME_AT = 26 };

static size_t number(const uint8_t *p, unsigned n)
{
	size_t value = 0;

	while (n-- > 0)
		value = value << 8 | p[n];
	return value;
}

static void unpack(const uint8_t *header, struct ts_buf *text)
{
	size_t plain = number(header + PLAIN_AT, 4);
	z_stream z = { .next_in = (Bytef *)header + HEADER + number(header + NAME_AT, 2),
		       .avail_in = (uInt)number(header + PACKED_AT, 4) };

	assert_true(ts_buf_room(text, plain + 1));
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	z.next_out = text->p;
	z.avail_out = (uInt)plain;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	text->n = plain;
	assert_int_equal(crc32(0, text->p, (uInt)plain), number(header + CRC_AT, 4));
}

/* The text of a member, by the headers in front of each. */
static void member_of(struct ts_bytes zip, const char *name, struct ts_buf *text)
{
	size_t at = 0, nr;

	while (ts_bytes_starts(ts_bytes_cut(zip, at, zip.n), "PK\003\004")) {
		const uint8_t *header = zip.p + at;

		nr = number(header + NAME_AT, 2);
		if (nr == strlen(name) && memcmp(header + HEADER, name, nr) == 0) {
			unpack(header, text);
			return;
		}
		at += HEADER + nr + number(header + PACKED_AT, 4);
	}
	fail_msg("there is not a member %s", name);
}

static void assert_has(const char *view, const char *member, const char *words)
{
	struct ts_buf out = TS_BUF_INIT, text = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(ts_report_xlsx(&out, &results, &(struct ts_report){ .view = view }, NULL),
			 TS_OK);
	member_of(ts_buf_bytes(&out), member, &text);
	if (!ts_bytes_has(ts_buf_bytes(&text), words))
		fail_msg("%s has not got %s", member, words);
	ts_buf_release(&text);
	ts_buf_release(&out);
	ts_results_release(&results);
}

static void a_name_that_tries_to_escape_is_text(void **state)
{
	assert_has("ops", "xl/worksheets/sheet4.xml",
		   "<t xml:space=\"preserve\">=cmd|&#39; /C calc&#39;!A0,&quot;&lt;/script&gt;"
		   "\xEF\xBF\xBD[2J</t>");
}

static void cells_have_the_kind_of_their_value(void **state)
{
	assert_has("ops", "xl/worksheets/sheet4.xml",
		   "<t xml:space=\"preserve\">18446744073709551615</t>");
	assert_has("ops", "xl/worksheets/sheet4.xml",
		   "<c><v>1234567</v></c><c/><c t=\"b\"><v>1</v></c></row>");
	assert_has(NULL, "xl/worksheets/sheet1.xml",
		   "overview.mxu_utilization_pct</t></is></c><c/></row>");
	assert_has(NULL, "xl/worksheets/sheet1.xml", "step_time_ps.mean</t></is></c><c><v>0.5</v>");
}

static void a_view_has_the_run_and_its_own_tables(void **state)
{
	assert_has(
		"time", "xl/workbook.xml",
		"<sheets><sheet name=\"report\" sheetId=\"1\" r:id=\"r1\"/><sheet "
		"name=\"run.hosts\" "
		"sheetId=\"2\" r:id=\"r2\"/><sheet name=\"run.devices\" sheetId=\"3\" r:id=\"r3\"/>"
		"<sheet name=\"time.per_step\" sheetId=\"4\" r:id=\"r4\"/></sheets>");
}

/* In 31 characters, each once, without what a name may not have. */
static void names_of_sheets_are_cut_and_differ(void **state)
{
	static const struct ts_column columns[] = { { "a", TS_MEASURED, NULL } };
	static const char *const names[] = { "a_table_with_a_name_that_is_long/1",
					     "a_table_with_a_name_that_is_long/2", "B:c", "b?C" };
	struct ts_buf out = TS_BUF_INIT, text = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;

	ts_results_init(&results);
	result = ts_results_add(&results, "x", "X");
	for (size_t i = 0; i < TS_NELEM(names); i++)
		ts_table_row(result, ts_result_table(result, names[i], NULL, columns, 1))[0] =
			ts_int((int64_t)i);
	assert_int_equal(ts_report_xlsx(&out, &results, &(struct ts_report){ 0 }, NULL), TS_OK);
	member_of(ts_buf_bytes(&out), "xl/workbook.xml", &text);
	assert_true(ts_bytes_has(ts_buf_bytes(&text), "\"x.a_table_with_a_name_that_is_l\""));
	assert_true(ts_bytes_has(ts_buf_bytes(&text), "\"x.a_table_with_a_name_that_is~2\""));
	assert_true(ts_bytes_has(ts_buf_bytes(&text), "\"x.B_c\""));
	assert_true(ts_bytes_has(ts_buf_bytes(&text), "\"x.b_C~2\""));
	ts_buf_release(&text);
	ts_buf_release(&out);
	ts_results_release(&results);
}

static void a_zip_of_nothing_and_of_much(void **state)
{
	struct ts_buf out = TS_BUF_INIT, text = TS_BUF_INIT, much = TS_BUF_INIT;
	struct ts_zipw zip = ts_zipw_of(&out);

	ts_buf_pad(&much, 'a', 1 << 20);
	ts_zipw_member(&zip, "nothing", (struct ts_bytes){ NULL, 0 });
	ts_zipw_member(&zip, "much", ts_buf_bytes(&much));
	ts_zipw_end(&zip);
	assert_false(out.failed);
	assert_true(out.n < 8192);
	member_of(ts_buf_bytes(&out), "nothing", &text);
	assert_int_equal(text.n, 0);
	member_of(ts_buf_bytes(&out), "much", &text);
	assert_true(ts_bytes_eq(ts_buf_bytes(&text), ts_buf_bytes(&much)));
	ts_buf_release(&much);
	ts_buf_release(&text);
	ts_buf_release(&out);
}

static void it_says_what_it_cannot_do(void **state)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(ts_report_xlsx(&out, &results, &(struct ts_report){ .brief = true }, &err),
			 TS_USAGE);
	assert_int_equal(
		ts_report_xlsx(&out, &results, &(struct ts_report){ .view = "none" }, &err),
		TS_USAGE);
	assert_int_equal(out.n, 0);
	results.failed = true;
	assert_int_equal(ts_report_xlsx(&out, &results, &(struct ts_report){ 0 }, &err), TS_NOMEM);
	ts_results_release(&results);
	ts_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_tries_to_escape_is_text),
		cmocka_unit_test(cells_have_the_kind_of_their_value),
		cmocka_unit_test(a_view_has_the_run_and_its_own_tables),
		cmocka_unit_test(names_of_sheets_are_cut_and_differ),
		cmocka_unit_test(a_zip_of_nothing_and_of_much),
		cmocka_unit_test(it_says_what_it_cannot_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
