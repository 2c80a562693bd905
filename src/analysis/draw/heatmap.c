/*
 * The matrix units op by op and step by step: which products are slow always, and which only at times.
 *
 * For the ops of systolic.ops that take most time, a utilization for each step, or for as many
 * neighbouring steps as keep the columns few. An execution's FLOPs are the same in every step, so a
 * cell is the op's utilization over the run x its mean time over the run / its mean time in the cell.
 * A second look at the events; only where tracks are wanted, as this is for drawing.
 */
#define TS_NEEDS(X) X(systolic)
#include "analysis/kit/needs.h"
#include "base/map.h"

#define MAX_OPS	    48
#define MAX_COLUMNS 240

struct heat_cell {
	int64_t nr, self_ps;
};

struct heat_state {
	uint8_t *slot;				/* of each op: its row, or MAX_OPS */
	struct heat_cell (*cells)[MAX_COLUMNS]; /* MAX_OPS rows */
	const struct ts_device_steps *steps;
	size_t hint;
};

static size_t steps_each(const struct ts_context *ctx)
{
	return (ctx->outline->steps.nr_steps + MAX_COLUMNS - 1) / MAX_COLUMNS;
}

static const struct ts_table *matrix_ops(const struct ts_context *ctx)
{
	const struct ts_result *systolic = ts_results_find(ctx->results, "systolic");

	return systolic ? ts_result_find_table(systolic, "ops") : NULL;
}

static bool heat_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	const struct ts_table *ops = matrix_ops(ctx);

	return ctx->overlay_budget > 0 && ctx->outline->steps.nr_steps > 1 && ops &&
	       ops->nr_rows > 0 && ts_line_is_core(ctx->profile, line) &&
	       ts_line_device(ctx->profile, line) != NULL;
}

static uint64_t key_of(struct ts_bytes module, struct ts_bytes op)
{
	return ts_hash(op, ts_hash(module, 1));
}

/* Rows of systolic.ops stand in the order of their time: the first ones are drawn. */
static bool fill_slots(uint8_t *slot, const struct ts_context *ctx)
{
	const struct ts_profile *profile = ctx->profile;
	const struct ts_table *ops = matrix_ops(ctx);
	struct ts_map rows = { .nr = 0 };
	bool good = true;

	for (uint32_t i = 0; good && i < TS_MIN(ops->nr_rows, MAX_OPS); i++)
		good = ts_map_set(
			&rows, key_of(ts_cell_text(ops, i, "module"), ts_cell_text(ops, i, "op")),
			i);
	for (size_t i = 0; good && i < profile->nr_ops; i++) {
		const struct ts_op *op = &profile->ops[i];
		struct ts_bytes module = op->module < profile->nr_modules
						 ? profile->modules[op->module].name
						 : (struct ts_bytes){ NULL, 0 };
		uint32_t row = ts_map_find(&rows, key_of(module, op->name));

		slot[i] = row == TS_NONE ? MAX_OPS : (uint8_t)row;
	}
	ts_map_release(&rows);
	return good;
}

static enum ts_status heat_open(void *arg, const struct ts_context *ctx, const struct ts_line *line,
				struct ts_error *err)
{
	struct heat_state *state = arg;

	state->steps = &ctx->outline->steps.devices[ctx->profile->planes[line->plane].device];
	state->slot = malloc(ctx->profile->nr_ops + 1);
	state->cells = calloc(MAX_OPS, sizeof(*state->cells));
	if (!state->slot || !state->cells || !fill_slots(state->slot, ctx))
		return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status heat_block(void *arg, const struct ts_context *ctx,
				 const struct ts_block *block, struct ts_error *err)
{
	struct heat_state *state = arg;
	size_t each = steps_each(ctx);

	(void)err;
	for (size_t i = 0; i < block->nr_events; i++) {
		uint8_t slot = state->slot[block->op[i]];
		struct heat_cell *cell;
		uint32_t step;

		if (slot == MAX_OPS)
			continue;
		step = ts_steps_at(state->steps, block->start_ps[i], &state->hint);
		if (step == TS_NONE)
			continue;
		cell = &state->cells[slot][state->steps->items[step].row / each];
		cell->nr = ts_i64_add(cell->nr, block->occurrences ? block->occurrences[i] : 1);
		cell->self_ps = ts_i64_add(cell->self_ps, block->self_ps[i]);
	}
	return TS_OK;
}

static enum ts_status heat_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				 struct ts_error *err)
{
	struct heat_state *into = arg_into, *from = arg_from;

