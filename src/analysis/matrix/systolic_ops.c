/* SPDX-License-Identifier: MIT */
/*
 * The ops that use, or may use, the matrix unit: how much of it, and what the rest of their time
 * went to. Without events: the products of the modules, with what shapes alone tell.
 */
#include "analysis/matrix/systolic.h"

#include "base/order.h"
#include "base/units.h"
#include <inttypes.h>

#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "analysis/kit/others.h"
#include "model/op_kind.h"
#include "model/traffic.h"
#include "result/schema/systolic.def"

#define MAX_ROWS    1000 /* as XProf's tables */
#define ASSUMED_DIM 128	 /* where no device is named */
#define FULL	    0.999

/* A row of the table of ops in the making. Shares are of the op's time; NaN: unknown. */
struct row {
	const struct ts_op *op;		    /* NULL: of a module that did not run */
	const struct ts_hlo_module *module; /* NULL: the profile has not got it */
	uint32_t instr;			    /* with .module */
	const struct ts_rates *rates;	    /* NULL: no device is known */
	struct ts_op_work work;
	bool is_opaque;
	int64_t occurrences, time_ps; /* 0 and -1: it did not run */
	double flops;		      /* one execution's, in terms of the bf16 peak */
	double hbm_bytes;	      /* one execution's */
	double utilization, shape, memory, other;
	double impossible; /* a utilization that cannot be true; NaN: there is none */
	double lost_ps;
};

struct list {
	struct row *items;
	size_t nr, cap;
};

static const struct ts_hlo_instr *systolic_ops_instr_of(const struct row *row)
{
	return row->module ? &row->module->instrs[row->instr] : NULL;
}

/* The time of one execution divided: useful work, empty parts of the array, waiting for bytes. */
static void split_loss(struct row *row)
{
	double peak = row->rates ? row->rates->peak_flops_per_s : NAN;
	double run_s = (double)row->time_ps * 1e-12 / (double)row->occurrences;
	double emptiness = row->work.filled_flops / row->work.flops - 1;
	double passes = row->work.flops > 0 ? row->work.passes_flops / row->work.flops : 1;
	double used, array_s, hbm_s, left;

	row->utilization = row->flops / (run_s * peak);
	if (ts_is_impossible(row->utilization, 1)) {
		row->impossible = row->utilization;
		row->utilization = NAN;
	}
	if (!isfinite(row->utilization))
		return;
	used = fmin(row->utilization, 1);
	left = 1 - used;
	row->lost_ps = left * (double)row->time_ps;
	if (emptiness >= 0) /* else: no products, or no array, that are known */
		row->shape = fmin(row->utilization * emptiness, left);
	left -= ts_or_zero(row->shape);
	array_s = row->flops / peak * (passes >= 1 ? passes : 1);
	hbm_s = row->hbm_bytes / row->rates->hbm_bytes_per_s;
	row->memory = fmin(fmax((hbm_s - array_s) / run_s, 0), left);
	if (isnan(hbm_s))
		row->memory = NAN;
	row->other = left - ts_or_zero(row->memory);
}

static enum ts_status systolic_ops_add_row(struct list *list, const struct row *row,
					   struct ts_error *err)
{
	if (!ts_grow(&list->items, &list->cap, list->nr + 1, sizeof(*list->items)))
		return ts_fail_nomem(err);
	list->items[list->nr++] = *row;
	return TS_OK;
}

static struct row empty_row(void)
{
	return (struct row){
		.time_ps = -1,
		.flops = NAN,
		.hbm_bytes = NAN,
		.utilization = NAN,
		.impossible = NAN,
		.shape = NAN,
		.memory = NAN,
		.other = NAN,
		.lost_ps = NAN,
		.work = { .fill = { NAN, NAN, NAN, NAN } },
	};
}

static struct row systolic_ops_measured_row(const struct ts_context *ctx, uint32_t op)
{
	const struct ts_tally_row *sum = &ts_ops_facts(ctx)->tally[op];
	struct row row = empty_row();

