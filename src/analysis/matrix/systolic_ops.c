/*
 * The ops that use, or may use, the matrix unit: how much of it, and what the rest of their time
 * went to. Without events: the products of the modules, with what shapes alone tell.
 */
#include "analysis/matrix/systolic.h"

#include <inttypes.h>

#include "model/op_kind.h"

#define MAX_ROWS    1000 /* as XProf's tables */
#define ASSUMED_DIM 128	 /* where no device is named */
#define FULL	    0.999

struct list {
	struct ts_systolic_op *items;
	size_t nr, cap;
};

enum {
	COL_OP,
	COL_MODULE,
	COL_M,
	COL_N,
	COL_K,
	COL_BATCH,
	COL_DTYPE,
	COL_FLOPS,
	COL_OCCURRENCES,
	COL_TIME,
	COL_MXU,
	COL_FILL,
	COL_LIMIT,
	COL_SHAPE,
	COL_MEMORY,
	COL_OTHER,
	COL_CYCLES,
	COL_ESTIMATE,
	COL_MEAN,
	COL_BOUND,
	COL_SOURCE,
	COL_LOST,
	NR_COLS
};

static const struct ts_column columns[NR_COLS] = {
	[COL_OP] = { "op", TS_MEASURED, "op" },
	[COL_MODULE] = { "module", TS_MEASURED, NULL },
	[COL_M] = { "m", TS_COMPILED, "M" },
	[COL_N] = { "n", TS_COMPILED, "N" },
	[COL_K] = { "k", TS_COMPILED, "K" },
	[COL_BATCH] = { "batch", TS_COMPILED, "batch" },
	[COL_DTYPE] = { "dtype", TS_COMPILED, "type" },
	[COL_FLOPS] = { "flops", TS_MODELLED, NULL },
	[COL_OCCURRENCES] = { "occurrences", TS_MEASURED, "times" },
	[COL_TIME] = { "time_ps", TS_MEASURED, "time" },
	[COL_MXU] = { "mxu_utilization_pct", TS_MODELLED, "MXU" },
	[COL_FILL] = { "fill_pct", TS_MODELLED, "fill" },
	[COL_LIMIT] = { "limiting_dim", TS_MODELLED, "limited by" },
	[COL_SHAPE] = { "loss_shape_pct", TS_MODELLED, "shape" },
	[COL_MEMORY] = { "loss_memory_pct", TS_MODELLED, "memory" },
	[COL_OTHER] = { "loss_other_pct", TS_MODELLED, "other" },
	[COL_CYCLES] = { "estimated_cycles", TS_COMPILED, NULL },
	[COL_ESTIMATE] = { "estimated_ps", TS_COMPILED, "compiler's estimate" },
	[COL_MEAN] = { "mean_ps", TS_MEASURED, "mean" },
	[COL_BOUND] = { "bound_by", TS_MODELLED, "bound by" },
	[COL_SOURCE] = { "source", TS_MEASURED, NULL },
	[COL_LOST] = { "lost_ps", TS_MODELLED, NULL },
};

static const struct ts_hlo_instr *instr_of(const struct ts_systolic_op *row)
{
	return row->module ? &row->module->instrs[row->instr] : NULL;
}

/* The time of one execution divided: useful work, empty parts of the array, waiting for bytes. */
static void split_loss(struct ts_systolic_op *row)
{
	double peak = row->rates ? row->rates->peak_flops_per_s : NAN;
	double run_s = (double)row->time_ps * 1e-12 / (double)row->occurrences;
	double emptiness = row->work.filled_flops / row->work.flops - 1;
	double passes = row->work.flops > 0 ? row->work.passes_flops / row->work.flops : 1;
	double used, array_s, hbm_s, left;

	row->utilization = row->flops / (run_s * peak);
	if (!isfinite(row->utilization))
		return;
	used = fmin(row->utilization, 1);
	left = 1 - used;
	row->lost_ps = left * (double)row->time_ps;
	if (emptiness >= 0) /* else: no products, or no array, that are known */
		row->shape = fmin(row->utilization * emptiness, left);
	left -= isnan(row->shape) ? 0 : row->shape;
	array_s = row->flops / peak * (passes >= 1 ? passes : 1);
	hbm_s = row->hbm_bytes / row->rates->hbm_bytes_per_s;
	row->memory = fmin(fmax((hbm_s - array_s) / run_s, 0), left);
	if (isnan(hbm_s))
		row->memory = NAN;
	row->other = left - (isnan(row->memory) ? 0 : row->memory);
}

static bool add_row(struct list *list, const struct ts_systolic_op *row)
{
	if (!ts_grow(&list->items, &list->cap, list->nr + 1, sizeof(*list->items)))
		return false;
	list->items[list->nr++] = *row;
	return true;
}

static struct ts_systolic_op empty_row(void)
{
	return (struct ts_systolic_op){
		.time_ps = -1,
		.flops = NAN,
		.hbm_bytes = NAN,
		.utilization = NAN,
		.shape = NAN,
		.memory = NAN,
		.other = NAN,
		.lost_ps = NAN,
		.work = { .fill = { NAN, NAN, NAN, NAN } },
	};
}

