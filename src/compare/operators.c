/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's operators of the runs: which took GPUs (or hosts, where a run has no GPU) longer, by name, and by name and
 * the shapes of their inputs. Times are without the operators inside, so the rows of a table sum to what all of them
 * took; they are of a step and core where all runs have steps.
 */
#include "compare/parts.h"

#include "base/check.h"
#include "base/order.h"
#include "base/units.h"

#include "result/schema/operators.def"

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

/* A table of operators, and where it has what is compared; -1: it has no such column. */
struct source {
	const struct ts_sheet *sheet;
	int name, input_shapes, category, calls, self_gpu_ps, self_cpu_ps;
};
#define SOURCE(row, shapes) \
	{ \
		.sheet = &ts_sheet_##row, \
		.name = TS_COLUMN_AT(row, name), \
		.input_shapes = shapes, \
		.category = TS_COLUMN_AT(row, category), \
		.calls = TS_COLUMN_AT(row, calls), \
		.self_gpu_ps = TS_COLUMN_AT(row, self_gpu_ps), \
		.self_cpu_ps = TS_COLUMN_AT(row, self_cpu_ps), \
	}
static const struct source by_name = SOURCE(operators_by_name, -1);
static const struct source by_shape =
	SOURCE(operators_by_shape, TS_COLUMN_AT(operators_by_shape, input_shapes));

/* What a run's sums are divided by. */
static double compare_operators_parts_of(const struct comparing *comparing, size_t run)
{
	const struct ts_measured *measured = &comparing->measured[run];

	if (measured->parts > 0)
		return measured->parts;
	return comparing->by_step && measured->nr_steps > 0 ? (double)measured->nr_steps : 1;
}

static struct pair *compare_operators_pair_of(struct pairs *pairs, const struct source *source,
					      const struct ts_table *table, size_t row,
					      struct ts_arena *arena)
{
	struct ts_bytes name = ts_value_text(ts_table_cell(table, row, source->name));
	struct ts_bytes shapes = ts_value_text(ts_table_cell(table, row, source->input_shapes));
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
			       .category =
				       ts_value_text(ts_table_cell(table, row, source->category)) };
	for (size_t r = 0; r < TS_COMPARE_MAX; r++)
		pair->calls[r] = pair->gpu_ps[r] = pair->cpu_ps[r] = NAN;
	return pair;
}

static enum ts_status compare_operators_add_run(struct comparing *comparing, size_t run,
						struct pairs *pairs, const struct source *source,
						struct ts_error *err)
{
	const struct ts_table *table = ts_result_find_table(
		TS_FIND(comparing->runs[run].results, operators), source->sheet->name);
	double parts = compare_operators_parts_of(comparing, run);

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct pair *pair =
			compare_operators_pair_of(pairs, source, table, i, &comparing->scratch);

		if (!pair)
			return ts_fail_nomem(err);
		pair->calls[run] = ts_value_number(ts_table_cell(table, i, source->calls)) / parts;
		pair->gpu_ps[run] =
			ts_value_number(ts_table_cell(table, i, source->self_gpu_ps)) / parts;
		pair->cpu_ps[run] =
			ts_value_number(ts_table_cell(table, i, source->self_cpu_ps)) / parts;
	}
	return TS_OK;
}

static const double *compare_operators_times_of(const struct pairs *pairs, const struct pair *pair)
{
	return pairs->by_gpu ? pair->gpu_ps : pair->cpu_ps;
}

TS_ORDER(compare_operators_by_change, struct pair,
	 TS_DOWN_OF(fabs, change_ps) TS_UP(name) TS_UP(shapes))

static void rank_pairs(struct pairs *pairs, size_t nr_runs)
{
	for (size_t i = 0; i < pairs->nr; i++)
		for (size_t r = 1; r < nr_runs; r++) {
			struct pair *pair = &pairs->items[i];
			const double *ps = compare_operators_times_of(pairs, pair);
			double change = ts_or_zero(ps[r]) - ts_or_zero(ps[0]);

			if (fabs(change) > fabs(pair->change_ps))
				pair->change_ps = change;
		}
	TS_SORT(pairs->items, pairs->nr, compare_operators_by_change);
}

_Static_assert((sizeof(struct ts_compare_operators_row) +
		TS_COMPARE_MAX * sizeof(struct ts_compare_operators_each_row)) /
			       sizeof(struct ts_value) <=
		       TS_MAX_COLUMNS,
	       "a comparison of operators has room for every run");

