/* SPDX-License-Identifier: MIT */
/*
 * Rematerialization: what is computed a second time to save memory, what that costs, and how much
 * memory it saves: by op and by checkpointed block, so that the cheapest to keep can be named.
 *
 * Costs are those of the op facts. What is saved is modelled from the compiled module: the
 * arrays of recomputed ops that the backward pass uses would else have to live from the forward
 * pass until then, one for each trip of the loop they stand in.
 *
 * Of a trace of PyTorch they are the kernels that were launched while torch.utils.checkpoint ran a forward pass once more, which the
 * frames of Python say (with_stack=True); what that saves is unknown.
 */
#include "analysis/traffic/remat.h"

#include "analysis/facts/ops.h"
#include "analysis/facts/remat.h"
#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "analysis/kit/others.h"
#include "model/kernel_name.h"
#include "model/op_work.h"
#include "model/trace_class.h"
#include "base/order.h"
#include "result/schema/remat.def"

#define MAX_ROWS 1000

struct remat {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_remat_op *ops;
	size_t nr, cap;
};

static struct ts_remat_op *remat_add(struct remat *all)
{
	if (!ts_grow(&all->ops, &all->cap, all->nr + 1, sizeof(*all->ops)))
		return NULL;
	all->ops[all->nr] = (struct ts_remat_op){ .op = TS_NONE,
						  .module = TS_NONE,
						  .instr = TS_NONE,
						  .occurrences = -1,
						  .time_ps = -1,
						  .runs = -1,
						  .kept_bytes = -1,
						  .saved_bytes = -1,
						  .ms_per_kept_mb = NAN };
	return &all->ops[all->nr++];
}

static bool is_checkpoint(struct ts_bytes scope)
{
	return ts_bytes_has(scope, "rematted_computation");
}

static enum ts_status remat_add_op(struct remat *all, const struct ts_op_fact *fact,
				   struct ts_error *err)
{
	const struct ts_ops_facts *ops = ts_ops_facts(all->ctx);
	struct ts_remat_op *to = remat_add(all);

	if (!to)
		return ts_fail_nomem(err);
	TS_ASSERT(fact->module_index == TS_NONE || fact->module_index < ops->nr_modules);
	to->op = fact->op;
	to->module = fact->module_index;
	to->instr = fact->instr;
	to->name = fact->name;
	to->scope = fact->framework_op;
	to->source = fact->source;
	to->occurrences = fact->occurrences;
	to->time_ps = fact->exclusive_ps;
	to->flops = fact->flops;
	to->bytes = fact->bytes;
	if (fact->module_index != TS_NONE)
		to->runs = ops->modules[fact->module_index].executions;
	to->by_xla = !is_checkpoint(fact->framework_op);
	return TS_OK;
}

/* A kernel runs in the forward pass, too: only what was asked for again counts. */
static enum ts_status remat_add_kernel(struct remat *all, const struct ts_op_fact *fact,
				       struct ts_error *err)
{
	enum ts_kernel_category category = ts_kernel_class_of(fact->name).category;
	enum ts_status st = remat_add_op(all, fact, err);
	struct ts_remat_op *to = st ? NULL : &all->ops[all->nr - 1];

	if (st)
		return st;
	to->occurrences = fact->nr_again;
	to->time_ps = fact->again_ps;
	to->scope = ts_bytes_of(ts_kernel_category_names[category]);
	to->by_xla = false;
	to->is_kernel = true;
	return TS_OK;
}

static enum ts_status remat_add_instr(struct remat *all, uint32_t m, uint32_t i,
				      struct ts_error *err)
{
	const struct ts_hlo_instr *instr = &all->ctx->profile->modules[m].instrs[i];
	struct ts_cost cost = ts_hlo_cost(&all->ctx->profile->modules[m], i);
	struct ts_remat_op *to = remat_add(all);

	if (!to)
		return ts_fail_nomem(err);
	to->module = m;
	to->instr = i;
	to->name = instr->name;
	to->scope = instr->op_name;
	to->source = ts_instr_source(all->result, instr);
	to->flops = cost.flops < 0 ? NAN : (double)cost.flops;
	to->bytes = cost.bytes_accessed < 0 ? NAN : (double)cost.bytes_accessed;
	to->by_xla = !is_checkpoint(instr->op_name);
	return TS_OK;
}