static struct ts_systolic_op measured_row(const struct ts_systolic *state,
					  const struct ts_context *ctx, uint32_t op)
{
	const struct ts_tally_row *sum = &state->tally.rows[op];
	struct ts_systolic_op row = empty_row();

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
	row.flops = ts_systolic_total(state, ctx, op) / (double)row.occurrences;
	row.hbm_bytes = ts_op_hbm_bytes(row.op);
	return row;
}

static bool is_candidate(const struct ts_op *op, const struct ts_tally_row *sum)
{
	return sum->occurrences > 0 && op->async == TS_ASYNC_NONE &&
	       (op->kind == TS_OP_MATRIX || op->kind == TS_OP_COMPUTE);
}

static bool list_measured(const struct ts_systolic *state, const struct ts_context *ctx,
			  struct list *list)
{
	for (uint32_t i = 0; i < state->tally.nr; i++) {
		const struct ts_op *op = &ctx->profile->ops[i];
		struct ts_systolic_op row;

		if (!is_candidate(op, &state->tally.rows[i]))
			continue;
		if (op->kind == TS_OP_COMPUTE && !ts_bytes_is(op->category, "custom-call"))
			continue; /* classified by what stands inside: no product */
		row = measured_row(state, ctx, i);
		if (op->kind == TS_OP_COMPUTE && !row.is_opaque && !(row.flops > 0))
			continue; /* a custom call that only renames */
		split_loss(&row);
		if (!add_row(list, &row))
			return false;
	}
	return true;
}

static struct ts_systolic_op static_row(const struct ts_context *ctx,
					const struct ts_hlo_module *module, uint32_t instr)
{
	struct ts_systolic_op row = empty_row();
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
static bool holds_ops(const struct ts_hlo_instr *instr)
{
	return ts_bytes_is(instr->opcode, "while") || ts_bytes_is(instr->opcode, "conditional") ||
	       ts_bytes_is(instr->opcode, "call") || ts_bytes_is(instr->opcode, "async-done") ||
	       ts_bytes_is(instr->opcode, "async-update");
}

static bool list_module(const struct ts_context *ctx, const struct ts_hlo_module *module,
			struct list *list)
{
	bool *inner = ts_hlo_inner_comps(module), good = inner != NULL;

	for (uint32_t i = 0; i < module->nr_instrs && good; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];
		struct ts_systolic_op row;

		if (inner[instr->computation] || holds_ops(instr))
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
		good = add_row(list, &row);
	}
	free(inner);
	return good;
}

static bool list_modules(const struct ts_context *ctx, struct list *list)
{
	for (size_t i = 0; i < ctx->profile->nr_modules; i++)
		if (!list_module(ctx, &ctx->profile->modules[i], list))
			return false;
	return true;
}

static int down(double a, double b)
{
	return (a < b) - (a > b);
}

/* A number for sorting that unknowns stand behind. */
static double known(double value)
{
	return isnan(value) ? -1 : value;
}

/* Most time lost first; then the longest; then the most work. Equal rows: in their order. */
static int by_loss(const void *a, const void *b)
{
	const struct ts_systolic_op *x = a, *y = b;
	int order = down(known(x->lost_ps), known(y->lost_ps));

	if (order == 0)
		order = down((double)x->time_ps, (double)y->time_ps);
	if (order == 0)
		order = down(known(x->flops), known(y->flops));
	if (order == 0 && x->op && y->op)
		order = (x->op > y->op) - (x->op < y->op);
	if (order == 0 && x->module != y->module)
		order = x->module < y->module ? -1 : 1;
	return order ? order : (x->instr > y->instr) - (x->instr < y->instr);
}

static void sum_row(struct ts_systolic_sum *sum, const struct ts_systolic_op *row)
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
	if (!isfinite(row->utilization)) {
		sum->nr_unknown++;
		return;
	}
	sum->matrix_ps = ts_i64_add(sum->matrix_ps, row->time_ps);
	sum->has_shape |= !isnan(row->shape);
	sum->has_memory |= !isnan(row->memory);
	sum->used_ps += fmin(row->utilization, 1) * time;
	sum->shape_ps += known(row->shape) > 0 ? row->shape * time : 0;
	sum->memory_ps += known(row->memory) > 0 ? row->memory * time : 0;
	sum->other_ps += row->other * time;
}

/* "N=64 fills 50 % of 128": the dimension that leaves most of the array empty. */
static struct ts_value limiting_dim(struct ts_result *result, const struct ts_op_work *work)
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
		return ts_null();
	return ts_text(ts_result_text(result, "%c=%" PRId64 " fills %.3g %% of %.0f",
				      dims[worst].name, dims[worst].size, dims[worst].share * 100,
				      round((double)dims[worst].size / dims[worst].share)));
}

