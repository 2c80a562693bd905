/* SPDX-License-Identifier: MIT */
/*
 * The op table: every op that ran, summed over devices, as XProf's hlo_stats has it; and modules.
 *
 * Time is XProf's: by the device's own clock, self time less the ops nested inside. FLOPs and bytes
 * are those of one execution: by the op's metadata, for custom calls by what each event says where
 * it says it (xprof/utils/op_metrics_db_utils.cc). A rate of an asynchronous op is over the time it is
 * under way; XProf divides by the moment in which it is started. Ops without a program or with symbol 0 are not
 * ops of XProf's and are left out here; time accounts for them all the same.
 */
#include "analysis/facts/ops.h"
#include "analysis/facts/rates.h"

#define TS_NEEDS(X) X(time) X(rates)
#include "analysis/kit/needs.h"

#include "analysis/kit/cells.h"
#include "analysis/kit/others.h"
#include "analysis/kit/peaks.h"
#include "base/record.h"
#include "base/units.h"
#include "model/bucket.h"
#include "model/cost.h"
#include "model/launched.h"
#include "model/op_kind.h"
#include "model/op_work.h"
#include "model/traffic.h"
#include "result/impossible.h"
#include "base/order.h"
#include "result/schema/ops.def"

struct op_sum {
	int64_t occurrences, total_ps, self_ps, exclusive_ps;
	int64_t longest_ps;		      /* of one execution, without what is nested in it */
	int64_t first_start_ps, first_end_ps; /* of the execution that ended first there */
	uint32_t device;		      /* the first one that ran it: its peaks are used */
};

/* What events say themselves of their costs: those of custom calls do. */
struct op_own {
	int64_t nr;	      /* events that say something */
	int64_t flops, bytes; /* their sums, or unknown */
	int64_t nr_flops;     /* executions that said their FLOPs */
	double all_flops;     /* what those said, summed */
	double bf16_flops;    /* the same in terms of the bf16 peak, where their types are known */
	int64_t nr_bytes;     /* executions that said their bytes */
	int64_t nr_again, again_ps; /* kernels of what was computed before, and their time */
};

#define TS_SELF struct op_sum
static TS_RECORD_WITH(op_sum, TS_EMPTY(occurrences), TS_NUMBER(1, occurrences, TS_ADD),
		      TS_NUMBER(2, total_ps, TS_ADD), TS_NUMBER(3, self_ps, TS_ADD),
		      TS_NUMBER(4, exclusive_ps, TS_ADD),
		      TS_INDEX(7, device, TS_BY_DEVICE, TS_KEEP),
		      TS_NUMBER(8, first_start_ps, TS_KEEP), TS_NUMBER(9, first_end_ps, TS_KEEP),
		      TS_NUMBER(10, longest_ps, TS_MAX_OF));
#undef TS_SELF

#define TS_SELF struct op_own
static TS_RECORD_WITH(op_own, TS_EMPTY(nr), TS_NUMBER(1, nr, TS_ADD),
		      TS_NUMBER(2, flops, TS_ADD_KNOWN), TS_NUMBER(3, bytes, TS_ADD_KNOWN),
		      TS_NUMBER(4, nr_flops, TS_ADD), TS_NUMBER(5, all_flops, TS_ADD),
		      TS_NUMBER(6, bf16_flops, TS_ADD), TS_NUMBER(7, nr_bytes, TS_ADD),
		      TS_NUMBER(8, nr_again, TS_ADD), TS_NUMBER(9, again_ps, TS_ADD));
#undef TS_SELF

struct ops_state {
	struct op_sum *ops;
	struct op_own *own; /* NULL: no event said its costs */
	size_t nr_ops, nr_own;
	uint32_t device; /* of a line */
};

#define TS_SELF struct ops_state
static TS_RECORD(ops, TS_RECORDS(1, ops, nr_ops, op_sum_record, TS_BY_OP, TS_ADD),
		 TS_RECORDS(2, own, nr_own, op_own_record, TS_BY_OP, TS_ADD));
#undef TS_SELF

static bool ops_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line) ||
	       (line->kind == TS_LINE_MODULES && ts_line_device(ctx->profile, line));
}

static enum ts_status make_ops(struct ops_state *state, const struct ts_context *ctx,
			       struct ts_error *err)
{
	if (state->ops)
		return TS_OK;
	state->nr_ops = ctx->profile->nr_ops;
	state->ops = ts_room_array(ctx->profile->rooms, state->nr_ops + 1, sizeof(*state->ops));
	return state->ops ? TS_OK : ts_fail_nomem(err);
}

/* Before an op's first event: pages of ops that never run are not touched. */
static void begin_op(struct op_sum *sum, uint32_t device, int64_t start_ps, int64_t end_ps)
{
	if (sum->occurrences > 0)
		return;
	sum->device = device;
	sum->first_start_ps = start_ps;
	sum->first_end_ps = end_ps;
}

static enum ts_status ops_open(void *arg, const struct ts_context *ctx, const struct ts_line *line,
			       struct ts_error *err)
{
	struct ops_state *state = arg;

