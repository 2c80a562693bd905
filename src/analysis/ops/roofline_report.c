/* SPDX-License-Identifier: MIT */
/*
 * The rows of the roofline: the program, its modules, its ops and its steps. Work and time of ops are
 * those of the facts of ops; formulas stand in roofline_row.c.
 */
#include "analysis/ops/roofline.h"

#include "base/check.h"
#include "result/schema/roofline.def"
#include "result/impossible.h"
#include "base/order.h"

#define MAX_OPS 1000 /* as XProf's table */

static double roofline_report_or_nan(int64_t amount)
{
	return amount == TS_UNKNOWN ? NAN : (double)amount;
}

/* All executions of an op together. */
static struct roofline_work all_work(const struct ts_op_fact *fact, const struct ts_op *op)
{
	double times = (double)fact->occurrences;
	bool own =
		op->model_flops == TS_UNKNOWN || fact->flops != roofline_report_or_nan(op->flops);
	struct roofline_work work;

	work.amount[ROOF_FLOPS] = fact->flops * times;
	work.amount[ROOF_MODEL_FLOPS] = (own ? fact->flops : (double)op->model_flops) * times;
	work.amount[ROOF_BYTES] = fact->bytes * times;
	work.amount[ROOF_HBM] = fact->hbm_bytes * times;
	work.amount[ROOF_CMEM_READ] = roofline_report_or_nan(op->cmem_read_bytes) * times;
	work.amount[ROOF_CMEM_WRITE] = roofline_report_or_nan(op->cmem_write_bytes) * times;
	work.amount[ROOF_VMEM_READ] = roofline_report_or_nan(op->vmem_read_bytes) * times;
	work.amount[ROOF_VMEM_WRITE] = roofline_report_or_nan(op->vmem_write_bytes) * times;
	return work;
}

/* The sum over ops that hold no others; what none of them knows stays unknown. */
struct total {
	struct roofline_work work;
	uint64_t program_id;
	struct ts_bytes module;
	int64_t ops_ps;
	int64_t transfer_ps[TS_NR_BOUNDS]; /* of .ops_ps, by what bounds them */
	bool has_breakdown;
	double broken_hbm; /* HBM bytes by breakdowns alone */
	double impossible_flops, impossible_hbm;
};

static void total_init(struct total *total)
{
	*total = (struct total){ .program_id = 0 };
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		total->work.amount[part] = NAN;
}

static void roofline_report_add_known(double *sum, double amount)
{
	if (!isnan(amount))
		*sum = (isnan(*sum) ? 0 : *sum) + amount;
}

static void total_add(struct total *total, const struct roofline_row *row, const struct ts_op *op)
{
	int64_t *transfer_ps = &total->transfer_ps[row->transfer];

	total->ops_ps = ts_i64_add(total->ops_ps, row->self_ps);
	*transfer_ps = ts_i64_add(*transfer_ps, row->self_ps);
	if (op->kind == TS_OP_CONTROL)
		return;
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		roofline_report_add_known(&total->work.amount[part], row->work.amount[part]);
	if (row->flops_cause.n > 0)
		roofline_report_add_known(&total->impossible_flops, row->work.amount[ROOF_FLOPS]);
	if (row->hbm_cause.n > 0)
		roofline_report_add_known(&total->impossible_hbm, row->work.amount[ROOF_HBM]);
	if (roofline_has_breakdown(op) && !isnan(row->work.amount[ROOF_HBM])) {
		total->has_breakdown = true;
		total->broken_hbm += row->work.amount[ROOF_HBM];
	}
}

/* XProf's: where some op has a breakdown, bytes without one do not count. */
static struct roofline_work total_work(const struct total *total, bool by_breakdown)
{
	struct roofline_work work = total->work;

	work.amount[ROOF_HBM] = by_breakdown ? total->broken_hbm : work.amount[ROOF_HBM];
	return work;
}

struct report {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_table *table;
	struct roofline_peaks peaks;
	struct roofline_row *rows,
		others;		   /* of ops: those that are listed, the sum of the others */
	size_t nr_rows, nr_listed; /* of all */
	struct total program, *modules;
	size_t nr_modules, cap_modules;
	struct ts_map by_program; /* program id -> module */
	int64_t program_ps;
};

