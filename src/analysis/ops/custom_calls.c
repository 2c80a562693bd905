/* SPDX-License-Identifier: MIT */
/*
 * Custom calls: kernels that the compiler takes as they are - Pallas and Mosaic kernels, calls into
 * libraries - with what they cost, as far as it is said somewhere. Made from the compiled modules
 * and the facts of ops; sees no events.
 *
 * Where a cost comes from, the first that is there:
 *	estimate	backend_config's cost_estimate (pl.CostEstimate), from the kernel's author
 *	product		a matrix product that the call describes (cuBLAS, cuDNN)
 *	profile		FLOPs of the op in the profile, where its module is not there
 *	shapes		arrays handed over and back, as laid out: bytes alone
 * else it is unknown, which is null and never 0.
 */
#include "analysis/facts/custom_calls.h"
#include "analysis/facts/ops.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(ops) X(time)
#include "analysis/kit/needs.h"

#include "analysis/kit/peaks.h"
#include "analysis/kit/source.h"
#include "model/op_work.h"
#include "result/impossible.h"
#include "base/order.h"
#include "result/schema/custom_calls.def"

static const char *const source_names[] = {
	[TS_COST_UNKNOWN] = NULL,      [TS_COST_ESTIMATE] = "estimate",
	[TS_COST_PRODUCT] = "product", [TS_COST_PROFILE] = "profile",
	[TS_COST_SHAPES] = "shapes",
};

struct kernel_cost {
	double flops, transcendentals, bytes, hbm_bytes; /* an execution; NaN: unknown */
	enum ts_kernel_cost_source source;
};

static const struct kernel_cost unknown_cost = { NAN, NAN, NAN, NAN, TS_COST_UNKNOWN };

static double custom_calls_known(int64_t count)
{
	return count < 0 ? NAN : (double)count;
}

static struct kernel_cost cost_of_arrays(const struct ts_hlo_module *module,
					 const struct ts_hlo_instr *instr)
{
	struct kernel_cost cost = { NAN, NAN, 0, 0, TS_COST_SHAPES };

	for (uint32_t i = 0; i <= instr->nr_operands; i++) {
		const struct ts_shape *shape = i < instr->nr_operands
						       ? &module->instrs[instr->operands[i]].shape
						       : &instr->shape;
		double bytes = (double)ts_shape_bytes(shape);

		cost.bytes += bytes;
		if (shape->nr_parts > 0 || shape->memory_space == TS_SPACE_HBM)
			cost.hbm_bytes += bytes;
	}
	if (cost.bytes <= 0)
		return unknown_cost;
	return cost;
}

static struct kernel_cost custom_calls_cost_of(const struct ts_hlo_module *module, uint32_t index)
{
	const struct ts_hlo_instr *instr = &module->instrs[index];
	bool estimated = instr->backend.cost_flops >= 0 || instr->backend.cost_bytes >= 0;
	struct ts_cost cost;

	if (!estimated && ts_instr_is_opaque(instr))
		return cost_of_arrays(module, instr);
	cost = ts_hlo_cost(module, index);
	if (cost.has_unknown)
		return cost_of_arrays(module, instr);
	return (struct kernel_cost){
		estimated ? custom_calls_known(instr->backend.cost_flops)
			  : custom_calls_known(cost.flops),
		estimated ? custom_calls_known(instr->backend.cost_transcendentals)
			  : custom_calls_known(cost.transcendentals),
		custom_calls_known(cost.bytes_accessed),
		custom_calls_known(cost.hbm_bytes),
		estimated ? TS_COST_ESTIMATE : TS_COST_PRODUCT,
	};
}

/* What the profile says of an op without a module. libtpu's 0 FLOPs of a kernel mean nothing. */
static struct kernel_cost cost_in_profile(const struct ts_op *op)
{
	bool has_flops = op->model_flops > 0 || op->flops > 0;

	if (!has_flops)
		return unknown_cost;
	return (struct kernel_cost){ custom_calls_known(op->model_flops > 0 ? op->model_flops
									    : op->flops),
				     NAN, custom_calls_known(op->bytes_accessed),
				     custom_calls_known(op->bytes_accessed), TS_COST_PROFILE };
}

/* jit(step)/scale_rows/pallas_call: the name that the kernel was given; else the op's. */
static struct ts_bytes custom_calls_kernel_name(const struct ts_hlo_instr *instr)
{
	static const char call[] = "/pallas_call";
	struct ts_bytes name = instr->op_name;
	size_t from;

