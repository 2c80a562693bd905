/* SPDX-License-Identifier: MIT */
/*
 * Counters: what the hardware says of itself beside what is modelled. The counters are those of the analysis samples; here the ops
 * of the devices are walked over once more, to see what was counted while each ran, and how long it took while the clock was
 * held back. A profile without counters is not looked at.
 */
#include "analysis/hardware/counters.h"

#include "base/record.h"
#include "result/schema/counters.def"

#define MAX_ROWS (1 << 18) /* of a line: ops beyond them have no rows */

#define TS_SELF struct counters_row
static TS_RECORD(row, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_INDEX_KNOWN(2, op, TS_BY_OP, TS_BY_HAND),
		 TS_INDEX_KNOWN(3, counter, TS_BY_OP, TS_BY_HAND), TS_NUMBER(4, ps, TS_BY_HAND),
		 TS_NUMBER(5, amount, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct counters_op
static TS_RECORD(op, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_INDEX_KNOWN(2, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(3, in_ps, TS_BY_HAND),
		 TS_NUMBER(4, in_nr, TS_BY_HAND), TS_NUMBER(5, out_ps, TS_BY_HAND),
		 TS_NUMBER(6, out_nr, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct counters_state
static TS_RECORD(counters, TS_LIST(1, rows, row_record, TS_APPEND),
		 TS_LIST(2, ops, op_record, TS_APPEND), TS_SCRATCH(hints), TS_SCRATCH(row_of),
		 TS_SCRATCH(op_of));
#undef TS_SELF

static bool counters_applies(const struct ts_context *ctx)
{
	const struct ts_samples_facts *samples = ts_samples_facts(ctx);

	return samples->nr_series > 0 || samples->nr_throttled > 0;
}

static bool counters_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->profile->planes[line->plane].device != TS_NONE &&
	       ts_line_is_core(ctx->profile, line);
}

/* Those of the device of a list that is in the order of devices. */
#define OF_DEVICE(state, list, nr_list, all, nr_all)                                 \
	do {                                                                         \
		size_t at = 0;                                                       \
                                                                                     \
		while (at < (nr_all) && (all)[at].device != (state)->device)         \
			at++;                                                        \
		(state)->list = &(all)[at];                                          \
		while (at + (state)->nr_list < (nr_all) &&                           \
		       (all)[at + (state)->nr_list].device == (state)->device)       \
			(state)->nr_list++;                                          \
	} while (0)

static enum ts_status counters_open(void *arg, const struct ts_context *ctx,
				    const struct ts_line *line, struct ts_error *err)
{
	const struct ts_samples_facts *samples = ts_samples_facts(ctx);
	struct counters_state *state = arg;
	size_t nr_ops = ctx->profile->nr_ops + 1;

	state->device = ctx->profile->planes[line->plane].device;
	OF_DEVICE(state, series, nr_series, samples->series, samples->nr_series);
	OF_DEVICE(state, throttled, nr_throttled, samples->throttled, samples->nr_throttled);
	state->hints = calloc(state->nr_series + 1, sizeof(*state->hints));
	state->row_of = calloc(nr_ops, sizeof(*state->row_of));
	state->op_of = calloc(nr_ops, sizeof(*state->op_of));
	return state->hints && state->row_of && state->op_of ? TS_OK : ts_fail_nomem(err);
}

/* The rows of an op, one a series; NULL: no memory, or there are too many. */
static struct counters_row *rows_of(struct counters_state *state, uint32_t op)
{
	uint32_t at = state->row_of[op];

	if (at > 0)
		return &state->rows[at - 1];
	if (state->nr_rows + state->nr_series > MAX_ROWS)
		return NULL;
	if (!ts_grow(&state->rows, &state->cap_rows, state->nr_rows + state->nr_series,
		     sizeof(*state->rows)))
		return NULL;
	state->row_of[op] = (uint32_t)state->nr_rows + 1;
	for (size_t i = 0; i < state->nr_series; i++)
		state->rows[state->nr_rows++] =
			(struct counters_row){ state->device, op, state->series[i].op, 0, 0 };
	return &state->rows[state->row_of[op] - 1];
}

static enum ts_status add_segments(struct counters_state *state, const struct ts_block *block,
				   struct ts_error *err)
{
	for (size_t i = 0; i < block->nr_segments; i++) {
		struct counters_row *rows = rows_of(state, block->segment_op[i]);

		if (!rows && state->nr_rows + state->nr_series > MAX_ROWS)
			continue;
		if (!rows)
			return ts_fail_nomem(err);
		for (size_t k = 0; k < state->nr_series; k++) {
			int64_t known_ps;

			rows[k].amount += ts_series_between(
				&state->series[k], block->segment_start_ps[i],
				block->segment_end_ps[i], &state->hints[k], &known_ps);
			rows[k].ps = ts_i64_add(rows[k].ps, known_ps);
		}
	}
	return TS_OK;
}

/* Is the middle of the event in a time in which the clock was held back? Events come in the order of their ends. */
static bool is_throttled(struct counters_state *state, int64_t start_ps, int64_t dur_ps)
{
	int64_t at_ps = start_ps + dur_ps / 2;

	while (state->at_throttled > 0 &&
	       state->throttled[state->at_throttled - 1].span.end_ps > at_ps)
		state->at_throttled--;
	while (state->at_throttled < state->nr_throttled &&
	       state->throttled[state->at_throttled].span.end_ps <= at_ps)
		state->at_throttled++;
	return state->at_throttled < state->nr_throttled &&
	       state->throttled[state->at_throttled].span.start_ps <= at_ps;
}

static enum ts_status add_events(struct counters_state *state, const struct ts_block *block,
				 struct ts_error *err)
{
	for (size_t i = 0; i < block->nr_events; i++) {
		uint32_t *at = &state->op_of[block->op[i]];
		struct counters_op *op;

		if (*at == 0) {
			if (!ts_grow(&state->ops, &state->cap_ops, state->nr_ops + 1,
				     sizeof(*state->ops)))
				return ts_fail_nomem(err);
			state->ops[state->nr_ops++] =
				(struct counters_op){ .device = state->device, .op = block->op[i] };
			*at = (uint32_t)state->nr_ops;
		}
		op = &state->ops[*at - 1];
		if (is_throttled(state, block->start_ps[i], block->dur_ps[i])) {
			op->in_ps = ts_i64_add(op->in_ps, block->self_ps[i]);
			op->in_nr++;
		} else {
			op->out_ps = ts_i64_add(op->out_ps, block->self_ps[i]);
			op->out_nr++;
		}
	}
	return TS_OK;
}

static enum ts_status counters_block(void *arg, const struct ts_context *ctx,
				     const struct ts_block *block, struct ts_error *err)
{
	struct counters_state *state = arg;
	enum ts_status st = TS_OK;

	if (state->nr_series > 0)
		st = add_segments(state, block, err);
	if (st == TS_OK && ts_samples_facts(ctx)->nr_throttled > 0)
		st = add_events(state, block, err);
	return st;
}

static enum ts_status counters_close(void *arg, const struct ts_context *ctx, void *facts_arg,
				     struct ts_result *result, struct ts_error *err)
{
	struct ts_counters_facts *facts = facts_arg;
	enum ts_status st = ts_counters_sum(arg, ctx, &result->owner->arena, facts, err);

	if (st == TS_OK)
		ts_counters_report(ctx, facts, result);
	return st;
}

static const struct ts_rule *const rules[] = { &ts_rule_throttled, &ts_rule_mxu_differs,
					       &ts_rule_hbm_differs, NULL };

const struct ts_analysis ts_analysis_counters = {
	.schema = &ts_schema_counters,
	.needs = TS_NEEDED,
	.rules = rules,
	.pass = TS_PASS_SECOND,
	.columns = TS_COL_SEGMENTS,
	.state = &counters_record,
	.facts_size = sizeof(struct ts_counters_facts),
	.applies = counters_applies,
	.wants = counters_wants,
	.open = counters_open,
	.block = counters_block,
	.close = counters_close,
};
