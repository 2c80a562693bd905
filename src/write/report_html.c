/* SPDX-License-Identifier: MIT */
/* The report as one HTML file. */
#include "write/report_html.h"

#include "base/check.h"
#include "codec/html.h"
#include "write/page.h"
#include "write/report_json.h"
#include "result/schema/compare.def"
#include "write/summary.h"

/* Script and style stand there by their hashes (ts_page.policy), so both are put without a byte more. */
#define POLICY                                                                          \
	"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "      \
	"require-trusted-types-for 'script'; trusted-types 'none'; "

/* What tells this page from others; the page itself knows more (main.jsx). */
static void report_html_put_title(struct ts_buf *out, const struct ts_results *results)
{
	struct ts_value names[] = { TS_OVERVIEW(results, run.run),
				    TS_OVERVIEW(results, run.session) };
	const char *before = ": ";

	ts_buf_puts(out, "TPUsight");
	for (size_t i = 0; i < TS_NELEM(names); i++) {
		if (names[i].type != TS_VALUE_TEXT || ts_bytes_is(names[i].as.s, "."))
			continue;
		ts_buf_puts(out, before);
		ts_html_text(out, names[i].as.s);
		before = " / ";
	}
}

/* Which runs a comparison holds against each other. */
static void put_compared(struct ts_buf *out, const struct ts_results *results)
{
	const struct ts_table *runs = TS_FIND_TABLE(results, compare, runs);

	if (!runs || runs->nr_rows < 2)
		return;
	ts_buf_puts(out, ": ");
	ts_html_text(out, ts_value_text(TS_CELL_OF(runs, compare_runs, 1, run)));
	if (runs->nr_rows > 2)
		ts_buf_printf(out, " and %zu more", runs->nr_rows - 2);
	ts_buf_puts(out, " against ");
	ts_html_text(out, ts_value_text(TS_CELL_OF(runs, compare_runs, 0, run)));
}

static void report_html_put_head(struct ts_buf *out, const struct ts_results *results)
{
	ts_buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY);
	ts_buf_put(out, ts_page.policy);
	ts_buf_puts(out, "\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	report_html_put_title(out, results);
	put_compared(out, results);
	ts_buf_puts(out, "</title>\n<style>");
	ts_buf_put(out, ts_page.style);
	ts_buf_puts(out, "</style>\n</head>\n");
}

static void report_html_put_attribute(struct ts_buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	ts_buf_printf(out, " data-%s=\"", name);
	ts_html_text(out, ts_bytes_of(value));
	ts_buf_putc(out, '"');
}

/* Which view the page opens, and how: as the command line asked for it. */
static void put_body(struct ts_buf *out, const struct ts_report *report)
{
	ts_buf_puts(out, "<body");
	report_html_put_attribute(out, "view", report->view);
	report_html_put_attribute(out, "tree", report->tree);
	report_html_put_attribute(out, "weight", report->weight);
	if (report->min_duration_ps > 0)
		ts_buf_printf(out, " data-min-duration-ps=\"%lld\"",
			      (long long)report->min_duration_ps);
	if (report->max_depth > 0)
		ts_buf_printf(out, " data-max-depth=\"%zu\"", report->max_depth);
	report_html_put_attribute(out, "group-small", report->group_small ? "true" : NULL);
	ts_buf_puts(out, ">\n");
}

enum ts_status ts_report_html(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err)
{
	struct ts_report form = *report;
	enum ts_status st;

	TS_ASSERT(out && results && report);
	if (ts_page.script.n == 0)
		return ts_fail(err, TS_UNSUPPORTED,
			       "this program was built without its page (install npm and build "
			       "it again; --format json has the same report)");
	form.pretty = false;
	form.view = NULL; /* the page has all views, and opens this one */
	report_html_put_head(out, results);
	put_body(out, report);
	ts_buf_puts(out, "<div id=\"tpusight\"></div>\n"
			 "<footer><details><summary>Third-party notices</summary>\n<pre>");
	ts_html_text(out, ts_page.notices);
	ts_buf_puts(out, "</pre>\nThose of the program that made it: tpusight "
			 "--licenses</details></footer>\n"
			 "<script type=\"application/json\" id=\"tpusight-report\">");
	st = ts_report_json(out, results, &form, err);
	ts_buf_puts(out, "</script>\n");
	if (report->pictures.n > 0) { /* there is no '<' in JSON (codec/json.h) */
		ts_buf_puts(out, "<script type=\"application/json\" id=\"tpusight-slices\">");
		ts_buf_put(out, report->pictures);
		ts_buf_puts(out, "</script>\n");
	}
	ts_buf_puts(out, "<script>");
	ts_buf_put(out, ts_page.script);
	ts_buf_puts(out, "</script>\n</body>\n</html>\n");
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

const struct ts_output ts_output_html = {
	.name = "html",
	.extension = "html",
	.emit = ts_report_html,
};
