/* SPDX-License-Identifier: MIT */
/* Utilization of modules, of steps and of cores. */
#include "analysis/matrix/systolic.h"

#include "base/order.h"
#include "analysis/kit/others.h"
#include "result/schema/systolic.def"

struct module_sum {
	uint64_t program_id;
	struct ts_bytes name;
	double flops; /* of the ops whose FLOPs are known */
	double impossible_flops;
	bool has_flops, has_matrix;
	int64_t executions, run_ps; /* as the profile's module events say */
	int64_t ops_ps;		    /* self time of its ops: where there are no such events */
	double peak;
};

struct step_sum {
	uint64_t number;
	double flops, capacity; /* FLOPs that were possible; NaN unknown */
	int64_t time_ps;
	bool seen;
};

struct sums {
	void *items;
	size_t nr, cap;
	struct ts_map by_key;
};

/* The element of this key, made when it is new; NULL: no memory. */
static void *element(struct sums *sums, uint64_t key, size_t size, bool *is_new)
{
	uint32_t at = ts_map_find(&sums->by_key, key);

	*is_new = at == TS_NONE;
	if (*is_new) {
		if (!ts_grow(&sums->items, &sums->cap, sums->nr + 1, size) ||
		    !ts_map_set(&sums->by_key, key, (uint32_t)sums->nr))
			return NULL;
		at = (uint32_t)sums->nr++;
	}
	return (uint8_t *)sums->items + at * size;
}

static struct ts_bytes systolic_sums_module_name(const struct ts_profile *profile,
						 const struct ts_op *op)
{
	uint32_t module = ts_profile_module_of(profile, op->program_id);

	if (module != TS_NONE && profile->modules[module].name.n > 0)
		return profile->modules[module].name;
	if (op->kind == TS_OP_MODULE) /* jit_f(1234567) */
		return ts_bytes_cut(op->name, 0, ts_bytes_find(op->name, "("));
	return (struct ts_bytes){ NULL, 0 };
}

static enum ts_status add_to_module(struct sums *sums, const struct ts_context *ctx, uint32_t index,
				    struct ts_error *err)
{
	const struct ts_op *op = &ctx->profile->ops[index];
	const struct ts_tally_row *row = &ts_ops_facts(ctx)->tally[index];
	const struct ts_rates *rates = ts_systolic_rates(ctx, row->device);
	const struct ts_op_fact *fact = ts_op_fact_of(ts_ops_facts(ctx), index);
	double flops = ts_systolic_total(ctx, index);
	struct module_sum *sum;
	bool is_new;

	sum = element(sums, op->program_id, sizeof(*sum), &is_new);
	if (!sum)
		return ts_fail_nomem(err);
	if (is_new)
		*sum = (struct module_sum){ .program_id = op->program_id,
					    .peak = rates ? rates->peak_flops_per_s : NAN };
	if (sum->name.n == 0)
		sum->name = systolic_sums_module_name(ctx->profile, op);
	if (op->kind == TS_OP_MODULE) {
		sum->executions = ts_i64_add(sum->executions, row->occurrences);
		sum->run_ps = ts_i64_add(sum->run_ps, row->total_ps);
		return TS_OK;
	}
	sum->ops_ps = ts_i64_add(sum->ops_ps, row->self_ps);
	if (op->kind == TS_OP_CONTROL || isnan(flops))
		return TS_OK;
	sum->has_flops = true;
	if (fact && ts_op_flops_cause(fact).n > 0)
		sum->impossible_flops += flops;
	sum->has_matrix |=
		flops > 0 && (op->kind == TS_OP_MATRIX || op->category_id == TS_OPCODE_CUSTOM_CALL);
	sum->flops += flops;
	return TS_OK;
}

static int64_t module_time(const struct module_sum *sum)
{
	return sum->run_ps > 0 ? sum->run_ps : sum->ops_ps;
}

TS_ORDER(systolic_sums_by_time, struct module_sum, TS_DOWN_BY(module_time) TS_UP(program_id))

