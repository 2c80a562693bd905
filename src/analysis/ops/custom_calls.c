/*
 * Custom calls: kernels that the compiler takes as they are - Pallas and Mosaic kernels, calls into
 * libraries - with what they cost, as far as anybody said. Made from the compiled modules and the
 * result "ops"; sees no events.
 *
 * Where a cost comes from, the first that is there:
 *	estimate	backend_config's cost_estimate (pl.CostEstimate), from the kernel's author
 *	product		a matrix product that the call describes (cuBLAS, cuDNN)
 *	profile		FLOPs of the op in the profile, where its module is not there
 *	shapes		arrays handed over and back, as laid out: bytes alone
 * else it is unknown, which is null and never 0.
 */
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(ops) X(time)
#include "analysis/kit/needs.h"

#include "model/op_work.h"

enum {
	COL_PROGRAM_ID,
	COL_MODULE,
	COL_NAME,
	COL_TARGET,
	COL_KERNEL,
	COL_OCCURRENCES,
	COL_SELF,
	COL_SHARE,
	COL_FLOPS,
	COL_TRANSCENDENTALS,
	COL_BYTES,
	COL_COST_SOURCE,
	COL_FLOP_RATE,
	COL_BYTE_RATE,
	COL_ROOFLINE,
	COL_VMEM,
	COL_SOURCE,
	COL_OP,
	NR_COLS
};

static const struct ts_column columns[NR_COLS] = {
	[COL_PROGRAM_ID] = { "program_id", TS_MEASURED, NULL },
	[COL_MODULE] = { "module", TS_MEASURED, "module" },
	[COL_NAME] = { "name", TS_MEASURED, "op" },
	[COL_TARGET] = { "target", TS_COMPILED, "target" },
	[COL_KERNEL] = { "kernel", TS_COMPILED, "kernel" },
	[COL_OCCURRENCES] = { "occurrences", TS_MEASURED, "count" },
	[COL_SELF] = { "self_time_ps", TS_MEASURED, "self" },
	[COL_SHARE] = { "time_pct", TS_MEASURED, "of the run" },
	[COL_FLOPS] = { "flops", TS_COMPILED, "FLOPs" },
	[COL_TRANSCENDENTALS] = { "transcendentals", TS_COMPILED, NULL },
	[COL_BYTES] = { "bytes_accessed", TS_COMPILED, NULL },
	[COL_COST_SOURCE] = { "cost_source", TS_DERIVED, "cost from" },
	[COL_FLOP_RATE] = { "flops_per_s", TS_MODELLED, "FLOP/s" },
	[COL_BYTE_RATE] = { "bytes_per_s", TS_MODELLED, "bytes" },
	[COL_ROOFLINE] = { "roofline_pct", TS_MODELLED, "of roofline" },
	[COL_VMEM] = { "vmem_bytes", TS_COMPILED, "VMEM" },
	[COL_SOURCE] = { "source", TS_MEASURED, "source" },
	[COL_OP] = { "op_index", TS_DERIVED, NULL },
};

struct kernel_cost {
	double flops, transcendentals, bytes, hbm_bytes; /* an execution; NaN: unknown */
	const char *source;				 /* NULL: unknown */
};

struct calls {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_table *table;
	const struct ts_table *ops; /* or NULL: no run */
	struct ts_map rows;	    /* op index -> row of ops */
	double total_ps;
	int64_t self_ps, unknown_ps; /* sums */
	size_t nr_unknown;
};

static double known(int64_t count)
{
	return count < 0 ? NAN : (double)count;
}

static struct kernel_cost cost_of_arrays(const struct ts_hlo_module *module,
					 const struct ts_hlo_instr *instr)
{
	struct kernel_cost cost = { NAN, NAN, 0, 0, "shapes" };

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
		return (struct kernel_cost){ NAN, NAN, NAN, NAN, NULL };
	return cost;
}

static struct kernel_cost cost_of(const struct ts_hlo_module *module, uint32_t index)
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
		estimated ? known(instr->backend.cost_flops) : known(cost.flops),
		estimated ? known(instr->backend.cost_transcendentals)
			  : known(cost.transcendentals),
		known(cost.bytes_accessed),
		known(cost.hbm_bytes),
		estimated ? "estimate" : "product",
	};
}

/* What the profile says of an op without a module. libtpu's 0 FLOPs of a kernel are no number. */
static struct kernel_cost cost_in_profile(const struct ts_op *op)
{
	bool has_flops = op->model_flops > 0 || op->flops > 0;

