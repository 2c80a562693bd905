/* SPDX-License-Identifier: MIT */
/*
 * Where graphs broke: by the log, which has the reason, else by regions inside regions.
 *
 * Code behind a break is a frame of its own, called from the compiled code in front of it: so a region
 * inside another's means a break, and the Python tracer's name of it has the place. The log has a
 * record for each compilation that met one.
 */
#include "analysis/compile/compile.h"

#include "analysis/kit/source.h"
#include "result/schema/compile.def"

#define MAX_ROWS 500 /* of places: the first ones */

/* Frames that run inside another's compiled code; without ids, regions inside one call. */
static enum ts_status count_nested(const struct compile_report *report, int64_t *nr,
				   struct ts_error *err)
{
	const struct compile_state *sum = report->sum;
	struct ts_map seen = { NULL, 0, 0 };
	bool ids = sum->nr_regions > 0 && report->regions[0]->id.frame >= 0;
	enum ts_status st = TS_OK;

	*nr = sum->nr_regions == 0 ? -1 : ids ? 0 : sum->counts.max_nested;
	for (size_t i = 0; ids && i < sum->nr_nestings && !st; i++) {
		const struct compile_region *child =
			ts_compile_region_of(report, sum->nestings[i].child);
		uint64_t key = child ? ts_compile_frame_key(child->id) : 0;

		if (!child || ts_map_find(&seen, key) != TS_NONE)
			continue;
		if (!ts_map_set(&seen, key, 0))
			st = ts_fail_nomem(err);
		(*nr)++;
	}
	ts_map_release(&seen);
	return st;
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

/* Versions that do not log breaks log why an analysis was begun anew, which is at breaks. */
static bool was_restarted(const struct ts_torch_compilation *compilation)
{
	return compilation->restart_reason.n > 0 && compilation->id.compile <= 0;
}

static int64_t compile_breaks_nr_logged(const struct ts_torch_log *log, const uint32_t *first)
{
	int64_t nr = 0;

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_breaks); i++)
		nr += first[i] == i;
	if (nr > 0)
		return nr;
	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations); i++)
		nr += was_restarted(&log->compilations[i]);
	return nr;
}

static enum ts_status count_breaks(const struct compile_report *report, const uint32_t *first,
				   int64_t *nr, struct ts_error *err)
{
	enum ts_status st = count_nested(report, nr, err);

	if (st)
		return st;
	if (compile_has_log(report))
		*nr = TS_MAX(*nr, compile_breaks_nr_logged(compile_log(report), first));
	return TS_OK;
}

/* What ran behind a break. */
static void take_nesting(const struct compile_report *report, const struct compile_nesting *nesting,
			 struct ts_compile_break *row)
{
	const struct compile_region *child = ts_compile_region_of(report, nesting->child);

	if (child)
		row->continued_as = ts_compile_id_text(report->result, child->id);
	row->nr_runs = nesting->nr;
	row->continued_ps = nesting->time_ps;
}

static const struct ts_compile_break unknown_break = { .nr_compiled = -1,
						       .nr_runs = -1,
						       .continued_ps = -1 };

/* By a nesting, and by the Python tracer's name of its place. */
static struct ts_compile_break by_nesting(const struct compile_report *report,
					  const struct compile_nesting *nesting)
{
	const struct compile_region *parent = ts_compile_region_of(report, nesting->parent);
	const struct compile_region *child = ts_compile_region_of(report, nesting->child);
	struct ts_compile_break row = unknown_break;
	struct ts_torch_frame frame;
	struct ts_bytes broken;
	int64_t line;

	if (ts_compile_frame_of(report, child, &frame) &&
	    ts_torch_resume_of(frame.function, &broken, &line)) {
		row.source = ts_source_text(report->result, frame.file, line);
		row.function = broken;
	} else if (ts_compile_frame_of(report, parent, &frame)) {
		row.function = frame.function;
	}
	if (parent)
		row.region = ts_compile_id_text(report->result, parent->id);
	row.known_from = "nested regions";
	take_nesting(report, nesting, &row);
	return row;
}