	row.op = &ctx->profile->ops[op];
	row.rates = ts_systolic_rates(ctx, sum->device);
	row.is_opaque = ts_op_is_opaque(ctx->profile, row.op) && !(sum->own_flops > 0);
	row.occurrences = sum->occurrences;
	row.time_ps = sum->total_ps;
	if (row.op->module != TS_NONE)
		row.module = &ctx->profile->modules[row.op->module];
	if (row.module && row.op->instr == TS_NONE)
		row.module = NULL;
	if (row.module) {
		row.instr = row.op->instr;
		row.work = ts_op_work_of(row.module, row.instr, ts_systolic_dim(row.rates));
	}
	row.flops = ts_systolic_total(ctx, op) / (double)row.occurrences;
	row.hbm_bytes = ts_op_hbm_bytes(ctx->profile, row.op);
	if (row.op->is_traced && ts_op_fact_of(ts_ops_facts(ctx), op))
		row.hbm_bytes = ts_op_fact_of(ts_ops_facts(ctx), op)->hbm_bytes;
	return row;
}

static enum ts_status systolic_ops_list_measured(const struct ts_context *ctx, struct list *list,
						 struct ts_error *err)
{
	enum ts_status st;

	for (uint32_t i = 0; i < ctx->profile->nr_ops; i++) {
		const struct ts_op *op = &ctx->profile->ops[i];
		struct row row;

		if (!(ts_ops_facts(ctx)->tally[i].occurrences > 0 && op->async == TS_ASYNC_NONE &&
		      (op->kind == TS_OP_MATRIX || op->kind == TS_OP_COMPUTE)))
			continue;
		if (op->kind == TS_OP_COMPUTE && op->category_id != TS_OPCODE_CUSTOM_CALL)
			continue; /* classified by what stands inside: no product */
		row = systolic_ops_measured_row(ctx, i);
		if (op->kind == TS_OP_COMPUTE && !row.is_opaque && !(row.flops > 0))
			continue; /* a custom call that only renames */
		split_loss(&row);
		st = systolic_ops_add_row(list, &row, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static struct row static_row(const struct ts_context *ctx, const struct ts_hlo_module *module,
			     uint32_t instr)
{
	struct row row = empty_row();
	int dim;

	row.rates = ts_systolic_rates(ctx, 0);
	dim = row.rates ? ts_systolic_dim(row.rates) : ASSUMED_DIM;
	row.module = module;
	row.instr = instr;
	row.is_opaque = ts_instr_is_opaque(&module->instrs[instr]);
	row.work = ts_op_work_of(module, instr, dim);
	return row;
}

/* Whose inside is made of ops with rows of their own. */
static bool systolic_ops_holds_ops(const struct ts_hlo_instr *instr)
{
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_WHILE, TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL,
			    TS_OPCODE_ASYNC_DONE, TS_OPCODE_ASYNC_UPDATE);
}

static enum ts_status systolic_ops_list_module(const struct ts_context *ctx,
					       const struct ts_hlo_module *module,
					       struct list *list, struct ts_error *err)
{
	bool *inner = ts_hlo_inner_comps(module);
	enum ts_status st = TS_OK;

	if (!inner)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < module->nr_instrs && st == TS_OK; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];
		struct row row;

		if (inner[instr->computation] || systolic_ops_holds_ops(instr))
			continue;
		row = static_row(ctx, module, i);
		if (row.work.nr_products == 0 && !row.is_opaque)
			continue;
		if (!row.is_opaque) {
			struct ts_cost cost = ts_hlo_cost(module, i);

			row.flops = cost.flops < 0 ? NAN
						   : ts_systolic_flops((double)cost.flops,
								       &row.work, row.rates);
			row.hbm_bytes = cost.hbm_bytes < 0 ? NAN : (double)cost.hbm_bytes;
		}
		st = systolic_ops_add_row(list, &row, err);
	}
	free(inner);
	return st;
}