	state->device = ctx->profile->planes[line->plane].device;
	return make_ops(state, ctx, err);
}

static void ops_add_known(int64_t *sum, int64_t value)
{
	if (value != TS_UNKNOWN)
		*sum = ts_i64_add(TS_MAX(*sum, 0), value);
}

static enum ts_status add_costs(struct ops_state *state, const struct ts_context *ctx,
				const struct ts_block *block, size_t i, int64_t nr,
				struct ts_error *err)
{
	enum ts_aten_type type = block->how ? block->how[i] & TS_HOW_TYPE : TS_ATEN_BF16;
	bool is_again = block->how && block->how[i] & TS_HOW_AGAIN &&
			ts_op_bucket(&ctx->profile->ops[block->op[i]]) == TS_NR_BUCKETS;
	const struct ts_rooms *rooms = ctx->profile->rooms;
	struct op_own *own;

	if (block->flops[i] == TS_UNKNOWN && block->bytes[i] == TS_UNKNOWN && !is_again)
		return TS_OK;
	if (!state->own) {
		state->own = ts_room_array(rooms, state->nr_ops + 1, sizeof(*state->own));
		state->nr_own = state->own ? state->nr_ops : 0;
	}
	if (!state->own)
		return ts_fail_nomem(err);
	own = &state->own[block->op[i]];
	if (own->nr++ == 0)
		own->flops = own->bytes = TS_UNKNOWN;
	own->nr_again += is_again;
	own->again_ps = ts_i64_add(own->again_ps, is_again ? block->self_ps[i] : 0);
	ops_add_known(&own->flops, block->flops[i]);
	ops_add_known(&own->bytes, block->bytes[i]);
	if (block->bytes[i] != TS_UNKNOWN)
		own->nr_bytes = ts_i64_add(own->nr_bytes, nr);
	if (block->flops[i] == TS_UNKNOWN)
		return TS_OK;
	own->nr_flops = ts_i64_add(own->nr_flops, nr);
	own->all_flops += (double)block->flops[i];
	own->bf16_flops +=
		(double)block->flops[i] * ts_type_scale(&ctx->rates[state->device], type);
	return TS_OK;
}

static const struct op_own *own_of(const struct ops_state *state, uint32_t op)
{
	static const struct op_own none = { .flops = TS_UNKNOWN, .bytes = TS_UNKNOWN };

	return op < state->nr_own && state->own[op].nr > 0 ? &state->own[op] : &none;
}

static enum ts_status ops_block(void *arg, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err)
{
	struct ops_state *state = arg;
	enum ts_status st;

	for (size_t i = 0; i < block->nr_events; i++) {
		struct op_sum *sum = &state->ops[block->op[i]];
		int64_t nr = block->occurrences ? block->occurrences[i] : 1;

		begin_op(sum, state->device, block->start_ps[i],
			 ts_i64_add(block->start_ps[i], block->dur_ps[i]));
		sum->occurrences = ts_i64_add(sum->occurrences, nr);
		sum->total_ps = ts_i64_add(sum->total_ps, block->total_ps[i]);
		sum->self_ps = ts_i64_add(sum->self_ps, block->self_ps[i]);
		sum->longest_ps = TS_MAX(sum->longest_ps, block->self_ps[i] / TS_MAX(nr, 1));
		st = block->flops ? add_costs(state, ctx, block, i, nr, err) : TS_OK;
		if (st)
			return st;
	}
	for (size_t i = 0; i < block->nr_segments; i++)
		state->ops[block->segment_op[i]].exclusive_ps +=
			block->segment_end_ps[i] - block->segment_start_ps[i];
	return TS_OK;
}

/* Work of one execution. */
struct work {
	double flops, bytes, hbm_bytes;
};

/* The mean of the kernels whose operators are known, where these are most of them. */
static struct work traced_work(const struct op_sum *sum, const struct op_own *own)
{
	struct work work = { NAN, NAN, NAN };

	if (own->nr_flops > sum->occurrences / 2)
		work.flops = own->all_flops / (double)own->nr_flops;
	if (own->nr_bytes > sum->occurrences / 2)
		work.bytes = work.hbm_bytes = (double)own->bytes / (double)own->nr_bytes;
	return work;
}

static struct work ops_work_of(const struct ts_profile *profile, const struct ts_op *op,
			       const struct op_sum *sum, const struct op_own *own)
{
	struct work work = { ts_op_flops(op), NAN, ts_op_hbm_bytes(profile, op) };

	if (op->bytes_accessed != TS_UNKNOWN)
		work.bytes = (double)op->bytes_accessed;
	if (op->flops == 0 && ts_op_is_opaque(profile, op))
		work.flops = NAN; /* what the kernel does is unknown: XProf's 0 does not count it */
	if (op->is_traced)
		return traced_work(sum, own);
	if (op->category_id != TS_OPCODE_CUSTOM_CALL || sum->occurrences == 0)
		return work;
	if (own->flops != TS_UNKNOWN)
		work.flops = (double)own->flops / (double)sum->occurrences;
	if (own->bytes != TS_UNKNOWN)
		work.bytes = work.hbm_bytes = (double)own->bytes / (double)sum->occurrences;
	return work;
}