/* Sums of what ran behind a break: of all compilations of it. */
static struct compile_nesting nesting_of(const struct compile_report *report, const uint32_t *first,
					 size_t at)
{
	const struct ts_torch_log *log = compile_log(report);
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

static struct ts_compile_break by_record(const struct compile_report *report, const uint32_t *first,
					 size_t at)
{
	const struct ts_torch_log *log = compile_log(report);
	const struct ts_torch_break *record = &log->breaks[at];
	struct compile_nesting nesting = nesting_of(report, first, at);
	struct ts_compile_break row = {
		.source = ts_source_text(report->result, record->file, record->line),
		.function = record->function,
		.reason = record->reason,
		.region = ts_compile_id_text(report->result, record->id),
		.nr_runs = -1,
		.continued_ps = -1,
		.explanation = record->explanation,
		.hint = record->hint,
		.stack = record->stack,
		.known_from = "log",
	};

	for (size_t i = at; i < ts_torch_log_kept(log->nr_breaks); i++)
		row.nr_compiled += first[i] == at;
	if (nesting.nr > 0)
		take_nesting(report, &nesting, &row);
	return row;
}

static struct ts_compile_break by_restart(const struct compile_report *report,
					  const struct ts_torch_compilation *compilation)
{
	struct ts_compile_break row = unknown_break;

	row.function = compilation->function;
	row.reason = compilation->restart_reason;
	row.region = ts_compile_id_text(report->result, compilation->id);
	row.known_from = "log: analysis begun anew";
	return row;
}

/* The first ones into ROWS, by what knows most of them. Gives how many. */
static size_t list_breaks(const struct compile_report *report, const uint32_t *first,
			  struct ts_compile_break *rows)
{
	const struct ts_torch_log *log = compile_log(report);
	size_t nr = 0;

	for (size_t i = 0; i < ts_torch_log_kept(log->nr_breaks) && nr < MAX_ROWS; i++)
		if (first[i] == i)
			rows[nr++] = by_record(report, first, i);
	if (log->nr_breaks > 0)
		return nr;
	for (size_t i = 0; i < ts_torch_log_kept(log->nr_compilations) && nr < MAX_ROWS; i++)
		if (was_restarted(&log->compilations[i]))
			rows[nr++] = by_restart(report, &log->compilations[i]);
	if (nr > 0)
		return nr;
	for (size_t i = 0; i < report->sum->nr_nestings && nr < MAX_ROWS; i++)
		rows[nr++] = by_nesting(report, &report->sum->nestings[i]);
	return nr;
}

enum ts_status ts_compile_find_breaks(const struct compile_report *report, struct ts_error *err)
{
	const struct ts_torch_log *log = compile_log(report);
	size_t max =
		TS_MAX(ts_torch_log_kept(log->nr_breaks),
		       TS_MAX(ts_torch_log_kept(log->nr_compilations), report->sum->nr_nestings));
	struct ts_compile_break *rows = ts_arena_array(&report->result->owner->arena,
						       TS_MIN(max, MAX_ROWS) + 1, sizeof(*rows));
	uint32_t *first = first_records(log);
	enum ts_status st;

	TS_ASSERT(report->regions && report->facts);
	st = rows && first ? count_breaks(report, first, &report->facts->nr_breaks, err)
			   : ts_fail_nomem(err);
	if (!st) {
		report->facts->breaks = rows;
		report->facts->nr_listed_breaks = list_breaks(report, first, rows);
	}
	free(first);
	return st;
}

#define BREAK_CELLS(X) \
	X(source, ts_text_or_null(row->source)) \
	X(function, ts_text_or_null(row->function)) \
	X(reason, ts_text_or_null(row->reason)) \
	X(compilations, ts_int_or_null(row->nr_compiled)) \
	X(compile_id, ts_text_or_null(row->region)) \
	X(continued_as, ts_text_or_null(row->continued_as)) \
	X(count, ts_int_or_null(row->nr_runs)) \
	X(continued_ps, ts_int_or_null(row->continued_ps)) \
	X(explanation, ts_text_or_null(row->explanation)) \
	X(hint, ts_text_or_null(row->hint)) \
	X(stack, ts_text_or_null(row->stack)) \
	X(known_from, ts_text(ts_bytes_of(row->known_from)))

void ts_compile_put_breaks(const struct compile_report *report)
{
	struct ts_table *table = TS_TABLE(report->result, compile_graph_break_places);

	for (size_t i = 0; i < report->facts->nr_listed_breaks; i++) {
		const struct ts_compile_break *row = &report->facts->breaks[i];

		TS_CELLS(report->result, table, compile_graph_break_places, BREAK_CELLS);
	}
}