	if (!has_flops)
		return (struct kernel_cost){ NAN, NAN, NAN, NAN, NULL };
	return (struct kernel_cost){ known(op->model_flops > 0 ? op->model_flops : op->flops), NAN,
				     known(op->bytes_accessed), known(op->bytes_accessed),
				     "profile" };
}

/* jit(step)/scale_rows/pallas_call: the name that the kernel was given; else the op's. */
static struct ts_bytes kernel_name(const struct ts_hlo_instr *instr)
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

static const struct ts_rates *rates_of(const struct ts_context *ctx)
{
	for (size_t i = 0; ctx->rates && i < ctx->profile->nr_devices; i++)
		if (ctx->rates[i].peak_flops_per_s > 0)
			return &ctx->rates[i];
	return ctx->chip;
}

/* The least time of the work, of the time it took: 0..1. */
static double roofline_share(const struct ts_context *ctx, const struct kernel_cost *cost,
			     double seconds)
{
	const struct ts_rates *rates = rates_of(ctx);
	struct ts_roofline roofline;

	if (!rates || !cost->source)
		return NAN;
	roofline = ts_roofline_of(rates, cost->flops, cost->hbm_bytes, NAN);
	return roofline.least_s > 0 ? roofline.least_s / seconds : NAN;
}

static void put_cost(struct calls *calls, struct ts_value *cells, const struct kernel_cost *cost,
		     int64_t self_ps, int64_t occurrences)
{
	double seconds = self_ps > 0 && occurrences > 0
				 ? (double)self_ps * 1e-12 / (double)occurrences
				 : NAN;

	cells[COL_FLOPS] = ts_real(cost->flops);
	cells[COL_TRANSCENDENTALS] = ts_real(cost->transcendentals);
	cells[COL_BYTES] = ts_real(cost->bytes);
	cells[COL_COST_SOURCE] = cost->source ? ts_text(ts_bytes_of(cost->source)) : ts_null();
	cells[COL_FLOP_RATE] = ts_real(cost->flops / seconds);
	cells[COL_BYTE_RATE] = ts_real(cost->bytes / seconds);
	cells[COL_ROOFLINE] = ts_share_pct(roofline_share(calls->ctx, cost, seconds));
	if (isnan(cost->flops)) {
		calls->nr_unknown++;
		calls->unknown_ps = ts_i64_add(calls->unknown_ps, TS_MAX(self_ps, 0));
	}
	calls->self_ps = ts_i64_add(calls->self_ps, TS_MAX(self_ps, 0));
}

static struct ts_value op_cell(const struct calls *calls, uint32_t op, const char *column)
{
	uint32_t row = op == TS_NONE ? TS_NONE : ts_map_find(&calls->rows, op);

	if (row == TS_NONE)
		return ts_null();
	return ts_cell(calls->ops, row, column);
}

/* MODULE may be NULL: the profile does not have it. OP may be TS_NONE: it did not run. */
static bool put_call(struct calls *calls, const struct ts_hlo_module *module, uint32_t instr,
		     uint32_t op)
{
	const struct ts_op *ran = op == TS_NONE ? NULL : &calls->ctx->profile->ops[op];
	const struct ts_hlo_instr *call = module ? &module->instrs[instr] : NULL;
	struct kernel_cost cost = module ? cost_of(module, instr) : cost_in_profile(ran);
	struct ts_value *cells = ts_table_row(calls->result, calls->table);
	int64_t self_ps = ts_value_int(op_cell(calls, op, "self_time_ps"));

	if (!cells)
		return false;
	cells[COL_PROGRAM_ID] = op_cell(calls, op, "program_id");
	cells[COL_MODULE] = module ? ts_text_or_null(module->name) : op_cell(calls, op, "module");
	cells[COL_NAME] = ts_text(call ? call->name : ran->name);
	cells[COL_TARGET] = call ? ts_text_or_null(call->custom_call_target) : ts_null();
	cells[COL_KERNEL] = ts_text(call ? kernel_name(call) : ran->name);
	cells[COL_OCCURRENCES] = op_cell(calls, op, "occurrences");
	cells[COL_SELF] = ts_int_or_null(self_ps);
	cells[COL_SHARE] =
		ts_share_pct(ts_value_number(op_cell(calls, op, "exclusive_ps")) / calls->total_ps);
	put_cost(calls, cells, &cost, self_ps, ts_value_int(op_cell(calls, op, "occurrences")));
	cells[COL_VMEM] = call ? ts_int_or_null(call->backend.scoped_vmem_bytes) : ts_null();
	if (ran && ran->source.n > 0)
		cells[COL_SOURCE] = ts_text(ran->source);
	else if (call && call->source_file.n > 0)
		cells[COL_SOURCE] = ts_text(ts_result_text(
			calls->result, "%.*s:%d", TS_ARG(call->source_file), call->source_line));
	cells[COL_OP] = op == TS_NONE ? ts_null() : ts_int(op);
	return true;
}

