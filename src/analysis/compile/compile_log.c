/* What the log of PyTorch's compiler adds: compilations of the whole process, and why they were made. */
#include "analysis/compile/compile.h"

#define MAX_ROWS 500

static const struct ts_torch_log *log_of(const struct compile_report *report)
{
	return &report->ctx->profile->torch_log;
}

bool compile_has_log(const struct compile_report *report)
{
	return log_of(report)->nr_files > 0;
}

/* The first record of an id counts: ranks have the same ones. */
bool compile_log_index(struct compile_report *report)
{
	const struct ts_torch_log *log = log_of(report);
	bool good = true;

	for (size_t i = ts_torch_log_kept(log->nr_compilations); i-- > 0 && good;)
		if (!log->compilations[i].is_backward)
			good = ts_map_set(&report->logged,
					  ts_compile_id_key(log->compilations[i].id), (uint32_t)i);
	for (size_t i = ts_torch_log_kept(log->nr_recompiles); i-- > 0 && good;)
		good = ts_map_set(&report->reasons, ts_compile_id_key(log->recompiles[i].id),
				  (uint32_t)i);
	return good;
}

const struct ts_torch_compilation *compile_logged(const struct compile_report *report,
						  struct ts_compile_id id)
{
	uint32_t at = ts_map_find(&report->logged, ts_compile_id_key(id));

	return at == TS_NONE ? NULL : &log_of(report)->compilations[at];
}

static const struct ts_torch_recompile *reason_of(const struct compile_report *report,
						  struct ts_compile_id id)
{
	uint32_t at = ts_map_find(&report->reasons, ts_compile_id_key(id));

	return at == TS_NONE ? NULL : &log_of(report)->recompiles[at];
}

int64_t compile_log_ps(const struct compile_report *report)
{
	const struct ts_torch_log *log = log_of(report);
	int64_t sum_ps = 0;
	bool known = false;

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations); i++) {
		if (log->compilations[i].total_ps < 0)
			continue;
		known = true;
		sum_ps = ts_i64_add(sum_ps, log->compilations[i].total_ps);
	}
	return known ? sum_ps : -1;
}

/* Another compilation of a frame; of several ranks the first that tells. */
static bool is_recompile(const struct compile_report *report,
			 const struct ts_torch_compilation *row)
{
	return !row->is_backward && row->id.compile > 0 && compile_logged(report, row->id) == row;
}

int64_t compile_log_recompiles(const struct compile_report *report)
{
	const struct ts_torch_log *log = log_of(report);
	int64_t nr = 0;

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations); i++)
		nr += is_recompile(report, &log->compilations[i]);
	return log->nr_files > 0 ? nr : -1;
}

enum { RE_ID, RE_FUNCTION, RE_SOURCE, RE_CALLS, RE_COMPILE, RE_REASON, NR_RE };

static const struct ts_column recompile_columns[NR_RE] = {
	[RE_ID] = { "compile_id", TS_MEASURED, "recompiled" },
	[RE_FUNCTION] = { "function", TS_MEASURED, "function" },
	[RE_SOURCE] = { "source", TS_MEASURED, "source" },
	[RE_CALLS] = { "calls", TS_MEASURED, "calls" },
	[RE_COMPILE] = { "compile_ps", TS_MEASURED, "compile time" },
	[RE_REASON] = { "reason", TS_MEASURED, "because" },
};

/* By what the log says of the compilation, LOGGED or NULL, and of why. */
static void put_reason(const struct compile_report *report, struct ts_compile_id id,
		       const struct ts_torch_compilation *logged, struct ts_value *cells)
{
	const struct ts_torch_recompile *reason = reason_of(report, id);

	if (reason)
		cells[RE_REASON] = ts_text_or_null(reason->reason);
	else if (logged)
		cells[RE_REASON] = ts_text_or_null(logged->recompile_reason);
	if (!logged)
		return;
	cells[RE_FUNCTION] = ts_text_or_null(logged->function);
	cells[RE_SOURCE] = compile_source_cell(report->result, logged->file, logged->line);
	if (logged->total_ps >= 0)
		cells[RE_COMPILE] = ts_int(logged->total_ps);
}

