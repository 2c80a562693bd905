/* SPDX-License-Identifier: MIT */
/* One view of the report as CSV. */
#include "write/report_csv.h"

#include "base/check.h"
#include "base/units.h"
#include "codec/csv.h"
#include "codec/json.h"
#include "result/order.h"
#include "result/view.h"
#include "write/summary.h"
#include "result/schema/capture.def"

static void report_csv_put_item(struct ts_buf *text, struct ts_value value)
{
	switch (value.type) {
	case TS_VALUE_INT:	  ts_buf_i64(text, value.as.i); break;
	case TS_VALUE_ID:	  ts_buf_u64(text, value.as.u); break;
	case TS_VALUE_REAL:	  ts_json_number(text, value.as.r); break;
	case TS_VALUE_TEXT:	  ts_buf_put(text, value.as.s); break;
	case TS_VALUE_BOOL:	  ts_buf_puts(text, value.as.b ? "true" : "false"); break;
	case TS_VALUE_NULL:
	case TS_VALUE_IMPOSSIBLE:
	case TS_VALUE_LIST:	  /* a list in a list has no place in a cell */ break;
	}
}

static void report_csv_put_list(struct ts_csv *csv, const struct ts_list *list)
{
	struct ts_buf text = TS_BUF_INIT;
	const struct ts_value *item = list->items;
	size_t width = list->columns ? list->nr_columns : 1;

	for (size_t i = 0; i < list->nr; i++) {
		ts_buf_puts(&text, i ? "; " : "");
		for (size_t k = 0; k < width; k++) {
			ts_buf_puts(&text, k ? " " : "");
			if (list->columns)
				ts_buf_printf(&text, "%s=", list->columns[k].name);
			report_csv_put_item(&text, *item++);
		}
	}
	csv->out->failed |= text.failed;
	ts_csv_text(csv, ts_buf_bytes(&text));
	ts_buf_release(&text);
}

static void report_csv_put_cell(struct ts_csv *csv, struct ts_value value)
{
	switch (value.type) {
	case TS_VALUE_IMPOSSIBLE:
	case TS_VALUE_NULL:	  ts_csv_empty(csv); break;
	case TS_VALUE_INT:	  ts_csv_i64(csv, value.as.i); break;
	case TS_VALUE_ID:	  ts_csv_u64(csv, value.as.u); break;
	case TS_VALUE_REAL:	  ts_csv_double(csv, value.as.r); break;
	case TS_VALUE_TEXT:	  ts_csv_text(csv, value.as.s); break;
	case TS_VALUE_BOOL:	  ts_csv_text(csv, value.as.b ? TS_LIT("true") : TS_LIT("false")); break;
	case TS_VALUE_LIST:	  report_csv_put_list(csv, value.as.list); break;
	}
}

/*
 * A name is the same in JSON and in CSV, and nearly all of them say their unit: _ps, _bytes, _pct, _per_s,
 * _per_byte, flops, bytes, _count. Where one does not (base/units_list.h), it follows in brackets. The page's
 * copies do the same. The doctor's key figures have a unit a row, in a column of their own.
 */
static void report_csv_put_heading(struct ts_csv *csv, const char *name)
{
	const struct ts_unit *unit = ts_unit_of(ts_bytes_of(name));
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_puts(&text, name);
	if (unit && !unit->is_said)
		ts_buf_printf(&text, " (%s)", unit->name);
	csv->out->failed |= text.failed;
	ts_csv_text(csv, ts_buf_bytes(&text));
	ts_buf_release(&text);
}

/*
 * CSV has no place for a note: of a profile that was predicted each row says so, in a column behind the others. What was
 * measured does not have it.
 */
static void end_heading(struct ts_csv *csv, bool is_predicted)
{
	if (is_predicted)
		ts_csv_text(csv, TS_LIT("is_predicted"));
	ts_csv_end_row(csv);
}

static void report_csv_end_row(struct ts_csv *csv, bool is_predicted)
{
	if (is_predicted)
		report_csv_put_cell(csv, ts_bool(true));
	ts_csv_end_row(csv);
}

static enum ts_status report_csv_put_table(struct ts_csv *csv, const struct ts_table *table,
					   const struct ts_report *report, bool is_predicted,
					   struct ts_error *err)
{
	int sorted = report->sort ? ts_table_find_column(table, report->sort) : -1;
	size_t nr = report->top ? TS_MIN(report->top, table->nr_rows) : table->nr_rows;
	enum ts_status st;
	size_t *rows;

