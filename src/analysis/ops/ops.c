/*
 * The op table: every op that ran, summed over devices, as XProf's hlo_stats has it; and modules.
 *
 * Time is XProf's: by the device's own clock, self time less the ops nested inside. FLOPs and bytes
 * are those of one execution: by the op's metadata, for custom calls by what each event says where
 * it says it (xprof/utils/op_metrics_db_utils.cc). Ops without a program or with symbol 0 are not
 * ops of XProf's and are left out here; time accounts for them all the same.
 */
#include "analysis/analysis.h"
#include "model/bucket.h"
#include "model/cost.h"
#include "model/op_kind.h"
#include "model/op_work.h"

struct op_sum {
	int64_t occurrences, total_ps, self_ps, exclusive_ps;
	int64_t event_flops, event_bytes; /* of custom calls whose events say so; else unknown */
	uint32_t device;		  /* the first one that ran it: its peaks are used */
	int64_t first_start_ps, first_end_ps; /* of the execution that ended first there */
};

struct ops_state {
	struct op_sum *ops;
	size_t nr_ops;
	uint32_t device;
};

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
	state->ops = calloc(state->nr_ops + 1, sizeof(*state->ops));
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
	sum->event_flops = sum->event_bytes = TS_UNKNOWN;
}

static enum ts_status ops_open(void *arg, const struct ts_context *ctx, const struct ts_line *line,
			       struct ts_error *err)
{
	struct ops_state *state = arg;

	state->device = ctx->profile->planes[line->plane].device;
	return make_ops(state, ctx, err);
}

static void add_known(int64_t *sum, int64_t value)
{
	if (value != TS_UNKNOWN)
		*sum = ts_i64_add(TS_MAX(*sum, 0), value);
}

static enum ts_status ops_block(void *arg, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err)
{
	struct ops_state *state = arg;

	(void)ctx;
	(void)err;
	for (size_t i = 0; i < block->nr_events; i++) {
		struct op_sum *sum = &state->ops[block->op[i]];

		begin_op(sum, state->device, block->start_ps[i],
			 ts_i64_add(block->start_ps[i], block->dur_ps[i]));
		sum->occurrences = ts_i64_add(sum->occurrences, block->occurrences[i]);
		sum->total_ps = ts_i64_add(sum->total_ps, block->total_ps[i]);
		sum->self_ps = ts_i64_add(sum->self_ps, block->self_ps[i]);
		add_known(&sum->event_flops, block->flops[i]);
		add_known(&sum->event_bytes, block->bytes[i]);
	}
	for (size_t i = 0; i < block->nr_segments; i++)
		state->ops[block->segment_op[i]].exclusive_ps +=
			block->segment_end_ps[i] - block->segment_start_ps[i];
	return TS_OK;
}

static enum ts_status ops_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				struct ts_error *err)
{
	struct ops_state *into = arg_into, *from = arg_from;
	enum ts_status st = make_ops(into, ctx, err);

	if (st)
		return st;
	for (size_t i = 0; i < from->nr_ops; i++) {
		struct op_sum *sum = &into->ops[i];
		const struct op_sum *add = &from->ops[i];

		if (add->occurrences == 0)
			continue;
		begin_op(sum, add->device, add->first_start_ps, add->first_end_ps);
		sum->occurrences = ts_i64_add(sum->occurrences, add->occurrences);
		sum->total_ps = ts_i64_add(sum->total_ps, add->total_ps);
		sum->self_ps = ts_i64_add(sum->self_ps, add->self_ps);
		sum->exclusive_ps = ts_i64_add(sum->exclusive_ps, add->exclusive_ps);
		add_known(&sum->event_flops, add->event_flops);
		add_known(&sum->event_bytes, add->event_bytes);
	}
	return TS_OK;
}

static void ops_release(void *arg)
{
	struct ops_state *state = arg;

	free(state->ops);
}

