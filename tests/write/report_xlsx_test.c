/* SPDX-License-Identifier: MIT */
/* Spreadsheets, unpacked by another reader; tests/python/spreadsheet_test.py reads whole reports with other readers. */
#include "tests/test.h"
#include "io/archive.h"
#include "write/report_xlsx.h"

#include "sample.h"

struct wanted {
	const char *name;
	struct ts_buf *text;
	bool is_there;
};

static enum ts_status see(void *ctx, const char *name, struct ts_buf *content, struct ts_error *err)
{
	struct wanted *wanted = ctx;

	if (strcmp(name, wanted->name) == 0) {
		ts_buf_put(wanted->text, ts_buf_bytes(content));
		wanted->is_there = true;
	}
	return TS_OK;
}

static void member_of(struct ts_bytes zip, const char *name, struct ts_buf *text)
{
	struct wanted wanted = { name, text, false };
	const struct ts_archive_visitor visitor = { .entry = see, .ctx = &wanted };

	ts_buf_clear(text);
	assert_int_equal(ts_archive_each(zip, &visitor, NULL), TS_OK);
	if (!wanted.is_there)
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

TEST(a_name_that_tries_to_escape_is_text)
{
	assert_has("ops", "xl/worksheets/sheet4.xml",
		   "<t xml:space=\"preserve\">=cmd|&#39; /C calc&#39;!A0,&quot;&lt;/script&gt;"
		   "\xEF\xBF\xBD[2J</t>");
}

TEST(cells_have_the_kind_of_their_value)
{
	assert_has("ops", "xl/worksheets/sheet4.xml",
		   "<t xml:space=\"preserve\">18446744073709551615</t>");
	assert_has("ops", "xl/worksheets/sheet4.xml",
		   "<c><v>1234567</v></c><c/><c t=\"b\"><v>1</v></c></row>");
	assert_has(NULL, "xl/worksheets/sheet1.xml",
		   "overview.mxu_utilization_pct</t></is></c><c/></row>");
	assert_has(NULL, "xl/worksheets/sheet1.xml", "step_time_ps.mean</t></is></c><c><v>0.5</v>");
}

TEST(a_view_has_the_run_and_its_own_tables)
{
	assert_has(
		"time", "xl/workbook.xml",
		"<sheets><sheet name=\"report\" sheetId=\"1\" r:id=\"r1\"/><sheet "
		"name=\"run.hosts\" "
		"sheetId=\"2\" r:id=\"r2\"/><sheet name=\"run.devices\" sheetId=\"3\" r:id=\"r3\"/>"
		"<sheet name=\"time.per_step\" sheetId=\"4\" r:id=\"r4\"/></sheets>");
}

/* In 31 characters, each once, without what a name may not have. */
TEST(names_of_sheets_are_cut_and_differ)
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

TEST(it_says_what_it_cannot_do)
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