static void roofline_report_put(struct report *report, const struct roofline_row *row)
{
	ts_roofline_put_row(report->result, report->table, row, &report->peaks, report->program_ps);
}

/* What most of the ops' time waits for; TS_BOUND_UNKNOWN: most of it has a place on the roofline. */
static enum ts_bound transfer_of(const struct total *total)
{
	enum ts_bound most = TS_BOUND_HOST_LINK;
	int64_t sum_ps = 0;

	for (int b = TS_BOUND_HOST_LINK; b < TS_NR_BOUNDS; b++) {
		sum_ps = ts_i64_add(sum_ps, total->transfer_ps[b]);
		if (total->transfer_ps[b] > total->transfer_ps[most])
			most = (enum ts_bound)b;
	}
	return sum_ps > total->ops_ps / 2 ? most : TS_BOUND_UNKNOWN;
}

/* A sum whose larger parts cannot be true, and the time that its rates are over. */
static void roofline_report_put_sum(struct report *report, struct roofline_row *row,
				    const struct total *of)
{
	row->work_ps = row->total_ps;
	row->transfer = transfer_of(of);
	if (of->impossible_flops > TS_IMPOSSIBLE_PART * of->work.amount[ROOF_FLOPS])
		row->flops_cause =
			TS_LIT("many of its FLOPs are of ops whose FLOPs cannot be true");
	if (of->impossible_hbm > TS_IMPOSSIBLE_PART * of->work.amount[ROOF_HBM])
		row->hbm_cause = TS_LIT("many of its bytes are of ops whose bytes cannot be true");
	roofline_report_put(report, row);
}

static struct total *roofline_report_module_of(struct report *report,
					       const struct roofline_row *row)
{
	uint32_t at = ts_map_find(&report->by_program, row->program_id);
	struct total *total;

	if (at != TS_NONE)
		return &report->modules[at];
	if (!ts_grow(&report->modules, &report->cap_modules, report->nr_modules + 1,
		     sizeof(*total)) ||
	    !ts_map_set(&report->by_program, row->program_id, (uint32_t)report->nr_modules))
		return NULL;
	total = &report->modules[report->nr_modules++];
	total_init(total);
	total->program_id = row->program_id;
	total->module = row->module;
	return total;
}

static void roofline_report_add_to_others(struct roofline_row *others,
					  const struct roofline_row *row)
{
	others->occurrences = ts_i64_add(others->occurrences, row->occurrences);
	others->total_ps = ts_i64_add(others->total_ps, row->total_ps);
	others->self_ps = ts_i64_add(others->self_ps, row->self_ps);
}

static bool read_op(struct report *report, const struct ts_op_fact *fact)
{
	const struct ts_op *op = &report->ctx->profile->ops[fact->op];
	struct total *module = NULL;
	struct roofline_row row = {
		.kind = "op",
		.step = -1,
		.has_program = op->has_program,
		.program_id = op->program_id,
		.module = fact->module,
		.name = fact->name,
		.category = fact->category,
		.source = fact->source,
		.occurrences = fact->occurrences,
		.total_ps = fact->total_ps,
		.self_ps = fact->self_ps,
		.work_ps = fact->work_ps,
		.transfer = fact->bound < TS_BOUND_HOST_LINK ? TS_BOUND_UNKNOWN : fact->bound,
		.flops_cause = ts_op_flops_cause(fact),
		.hbm_cause = ts_op_hbm_cause(fact),
		.op = fact->op,
		.work = all_work(fact, op),
	};

	if (report->nr_rows < report->nr_listed)
		report->rows[report->nr_rows] = row;
	else
		roofline_report_add_to_others(&report->others, &row);
	report->nr_rows++;
	total_add(&report->program, &row, op);
	if (op->has_program)
		module = roofline_report_module_of(report, &row);
	if (module)
		total_add(module, &row, op);
	return module || !op->has_program;
}

static enum ts_status read_ops(struct report *report, struct ts_error *err)
{
	const struct ts_ops_facts *ops = ts_ops_facts(report->ctx);

	report->nr_listed = ts_listed_ops(report->ctx, ops->nr, MAX_OPS);
	report->rows = calloc(report->nr_listed + 1, sizeof(*report->rows));
	report->others = (struct roofline_row){ .kind = "op", .step = -1, .op = TS_NONE };
	if (!report->rows)
		return ts_fail_nomem(err);
	total_init(&report->program);
	for (size_t i = 0; i < ops->nr; i++)
		if (ops->items[i].op != TS_NONE && !read_op(report, &ops->items[i]))
			return ts_fail_nomem(err);
	return TS_OK;
}

