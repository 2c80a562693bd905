/*
 * Where graphs broke: by the log, which says why, else by regions inside regions.
 *
 * Code behind a break is a frame of its own, called from the compiled code in front of it: so a region
 * inside another's tells of a break, and of the Python tracer's name of it the place. The log has a
 * record for each compilation that met one.
 */
#include "analysis/compile/compile.h"

#include <inttypes.h>

#define MAX_ROWS 500 /* of places: the first ones */

enum {
	BREAK_SOURCE,
	BREAK_FUNCTION,
	BREAK_REASON,
	BREAK_COUNT,
	BREAK_PARENT,
	BREAK_CHILD,
	BREAK_TIMES,
	BREAK_TIME,
	BREAK_EXPLANATION,
	BREAK_HINT,
	BREAK_STACK,
	BREAK_FROM,
	NR_BREAK
};

static const struct ts_column columns[NR_BREAK] = {
	[BREAK_SOURCE] = { "source", TS_MEASURED, "graph break at" },
	[BREAK_FUNCTION] = { "function", TS_MEASURED, "in" },
	[BREAK_REASON] = { "reason", TS_MEASURED, "because" },
	[BREAK_COUNT] = { "compilations", TS_MEASURED, "compiled" },
	[BREAK_PARENT] = { "compile_id", TS_MEASURED, "region" },
	[BREAK_CHILD] = { "continued_as", TS_MEASURED, "goes on as" },
	[BREAK_TIMES] = { "count", TS_MEASURED, "times run" },
	[BREAK_TIME] = { "continued_ps", TS_MEASURED, NULL },
	[BREAK_EXPLANATION] = { "explanation", TS_MEASURED, NULL },
	[BREAK_HINT] = { "hint", TS_MEASURED, NULL },
	[BREAK_STACK] = { "stack", TS_MEASURED, NULL },
	[BREAK_FROM] = { "known_from", TS_DERIVED, NULL },
};

/* Frames that run inside another's compiled code; without ids, regions inside one call. */
static bool count_nested(const struct compile_report *report, int64_t *nr)
{
	const struct compile_state *sum = report->sum;
	struct ts_map seen = { NULL, 0, 0 };
	bool good = true, ids = sum->nr_regions > 0 && report->regions[0]->id.frame >= 0;

	*nr = sum->nr_regions == 0 ? -1 : ids ? 0 : sum->counts.max_nested;
	for (size_t i = 0; ids && i < sum->nr_nestings && good; i++) {
		const struct compile_region *child =
			compile_region_of(report, sum->nestings[i].child);
		uint64_t key = child ? compile_frame_key(child->id) : 0;

		if (!child || ts_map_find(&seen, key) != TS_NONE)
			continue;
		good = ts_map_set(&seen, key, 0);
		(*nr)++;
	}
	ts_map_release(&seen);
	return good;
}

static const struct ts_torch_log *log_of(const struct compile_report *report)
{
	return &report->ctx->profile->torch_log;
}

/* The same place and reason, met by another compilation or another rank. */
static bool same_break(const struct ts_torch_break *a, const struct ts_torch_break *b)
{
	return a->line == b->line && ts_bytes_eq(a->file, b->file) &&
	       ts_bytes_eq(a->reason, b->reason);
}

static uint64_t break_key(const struct ts_torch_break *row)
{
	uint64_t hash = ts_hash(row->file, (uint64_t)row->line);

	return ts_hash(row->reason, hash);
}

/* Rows of one break each: of a record the first that is the same, or itself. NULL: no memory. */
static uint32_t *first_records(const struct ts_torch_log *log)
{
	size_t nr = ts_torch_log_kept(log->nr_breaks);
	uint32_t *first = calloc(nr + 1, sizeof(*first));
	struct ts_map by_key = { NULL, 0, 0 };
	bool good = first != NULL;

	for (size_t i = 0; good && i < nr; i++) {
		uint64_t key = break_key(&log->breaks[i]);
		uint32_t at = ts_map_find(&by_key, key);

		first[i] = at != TS_NONE && same_break(&log->breaks[at], &log->breaks[i])
				   ? at
				   : (uint32_t)i;
		good = at != TS_NONE || ts_map_set(&by_key, key, (uint32_t)i);
	}
	ts_map_release(&by_key);
	if (!good)
		free(first);
	return good ? first : NULL;
}

/* Versions that log no breaks say why an analysis was begun anew, which is at breaks. */
static int64_t nr_restarted(const struct ts_torch_log *log)
{
	int64_t nr = 0;

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations); i++)
		nr += log->compilations[i].restart_reason.n > 0 &&
		      log->compilations[i].id.compile <= 0;
	return nr;
}

static bool count_logged(const struct ts_torch_log *log, int64_t *nr)
{
	uint32_t *first = first_records(log);

	*nr = 0;
	for (size_t i = 0; first && i < ts_torch_log_kept(log->nr_breaks); i++)
		*nr += first[i] == i;
	if (*nr == 0)
		*nr = nr_restarted(log);
	free(first);
	return first != NULL;
}

bool compile_nr_breaks(const struct compile_report *report, int64_t *nr)
{
	int64_t logged;

	if (!count_nested(report, nr))
		return false;
	if (!compile_has_log(report))
		return true;
	if (!count_logged(log_of(report), &logged))
		return false;
	*nr = TS_MAX(*nr, logged);
	return true;
}

static void put_nesting(const struct compile_report *report, const struct compile_nesting *nesting,
			struct ts_value *cells)
{
	const struct compile_region *child = compile_region_of(report, nesting->child);

