/* SPDX-License-Identifier: MIT */
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
#include "base/order.h"
#include "result/schema/compile.def"
#include "result/schema/compile_modes.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"
#include "result/schema/timeline.def"

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

static uint8_t compile_modes_plain(uint8_t c)
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
		if (compile_modes_plain(name.p[at + i]) != compile_modes_plain((uint8_t)mode[i]))
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

/* Where a table has its steps; counted -1: all of its steps count. */
struct step_source {
	const struct ts_table *table;
	int duration_ps, start_ps, counted;
};

static enum ts_status compile_modes_take_steps(struct run *run, const struct ts_compare_run *of,
					       const struct step_source *from, struct ts_error *err)
{
	int64_t start_ns = of->profile ? of->profile->start_unix_ns : TS_UNKNOWN;
	size_t nr = ts_table_rows(from->table);

	run->is_clock_known = start_ns != TS_UNKNOWN;
	run->step_ps = calloc(nr + 1, sizeof(double));
	run->start_ns = calloc(nr + 1, sizeof(int64_t));
	if (!run->step_ps || !run->start_ns)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		struct ts_value counts = ts_table_cell(from->table, i, from->counted);
		double ps = ts_value_number(ts_table_cell(from->table, i, from->duration_ps));
		int64_t at_ps = ts_value_int(ts_table_cell(from->table, i, from->start_ps));

		if (!(ps > 0) || (counts.type == TS_VALUE_BOOL && !counts.as.b))
			continue;
		run->start_ns[run->nr_steps] = ts_i64_add(start_ns, at_ps / TS_PS_PER_NS);
		run->step_ps[run->nr_steps++] = ps;
	}
	return TS_OK;
}

static void close_run(struct run *run)
{
	free(run->step_ps);
	free(run->start_ns);
}

static enum ts_status compile_modes_find_median(struct run *run, struct ts_error *err)
{
	size_t nr = run->nr_steps;
	double *sorted = calloc(nr + 1, sizeof(*sorted));

	if (!sorted)
		return ts_fail_nomem(err);
	memcpy(sorted, run->step_ps, nr * sizeof(*sorted));
	TS_SORT(sorted, nr, ts_double_order);
	run->median_ps = nr > 0 ? (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2 : NAN;
	free(sorted);
	return TS_OK;
}

static enum ts_status compile_modes_open_run(struct run *run, const struct ts_compare_run *of,
					     struct ts_error *err)
{
	const struct step_source marks = {
		.table = TS_FIND_TABLE(of->results, timeline, steps),
		.duration_ps = TS_COLUMN_AT(timeline_steps, duration_ps),
		.start_ps = TS_COLUMN_AT(timeline_steps, start_ps),
		.counted = TS_COLUMN_AT(timeline_steps, counted),
	};
	const struct step_source steps = {
		.table = TS_FIND_TABLE(of->results, time, per_step),
		.duration_ps = TS_COLUMN_AT(time_per_step, duration_ps),
		.start_ps = TS_COLUMN_AT(time_per_step, start_ps),
		.counted = -1,
	};

	enum ts_status st;

