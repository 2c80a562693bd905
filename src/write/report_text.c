/* SPDX-License-Identifier: MIT */
/* The report for people. */
#include "write/report_text.h"

#include "base/check.h"
#include "base/units.h"
#include "codec/term.h"
#include "result/order.h"
#include "result/schema/time.def"
#include "result/impossible.h"
#include "result/view.h"
#include "write/breakdown.h"
#include "write/brief.h"
#include "write/screen.h"
#include "write/summary.h"
#include "write/text_table.h"

#define BOLD	      "\033[1m"
#define RESET	      "\033[0m"

#define DETAIL_INDENT 5
#define MAX_TIMES     3
#define PLACE_WIDTH   130 /* of an op: a template of C++ is as long as a page; JSON has it whole */
#define PAGE_WIDTH    100 /* of sentences, where there is no terminal */
#define UNIT_NAME_MAX 96

static const char *const severity_colors[TS_NR_SEVERITIES] = { "\033[1;31m", "\033[33m",
							       "\033[36m" };

struct text {
	struct ts_buf *out;
	const struct ts_report *report;
	bool begun; /* something stands above */
};

static void colored(struct text *text, const char *color, struct ts_bytes s)
{
	if (text->report->color)
		ts_buf_puts(text->out, color);
	ts_term_text(text->out, s);
	if (text->report->color)
		ts_buf_puts(text->out, RESET);
}

static void report_text_put_title(struct text *text, const char *title)
{
	if (text->begun)
		ts_buf_putc(text->out, '\n');
	text->begun = true;
	colored(text, BOLD, ts_bytes_of(title));
	ts_buf_putc(text->out, '\n');
}

static size_t page_width(const struct text *text)
{
	return text->report->width ? text->report->width : PAGE_WIDTH;
}

static void report_text_put_wrapped(struct text *text, struct ts_bytes s, size_t at, size_t indent)
{
	struct ts_term_wrap how = { .width = page_width(text), .at = at, .indent = indent };

	ts_term_wrap(text->out, s, how);
	ts_buf_putc(text->out, '\n');
}

/* What is unknown is said in the head of the report; elsewhere it is left out. */
static bool report_text_is_shown(const struct ts_result *result, const struct ts_field *field)
{
	return field->label && (result->top_level || field->value.type != TS_VALUE_NULL);
}

static size_t label_width(const struct text *text, const struct ts_result *result)
{
	char spoken[TS_SPOKEN_MAX];
	size_t width = 0;

	for (size_t i = 0; i < result->nr_fields; i++)
		if (report_text_is_shown(result, &result->fields[i]))
			width = TS_MAX(width,
				       ts_term_width(ts_spoken_label(result->fields[i].label,
								     text->report->units, spoken)));
	return width;
}

static void report_text_put_fields(struct text *text, const struct ts_result *result)
{
	size_t width = label_width(text, result), column = 2 + width + 2;
	struct ts_buf value = TS_BUF_INIT;

	for (size_t i = 0; i < result->nr_fields; i++) {
		const struct ts_field *field = &result->fields[i];
		char name[UNIT_NAME_MAX], spoken[TS_SPOKEN_MAX];
		struct ts_bytes label; /* of compare: a run's name */
		size_t at;

		if (!report_text_is_shown(result, field))
			continue;
		snprintf(name, sizeof(name), "%s.%s", result->name, field->name);
		ts_buf_puts(text->out, "  ");
		label = ts_spoken_label(field->label, text->report->units, spoken);
		ts_term_text(text->out, label);
		ts_buf_putc(text->out, ':');
		at = 3 + ts_term_width(label);
		ts_buf_pad(text->out, ' ', column - at);
		ts_buf_clear(&value);
		ts_text_value(&value, name, field->value);
		text->out->failed |= value.failed;
		report_text_put_wrapped(text, ts_buf_bytes(&value), column, column);
	}
	ts_buf_release(&value);
}

static void put_gain(struct text *text, const struct ts_finding *finding)
{
	char gain[TS_GAIN_MAX], share[TS_UNIT_MAX];

	ts_buf_pad(text->out, ' ', DETAIL_INDENT);
	ts_buf_printf(text->out, "%s; %s", ts_finding_gain(gain, finding),
		      ts_confidence_name(finding->confidence));
	if (finding->gain_ps >= 0 && finding->impact_share - finding->gain_share > 0.001)
		ts_buf_printf(text->out, "; alone %s of device time",
			      ts_fmt_pct(share, finding->impact_share * 100));
	if (finding->severity_reason)
		ts_buf_printf(text->out, "; %s because %s", ts_severity_name(finding->severity),
			      finding->severity_reason);
	ts_buf_putc(text->out, '\n');
}