	if (child)
		cells[BREAK_CHILD] = compile_id_cell(report->result, child->id);
	cells[BREAK_TIMES] = ts_int(nesting->nr);
	cells[BREAK_TIME] = ts_int(nesting->time_ps);
}

/* What the Python tracer says of a nesting's place. */
static void put_nested_place(const struct compile_report *report,
			     const struct compile_nesting *nesting, struct ts_value *cells)
{
	const struct compile_region *parent = compile_region_of(report, nesting->parent);
	const struct compile_region *child = compile_region_of(report, nesting->child);
	struct ts_torch_frame frame;
	struct ts_bytes broken;
	int64_t line;

	if (compile_frame_of(report, child, &frame) &&
	    ts_torch_resume_of(frame.function, &broken, &line)) {
		cells[BREAK_SOURCE] = compile_source_cell(report->result, frame.file, line);
		cells[BREAK_FUNCTION] = ts_text(broken);
	} else if (compile_frame_of(report, parent, &frame)) {
		cells[BREAK_FUNCTION] = ts_text(frame.function);
	}
	if (parent)
		cells[BREAK_PARENT] = compile_id_cell(report->result, parent->id);
	cells[BREAK_FROM] = ts_text(TS_LIT("nested regions"));
}

static bool put_nested(const struct compile_report *report, struct ts_table *table)
{
	for (size_t i = 0; i < TS_MIN(report->sum->nr_nestings, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(report->result, table);

		if (!cells)
			return false;
		put_nested_place(report, &report->sum->nestings[i], cells);
		put_nesting(report, &report->sum->nestings[i], cells);
	}
	return true;
}

/* Sums of what ran behind a break: of all compilations of it. */
static struct compile_nesting nesting_of(const struct compile_report *report, const uint32_t *first,
					 size_t at)
{
	const struct ts_torch_log *log = log_of(report);
	struct compile_nesting sum = { 0, 0, 0, 0 };

	for (size_t i = at; i < ts_torch_log_kept(log->nr_breaks); i++) {
		uint64_t key = ts_compile_id_key(log->breaks[i].id);

		for (size_t k = 0; first[i] == at && k < report->sum->nr_nestings; k++) {
			const struct compile_nesting *nesting = &report->sum->nestings[k];

			if (nesting->parent != key)
				continue;
			sum.child = sum.nr ? sum.child : nesting->child;
			sum.nr += nesting->nr;
			sum.time_ps = ts_i64_add(sum.time_ps, nesting->time_ps);
		}
	}
	return sum;
}

static void put_record(const struct compile_report *report, const uint32_t *first, size_t at,
		       struct ts_value *cells)
{
	const struct ts_torch_log *log = log_of(report);
	const struct ts_torch_break *row = &log->breaks[at];
	struct compile_nesting nesting = nesting_of(report, first, at);
	int64_t nr = 0;

	for (size_t i = at; i < ts_torch_log_kept(log->nr_breaks); i++)
		nr += first[i] == at;
	cells[BREAK_SOURCE] = compile_source_cell(report->result, row->file, row->line);
	cells[BREAK_FUNCTION] = ts_text_or_null(row->function);
	cells[BREAK_REASON] = ts_text_or_null(row->reason);
	cells[BREAK_COUNT] = ts_int(nr);
	cells[BREAK_PARENT] = compile_id_cell(report->result, row->id);
	cells[BREAK_EXPLANATION] = ts_text_or_null(row->explanation);
	cells[BREAK_HINT] = ts_text_or_null(row->hint);
	cells[BREAK_STACK] = ts_text_or_null(row->stack);
	cells[BREAK_FROM] = ts_text(TS_LIT("log"));
	if (nesting.nr > 0)
		put_nesting(report, &nesting, cells);
}

static bool put_records(const struct compile_report *report, struct ts_table *table)
{
	const struct ts_torch_log *log = log_of(report);
	uint32_t *first = first_records(log);
	bool good = first != NULL;

	for (size_t i = 0; good && i < ts_torch_log_kept(log->nr_breaks); i++) {
		struct ts_value *cells;

		if (first[i] != i || table->nr_rows >= MAX_ROWS)
			continue;
		cells = ts_table_row(report->result, table);
		good = cells != NULL;
		if (good)
			put_record(report, first, i, cells);
	}
	free(first);
	return good;
}

static bool put_restarts(const struct compile_report *report, struct ts_table *table)
{
	const struct ts_torch_log *log = log_of(report);

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations); i++) {
		const struct ts_torch_compilation *row = &log->compilations[i];
		struct ts_value *cells;

		if (row->restart_reason.n == 0 || row->id.compile > 0 || table->nr_rows >= MAX_ROWS)
			continue;
		cells = ts_table_row(report->result, table);
		if (!cells)
			return false;
		cells[BREAK_FUNCTION] = ts_text_or_null(row->function);
		cells[BREAK_REASON] = ts_text(row->restart_reason);
		cells[BREAK_PARENT] = compile_id_cell(report->result, row->id);
		cells[BREAK_FROM] = ts_text(TS_LIT("log: analysis begun anew"));
	}
	return true;
}

bool compile_put_breaks(const struct compile_report *report)
{
	struct ts_table *table = ts_result_table(report->result, "graph_break_places",
						 "Graph breaks", columns, NR_BREAK);
	const struct ts_torch_log *log = log_of(report);

	if (!table)
		return false;
	if (log->nr_breaks > 0)
		return put_records(report, table);
	if (compile_has_log(report) && nr_restarted(log) > 0)
		return put_restarts(report, table);
	return put_nested(report, table);
}
