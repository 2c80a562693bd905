/* SPDX-License-Identifier: MIT */
/*
 * Roofline: how fast the run, its modules, its ops and its steps went, against what the chip could do
 * with as many FLOPs to a byte. The same figures as XProf's roofline_model, for HBM and for the
 * memories on the chip.
 *
 * Work and time of ops are those of the analysis ops. What is found out here: the time of the whole
 * program, which is XProf's (of each device, from its first op or step to its last, by its own
 * clock), and the work of each step: that of the ops which start in it.
 */
#include "analysis/ops/roofline.h"

#include "analysis/kit/peaks.h"
#include "base/record.h"
#include "base/units.h"

#include "model/launched.h"
#include "model/op_kind.h"
#include "model/op_work.h"
#include "model/traffic.h"
#include "result/schema/roofline.def"

#define TS_SELF struct roofline_work
static TS_RECORD(work, TS_NUMBERS(1, amount, TS_ADD));
#undef TS_SELF

#define TS_SELF struct roofline_device
static TS_RECORD_WITH(device, TS_EMPTY(nr_events), TS_NUMBER(1, nr_events, TS_ADD),
		      TS_NUMBER(2, first_ps, TS_MIN_OF), TS_NUMBER(3, last_ps, TS_MAX_OF));
#undef TS_SELF

#define TS_SELF struct roofline_state
static TS_RECORD_AS(roofline_record, state, ,
		    TS_RECORDS(1, devices, nr_devices, device_record, TS_BY_DEVICE, TS_ADD),
		    TS_RECORDS(2, steps, nr_steps, work_record, TS_BY_NOTHING, TS_ADD),
		    TS_SCRATCH_ROOM(ops), TS_SCRATCH(is_custom));
#undef TS_SELF

/* The lines XProf looks at: on a TPU what the core did and its steps, on a GPU its streams. */
static bool roofline_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line) ||
	       (line->kind == TS_LINE_STEPS &&
		ctx->profile->planes[line->plane].kind == TS_PLANE_TPU);
}

static double ops_roofline_or_zero(int64_t amount)
{
	return amount == TS_UNKNOWN ? 0 : (double)amount;
}

/* XProf's: where some op has a breakdown, bytes without one are not known to be HBM's. */
static double ops_roofline_hbm_of(const struct ts_profile *profile, const struct ts_op *op,
				  bool by_breakdown)
{
	if (by_breakdown && !roofline_has_breakdown(op))
		return 0;
	return ts_or_zero(ts_op_hbm_bytes(profile, op));
}

/* As it adds up: what is unknown is nothing. */
static struct roofline_work ops_roofline_work_of(const struct ts_profile *profile,
						 const struct ts_op *op, bool by_breakdown)
{
	struct roofline_work work = { { 0 } };

	if (op->kind == TS_OP_CONTROL || op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP)
		return work; /* the ops inside count */
	work.amount[ROOF_FLOPS] = ops_roofline_or_zero(op->flops);
	work.amount[ROOF_MODEL_FLOPS] = ops_roofline_or_zero(op->model_flops);
	work.amount[ROOF_BYTES] = ops_roofline_or_zero(op->bytes_accessed);
	work.amount[ROOF_HBM] = ops_roofline_hbm_of(profile, op, by_breakdown);
	work.amount[ROOF_CMEM_READ] = ops_roofline_or_zero(op->cmem_read_bytes);
	work.amount[ROOF_CMEM_WRITE] = ops_roofline_or_zero(op->cmem_write_bytes);
	work.amount[ROOF_VMEM_READ] = ops_roofline_or_zero(op->vmem_read_bytes);
	work.amount[ROOF_VMEM_WRITE] = ops_roofline_or_zero(op->vmem_write_bytes);
	return work;
}

static enum ts_status make_device(struct roofline_state *state, const struct ts_context *ctx,
				  uint32_t index, struct ts_error *err)
{
	state->nr_devices = ctx->profile->nr_devices;
	state->devices = calloc(state->nr_devices, sizeof(*state->devices));
	if (!state->devices)
		return ts_fail_nomem(err);
	state->own = &state->devices[index];
	state->own->first_ps = INT64_MAX;
	state->own->last_ps = INT64_MIN;
	if (index >= ctx->outline->steps.nr_devices)
		return TS_OK;
	state->own_steps = ts_steps_of(&ctx->outline->steps, index);
	if (state->own_steps->nr == 0)
		return TS_OK;
	state->nr_steps = ts_run_steps_nr(ctx->steps, &ctx->outline->steps) + 1;
	state->steps = calloc(state->nr_steps, sizeof(*state->steps));
	return state->steps ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status roofline_open(void *arg, const struct ts_context *ctx,
				    const struct ts_line *line, struct ts_error *err)
{
	struct roofline_state *state = arg;
	const struct ts_profile *profile = ctx->profile;
	bool by_breakdown = false;
	enum ts_status st;

	state->from_ps = state->until_ps = INT64_MIN;
	st = make_device(state, ctx, profile->planes[line->plane].device, err);
	if (st)
		return st;
	if (state->nr_steps == 0 || line->kind == TS_LINE_STEPS)
		return TS_OK;
	state->ops = ts_room_alloc(profile->rooms, (profile->nr_ops + 1) * sizeof(*state->ops));
	state->is_custom = malloc((profile->nr_ops + 1) * sizeof(*state->is_custom));
	if (!state->ops || !state->is_custom)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_ops; i++)
		by_breakdown |= roofline_has_breakdown(&profile->ops[i]);
	for (size_t i = 0; i < profile->nr_ops; i++) {
		state->ops[i] = ops_roofline_work_of(profile, &profile->ops[i], by_breakdown);
		state->is_custom[i] = profile->ops[i].category_id == TS_OPCODE_CUSTOM_CALL ||
				      profile->ops[i].is_traced;
	}
	return TS_OK;
}