static const struct ts_column op_columns[] = {
	{ "program_id", TS_MEASURED, NULL },
	{ "module", TS_MEASURED, "module" },
	{ "name", TS_MEASURED, "op" },
	{ "category", TS_COMPILED, "category" },
	{ "occurrences", TS_MEASURED, "count" },
	{ "total_time_ps", TS_MEASURED, "total" },
	{ "self_time_ps", TS_MEASURED, "self" },
	{ "flops", TS_COMPILED, NULL },
	{ "bytes_accessed", TS_COMPILED, NULL },
	{ "mxu_utilization_pct", TS_MODELLED, "MXU" },
	{ "hbm_bytes_per_s", TS_MODELLED, "HBM" },
	{ "bound_by", TS_MODELLED, "bound by" },
	{ "padding_waste_pct", TS_COMPILED, "padding" },
	{ "source", TS_MEASURED, "source" },
	{ "framework_op", TS_MEASURED, NULL },
	{ "is_remat", TS_COMPILED, NULL },
	{ "bucket", TS_MODELLED, NULL },
	{ "exclusive_ps", TS_MEASURED, NULL },
	{ "op_index", TS_DERIVED, NULL },
	{ "first_device", TS_MEASURED, NULL },
	{ "first_start_ps", TS_MEASURED, NULL },
	{ "first_end_ps", TS_MEASURED, NULL },
};

/* Work of one execution. */
struct work {
	double flops, bytes, hbm_bytes;
};

static struct work work_of(const struct ts_profile *profile, const struct ts_op *op,
			   const struct op_sum *sum)
{
	struct work work = { ts_op_flops(op), NAN, ts_op_hbm_bytes(op) };

	if (op->bytes_accessed != TS_UNKNOWN)
		work.bytes = (double)op->bytes_accessed;
	if (op->flops == 0 && ts_op_is_opaque(profile, op))
		work.flops = NAN; /* nobody knows what the kernel does: XProf's 0 is no count */
	if (!ts_bytes_is(op->category, "custom-call") || sum->occurrences == 0)
		return work;
	if (sum->event_flops != TS_UNKNOWN)
		work.flops = (double)sum->event_flops / (double)sum->occurrences;
	if (sum->event_bytes != TS_UNKNOWN)
		work.bytes = work.hbm_bytes = (double)sum->event_bytes / (double)sum->occurrences;
	return work;
}

/* An execution's work as the report has it: whole numbers, null when unknown. */
static struct ts_value whole(double value)
{
	return value >= 0 && value < 9.2e18 ? ts_int((int64_t)(value + 0.5)) : ts_null();
}

static struct ts_value padding_pct(const struct ts_profile *profile, const struct ts_op *op)
{
	struct ts_padding padding;

	if (op->instr == TS_NONE)
		return ts_null();
	padding = ts_hlo_padding(&profile->modules[op->module], op->instr);
	if (padding.allocated_bytes <= 0)
		return ts_null();
	return ts_share_pct(1 - (double)padding.logical_bytes / (double)padding.allocated_bytes);
}

static struct ts_bytes module_name(const struct ts_profile *profile, const struct ts_op *op)
{
	return op->module == TS_NONE ? (struct ts_bytes){ NULL, 0 }
				     : profile->modules[op->module].name;
}

static void put_op(const struct ts_context *ctx, uint32_t index, const struct op_sum *sum,
		   struct ts_value *row)
{
	const struct ts_op *op = &ctx->profile->ops[index];
	const struct ts_rates *rates = &ctx->rates[sum->device];
	struct work work = work_of(ctx->profile, op, sum);
	double seconds = (double)sum->total_ps * 1e-12, executions = (double)sum->occurrences;
	struct ts_roofline roofline =
		ts_roofline_of(rates, work.flops, work.hbm_bytes, ts_op_vmem_bytes(op));
	bool memory_bound = roofline.bound == TS_BOUND_HBM || roofline.bound == TS_BOUND_VMEM;

	row[0] = ts_id(op->program_id);
	row[1] = ts_text_or_null(module_name(ctx->profile, op));
	row[2] = ts_text(op->name);
	row[3] = ts_text_or_null(op->category);
	row[4] = ts_int(sum->occurrences);
	row[5] = ts_int(sum->total_ps);
	row[6] = ts_int(sum->self_ps);
	row[7] = whole(work.flops);
	row[8] = whole(work.bytes);
	row[9] = ts_share_pct(work.flops * executions / (seconds * rates->peak_flops_per_s));
	row[10] = ts_real(work.hbm_bytes * executions / seconds);
	row[11] = ts_text(ts_bytes_of(ts_bound_name(roofline.bound)));
	row[12] = padding_pct(ctx->profile, op);
	row[13] = ts_text_or_null(op->source);
	row[14] = ts_text_or_null(op->framework_op);
	row[15] = ts_bool(op->is_remat);
	row[16] = ts_text(ts_bytes_of(ts_bucket_name(ts_op_bucket(op, memory_bound))));
	row[17] = ts_int(sum->exclusive_ps);
	row[18] = ts_int(index);
	row[19] = ts_int(sum->device);
	row[20] = ts_int(sum->first_start_ps);
	row[21] = ts_int(sum->first_end_ps);
}

