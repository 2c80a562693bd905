/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of one program in several modes of its compiler, a row each.
 *
 * A step is a mark of PyTorch's profiler where the trace has some ("timeline"), else a step of the
 * devices; the median, for one slow step says nothing of a mode. Without steps nothing is said of
 * speed: two traces need not hold the same work.
 */
#include "compare/modes.h"

#include "base/check.h"
#include "base/units.h"
#include "compare/differ.h"

#define ALPHA 0.05 /* as in a comparison: from here on it may be chance */

/* The longer first, where one is a part of the other. Dashes stand for underscores too. */
static const char *const modes[] = {
	"max-autotune-no-cudagraphs",
	"max-autotune",
	"reduce-overhead",
	"aot_eager",
	"cudagraphs",
	"inductor",
	"default",
	"eager",
	"jit",
};

struct run {
	const struct ts_result *compile, *overview;
	double *step_ps;   /* in the order of time */
	int64_t *start_ns; /* on the clock of the world, where it is known */
	size_t nr_steps;
	bool is_clock_known;
	double median_ps;	 /* NaN: there are no steps */
	struct ts_differ differ; /* the first run's steps against these */
};

static uint8_t plain(uint8_t c)
{
	if (c == '_')
		return '-';
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static bool is_word_part(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does MODE stand in the name at this byte, as a word of its own? */
static bool stands_at(struct ts_bytes name, size_t at, const char *mode)
{
	size_t n = strlen(mode);

	if (at + n > name.n || (at > 0 && is_word_part(name.p[at - 1])) ||
	    (at + n < name.n && is_word_part(name.p[at + n])))
		return false;
	for (size_t i = 0; i < n; i++)
		if (plain(name.p[at + i]) != plain((uint8_t)mode[i]))
			return false;
	return true;
}

struct ts_bytes ts_mode_of(struct ts_bytes name)
{
	size_t slash = name.n;

	while (slash > 0 && name.p[slash - 1] != '/')
		slash--;
	for (int folders = 0; folders < 2; folders++) { /* the file's own name says more */
		for (size_t m = 0; m < TS_NELEM(modes); m++)
			for (size_t at = folders ? 0 : slash; at < name.n; at++)
				if (stands_at(name, at, modes[m]))
					return ts_bytes_of(modes[m]);
	}
	return (struct ts_bytes){ NULL, 0 };
}

static int smaller_first(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool take_steps(struct run *run, const struct ts_compare_run *of,
		       const struct ts_table *table, const char *column, const char *counted)
{
	int64_t start_ns = of->profile ? of->profile->start_unix_ns : TS_UNKNOWN;
	size_t nr = table ? table->nr_rows : 0;

	run->is_clock_known = start_ns != TS_UNKNOWN;
	run->step_ps = calloc(nr + 1, sizeof(double));
	run->start_ns = calloc(nr + 1, sizeof(int64_t));
	for (size_t i = 0; run->step_ps && run->start_ns && i < nr; i++) {
		struct ts_value counts = counted ? ts_cell(table, i, counted) : ts_null();
		double ps = ts_cell_number(table, i, column);

		if (!(ps > 0) || (counts.type == TS_VALUE_BOOL && !counts.as.b))
			continue;
		run->start_ns[run->nr_steps] =
			ts_i64_add(start_ns, ts_cell_int(table, i, "start_ps") / TS_PS_PER_NS);
		run->step_ps[run->nr_steps++] = ps;
	}
	return run->step_ps && run->start_ns;
}

static void close_run(struct run *run)
{
	free(run->step_ps);
	free(run->start_ns);
}

static enum ts_status find_median(struct run *run, struct ts_error *err)
{
	size_t nr = run->nr_steps;
	double *sorted = calloc(nr + 1, sizeof(*sorted));

	if (!sorted)
		return ts_fail_nomem(err);
	memcpy(sorted, run->step_ps, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), smaller_first);
	run->median_ps = nr > 0 ? (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2 : NAN;
	free(sorted);
	return TS_OK;
}

static enum ts_status open_run(struct run *run, const struct ts_compare_run *of,
			       struct ts_error *err)
{
	const struct ts_table *marks =
		ts_result_find_table(ts_results_find(of->results, "timeline"), "steps");
	const struct ts_table *steps =
		ts_result_find_table(ts_results_find(of->results, "time"), "per_step");

	run->compile = ts_results_find(of->results, "compile");
	run->overview = ts_results_find(of->results, "overview");
	if (!take_steps(run, of, marks, "duration_ps", "counted"))
		return ts_fail_nomem(err);
	if (run->nr_steps == 0) {
		close_run(run);
		if (!take_steps(run, of, steps, "duration_ps", NULL))
			return ts_fail_nomem(err);
	}
	return find_median(run, err);
}

static enum ts_status differ(const struct run *base, struct run *run, struct ts_error *err)
{
	bool one_clock = base->is_clock_known && run->is_clock_known;
	struct ts_step_times ours = { base->step_ps, one_clock ? base->start_ns : NULL,
				      base->nr_steps };
	struct ts_step_times theirs = { run->step_ps, one_clock ? run->start_ns : NULL,
					run->nr_steps };

	return ts_differ(&ours, &theirs, &run->differ, err);
}

static struct ts_value of(const struct run *run, const char *field)
{
	return run->compile ? ts_result_get(run->compile, field) : ts_null();
}

static struct ts_value a_step(const struct run *run, const char *field)
{
	return ts_real(ts_value_number(of(run, field)) / (double)run->nr_steps);
}

enum {
	MODE,
	RUN,
	STEPS,
	STEP_MS,
	SPEEDUP,
	SPEEDUP_LOW,
	SPEEDUP_HIGH,
	TURNS,
	P_VALUE,
	MAY_BE_CHANCE,
	COMPILE_MS,
	PAYS_AFTER,
	BREAKS,
	RECOMPILES,
	RATIO,
	BEFORE,
	AFTER,
	KERNELS,
	LAUNCHES,
	GRAPHS,
	USES_GRAPHS,
	NR_COLUMNS
};

static const struct ts_column columns[NR_COLUMNS] = {
	[MODE] = { "mode", TS_DERIVED, "mode" },
	[RUN] = { "run", TS_DERIVED, NULL },
	[STEPS] = { "steps", TS_MEASURED, "steps" },
	[STEP_MS] = { "step_time_ms", TS_MEASURED, "a step, ms" },
	[SPEEDUP] = { "speedup", TS_MEASURED, "speed-up" },
	[SPEEDUP_LOW] = { "speedup_low", TS_DERIVED, "at least" },
	[SPEEDUP_HIGH] = { "speedup_high", TS_DERIVED, "at most" },
	[TURNS] = { "turns", TS_MEASURED, NULL },
	[P_VALUE] = { "p_value", TS_DERIVED, NULL },
	[MAY_BE_CHANCE] = { "may_be_chance", TS_DERIVED, NULL },
	[COMPILE_MS] = { "compile_time_ms", TS_MEASURED, "compile, ms" },
	[PAYS_AFTER] = { "pays_after_steps", TS_DERIVED, "pays after, steps" },
	[BREAKS] = { "graph_breaks", TS_DERIVED, "graph breaks" },
	[RECOMPILES] = { "recompilations", TS_MEASURED, "recompiled" },
	[RATIO] = { "fusion_ratio", TS_DERIVED, "ops a kernel" },
	[BEFORE] = { "ops_before_fusion", TS_DERIVED, NULL },
	[AFTER] = { "ops_after_fusion", TS_MEASURED, NULL },
	[KERNELS] = { "kernels_a_step", TS_MEASURED, "kernels a step" },
	[LAUNCHES] = { "kernel_launches_a_step", TS_MEASURED, "launches" },
	[GRAPHS] = { "cuda_graph_launches", TS_MEASURED, NULL },
	[USES_GRAPHS] = { "uses_cuda_graphs", TS_DERIVED, "CUDA graphs" },
};

static struct ts_value mode_cell(const struct ts_compare_run *run)
{
	struct ts_bytes mode = run->label ? ts_bytes_of(run->label) : ts_mode_of(run->name);
	size_t slash = run->name.n;

	if (mode.n > 0)
		return ts_text(mode);
	while (slash > 0 && run->name.p[slash - 1] != '/')
		slash--;
	return ts_text(ts_bytes_cut(run->name, slash, run->name.n));
}

/* Steps until what compiling took is won back; null where nothing is won, or not known. */
static struct ts_value pays_after(const struct run *base, const struct run *run)
{
	double won_ms = (base->median_ps - run->median_ps) / (double)TS_PS_PER_MS;
	double steps = ceil(ts_value_number(of(run, "compile_time_ms")) / won_ms);

	return won_ms > 0 && steps < 9e15 ? ts_int((int64_t)steps) : ts_null();
}

/* Without turns a small p says that the steps differ, and not that the modes do. */
static struct ts_value may_be_chance(const struct run *run)
{
	if (isnan(run->differ.rank.p))
		return ts_null();
	if (run->differ.rank.p >= ALPHA)
		return ts_bool(true);
	return run->differ.turns > 1 ? ts_bool(false) : ts_null();
}

static void put_run(const struct ts_compare_request *request, const struct run *runs, size_t at,
		    struct ts_value *cells)
{
	static const struct {
		int column;
		const char *field;
	} copied[] = {
		{ COMPILE_MS, "compile_time_ms" }, { BREAKS, "graph_breaks" },
		{ RECOMPILES, "recompilations" },  { RATIO, "fusion_ratio" },
		{ BEFORE, "ops_before_fusion" },   { AFTER, "ops_after_fusion" },
		{ GRAPHS, "cuda_graph_launches" },
	};
	const struct run *run = &runs[at];
	struct ts_value graphs = of(run, "cuda_graph_launches");

	cells[MODE] = mode_cell(&request->runs[at]);
	cells[RUN] = ts_text(request->runs[at].name);
	cells[STEPS] = ts_int((int64_t)run->nr_steps);
	cells[STEP_MS] = ts_real(run->median_ps / (double)TS_PS_PER_MS);
	cells[SPEEDUP] = ts_real(runs[0].median_ps / run->median_ps);
	if (at > 0) {
		cells[SPEEDUP_LOW] = ts_real(run->differ.ratio_low);
		cells[SPEEDUP_HIGH] = ts_real(run->differ.ratio_high);
		cells[TURNS] = run->differ.turns ? ts_int((int64_t)run->differ.turns) : ts_null();
		cells[P_VALUE] = ts_real(run->differ.rank.p);
		cells[MAY_BE_CHANCE] = may_be_chance(run);
	}
	cells[PAYS_AFTER] = at > 0 ? pays_after(&runs[0], run) : ts_null();
	for (size_t i = 0; i < TS_NELEM(copied); i++)
		cells[copied[i].column] = of(run, copied[i].field);
	if (run->nr_steps > 0) {
		cells[KERNELS] = a_step(run, "ops_after_fusion");
		cells[LAUNCHES] = a_step(run, "kernel_launches");
	}
	if (graphs.type == TS_VALUE_INT)
		cells[USES_GRAPHS] = ts_bool(graphs.as.i > 0);
}

/* The fastest by its median; -1: no two have steps. */
static int64_t fastest(const struct run *runs, size_t nr)
{
	int64_t best = -1;
	size_t nr_known = 0;

	for (size_t i = 0; i < nr; i++) {
		if (isnan(runs[i].median_ps))
			continue;
		nr_known++;
		if (best < 0 || runs[i].median_ps < runs[best].median_ps)
			best = (int64_t)i;
	}
	return nr_known > 1 ? best : -1;
}

static void put_fields(struct ts_result *result, const struct ts_table *table,
		       const struct run *runs, size_t nr)
{
	int64_t best = fastest(runs, nr);
	size_t row = best < 0 ? 0 : (size_t)best;

	ts_result_field(result, "baseline", ts_cell(table, 0, "mode"), TS_DERIVED, "baseline");
	ts_result_field(result, "fastest_mode", best < 0 ? ts_null() : ts_cell(table, row, "mode"),
			TS_DERIVED, "fastest");
	ts_result_field(result, "speedup", best < 0 ? ts_null() : ts_cell(table, row, "speedup"),
			TS_MEASURED, "speed-up");
	ts_result_field(result, "may_be_chance",
			best < 0 ? ts_null() : ts_cell(table, row, "may_be_chance"), TS_DERIVED,
			"may be chance");
	if (best < 0)
		ts_result_note(result, "speed is compared by steps, and fewer than two of the runs "
				       "have some (call prof.step() after each, or mark them with "
				       "record_function(\"ProfilerStep#0\"))");
}

static void note_one_block(struct ts_result *result, const struct run *runs, size_t nr)
{
	bool no_turns = false;

	for (size_t i = 1; i < nr; i++)
		no_turns |=
			runs[i].nr_steps > 0 && runs[0].nr_steps > 0 && runs[i].differ.turns < 2;
	if (no_turns)
		ts_result_note(result,
			       "each mode was measured in one block: what else the machine did at "
			       "that time is in its steps too, so no speed-up is certain (measure "
			       "the modes in turns, as TorchCompileAnalyzer does)");
}

static void note_unlike(struct ts_result *result, const struct run *runs, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		double base = ts_value_number(of(&runs[0], "ops_before_fusion")) /
			      (double)runs[0].nr_steps;
		double ops = ts_value_number(of(&runs[i], "ops_before_fusion")) /
			     (double)runs[i].nr_steps;

		if (ops > 4 * base || base > 4 * ops)
			ts_result_note(result,
				       "run %zu does %.3g ops a step before fusion, the "
				       "baseline %.3g: these may be different programs",
				       i, ops, base);
	}
}

static enum ts_status put_runs(const struct ts_compare_request *request, const struct run *runs,
			       struct ts_result *result, struct ts_error *err)
{
	struct ts_table *table =
		ts_result_table(result, "modes", "Modes of the compiler", columns, NR_COLUMNS);

	for (size_t i = 0; table && i < request->nr_runs; i++) {
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return ts_fail_nomem(err);
		put_run(request, runs, i, cells);
	}
	if (!table)
		return ts_fail_nomem(err);
	table->text_rows = TS_COMPARE_MAX;
	put_fields(result, table, runs, request->nr_runs);
	note_one_block(result, runs, request->nr_runs);
	note_unlike(result, runs, request->nr_runs);
	return TS_OK;
}

enum ts_status ts_compare_modes(const struct ts_compare_request *request, struct ts_results *into,
				struct ts_error *err)
{
	struct ts_result *result = ts_results_add(into, "compile_modes", "Modes of the compiler");
	struct run runs[TS_COMPARE_MAX];
	enum ts_status st = result ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT(request && into);
	TS_ASSERT(request->nr_runs >= 1 && request->nr_runs <= TS_COMPARE_MAX);
	TS_ASSERT(request->runs);
	memset(runs, 0, sizeof(runs));
	for (size_t i = 0; i < request->nr_runs && st == TS_OK; i++) {
		st = open_run(&runs[i], &request->runs[i], err);
		if (st == TS_OK && i > 0)
			st = differ(&runs[0], &runs[i], err);
	}
	if (st == TS_OK)
		st = put_runs(request, runs, result, err);
	for (size_t i = 0; i < request->nr_runs; i++)
		close_run(&runs[i]);
	if (st == TS_OK && (into->failed || into->arena.failed))
		st = ts_fail_nomem(err);
	return st;
}