static enum ts_status systolic_ops_list_modules(const struct ts_context *ctx, struct list *list,
						struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < ctx->profile->nr_modules; i++) {
		st = systolic_ops_list_module(ctx, &ctx->profile->modules[i], list, err);
		if (st)
			return st;
	}
	return TS_OK;
}

/* A number for sorting that unknowns stand behind. */
static double systolic_ops_known(double value)
{
	return isnan(value) ? -1 : value;
}

/* Most time lost first; then the longest; then the most work. Equal rows: in their order. */
TS_ORDER(systolic_ops_by_loss, struct row,
	 TS_DOWN_OF(systolic_ops_known, lost_ps) TS_DOWN(time_ps)
		 TS_DOWN_OF(systolic_ops_known, flops) TS_UP(op) TS_UP(module) TS_UP(instr))

static void sum_row(struct systolic_sum *sum, const struct row *row)
{
	double time = (double)TS_MAX(row->time_ps, 0);

	if (row->is_opaque) {
		sum->nr_opaque++;
		sum->opaque_ps = ts_i64_add(sum->opaque_ps, TS_MAX(row->time_ps, 0));
		return;
	}
	if (row->work.highest_precision) {
		sum->nr_highest++;
		sum->highest_ps = ts_i64_add(sum->highest_ps, TS_MAX(row->time_ps, 0));
	}
	if (isfinite(row->work.filled_flops)) {
		double nr = row->occurrences > 0 ? (double)row->occurrences : 1;

		sum->flops += row->work.flops * nr;
		sum->filled_flops += row->work.filled_flops * nr;
	}
	sum->has_matrix |= row->flops > 0;
	if (!isnan(row->impossible))
		sum->impossible_flops += row->flops * (double)row->occurrences;
	if (!isfinite(row->utilization)) {
		sum->nr_unknown++;
		return;
	}
	sum->matrix_ps = ts_i64_add(sum->matrix_ps, row->time_ps);
	sum->has_shape |= !isnan(row->shape);
	sum->has_memory |= !isnan(row->memory);
	sum->used_ps += fmin(row->utilization, 1) * time;
	sum->shape_ps += systolic_ops_known(row->shape) > 0 ? row->shape * time : 0;
	sum->memory_ps += systolic_ops_known(row->memory) > 0 ? row->memory * time : 0;
	sum->other_ps += row->other * time;
}

/* "N=64 fills 50 % of 128": the dimension that leaves most of the array empty. */
static struct ts_bytes systolic_ops_limit_of(struct ts_result *result,
					     const struct ts_op_work *work)
{
	const struct {
		char name;
		int64_t size;
		double share;
	} dims[] = {
		{ 'M', work->main.m, work->fill.m_share },
		{ 'N', work->main.n, work->fill.n_share },
		{ 'K', work->main.k, work->fill.k_share },
	};
	size_t worst = 0;

	for (size_t i = 1; i < TS_NELEM(dims); i++)
		if (dims[i].share < dims[worst].share)
			worst = i;
	if (!(dims[worst].share < FULL) || !(dims[worst].share > 0))
		return (struct ts_bytes){ NULL, 0 };
	return ts_result_text(result, "%c=%" PRId64 " fills %.3g %% of %.0f", dims[worst].name,
			      dims[worst].size, dims[worst].share * 100,
			      round((double)dims[worst].size / dims[worst].share));
}

static struct ts_matrix_op systolic_ops_fact_of(const struct ts_profile *profile,
						struct ts_result *result, const struct row *row)
{
	bool has_product = row->work.nr_products > 0;

