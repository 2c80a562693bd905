/* SPDX-License-Identifier: MIT */
/*
 * What was predicted of the ops of a measured run, against what they took. An op that the core works on by its own
 * time; a transfer and a collective by the time that the core waited for it, which is what a step feels of it. A profile that was
 * itself predicted is no evidence.
 */
#include "analysis/facts/async.h"
#include "analysis/facts/ops.h"
#include "analysis/time/prediction.h"

static void prediction_measured_add(struct prediction_error *error, int64_t executions,
				    int64_t predicted_ps, int64_t measured_ps)
{
	int64_t off_ps = ts_i64_sub(predicted_ps, measured_ps);

	error->nr_ops++;
	error->executions = ts_i64_add(error->executions, executions);
	error->predicted_ps = ts_i64_add(error->predicted_ps, predicted_ps);
	error->measured_ps = ts_i64_add(error->measured_ps, measured_ps);
	error->off_ps = ts_i64_add(error->off_ps, off_ps < 0 ? -off_ps : off_ps);
}

/* As the walk has it: an execution's wait, start and done together. */
static int64_t predicted_op_ps(const struct prediction_module *module, uint32_t instr,
			       uint32_t done)
{
	const struct ts_schedule_sum *sum = &module->sums[instr];
	int64_t ps = ts_i64_add(sum->core_ps, done == TS_NONE ? 0 : module->sums[done].core_ps);

	return sum->runs > 0 ? ps / sum->runs : -1;
}

static void prediction_measured_add_op(struct prediction *prediction, const struct ts_op_fact *fact,
				       const struct ts_async_op *async)
{
	const struct ts_profile *profile = prediction->ctx->profile;
	struct prediction_module *module;
	enum ts_time_kind kind;
	uint32_t done = TS_NONE;
	int64_t predicted_ps;

	if (fact->op == TS_NONE || fact->module_index == TS_NONE || fact->instr == TS_NONE ||
	    fact->occurrences <= 0 || fact->module_index >= profile->nr_modules)
		return;
	module = &prediction->modules[fact->module_index];
	kind = module->times.items[fact->instr].kind;
	if (kind == TS_TIME_NONE || kind == TS_TIME_LOOP ||
	    module->times.items[fact->instr].unknown)
		return;
	if (async && profile->ops[async->op].partner != TS_NONE)
		done = profile->ops[profile->ops[async->op].partner].instr;
	predicted_ps = predicted_op_ps(module, fact->instr, done);
	if (predicted_ps < 0)
		return;
	if (async)
		prediction_measured_add(&prediction->errors[kind], async->occurrences,
					ts_i64_mul(predicted_ps, async->occurrences),
					async->exposed_ps);
	else
		prediction_measured_add(&prediction->errors[kind], fact->occurrences,
					ts_i64_mul(predicted_ps, fact->occurrences), fact->self_ps);
}

enum ts_status ts_prediction_measure(struct prediction *prediction, struct ts_error *err)
{
	const struct ts_context *ctx = prediction->ctx;
	const struct ts_async_facts *async = ts_async_facts(ctx);
	const struct ts_ops_facts *ops = ts_ops_facts(ctx);
	const struct ts_async_op **of_op;

	if (ctx->profile->nr_devices == 0 || ts_profile_predicted(ctx->profile).n > 0)
		return TS_OK;
	of_op = calloc(ctx->profile->nr_ops + 1, sizeof(const struct ts_async_op *));
	if (!of_op)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < async->nr; i++)
		of_op[async->items[i].op] = &async->items[i];
	for (size_t i = 0; i < ops->nr; i++)
		if (ops->items[i].op != TS_NONE)
			prediction_measured_add_op(prediction, &ops->items[i],
						   of_op[ops->items[i].op]);
	free(of_op);
	return TS_OK;
}
