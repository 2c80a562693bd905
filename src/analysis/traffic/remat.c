/*
 * Rematerialization: what is computed a second time to save memory, what that costs, and how much
 * memory it saves. Per op and per checkpointed block, so that what is cheapest to keep is named.
 *
 * Costs are the ops' own (result "ops"). What is saved is modelled from the compiled module: the
 * arrays of recomputed ops that the backward pass uses would else have to live from the forward
 * pass until then, one for each trip of the loop they stand in.
 */
#include "analysis/traffic/remat.h"

#include "model/op_work.h"

#define MAX_ROWS 1000

struct remat_op {
	uint32_t op; /* of the profile; TS_NONE: there was no run */
	uint32_t module, instr;
	struct ts_bytes name, scope, source;
	int64_t occurrences, time_ps;	 /* over all cores; -1: no run */
	double flops, bytes;		 /* of one execution; NaN unknown */
	int64_t runs;			 /* of its module, over all cores; -1 unknown */
	int64_t kept_bytes, saved_bytes; /* a run of the module on one core; -1 unknown */
	uint32_t original;
	bool by_xla;
};

struct remat_all {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct remat_op *ops;
	size_t nr, cap;
};

static double number(const struct ts_table *table, size_t row, const char *column)
{
	return ts_value_number(ts_table_cell(table, row, ts_table_column(table, column)));
}

static int64_t integer(const struct ts_table *table, size_t row, const char *column)
{
	return ts_value_int(ts_table_cell(table, row, ts_table_column(table, column)));
}

static struct remat_op *add(struct remat_all *all)
{
	if (!ts_grow(&all->ops, &all->cap, all->nr + 1, sizeof(*all->ops)))
		return NULL;
	all->ops[all->nr] = (struct remat_op){ .op = TS_NONE,
					       .module = TS_NONE,
					       .instr = TS_NONE,
					       .occurrences = -1,
					       .time_ps = -1,
					       .runs = -1,
					       .kept_bytes = -1,
					       .saved_bytes = -1,
					       .original = TS_NONE };
	return &all->ops[all->nr++];
}

/* Rows of modules come in the order of the profile's. */
static int64_t runs_of(const struct remat_all *all, uint32_t module)
{
	const struct ts_table *table =
		ts_result_find_table(ts_results_find(all->ctx->results, "ops"), "modules");

	return table && module < table->nr_rows ? integer(table, module, "executions") : -1;
}

static bool read_row(struct remat_all *all, const struct ts_table *table, size_t row)
{
	int64_t index = integer(table, row, "op_index");
	struct remat_op *to;
	const struct ts_op *op;

	if (index < 0 || !all->ctx->profile->ops[index].is_remat)
		return true;
	op = &all->ctx->profile->ops[index];
	to = add(all);
	if (!to)
		return false;
	to->op = (uint32_t)index;
	to->module = op->module;
	to->instr = op->module == TS_NONE ? TS_NONE : op->instr;
	to->name = op->name;
	to->scope = op->framework_op;
	to->source = op->source;
	to->occurrences = integer(table, row, "occurrences");
	to->time_ps = integer(table, row, "exclusive_ps");
	to->flops = number(table, row, "flops");
	to->bytes = number(table, row, "bytes_accessed");
	to->runs = op->module == TS_NONE ? -1 : runs_of(all, op->module);
	to->by_xla = !ts_bytes_has(op->framework_op, "rematted_computation");
	return true;
}

static bool add_instr(struct remat_all *all, uint32_t m, uint32_t i)
{
	const struct ts_hlo_instr *instr = &all->ctx->profile->modules[m].instrs[i];
	struct ts_cost cost = ts_hlo_cost(&all->ctx->profile->modules[m], i);
	struct remat_op *to = add(all);

	if (!to)
		return false;
	to->module = m;
	to->instr = i;
	to->name = instr->name;
	to->scope = instr->op_name;
	if (instr->source_file.n > 0)
		to->source = ts_result_text(all->result, "%.*s:%d", TS_ARG(instr->source_file),
					    (int)instr->source_line);
	to->flops = cost.flops < 0 ? NAN : (double)cost.flops;
	to->bytes = cost.bytes_accessed < 0 ? NAN : (double)cost.bytes_accessed;
	to->by_xla = !ts_bytes_has(instr->op_name, "rematted_computation");
	return true;
}