	return (struct ts_matrix_op){
		.op = row->op ? (uint32_t)(row->op - profile->ops) : TS_NONE,
		.module_index = row->module ? (uint32_t)(row->module - profile->modules) : TS_NONE,
		.instr = row->module ? row->instr : TS_NONE,
		.name = row->op ? row->op->name : systolic_ops_instr_of(row)->name,
		.module = row->module ? row->module->name : (struct ts_bytes){ NULL, 0 },
		.limit = has_product ? systolic_ops_limit_of(result, &row->work)
				     : (struct ts_bytes){ NULL, 0 },
		.m = has_product ? row->work.main.m : -1,
		.n = has_product ? row->work.main.n : -1,
		.k = has_product ? row->work.main.k : -1,
		.time_ps = row->time_ps,
		.utilization = row->utilization,
		.fill = has_product ? row->work.fill.share : NAN,
		.shape_loss = row->shape,
		.memory_loss = row->memory,
		.other_loss = row->other,
	};
}

static struct ts_value dtype_cell(struct ts_result *result, const struct ts_op_work *work)
{
	const struct ts_matmul *product = &work->main;

	if (work->nr_products == 0)
		return ts_null();
	if (product->lhs == product->rhs)
		return ts_text(ts_bytes_of(ts_dtype_name(product->lhs)));
	return ts_text(ts_result_text(result, "%s x %s", ts_dtype_name(product->lhs),
				      ts_dtype_name(product->rhs)));
}

static struct ts_value systolic_ops_source_cell(struct ts_result *result, const struct row *row)
{
	if (row->op && row->op->source.n > 0)
		return ts_text(row->op->source);
	return ts_text_or_null(ts_instr_source(result, systolic_ops_instr_of(row)));
}

/* What the compiler thinks an execution takes; -1: it does not say. */
static int64_t cycles_of(const struct row *row)
{
	const struct ts_hlo_instr *instr = systolic_ops_instr_of(row);

	return instr && instr->backend.estimated_cycles > 0 ? instr->backend.estimated_cycles : -1;
}

static double estimated_ps(const struct row *row)
{
	int64_t cycles = cycles_of(row);

	return cycles < 0 || !row->rates ? NAN : (double)cycles / row->rates->clock_hz * 1e12;
}

static struct ts_value bound_cell(const struct row *row)
{
	double onchip = row->op ? ts_op_vmem_bytes(row->op) : NAN;
	enum ts_bound bound = TS_BOUND_UNKNOWN;

	if (row->rates && isfinite(row->flops))
		bound = ts_roofline_of(row->rates, row->flops, row->hbm_bytes, onchip).bound;
	return bound == TS_BOUND_UNKNOWN ? ts_null() : ts_text(ts_bytes_of(ts_bound_name(bound)));
}

#define IF_PRODUCT(value) (row->work.nr_products > 0 ? (value) : ts_null())
#define IF_RUN(value) (row->time_ps < 0 ? ts_null() : (value))

/* The op table has the same figure, with the numbers that contradict each other. */
static struct ts_value utilization_cell(const struct ts_context *ctx, struct ts_result *result,
					const struct row *row, const struct ts_matrix_op *fact)
{
	const struct ts_op_fact *op = ts_op_fact_of(ts_ops_facts(ctx), fact->op);

	if (isnan(row->impossible))
		return ts_held_share_pct(result, row->utilization, systolic_above);
	return ts_held_share_pct(result, row->impossible,
				 op && ts_op_flops_cause(op).n > 0 ? ts_op_flops_cause(op)
								   : systolic_above);
}

#define OP_CELLS(X) \
	X(op, ts_text(fact->name)) \
	X(module, ts_text_or_null(fact->module)) \
	X(m, ts_int_or_null(fact->m)) \
	X(n, ts_int_or_null(fact->n)) \
	X(k, ts_int_or_null(fact->k)) \
	X(batch, IF_PRODUCT(ts_int_or_null(row->work.main.batch))) \
	X(dtype, dtype_cell(result, &row->work)) \
	X(flops, ts_whole_or_null(row->flops)) \
	X(occurrences, IF_RUN(ts_int(row->occurrences))) \
	X(time_ps, ts_int_or_null(fact->time_ps)) \
	X(mxu_utilization_pct, utilization_cell(ctx, result, row, fact)) \
	X(fill_pct, ts_share_pct(fact->fill)) \
	X(limiting_dim, ts_text_or_null(fact->limit)) \
	X(loss_shape_pct, ts_share_pct(fact->shape_loss)) \
	X(loss_memory_pct, ts_share_pct(fact->memory_loss)) \
	X(loss_other_pct, ts_share_pct(fact->other_loss)) \
	X(estimated_cycles, ts_int_or_null(cycles_of(row))) \
	X(estimated_ps, ts_whole_or_null(estimated_ps(row))) \
	X(mean_ps, IF_RUN(ts_int(row->time_ps / row->occurrences))) \
	X(bound_by, bound_cell(row)) \
	X(source, systolic_ops_source_cell(result, row)) \
	X(lost_ps, ts_whole_or_null(row->lost_ps))