/* XProf's ops: of a program, and on a TPU with a symbol. A trace tells of no programs. */
static bool is_listed(const struct ts_context *ctx, const struct ts_op *op,
		      const struct op_sum *sum)
{
	if (sum->occurrences == 0 || op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP)
		return false;
	if (!op->has_program)
		return op->is_traced;
	if (ctx->profile->devices[sum->device].is_gpu)
		return op->instr != TS_NONE;
	return op->symbol_id != 0;
}

struct ranked {
	int64_t self_ps;
	struct ts_bytes name;
	uint32_t op;
};

static int by_self_time(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order;

	if (x->self_ps != y->self_ps)
		return x->self_ps > y->self_ps ? -1 : 1;
	order = ts_bytes_cmp(x->name, y->name);
	return order ? order : (x->op > y->op) - (x->op < y->op);
}

/* Instructions that are no work: names, literals, and views of what is there. */
static bool is_free(const struct ts_hlo_instr *instr)
{
	static const char *const opcodes[] = { "parameter",	    "constant", "tuple",
					       "get-tuple-element", "bitcast",	"after-all" };

	for (size_t i = 0; i < TS_NELEM(opcodes); i++)
		if (ts_bytes_is(instr->opcode, opcodes[i]))
			return true;
	return false;
}

/* An instruction of a module that nobody ran: what the module alone can tell. */
static bool put_instr(const struct ts_context *ctx, uint32_t module_index, uint32_t index,
		      struct ts_result *result, struct ts_table *table)
{
	const struct ts_hlo_module *module = &ctx->profile->modules[module_index];
	const struct ts_hlo_instr *instr = &module->instrs[index];
	struct ts_cost cost = ts_hlo_cost(module, index);
	struct ts_value *row = ts_table_row(result, table);
	struct ts_roofline roofline = { .bound = TS_BOUND_UNKNOWN };
	struct ts_op op;

	if (!row)
		return false;
	ts_op_init(&op);
	op.module = module_index;
	op.instr = index;
	op.flops = cost.flops;
	op.bytes_accessed = cost.hbm_bytes;
	if (ctx->chip)
		roofline = ts_roofline_of(ctx->chip, ts_op_flops(&op), ts_op_hbm_bytes(&op), NAN);
	row[1] = ts_text(module->name);
	row[2] = ts_text(instr->name);
	row[3] = ts_text(ts_hlo_category(instr));
	row[7] = ts_int_or_null(cost.flops);
	row[8] = ts_int_or_null(cost.bytes_accessed);
	row[11] = ts_text(ts_bytes_of(ts_bound_name(roofline.bound)));
	row[12] = padding_pct(ctx->profile, &op);
	if (instr->source_file.n)
		row[13] = ts_text(ts_result_text(result, "%.*s:%d", TS_ARG(instr->source_file),
						 instr->source_line));
	row[14] = ts_text_or_null(instr->op_name);
	row[15] = ts_bool(ts_op_looks_remat(instr->name, instr->name, instr->op_name));
	return true;
}

static enum ts_status put_instrs(const struct ts_context *ctx, uint32_t module_index,
				 struct ts_result *result, struct ts_table *table,
				 struct ts_error *err)
{
	const struct ts_hlo_module *module = &ctx->profile->modules[module_index];
	bool *inner = ts_hlo_inner_comps(module);
	bool good = inner != NULL;

	for (uint32_t i = 0; good && i < module->nr_instrs; i++)
		if (!inner[module->instrs[i].computation] && !is_free(&module->instrs[i]))
			good = put_instr(ctx, module_index, i, result, table);
	free(inner);
	return good ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status put_ops(const struct ops_state *sum, const struct ts_context *ctx,
			      struct ts_result *result, struct ts_error *err)
{
	struct ranked *ranked = calloc(sum->nr_ops + 1, sizeof(*ranked));
	struct ts_table *table = ts_result_table(result, "ops", "Ops by self time", op_columns,
						 TS_NELEM(op_columns));
	enum ts_status st = TS_OK;
	size_t nr = 0;