	(void)ctx;
	if (!into->cells)
		into->cells = calloc(MAX_OPS, sizeof(*into->cells));
	if (!into->cells)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < MAX_OPS; i++)
		for (size_t k = 0; k < MAX_COLUMNS; k++) {
			struct heat_cell *to = &into->cells[i][k];

			to->nr = ts_i64_add(to->nr, from->cells[i][k].nr);
			to->self_ps = ts_i64_add(to->self_ps, from->cells[i][k].self_ps);
		}
	return TS_OK;
}

static const struct ts_column columns[] = {
	{ "op", TS_MEASURED, NULL },
	{ "module", TS_MEASURED, NULL },
	{ "time_ps", TS_MEASURED, NULL },
	{ "mxu_utilization_pct", TS_MODELLED, NULL }, /* a list: one a column */
};

static double mean_ps(const struct heat_cell *cell)
{
	return cell->nr > 0 ? (double)cell->self_ps / (double)cell->nr : NAN;
}

static struct heat_cell sum_of(const struct heat_cell *cells)
{
	struct heat_cell sum = { 0, 0 };

	for (size_t i = 0; i < MAX_COLUMNS; i++) {
		sum.nr = ts_i64_add(sum.nr, cells[i].nr);
		sum.self_ps = ts_i64_add(sum.self_ps, cells[i].self_ps);
	}
	return sum;
}

static bool put_row(const struct heat_cell *cells, const struct ts_table *ops, size_t at,
		    size_t nr_columns, struct ts_result *result, struct ts_table *table)
{
	double run_pct = ts_cell_number(ops, at, "mxu_utilization_pct");
	struct heat_cell sum = sum_of(cells);
	struct ts_value *items, *row, list;

	if (sum.nr == 0 || isnan(run_pct))
		return true;
	list = ts_result_list(result, NULL, 0, nr_columns, &items);
	row = ts_table_row(result, table);
	if (!row || list.type != TS_VALUE_LIST)
		return false;
	for (size_t i = 0; i < nr_columns; i++)
		items[i] = ts_real(run_pct * mean_ps(&sum) / mean_ps(&cells[i]));
	row[0] = ts_text(ts_cell_text(ops, at, "op"));
	row[1] = ts_text_or_null(ts_cell_text(ops, at, "module"));
	row[2] = ts_int(sum.self_ps);
	row[3] = list;
	return true;
}

/* The number of the first step of each column. */
static bool put_steps(const struct ts_context *ctx, size_t nr_columns, struct ts_result *result)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	size_t each = steps_each(ctx);
	struct ts_value *items;
	struct ts_value list = ts_result_list(result, NULL, 0, nr_columns, &items);

	if (list.type != TS_VALUE_LIST)
		return false;
	for (size_t i = 0; i < nr_columns; i++)
		items[i] = ts_null();
	for (size_t d = 0; d < steps->nr_devices; d++)
		for (size_t i = steps->devices[d].nr; i-- > 0;) {
			const struct ts_step *step = &steps->devices[d].items[i];

			if (step->row % each == 0)
				items[step->row / each] = ts_int((int64_t)step->number);
		}
	ts_result_field(result, "steps_per_column", ts_int((int64_t)each), TS_DERIVED, NULL);
	return ts_result_field(result, "steps", list, TS_MEASURED, NULL);
}

static enum ts_status heat_close(void *arg, const struct ts_context *ctx, void *facts,
				 struct ts_result *result, struct ts_error *err)
{
	const struct heat_state *state = arg;
	const struct ts_table *ops = matrix_ops(ctx);
	size_t each = steps_each(ctx), nr_columns;
	struct ts_table *table;
	bool good;

	if (!state->cells || !ops)
		return TS_OK;
	nr_columns = (ctx->outline->steps.nr_steps + each - 1) / each;
	good = put_steps(ctx, nr_columns, result);
	table = ts_result_table(result, "ops", NULL, columns, TS_NELEM(columns));
	for (size_t i = 0; good && table && i < TS_MIN(ops->nr_rows, MAX_OPS); i++)
		good = put_row(state->cells[i], ops, i, nr_columns, result, table);
	return good && table ? TS_OK : ts_fail_nomem(err);
}

static void heat_release(void *arg)
{
	struct heat_state *state = arg;

	free(state->slot);
	free(state->cells);
}

const struct ts_analysis ts_analysis_heatmap = {
	.name = "heatmap",
	.title = "Matrix units by op and step",
	.needs = TS_NEEDED,
	.pass = TS_PASS_OVERLAY,
	.draws_only = true,
	.state_size = sizeof(struct heat_state),
	.wants = heat_wants,
	.open = heat_open,
	.block = heat_block,
	.merge = heat_merge,
	.close = heat_close,
	.release = heat_release,
};