static void report_text_put_where(struct text *text, const struct ts_where *where)
{
	static const char *const before[TS_WHERE_COLUMNS] = { "", " in ", " at " };
	struct ts_buf line = TS_BUF_INIT;

	for (size_t i = 0; i < TS_WHERE_COLUMNS; i++) {
		struct ts_value value = ts_where_value(where, i);

		if (value.type == TS_VALUE_NULL)
			continue;
		ts_buf_puts(&line, line.n ? before[i] : "");
		ts_term_cut(&line, value.as.s, PLACE_WIDTH);
	}
	ts_buf_pad(text->out, ' ', DETAIL_INDENT);
	ts_buf_puts(text->out, "where: ");
	report_text_put_wrapped(text, ts_buf_bytes(&line), DETAIL_INDENT + 7, DETAIL_INDENT + 7);
	text->out->failed |= line.failed;
	ts_buf_release(&line);
}

static void put_detail(struct text *text, const char *label, struct ts_bytes s)
{
	size_t indent = DETAIL_INDENT + strlen(label);

	if (s.n == 0)
		return;
	ts_buf_pad(text->out, ' ', DETAIL_INDENT);
	ts_buf_puts(text->out, label);
	report_text_put_wrapped(text, s, indent, indent);
}

/* An example says little without a viewer: it is in the links. */
static void report_text_put_when(struct text *text, const struct ts_finding *finding)
{
	size_t nr = TS_MIN(finding->nr_when, MAX_TIMES);
	struct ts_buf line = TS_BUF_INIT;
	char start[TS_UNIT_MAX], end[TS_UNIT_MAX];

	if (finding->nr_when == 0 || finding->when[0].is_example)
		return;
	for (size_t i = 0; i < nr; i++)
		ts_buf_printf(&line, "%s%s to %s", i ? ", " : "",
			      ts_fmt_ps(start, finding->when[i].start_ps),
			      ts_fmt_ps(end, finding->when[i].end_ps));
	if (nr < finding->nr_when)
		ts_buf_printf(&line, " and %zu more", finding->nr_when - nr);
	put_detail(text, "when: ", ts_buf_bytes(&line));
	text->out->failed |= line.failed;
	ts_buf_release(&line);
}

/* Line by line, as it is written: it is there to be copied. */
static void report_text_put_code(struct text *text, struct ts_bytes code)
{
	while (code.n > 0) {
		size_t n = ts_bytes_find(code, "\n");

		ts_buf_pad(text->out, ' ', n ? DETAIL_INDENT + 4 : 0);
		ts_term_text(text->out, ts_bytes_cut(code, 0, n));
		ts_buf_putc(text->out, '\n');
		code = ts_bytes_cut(code, n + 1, code.n);
	}
}

static void report_text_put_finding(struct text *text, const struct ts_finding *finding,
				    size_t number)
{
	const char *severity = ts_severity_name(finding->severity);
	size_t before = text->out->n, at;

	ts_buf_printf(text->out, "  %zu. ", number);
	at = text->out->n - before + strlen(severity) + 1;
	colored(text, severity_colors[finding->severity], ts_bytes_of(severity));
	ts_buf_putc(text->out, ' ');
	report_text_put_wrapped(text, finding->title, at, DETAIL_INDENT);
	put_detail(text, "", finding->evidence);
	put_gain(text, finding);
	for (size_t i = 0; i < finding->nr_where; i++)
		report_text_put_where(text, &finding->where[i]);
	report_text_put_when(text, finding);
	put_detail(text, "do: ", finding->advice);
	report_text_put_code(text, finding->code);
}

static void report_text_put_findings(struct text *text, const struct ts_result *result)
{
	if (!ts_result_has_findings(result))
		return;
	if (result->nr_findings == 0)
		ts_buf_puts(text->out, "  nothing found\n");
	for (size_t i = 0; i < result->nr_findings; i++)
		report_text_put_finding(text, &result->findings[i], i + 1);
}

static void keep_first(void *arg, const struct ts_impossible_place *place)
{
	struct ts_impossible_place *first = arg;

	if (!first->figure)
		*first = *place;
}

/* How many figures of the result cannot be true, and the first of them with its cause. */
static void report_text_put_impossible(struct text *text, const struct ts_result *result)
{
	struct ts_impossible_place first = { .figure = NULL };
	size_t nr = ts_result_each_impossible(result, NULL, keep_first, &first);
	struct ts_buf line = TS_BUF_INIT;
	struct ts_bytes item;

	if (nr == 0)
		return;
	item = ts_impossible_item(&first);
	ts_buf_printf(&line, "%zu figure%s above a peak and cannot be true; the first, %s", nr,
		      nr == 1 ? " is" : "s are", first.name);
	if (item.n > 0)
		ts_buf_printf(&line, " of %.*s", TS_ARG(item));
	ts_buf_printf(&line, ": %.*s", TS_ARG(first.figure->cause));
	ts_buf_puts(text->out, "  impossible: ");
	report_text_put_wrapped(text, ts_buf_bytes(&line), 14, 14);
	text->out->failed |= line.failed;
	ts_buf_release(&line);
}