static void roofline_report_put_program(struct report *report)
{
	struct roofline_row row = {
		.kind = "program",
		.step = -1,
		.name = TS_LIT("Program"),
		.category = TS_LIT("Program"),
		.occurrences = 1,
		.total_ps = report->program_ps,
		.self_ps = -1,
		.op = TS_NONE,
		.work = total_work(&report->program, report->program.has_breakdown),
	};

	roofline_report_put_sum(report, &row, &report->program);
}

/* Executions and time as the profile's module events say; -1 where it has none. */
static void find_executions(const struct report *report, struct roofline_row *row)
{
	const struct ts_ops_facts *ops = ts_ops_facts(report->ctx);

	for (size_t i = 0; i < ops->nr_modules; i++) {
		const struct ts_module_fact *module = &ops->modules[i];

		if (module->program_id == 0 || module->program_id != row->program_id)
			continue;
		row->occurrences = module->executions;
		row->total_ps = module->total_ps;
	}
}

static void roofline_report_put_module(struct report *report, const struct total *total)
{
	struct roofline_row row = {
		.kind = "module",
		.step = -1,
		.has_program = true,
		.program_id = total->program_id,
		.module = total->module,
		.name = total->module,
		.occurrences = -1,
		.total_ps = -1,
		.self_ps = total->ops_ps,
		.op = TS_NONE,
		.work = total_work(total, report->program.has_breakdown),
	};

	find_executions(report, &row);
	if (row.total_ps < 0)
		row.total_ps = total->ops_ps;
	roofline_report_put_sum(report, &row, total);
}

TS_ORDER(roofline_report_by_time, struct total, TS_DOWN(ops_ps) TS_UP(program_id))

#define OP_SUMS(X) \
	X(kind) X(occurrences) X(total_time_ps) X(self_time_ps) X(time_pct) X(self_time_pct)

/* Behind all other rows. Their rates are not one rate. */
static void put_other_ops(struct report *report)
{
	if (report->nr_rows <= report->nr_listed)
		return;
	roofline_report_put(report, &report->others);
	TS_END_OTHERS(report->result, report->table, roofline_roofline,
		      report->nr_rows - report->nr_listed, name, OP_SUMS);
}

/* The time of a step into its row, and into that of all. */
static enum ts_status roofline_report_add_times(const struct report *report,
						struct roofline_row *rows, size_t nr,
						struct roofline_row *all, struct ts_error *err)
{
	struct ts_steps_walk walk;
	struct ts_run_step step;
	enum ts_status st = ts_steps_walk_open(&walk, &report->ctx->outline->steps, err);

	if (st)
		return st;
	while (ts_steps_walk_next(&walk, &step)) {
		struct roofline_row *row =
			&rows[TS_MIN(ts_run_steps_at(report->ctx->steps, walk.row - 1), nr)];

		if (step.cores == 0)
			continue;
		row->step = (int64_t)step.number;
		row->total_ps = ts_i64_add(row->total_ps, step.total_ps);
		all->total_ps = ts_i64_add(all->total_ps, step.total_ps);
	}
	ts_steps_walk_close(&walk);
	return TS_OK;
}

static void roofline_report_add_work(const struct roofline_state *sum, struct roofline_row *rows,
				     size_t nr, struct roofline_row *all)
{
	for (size_t i = 0; i < TS_MIN(nr + 1, sum->nr_steps); i++) {
		roofline_add(&rows[i].work, &sum->steps[i]);
		roofline_add(&all->work, &sum->steps[i]);
	}
}

static void roofline_report_put_step(struct report *report, struct roofline_row *row)
{
	struct roofline_work *work = &row->work;

	for (int part = 0; part < NR_ROOF_PARTS; part++)
		if (isnan(report->program.work.amount[part]))
			work->amount[part] = NAN;
	roofline_report_put_sum(report, row, &report->program);
}

#define STEP_SUMS(X) \
	X(kind) X(occurrences) X(total_time_ps) X(time_pct) X(flops_per_s) \
	X(model_flops_per_s) X(bytes_per_s) X(hbm_bytes_per_s) X(flops_utilization_pct) \
	X(hbm_utilization_pct) X(roofline_efficiency_pct)