/* An execution's work as the report has it: a whole number, or NaN when it is unknown. */
static double ops_whole(double value)
{
	return value >= 0 && value < 9.2e18 ? (double)(int64_t)(value + 0.5) : NAN;
}

static double ops_padding_share(const struct ts_profile *profile, const struct ts_op *op)
{
	struct ts_padding padding;

	if (op->instr == TS_NONE)
		return NAN;
	padding = ts_hlo_padding(&profile->modules[op->module], op->instr);
	if (padding.allocated_bytes <= 0)
		return NAN;
	return 1 - (double)padding.logical_bytes / (double)padding.allocated_bytes;
}

/* Of half of an asynchronous op: while it was under way. */
static int64_t work_time(const struct ts_context *ctx, uint32_t index, int64_t total_ps)
{
	const struct ts_op *op = &ctx->profile->ops[index];
	const struct ts_flight *flight;

	if (op->async == TS_ASYNC_NONE)
		return total_ps;
	if (op->partner == TS_NONE)
		return -1;
	flight =
		ts_flight_of(ts_rates_facts(ctx), op->async == TS_ASYNC_DONE ? op->partner : index);
	return flight ? flight->span_ps : -1;
}

static struct ts_bytes ops_module_name(const struct ts_profile *profile, const struct ts_op *op)
{
	return op->module == TS_NONE ? (struct ts_bytes){ NULL, 0 }
				     : profile->modules[op->module].name;
}

/* The bucket that has most of the op's own time, of those that it is divided among. */
static enum ts_bucket ops_largest_of(const struct ts_time_op *parts)
{
	static const enum ts_bucket others[] = { TS_BUCKET_BELOW_ROOFLINE, TS_BUCKET_MEMORY_WAIT,
						 TS_BUCKET_COMPUTE };
	enum ts_bucket most = TS_BUCKET_UNEXPLAINED;

	for (size_t i = 0; i < TS_NELEM(others); i++)
		if (ts_time_op_in(parts, others[i]) > ts_time_op_in(parts, most))
			most = others[i];
	return most;
}

static void ops_make_parts(const struct ts_context *ctx, uint32_t op, struct ts_op_fact *fact)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);

	fact->bucket = ts_op_bucket(&ctx->profile->ops[op]);
	if (fact->bucket != TS_NR_BUCKETS)
		return;
	fact->bucket = TS_BUCKET_UNEXPLAINED;
	if (!time->ops || time->ops[op].split_ps == 0)
		return;
	fact->parts = &time->ops[op];
	fact->bucket = ops_largest_of(fact->parts);
}

/* FLOPs in terms of the bf16 peak, as the matrix units count them (hw/chips.h). */
static double bf16_flops(const struct ts_context *ctx, const struct ts_op *op,
			 const struct op_own *own, const struct ts_rates *rates, double flops)
{
	struct ts_op_work work;

	if (op->is_traced && own->all_flops > 0)
		return flops * own->bf16_flops / own->all_flops;
	if (!(flops > 0) || !ts_op_instr(ctx->profile, op))
		return flops;
	work = ts_op_work_of(&ctx->profile->modules[op->module], op->instr, 0);
	return ts_bf16_flops(rates, flops, work.flops, work.int8_flops, work.fp8_flops);
}

/* A transfer takes what its link takes, and the wait for a copy what is left of it: the bytes that the compiler gives
 * them, and so XProf, say nothing of it. */
static enum ts_bound bound_of(const struct ts_op *op, const struct ts_roofline *roofline)
{
	if (op->kind == TS_OP_HOST)
		return TS_BOUND_HOST_LINK;
	if (op->kind == TS_OP_COLLECTIVE)
		return TS_BOUND_INTERCONNECT;
	return op->async == TS_ASYNC_DONE ? TS_BOUND_WAITING : roofline->bound;
}