static bool report_text_is_time(const struct ts_result *result)
{
	return strcmp(result->name, ts_schema_time.name) == 0;
}

/* A result without anything for people is left out, title and all. */
static bool has_text(const struct text *text, const struct ts_result *result)
{
	return label_width(text, result) > 0 || ts_result_has_findings(result) ||
	       result->nr_notes > 0 || (report_text_is_time(result) && result->nr_fields > 0) ||
	       ts_result_each_impossible(result, NULL, NULL, NULL) > 0;
}

static void report_text_put_result(struct text *text, const struct ts_result *result)
{
	if (has_text(text, result)) {
		report_text_put_title(text, result->title ? result->title : result->name);
		if (report_text_is_time(result))
			ts_breakdown_of_time(text->out, result, page_width(text));
		report_text_put_fields(text, result);
		report_text_put_findings(text, result);
		for (size_t i = 0; i < result->nr_notes; i++) {
			ts_buf_puts(text->out, "  note: ");
			report_text_put_wrapped(text, result->notes[i], 8, 8);
		}
		report_text_put_impossible(text, result);
	}
	for (size_t i = 0; i < result->nr_tables; i++) {
		const struct ts_table *table = &result->tables[i];

		if (!table->title || table->nr_rows == 0)
			continue;
		report_text_put_title(text, table->title);
		ts_text_table(text->out, table, text->report);
	}
}

/* The column that rows are to be sorted by is in one table at least of those that are shown. */
static enum ts_status need_column(const struct ts_results *results, const struct ts_view *view,
				  const char *name, struct ts_error *err)
{
	enum ts_status st = TS_USAGE;
	struct ts_error other = TS_ERROR_INIT;

	if (view->table)
		return ts_tables_need_column(view->table, 1, name, err);
	if (view->result)
		return ts_tables_need_column(view->result->tables, view->result->nr_tables, name,
					     err);
	for (size_t i = 0; i < results->nr && st; i++)
		st = ts_tables_need_column(results->items[i]->tables, results->items[i]->nr_tables,
					   name, &other);
	return st ? ts_fail(err, st, "no table has a column %.64s (name it with --view)", name)
		  : TS_OK;
}

static bool is_blank(struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '\n' && text.p[i] != ' ')
			return false;
	return true;
}

/* A view of this profile that holds nothing: said, and no error, for scripts over many profiles. */
static void report_text_put_nothing(struct ts_buf *out, const struct ts_results *results,
				    const char *view)
{
	ts_buf_printf(out, "Nothing to show: this profile has nothing for the view %s%s\n", view,
		      ts_summary_has_no_device(results) ? " (no TPU or GPU ran in it)" : "");
}

static void report_text_put_view(struct text *text, const struct ts_results *results,
				 const struct ts_result *result)
{
	size_t before = text->out->n;

	report_text_put_result(text, result);
	if (text->out->failed ||
	    !is_blank(ts_bytes_cut(ts_buf_bytes(text->out), before, text->out->n)))
		return;
	text->out->n = before;
	report_text_put_nothing(text->out, results, result->name);
}

enum ts_status ts_report_text(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *asked, struct ts_error *err)
{
	struct ts_report spoken = *asked;
	const struct ts_report *report = &spoken;
	struct text text = { .out = out, .report = report };
	struct ts_view view = { NULL, NULL };
	enum ts_status st = TS_OK;

	TS_ASSERT(out && results && asked);
	if (report->brief)
		return ts_brief_text(out, results, report, err);
	if (results->failed)
		return ts_fail_nomem(err);
	spoken.units = ts_summary_units(results);
	if (report->view)
		st = ts_view_find(results, report->view, &view, err);
	if (st == TS_NOTFOUND) {
		report_text_put_nothing(out, results, report->view);
		return TS_OK;
	}
	if (st == TS_OK && report->sort)
		st = need_column(results, &view, report->sort, err);
	if (st)
		return st;
	if (!report->is_screen || report->view)
		ts_summary_predicted(out, results, report->width);
	if (report->is_row && !report->view)
		ts_summary_row(out, results, report);
	else if (report->is_screen && !report->view)
		ts_screen_text(out, results, report);
	else if (view.table)
		ts_text_table(out, view.table, report);
	else if (view.result)
		report_text_put_view(&text, results, view.result);
	else
		for (size_t i = 0; i < results->nr; i++)
			report_text_put_result(&text, results->items[i]);
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

const struct ts_output ts_output_text = {
	.name = "text",
	.extension = "txt",
	.emit = ts_report_text,
};