/* Without a run every op of a module counts. */
static enum ts_status remat_add_module(struct remat *all, uint32_t m, struct ts_error *err)
{
	const struct ts_hlo_module *module = &all->ctx->profile->modules[m];
	bool *inner = ts_hlo_inner_comps(module);
	enum ts_status st = TS_OK;

	if (!inner)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < module->nr_instrs && st == TS_OK; i++)
		if (!inner[module->instrs[i].computation] && ts_remat_is(&module->instrs[i]) &&
		    !ts_remat_is_name(&module->instrs[i]))
			st = remat_add_instr(all, m, i, err);
	free(inner);
	return st;
}

static enum ts_status find_ops(struct remat *all, struct ts_error *err)
{
	const struct ts_ops_facts *ops = ts_ops_facts(all->ctx);
	const struct ts_profile *profile = all->ctx->profile;
	bool alone = profile->nr_lines == 0;
	enum ts_status st = TS_OK;

	for (size_t i = 0; !alone && i < ops->nr && st == TS_OK; i++)
		if (ops->items[i].op != TS_NONE && ops->items[i].is_remat)
			st = remat_add_op(all, &ops->items[i], err);
		else if (ops->items[i].nr_again > 0)
			st = remat_add_kernel(all, &ops->items[i], err);
	for (uint32_t m = 0; alone && m < profile->nr_modules && st == TS_OK; m++)
		st = remat_add_module(all, m, err);
	return st;
}

/* Trips of the loop it stands in: how often it ran for each run of the module. */
static int64_t trips_of(const struct ts_remat_op *op)
{
	if (op->runs <= 0 || op->occurrences <= op->runs)
		return 1;
	return (op->occurrences + op->runs / 2) / op->runs;
}

/* Milliseconds that a megabyte buys, in a run of the module on one core. */
static double ms_per_mb(int64_t time_ps, int64_t runs, int64_t bytes)
{
	if (time_ps < 0 || runs <= 0 || bytes <= 0)
		return NAN;
	return (double)time_ps * 1e-9 / (double)runs / ((double)bytes * 1e-6);
}

static void ask_module(struct remat_module *remat, struct ts_remat_op *op)
{
	const struct ts_hlo_instr *instr = &remat->module->instrs[op->instr];
	uint32_t original = ts_remat_original(remat, op->instr);

	if (original != TS_NONE)
		op->original = remat->module->instrs[original].name;
	op->kept_bytes = ts_i64_mul(ts_remat_bytes(instr), trips_of(op));
	op->saved_bytes = ts_remat_is_used(remat, op->instr) ? op->kept_bytes : 0;
	op->ms_per_kept_mb = ms_per_mb(op->time_ps, op->runs, op->kept_bytes);
}

TS_ORDER(remat_by_module, struct ts_remat_op, TS_UP(module) TS_UP(instr))

static enum ts_status ask_modules(struct remat *all, struct ts_error *err)
{
	struct remat_module remat = { .module = NULL };
	uint32_t open = TS_NONE;
	enum ts_status st = TS_OK;

	TS_SORT(all->ops, all->nr, remat_by_module);
	for (size_t i = 0; i < all->nr && st == TS_OK; i++) {
		if (all->ops[i].instr == TS_NONE)
			continue;
		if (all->ops[i].module != open) {
			ts_remat_module_release(&remat);
			open = all->ops[i].module;
			st = ts_remat_module_init(&remat, &all->ctx->profile->modules[open], err);
		}
		if (st == TS_OK)
			ask_module(&remat, &all->ops[i]);
	}
	ts_remat_module_release(&remat);
	return st;
}

/* Of a kernel what it is for. */
static struct ts_bytes remat_region_of(const struct ts_remat_op *op)
{
	return op->is_kernel ? op->scope : ts_remat_region(op->scope);
}

static int remat_costliest_first(const void *a, const void *b)
{
	const struct ts_remat_op *x = a, *y = b;
	double cx = x->time_ps < 0 ? x->flops : (double)x->time_ps;
	double cy = y->time_ps < 0 ? y->flops : (double)y->time_ps;

	if (cx != cy && !isnan(cx) && !isnan(cy))
		return cx > cy ? -1 : 1;
	return remat_by_module(a, b);
}

