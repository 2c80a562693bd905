/* SPDX-License-Identifier: MIT */
/*
 * FLOPs as the matrix unit counts them: what the profile says, in terms of the bf16 peak of the
 * device that ran the op.
 */
#include "analysis/matrix/systolic.h"

const struct ts_rates *ts_systolic_rates(const struct ts_context *ctx, uint32_t device)
{
	return ctx->rates && device < ctx->profile->nr_devices ? &ctx->rates[device] : ctx->chip;
}

int ts_systolic_dim(const struct ts_rates *rates)
{
	return rates ? TS_MAX(rates->mxu_dim, 0) : 0;
}

double ts_systolic_flops(double flops, const struct ts_op_work *work, const struct ts_rates *rates)
{
	if (!rates)
		return flops;
	return ts_bf16_flops(rates, flops, work->flops, work->int8_flops, work->fp8_flops);
}

double ts_systolic_scale(const struct ts_context *ctx, uint32_t device, uint32_t op_index)
{
	const struct ts_op *op = &ctx->profile->ops[op_index];
	const struct ts_rates *rates = ts_systolic_rates(ctx, device);
	double flops = (double)op->flops;
	struct ts_op_work work;

	TS_ASSERT(op_index < ctx->profile->nr_ops);
	if (!ts_op_instr(ctx->profile, op) || op->flops <= 0)
		return 1;
	work = ts_op_work_of(&ctx->profile->modules[op->module], op->instr, 0);
	return ts_systolic_flops(flops, &work, rates) / flops;
}

double ts_systolic_total(const struct ts_context *ctx, uint32_t op_index)
{
	const struct ts_tally_row *row = &ts_ops_facts(ctx)->tally[op_index];
	const struct ts_op *op = &ctx->profile->ops[op_index];

	TS_ASSERT(op_index < ctx->profile->nr_ops);
	if (ts_op_is_opaque(ctx->profile, op) && !(row->own_flops > 0))
		return NAN;
	return ts_tally_flops(row, op) * ts_systolic_scale(ctx, row->device, op_index);
}
