/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's operators of the runs: which took GPUs (or hosts, where a run has no GPU) longer, by name, and by name and
 * the shapes of their inputs. Times are without the operators inside, so the rows of a table sum to what all of them
 * took; they are of a step and core where all runs have steps.
 */
#include "compare/parts.h"

#include "base/check.h"

#include <stdlib.h>

struct pair {
	struct ts_bytes name, shapes, category;
	double calls[TS_COMPARE_MAX]; /* NaN: the run does not have it */
	double gpu_ps[TS_COMPARE_MAX], cpu_ps[TS_COMPARE_MAX];
	double change_ps; /* the largest of the runs */
};

struct pairs {
	struct pair *items;
	size_t nr, cap;
	struct ts_strmap map;
	bool by_gpu; /* all runs have GPUs: it is their time that is compared */
};

static const struct ts_table *operators_of(const struct comparing *comparing, size_t run,
					   const char *table)
{
	return ts_result_find_table(ts_results_find(comparing->runs[run].results, "operators"),
				    table);
}

/* What a run's sums are divided by. */
static double parts_of(const struct comparing *comparing, size_t run)
{
	const struct ts_measured *measured = &comparing->measured[run];

	if (measured->parts > 0)
		return measured->parts;
	return comparing->by_step && measured->nr_steps > 0 ? (double)measured->nr_steps : 1;
}

static struct pair *pair_of(struct pairs *pairs, const struct ts_table *table, size_t row,
			    struct ts_arena *arena)
{
	struct ts_bytes name = ts_cell_text(table, row, "name");
	struct ts_bytes shapes = ts_cell_text(table, row, "input_shapes");
	struct ts_bytes key = ts_arena_printf(arena, "%.*s\n%.*s", TS_ARG(name), TS_ARG(shapes));
	uint32_t at = key.p ? ts_strmap_find(&pairs->map, key) : TS_NONE;
	struct pair *pair;

	if (at != TS_NONE)
		return &pairs->items[at];
	if (!key.p || !ts_grow(&pairs->items, &pairs->cap, pairs->nr + 1, sizeof(*pair)) ||
	    !ts_strmap_set(&pairs->map, key, (uint32_t)pairs->nr))
		return NULL;
	pair = &pairs->items[pairs->nr++];
	*pair = (struct pair){ .name = name,
			       .shapes = shapes,
			       .category = ts_cell_text(table, row, "category") };
	for (size_t r = 0; r < TS_COMPARE_MAX; r++)
		pair->calls[r] = pair->gpu_ps[r] = pair->cpu_ps[r] = NAN;
	return pair;
}

static enum ts_status add_run(struct comparing *comparing, size_t run, struct pairs *pairs,
			      const char *name, struct ts_error *err)
{
	const struct ts_table *table = operators_of(comparing, run, name);
	double parts = parts_of(comparing, run);

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct pair *pair = pair_of(pairs, table, i, &comparing->scratch);

		if (!pair)
			return ts_fail_nomem(err);
		pair->calls[run] = ts_cell_number(table, i, "calls") / parts;
		pair->gpu_ps[run] = ts_cell_number(table, i, "self_gpu_ps") / parts;
		pair->cpu_ps[run] = ts_cell_number(table, i, "self_cpu_ps") / parts;
	}
	return TS_OK;
}

static double known(double ps)
{
	return isnan(ps) ? 0 : ps;
}

static const double *times_of(const struct pairs *pairs, const struct pair *pair)
{
	return pairs->by_gpu ? pair->gpu_ps : pair->cpu_ps;
}

static int by_change(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	int order;

	if (fabs(a->change_ps) != fabs(b->change_ps))
		return fabs(a->change_ps) > fabs(b->change_ps) ? -1 : 1;
	order = ts_bytes_cmp(a->name, b->name);
	return order ? order : ts_bytes_cmp(a->shapes, b->shapes);
}

static void rank_pairs(struct pairs *pairs, size_t nr_runs)
{
	for (size_t i = 0; i < pairs->nr; i++)
		for (size_t r = 1; r < nr_runs; r++) {
			struct pair *pair = &pairs->items[i];
			const double *ps = times_of(pairs, pair);
			double change = known(ps[r]) - known(ps[0]);

			if (fabs(change) > fabs(pair->change_ps))
				pair->change_ps = change;
		}
	if (pairs->nr > 0)
		qsort(pairs->items, pairs->nr, sizeof(*pairs->items), by_change);
}

