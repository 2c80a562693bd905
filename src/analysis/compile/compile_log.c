/* SPDX-License-Identifier: MIT */
/* What the log of PyTorch's compiler adds: compilations of the whole process, and why they were made. */
#include "analysis/compile/compile.h"

#include "analysis/kit/source.h"
#include "result/schema/compile.def"

#define MAX_ROWS 500

/* The first record of an id counts: ranks have the same ones. */
enum ts_status ts_compile_log_index(struct compile_report *report, struct ts_error *err)
{
	const struct ts_torch_log *log = compile_log(report);

	TS_ASSERT(report->logged.nr == 0 && report->reasons.nr == 0);
	for (size_t i = ts_torch_log_kept(log->nr_compilations); i-- > 0;)
		if (!log->compilations[i].is_backward &&
		    !ts_map_set(&report->logged, ts_compile_id_key(log->compilations[i].id),
				(uint32_t)i))
			return ts_fail_nomem(err);
	for (size_t i = ts_torch_log_kept(log->nr_recompiles); i-- > 0;)
		if (!ts_map_set(&report->reasons, ts_compile_id_key(log->recompiles[i].id),
				(uint32_t)i))
			return ts_fail_nomem(err);
	return TS_OK;
}

const struct ts_torch_compilation *ts_compile_logged(const struct compile_report *report,
						     struct ts_compile_id id)
{
	uint32_t at = ts_map_find(&report->logged, ts_compile_id_key(id));

	return at == TS_NONE ? NULL : &compile_log(report)->compilations[at];
}

const struct ts_torch_recompile *ts_compile_reason(const struct compile_report *report,
						   struct ts_compile_id id)
{
	uint32_t at = ts_map_find(&report->reasons, ts_compile_id_key(id));

	return at == TS_NONE ? NULL : &compile_log(report)->recompiles[at];
}

int64_t ts_compile_log_ps(const struct compile_report *report)
{
	const struct ts_torch_log *log = compile_log(report);
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

#define LOG_CELLS(X) \
	X(compile_id, ts_text_or_null(ts_compile_id_text(result, row->id))) \
	X(function, ts_text_or_null(row->is_backward ? TS_LIT("backward") : row->function)) \
	X(source, ts_text_or_null(ts_source_text(result, row->file, row->line))) \
	X(is_backward, ts_bool(row->is_backward)) \
	X(time_ps, ts_int_or_null(row->total_ps)) \
	X(backend_ps, ts_int_or_null(row->backend_ps)) \
	X(inductor_ps, ts_int_or_null(row->inductor_ps)) \
	X(codegen_ps, ts_int_or_null(row->codegen_ps)) \
	X(graph_ops, ts_int_or_null(row->nr_ops)) \
	X(guards, ts_int_or_null(row->nr_guards)) \
	X(failure, ts_text_or_null(row->failure)) \
	X(rank, ts_int_or_null(row->rank))

void ts_compile_put_log(const struct compile_report *report)
{
	const struct ts_torch_log *log = compile_log(report);
	struct ts_result *result = report->result;
	struct ts_table *table;

	if (log->nr_files == 0)
		return;
	table = TS_TABLE(result, compile_compilations);
	for (size_t i = 0; i < TS_MIN(log->nr_compilations, MAX_ROWS); i++) {
		const struct ts_torch_compilation *row = &log->compilations[i];

		TS_CELLS(result, table, compile_compilations, LOG_CELLS);
	}
}