	if (report->sort && sorted < 0)
		return ts_tables_need_column(table, 1, report->sort, err);
	for (size_t i = 0; i < table->nr_columns; i++)
		report_csv_put_heading(csv, table->columns[i].name);
	end_heading(csv, is_predicted);
	rows = calloc(table->nr_rows + 1, sizeof(*rows));
	st = rows ? ts_table_order(table, sorted, rows, err) : ts_fail_nomem(err);
	for (size_t row = 0; st == TS_OK && row < nr && !csv->out->failed; row++) {
		for (size_t i = 0; i < table->nr_columns; i++)
			report_csv_put_cell(csv, ts_table_cell(table, rows[row], (int)i));
		report_csv_end_row(csv, is_predicted);
	}
	free(rows);
	return st;
}

static void report_csv_put_finding(struct ts_csv *csv, const struct ts_finding *finding,
				   bool is_predicted)
{
	for (size_t i = 0; i < TS_FINDING_COLUMNS; i++)
		report_csv_put_cell(csv, ts_finding_value(finding, i));
	for (size_t i = 0; i < TS_WHERE_COLUMNS; i++)
		report_csv_put_cell(csv, finding->nr_where ? ts_where_value(finding->where, i)
							   : ts_null());
	for (size_t i = 0; i < TS_LINK_COLUMNS; i++)
		report_csv_put_cell(csv, ts_link_value(&finding->links, i));
	report_csv_end_row(csv, is_predicted);
}

static void report_csv_put_findings(struct ts_csv *csv, const struct ts_result *result,
				    bool is_predicted)
{
	for (size_t i = 0; i < TS_FINDING_COLUMNS; i++)
		ts_csv_text(csv, ts_bytes_of(ts_finding_columns[i]));
	for (size_t i = 0; i < TS_WHERE_COLUMNS; i++)
		ts_csv_text(csv, ts_bytes_of(ts_where_columns[i]));
	for (size_t i = 0; i < TS_LINK_COLUMNS; i++)
		ts_csv_text(csv, ts_bytes_of(ts_link_columns[i]));
	end_heading(csv, is_predicted);
	for (size_t i = 0; i < result->nr_findings; i++)
		report_csv_put_finding(csv, &result->findings[i], is_predicted);
}

static void report_csv_put_fields(struct ts_csv *csv, const struct ts_result *result,
				  bool is_predicted)
{
	bool is_said = TS_GET(result, capture, is_predicted).type == TS_VALUE_BOOL;

	for (size_t i = 0; i < result->nr_fields; i++)
		ts_csv_text(csv, ts_bytes_of(result->fields[i].name));
	end_heading(csv, is_predicted && !is_said);
	for (size_t i = 0; i < result->nr_fields; i++)
		report_csv_put_cell(csv, result->fields[i].value);
	report_csv_end_row(csv, is_predicted && !is_said);
}

static enum ts_status put_view(struct ts_csv *csv, const struct ts_view *view,
			       const struct ts_report *report, bool is_predicted,
			       struct ts_error *err)
{
	const struct ts_result *result = view->result;

	if (view->table)
		return report_csv_put_table(csv, view->table, report, is_predicted, err);
	if (!ts_result_has_findings(result) && result->nr_tables && !result->top_level)
		return report_csv_put_table(csv, &result->tables[0], report, is_predicted, err);
	if (report->sort || report->top)
		return ts_fail(err, TS_USAGE, "view %s is not a table that has rows to choose",
			       report->view);
	if (ts_result_has_findings(result))
		report_csv_put_findings(csv, result, is_predicted);
	else
		report_csv_put_fields(csv, result, is_predicted);
	return TS_OK;
}

enum ts_status ts_report_csv(struct ts_buf *out, const struct ts_results *results,
			     const struct ts_report *report, struct ts_error *err)
{
	struct ts_csv csv = ts_csv_of(out);
	struct ts_view found;
	enum ts_status st;

	TS_ASSERT(out && results && report);
	if (results->failed)
		return ts_fail_nomem(err);
	if (report->brief)
		return ts_fail(err, TS_USAGE, "csv has no short form (use text or json)");
	st = ts_view_find(results, report->view, &found, err);
	if (st == TS_NOTFOUND)
		return TS_OK; /* no row, and no table whose heading would be known */
	if (st == TS_OK)
		st = put_view(&csv, &found, report, ts_summary_is_predicted(results), err);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

const struct ts_output ts_output_csv = {
	.name = "csv",
	.extension = "csv",
	.emit = ts_report_csv,
};