	run->compile = TS_FIND(of->results, compile);
	run->overview = TS_FIND(of->results, overview);
	st = compile_modes_take_steps(run, of, &marks, err);
	if (st)
		return st;
	if (run->nr_steps == 0) {
		close_run(run);
		st = compile_modes_take_steps(run, of, &steps, err);
		if (st)
			return st;
	}
	return compile_modes_find_median(run, err);
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

#define OF(run, field) TS_GET((run)->compile, compile, field)

static struct ts_value a_step(const struct run *run, struct ts_value of_run)
{
	return run->nr_steps > 0 ? ts_real(ts_value_number(of_run) / (double)run->nr_steps)
				 : ts_null();
}

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
	double steps = ceil(ts_value_number(OF(run, compile_time_ms)) / won_ms);

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

#define MODE_CELLS(X) \
	X(mode, mode_cell(&request->runs[at])) \
	X(run, ts_text(request->runs[at].name)) \
	X(steps, ts_int((int64_t)run->nr_steps)) \
	X(step_time_ms, ts_real(run->median_ps / (double)TS_PS_PER_MS)) \
	X(speedup, ts_real(runs[0].median_ps / run->median_ps)) \
	X(speedup_low, at > 0 ? ts_real(run->differ.ratio_low) : ts_null()) \
	X(speedup_high, at > 0 ? ts_real(run->differ.ratio_high) : ts_null()) \
	X(turns, at > 0 && run->differ.turns ? ts_int((int64_t)run->differ.turns) : ts_null()) \
	X(p_value, at > 0 ? ts_real(run->differ.rank.p) : ts_null()) \
	X(may_be_chance, at > 0 ? may_be_chance(run) : ts_null()) \
	X(compile_time_ms, OF(run, compile_time_ms)) \
	X(pays_after_steps, at > 0 ? pays_after(&runs[0], run) : ts_null()) \
	X(graph_breaks, OF(run, graph_breaks)) \
	X(recompilations, OF(run, recompilations)) \
	X(fusion_ratio, OF(run, fusion_ratio)) \
	X(ops_before_fusion, OF(run, ops_before_fusion)) \
	X(ops_after_fusion, OF(run, ops_after_fusion)) \
	X(kernels_a_step, a_step(run, OF(run, ops_after_fusion))) \
	X(kernel_launches_a_step, a_step(run, OF(run, kernel_launches))) \
	X(cuda_graph_launches, graphs) \
	X(uses_cuda_graphs, graphs.type == TS_VALUE_INT ? ts_bool(graphs.as.i > 0) : ts_null())

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

static void compile_modes_put_fields(struct ts_result *result, const struct ts_table *table,
				     const struct run *runs, size_t nr)
{
	int64_t best = fastest(runs, nr);
	size_t row = best < 0 ? 0 : (size_t)best;

	TS_SET(result, compile_modes, baseline, TS_CELL_OF(table, compile_modes_modes, 0, mode));
	TS_SET(result, compile_modes, fastest_mode,
	       best < 0 ? ts_null() : TS_CELL_OF(table, compile_modes_modes, row, mode));
	TS_SET(result, compile_modes, speedup,
	       best < 0 ? ts_null() : TS_CELL_OF(table, compile_modes_modes, row, speedup));
	TS_SET(result, compile_modes, may_be_chance,
	       best < 0 ? ts_null() : TS_CELL_OF(table, compile_modes_modes, row, may_be_chance));
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
		double base =
			ts_value_number(OF(&runs[0], ops_before_fusion)) / (double)runs[0].nr_steps;
		double ops =
			ts_value_number(OF(&runs[i], ops_before_fusion)) / (double)runs[i].nr_steps;

		if (ops > 4 * base || base > 4 * ops)
			ts_result_note(result,
				       "run %zu does %.3g ops a step before fusion, the "
				       "baseline %.3g: these may be different programs",
				       i, ops, base);
	}
}

static void compile_modes_put_runs(const struct ts_compare_request *request, const struct run *runs,
				   struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, compile_modes_modes);

	for (size_t at = 0; at < request->nr_runs; at++) {
		const struct run *run = &runs[at];
		struct ts_value graphs = OF(run, cuda_graph_launches);

		TS_CELLS(result, table, compile_modes_modes, MODE_CELLS);
	}
	table->text_rows = TS_COMPARE_MAX;
	compile_modes_put_fields(result, table, runs, request->nr_runs);
	note_one_block(result, runs, request->nr_runs);
	note_unlike(result, runs, request->nr_runs);
}

enum ts_status ts_compare_modes(const struct ts_compare_request *request, struct ts_results *into,
				struct ts_error *err)
{
	struct ts_result *result = TS_ADD(into, compile_modes);
	struct run runs[TS_COMPARE_MAX];
	enum ts_status st = result ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT(request && into);
	TS_ASSERT(request->nr_runs >= 1 && request->nr_runs <= TS_COMPARE_MAX);
	TS_ASSERT(request->runs);
	memset(runs, 0, sizeof(runs));
	for (size_t i = 0; i < request->nr_runs && st == TS_OK; i++) {
		st = compile_modes_open_run(&runs[i], &request->runs[i], err);
		if (st == TS_OK && i > 0)
			st = differ(&runs[0], &runs[i], err);
	}
	if (st == TS_OK)
		compile_modes_put_runs(request, runs, result);
	for (size_t i = 0; i < request->nr_runs; i++)
		close_run(&runs[i]);
	if (st == TS_OK && (into->failed || into->arena.failed))
		st = ts_fail_nomem(err);
	return st;
}