static struct ts_value systolic_sums_whole(double value)
{
	return isfinite(value) && fabs(value) < 9e18 ? ts_int(llround(value)) : ts_real(value);
}

static double module_utilization(const struct module_sum *sum)
{
	int64_t time_ps = module_time(sum);

	if (!sum->has_matrix || time_ps <= 0)
		return NAN;
	return sum->flops / ((double)time_ps * 1e-12 * sum->peak);
}

static struct ts_value systolic_sums_share_cell(struct ts_result *result, double share,
						struct ts_bytes cause)
{
	if (cause.n > 0)
		return ts_held_pct(result, (struct ts_held){ share, cause });
	return ts_held_share_pct(result, share, systolic_above);
}

static struct ts_bytes module_cause(const struct module_sum *sum)
{
	return sum->impossible_flops > TS_IMPOSSIBLE_PART * sum->flops
		       ? systolic_above
		       : (struct ts_bytes){ NULL, 0 };
}

#define MODULE_CELLS(X) \
	X(module, ts_text_or_null(sum->name)) \
	X(program_id, ts_id(sum->program_id)) \
	X(executions, sum->executions ? ts_int(sum->executions) : ts_null()) \
	X(flops, sum->has_flops ? systolic_sums_whole(sum->flops) : ts_null()) \
	X(time_ps, ts_int(module_time(sum))) \
	X(mxu_utilization_pct, systolic_sums_share_cell(result, module_utilization(sum), module_cause(sum)))

static enum ts_status systolic_sums_put_modules(const struct ts_context *ctx,
						struct ts_result *result, struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(result, systolic_modules);
	struct sums sums = { NULL, 0, 0, { NULL, 0, 0 } };
	const struct module_sum *items;
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < ctx->profile->nr_ops && st == TS_OK; i++)
		if (ts_ops_facts(ctx)->tally[i].occurrences > 0 && ctx->profile->ops[i].has_program)
			st = add_to_module(&sums, ctx, i, err);
	if (st == TS_OK && sums.nr > 1)
		qsort(sums.items, sums.nr, sizeof(*items), systolic_sums_by_time);
	items = sums.items;
	for (size_t i = 0; i < sums.nr && st == TS_OK; i++) {
		const struct module_sum *sum = &items[i];

		TS_CELLS(result, table, systolic_modules, MODULE_CELLS);
	}
	free(sums.items);
	ts_map_release(&sums.by_key);
	return st;
}

static void systolic_sums_add_steps(struct step_sum *sums, size_t nr, const struct ts_context *ctx,
				    uint32_t device)
{
	const struct ts_device_steps *steps = ts_steps_of(&ctx->outline->steps, device);
	const struct ts_rates *rates = ts_systolic_rates(ctx, device);
	double peak = rates ? rates->peak_flops_per_s : NAN;

	for (size_t i = 0; i < steps->nr; i++) {
		int64_t time_ps = steps->items[i].end_ps - steps->items[i].start_ps;
		size_t at = ts_run_steps_at(ctx->steps, ts_device_steps_row(steps, i));
		struct step_sum *sum = &sums[TS_MIN(at, nr)];

		if (!sum->seen)
			sum->number = steps->items[i].number;
		sum->seen = true;
		sum->time_ps = ts_i64_add(sum->time_ps, time_ps);
		sum->capacity += (double)time_ps * 1e-12 * peak;
	}
}

/* NaN: there is no matrix work, or no peak is known. */
static double step_utilization(const struct step_sum *sum, bool has_matrix)
{
	return has_matrix && sum->capacity > 0 ? sum->flops / sum->capacity : NAN;
}

#define STEP_CELLS(X) \
	X(step, ts_int((int64_t)sum->number)) \
	X(flops, systolic_sums_whole(sum->flops)) \
	X(time_ps, ts_int(sum->time_ps)) \
	X(mxu_utilization_pct, systolic_sums_share_cell(result, step_utilization(sum, has_matrix), cause))

/* What all steps share. */
struct steps_report {
	struct ts_result *result;
	struct ts_table *table;
	bool has_matrix;
	struct ts_bytes cause;
};