	if (!ts_bytes_ends(name, call))
		return instr->name;
	name = ts_bytes_cut(name, 0, name.n - strlen(call));
	for (from = name.n; from > 0 && name.p[from - 1] != '/';)
		from--;
	name = ts_bytes_cut(name, from, name.n);
	return name.n == 0 || ts_bytes_has(name, "(") ? instr->name : name;
}

static const struct ts_rates *custom_calls_rates_of(const struct ts_context *ctx)
{
	const struct ts_rates *rates = ts_flops_rates(ctx);

	return rates ? rates : ctx->chip;
}

/* The least time of the work, of the time it took: 0..1. */
static double roofline_share(const struct ts_context *ctx, const struct kernel_cost *cost,
			     double seconds)
{
	const struct ts_rates *rates = custom_calls_rates_of(ctx);
	struct ts_roofline roofline;

	if (!rates || cost->source == TS_COST_UNKNOWN)
		return NAN;
	roofline = ts_roofline_of(rates, cost->flops, cost->hbm_bytes, NAN);
	return roofline.least_s > 0 ? roofline.least_s / seconds : NAN;
}

/* The calls in the making. */
struct calls {
	const struct ts_context *ctx;
	struct ts_custom_call *items;
	size_t nr;
	struct ts_map by_instr; /* module and instruction -> the op that ran */
};

/* FACT may be NULL: it did not run. */
static void set_cost(struct calls *calls, struct ts_custom_call *call,
		     const struct kernel_cost *cost, const struct ts_op_fact *fact)
{
	double seconds = fact && fact->self_ps > 0 && fact->occurrences > 0
				 ? (double)fact->self_ps * 1e-12 / (double)fact->occurrences
				 : NAN;

	call->flops = cost->flops;
	call->transcendentals = cost->transcendentals;
	call->bytes = cost->bytes;
	call->source = cost->source;
	call->flops_per_s = cost->flops / seconds;
	call->bytes_per_s = cost->bytes / seconds;
	call->roofline_share = roofline_share(calls->ctx, cost, seconds);
}

/* An op that ran and whose module the profile does not have. */
static void custom_calls_add_op(struct calls *calls, const struct ts_op_fact *fact)
{
	const struct ts_op *op = &calls->ctx->profile->ops[fact->op];
	struct kernel_cost cost = cost_in_profile(op);
	struct ts_custom_call *call = &calls->items[calls->nr++];

	*call = (struct ts_custom_call){
		.op = fact->op,
		.module = TS_NONE,
		.instr = TS_NONE,
		.name = op->name,
		.kernel = op->name,
	};
	set_cost(calls, call, &cost, fact);
}

static void custom_calls_add_instr(struct calls *calls, uint32_t index, uint32_t instr)
{
	const struct ts_hlo_module *module = &calls->ctx->profile->modules[index];
	struct kernel_cost cost = custom_calls_cost_of(module, instr);
	struct ts_custom_call *call = &calls->items[calls->nr++];

	*call = (struct ts_custom_call){
		.op = ts_map_find(&calls->by_instr, ts_instr_key(index, instr)),
		.module = index,
		.instr = instr,
		.name = module->instrs[instr].name,
		.kernel = custom_calls_kernel_name(&module->instrs[instr]),
	};
	set_cost(calls, call, &cost, ts_op_fact_of(ts_ops_facts(calls->ctx), call->op));
}

static bool is_loose(const struct ts_profile *profile, const struct ts_op_fact *fact)
{
	const struct ts_op *op = fact->op == TS_NONE ? NULL : &profile->ops[fact->op];

	return op && !ts_op_instr(profile, op) && op->category_id == TS_OPCODE_CUSTOM_CALL;
}

static size_t count_calls(const struct ts_context *ctx)
{
	const struct ts_ops_facts *ops = ts_ops_facts(ctx);
	size_t nr = 0;

	for (size_t i = 0; i < ops->nr; i++)
		nr += is_loose(ctx->profile, &ops->items[i]);
	for (size_t m = 0; m < ctx->profile->nr_modules; m++)
		for (uint32_t i = 0; i < ctx->profile->modules[m].nr_instrs; i++)
			nr += ts_instr_is_kernel(&ctx->profile->modules[m].instrs[i]);
	return nr;
}