static struct ts_value dtype_text(struct ts_result *result, const struct ts_matmul *product)
{
	if (product->lhs == product->rhs)
		return ts_text(ts_bytes_of(ts_dtype_name(product->lhs)));
	return ts_text(ts_result_text(result, "%s x %s", ts_dtype_name(product->lhs),
				      ts_dtype_name(product->rhs)));
}

static void put_product(struct ts_result *result, struct ts_value *cells,
			const struct ts_op_work *work)
{
	if (work->nr_products == 0)
		return;
	cells[COL_M] = ts_int_or_null(work->main.m);
	cells[COL_N] = ts_int_or_null(work->main.n);
	cells[COL_K] = ts_int_or_null(work->main.k);
	cells[COL_BATCH] = ts_int_or_null(work->main.batch);
	cells[COL_DTYPE] = dtype_text(result, &work->main);
	cells[COL_FILL] = ts_share_pct(work->fill.share);
	cells[COL_LIMIT] = limiting_dim(result, work);
}

static struct ts_value rounded(double value)
{
	return isfinite(value) && fabs(value) < 9e18 ? ts_int(llround(value)) : ts_null();
}

static struct ts_value source_of(struct ts_result *result, const struct ts_systolic_op *row)
{
	const struct ts_hlo_instr *instr = instr_of(row);

	if (row->op && row->op->source.n > 0)
		return ts_text(row->op->source);
	if (!instr || instr->source_file.n == 0)
		return ts_null();
	return ts_text(ts_result_text(result, "%.*s:%d", TS_ARG(instr->source_file),
				      (int)instr->source_line));
}

static void put_compiled(struct ts_result *result, struct ts_value *cells,
			 const struct ts_systolic_op *row)
{
	const struct ts_hlo_instr *instr = instr_of(row);
	double clock = row->rates ? row->rates->clock_hz : NAN;

	cells[COL_SOURCE] = source_of(result, row);
	if (!instr)
		return;
	cells[COL_MODULE] = ts_text_or_null(row->module->name);
	if (instr->backend.estimated_cycles <= 0)
		return;
	cells[COL_CYCLES] = ts_int(instr->backend.estimated_cycles);
	cells[COL_ESTIMATE] = rounded((double)instr->backend.estimated_cycles / clock * 1e12);
}

static struct ts_value bound_of(const struct ts_systolic_op *row)
{
	double onchip = row->op ? ts_op_vmem_bytes(row->op) : NAN;
	enum ts_bound bound = TS_BOUND_UNKNOWN;

	if (row->rates && isfinite(row->flops))
		bound = ts_roofline_of(row->rates, row->flops, row->hbm_bytes, onchip).bound;
	return bound == TS_BOUND_UNKNOWN ? ts_null() : ts_text(ts_bytes_of(ts_bound_name(bound)));
}

static void put_row(struct ts_result *result, struct ts_value *cells,
		    const struct ts_systolic_op *row)
{
	const struct ts_hlo_instr *instr = instr_of(row);

	cells[COL_OP] = ts_text(row->op ? row->op->name : instr->name);
	put_product(result, cells, &row->work);
	put_compiled(result, cells, row);
	cells[COL_FLOPS] = rounded(row->flops);
	cells[COL_BOUND] = bound_of(row);
	if (row->time_ps < 0)
		return;
	cells[COL_OCCURRENCES] = ts_int(row->occurrences);
	cells[COL_TIME] = ts_int(row->time_ps);
	cells[COL_MEAN] = ts_int(row->time_ps / row->occurrences);
	cells[COL_MXU] = ts_share_pct(row->utilization);
	cells[COL_SHAPE] = ts_share_pct(row->shape);
	cells[COL_MEMORY] = ts_share_pct(row->memory);
	cells[COL_OTHER] = ts_share_pct(row->other);
	cells[COL_LOST] = rounded(row->lost_ps);
}

static void put_table(struct ts_result *result, const struct list *list)
{
	struct ts_table *table =
		ts_result_table(result, "ops", "Matrix ops by time lost", columns, NR_COLS);

	for (size_t i = 0; table && i < TS_MIN(list->nr, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return;
		put_row(result, cells, &list->items[i]);
	}
	if (list->nr > MAX_ROWS)
		ts_result_note(result, "%zu more matrix ops lost less time and are not listed.",
			       list->nr - MAX_ROWS);
}

enum ts_status ts_systolic_ops(const struct ts_systolic *state, const struct ts_context *ctx,
			       struct ts_result *result, struct ts_systolic_sum *sum,
			       struct ts_error *err)
{
	bool measured = state->tally.nr_events > 0;
	struct list list = { NULL, 0, 0 };
	bool good = measured ? list_measured(state, ctx, &list) : list_modules(ctx, &list);

	if (good) {
		for (size_t i = 0; i < list.nr; i++)
			sum_row(sum, &list.items[i]);
		if (list.nr > 1)
			qsort(list.items, list.nr, sizeof(*list.items), by_loss);
		put_table(result, &list);
	}
	free(list.items);
	return good ? TS_OK : ts_fail_nomem(err);
}
