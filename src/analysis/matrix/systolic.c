/* SPDX-License-Identifier: MIT */
/*
 * Systolic: how well the matrix units were used, and where the rest of their time went.
 *
 * Utilization is FLOPs over time x peak, as XProf's op_profile has it (openxla/xprof,
 * xprof/convert/op_profile_builder.cc), less its correction for clock changes, which needs a stat
 * that profiles do not carry here. Formulas: docs/analyses/matrix/systolic.md.
 */
#include "analysis/matrix/systolic.h"

#include "analysis/kit/peaks.h"
#include "base/record.h"
#include "base/units.h"
#include "model/launched.h"
#include "result/schema/systolic.def"

#define TS_SELF struct systolic_core
static TS_RECORD(core, TS_NUMBER(1, seen, TS_BY_HAND), TS_NUMBER(2, flops, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct systolic_state
/* A line's core may be any device; all cores begin with the first one. */
static bool is_systolic(const void *self)
{
	const struct systolic_state *state = self;

	return state->nr_cores == 0 || state->first_core == 0 ||
	       (state->nr_cores == 1 && state->first_core != TS_NONE);
}
static TS_RECORD_WITH(systolic, TS_VALID_IF(is_systolic),
		      TS_RECORDS(2, cores, nr_cores, core_record, TS_BY_DEVICE, TS_BY_HAND),
		      TS_INDEX(3, first_core, TS_BY_DEVICE, TS_BY_HAND),
		      TS_STRUCT(4, hull, ts_hull_record),
		      TS_ARRAY(5, step_flops, nr_step_flops, TS_BY_NOTHING, TS_BY_HAND),
		      TS_SCRATCH_ROOM(scale));
#undef TS_SELF

/* Two kinds of lines: what a core does, and which module it was doing. */
static bool systolic_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	if (ctx->profile->planes[line->plane].device == TS_NONE)
		return false;
	return line->kind == TS_LINE_MODULES || ts_line_is_core(ctx->profile, line);
}

static const struct ts_device_steps *steps_of(const struct ts_context *ctx, uint32_t device)
{
	if (!ctx->outline || device >= ctx->outline->steps.nr_devices)
		return NULL;
	return ts_steps_of(&ctx->outline->steps, device);
}

/* A place for each step that is listed, and one for all others. */
static enum ts_status make_steps(struct systolic_state *state, const struct ts_context *ctx,
				 struct ts_error *err)
{
	if (state->step_flops || !ctx->outline || ctx->outline->steps.nr_steps == 0)
		return TS_OK;
	state->nr_step_flops = ts_run_steps_nr(ctx->steps, &ctx->outline->steps) + 1;
	state->step_flops = calloc(state->nr_step_flops, sizeof(*state->step_flops));
	return state->step_flops ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status systolic_open(void *arg, const struct ts_context *ctx,
				    const struct ts_line *line, struct ts_error *err)
{
	struct systolic_state *state = arg;

	state->first_core = ctx->profile->planes[line->plane].device;
	if (!ts_line_is_core(ctx->profile, line))
		return TS_OK;
	state->cores = calloc(1, sizeof(*state->cores));
	if (!state->cores)
		return ts_fail_nomem(err);
	state->nr_cores = 1;
	state->cores->step = TS_NONE;
	return make_steps(state, ctx, err);
}

static enum ts_status find_scale(struct systolic_state *state, const struct ts_context *ctx,
				 uint32_t op, struct ts_error *err)
{
	if (op >= state->nr_scale) {
		if (!ts_room_grow(ctx->profile->rooms, &state->scale, &state->cap_scale,
				  (size_t)op + 1, sizeof(*state->scale)))
			return ts_fail_nomem(err);
		state->nr_scale = (size_t)op + 1;
	}
	if (state->scale[op] == 0)
		state->scale[op] = ts_systolic_scale(ctx, state->first_core, op);
	return TS_OK;
}

static void systolic_add_flops(struct systolic_state *state, const struct ts_context *ctx,
			       const struct ts_device_steps *steps, int64_t start_ps, double flops)
{
	struct systolic_core *core = state->cores;
	uint32_t step;

	core->flops += flops;
	if (!steps || steps->nr == 0)
		return;
	step = ts_steps_at(steps, start_ps, &core->hint);
	if (step != TS_NONE && step != core->step) {
		core->step = step;
		core->at = ts_run_steps_at(ctx->steps, ts_device_steps_row(steps, step));
	}
	if (step != TS_NONE)
		state->step_flops[core->at] += flops;
}

/* To FLOPs in terms of the bf16 peak: by the op, or by the type that the kernel's operator multiplies. */
static double kernel_scale(const struct systolic_state *state, const struct ts_context *ctx,
			   const struct ts_block *block, size_t i)
{
	if (!block->how)
		return state->scale[block->op[i]];
	return ts_type_scale(&ctx->rates[state->first_core],
			     (enum ts_aten_type)(block->how[i] & TS_HOW_TYPE));
}

static enum ts_status systolic_add_core(struct systolic_state *state, const struct ts_context *ctx,
					const struct ts_block *block, struct ts_error *err)
{
	const struct ts_device_steps *steps = steps_of(ctx, state->first_core);
	enum ts_status st;

	for (size_t i = 0; i < block->nr_events; i++) {
		const struct ts_op *op;
		bool own = block->flops && block->flops[i] != TS_UNKNOWN;
		int64_t flops, nr = block->occurrences ? block->occurrences[i] : 1;

		if (block->op[i] >= ctx->profile->nr_ops)
			continue;
		op = &ctx->profile->ops[block->op[i]];
		flops = own ? block->flops[i] : op->flops;
		/* Ops that hold others would count these twice. */
		if (flops <= 0 || op->kind == TS_OP_CONTROL || op->kind == TS_OP_MODULE ||
		    op->kind == TS_OP_STEP)
			continue;
		st = find_scale(state, ctx, block->op[i], err);
		if (st)
			return st;
		systolic_add_flops(state, ctx, steps, block->start_ps[i],
				   (double)flops * (double)(own ? 1 : nr) *
					   kernel_scale(state, ctx, block, i));
	}
	state->cores->seen |= block->nr_events > 0;
	return TS_OK;
}

static enum ts_status systolic_block(void *arg, const struct ts_context *ctx,
				     const struct ts_block *block, struct ts_error *err)
{
	struct systolic_state *state = arg;

	ts_hull_block(&state->hull, block);
	return state->nr_cores > 0 ? systolic_add_core(state, ctx, block, err) : TS_OK;
}

static void systolic_merge_core(struct systolic_core *into, const struct systolic_core *from)
{
	into->seen |= from->seen;
	into->flops += from->flops;
}

static enum ts_status make_cores(struct systolic_state *state, const struct ts_context *ctx,
				 struct ts_error *err)
{
	if (state->cores || ctx->profile->nr_devices == 0)
		return TS_OK;
	state->cores = calloc(ctx->profile->nr_devices, sizeof(*state->cores));
	if (!state->cores)
		return ts_fail_nomem(err);
	state->nr_cores = ctx->profile->nr_devices;
	return TS_OK;
}

static enum ts_status systolic_merge(void *into_arg, void *from_arg, const struct ts_context *ctx,
				     struct ts_error *err)
{
	struct systolic_state *into = into_arg;
	const struct systolic_state *from = from_arg;
	enum ts_status st = make_cores(into, ctx, err);

	if (st)
		return st;
	st = make_steps(into, ctx, err);
	if (st)
		return st;
	ts_hull_merge(&into->hull, &from->hull);
	for (size_t i = 0; i < TS_MIN(into->nr_step_flops, from->nr_step_flops); i++)
		into->step_flops[i] += from->step_flops[i];
	for (size_t i = 0; i < from->nr_cores && from->first_core + i < into->nr_cores; i++)
		systolic_merge_core(&into->cores[from->first_core + i], &from->cores[i]);
	return TS_OK;
}

/* What counters of the hosts say, averaged over those that have them; else how busy the chips' own say that the units were. */
static double measured_share(const struct ts_context *ctx)
{
	const struct ts_profile *profile = ctx->profile;
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++) {
		if (!isfinite(profile->hosts[i].mxu_utilization_pct))
			continue;
		sum += profile->hosts[i].mxu_utilization_pct / 100;
		nr++;
	}
	return nr ? sum / (double)nr : ts_unit_share(ts_samples_facts(ctx), TS_UNIT_MXU);
}

static int64_t cores_seen(const struct systolic_state *state)
{
	int64_t nr = 0;

	for (size_t i = 0; i < state->nr_cores; i++)
		nr += state->cores[i].seen;
	return nr;
}

/* Core time of the run as the analysis of time has it, so that shares agree; else the hull of the
 * device's events times the cores that had any. */
static int64_t systolic_core_time(const struct systolic_state *state, const struct ts_context *ctx)
{
	int64_t total_ps = ts_time_facts(ctx)->total_ps;

	if (total_ps > 0 || state->hull.nr_events == 0)
		return total_ps;
	return ts_i64_mul(cores_seen(state), state->hull.last_ps - state->hull.first_ps);
}

/* Why the FLOPs of the run cannot be true; .n 0: they can. */
static struct ts_bytes systolic_cause_of(const struct systolic_state *state,
					 const struct systolic_sum *sum, struct ts_result *result)
{
	struct ts_bytes cause = { NULL, 0 };
	char text[TS_UNIT_MAX];
	double flops = 0;

	for (size_t i = 0; i < state->nr_cores; i++)
		flops += state->cores[i].flops;
	if (sum->impossible_flops > TS_IMPOSSIBLE_PART * flops)
		cause = ts_result_text(result,
				       "%s of its FLOPs are of ops that cannot have done them in "
				       "their time",
				       ts_fmt_pct(text, 100 * sum->impossible_flops / flops));
	return cause;
}

/* All FLOPs over core time x peak; the peak is the mean of the cores seen. */
static double modelled_share(const struct systolic_state *state, const struct ts_context *ctx,
			     int64_t total_ps)
{
	double flops = 0, peak = 0;
	size_t nr = 0;

	for (uint32_t i = 0; i < state->nr_cores; i++) {
		const struct ts_rates *rates = ts_systolic_rates(ctx, i);

		if (!state->cores[i].seen)
			continue;
		flops += state->cores[i].flops;
		peak += rates ? rates->peak_flops_per_s : NAN;
		nr++;
	}
	return nr && total_ps > 0 ? flops / ((double)total_ps * 1e-12 * peak / (double)nr) : NAN;
}

static double systolic_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* How much of the peak was reached. */
struct reached {
	double modelled, measured; /* by FLOPs, and by counters of the hosts; NaN: unknown */
	bool has_counters;	   /* counters of 0 beside known FLOPs did not count */
	struct ts_held used;	   /* the better known one */
	struct ts_bytes cause;	   /* why .modelled cannot be true; .n 0: it can */
};

static struct reached reached_of(const struct systolic_state *state, const struct ts_context *ctx,
				 const struct systolic_sum *sum, int64_t total_ps,
				 struct ts_result *result)
{
	struct reached of = { .measured = measured_share(ctx) };

	of.modelled = sum->has_matrix ? modelled_share(state, ctx, total_ps) : NAN;
	of.has_counters = of.measured > 0;
	of.cause = systolic_cause_of(state, sum, result);
	if (of.cause.n == 0 && ts_is_impossible(of.modelled, 1))
		of.cause = systolic_above;
	of.used = of.has_counters ? (struct ts_held){ .share = of.measured }
				  : (struct ts_held){ of.modelled, of.cause };
	return of;
}

static void systolic_add_fields(struct ts_result *result, const struct systolic_sum *sum,
				const struct reached *reached, int64_t total_ps)
{
	bool is_unknown = sum->matrix_ps == 0 && sum->nr_unknown > 0;
	double matrix_ps = is_unknown ? NAN : (double)sum->matrix_ps;

	TS_SET(result, systolic, mxu_utilization_pct,
	       ts_value_from(ts_held_pct(result, reached->used),
			     reached->has_counters ? TS_MEASURED : TS_MODELLED));
	TS_SET(result, systolic, mxu_modelled_pct,
	       ts_held_pct(result, (struct ts_held){ reached->modelled, reached->cause }));
#define SHARE(name, share) TS_SET(result, systolic, name, ts_share_pct(share))
	SHARE(mxu_measured_pct, reached->measured);
	SHARE(matrix_time_pct, systolic_ratio(matrix_ps, (double)total_ps));
	SHARE(matrix_op_utilization_pct, systolic_ratio(sum->used_ps, matrix_ps));
	SHARE(fill_pct, systolic_ratio(sum->flops, sum->filled_flops));
	SHARE(loss_shape_pct, sum->has_shape ? systolic_ratio(sum->shape_ps, matrix_ps) : NAN);
	SHARE(loss_memory_pct, sum->has_memory ? systolic_ratio(sum->memory_ps, matrix_ps) : NAN);
	SHARE(loss_other_pct, systolic_ratio(sum->other_ps, matrix_ps));
#undef SHARE
	TS_SET(result, systolic, matrix_ps,
	       total_ps > 0 && !is_unknown ? ts_int(sum->matrix_ps) : ts_null());
	TS_SET(result, systolic, unknown_kernel_count, ts_int((int64_t)sum->nr_opaque));
	TS_SET(result, systolic, unknown_kernel_ps,
	       total_ps > 0 ? ts_int(sum->opaque_ps) : ts_null());
}

static void systolic_add_notes(struct ts_result *result, const struct ts_context *ctx,
			       const struct systolic_sum *sum)
{
	char time[TS_UNIT_MAX];

	if (sum->nr_opaque > 0)
		ts_result_note(
			result,
			"%zu custom calls (kernels) have no known cost, %s in all: their FLOPs "
			"are missing here. Give them one (pl.CostEstimate in Pallas).",
			sum->nr_opaque, ts_fmt_ps(time, sum->opaque_ps));
	if (sum->nr_highest > 0)
		ts_result_note(
			result,
			"%zu f32 ops ask for the highest precision, %s in all: six bf16 passes "
			"each, so one sixth of the peak is all they can reach.",
			sum->nr_highest, ts_fmt_ps(time, sum->highest_ps));
	if (ctx->profile->nr_devices == 0 && !ctx->chip && sum->flops > 0)
		ts_result_note(result, "No chip is named: the fill is that of a 128 x 128 unit.");
}

static enum ts_status systolic_close(void *arg, const struct ts_context *ctx, void *facts_arg,
				     struct ts_result *result, struct ts_error *err)
{
	struct systolic_state *state = arg;
	struct ts_systolic_facts *facts = facts_arg;
	int64_t total_ps = systolic_core_time(state, ctx), nr_seen = cores_seen(state);
	struct systolic_sum sum = { .has_matrix = false };
	struct reached reached;
	enum ts_status st;

	st = ts_systolic_ops(state, ctx, result, facts, &sum, err);
	if (st)
		return st;
	reached = reached_of(state, ctx, &sum, total_ps, result);
	facts->run = reached.used;
	facts->utilization = ts_held_known(reached.used);
	systolic_add_fields(result, &sum, &reached, total_ps);
	systolic_add_notes(result, ctx, &sum);
	return ts_systolic_sums(state, ctx, result, nr_seen > 0 ? total_ps / nr_seen : -1,
				sum.has_matrix, reached.cause, err);
}

const struct ts_analysis ts_analysis_systolic = {
	.schema = &ts_schema_systolic,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_COSTS | TS_COL_DEVICE_CLOCK,
	.state = &systolic_record,
	.facts_size = sizeof(struct ts_systolic_facts),
	.wants = systolic_wants,
	.open = systolic_open,
	.block = systolic_block,
	.merge = systolic_merge,
	.close = systolic_close,
};