static bool put_region(const struct compile_report *report, const struct compile_region *region,
		       struct ts_table *table)
{
	struct ts_value *cells = ts_table_row(report->result, table);
	struct ts_torch_frame frame;

	if (!cells)
		return false;
	cells[RE_ID] = compile_id_cell(report->result, region->id);
	put_reason(report, region->id, compile_logged(report, region->id), cells);
	if (compile_frame_of(report, region, &frame)) {
		cells[RE_FUNCTION] = ts_text(frame.function);
		cells[RE_SOURCE] = compile_source_cell(report->result, frame.file, frame.line);
	}
	cells[RE_CALLS] = ts_int(region->nr_calls);
	if (region->nr_compiles > 0)
		cells[RE_COMPILE] = ts_int(region->compile_ps);
	return true;
}

/* Those the trace does not have. */
static bool put_logged(const struct compile_report *report, struct ts_table *table)
{
	const struct ts_torch_log *log = log_of(report);

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations); i++) {
		const struct ts_torch_compilation *row = &log->compilations[i];
		struct ts_value *cells;

		if (!is_recompile(report, row) || table->nr_rows >= MAX_ROWS ||
		    compile_region_of(report, ts_compile_id_key(row->id)))
			continue;
		cells = ts_table_row(report->result, table);
		if (!cells)
			return false;
		cells[RE_ID] = compile_id_cell(report->result, row->id);
		put_reason(report, row->id, row, cells);
	}
	return true;
}

bool compile_put_recompiles(const struct compile_report *report)
{
	struct ts_table *table = ts_result_table(report->result, "recompiles", "Recompilations",
						 recompile_columns, NR_RE);

	for (size_t i = 0; table && i < report->sum->nr_regions; i++)
		if (report->regions[i]->id.compile > 0 && table->nr_rows < MAX_ROWS &&
		    !put_region(report, report->regions[i], table))
			return false;
	return table && put_logged(report, table);
}

static struct ts_value ps_cell(int64_t ps)
{
	return ts_int_or_null(ps);
}

bool compile_put_log(const struct compile_report *report)
{
	static const struct ts_column columns[] = {
		{ "compile_id", TS_MEASURED, "compilation" },
		{ "function", TS_MEASURED, "function" },
		{ "source", TS_MEASURED, "source" },
		{ "is_backward", TS_MEASURED, NULL },
		{ "time_ps", TS_MEASURED, "time" },
		{ "backend_ps", TS_MEASURED, "backend" },
		{ "inductor_ps", TS_MEASURED, "Inductor" },
		{ "codegen_ps", TS_MEASURED, "code" },
		{ "graph_ops", TS_MEASURED, "ops" },
		{ "guards", TS_MEASURED, "guards" },
		{ "failure", TS_MEASURED, "failed" },
		{ "rank", TS_MEASURED, NULL },
	};
	const struct ts_torch_log *log = log_of(report);
	struct ts_table *table;

	if (log->nr_files == 0)
		return true;
	table = ts_result_table(report->result, "compilations", "Compilations of the log", columns,
				TS_NELEM(columns));
	for (size_t i = 0; table && i < TS_MIN(log->nr_compilations, MAX_ROWS); i++) {
		const struct ts_torch_compilation *row = &log->compilations[i];
		struct ts_value *cells = ts_table_row(report->result, table);

		if (!cells)
			return false;
		cells[0] = compile_id_cell(report->result, row->id);
		cells[1] = row->is_backward ? ts_text(TS_LIT("backward"))
					    : ts_text_or_null(row->function);
		cells[2] = compile_source_cell(report->result, row->file, row->line);
		cells[3] = ts_bool(row->is_backward);
		cells[4] = ps_cell(row->total_ps);
		cells[5] = ps_cell(row->backend_ps);
		cells[6] = ps_cell(row->inductor_ps);
		cells[7] = ps_cell(row->codegen_ps);
		cells[8] = ts_int_or_null(row->nr_ops);
		cells[9] = ts_int_or_null(row->nr_guards);
		cells[10] = ts_text_or_null(row->failure);
		cells[11] = ts_int_or_null(row->rank);
	}
	return table != NULL;
}