static enum ts_status map_ops(struct calls *calls, struct ts_error *err)
{
	const struct ts_profile *profile = calls->ctx->profile;
	const struct ts_ops_facts *ops = ts_ops_facts(calls->ctx);

	for (size_t i = 0; i < ops->nr; i++) {
		const struct ts_op_fact *fact = &ops->items[i];
		const struct ts_op *op = fact->op == TS_NONE ? NULL : &profile->ops[fact->op];

		if (op && ts_op_instr(profile, op) &&
		    !ts_map_set(&calls->by_instr, ts_instr_key(op->module, op->instr), fact->op))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static void custom_calls_list_calls(struct calls *calls)
{
	const struct ts_profile *profile = calls->ctx->profile;
	const struct ts_ops_facts *ops = ts_ops_facts(calls->ctx);

	for (size_t i = 0; i < ops->nr; i++)
		if (is_loose(profile, &ops->items[i]))
			custom_calls_add_op(calls, &ops->items[i]);
	for (uint32_t m = 0; m < profile->nr_modules; m++)
		for (uint32_t i = 0; i < profile->modules[m].nr_instrs; i++)
			if (ts_instr_is_kernel(&profile->modules[m].instrs[i]))
				custom_calls_add_instr(calls, m, i);
}

/* What the table has of a call. */
struct call_row {
	const struct ts_custom_call *call;
	const struct ts_op_fact *fact;	  /* NULL: it did not run */
	const struct ts_hlo_instr *instr; /* NULL: the profile does not have its module */
	struct ts_bytes module, source;
	int64_t self_ps; /* -1: it did not run */
};

static struct call_row custom_calls_row_of(const struct ts_context *ctx,
					   const struct ts_custom_call *call)
{
	const struct ts_op_fact *fact = ts_op_fact_of(ts_ops_facts(ctx), call->op);
	const struct ts_hlo_module *module =
		call->module == TS_NONE ? NULL : &ctx->profile->modules[call->module];
	struct call_row row = {
		.call = call,
		.fact = fact,
		.instr = module ? &module->instrs[call->instr] : NULL,
		.self_ps = fact ? fact->self_ps : -1,
	};

	if (module)
		row.module = module->name;
	else if (fact)
		row.module = fact->module;
	return row;
}

TS_ORDER(custom_calls_by_time, struct call_row,
	 TS_DOWN(self_ps) TS_UP(module) TS_UP(call->name) TS_UP(call))

/* "file.py:29", or nothing. */
static struct ts_bytes custom_calls_source_of(const struct ts_context *ctx,
					      const struct call_row *row, struct ts_result *result)
{
	struct ts_bytes source = { NULL, 0 };

	if (row->call->op != TS_NONE)
		source = ctx->profile->ops[row->call->op].source;
	if (source.n == 0)
		source = ts_instr_source(result, row->instr);
	return source;
}

static double custom_calls_time_share(const struct ts_context *ctx, const struct ts_op_fact *fact)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);

	return fact && time->nr_cores > 0 ? (double)fact->exclusive_ps / (double)time->total_ps
					  : NAN;
}

#define IF_RAN(value) (row->fact ? (value) : ts_null())
#define IF_KNOWN(value) (row->instr ? (value) : ts_null())

static const struct ts_bytes above =
	TS_LIT("the cost that is said of the kernel and its time contradict the chip's peak");

/* At whatever precision is the fastest. */
static double peak_flops(const struct ts_context *ctx)
{
	const struct ts_rates *rates = custom_calls_rates_of(ctx);

	return rates ? fmax(rates->peak_flops_per_s,
			    fmax(rates->peak_int8_per_s, rates->peak_fp8_per_s))
		     : NAN;
}