static void ops_make_fact(const struct ts_context *ctx, uint32_t index,
			  const struct ops_state *state, struct ts_op_fact *fact)
{
	const struct op_sum *sum = &state->ops[index];
	const struct ts_op *op = &ctx->profile->ops[index];
	const struct ts_rates *rates = &ctx->rates[sum->device];
	const struct op_own *own = own_of(state, index);
	struct work work = ops_work_of(ctx->profile, op, sum, own);
	double flops = bf16_flops(ctx, op, own, rates, work.flops);
	double seconds = (double)sum->total_ps * 1e-12, executions = (double)sum->occurrences;
	int64_t work_ps = work_time(ctx, index, sum->total_ps);
	struct ts_roofline roofline = ts_roofline_of(rates, op->is_traced ? flops : work.flops,
						     work.hbm_bytes, ts_op_vmem_bytes(op));

	*fact = (struct ts_op_fact){
		.op = index,
		.module_index = op->module,
		.instr = op->module == TS_NONE ? TS_NONE : op->instr,
		.name = op->name,
		.module = ops_module_name(ctx->profile, op),
		.category = op->category,
		.category_id = op->category_id,
		.source = op->source,
		.framework_op = op->framework_op,
		.occurrences = sum->occurrences,
		.total_ps = sum->total_ps,
		.self_ps = sum->self_ps,
		.exclusive_ps = sum->exclusive_ps,
		.longest_ps = sum->longest_ps,
		.flops = ops_whole(work.flops),
		.bytes = ops_whole(work.bytes),
		.hbm_bytes = work.hbm_bytes,
		.work_ps = work_ps,
		.hbm_bytes_per_s =
			work_ps > 0 ? work.hbm_bytes * executions / ((double)work_ps * 1e-12) : NAN,
		.mxu_share = flops * executions / (seconds * rates->peak_flops_per_s),
		.padding_share = ops_padding_share(ctx->profile, op),
		.bound = bound_of(op, &roofline),
		.first_device = sum->device,
		.first_start_ps = sum->first_start_ps,
		.first_end_ps = sum->first_end_ps,
		.is_remat = op->is_remat,
		.nr_again = own->nr_again,
		.again_ps = own->again_ps,
	};
	ops_make_parts(ctx, index, fact);
}

/* What an op reaches of its device, true or not. */
struct reached {
	double mxu_share, hbm_bytes_per_s, hbm_peak; /* NaN: unknown */
};

static struct ts_value bucket_name(enum ts_bucket bucket)
{
	return bucket == TS_NR_BUCKETS ? ts_null() : ts_text(ts_bytes_of(ts_bucket_name(bucket)));
}

/* Of the op's own time, what lies in a bucket. */
static struct ts_value part_in(const struct ts_op_fact *fact, enum ts_bucket bucket)
{
	return fact->op == TS_NONE ? ts_null() : ts_int(ts_op_fact_in(fact, bucket));
}

/* By the kind of the op alone, of unknown work, it is inferred. */
static struct ts_value compute_of(const struct ts_op_fact *fact)
{
	bool is_inferred = fact->parts && fact->parts->part_ps[TS_SPLIT_KIND] > 0;

	return ts_value_from(part_in(fact, TS_BUCKET_COMPUTE),
			     is_inferred ? TS_INFERRED : TS_AS_FIELD);
}

/* Of what did not run, null. */
static struct ts_value if_run(const struct ts_op_fact *fact, int64_t value)
{
	return fact->op == TS_NONE ? ts_null() : ts_int(value);
}

#define OP_CELLS(X) \
	X(program_id, \
	  fact->op == TS_NONE ? ts_null() : ts_id(ctx->profile->ops[fact->op].program_id)) \
	X(module, ts_text_or_null(fact->module)) \
	X(name, ts_text(fact->name)) \
	X(category, ts_text_or_null(fact->category)) \
	X(occurrences, if_run(fact, fact->occurrences)) \
	X(total_time_ps, if_run(fact, fact->total_ps)) \
	X(self_time_ps, if_run(fact, fact->self_ps)) \
	X(flops, ts_whole_or_null(fact->flops)) \
	X(bytes_accessed, ts_whole_or_null(fact->bytes)) \
	X(mxu_utilization_pct, ts_held_share_pct(result, rates.mxu_share, ts_op_flops_cause(fact))) \
	X(hbm_bytes_per_s, ts_held_value(result, rates.hbm_bytes_per_s, rates.hbm_peak, ts_op_hbm_cause(fact))) \
	X(bound_by, ts_text(ts_bytes_of(ts_bound_name(fact->bound)))) \
	X(padding_waste_pct, ts_share_pct(fact->padding_share)) \
	X(source, ts_text_or_null(fact->source)) \
	X(framework_op, ts_text_or_null(fact->framework_op)) \
	X(is_remat, ts_bool(fact->is_remat)) \
	X(bucket, bucket_name(fact->bucket)) \
	X(exclusive_ps, if_run(fact, fact->exclusive_ps)) \
	X(compute_ps, compute_of(fact)) \
	X(below_roofline_ps, part_in(fact, TS_BUCKET_BELOW_ROOFLINE)) \
	X(memory_wait_ps, part_in(fact, TS_BUCKET_MEMORY_WAIT)) \
	X(unexplained_ps, part_in(fact, TS_BUCKET_UNEXPLAINED)) \
	X(op_index, if_run(fact, fact->op)) \
	X(first_device, if_run(fact, fact->first_device)) \
	X(first_start_ps, if_run(fact, fact->first_start_ps)) \
	X(first_end_ps, if_run(fact, fact->first_end_ps))

static void ops_put_op(const struct ts_context *ctx, struct ts_result *result,
		       struct ts_table *table, const struct ts_op_fact *fact, struct reached rates)
{
	TS_CELLS(result, table, ops_ops, OP_CELLS);
}

