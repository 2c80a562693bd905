/* SPDX-License-Identifier: MIT */
/* The report as a page: whole, closed to the network, and with no way out for the data. */
#include "tests/test.h"
#include "write/page.h"
#include "write/report_html.h"

#include "sample.h"

static const struct ts_report form = { .generator = "tpusight", .version = "1" };

static char *made(struct ts_buf *out)
{
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(ts_report_html(out, &results, &form, NULL), TS_OK);
	ts_results_release(&results);
	ts_buf_putc(out, '\0');
	assert_false(out->failed);
	return (char *)out->p;
}

/* EVIL of sample.h has a closing tag in an op's name. */
TEST(data_does_not_end_its_element)
{
	static const char begin[] = "id=\"tpusight-report\">";
	struct ts_buf out = TS_BUF_INIT;
	char *text, *data, *end;

	if (ts_page.script.n == 0)
		skip();
	text = made(&out);
	data = strstr(text, begin);
	assert_non_null(data);
	data += strlen(begin);
	end = strchr(data, '<');
	assert_non_null(end);
	assert_int_equal(strncmp(end, "</script>\n<script>", 18), 0);
	assert_int_equal(data[0], '{');
	assert_true(end - data > 1000);
	assert_non_null(strstr(data, "\\u003c/script"));
	ts_buf_release(&out);
}

TEST(policy_forbids_every_connection)
{
	struct ts_buf out = TS_BUF_INIT;
	char *text, *policy;

	if (ts_page.script.n == 0)
		skip();
	text = made(&out);
	policy = strstr(text, "Content-Security-Policy");
	assert_non_null(policy);
	assert_true(policy < strstr(text, "<title>"));
	assert_non_null(strstr(policy, "default-src 'none'"));
	assert_null(strstr(text, "connect-src"));
	assert_null(strstr(text, "unsafe-"));
	assert_non_null(strstr(policy, "script-src 'sha256-"));
	assert_non_null(strstr(policy, "style-src 'sha256-"));
	assert_non_null(strstr(text, "<title>TPUsight: run1 / 2025_03_11</title>"));
	ts_buf_release(&out);
}

/* The bundle stands inside a script element: nothing in it may end that. */
TEST(bundle_does_not_end_its_element)
{
	assert_false(ts_bytes_has(ts_page.script, "</script"));
	assert_false(ts_bytes_has(ts_page.script, "<!--"));
	assert_false(ts_bytes_has(ts_page.style, "</style"));
}

TEST(program_without_its_page_says_so)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_results results;

	if (ts_page.script.n > 0)
		skip();
	sample_make(&results);
	assert_int_equal(ts_report_html(&out, &results, &form, &err), TS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "npm"));
	ts_results_release(&results);
	ts_buf_release(&out);
}