/* The ops that ran, by the instruction they are; those without a module get their row at once. */
static bool put_ops(struct calls *calls, struct ts_map *by_instr)
{
	const struct ts_profile *profile = calls->ctx->profile;
	int index = ts_table_column(calls->ops, "op_index");

	for (size_t i = 0; i < calls->ops->nr_rows; i++) {
		int64_t at = ts_value_int(ts_table_cell(calls->ops, i, index));
		const struct ts_op *op = at < 0 ? NULL : &profile->ops[at];

		if (!op || i >= TS_NONE || !ts_map_set(&calls->rows, (uint64_t)at, (uint32_t)i)) {
			if (op)
				return false;
			continue;
		}
		if (ts_op_instr(profile, op)) {
			if (!ts_map_set(by_instr, (uint64_t)op->module << 32 | op->instr,
					(uint32_t)at))
				return false;
		} else if (ts_bytes_is(op->category, "custom-call") &&
			   !put_call(calls, NULL, 0, (uint32_t)at)) {
			return false;
		}
	}
	return true;
}

static bool put_module(struct calls *calls, uint32_t index, const struct ts_map *by_instr)
{
	const struct ts_hlo_module *module = &calls->ctx->profile->modules[index];

	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (ts_instr_is_kernel(&module->instrs[i]) &&
		    !put_call(calls, module, i, ts_map_find(by_instr, (uint64_t)index << 32 | i)))
			return false;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct ts_value *x = a, *y = b;
	int64_t p = ts_value_int(x[COL_SELF]), q = ts_value_int(y[COL_SELF]);
	int order = (q > p) - (q < p);

	if (order == 0)
		order = ts_bytes_cmp(x[COL_MODULE].as.s, y[COL_MODULE].as.s);
	return order ? order : ts_bytes_cmp(x[COL_NAME].as.s, y[COL_NAME].as.s);
}

static void put_fields(struct calls *calls)
{
	bool ran = calls->ctx->profile->nr_devices > 0 && calls->table->nr_rows > 0;

	if (calls->table->nr_rows > 1)
		qsort(calls->table->cells, calls->table->nr_rows,
		      NR_COLS * sizeof(*calls->table->cells), by_time);
	ts_result_field(calls->result, "call_count", ts_int((int64_t)calls->table->nr_rows),
			TS_COMPILED, calls->table->nr_rows ? "custom calls" : NULL);
	ts_result_field(calls->result, "unknown_count", ts_int((int64_t)calls->nr_unknown),
			TS_COMPILED, calls->table->nr_rows ? "of unknown FLOPs" : NULL);
	ts_result_field(calls->result, "self_time_ps", ran ? ts_int(calls->self_ps) : ts_null(),
			TS_MEASURED, "their time");
	ts_result_field(calls->result, "unknown_ps", ran ? ts_int(calls->unknown_ps) : ts_null(),
			TS_MEASURED, "of unknown FLOPs, time");
}

static enum ts_status custom_calls_close(void *state, const struct ts_context *ctx, void *facts,
					 struct ts_result *result, struct ts_error *err)
{
	const struct ts_result *ops = ts_results_find(ctx->results, "ops");
	struct calls calls = { .ctx = ctx, .result = result, .total_ps = NAN };
	struct ts_map by_instr = { .nr = 0 };
	bool good;

	(void)state;
	calls.ops = ops ? ts_result_find_table(ops, "ops") : NULL;
	if (ts_time_facts(ctx)->nr_cores > 0)
		calls.total_ps = (double)ts_time_facts(ctx)->total_ps;
	calls.table = ts_result_table(result, "calls", "Custom calls", columns, NR_COLS);
	good = calls.table && (!calls.ops || put_ops(&calls, &by_instr));
	for (uint32_t i = 0; i < ctx->profile->nr_modules && good; i++)
		good = put_module(&calls, i, &by_instr);
	if (good)
		put_fields(&calls);
	ts_map_release(&calls.rows);
	ts_map_release(&by_instr);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_custom_calls = {
	.name = "custom_calls",
	.title = "Custom calls",
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.close = custom_calls_close,
};