#define OP_CELLS(X) \
	X(module, ts_text_or_null(ts_module_name(profile, op->module))) \
	X(name, ts_text(op->name)) \
	X(kind, ts_string_cell(op->by_xla ? "xla" : "checkpoint")) \
	X(region, ts_text_or_null(remat_region_of(op))) \
	X(original, ts_text_or_null(op->original)) \
	X(occurrences, ts_int_or_null(op->occurrences)) \
	X(time_ps, ts_int_or_null(op->time_ps)) \
	X(flops, ts_int_or_null(ts_whole(op->flops))) \
	X(bytes_accessed, ts_int_or_null(ts_whole(op->bytes))) \
	X(kept_bytes, ts_int_or_null(op->kept_bytes)) \
	X(saved_bytes, ts_int_or_null(op->saved_bytes)) \
	X(ms_per_kept_mb, ts_real(op->ms_per_kept_mb)) \
	X(source, ts_text_or_null(op->source)) \
	X(op_index, op->op == TS_NONE ? ts_null() : ts_int(op->op))

static void remat_put_op(const struct remat *all, struct ts_table *table,
			 const struct ts_remat_op *op)
{
	const struct ts_profile *profile = all->ctx->profile;

	TS_CELLS(all->result, table, remat_ops, OP_CELLS);
}

#define OP_SUMS(X) X(occurrences) X(time_ps)

static void remat_put_ops(const struct remat *all)
{
	struct ts_table *table = TS_TABLE(all->result, remat_ops);
	size_t listed = ts_listed_ops(all->ctx, all->nr, MAX_ROWS);
	struct ts_remat_op others = { .op = TS_NONE, .module = TS_NONE, .instr = TS_NONE };

	for (size_t i = 0; i < listed; i++)
		remat_put_op(all, table, &all->ops[i]);
	for (size_t i = listed; i < all->nr; i++) {
		others.occurrences =
			ts_i64_add(others.occurrences, TS_MAX(all->ops[i].occurrences, 0));
		others.time_ps = ts_i64_add(others.time_ps, TS_MAX(all->ops[i].time_ps, 0));
	}
	if (listed == all->nr)
		return;
	remat_put_op(all, table, &others);
	TS_END_OTHERS(all->result, table, remat_ops, all->nr - listed, name, OP_SUMS);
}

struct region {
	struct ts_bytes scope, source; /* of its costliest op */
	uint32_t module;
	int64_t nr_ops, time_ps, runs, saved_bytes;
	double flops, bytes; /* of all executions */
};

static double of_all(double one, int64_t occurrences)
{
	return isnan(one) ? 0 : one * (double)(occurrences < 0 ? 1 : occurrences);
}

static void remat_add_sums(struct region *sum, const struct ts_remat_op *op)
{
	sum->nr_ops++;
	if (op->time_ps >= 0)
		sum->time_ps = ts_i64_add(sum->time_ps, op->time_ps);
	sum->saved_bytes = ts_i64_add(sum->saved_bytes, TS_MAX(op->saved_bytes, 0));
	sum->flops += of_all(op->flops, op->occurrences);
	sum->bytes += of_all(op->bytes, op->occurrences);
}

static void add_to_region(struct region *regions, size_t *nr, const struct ts_remat_op *op)
{
	struct ts_bytes scope = remat_region_of(op);
	struct region *region = regions;

	while (region < regions + *nr &&
	       !(region->module == op->module && ts_bytes_eq(region->scope, scope)))
		region++;
	if (region == regions + *nr) {
		*region = (struct region){ .scope = scope,
					   .source = op->source,
					   .module = op->module,
					   .runs = op->runs,
					   .time_ps = op->time_ps < 0 ? -1 : 0 };
		(*nr)++;
	}
	remat_add_sums(region, op);
}

TS_ORDER(remat_longest_first, struct region, TS_DOWN(time_ps) TS_UP(module) TS_UP(scope))