static void systolic_sums_put_step(const struct steps_report *report, const struct step_sum *sum)
{
	struct ts_result *result = report->result;
	struct ts_bytes cause = report->cause;
	bool has_matrix = report->has_matrix;

	TS_CELLS(result, report->table, systolic_steps, STEP_CELLS);
}

#define STEP_SUMS(X) X(flops) X(time_ps) X(mxu_utilization_pct)

static void systolic_sums_put_other_steps(const struct steps_report *report,
					  const struct ts_context *ctx,
					  const struct step_sum *others)
{
	if (!others->seen)
		return;
	systolic_sums_put_step(report, others);
	TS_END_OTHERS(report->result, report->table, systolic_steps,
		      ts_run_steps_nr_others(ctx->steps), step, STEP_SUMS);
}

static enum ts_status systolic_sums_put_steps(const struct systolic_state *state,
					      const struct ts_context *ctx,
					      struct ts_result *result, bool has_matrix,
					      struct ts_bytes cause, struct ts_error *err)
{
	struct steps_report report = { result, TS_TABLE(result, systolic_steps), has_matrix,
				       cause };
	size_t nr = ctx->outline ? ts_run_steps_nr(ctx->steps, &ctx->outline->steps) : 0;
	struct step_sum *sums = calloc(nr + 1, sizeof(*sums));

	if (!sums)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < state->nr_cores; i++)
		if (state->cores[i].seen && ctx->outline && i < ctx->outline->steps.nr_devices)
			systolic_sums_add_steps(sums, nr, ctx, i);
	for (size_t i = 0; i < TS_MIN(nr + 1, state->nr_step_flops); i++)
		sums[i].flops = state->step_flops[i];
	for (size_t i = 0; i < nr; i++)
		if (sums[i].seen)
			systolic_sums_put_step(&report, &sums[i]);
	systolic_sums_put_other_steps(&report, ctx, &sums[nr]);
	free(sums);
	return TS_OK;
}

static double core_utilization(const struct ts_context *ctx, uint32_t device, double flops,
			       int64_t wall_ps)
{
	const struct ts_rates *rates = ts_systolic_rates(ctx, device);

	if (!rates || wall_ps <= 0)
		return NAN;
	return flops / ((double)wall_ps * 1e-12 * rates->peak_flops_per_s);
}

#define DEVICE_CELLS(X) \
	X(device, ts_text(device->name)) \
	X(host, ts_text(host->name)) \
	X(flops, systolic_sums_whole(flops)) \
	X(mxu_utilization_pct, systolic_sums_share_cell(result, utilization, cause)) \
	X(mxu_measured_pct, ts_real(host->mxu_utilization_pct))

static void systolic_sums_put_devices(const struct systolic_state *state,
				      const struct ts_context *ctx, struct ts_result *result,
				      int64_t wall_ps, bool has_matrix, struct ts_bytes cause)
{
	struct ts_table *table = TS_TABLE(result, systolic_devices);

	for (uint32_t i = 0; i < state->nr_cores; i++) {
		const struct ts_device *device = &ctx->profile->devices[i];
		const struct ts_host *host = &ctx->profile->hosts[device->host];
		double flops = state->cores[i].flops;
		double utilization = has_matrix ? core_utilization(ctx, i, flops, wall_ps) : NAN;

		if (state->cores[i].seen)
			TS_CELLS(result, table, systolic_devices, DEVICE_CELLS);
	}
}

enum ts_status ts_systolic_sums(const struct systolic_state *state, const struct ts_context *ctx,
				struct ts_result *result, int64_t wall_ps, bool has_matrix,
				struct ts_bytes cause, struct ts_error *err)
{
	enum ts_status st = systolic_sums_put_modules(ctx, result, err);

	if (st)
		return st;
	st = systolic_sums_put_steps(state, ctx, result, has_matrix, cause, err);
	if (st)
		return st;
	systolic_sums_put_devices(state, ctx, result, wall_ps, has_matrix, cause);
	return TS_OK;
}
