/* SPDX-License-Identifier: MIT */
/* ops, steps, findings: cells by the columns of the schema. */
#include "run/export_tables.h"

#include "codec/json.h"
#include "result/view.h"
#include "write/json_value.h"
#include "result/schema/doctor.def"
#include "result/schema/ops.def"
#include "result/schema/overview.def"

#define OF(name) TS_COLUMN_AT(ops_ops, name)
static const size_t op_columns[] = {
	OF(op_index),
	OF(program_id),
	OF(module),
	OF(name),
	OF(category),
	OF(occurrences),
	OF(total_time_ps),
	OF(self_time_ps),
	OF(exclusive_ps),
	OF(flops),
	OF(bytes_accessed),
	OF(mxu_utilization_pct),
	OF(hbm_bytes_per_s),
	OF(bound_by),
	OF(padding_waste_pct),
	OF(bucket),
	OF(compute_ps),
	OF(below_roofline_ps),
	OF(memory_wait_ps),
	OF(unexplained_ps),
	OF(is_remat),
	OF(source),
	OF(framework_op),
	OF(first_device),
	OF(first_start_ps),
	OF(first_end_ps),
};
#undef OF

#define OF(name) TS_COLUMN_AT(overview_steps, name)
static const size_t step_columns[] = {
	OF(step), OF(start_ps), OF(duration_ps), OF(host_duration_ps), OF(cores), OF(source),
};
#undef OF

/* Of the report's tables; of findings there is none. */
static const struct {
	const struct ts_schema *result;
	const struct ts_sheet *sheet;
	const size_t *columns;
	size_t nr;
} tables[TS_NR_EXPORT_TABLES] = {
	[TS_EXPORT_OPS] = { &ts_schema_ops, &ts_sheet_ops_ops, op_columns, TS_NELEM(op_columns) },
	[TS_EXPORT_STEPS] = { &ts_schema_overview, &ts_sheet_overview_steps, step_columns,
			      TS_NELEM(step_columns) },
};

static const enum ts_colfile_type types[] = {
	[TS_TYPE_INT] = TS_COLFILE_INT,	  [TS_TYPE_REAL] = TS_COLFILE_REAL,
	[TS_TYPE_ID] = TS_COLFILE_UINT,	  [TS_TYPE_TEXT] = TS_COLFILE_TEXT,
	[TS_TYPE_NAME] = TS_COLFILE_TEXT, [TS_TYPE_BOOL] = TS_COLFILE_BOOL,
};

/* A finding's own values, then its first place; behind them all places and times as JSON. */
static const struct {
	size_t index;
	enum ts_colfile_type type;
	bool is_of_place;
} finding_columns[] = {
#define OF(name, type) { TS_FINDING_##name, TS_COLFILE_##type, false }
	OF(id, TEXT),
	OF(rule, TEXT),
	OF(severity, TEXT),
	OF(confidence, TEXT),
	OF(title, TEXT),
	OF(evidence, TEXT),
	OF(gain_ps, INT),
	OF(gain_pct, REAL),
	OF(gain_alone_ps, INT),
	OF(gain_low_ps, INT),
	OF(gain_high_ps, INT),
	OF(kind, TEXT),
	OF(impact_ps, INT),
	OF(impact_pct, REAL),
	OF(ceiling, TEXT),
	OF(start_ps, INT),
	OF(end_ps, INT),
	OF(advice, TEXT),
	OF(code, TEXT),
#undef OF
#define OF(name) { TS_WHERE_##name, TS_COLFILE_TEXT, true }
	OF(op),
	OF(module),
	OF(source),
#undef OF
};
static const struct ts_colfile_column json_columns[] = {
	{ "where_json", TS_COLFILE_TEXT, NULL },
	{ "time_ranges_json", TS_COLFILE_TEXT, NULL },
};

static size_t finding_column_list(struct ts_colfile_column *columns)
{
	size_t nr = 0;

	for (; nr < TS_NELEM(finding_columns); nr++)
		columns[nr] = (struct ts_colfile_column){
			(finding_columns[nr].is_of_place
				 ? ts_where_columns
				 : ts_finding_columns)[finding_columns[nr].index],
			finding_columns[nr].type, NULL
		};
	memcpy(columns + nr, json_columns, sizeof(json_columns));
	return nr + TS_NELEM(json_columns);
}

static size_t table_column_list(enum ts_export_table table, struct ts_colfile_column *columns)
{
	for (size_t i = 0; i < tables[table].nr; i++) {
		const struct ts_column *column =
			&tables[table].sheet->columns[tables[table].columns[i]];

		TS_ASSERT(column->type < TS_NELEM(types));
		columns[i] = (struct ts_colfile_column){ column->name, types[column->type], NULL };
	}
	return tables[table].nr;
}