static void systolic_ops_put_op(struct ts_result *result, const struct ts_context *ctx,
				struct ts_table *table, const struct row *row,
				const struct ts_matrix_op *fact)
{
	TS_CELLS(result, table, systolic_ops, OP_CELLS);
}

#define OP_SUMS(X) X(occurrences) X(time_ps) X(lost_ps)

static void systolic_ops_put_others(struct ts_result *result, const struct ts_context *ctx,
				    struct ts_table *table, const struct list *list, size_t listed)
{
	struct row others = { .flops = NAN, .utilization = NAN, .impossible = NAN };
	struct ts_matrix_op fact = { .op = TS_NONE };

	for (size_t i = listed; i < list->nr; i++) {
		const struct row *row = &list->items[i];

		others.occurrences = ts_i64_add(others.occurrences, row->occurrences);
		others.time_ps = ts_i64_add(others.time_ps, TS_MAX(row->time_ps, 0));
		others.lost_ps += isfinite(row->lost_ps) ? row->lost_ps : 0;
	}
	if (others.occurrences == 0)
		others.time_ps = -1; /* nothing ran */
	fact.time_ps = others.time_ps;
	systolic_ops_put_op(result, ctx, table, &others, &fact);
	TS_END_OTHERS(result, table, systolic_ops, list->nr - listed, op, OP_SUMS);
}

static enum ts_status systolic_ops_put_ops(struct ts_result *result, const struct ts_context *ctx,
					   const struct list *list, bool measured,
					   struct ts_systolic_facts *facts, struct ts_error *err)
{
	const char *title = measured ? "Matrix ops by time lost" : "Matrix ops";
	struct ts_table *table = TS_TITLED_TABLE(result, systolic_ops, title);
	size_t listed = ts_listed_ops(ctx, list->nr, MAX_ROWS);
	size_t nr = TS_MAX(TS_MIN(list->nr, MAX_ROWS), listed);
	struct ts_matrix_op *items = ts_arena_array(&result->owner->arena, nr + 1, sizeof(*items));

	if (!items)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		items[i] = systolic_ops_fact_of(ctx->profile, result, &list->items[i]);
		if (i < listed)
			systolic_ops_put_op(result, ctx, table, &list->items[i], &items[i]);
	}
	if (listed < list->nr)
		systolic_ops_put_others(result, ctx, table, list, listed);
	facts->items = items;
	facts->nr = TS_MIN(nr, MAX_ROWS);
	return TS_OK;
}

enum ts_status ts_systolic_ops(const struct systolic_state *state, const struct ts_context *ctx,
			       struct ts_result *result, struct ts_systolic_facts *facts,
			       struct systolic_sum *sum, struct ts_error *err)
{
	bool measured = state->hull.nr_events > 0;
	struct list list = { NULL, 0, 0 };
	enum ts_status st;

	TS_ASSERT(facts && sum);
	st = measured ? systolic_ops_list_measured(ctx, &list, err)
		      : systolic_ops_list_modules(ctx, &list, err);
	if (st)
		goto done;
	for (size_t i = 0; i < list.nr; i++)
		sum_row(sum, &list.items[i]);
	TS_SORT(list.items, list.nr, systolic_ops_by_loss);
	st = systolic_ops_put_ops(result, ctx, &list, measured, facts, err);
done:
	free(list.items);
	return st;
}