/* Whose work an event at T is, and for how long that stays so. */
static void find_step(struct roofline_state *state, const struct ts_context *ctx, int64_t t)
{
	const struct ts_device_steps *steps = state->own_steps;
	uint32_t at = ts_steps_at(steps, t, &state->hint);

	state->to = at == TS_NONE ? NULL
				  : &state->steps[ts_run_steps_at(ctx->steps,
								  ts_device_steps_row(steps, at))];
	state->from_ps = at == TS_NONE ? t : steps->items[at].start_ps;
	state->until_ps = at == TS_NONE ? t : steps->items[at].end_ps;
}

/* An event that stands for several, or a custom call, which may say itself what it did. */
static void add_special(struct roofline_work *to, const struct roofline_work *work,
			const struct ts_rates *rates, const struct ts_block *block, size_t i,
			bool custom)
{
	int64_t nr = block->occurrences ? block->occurrences[i] : 1;
	struct roofline_work own;

	for (int part = 0; part < NR_ROOF_PARTS; part++)
		own.amount[part] = work->amount[part] * (double)nr;
	if (custom && block->flops && block->flops[i] != TS_UNKNOWN)
		own.amount[ROOF_FLOPS] = own.amount[ROOF_MODEL_FLOPS] = (double)block->flops[i];
	if (custom && block->how)
		own.amount[ROOF_FLOPS] *=
			ts_type_scale(rates, (enum ts_aten_type)(block->how[i] & TS_HOW_TYPE));
	if (custom && block->bytes && block->bytes[i] != TS_UNKNOWN)
		own.amount[ROOF_BYTES] = own.amount[ROOF_HBM] = (double)block->bytes[i];
	roofline_add(to, &own);
}

/* What the step has is summed up beside it, so that the processor can keep it at hand. */
static void add_events(struct roofline_state *state, const struct ts_context *ctx,
		       const struct ts_block *block)
{
	const struct ts_rates *rates = &ctx->rates[ctx->profile->planes[block->line->plane].device];
	struct roofline_work sum = { { 0 } };

	for (size_t i = 0; i < block->nr_events; i++) {
		uint32_t op = block->op[i];
		int64_t start_ps = block->start_ps[i];

		if (start_ps < state->from_ps || start_ps >= state->until_ps) {
			if (state->to)
				roofline_add(state->to, &sum);
			sum = (struct roofline_work){ { 0 } };
			find_step(state, ctx, start_ps);
		}
		if (state->is_custom[op] || (block->occurrences && block->occurrences[i] != 1))
			add_special(&sum, &state->ops[op], rates, block, i, state->is_custom[op]);
		else
			roofline_add(&sum, &state->ops[op]);
	}
	if (state->to)
		roofline_add(state->to, &sum);
}

static enum ts_status roofline_block(void *arg, const struct ts_context *ctx,
				     const struct ts_block *block, struct ts_error *err)
{
	struct roofline_state *state = arg;
	struct roofline_device *device = state->own;

	device->nr_events += (int64_t)block->nr_events;
	device->first_ps = TS_MIN(device->first_ps, block->device_first_ps);
	device->last_ps = TS_MAX(device->last_ps, block->device_last_ps);
	if (state->ops)
		add_events(state, ctx, block);
	return TS_OK;
}

static enum ts_status roofline_close(void *arg, const struct ts_context *ctx, void *facts,
				     struct ts_result *result, struct ts_error *err)
{
	return ts_roofline_report(arg, ctx, result, err);
}

const struct ts_analysis ts_analysis_roofline = {
	.schema = &ts_schema_roofline,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_COSTS | TS_COL_DEVICE_CLOCK,
	.state = &roofline_record,
	.wants = roofline_wants,
	.open = roofline_open,
	.block = roofline_block,
	.close = roofline_close,
};