static enum state compare_operators_state_of(const struct comparing *comparing,
					     const struct pairs *pairs, const struct pair *pair,
					     size_t run)
{
	const double *ps = compare_operators_times_of(pairs, pair);
	/* a call without a kernel is there all the same */
	double base = isnan(pair->calls[0]) ? NAN : ts_or_zero(ps[0]);
	double other = isnan(pair->calls[run]) ? NAN : ts_or_zero(ps[run]);

	return ts_compare_state(base, other, comparing->measured[0].time_ps);
}

static struct ts_value compare_operators_change_of(const double *ps, size_t run)
{
	bool is_known = !isnan(ps[0]) || !isnan(ps[run]);

	return is_known ? ts_compare_ps(ts_or_zero(ps[run]) - ts_or_zero(ps[0])) : ts_null();
}

#define EACH_CELLS(X) \
	X(calls, ts_real(pair->calls[run])) \
	X(self_gpu_ps, ts_compare_ps(pair->gpu_ps[run])) \
	X(self_cpu_ps, ts_compare_ps(pair->cpu_ps[run])) \
	X(change_self_gpu_ps, compare_operators_change_of(pair->gpu_ps, run)) \
	X(change_self_cpu_ps, compare_operators_change_of(pair->cpu_ps, run)) \
	X(state, state ? ts_text(ts_bytes_of(state)) : ts_null())

static bool compare_operators_is_changed(const struct comparing *comparing,
					 const struct pairs *pairs, const struct pair *pair)
{
	for (size_t r = 1; r < comparing->nr; r++)
		if (compare_operators_state_of(comparing, pairs, pair, r) > STATE_SAME)
			return true;
	return false;
}

#define PAIR_CELLS(X) \
	X(name, ts_text(pair->name)) \
	X(input_shapes, ts_text_or_null(pair->shapes)) \
	X(category, ts_text_or_null(pair->category))

static void compare_operators_put_pairs(struct comparing *comparing, const struct pairs *pairs,
					const struct ts_sheet *sheet)
{
	struct ts_compare_table table =
		ts_compare_table(comparing, sheet,
				 pairs->by_gpu ? &ts_sheet_compare_operators_each
					       : &ts_sheet_compare_operators_cpu_each,
				 sheet->title);
	size_t nr_changed = 0;

	for (size_t i = 0; table.table && i < pairs->nr; i++) {
		const struct pair *pair = &pairs->items[i];
		struct ts_value *row;

		COMPARE_ROW(comparing, &table, compare_operators, row, PAIR_CELLS);
		/*
		 * The label of a run is above the time that is compared: where that is the hosts',
		 * in the same columns under other headings.
		 */
		for (size_t run = 0; run < comparing->nr; run++) {
			const char *state = ts_compare_state_name(
				compare_operators_state_of(comparing, pairs, pair, run));

			COMPARE_RUN(&table, compare_operators_each, row, run, EACH_CELLS);
		}
		nr_changed += compare_operators_is_changed(comparing, pairs, pair);
	}
	if (table.table && nr_changed == 0)
		table.table->title = NULL; /* nothing to show */
	else if (table.table)
		table.table->text_rows = TS_MIN(nr_changed, 10);
}

static bool compare_operators_has_gpus(const struct comparing *comparing, size_t run)
{
	const struct ts_result *operators = TS_FIND(comparing->runs[run].results, operators);

	return operators && TS_GET(operators, operators, gpu_ps).type != TS_VALUE_NULL;
}

static enum ts_status compare_table(struct comparing *comparing, const struct source *from,
				    const struct ts_sheet *sheet, struct ts_error *err)
{
	struct pairs pairs = { .by_gpu = true };
	enum ts_status st = TS_OK;

	for (size_t r = 0; r < comparing->nr; r++)
		pairs.by_gpu &= compare_operators_has_gpus(comparing, r);
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++)
		st = compare_operators_add_run(comparing, r, &pairs, from, err);
	rank_pairs(&pairs, comparing->nr);
	if (st == TS_OK && pairs.nr > 0)
		compare_operators_put_pairs(comparing, &pairs, sheet);
	ts_strmap_release(&pairs.map);
	free(pairs.items);
	return st;
}

enum ts_status ts_compare_operators(struct comparing *comparing, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr > 1 && comparing->nr <= TS_COMPARE_MAX);
	st = compare_table(comparing, &by_name, &ts_sheet_compare_operators, err);
	return st ? st
		  : compare_table(comparing, &by_shape, &ts_sheet_compare_operator_shapes, err);
}