size_t ts_export_columns(enum ts_export_table table, bool is_predicted,
			 struct ts_colfile_column columns[TS_EXPORT_MAX_COLUMNS])
{
	static const struct ts_colfile_column mark = TS_EXPORT_PREDICTED;
	size_t nr;

	TS_ASSERT(columns && table > TS_EXPORT_EVENTS && table < TS_NR_EXPORT_TABLES);
	nr = tables[table].sheet ? table_column_list(table, columns) : finding_column_list(columns);
	if (is_predicted)
		columns[nr++] = mark;
	return nr;
}

/* Of a file that has the mark. */
static enum ts_status export_tables_end_row(struct ts_colfile *file, size_t nr_own,
					    struct ts_error *err)
{
	if (file->setup.nr_columns > nr_own)
		ts_colfile_int(file, nr_own, true);
	return ts_colfile_end_row(file, err);
}

/* A value of another type than its column's is unknown there: it is null, a list, or what is impossible. */
static void export_tables_put_value(struct ts_colfile *file, size_t column, struct ts_value value)
{
	enum ts_colfile_type type = file->setup.columns[column].type;

	if (type == TS_COLFILE_TEXT && value.type == TS_VALUE_TEXT)
		ts_colfile_text(file, column, value.as.s);
	else if (type == TS_COLFILE_UINT && value.type == TS_VALUE_ID)
		ts_colfile_int(file, column, (int64_t)value.as.u);
	else if (type == TS_COLFILE_BOOL && value.type == TS_VALUE_BOOL)
		ts_colfile_int(file, column, value.as.b);
	else if (type == TS_COLFILE_REAL &&
		 (value.type == TS_VALUE_INT || value.type == TS_VALUE_REAL))
		ts_colfile_real(file, column, ts_value_number(value));
	else if (type == TS_COLFILE_INT && value.type == TS_VALUE_INT)
		ts_colfile_int(file, column, value.as.i);
}

static enum ts_status export_tables_put_table(struct ts_colfile *file,
					      const struct ts_results *results,
					      enum ts_export_table what, struct ts_error *err)
{
	const struct ts_sheet *sheet = tables[what].sheet;
	const struct ts_table *table = ts_result_find_table(
		ts_results_find(results, tables[what].result->name), sheet->name);
	size_t nr_rows = table ? ts_table_nr_listed(table) : 0; /* none: nothing ran */
	enum ts_status st = TS_OK;

	for (size_t row = 0; row < nr_rows && st == TS_OK; row++) {
		const struct ts_value *cells = ts_table_row_at(table, sheet, row);

		for (size_t i = 0; i < tables[what].nr; i++)
			export_tables_put_value(file, i, cells[tables[what].columns[i]]);
		st = export_tables_end_row(file, tables[what].nr, err);
	}
	return st;
}

static enum ts_status put_json(struct ts_colfile *file, size_t column,
			       const struct ts_finding *finding,
			       void (*put)(struct ts_json *, const struct ts_finding *),
			       struct ts_arena *arena, struct ts_error *err)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);
	struct ts_bytes kept;

	put(&json, finding);
	kept = ts_arena_copy(arena, ts_buf_bytes(&text));
	ts_colfile_text(file, column, kept);
	kept.p = text.failed ? NULL : kept.p;
	ts_buf_release(&text);
	return kept.p ? TS_OK : ts_fail_nomem(err);
}

static struct ts_value export_tables_value_of(const struct ts_finding *finding, size_t column)
{
	size_t index = finding_columns[column].index;

	if (!finding_columns[column].is_of_place)
		return ts_finding_value(finding, index);
	return finding->nr_where > 0 ? ts_where_value(finding->where, index) : ts_null();
}

static enum ts_status export_tables_put_findings(struct ts_colfile *file,
						 const struct ts_result *result,
						 struct ts_arena *arena, struct ts_error *err)
{
	size_t nr = TS_NELEM(finding_columns);
	enum ts_status st = TS_OK;

	for (size_t row = 0; result && row < result->nr_findings && st == TS_OK; row++) {
		const struct ts_finding *finding = &result->findings[row];

		for (size_t i = 0; i < nr; i++)
			export_tables_put_value(file, i, export_tables_value_of(finding, i));
		st = put_json(file, nr, finding, ts_json_places, arena, err);
		if (st)
			return st;
		st = put_json(file, nr + 1, finding, ts_json_times, arena, err);
		if (st)
			return st;
		st = export_tables_end_row(file, nr + TS_NELEM(json_columns), err);
	}
	return st;
}

enum ts_status ts_export_rows(struct ts_colfile *file, enum ts_export_table table,
			      const struct ts_results *results, struct ts_arena *arena,
			      struct ts_error *err)
{
	TS_ASSERT(file && results && arena && table > TS_EXPORT_EVENTS);
	if (!tables[table].sheet)
		return export_tables_put_findings(file, TS_FIND(results, doctor), arena, err);
	return export_tables_put_table(file, results, table, err);
}