/* Without a run every op of a module counts. */
static bool read_module(struct remat_all *all, uint32_t m)
{
	const struct ts_hlo_module *module = &all->ctx->profile->modules[m];
	bool *inner = ts_hlo_inner_comps(module), good = inner != NULL;

	for (uint32_t i = 0; good && i < module->nr_instrs; i++)
		if (!inner[module->instrs[i].computation] && remat_is(&module->instrs[i]) &&
		    !remat_is_name(&module->instrs[i]))
			good = add_instr(all, m, i);
	free(inner);
	return good;
}

static bool read_ops(struct remat_all *all)
{
	const struct ts_table *table =
		ts_result_find_table(ts_results_find(all->ctx->results, "ops"), "ops");
	bool good = true;

	for (size_t i = 0; all->ctx->profile->nr_lines > 0 && table && i < table->nr_rows && good;
	     i++)
		good = read_row(all, table, i);
	for (uint32_t m = 0;
	     all->ctx->profile->nr_lines == 0 && m < all->ctx->profile->nr_modules && good; m++)
		good = read_module(all, m);
	return good;
}

/* Trips of the loop it stands in: how often it ran for each run of the module. */
static int64_t trips_of(const struct remat_op *op)
{
	if (op->runs <= 0 || op->occurrences <= op->runs)
		return 1;
	return (op->occurrences + op->runs / 2) / op->runs;
}

static void ask_module(struct remat_module *remat, struct remat_op *op)
{
	const struct ts_hlo_instr *instr = &remat->module->instrs[op->instr];

	op->original = remat_original(remat, op->instr);
	op->kept_bytes = ts_i64_mul(remat_bytes(instr), trips_of(op));
	op->saved_bytes = remat_is_used(remat, op->instr) ? op->kept_bytes : 0;
}

static int by_module(const void *a, const void *b)
{
	const struct remat_op *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->instr > y->instr) - (x->instr < y->instr);
}

static bool ask_modules(struct remat_all *all)
{
	struct remat_module remat = { .module = NULL };
	uint32_t open = TS_NONE;
	bool good = true;

	if (all->nr > 1)
		qsort(all->ops, all->nr, sizeof(*all->ops), by_module);
	for (size_t i = 0; i < all->nr && good; i++) {
		if (all->ops[i].instr == TS_NONE)
			continue;
		if (all->ops[i].module != open) {
			remat_module_release(&remat);
			open = all->ops[i].module;
			good = remat_module_init(&remat, &all->ctx->profile->modules[open]);
		}
		if (good)
			ask_module(&remat, &all->ops[i]);
	}
	remat_module_release(&remat);
	return good;
}

static int costliest_first(const void *a, const void *b)
{
	const struct remat_op *x = a, *y = b;
	double cx = x->time_ps < 0 ? x->flops : (double)x->time_ps;
	double cy = y->time_ps < 0 ? y->flops : (double)y->time_ps;

	if (cx != cy && !isnan(cx) && !isnan(cy))
		return cx > cy ? -1 : 1;
	return by_module(a, b);
}

/* Milliseconds that a megabyte buys, in a run of the module on one core. */
static double ms_per_mb(int64_t time_ps, int64_t runs, int64_t bytes)
{
	if (time_ps < 0 || runs <= 0 || bytes <= 0)
		return NAN;
	return (double)time_ps * 1e-9 / (double)runs / ((double)bytes * 1e-6);
}

static struct ts_bytes module_name(const struct remat_all *all, uint32_t module)
{
	return module == TS_NONE ? (struct ts_bytes){ NULL, 0 }
				 : all->ctx->profile->modules[module].name;
}