/* XProf's ops: of a program, and on a TPU with a symbol. A trace does not have programs. */
static bool ops_is_listed(const struct ts_context *ctx, const struct ts_op *op,
			  const struct op_sum *sum)
{
	if (sum->occurrences == 0 || op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP)
		return false;
	if (!op->has_program)
		return op->is_traced;
	if (ctx->profile->devices[sum->device].is_cpu)
		return true;
	if (ctx->profile->devices[sum->device].is_gpu)
		return op->instr != TS_NONE;
	return op->symbol_id != 0;
}

struct ranked {
	int64_t self_ps;
	const struct ts_op *op;
};

TS_ORDER(by_self_time, struct ranked, TS_DOWN(self_ps) TS_UP(op->name) TS_UP(op))

/* An instruction of a module that did not run: what the module alone can tell. */
static void make_instr_fact(const struct ts_context *ctx, uint32_t module_index, uint32_t index,
			    struct ts_result *result, struct ts_op_fact *fact)
{
	const struct ts_hlo_module *module = &ctx->profile->modules[module_index];
	const struct ts_hlo_instr *instr = &module->instrs[index];
	struct ts_cost cost = ts_hlo_cost(module, index);
	struct ts_roofline roofline = { .bound = TS_BOUND_UNKNOWN };
	struct ts_op op;

	ts_op_init(&op);
	op.module = module_index;
	op.instr = index;
	op.flops = cost.flops;
	if (ctx->chip)
		roofline = ts_roofline_of(ctx->chip, ts_op_flops(&op),
					  cost.hbm_bytes < 0 ? NAN : (double)cost.hbm_bytes, NAN);
	*fact = (struct ts_op_fact){
		.op = TS_NONE,
		.module_index = module_index,
		.instr = index,
		.name = instr->name,
		.module = module->name,
		.category = ts_hlo_category(instr),
		.category_id = ts_opcode_of(ts_hlo_category(instr)),
		.framework_op = instr->op_name,
		.occurrences = -1,
		.total_ps = -1,
		.self_ps = -1,
		.exclusive_ps = -1,
		.flops = cost.flops < 0 ? NAN : (double)cost.flops,
		.bytes = cost.bytes_accessed < 0 ? NAN : (double)cost.bytes_accessed,
		.hbm_bytes = cost.hbm_bytes < 0 ? NAN : (double)cost.hbm_bytes,
		.work_ps = -1,
		.hbm_bytes_per_s = NAN,
		.mxu_share = NAN,
		.padding_share = ops_padding_share(ctx->profile, &op),
		.bound = roofline.bound,
		.bucket = TS_NR_BUCKETS,
		.first_device = TS_NONE,
		.first_start_ps = -1,
		.first_end_ps = -1,
		.is_remat = ts_op_looks_remat(instr->name, instr->name, instr->op_name),
	};
	if (instr->source_file.n)
		fact->source = ts_result_text(result, "%.*s:%d", TS_ARG(instr->source_file),
					      instr->source_line);
}

/* The op table and its facts in the making. */
struct listing {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_table *table;
	struct ts_op_fact *items;
	size_t nr;
};

/* FLOPs of the compiled form, which the profile's contradict; -1: it is not there, or does not know. */
static int64_t compiled_flops(const struct ts_profile *profile, const struct ts_op_fact *fact)
{
	if (fact->instr == TS_NONE)
		return -1;
	return ts_hlo_cost(&profile->modules[fact->module_index], fact->instr).flops;
}

static struct ts_bytes flops_cause(const struct listing *list, const struct ts_op_fact *fact)
{
	double mean_ps = (double)fact->total_ps / (double)fact->occurrences;
	double peak = list->ctx->rates[fact->first_device].peak_flops_per_s;
	int64_t compiled = compiled_flops(list->ctx->profile, fact);
	const char *who = ts_profile_predicted(list->ctx->profile).n > 0 ? "prediction" : "profile";
	char is[TS_UNIT_MAX], time[TS_UNIT_MAX], needs[TS_UNIT_MAX], other[TS_UNIT_MAX];

	ts_fmt_count(is, fact->flops);
	ts_fmt_ps(time, ts_whole(mean_ps));
	ts_fmt_ps(needs, ts_whole(fact->flops / peak * 1e12));
	if (compiled >= 0)
		return ts_result_text(list->result,
				      "the %s says %s FLOPs in %s an execution, for which the "
				      "chip's peak needs %s; the compiled module has %s FLOPs",
				      who, is, time, needs, ts_fmt_count(other, (double)compiled));
	return ts_result_text(list->result,
			      "the %s says %s FLOPs in %s an execution, for which the chip's "
			      "peak needs %s",
			      who, is, time, needs);
}

static struct ts_bytes hbm_cause(const struct listing *list, const struct ts_op_fact *fact)
{
	const struct ts_op *op = &list->ctx->profile->ops[fact->op];
	double mean_ps = (double)fact->work_ps / (double)fact->occurrences;
	double peak = list->ctx->rates[fact->first_device].hbm_bytes_per_s;
	bool broken_down = op->hbm_read_bytes != TS_UNKNOWN || op->hbm_write_bytes != TS_UNKNOWN;
	char is[TS_UNIT_MAX], time[TS_UNIT_MAX], needs[TS_UNIT_MAX];