static const struct ts_column fixed_columns[] = {
	{ "name", TS_MEASURED, "operator" },
	{ "input_shapes", TS_MEASURED, "shapes" },
	{ "category", TS_DERIVED, NULL },
};
/* The label of a run is above the time that is compared. */
static const struct ts_column each_by_gpu[] = {
	{ "_calls", TS_MEASURED, "calls", -1 },
	{ "_self_gpu_ps", TS_MEASURED, "", 1 },
	{ "_self_cpu_ps", TS_MEASURED, NULL },
	{ "_change_self_gpu_ps", TS_DERIVED, "change" },
	{ "_change_self_cpu_ps", TS_DERIVED, NULL },
	{ "_state", TS_DERIVED, "is" },
};
static const struct ts_column each_by_cpu[] = {
	{ "_calls", TS_MEASURED, "calls", -1 },
	{ "_self_gpu_ps", TS_MEASURED, NULL },
	{ "_self_cpu_ps", TS_MEASURED, "", 1 },
	{ "_change_self_gpu_ps", TS_DERIVED, NULL },
	{ "_change_self_cpu_ps", TS_DERIVED, "change" },
	{ "_state", TS_DERIVED, "is" },
};
_Static_assert(TS_NELEM(fixed_columns) + TS_COMPARE_MAX * TS_NELEM(each_by_gpu) <= TS_MAX_COLUMNS,
	       "a comparison of operators has room for every run");

static enum state state_of(const struct comparing *comparing, const struct pairs *pairs,
			   const struct pair *pair, size_t run)
{
	const double *ps = times_of(pairs, pair);
	/* a call without a kernel is there all the same */
	double base = isnan(pair->calls[0]) ? NAN : known(ps[0]);
	double other = isnan(pair->calls[run]) ? NAN : known(ps[run]);

	return ts_compare_state(base, other, comparing->measured[0].time_ps);
}

static struct ts_value change_of(const double *ps, size_t run)
{
	bool is_known = !isnan(ps[0]) || !isnan(ps[run]);

	return is_known ? ts_compare_ps(known(ps[run]) - known(ps[0])) : ts_null();
}

static void put_run(const struct comparing *comparing, const struct pairs *pairs,
		    const struct pair *pair, size_t run, struct ts_value *cells)
{
	const char *state;

	cells[0] = ts_real(pair->calls[run]);
	cells[1] = ts_compare_ps(pair->gpu_ps[run]);
	cells[2] = ts_compare_ps(pair->cpu_ps[run]);
	if (run == 0)
		return;
	state = ts_compare_state_name(state_of(comparing, pairs, pair, run));
	cells[3] = change_of(pair->gpu_ps, run);
	cells[4] = change_of(pair->cpu_ps, run);
	cells[5] = state ? ts_text(ts_bytes_of(state)) : ts_null();
}

static bool is_changed(const struct comparing *comparing, const struct pairs *pairs,
		       const struct pair *pair)
{
	for (size_t r = 1; r < comparing->nr; r++)
		if (state_of(comparing, pairs, pair, r) > STATE_SAME)
			return true;
	return false;
}

static void put_pairs(struct comparing *comparing, const struct pairs *pairs, const char *name,
		      const char *title)
{
	struct ts_compare_table table =
		ts_compare_table(comparing, name, title, fixed_columns, TS_NELEM(fixed_columns),
				 pairs->by_gpu ? each_by_gpu : each_by_cpu, TS_NELEM(each_by_gpu));
	size_t nr_changed = 0;

	for (size_t i = 0; table.table && i < pairs->nr; i++) {
		const struct pair *pair = &pairs->items[i];
		struct ts_value *row = ts_table_row(comparing->result, table.table);

		row[0] = ts_text(pair->name);
		row[1] = ts_text_or_null(pair->shapes);
		row[2] = ts_text_or_null(pair->category);
		for (size_t r = 0; r < comparing->nr; r++)
			put_run(comparing, pairs, pair, r, ts_compare_cells(&table, row, r));
		nr_changed += is_changed(comparing, pairs, pair);
	}
	if (table.table && nr_changed == 0)
		table.table->title = NULL; /* nothing to show */
	else if (table.table)
		table.table->text_rows = TS_MIN(nr_changed, 10);
}

static bool has_gpus(const struct comparing *comparing, size_t run)
{
	const struct ts_result *operators =
		ts_results_find(comparing->runs[run].results, "operators");

	return operators && ts_result_get(operators, "gpu_ps").type != TS_VALUE_NULL;
}

static enum ts_status compare_table(struct comparing *comparing, const char *from, const char *name,
				    const char *title, struct ts_error *err)
{
	struct pairs pairs = { .by_gpu = true };
	enum ts_status st = TS_OK;

	for (size_t r = 0; r < comparing->nr; r++)
		pairs.by_gpu &= has_gpus(comparing, r);
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++)
		st = add_run(comparing, r, &pairs, from, err);
	rank_pairs(&pairs, comparing->nr);
	if (st == TS_OK && pairs.nr > 0)
		put_pairs(comparing, &pairs, name, title);
	ts_strmap_release(&pairs.map);
	free(pairs.items);
	return st;
}

enum ts_status ts_compare_operators(struct comparing *comparing, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr > 1 && comparing->nr <= TS_COMPARE_MAX);
	st = compare_table(comparing, "by_name", "operators", "Operators by what they changed",
			   err);
	return st ? st
		  : compare_table(comparing, "by_shape", "operator_shapes",
				  "Operators by the shapes of their inputs", err);
}