#define CALL_CELLS(X) \
	X(program_id, \
	  call->op == TS_NONE ? ts_null() : ts_id(ctx->profile->ops[call->op].program_id)) \
	X(module, ts_text_or_null(row->module)) \
	X(name, ts_text(call->name)) \
	X(target, IF_KNOWN(ts_text_or_null(row->instr->custom_call_target))) \
	X(kernel, ts_text(call->kernel)) \
	X(occurrences, IF_RAN(ts_int(row->fact->occurrences))) \
	X(self_time_ps, ts_int_or_null(row->self_ps)) \
	X(time_pct, ts_share_pct(custom_calls_time_share(ctx, row->fact))) \
	X(flops, ts_real(call->flops)) \
	X(transcendentals, ts_real(call->transcendentals)) \
	X(bytes_accessed, ts_real(call->bytes)) \
	X(cost_source, ts_text_or_null(ts_bytes_of(source_names[call->source]))) \
	X(flops_per_s, ts_held_value(result, call->flops_per_s, peak_flops(ctx), above)) \
	X(bytes_per_s, ts_real(call->bytes_per_s)) \
	X(roofline_pct, ts_held_share_pct(result, call->roofline_share, above)) \
	X(vmem_bytes, IF_KNOWN(ts_int_or_null(row->instr->backend.scoped_vmem_bytes))) \
	X(source, ts_text_or_null(custom_calls_source_of(ctx, row, result))) \
	X(op_index, call->op == TS_NONE ? ts_null() : ts_int(call->op))

static void put_call(const struct ts_context *ctx, const struct call_row *row,
		     struct ts_result *result, struct ts_table *table)
{
	const struct ts_custom_call *call = row->call;

	TS_CELLS(result, table, custom_calls_calls, CALL_CELLS);
}

static void custom_calls_put_fields(const struct ts_context *ctx, const struct call_row *rows,
				    size_t nr, struct ts_result *result)
{
	bool ran = ctx->profile->nr_devices > 0 && nr > 0;
	int64_t self_ps = 0, unknown_ps = 0, nr_unknown = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t ps = TS_MAX(rows[i].self_ps, 0);

		self_ps = ts_i64_add(self_ps, ps);
		if (isnan(rows[i].call->flops)) {
			nr_unknown++;
			unknown_ps = ts_i64_add(unknown_ps, ps);
		}
	}
	TS_SET(result, custom_calls, call_count, ts_int((int64_t)nr))->label =
		nr ? "custom calls" : NULL;
	TS_SET(result, custom_calls, unknown_count, ts_int(nr_unknown))->label =
		nr ? "of unknown FLOPs" : NULL;
	TS_SET(result, custom_calls, self_time_ps, ran ? ts_int(self_ps) : ts_null());
	TS_SET(result, custom_calls, unknown_ps, ran ? ts_int(unknown_ps) : ts_null());
}

/* Rows in the order of the report; the facts follow it. */
static enum ts_status custom_calls_report(const struct ts_context *ctx, const struct calls *calls,
					  struct ts_custom_calls_facts *facts,
					  struct ts_result *result, struct ts_error *err)
{
	struct ts_arena *arena = &result->owner->arena;
	struct ts_custom_call *items = ts_arena_array(arena, calls->nr + 1, sizeof(*items));
	struct call_row *rows = calloc(calls->nr + 1, sizeof(*rows));
	struct ts_table *table = TS_TABLE(result, custom_calls_calls);
	enum ts_status st = TS_OK;

	if (!items || !rows) {
		st = ts_fail_nomem(err);
		goto done;
	}
	for (size_t i = 0; i < calls->nr; i++)
		rows[i] = custom_calls_row_of(ctx, &calls->items[i]);
	TS_SORT(rows, calls->nr, custom_calls_by_time);
	for (size_t i = 0; i < calls->nr; i++) {
		items[i] = *rows[i].call;
		put_call(ctx, &rows[i], result, table);
	}
	custom_calls_put_fields(ctx, rows, calls->nr, result);
	facts->items = items;
	facts->nr = calls->nr;
done:
	free(rows);
	return st;
}

static enum ts_status custom_calls_close(void *state, const struct ts_context *ctx, void *facts,
					 struct ts_result *result, struct ts_error *err)
{
	struct calls calls = { .ctx = ctx };
	enum ts_status st;

	calls.items = calloc(count_calls(ctx) + 1, sizeof(*calls.items));
	if (!calls.items)
		return ts_fail_nomem(err);
	st = map_ops(&calls, err);
	if (st)
		goto done;
	custom_calls_list_calls(&calls);
	st = custom_calls_report(ctx, &calls, facts, result, err);
done:
	free(calls.items);
	ts_map_release(&calls.by_instr);
	return st;
}

const struct ts_analysis ts_analysis_custom_calls = {
	.schema = &ts_schema_custom_calls,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_custom_calls_facts),
	.close = custom_calls_close,
};
