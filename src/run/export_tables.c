/* SPDX-License-Identifier: MIT */
/* ops, steps, findings: cells by the names of their columns. */
#include "run/export_tables.h"

#include "codec/json.h"
#include "result/view.h"
#include "write/json_value.h"
#include "result/schema/doctor.def"

#define INT(name)  { #name, TS_COLFILE_INT, NULL }
#define UINT(name) { #name, TS_COLFILE_UINT, NULL }
#define REAL(name) { #name, TS_COLFILE_REAL, NULL }
#define BOOL(name) { #name, TS_COLFILE_BOOL, NULL }
#define TEXT(name) { #name, TS_COLFILE_TEXT, NULL }

static const struct ts_colfile_column op_columns[] = {
	INT(op_index),
	UINT(program_id),
	TEXT(module),
	TEXT(name),
	TEXT(category),
	INT(occurrences),
	INT(total_time_ps),
	INT(self_time_ps),
	INT(exclusive_ps),
	INT(flops),
	INT(bytes_accessed),
	REAL(mxu_utilization_pct),
	REAL(hbm_bytes_per_s),
	TEXT(bound_by),
	REAL(padding_waste_pct),
	TEXT(bucket),
	INT(compute_ps),
	INT(memory_wait_ps),
	INT(unexplained_ps),
	BOOL(is_remat),
	TEXT(source),
	TEXT(framework_op),
	INT(first_device),
	INT(first_start_ps),
	INT(first_end_ps),
};

static const struct ts_colfile_column step_columns[] = {
	INT(step), INT(start_ps), INT(duration_ps), INT(host_duration_ps), INT(cores), TEXT(source),
};

/* Those of a finding, then its first place, and all places and times as JSON. */
static const struct ts_colfile_column finding_columns[] = {
	TEXT(id),	TEXT(rule),    TEXT(severity), TEXT(confidence), TEXT(title),
	TEXT(evidence), INT(gain_ps),  REAL(gain_pct), INT(impact_ps),	 REAL(impact_pct),
	TEXT(ceiling),	INT(start_ps), INT(end_ps),    TEXT(advice),	 TEXT(code),
	TEXT(op),	TEXT(module),  TEXT(source),   TEXT(where_json), TEXT(time_ranges_json),
};

static const struct {
	const struct ts_colfile_column *columns;
	size_t nr;
	const char *name; /* of the report's table; NULL: findings */
} tables[TS_NR_EXPORT_TABLES] = {
	[TS_EXPORT_OPS] = { op_columns, TS_NELEM(op_columns), "ops" },
	[TS_EXPORT_STEPS] = { step_columns, TS_NELEM(step_columns), "steps" },
	[TS_EXPORT_FINDINGS] = { finding_columns, TS_NELEM(finding_columns), NULL },
};

size_t ts_export_columns(enum ts_export_table table, bool is_predicted,
			 struct ts_colfile_column columns[TS_EXPORT_MAX_COLUMNS])
{
	static const struct ts_colfile_column mark = TS_EXPORT_PREDICTED;
	size_t nr = tables[table].nr;

	TS_ASSERT(columns && table > TS_EXPORT_EVENTS && table < TS_NR_EXPORT_TABLES);
	TS_ASSERT(nr < TS_EXPORT_MAX_COLUMNS);
	memcpy(columns, tables[table].columns, nr * sizeof(*columns));
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

static enum ts_status export_tables_put_table(struct ts_colfile *file, const struct ts_table *table,
					      size_t nr, struct ts_error *err)
{
	int at[TS_EXPORT_MAX_COLUMNS];
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr; i++)
		at[i] = ts_table_column(table, file->setup.columns[i].name);
	for (size_t row = 0; row < ts_table_nr_listed(table) && st == TS_OK; row++) {
		for (size_t i = 0; i < nr; i++)
			export_tables_put_value(file, i, ts_table_cell(table, row, at[i]));
		st = export_tables_end_row(file, nr, err);
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

/* The value of a finding that is called so in the report. */
static struct ts_value export_tables_value_of(const struct ts_finding *finding, const char *name)
{
	for (size_t i = 0; i < TS_FINDING_COLUMNS; i++)
		if (strcmp(ts_finding_columns[i], name) == 0)
			return ts_finding_value(finding, i);
	for (size_t i = 0; i < TS_WHERE_COLUMNS && finding->nr_where > 0; i++)
		if (strcmp(ts_where_columns[i], name) == 0)
			return ts_where_value(finding->where, i);
	return ts_null();
}

static enum ts_status export_tables_put_findings(struct ts_colfile *file,
						 const struct ts_result *result,
						 struct ts_arena *arena, struct ts_error *err)
{
	size_t nr = TS_NELEM(finding_columns);
	enum ts_status st = TS_OK;

	for (size_t row = 0; result && row < result->nr_findings && st == TS_OK; row++) {
		const struct ts_finding *finding = &result->findings[row];

		for (size_t i = 0; i < nr - 2; i++)
			export_tables_put_value(
				file, i,
				export_tables_value_of(finding, file->setup.columns[i].name));
		st = put_json(file, nr - 2, finding, ts_json_places, arena, err);
		if (st)
			return st;
		st = put_json(file, nr - 1, finding, ts_json_times, arena, err);
		if (st)
			return st;
		st = export_tables_end_row(file, nr, err);
	}
	return st;
}

enum ts_status ts_export_rows(struct ts_colfile *file, enum ts_export_table table,
			      const struct ts_results *results, struct ts_arena *arena,
			      struct ts_error *err)
{
	struct ts_view view;
	struct ts_error story = TS_ERROR_INIT;

	TS_ASSERT(file && results && arena && table > TS_EXPORT_EVENTS);
	if (!tables[table].name)
		return export_tables_put_findings(file, TS_FIND(results, doctor), arena, err);
	if (ts_view_find(results, tables[table].name, &view, &story) || !view.table)
		return TS_OK; /* nothing ran: there are no rows */
	return export_tables_put_table(file, view.table, tables[table].nr, err);
}
