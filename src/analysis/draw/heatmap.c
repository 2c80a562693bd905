/* SPDX-License-Identifier: MIT */
/*
 * The matrix units op by op and step by step: which products are slow always, and which only at times.
 *
 * For the first ops of the analysis systolic, a utilization for each step, or for as many
 * neighbouring steps as keep the columns few. An execution's FLOPs are the same in every step, so a
 * cell is the op's utilization over the run x its mean time over the run / its mean time in the cell.
 * A second look at the events; only where tracks are wanted, as this is for drawing.
 */
#include "analysis/facts/systolic.h"

#define TS_NEEDS(X) X(systolic)
#include "analysis/kit/needs.h"

#include "analysis/kit/run_steps.h"
#include "base/record.h"
#include "result/impossible.h"
#include "result/schema/heatmap.def"

#define MAX_OPS	    TS_MATRIX_DRAWN
#define MAX_CELLS 240

struct heat_cell {
	int64_t nr, self_ps;
};

struct heat_state {
	uint8_t *slot;			      /* of each op: its row, or MAX_OPS */
	struct heat_cell (*cells)[MAX_CELLS]; /* one a row */
	size_t nr_rows;
	const struct ts_device_steps *steps;
	size_t hint;
};

#define TS_SELF struct heat_cell
static TS_RECORD(cell, TS_NUMBER(1, nr, TS_ADD), TS_NUMBER(2, self_ps, TS_ADD));
#undef TS_SELF

#define TS_SELF struct heat_state
static TS_RECORD(heat, TS_RECORDS(1, cells, nr_rows, cell_record, TS_BY_NOTHING, TS_ADD),
		 TS_SCRATCH(slot));
#undef TS_SELF

static size_t steps_each(const struct ts_context *ctx)
{
	return (ctx->outline->steps.nr_steps + MAX_CELLS - 1) / MAX_CELLS;
}

static size_t nr_rows(const struct ts_context *ctx)
{
	return TS_MIN(ts_systolic_facts(ctx)->nr, MAX_OPS);
}

static bool heat_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->overlay_budget > 0 && ctx->outline->steps.nr_steps > 1 && nr_rows(ctx) > 0 &&
	       ts_line_is_core(ctx->profile, line) && ts_line_device(ctx->profile, line) != NULL;
}

static enum ts_status heat_look_at(const struct ts_context *ctx, bool *ops, struct ts_error *err)
{
	const struct ts_systolic_facts *systolic = ts_systolic_facts(ctx);

	for (size_t i = 0; i < nr_rows(ctx); i++)
		if (systolic->items[i].op != TS_NONE)
			ops[systolic->items[i].op] = true;
	return TS_OK;
}

/* The ops of systolic stand in the order of the time they lose: the first ones are drawn. */
static void fill_slots(uint8_t *slot, const struct ts_context *ctx)
{
	const struct ts_systolic_facts *systolic = ts_systolic_facts(ctx);

	memset(slot, MAX_OPS, ctx->profile->nr_ops);
	for (size_t i = nr_rows(ctx); i-- > 0;)
		if (systolic->items[i].op != TS_NONE)
			slot[systolic->items[i].op] = (uint8_t)i;
}

static enum ts_status heat_open(void *arg, const struct ts_context *ctx, const struct ts_line *line,
				struct ts_error *err)
{
	struct heat_state *state = arg;

	state->steps = ts_steps_of(&ctx->outline->steps, ctx->profile->planes[line->plane].device);
	state->slot = malloc(ctx->profile->nr_ops + 1);
	state->nr_rows = MAX_OPS;
	state->cells = calloc(state->nr_rows, sizeof(*state->cells));
	if (!state->slot || !state->cells)
		return ts_fail_nomem(err);
	fill_slots(state->slot, ctx);
	return TS_OK;
}

static enum ts_status heat_block(void *arg, const struct ts_context *ctx,
				 const struct ts_block *block, struct ts_error *err)
{
	struct heat_state *state = arg;
	size_t each = steps_each(ctx);

	for (size_t i = 0; i < block->nr_events; i++) {
		uint8_t slot = state->slot[block->op[i]];
		struct heat_cell *cell;
		uint32_t step;

		if (slot == MAX_OPS)
			continue;
		step = ts_steps_at(state->steps, block->start_ps[i], &state->hint);
		if (step == TS_NONE)
			continue;
		cell = &state->cells[slot][ts_device_steps_row(state->steps, step) / each];
		cell->nr = ts_i64_add(cell->nr, block->occurrences ? block->occurrences[i] : 1);
		cell->self_ps = ts_i64_add(cell->self_ps, block->self_ps[i]);
	}
	return TS_OK;
}

