/* SPDX-License-Identifier: MIT */
/*
 * Prediction: how long a step of a compiled module takes on the chip it was compiled for, without a run. The
 * schedule is walked (model/schedule.h) with the times of its ops (kit/op_time.h), for each module three times: as it is
 * expected, and with the least and the most that each op can take. Of a measured run the same is held against what was measured.
 */
#include "analysis/time/prediction.h"

#include "analysis/facts/ops.h"
#include "analysis/kit/peaks.h"
#include "base/record.h"
#include "result/schema/prediction.def"

static const struct ts_rates *prediction_rates_of(const struct ts_context *ctx)
{
	const struct ts_rates *rates = ts_hbm_rates(ctx);

	return ts_op_times_knows(rates) ? rates : NULL;
}

/* How long an execution takes if each op takes WHICH. */
static enum ts_status walk_as(const struct ts_op_times *times, enum ts_case which, int64_t *end_ps,
			      struct ts_error *err)
{
	struct ts_schedule walk = { .module = times->module, .ops = times->walked, .which = which };
	enum ts_status st = ts_schedule_walk(&walk, err);

	*end_ps = walk.end_ps;
	ts_schedule_release(&walk);
	return st;
}

static bool has_bound(const struct prediction_module *module)
{
	for (uint32_t i = 0; i < module->times.module->nr_instrs; i++)
		if (module->sums[i].runs > 0 && module->times.items[i].ps[TS_CASE_HIGH] < 0)
			return false;
	return true;
}

static enum ts_status predict(struct prediction *prediction, uint32_t index, struct ts_error *err)
{
	struct prediction_module *module = &prediction->modules[index];
	const struct ts_profile *profile = prediction->ctx->profile;
	const struct ts_module_fact *fact = &ts_ops_facts(prediction->ctx)->modules[index];
	enum ts_status st;

	module->executions = fact->executions;
	module->measured_ps = fact->total_ps;
	module->sums = calloc((size_t)profile->modules[index].nr_instrs + 1, sizeof(*module->sums));
	if (!module->sums)
		return ts_fail_nomem(err);
	st = ts_op_times_make(&module->times, profile, index, prediction->rates,
			      &prediction->ctx->topology, err);
	if (st)
		return st;
	module->walk = (struct ts_schedule){ .module = module->times.module,
					     .ops = module->times.walked,
					     .sums = module->sums };
	st = ts_schedule_walk(&module->walk, err);
	if (st)
		return st;
	st = walk_as(&module->times, TS_CASE_LOW, &module->low_ps, err);
	if (st)
		return st;
	st = walk_as(&module->times, TS_CASE_HIGH, &module->high_ps, err);
	if (st)
		return st;
	module->low_ps = TS_MIN(module->low_ps, module->walk.end_ps);
	module->high_ps = has_bound(module) ? TS_MAX(module->high_ps, module->walk.end_ps) : -1;
	return TS_OK;
}

static uint32_t prediction_longest(const struct prediction *prediction, bool measured)
{
	const struct prediction_module *modules = prediction->modules;
	uint32_t best = TS_NONE;
	int64_t best_ps = -1;

	for (uint32_t i = 0; i < prediction->ctx->profile->nr_modules; i++) {
		int64_t ps = measured ? modules[i].measured_ps : modules[i].walk.end_ps;

		if (ps > best_ps) {
			best = i;
			best_ps = ps;
		}
	}
	return best;
}

/* The one with most of the time: measured, where it is known when modules ran; else predicted. */
static uint32_t main_module(const struct prediction *prediction)
{
	uint32_t best = prediction_longest(prediction, true);

	return best == TS_NONE ? prediction_longest(prediction, false) : best;
}

static void sum_kinds(struct prediction *prediction)
{
	const struct prediction_module *module = &prediction->modules[prediction->main];
	const struct ts_op_times *times = &module->times;

	for (uint32_t i = 0; i < times->module->nr_instrs; i++) {
		uint32_t start = times->walked[i].start;
		const struct ts_op_time *time = &times->items[start == TS_NONE ? i : start];
		struct prediction_kind *kind = &prediction->kinds[time->kind][time->basis];
		const struct ts_schedule_sum *sum = &module->sums[i];

		if (sum->runs == 0 || time->kind == TS_TIME_NONE)
			continue;
		kind->exposed_ps = ts_i64_add(kind->exposed_ps, sum->core_ps);
		if (start != TS_NONE)
			continue;
		kind->nr_ops++;
		kind->runs = ts_i64_add(kind->runs, sum->runs);
		kind->time_ps = ts_i64_add(kind->time_ps, times->walked[i].lane == TS_LANE_CORE
								  ? sum->core_ps
								  : sum->lane_ps);
	}
}

static enum ts_status predict_modules(struct prediction *prediction, struct ts_error *err)
{
	size_t nr = prediction->ctx->profile->nr_modules;

	prediction->modules = calloc(nr + 1, sizeof(*prediction->modules));
	if (!prediction->modules)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < nr; i++) {
		enum ts_status st = predict(prediction, i, err);

		if (st)
			return st;
	}
	prediction->main = main_module(prediction);
	if (prediction->main == TS_NONE)
		return TS_OK;
	sum_kinds(prediction);
	return ts_prediction_measure(prediction, err);
}

static enum ts_status prediction_close(void *state, const struct ts_context *ctx, void *facts,
				       struct ts_result *result, struct ts_error *err)
{
	struct prediction prediction = { .ctx = ctx,
					 .rates = prediction_rates_of(ctx),
					 .main = TS_NONE };
	enum ts_status st = prediction.rates ? predict_modules(&prediction, err) : TS_OK;

	if (st == TS_OK && !ts_prediction_report(&prediction, result))
		st = ts_fail_nomem(err);
	for (size_t i = 0; prediction.modules && i < prediction.ctx->profile->nr_modules; i++) {
		ts_op_times_release(&prediction.modules[i].times);
		ts_schedule_release(&prediction.modules[i].walk);
		free(prediction.modules[i].sums);
	}
	free(prediction.modules);
	return st;
}

const struct ts_analysis ts_analysis_prediction = {
	.schema = &ts_schema_prediction,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.close = prediction_close,
};