	if (!ranked || !table) {
		free(ranked);
		return ts_fail_nomem(err);
	}
	for (uint32_t i = 0; i < sum->nr_ops; i++)
		if (is_listed(ctx, &ctx->profile->ops[i], &sum->ops[i]))
			ranked[nr++] = (struct ranked){ sum->ops[i].self_ps,
							ctx->profile->ops[i].name, i };
	qsort(ranked, nr, sizeof(*ranked), by_self_time);
	for (size_t i = 0; i < nr; i++) {
		struct ts_value *row = ts_table_row(result, table);

		if (!row)
			break;
		put_op(ctx, ranked[i].op, &sum->ops[ranked[i].op], row);
	}
	free(ranked);
	for (uint32_t m = 0;
	     ctx->profile->nr_lines == 0 && st == TS_OK && m < ctx->profile->nr_modules; m++)
		st = put_instrs(ctx, m, result, table, err);
	return st;
}

static const struct ts_column module_columns[] = {
	{ "program_id", TS_MEASURED, NULL },
	{ "name", TS_MEASURED, "module" },
	{ "executions", TS_MEASURED, "runs" },
	{ "total_time_ps", TS_MEASURED, "total" },
	{ "flops", TS_COMPILED, "FLOPs" },
	{ "bytes_accessed", TS_COMPILED, NULL },
	{ "parameter_bytes", TS_COMPILED, "parameters" },
	{ "output_bytes", TS_COMPILED, "outputs" },
	{ "parameter_logical_bytes", TS_COMPILED, NULL },
	{ "output_logical_bytes", TS_COMPILED, NULL },
};

static void put_module(const struct ts_hlo_module *module, struct ts_value *row)
{
	struct ts_cost cost = ts_hlo_module_cost(module);
	struct ts_module_bytes bytes = ts_hlo_module_bytes(module);

	row[0] = module->program_id ? ts_id(module->program_id) : ts_null();
	row[1] = ts_text(module->name);
	row[4] = ts_int_or_null(cost.flops);
	row[5] = ts_int_or_null(cost.bytes_accessed);
	row[6] = ts_int_or_null(bytes.parameter_bytes);
	row[7] = ts_int_or_null(bytes.output_bytes);
	row[8] = ts_int_or_null(bytes.parameter_logical_bytes);
	row[9] = ts_int_or_null(bytes.output_logical_bytes);
}

/* Modules by their compiled form, with their executions; null where none was seen. */
static bool put_modules(const struct ops_state *sum, const struct ts_context *ctx,
			struct ts_result *result)
{
	struct ts_table *table = ts_result_table(result, "modules", "Modules", module_columns,
						 TS_NELEM(module_columns));
	const struct ts_profile *profile = ctx->profile;
	bool good = table != NULL;

	for (size_t m = 0; good && m < profile->nr_modules; m++) {
		struct ts_value *row = ts_table_row(result, table);

		good = row != NULL;
		if (good)
			put_module(&profile->modules[m], row);
	}
	for (size_t i = 0; good && i < sum->nr_ops; i++) {
		const struct ts_op *op = &profile->ops[i];
		struct ts_value *row;

		if (op->kind != TS_OP_MODULE || sum->ops[i].occurrences == 0)
			continue;
		row = op->module == TS_NONE ? ts_table_row(result, table)
					    : &table->cells[op->module * table->nr_columns];
		good = row != NULL;
		if (!good)
			break;
		if (op->module ==
		    TS_NONE) { /* it ran, but its compiled form is not in the profile */
			row[0] = ts_id(op->program_id);
			row[1] = ts_text(op->name);
		}
		row[2] = ts_int(sum->ops[i].occurrences);
		row[3] = ts_int(sum->ops[i].total_ps);
	}
	return good;
}

static enum ts_status ops_close(void *arg, const struct ts_context *ctx, void *facts,
				struct ts_result *result, struct ts_error *err)
{
	struct ops_state *sum = arg;
	enum ts_status st = make_ops(sum, ctx, err);

	if (st == TS_OK)
		st = put_ops(sum, ctx, result, err);
	if (st == TS_OK && !put_modules(sum, ctx, result))
		st = ts_fail_nomem(err);
	return st;
}

const struct ts_analysis ts_analysis_ops = {
	.name = "ops",
	.title = "Ops and modules",
	.top_level = true,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_SEGMENTS | TS_COL_COSTS | TS_COL_DEVICE_CLOCK,
	.state_size = sizeof(struct ops_state),
	.wants = ops_wants,
	.open = ops_open,
	.block = ops_block,
	.merge = ops_merge,
	.close = ops_close,
	.release = ops_release,
};