static double heatmap_mean_ps(const struct heat_cell *cell)
{
	return cell->nr > 0 ? (double)cell->self_ps / (double)cell->nr : NAN;
}

static struct heat_cell heatmap_sum_of(const struct heat_cell *cells)
{
	struct heat_cell sum = { 0, 0 };

	for (size_t i = 0; i < MAX_CELLS; i++) {
		sum.nr = ts_i64_add(sum.nr, cells[i].nr);
		sum.self_ps = ts_i64_add(sum.self_ps, cells[i].self_ps);
	}
	return sum;
}

static const struct ts_bytes above =
	TS_LIT("its FLOPs and its time in these steps contradict the chip's peak");

/* One utilization a column. */
static struct ts_value heatmap_utilization_of(const struct ts_matrix_op *op,
					      const struct heat_cell *cells, struct heat_cell sum,
					      size_t nr_columns, struct ts_result *result)
{
	double run_pct = 100 * op->utilization;
	struct ts_value *items;
	struct ts_value list = ts_result_list(result, NULL, 0, nr_columns, &items);

	for (size_t i = 0; items && i < nr_columns; i++)
		items[i] = ts_held_value(
			result, run_pct * heatmap_mean_ps(&sum) / heatmap_mean_ps(&cells[i]), 100,
			above);
	return list;
}

#define HEAT_CELLS(X) \
	X(op, ts_text(op->name)) \
	X(module, ts_text_or_null(op->module)) \
	X(time_ps, ts_int(sum.self_ps)) \
	X(mxu_utilization_pct, heatmap_utilization_of(op, cells, sum, nr_columns, result))

static void heatmap_put_row(const struct heat_cell *cells, const struct ts_matrix_op *op,
			    size_t nr_columns, struct ts_result *result, struct ts_table *table)
{
	struct heat_cell sum = heatmap_sum_of(cells);

	if (sum.nr > 0 && !isnan(op->utilization))
		TS_CELLS(result, table, heatmap_ops, HEAT_CELLS);
}

/* The number of the first step of each column. */
static enum ts_status heatmap_put_steps(const struct ts_context *ctx, size_t nr_columns,
					struct ts_result *result, struct ts_error *err)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	size_t each = steps_each(ctx);
	struct ts_steps_walk walk;
	struct ts_run_step step;
	struct ts_value *items;
	struct ts_value list = ts_result_list(result, NULL, 0, nr_columns, &items);
	enum ts_status st;

	if (!items)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr_columns; i++)
		items[i] = ts_null();
	st = ts_steps_walk_open(&walk, steps, err);
	if (st)
		return st;
	while (ts_steps_walk_next(&walk, &step))
		if (step.cores > 0 && (walk.row - 1) % each == 0)
			items[(walk.row - 1) / each] = ts_int((int64_t)step.number);
	ts_steps_walk_close(&walk);
	TS_SET(result, heatmap, steps_per_column, ts_int((int64_t)each));
	TS_SET(result, heatmap, steps, list);
	return TS_OK;
}

static enum ts_status heat_close(void *arg, const struct ts_context *ctx, void *facts,
				 struct ts_result *result, struct ts_error *err)
{
	const struct heat_state *state = arg;
	size_t each = steps_each(ctx), nr_columns;
	struct ts_table *table;
	enum ts_status st;

	if (state->nr_rows == 0)
		return TS_OK;
	nr_columns = (ctx->outline->steps.nr_steps + each - 1) / each;
	st = heatmap_put_steps(ctx, nr_columns, result, err);
	if (st)
		return st;
	table = TS_TABLE(result, heatmap_ops);
	for (size_t i = 0; i < TS_MIN(nr_rows(ctx), state->nr_rows); i++)
		heatmap_put_row(state->cells[i], &ts_systolic_facts(ctx)->items[i], nr_columns,
				result, table);
	return TS_OK;
}

const struct ts_analysis ts_analysis_heatmap = {
	.schema = &ts_schema_heatmap,
	.needs = TS_NEEDED,
	.pass = TS_PASS_OVERLAY,
	.state = &heat_record,
	.looks_at = heat_look_at,
	.wants = heat_wants,
	.open = heat_open,
	.block = heat_block,
	.close = heat_close,
};
