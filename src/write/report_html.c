/* The report as one HTML file. */
#include "write/report_html.h"

#include "codec/html.h"
#include "write/page.h"
#include "write/report_json.h"

#define POLICY                                                                       \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " \
	"img-src data:; base-uri 'none'; form-action 'none'"

/* JSON inside a script element: no text of the report can end the element, or begin a comment. */
static void put_json(struct ts_buf *out, struct ts_bytes json)
{
	size_t from = 0;

	for (size_t i = 0; i < json.n; i++) {
		if (json.p[i] != '<')
			continue;
		ts_buf_put(out, ts_bytes_cut(json, from, i));
		ts_buf_puts(out, "\\u003c");
		from = i + 1;
	}
	ts_buf_put(out, ts_bytes_cut(json, from, json.n));
}

static void put_head(struct ts_buf *out, const struct ts_results *results)
{
	const struct ts_result *run = ts_results_find(results, "run");
	struct ts_value name = run ? ts_result_get(run, "run.run") : ts_null();

	ts_buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY "\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width\">\n<title>TPUsight");
	if (name.type == TS_VALUE_TEXT) {
		ts_buf_puts(out, ": ");
		ts_html_text(out, name.as.s);
	}
	ts_buf_puts(out, "</title>\n<style>\n");
	ts_buf_put(out, ts_page.style);
	ts_buf_puts(out, "</style>\n</head>\n");
}

enum ts_status ts_report_html(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err)
{
	struct ts_report form = *report;
	struct ts_buf json = TS_BUF_INIT;
	enum ts_status st;

	if (ts_page.script.n == 0)
		return ts_fail(err, TS_UNSUPPORTED,
			       "this program was built without its page (install npm and build "
			       "it again; --format json has the same report)");
	form.pretty = false;
	form.view = NULL; /* the page has all views, and opens the first */
	st = ts_report_json(&json, results, &form, err);
	if (st == TS_OK) {
		put_head(out, results);
		ts_buf_puts(out, "<body>\n<div id=\"tpusight\"></div>\n<script "
				 "type=\"application/json\" id=\"tpusight-report\">");
		put_json(out, ts_buf_bytes(&json));
		ts_buf_puts(out, "</script>\n<script>\n");
		ts_buf_put(out, ts_page.script);
		ts_buf_puts(out, "</script>\n</body>\n</html>\n");
		out->failed |= json.failed;
	}
	ts_buf_release(&json);
	return st;
}

const struct ts_output ts_output_html = {
	.name = "html",
	.extension = "html",
	.emit = ts_report_html,
};