enum {
	COL_MODULE,
	COL_NAME,
	COL_KIND,
	COL_REGION,
	COL_ORIGINAL,
	COL_OCCURRENCES,
	COL_TIME,
	COL_FLOPS,
	COL_BYTES,
	COL_KEPT,
	COL_SAVED,
	COL_RATIO,
	COL_SOURCE,
	COL_OP,
	NR_COLS
};

static const struct ts_column op_columns[NR_COLS] = {
	[COL_MODULE] = { "module", TS_MEASURED, NULL },
	[COL_NAME] = { "name", TS_MEASURED, "op" },
	[COL_KIND] = { "kind", TS_COMPILED, "by" },
	[COL_REGION] = { "region", TS_MEASURED, NULL },
	[COL_ORIGINAL] = { "original", TS_COMPILED, "repeats" },
	[COL_OCCURRENCES] = { "occurrences", TS_MEASURED, "count" },
	[COL_TIME] = { "time_ps", TS_MEASURED, "time" },
	[COL_FLOPS] = { "flops", TS_COMPILED, "FLOPs" },
	[COL_BYTES] = { "bytes_accessed", TS_COMPILED, NULL },
	[COL_KEPT] = { "kept_bytes", TS_MODELLED, "to keep it" },
	[COL_SAVED] = { "saved_bytes", TS_MODELLED, "saved" },
	[COL_RATIO] = { "ms_per_kept_mb", TS_MODELLED, "ms a MB" },
	[COL_SOURCE] = { "source", TS_MEASURED, "source" },
	[COL_OP] = { "op_index", TS_DERIVED, NULL },
};