	return ts_result_text(
		list->result,
		"%s of HBM in %s an execution (%s), for which the chip's peak needs %s",
		ts_fmt_bytes(is, fact->hbm_bytes), ts_fmt_ps(time, ts_whole(mean_ps)),
		broken_down ? "by the profile's breakdown"
			    : "the profile does not break its bytes down by memory",
		ts_fmt_ps(needs, ts_whole(fact->hbm_bytes / peak * 1e12)));
}

/* A fact keeps no rate that cannot be true. */
static struct reached ops_judge(const struct listing *list, struct ts_op_fact *fact)
{
	struct reached reached = { fact->mxu_share, fact->hbm_bytes_per_s,
				   list->ctx->rates[fact->first_device].hbm_bytes_per_s };
	struct ts_op_doubt doubt = { .flops = { NULL, 0 } }, *kept;

	if (ts_is_impossible(reached.mxu_share, 1)) {
		doubt.flops = flops_cause(list, fact);
		fact->mxu_share = NAN;
	}
	if (list->ctx->profile->ops[fact->op].is_traced &&
	    ts_is_impossible(reached.hbm_bytes_per_s, reached.hbm_peak)) {
		/* Arrays that the cache keeps are no contradiction. */
		reached.hbm_bytes_per_s = fact->hbm_bytes_per_s = NAN;
	} else if (ts_is_impossible(reached.hbm_bytes_per_s, reached.hbm_peak)) {
		doubt.hbm = hbm_cause(list, fact);
		fact->hbm_bytes_per_s = NAN;
	}
	if (doubt.flops.n == 0 && doubt.hbm.n == 0)
		return reached;
	kept = ts_arena_alloc(&list->result->owner->arena, sizeof(*kept));
	if (kept)
		*kept = doubt;
	fact->doubt = kept;
	return reached;
}

static void list_instrs(struct listing *list, uint32_t module_index, const bool *inner)
{
	const struct ts_hlo_module *module = &list->ctx->profile->modules[module_index];

	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		struct ts_op_fact *fact = &list->items[list->nr];

		/* Instructions that do not work: names, literals, and views of what is there. */
		if (inner[module->instrs[i].computation] ||
		    TS_OPCODE_IN(module->instrs[i].opcode, TS_OPCODE_PARAMETER, TS_OPCODE_CONSTANT,
				 TS_OPCODE_TUPLE, TS_OPCODE_GET_TUPLE_ELEMENT, TS_OPCODE_BITCAST,
				 TS_OPCODE_AFTER_ALL))
			continue;
		make_instr_fact(list->ctx, module_index, i, list->result, fact);
		ops_put_op(list->ctx, list->result, list->table, fact,
			   (struct reached){ NAN, NAN, NAN });
		list->nr++;
	}
}

/* Without a run. */
static enum ts_status ops_list_modules(struct listing *list, struct ts_error *err)
{
	const struct ts_profile *profile = list->ctx->profile;
	size_t nr = 0;

	for (size_t m = 0; m < profile->nr_modules; m++)
		nr += profile->modules[m].nr_instrs;
	list->items = ts_arena_array(&list->result->owner->arena, nr + 1, sizeof(*list->items));
	if (!list->items)
		return ts_fail_nomem(err);
	for (uint32_t m = 0; m < profile->nr_modules; m++) {
		bool *inner = ts_hlo_inner_comps(&profile->modules[m]);

		if (!inner)
			return ts_fail_nomem(err);
		list_instrs(list, m, inner);
		free(inner);
	}
	return TS_OK;
}

static size_t rank_ops(const struct ops_state *sum, const struct ts_context *ctx,
		       struct ranked *ranked)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < sum->nr_ops; i++)
		if (ops_is_listed(ctx, &ctx->profile->ops[i], &sum->ops[i]))
			ranked[nr++] =
				(struct ranked){ sum->ops[i].self_ps, &ctx->profile->ops[i] };
	TS_SORT(ranked, nr, by_self_time);
	return nr;
}

/* The table has those that have most of the time; those behind it have less than this together. */
#define USUAL_OPS  5000
#define LEAST_OPS  1000
#define LEFT_SHARE 1e-4

/* How many of the ranked ops stand in the table by themselves. */
static size_t nr_listed(const struct ts_context *ctx, const struct ranked *ranked, size_t nr)
{
	size_t listed = ts_listed_ops(ctx, nr, USUAL_OPS);
	double all_ps = 0, left_ps = 0;

	if (ctx->max_ops > 0)
		return listed;
	for (size_t i = 0; i < nr; i++)
		all_ps += (double)ranked[i].self_ps;
	for (size_t i = listed; i < nr; i++)
		left_ps += (double)ranked[i].self_ps;
	while (listed > LEAST_OPS &&
	       left_ps + (double)ranked[listed - 1].self_ps <= LEFT_SHARE * all_ps)
		left_ps += (double)ranked[--listed].self_ps;
	return listed;
}