/* All but what says which step it is: their work together over their time together. */
static void roofline_report_put_other_steps(struct report *report, struct roofline_row *others,
					    size_t nr)
{
	if (nr == 0)
		return;
	others->occurrences = (int64_t)nr;
	roofline_report_put_step(report, others);
	TS_END_OTHERS(report->result, report->table, roofline_roofline, nr, name, STEP_SUMS);
}

/* All of them in one row (the rates of XProf's average step), then each that is listed. */
static enum ts_status roofline_report_put_steps(struct report *report,
						const struct roofline_state *sum,
						struct ts_error *err)
{
	const struct roofline_row none = { .step = -1, .self_ps = -1, .op = TS_NONE };
	const struct ts_steps *steps = &report->ctx->outline->steps;
	size_t nr = ts_run_steps_nr(report->ctx->steps, steps);
	struct roofline_row *rows = malloc((nr + 1) * sizeof(*rows)), all = none;
	enum ts_status st = TS_OK;

	if (!rows)
		return ts_fail_nomem(err);
	for (size_t i = 0; i <= nr; i++) {
		rows[i] = none;
		rows[i].step = (int64_t)i;
		rows[i].kind = "step";
		rows[i].occurrences = 1;
	}
	if (sum->nr_devices > 0)
		st = roofline_report_add_times(report, rows, nr, &all, err);
	if (st)
		goto done;
	roofline_report_add_work(sum, rows, nr, &all);
	all.kind = "steps";
	all.occurrences = (int64_t)steps->nr_steps;
	if (nr > 0)
		roofline_report_put_step(report, &all);
	for (size_t i = 0; i < nr; i++)
		roofline_report_put_step(report, &rows[i]);
	roofline_report_put_other_steps(report, &rows[nr],
					ts_run_steps_nr_others(report->ctx->steps));
done:
	free(rows);
	return st;
}

static int64_t program_time(const struct roofline_state *sum)
{
	int64_t total_ps = 0;

	for (size_t i = 0; i < sum->nr_devices; i++)
		if (sum->devices[i].nr_events > 0)
			total_ps = ts_i64_add(total_ps, ts_i64_sub(sum->devices[i].last_ps,
								   sum->devices[i].first_ps));
	return total_ps;
}

/* Of the first device whose peak is known; chips of one run are taken to be of one kind. */
static struct roofline_peaks peaks_of_run(const struct ts_context *ctx)
{
	uint32_t at = 0;

	for (uint32_t i = (uint32_t)ctx->profile->nr_devices; i-- > 0;)
		if (ctx->rates[i].peak_flops_per_s > 0)
			at = i;
	return ts_roofline_peaks_of(ctx, at);
}

static enum ts_status roofline_report_put_all(struct report *report,
					      const struct roofline_state *sum,
					      struct ts_error *err)
{
	enum ts_status st;

	report->table = ts_roofline_table(report->result);
	roofline_report_put_program(report);
	TS_SORT(report->modules, report->nr_modules, roofline_report_by_time);
	for (size_t i = 0; i < report->nr_modules; i++)
		roofline_report_put_module(report, &report->modules[i]);
	for (size_t i = 0; i < TS_MIN(report->nr_rows, report->nr_listed); i++)
		roofline_report_put(report, &report->rows[i]);
	st = roofline_report_put_steps(report, sum, err);
	put_other_ops(report);
	ts_roofline_put_ridges(report->result, report->ctx, sum);
	return st;
}

enum ts_status ts_roofline_report(const struct roofline_state *sum, const struct ts_context *ctx,
				  struct ts_result *result, struct ts_error *err)
{
	struct report report = { .ctx = ctx, .result = result, .program_ps = program_time(sum) };
	enum ts_status st;

	TS_ASSERT(sum->nr_devices <= ctx->profile->nr_devices);
	if (ctx->profile->nr_devices == 0 || report.program_ps <= 0)
		return TS_OK; /* nothing ran */
	report.peaks = peaks_of_run(ctx);
	st = read_ops(&report, err);
	if (st == TS_OK)
		st = roofline_report_put_all(&report, sum, err);
	free(report.rows);
	free(report.modules);
	ts_map_release(&report.by_program);
	return st;
}
