/* SPDX-License-Identifier: MIT */
/*
 * Frames that were compiled once more: regions of the trace, and compilations that only the log has.
 * Why it was done is in the log alone.
 */
#include "analysis/compile/compile.h"

#include "analysis/kit/source.h"
#include "result/schema/compile.def"

#define MAX_ROWS 500

/* Another compilation of a frame; of several ranks the first that has it. */
static bool is_recompile(const struct compile_report *report,
			 const struct ts_torch_compilation *row)
{
	return !row->is_backward && row->id.compile > 0 &&
	       ts_compile_logged(report, row->id) == row;
}

static int64_t compile_again_nr_logged(const struct compile_report *report)
{
	const struct ts_torch_log *log = compile_log(report);
	int64_t nr = 0;

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations); i++)
		nr += is_recompile(report, &log->compilations[i]);
	return log->nr_files > 0 ? nr : -1;
}

/* The second number is how often the frame had been compiled before, in the profile or not: of each
 * frame the highest counts. *NR is -1 without ids. */
static enum ts_status count_traced(const struct compile_report *report, int64_t *nr,
				   struct ts_error *err)
{
	const struct compile_state *sum = report->sum;
	struct ts_map highest = { NULL, 0, 0 };
	enum ts_status st = TS_OK;

	*nr = sum->nr_regions > 0 && report->regions[0]->id.frame >= 0 ? 0 : -1;
	for (size_t i = 0; i < sum->nr_regions && !st && *nr >= 0; i++) {
		uint64_t key = ts_compile_frame_key(sum->regions[i].id);
		uint32_t before = ts_map_find(&highest, key);
		int64_t compile = TS_MAX(sum->regions[i].id.compile, 0);

		if (before != TS_NONE && (int64_t)before >= compile)
			continue;
		*nr += compile - (before == TS_NONE ? 0 : (int64_t)before);
		if (!ts_map_set(&highest, key, (uint32_t)compile))
			st = ts_fail_nomem(err);
	}
	ts_map_release(&highest);
	return st;
}

/* By what the log has of the compilation, LOGGED or NULL, and of its reason. */
static struct ts_compile_recompile by_log(const struct compile_report *report,
					  struct ts_compile_id id,
					  const struct ts_torch_compilation *logged)
{
	const struct ts_torch_recompile *reason = ts_compile_reason(report, id);
	struct ts_compile_recompile again = {
		.region = ts_compile_id_text(report->result, id),
		.nr_calls = -1,
		.compile_ps = -1,
	};

	if (logged) {
		again.reason = logged->recompile_reason;
		again.function = logged->function;
		again.source = ts_source_text(report->result, logged->file, logged->line);
		again.compile_ps = logged->total_ps;
	}
	if (reason)
		again.reason = reason->reason;
	return again;
}

static struct ts_compile_recompile by_region(const struct compile_report *report,
					     const struct compile_region *region)
{
	struct ts_compile_recompile again =
		by_log(report, region->id, ts_compile_logged(report, region->id));
	struct ts_torch_frame frame;

	if (ts_compile_frame_of(report, region, &frame)) {
		again.function = frame.function;
		again.source = ts_source_text(report->result, frame.file, frame.line);
	}
	again.nr_calls = region->nr_calls;
	if (region->nr_compiles > 0)
		again.compile_ps = region->compile_ps;
	return again;
}

enum ts_status ts_compile_find_recompiles(const struct compile_report *report, struct ts_error *err)
{
	const struct ts_torch_log *log = compile_log(report);
	struct ts_compile_facts *facts = report->facts;
	size_t max = report->sum->nr_regions + ts_torch_log_kept(log->nr_compilations), nr = 0;
	struct ts_compile_recompile *rows = ts_arena_array(
		&report->result->owner->arena, TS_MIN(max, MAX_ROWS) + 1, sizeof(*rows));
	enum ts_status st;

	TS_ASSERT(report->regions && report->facts);
	if (!rows)
		return ts_fail_nomem(err);
	st = count_traced(report, &facts->nr_recompiles, err);
	if (st)
		return st;
	facts->nr_recompiles = TS_MAX(facts->nr_recompiles, compile_again_nr_logged(report));
	for (size_t i = 0; i < report->sum->nr_regions && nr < MAX_ROWS; i++)
		if (report->regions[i]->id.compile > 0)
			rows[nr++] = by_region(report, report->regions[i]);
	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations) && nr < MAX_ROWS; i++) {
		const struct ts_torch_compilation *row = &log->compilations[i];

		if (is_recompile(report, row) &&
		    !ts_compile_region_of(report, ts_compile_id_key(row->id)))
			rows[nr++] = by_log(report, row->id, row);
	}
	facts->recompiles = rows;
	facts->nr_listed_recompiles = nr;
	return TS_OK;
}

#define RECOMPILE_CELLS(X) \
	X(compile_id, ts_text_or_null(again->region)) \
	X(function, ts_text_or_null(again->function)) \
	X(source, ts_text_or_null(again->source)) \
	X(calls, ts_int_or_null(again->nr_calls)) \
	X(compile_ps, ts_int_or_null(again->compile_ps)) \
	X(reason, ts_text_or_null(again->reason))

void ts_compile_put_recompiles(const struct compile_report *report)
{
	struct ts_table *table = TS_TABLE(report->result, compile_recompiles);

	for (size_t i = 0; i < report->facts->nr_listed_recompiles; i++) {
		const struct ts_compile_recompile *again = &report->facts->recompiles[i];

		TS_CELLS(report->result, table, compile_recompiles, RECOMPILE_CELLS);
	}
}