static void ops_add_to_others(struct ts_op_fact *others, struct ts_time_op *parts,
			      const struct ts_op_fact *fact)
{
	others->occurrences = ts_i64_add(others->occurrences, fact->occurrences);
	others->total_ps = ts_i64_add(others->total_ps, fact->total_ps);
	others->self_ps = ts_i64_add(others->self_ps, fact->self_ps);
	others->exclusive_ps = ts_i64_add(others->exclusive_ps, fact->exclusive_ps);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (ts_bucket_is_divided((enum ts_bucket)b))
			parts->split_ps =
				ts_i64_add(parts->split_ps, ts_op_fact_in(fact, (enum ts_bucket)b));
	for (int part = 0; fact->parts && part < TS_SPLIT_REST; part++)
		parts->part_ps[part] = ts_i64_add(parts->part_ps[part], fact->parts->part_ps[part]);
	others->parts = parts->split_ps > 0 ? parts : NULL;
}

#define OP_SUMS(X) \
	X(occurrences) X(total_time_ps) X(self_time_ps) X(exclusive_ps) X(compute_ps) \
	X(below_roofline_ps) X(memory_wait_ps) X(unexplained_ps)

static void ops_put_others(const struct listing *list, struct ts_op_fact *others, size_t nr)
{
	ops_put_op(list->ctx, list->result, list->table, others, (struct reached){ NAN, NAN, NAN });
	TS_END_OTHERS(list->result, list->table, ops_ops, nr, name, OP_SUMS);
}

static enum ts_status ops_list_ops(struct listing *list, const struct ops_state *sum,
				   uint32_t *of_op, struct ts_error *err)
{
	struct ranked *ranked =
		ts_room_alloc(list->ctx->profile->rooms, (sum->nr_ops + 1) * sizeof(*ranked));
	size_t nr = ranked ? rank_ops(sum, list->ctx, ranked) : 0;
	size_t listed = ranked ? nr_listed(list->ctx, ranked, nr) : 0;
	struct ts_op_fact others = { .bucket = TS_NR_BUCKETS };
	struct ts_time_op parts = { 0 };

	list->items = ts_arena_array(&list->result->owner->arena, nr + 1, sizeof(*list->items));
	for (size_t i = 0; i < nr && list->items; i++) {
		struct ts_op_fact *fact = &list->items[i];
		uint32_t op = (uint32_t)(ranked[i].op - list->ctx->profile->ops);
		struct reached reached;

		ops_make_fact(list->ctx, op, sum, fact);
		reached = ops_judge(list, fact);

		if (i < listed)
			ops_put_op(list->ctx, list->result, list->table, fact, reached);
		else
			ops_add_to_others(&others, &parts, fact);
		of_op[op] = (uint32_t)i;
	}
	if (listed < nr && list->items)
		ops_put_others(list, &others, nr - listed);
	list->nr = nr;
	ts_room_free(ranked);
	return ranked && list->items ? TS_OK : ts_fail_nomem(err);
}

static uint32_t *no_op_is_listed(struct ts_arena *arena, size_t nr_ops)
{
	uint32_t *of_op = ts_arena_array(arena, nr_ops + 1, sizeof(*of_op));

	for (size_t i = 0; of_op && i < nr_ops; i++)
		of_op[i] = TS_NONE;
	return of_op;
}

static enum ts_status make_tally(const struct ops_state *sum, const struct ts_context *ctx,
				 struct ts_ops_facts *facts, struct ts_result *result,
				 struct ts_error *err)
{
	struct ts_tally_row *rows =
		ts_arena_zalloc(&result->owner->arena, (ctx->profile->nr_ops + 1) * sizeof(*rows));

	if (!rows)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < TS_MIN(sum->nr_ops, ctx->profile->nr_ops); i++)
		rows[i] = (struct ts_tally_row){
			.occurrences = sum->ops[i].occurrences,
			.total_ps = sum->ops[i].total_ps,
			.self_ps = sum->ops[i].self_ps,
			.nr_own_flops = own_of(sum, (uint32_t)i)->nr_flops,
			.own_flops = own_of(sum, (uint32_t)i)->bf16_flops,
			.device = sum->ops[i].device,
		};
	facts->tally = rows;
	return TS_OK;
}

static enum ts_status make_ops_facts(const struct ops_state *sum, const struct ts_context *ctx,
				     struct ts_ops_facts *facts, struct ts_result *result,
				     struct ts_error *err)
{
	struct listing list = { .ctx = ctx, .result = result };
	uint32_t *of_op = no_op_is_listed(&result->owner->arena, sum->nr_ops);
	bool ran = ctx->profile->nr_lines > 0;
	enum ts_status st;

