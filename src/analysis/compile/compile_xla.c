/*
 * What the compile analysis says of XLA's programs: what "cache" found, in the terms of this view. XLA
 * compiles whole functions, so a graph does not break.
 */
#include "analysis/compile/compile.h"

#define MAX_ROWS 200

/* A copy of columns of another table, under other names where need be. */
struct copied {
	const char *to, *from;
};

static bool copy_rows(struct ts_result *result, struct ts_table *table, const struct ts_table *from,
		      const struct copied *copied)
{
	for (size_t i = 0; from && i < TS_MIN(from->nr_rows, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return false;
		for (size_t c = 0; c < table->nr_columns; c++)
			if (copied[c].from)
				cells[c] = ts_cell(from, i, copied[c].from);
	}
	return true;
}

static bool put_regions(struct ts_result *result, const struct ts_table *families)
{
	static const struct ts_column columns[] = {
		{ "function", TS_MEASURED, "program" },
		{ "variants", TS_COMPILED, "variants" },
		{ "calls", TS_MEASURED, "executions" },
		{ "time_ps", TS_MEASURED, "time" },
		{ "compilations", TS_MEASURED, "compiled" },
		{ "compile_ps", TS_MEASURED, "compile time" },
	};
	static const struct copied copied[] = {
		{ "function", "name" },
		{ "variants", "variants" },
		{ "calls", "executions" },
		{ "time_ps", "time_ps" },
		{ "compilations", "compilations" },
		{ "compile_ps", "compile_ps" },
	};
	struct ts_table *table =
		ts_result_table(result, "regions", "Compiled programs", columns, TS_NELEM(columns));

	return table && copy_rows(result, table, families, copied);
}

/* Families compiled more than once, and what their variants differ in. */
static bool put_recompiles(struct ts_result *result, const struct ts_table *families)
{
	static const struct ts_column columns[] = {
		{ "function", TS_MEASURED, "recompiled" },
		{ "compilations", TS_MEASURED, "compiled" },
		{ "compile_ps", TS_MEASURED, "compile time" },
		{ "reason", TS_COMPILED, "they differ in" },
		{ "parameter_shapes", TS_COMPILED, NULL },
	};
	static const char *const from[] = { "name", "compilations", "compile_ps", "differs",
					    "parameter_shapes" };
	struct ts_table *table =
		ts_result_table(result, "recompiles", "Recompilations", columns, TS_NELEM(columns));

	for (size_t i = 0; table && families && i < families->nr_rows; i++) {
		struct ts_value *cells;

		if (ts_cell_int(families, i, "compilations") < 2 || table->nr_rows >= MAX_ROWS)
			continue;
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		for (size_t c = 0; c < TS_NELEM(from); c++)
			cells[c] = ts_cell(families, i, from[c]);
	}
	return table != NULL;
}

static int64_t nr_recompiles(const struct ts_table *families)
{
	int64_t nr = 0;

	for (size_t i = 0; families && i < families->nr_rows; i++)
		nr += TS_MAX(ts_cell_int(families, i, "compilations") - 1, 0);
	return nr;
}

enum ts_status compile_report_xla(const struct ts_context *ctx, struct ts_result *result,
				  struct ts_error *err)
{
	const struct ts_result *cache = ts_results_find(ctx->results, "cache");
	const struct ts_table *families = cache ? ts_result_find_table(cache, "families") : NULL;
	int64_t nr = cache ? ts_value_int(ts_result_get(cache, "compilation_count")) : -1;
	int64_t ps = nr > 0 ? ts_value_int(ts_result_get(cache, "compilation_ps")) : -1;
	struct compile_fusion fusion;

	compile_fusion_xla(ctx, &fusion);
	if (nr <= 0 && fusion.nr_after < 0 && (!families || families->nr_rows == 0)) {
		ts_result_note(result, "nothing of a compiler is in this profile");
		return TS_OK;
	}
	ts_result_field(result, "compiler", ts_text(TS_LIT("XLA")), TS_DERIVED, "compiler");
	compile_put_time(result, ps, ps < 0 ? NULL : "profile");
	ts_result_field(result, "graph_breaks", ts_null(), TS_DERIVED, NULL);
	ts_result_field(result, "recompilations", ts_int(nr_recompiles(families)), TS_DERIVED,
			"recompilations");
	compile_put_fusion(&fusion, result);
	if (!put_regions(result, families) || !put_recompiles(result, families))
		return ts_fail_nomem(err);
	return TS_OK;
}