#define REGION_CELLS(X) \
	X(module, ts_text_or_null(ts_module_name(profile, region->module))) \
	X(region, ts_text_or_null(region->scope)) \
	X(ops, ts_int(region->nr_ops)) \
	X(executions, ts_int_or_null(region->runs)) \
	X(time_ps, ts_int_or_null(region->time_ps)) \
	X(flops, ts_real(region->flops)) \
	X(bytes_accessed, ts_real(region->bytes)) \
	X(saved_bytes, ts_int(region->saved_bytes)) \
	X(ms_per_saved_mb, ts_real(ms_per_mb(region->time_ps, region->runs, region->saved_bytes))) \
	X(source, ts_text_or_null(region->source))

static void remat_put_regions(struct remat *all, const struct region *regions, size_t nr)
{
	const struct ts_profile *profile = all->ctx->profile;
	struct ts_table *table = TS_TABLE(all->result, remat_regions);

	for (size_t i = 0; i < TS_MIN(nr, MAX_ROWS); i++) {
		const struct region *region = &regions[i];

		TS_CELLS(all->result, table, remat_regions, REGION_CELLS);
	}
}

/* Of all recomputed ops. */
static struct region remat_sum_up(const struct remat *all)
{
	struct region sum = { .time_ps = all->ctx->profile->nr_lines > 0 ? 0 : -1 };

	for (size_t i = 0; i < all->nr; i++)
		remat_add_sums(&sum, &all->ops[i]);
	return sum;
}

static enum ts_status put_all_regions(struct remat *all, struct ts_error *err)
{
	struct region *regions = calloc(all->nr + 1, sizeof(*regions));
	size_t nr = 0;

	if (!regions)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < all->nr; i++)
		add_to_region(regions, &nr, &all->ops[i]);
	TS_SORT(regions, nr, remat_longest_first);
	remat_put_regions(all, regions, nr);
	free(regions);
	return TS_OK;
}

static enum ts_status remat_publish(const struct remat *all, const struct region *sum,
				    struct ts_remat_facts *facts, struct ts_error *err)
{
	struct ts_remat_op *ops =
		ts_arena_dup(&all->result->owner->arena, all->ops, all->nr, sizeof(*ops));

	if (!ops)
		return ts_fail_nomem(err);
	*facts = (struct ts_remat_facts){ ops, all->nr, sum->time_ps, sum->saved_bytes };
	return TS_OK;
}

static bool remat_has_frames(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (profile->ops[i].category_id == TS_KINETO_PYTHON_FUNCTION)
			return true;
	return false;
}

static enum ts_status remat_report(struct remat *all, struct ts_remat_facts *facts,
				   struct ts_error *err)
{
	bool is_torch = ts_profile_is_torch(all->ctx->profile);
	struct region sum;
	enum ts_status st;

	if (is_torch && !remat_has_frames(all->ctx->profile)) {
		ts_result_note(all->result,
			       "the trace has no frames of Python, so what was computed again is "
			       "unknown (profile with with_stack=True)");
		facts->time_ps = facts->saved_bytes = -1;
		return TS_OK;
	}

	TS_SORT(all->ops, all->nr, remat_costliest_first);
	sum = remat_sum_up(all);
	TS_SET(all->result, remat, op_count, ts_int((int64_t)all->nr));
	TS_SET(all->result, remat, time_ps, ts_int_or_null(sum.time_ps));
	TS_SET(all->result, remat, flops, ts_real(sum.flops));
	TS_SET(all->result, remat, bytes_accessed, ts_real(sum.bytes));
	TS_SET(all->result, remat, saved_bytes, is_torch ? ts_null() : ts_int(sum.saved_bytes));
	st = put_all_regions(all, err);
	if (st)
		return st;
	remat_put_ops(all);
	return remat_publish(all, &sum, facts, err);
}

static enum ts_status remat_close(void *arg, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct remat all = { .ctx = ctx, .result = result };
	enum ts_status st = find_ops(&all, err);

	if (st)
		goto done;
	st = ask_modules(&all, err);
	if (st)
		goto done;
	st = remat_report(&all, facts, err);
	if (st)
		goto done;
	if (ctx->profile->nr_lines == 0 && all.nr > 0)
		ts_result_note(result, "no run: each op counts once, those of a loop too");
done:
	free(all.ops);
	return st;
}

const struct ts_analysis ts_analysis_remat = {
	.schema = &ts_schema_remat,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_remat_facts),
	.close = remat_close,
};