	list.table = TS_TITLED_TABLE(result, ops_ops, ran ? "Ops by self time" : "Ops");
	if (!of_op)
		return ts_fail_nomem(err);
	st = ran ? ops_list_ops(&list, sum, of_op, err) : ops_list_modules(&list, err);
	if (st)
		return st;
	facts->items = list.items;
	facts->nr = list.nr;
	facts->of_op = of_op;
	return TS_OK;
}

/* What the compiled form of a module says; all unknown where the profile does not have it. */
struct compiled {
	struct ts_cost cost;
	struct ts_module_bytes bytes;
};

static struct compiled compiled_of(const struct ts_hlo_module *module)
{
	struct compiled of = {
		.cost = { .flops = -1, .bytes_accessed = -1 },
		.bytes = { .parameter_bytes = -1,
			   .output_bytes = -1,
			   .parameter_logical_bytes = -1,
			   .output_logical_bytes = -1 },
	};

	if (module)
		of = (struct compiled){ ts_hlo_module_cost(module), ts_hlo_module_bytes(module) };
	return of;
}

#define MODULE_CELLS(X) \
	X(program_id, fact->program_id ? ts_id(fact->program_id) : ts_null()) \
	X(name, ts_text(fact->name)) \
	X(executions, ts_int_or_null(fact->executions)) \
	X(total_time_ps, ts_int_or_null(fact->total_ps)) \
	X(flops, ts_int_or_null(of.cost.flops)) \
	X(bytes_accessed, ts_int_or_null(of.cost.bytes_accessed)) \
	X(parameter_bytes, ts_int_or_null(of.bytes.parameter_bytes)) \
	X(output_bytes, ts_int_or_null(of.bytes.output_bytes)) \
	X(parameter_logical_bytes, ts_int_or_null(of.bytes.parameter_logical_bytes)) \
	X(output_logical_bytes, ts_int_or_null(of.bytes.output_logical_bytes))

static size_t count_loose_modules(const struct ops_state *sum, const struct ts_profile *profile)
{
	size_t nr = 0;

	for (size_t i = 0; i < sum->nr_ops; i++)
		nr += profile->ops[i].kind == TS_OP_MODULE && profile->ops[i].module == TS_NONE &&
		      sum->ops[i].occurrences > 0;
	return nr;
}

/* Executions go to the module of the profile; a program whose compiled form is not there is added. */
static void take_executions(const struct ops_state *sum, const struct ts_profile *profile,
			    struct ts_module_fact *modules, size_t *nr)
{
	for (size_t i = 0; i < sum->nr_ops; i++) {
		const struct ts_op *op = &profile->ops[i];
		struct ts_module_fact *fact;

		if (op->kind != TS_OP_MODULE || sum->ops[i].occurrences == 0)
			continue;
		fact = &modules[op->module == TS_NONE ? (*nr)++ : op->module];
		if (op->module == TS_NONE)
			*fact = (struct ts_module_fact){ .program_id = op->program_id,
							 .name = op->name };
		fact->executions = sum->ops[i].occurrences;
		fact->total_ps = sum->ops[i].total_ps;
	}
}

static enum ts_status make_module_facts(const struct ops_state *sum, const struct ts_context *ctx,
					struct ts_ops_facts *facts, struct ts_result *result,
					struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	size_t nr = profile->nr_modules;
	struct ts_module_fact *modules =
		ts_arena_array(&result->owner->arena, nr + count_loose_modules(sum, profile) + 1,
			       sizeof(*modules));
	struct ts_table *table = TS_TABLE(result, ops_modules);

	if (!modules)
		return ts_fail_nomem(err);
	for (size_t m = 0; m < nr; m++)
		modules[m] = (struct ts_module_fact){ profile->modules[m].program_id,
						      profile->modules[m].name, -1, -1 };
	take_executions(sum, profile, modules, &nr);
	for (size_t m = 0; m < nr; m++) {
		const struct ts_module_fact *fact = &modules[m];
		struct compiled of =
			compiled_of(m < profile->nr_modules ? &profile->modules[m] : NULL);

		TS_CELLS(result, table, ops_modules, MODULE_CELLS);
	}
	facts->modules = modules;
	facts->nr_modules = nr;
	return TS_OK;
}

static enum ts_status ops_close(void *arg, const struct ts_context *ctx, void *facts,
				struct ts_result *result, struct ts_error *err)
{
	struct ops_state *sum = arg;
	enum ts_status st = make_ops(sum, ctx, err);

	if (st)
		return st;
	st = make_ops_facts(sum, ctx, facts, result, err);
	if (st)
		return st;
	st = make_tally(sum, ctx, facts, result, err);
	if (st)
		return st;
	return make_module_facts(sum, ctx, facts, result, err);
}

const struct ts_analysis ts_analysis_ops = {
	.schema = &ts_schema_ops,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_SEGMENTS | TS_COL_COSTS | TS_COL_DEVICE_CLOCK,
	.state = &ops_record,
	.facts_size = sizeof(struct ts_ops_facts),
	.wants = ops_wants,
	.open = ops_open,
	.block = ops_block,
	.close = ops_close,
};