static bool put_ops(struct remat_all *all)
{
	struct ts_table *table =
		ts_result_table(all->result, "ops", "Recomputed ops", op_columns, NR_COLS);

	for (size_t i = 0; table && i < TS_MIN(all->nr, MAX_ROWS); i++) {
		const struct remat_op *op = &all->ops[i];
		struct ts_value *row = ts_table_row(all->result, table);

		if (!row)
			return false;
		row[COL_MODULE] = ts_text_or_null(module_name(all, op->module));
		row[COL_NAME] = ts_text(op->name);
		row[COL_KIND] = ts_text(op->by_xla ? TS_LIT("xla") : TS_LIT("checkpoint"));
		row[COL_REGION] = ts_text_or_null(remat_region(op->scope));
		if (op->original != TS_NONE)
			row[COL_ORIGINAL] = ts_text(
				all->ctx->profile->modules[op->module].instrs[op->original].name);
		row[COL_OCCURRENCES] = ts_int_or_null(op->occurrences);
		row[COL_TIME] = ts_int_or_null(op->time_ps);
		row[COL_FLOPS] = isnan(op->flops) ? ts_null() : ts_int((int64_t)op->flops);
		row[COL_BYTES] = isnan(op->bytes) ? ts_null() : ts_int((int64_t)op->bytes);
		row[COL_KEPT] = ts_int_or_null(op->kept_bytes);
		row[COL_SAVED] = ts_int_or_null(op->saved_bytes);
		row[COL_RATIO] = ts_real(ms_per_mb(op->time_ps, op->runs, op->kept_bytes));
		row[COL_SOURCE] = ts_text_or_null(op->source);
		row[COL_OP] = op->op == TS_NONE ? ts_null() : ts_int(op->op);
	}
	return table != NULL;
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

static void add_to_region(struct region *regions, size_t *nr, const struct remat_op *op)
{
	struct ts_bytes scope = remat_region(op->scope);
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
	region->nr_ops++;
	if (op->time_ps >= 0)
		region->time_ps = ts_i64_add(region->time_ps, op->time_ps);
	region->saved_bytes = ts_i64_add(region->saved_bytes, TS_MAX(op->saved_bytes, 0));
	region->flops += of_all(op->flops, op->occurrences);
	region->bytes += of_all(op->bytes, op->occurrences);
}

static int longest_first(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return ts_bytes_cmp(x->scope, y->scope);
}

static const struct ts_column region_columns[] = {
	{ "module", TS_MEASURED, "module" },
	{ "region", TS_MEASURED, "checkpointed" },
	{ "ops", TS_COMPILED, "ops" },
	{ "executions", TS_MEASURED, "runs" },
	{ "time_ps", TS_MEASURED, "time" },
	{ "flops", TS_COMPILED, "FLOPs" },
	{ "bytes_accessed", TS_COMPILED, NULL },
	{ "saved_bytes", TS_MODELLED, "saved" },
	{ "ms_per_saved_mb", TS_MODELLED, "ms a MB" },
	{ "source", TS_MEASURED, "source" },
};

static bool put_regions(struct remat_all *all, const struct region *regions, size_t nr)
{
	struct ts_table *table = ts_result_table(all->result, "regions", "Recomputed blocks",
						 region_columns, TS_NELEM(region_columns));

	for (size_t i = 0; table && i < TS_MIN(nr, MAX_ROWS); i++) {
		struct ts_value *row = ts_table_row(all->result, table);

		if (!row)
			return false;
		row[0] = ts_text_or_null(module_name(all, regions[i].module));
		row[1] = ts_text_or_null(regions[i].scope);
		row[2] = ts_int(regions[i].nr_ops);
		row[3] = ts_int_or_null(regions[i].runs);
		row[4] = ts_int_or_null(regions[i].time_ps);
		row[5] = ts_real(regions[i].flops);
		row[6] = ts_real(regions[i].bytes);
		row[7] = ts_int(regions[i].saved_bytes);
		row[8] = ts_real(
			ms_per_mb(regions[i].time_ps, regions[i].runs, regions[i].saved_bytes));
		row[9] = ts_text_or_null(regions[i].source);
	}
	return table != NULL;
}

static void put_fields(const struct remat_all *all)
{
	struct region sum = { .time_ps = 0 };
	bool timed = all->ctx->profile->nr_lines > 0;

	for (size_t i = 0; i < all->nr; i++) {
		const struct remat_op *op = &all->ops[i];

		sum.time_ps = ts_i64_add(sum.time_ps, TS_MAX(op->time_ps, 0));
		sum.saved_bytes = ts_i64_add(sum.saved_bytes, TS_MAX(op->saved_bytes, 0));
		sum.flops += of_all(op->flops, op->occurrences);
		sum.bytes += of_all(op->bytes, op->occurrences);
	}
	ts_result_field(all->result, "op_count", ts_int((int64_t)all->nr), TS_COMPILED,
			"recomputed ops");
	ts_result_field(all->result, "time_ps", timed ? ts_int(sum.time_ps) : ts_null(),
			TS_MEASURED, "core time in them");
	ts_result_field(all->result, "flops", ts_real(sum.flops), TS_COMPILED, NULL);
	ts_result_field(all->result, "bytes_accessed", ts_real(sum.bytes), TS_COMPILED, NULL);
	ts_result_field(all->result, "saved_bytes", ts_int(sum.saved_bytes), TS_MODELLED,
			"memory it saves a core");
}

static bool report(struct remat_all *all)
{
	struct region *regions = calloc(all->nr + 1, sizeof(*regions));
	size_t nr = 0;
	bool good;

	if (!regions)
		return false;
	if (all->nr > 1)
		qsort(all->ops, all->nr, sizeof(*all->ops), costliest_first);
	for (size_t i = 0; i < all->nr; i++)
		add_to_region(regions, &nr, &all->ops[i]);
	if (nr > 1)
		qsort(regions, nr, sizeof(*regions), longest_first);
	put_fields(all);
	good = put_regions(all, regions, nr) && put_ops(all);
	free(regions);
	return good;
}

static enum ts_status remat_close(void *arg, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct remat_all all = { .ctx = ctx, .result = result };
	bool good = read_ops(&all) && ask_modules(&all) && report(&all);

	(void)arg;
	if (good && ctx->profile->nr_lines == 0 && all.nr > 0)
		ts_result_note(result, "no run: each op counts once, those of a loop too");
	free(all.ops);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_remat = {
	.name = "remat",
	.title = "Rematerialization",
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.close = remat_close,
};
