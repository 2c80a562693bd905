/*
 * Roofline: how fast the run, its modules, its ops and its steps went, against what the chip could do
 * with as many FLOPs to a byte. The same figures as XProf's roofline_model, for HBM and for the
 * memories on the chip.
 *
 * Work and time of ops are those of the view "ops". What is found out here: the time of the whole
 * program, which is XProf's (of each device, from its first op or step to its last, by its own
 * clock), and the work of each step: that of the ops which start in it.
 */
#include "analysis/ops/roofline.h"

#include "model/op_kind.h"
#include "model/op_work.h"

#define MAX_OPS	  1000 /* as XProf's table */
#define MAX_STEPS 256

struct device_sum {
	bool seen;
	int64_t first_ps, last_ps;
	struct roofline_work *steps;
	size_t nr_steps;
};

struct roofline_state {
	/* of a line */
	uint32_t device_index;
	struct roofline_work *ops; /* of an execution of each op; NULL: no steps to give it to */
	bool *is_custom;	   /* the op is a custom call: its events may say what they did */
	size_t hint;
	int64_t from_ps, until_ps; /* TO is for events that start here */
	struct roofline_work *to;  /* of a step, or NULL: between two */
	/* of a line: one; of the sum: all */
	struct device_sum *devices;
	size_t nr_devices;
};

/* The lines XProf looks at: on a TPU what the core did and its steps, on a GPU its streams. */
static bool roofline_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line) ||
	       (line->kind == TS_LINE_STEPS &&
		ctx->profile->planes[line->plane].kind == TS_PLANE_TPU);
}

static double or_zero(int64_t amount)
{
	return amount == TS_UNKNOWN ? 0 : (double)amount;
}

static bool has_breakdown(const struct ts_op *op)
{
	return op->hbm_read_bytes != TS_UNKNOWN || op->hbm_write_bytes != TS_UNKNOWN ||
	       op->onchip_bytes != TS_UNKNOWN;
}

/* As it adds up: what is unknown is nothing, and HBM is what the breakdown says it is. */
static struct roofline_work work_of(const struct ts_op *op)
{
	struct roofline_work work = { { 0 } };

	if (op->kind == TS_OP_CONTROL || op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP)
		return work; /* the ops inside count */
	work.amount[ROOF_FLOPS] = or_zero(op->flops);
	work.amount[ROOF_MODEL_FLOPS] = or_zero(op->model_flops);
	work.amount[ROOF_BYTES] = or_zero(op->bytes_accessed);
	work.amount[ROOF_HBM] = has_breakdown(op) ? ts_op_hbm_bytes(op) : 0;
	work.amount[ROOF_CMEM_READ] = or_zero(op->cmem_read_bytes);
	work.amount[ROOF_CMEM_WRITE] = or_zero(op->cmem_write_bytes);
	work.amount[ROOF_VMEM_READ] = or_zero(op->vmem_read_bytes);
	work.amount[ROOF_VMEM_WRITE] = or_zero(op->vmem_write_bytes);
	return work;
}

static enum ts_status make_device(struct device_sum *device, const struct ts_context *ctx,
				  uint32_t index, struct ts_error *err)
{
	*device = (struct device_sum){ .first_ps = INT64_MAX, .last_ps = INT64_MIN };
	if (index >= ctx->outline->steps.nr_devices)
		return TS_OK;
	device->nr_steps = ctx->outline->steps.devices[index].nr;
	device->steps = calloc(device->nr_steps + 1, sizeof(*device->steps));
	return device->steps ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status roofline_open(void *arg, const struct ts_context *ctx,
				    const struct ts_line *line, struct ts_error *err)
{
	struct roofline_state *state = arg;
	const struct ts_profile *profile = ctx->profile;
	enum ts_status st;

	state->device_index = profile->planes[line->plane].device;
	state->from_ps = state->until_ps = INT64_MIN;
	state->devices = calloc(1, sizeof(*state->devices));
	if (!state->devices)
		return ts_fail_nomem(err);
	state->nr_devices = 1;
	st = make_device(state->devices, ctx, state->device_index, err);
	if (st || state->devices->nr_steps == 0 || line->kind == TS_LINE_STEPS)
		return st;
	state->ops = malloc((profile->nr_ops + 1) * sizeof(*state->ops));
	state->is_custom = malloc((profile->nr_ops + 1) * sizeof(*state->is_custom));
	if (!state->ops || !state->is_custom)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_ops; i++) {
		state->ops[i] = work_of(&profile->ops[i]);
		state->is_custom[i] = ts_bytes_is(profile->ops[i].category, "custom-call");
	}
	return TS_OK;
}

/* Whose work an event at T is, and for how long that stays so. */
static void find_step(struct roofline_state *state, const struct ts_context *ctx, int64_t t)
{
	const struct ts_device_steps *steps = &ctx->outline->steps.devices[state->device_index];
	uint32_t at = ts_steps_at(steps, t, &state->hint);

	state->to = at == TS_NONE ? NULL : &state->devices->steps[at];
	state->from_ps = at == TS_NONE ? t : steps->items[at].start_ps;
	state->until_ps = at == TS_NONE ? t : steps->items[at].end_ps;
}

static inline void add_work(struct roofline_work *restrict to,
			    const struct roofline_work *restrict work)
{
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		to->amount[part] += work->amount[part];
}

/* An event that stands for several, or a custom call, which may say itself what it did. */
static void add_special(struct roofline_work *to, const struct roofline_work *work,
			const struct ts_block *block, size_t i, bool custom)
{
	int64_t nr = block->occurrences ? block->occurrences[i] : 1;
	struct roofline_work own;

	for (int part = 0; part < NR_ROOF_PARTS; part++)
		own.amount[part] = work->amount[part] * (double)nr;
	if (custom && block->flops && block->flops[i] != TS_UNKNOWN)
		own.amount[ROOF_FLOPS] = own.amount[ROOF_MODEL_FLOPS] = (double)block->flops[i];
	if (custom && block->bytes && block->bytes[i] != TS_UNKNOWN)
		own.amount[ROOF_BYTES] = own.amount[ROOF_HBM] = (double)block->bytes[i];
	add_work(to, &own);
}

/* What the step has is summed up beside it, so that the processor can keep it at hand. */
static void add_events(struct roofline_state *state, const struct ts_context *ctx,
		       const struct ts_block *block)
{
	struct roofline_work sum = { { 0 } };

	for (size_t i = 0; i < block->nr_events; i++) {
		uint32_t op = block->op[i];
		int64_t start_ps = block->start_ps[i];

		if (start_ps < state->from_ps || start_ps >= state->until_ps) {
			if (state->to)
				add_work(state->to, &sum);
			sum = (struct roofline_work){ { 0 } };
			find_step(state, ctx, start_ps);
		}
		if (state->is_custom[op] || (block->occurrences && block->occurrences[i] != 1))
			add_special(&sum, &state->ops[op], block, i, state->is_custom[op]);
		else
			add_work(&sum, &state->ops[op]);
	}
	if (state->to)
		add_work(state->to, &sum);
}

static enum ts_status roofline_block(void *arg, const struct ts_context *ctx,
				     const struct ts_block *block, struct ts_error *err)
{
	struct roofline_state *state = arg;
	struct device_sum *device = state->devices;

	(void)err;
	device->seen |= block->nr_events > 0;
	device->first_ps = TS_MIN(device->first_ps, block->device_first_ps);
	device->last_ps = TS_MAX(device->last_ps, block->device_last_ps);
	if (state->ops)
		add_events(state, ctx, block);
	return TS_OK;
}

static enum ts_status make_devices(struct roofline_state *sum, const struct ts_context *ctx,
				   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (sum->devices)
		return TS_OK;
	sum->devices = calloc(ctx->profile->nr_devices + 1, sizeof(*sum->devices));
	if (!sum->devices)
		return ts_fail_nomem(err);
	sum->nr_devices = ctx->profile->nr_devices;
	for (uint32_t i = 0; i < sum->nr_devices && st == TS_OK; i++)
		st = make_device(&sum->devices[i], ctx, i, err);
	return st;
}

static enum ts_status roofline_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				     struct ts_error *err)
{
	struct roofline_state *sum = arg_into, *line = arg_from;
	const struct device_sum *from = line->devices;
	struct device_sum *into;
	enum ts_status st = make_devices(sum, ctx, err);

	if (st || !from->seen)
		return st;
	into = &sum->devices[line->device_index];
	into->seen = true;
	into->first_ps = TS_MIN(into->first_ps, from->first_ps);
	into->last_ps = TS_MAX(into->last_ps, from->last_ps);
	for (size_t i = 0; i < TS_MIN(into->nr_steps, from->nr_steps); i++)
		add_work(&into->steps[i], &from->steps[i]);
	return TS_OK;
}

static void roofline_release(void *arg)
{
	struct roofline_state *state = arg;

	for (size_t i = 0; i < state->nr_devices && state->devices; i++)
		free(state->devices[i].steps);
	free(state->devices);
	free(state->is_custom);
	free(state->ops);
}

/* Columns of the table "ops" by name, looked up once. */
struct ops_table {
	const struct ts_table *table;
	int program_id, module, name, category, occurrences, total, self, flops, bytes, hbm, source,
		op;
};

static struct ops_table find_ops(const struct ts_context *ctx)
{
	const struct ts_result *result = ts_results_find(ctx->results, "ops");
	const struct ts_table *table = result ? ts_result_find_table(result, "ops") : NULL;

	if (!table)
		return (struct ops_table){ .table = NULL };
	return (struct ops_table){
		.table = table,
		.program_id = ts_table_column(table, "program_id"),
		.module = ts_table_column(table, "module"),
		.name = ts_table_column(table, "name"),
		.category = ts_table_column(table, "category"),
		.occurrences = ts_table_column(table, "occurrences"),
		.total = ts_table_column(table, "total_time_ps"),
		.self = ts_table_column(table, "self_time_ps"),
		.flops = ts_table_column(table, "flops"),
		.bytes = ts_table_column(table, "bytes_accessed"),
		.hbm = ts_table_column(table, "hbm_bytes_per_s"),
		.source = ts_table_column(table, "source"),
		.op = ts_table_column(table, "op_index"),
	};
}

static double number(const struct ops_table *ops, size_t row, int column)
{
	return ts_value_number(ts_table_cell(ops->table, row, column));
}

static struct ts_bytes text(const struct ops_table *ops, size_t row, int column)
{
	struct ts_value value = ts_table_cell(ops->table, row, column);

	return value.type == TS_VALUE_TEXT ? value.as.s : (struct ts_bytes){ NULL, 0 };
}

static double or_nan(int64_t amount)
{
	return amount == TS_UNKNOWN ? NAN : (double)amount;
}

/* All executions of an op together. */
static struct roofline_work all_work(const struct ops_table *ops, size_t row,
				     const struct ts_op *op)
{
	double times = number(ops, row, ops->occurrences), flops = number(ops, row, ops->flops);
	double seconds = number(ops, row, ops->total) * 1e-12;
	bool own = op->model_flops == TS_UNKNOWN || flops != or_nan(op->flops);

	return (struct roofline_work){ .amount = {
					       [ROOF_FLOPS] = flops * times,
					       [ROOF_MODEL_FLOPS] =
						       own ? flops * times
							   : (double)op->model_flops * times,
					       [ROOF_BYTES] = number(ops, row, ops->bytes) * times,
					       [ROOF_HBM] = number(ops, row, ops->hbm) * seconds,
					       [ROOF_CMEM_READ] =
						       or_nan(op->cmem_read_bytes) * times,
					       [ROOF_CMEM_WRITE] =
						       or_nan(op->cmem_write_bytes) * times,
					       [ROOF_VMEM_READ] =
						       or_nan(op->vmem_read_bytes) * times,
					       [ROOF_VMEM_WRITE] =
						       or_nan(op->vmem_write_bytes) * times,
				       } };
}

/* The sum over ops that hold no others; what none of them knows stays unknown. */
struct total {
	struct roofline_work work;
	uint64_t program_id;
	struct ts_bytes module;
	int64_t ops_ps;
	bool has_breakdown;
	double broken_hbm; /* HBM bytes by breakdowns alone */
};

static void total_init(struct total *total)
{
	*total = (struct total){ .program_id = 0 };
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		total->work.amount[part] = NAN;
}

static void add_known(double *sum, double amount)
{
	if (!isnan(amount))
		*sum = (isnan(*sum) ? 0 : *sum) + amount;
}

static void total_add(struct total *total, const struct roofline_row *row, const struct ts_op *op)
{
	total->ops_ps = ts_i64_add(total->ops_ps, row->self_ps);
	if (op->kind == TS_OP_CONTROL)
		return;
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		add_known(&total->work.amount[part], row->work.amount[part]);
	if (has_breakdown(op) && !isnan(row->work.amount[ROOF_HBM])) {
		total->has_breakdown = true;
		total->broken_hbm += row->work.amount[ROOF_HBM];
	}
}

/* XProf's: where some op has a breakdown, bytes without one are not known to be HBM's. */
static struct roofline_work total_work(const struct total *total, bool by_breakdown)
{
	struct roofline_work work = total->work;

	work.amount[ROOF_HBM] = by_breakdown ? total->broken_hbm : work.amount[ROOF_BYTES];
	return work;
}

struct report {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_table *table;
	struct roofline_peaks peaks;
	struct roofline_row *rows; /* of ops */
	size_t nr_rows;
	struct total program, *modules;
	size_t nr_modules;
	struct ts_map by_program; /* program id -> module */
	int64_t program_ps;
};

static bool put(struct report *report, const struct roofline_row *row)
{
	return roofline_put_row(report->result, report->table, row, &report->peaks,
				report->program_ps);
}

static struct total *module_of(struct report *report, const struct roofline_row *row)
{
	uint32_t at = ts_map_find(&report->by_program, row->program_id);
	struct total *total;

	if (at != TS_NONE)
		return &report->modules[at];
	if (!ts_map_set(&report->by_program, row->program_id, (uint32_t)report->nr_modules))
		return NULL;
	total = &report->modules[report->nr_modules++];
	total_init(total);
	total->program_id = row->program_id;
	total->module = row->module;
	return total;
}

static bool read_op(struct report *report, const struct ops_table *ops, size_t at)
{
	int64_t index = ts_value_int(ts_table_cell(ops->table, at, ops->op));
	struct roofline_row *row = &report->rows[report->nr_rows];
	const struct ts_op *op;
	struct total *module;

	if (index < 0 || (uint64_t)index >= report->ctx->profile->nr_ops)
		return true;
	op = &report->ctx->profile->ops[index];
	*row = (struct roofline_row){
		.kind = "op",
		.step = -1,
		.has_program = op->has_program,
		.program_id = op->program_id,
		.module = text(ops, at, ops->module),
		.name = text(ops, at, ops->name),
		.category = text(ops, at, ops->category),
		.source = text(ops, at, ops->source),
		.occurrences = ts_value_int(ts_table_cell(ops->table, at, ops->occurrences)),
		.total_ps = ts_value_int(ts_table_cell(ops->table, at, ops->total)),
		.self_ps = ts_value_int(ts_table_cell(ops->table, at, ops->self)),
		.op = (uint32_t)index,
		.work = all_work(ops, at, op),
	};
	if (op->has_program) {
		module = module_of(report, row);
		if (!module)
			return false;
		total_add(module, row, op);
	}
	total_add(&report->program, row, op);
	report->nr_rows++;
	return true;
}

static enum ts_status read_ops(struct report *report, const struct ops_table *ops,
			       struct ts_error *err)
{
	size_t nr = ops->table->nr_rows;

	report->rows = calloc(nr + 1, sizeof(*report->rows));
	report->modules = calloc(nr + 1, sizeof(*report->modules));
	if (!report->rows || !report->modules)
		return ts_fail_nomem(err);
	total_init(&report->program);
	for (size_t i = 0; i < nr; i++)
		if (!read_op(report, ops, i))
			return ts_fail_nomem(err);
	return TS_OK;
}

static bool put_program(struct report *report)
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

	return put(report, &row);
}

/* Executions and time as the profile's module events say; -1 where it has none. */
static void find_executions(const struct report *report, struct roofline_row *row)
{
	const struct ts_result *ops = ts_results_find(report->ctx->results, "ops");
	const struct ts_table *table = ts_result_find_table(ops, "modules");
	int id = table ? ts_table_column(table, "program_id") : -1;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct ts_value value = ts_table_cell(table, i, id);

		if (value.type != TS_VALUE_ID || value.as.u != row->program_id)
			continue;
		row->occurrences = ts_cell_int(table, i, "executions");
		row->total_ps = ts_cell_int(table, i, "total_time_ps");
	}
}

static bool put_module(struct report *report, const struct total *total)
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
	return put(report, &row);
}

static int by_time(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->ops_ps != y->ops_ps)
		return x->ops_ps > y->ops_ps ? -1 : 1;
	return (x->program_id > y->program_id) - (x->program_id < y->program_id);
}

static bool put_modules(struct report *report)
{
	bool good = true;

	if (report->nr_modules > 1)
		qsort(report->modules, report->nr_modules, sizeof(*report->modules), by_time);
	for (size_t i = 0; i < report->nr_modules && good; i++)
		good = put_module(report, &report->modules[i]);
	return good;
}

static bool put_ops(struct report *report)
{
	bool good = true;

	for (size_t i = 0; i < TS_MIN(report->nr_rows, MAX_OPS) && good; i++)
		good = put(report, &report->rows[i]);
	if (report->nr_rows > MAX_OPS)
		ts_result_note(report->result,
			       "roofline: the %d ops with the most time are listed, "
			       "%zu are not",
			       MAX_OPS, report->nr_rows - MAX_OPS);
	return good;
}

/* Each device's part of a step into the step's row (model/steps.h), and into that of all. */
static void add_steps(const struct report *report, const struct roofline_state *sum,
		      struct roofline_row *rows, struct roofline_row *all)
{
	const struct ts_steps *steps = &report->ctx->outline->steps;

	for (size_t i = 0; i < TS_MIN(sum->nr_devices, steps->nr_devices); i++) {
		const struct ts_device_steps *of = &steps->devices[i];

		for (size_t at = 0;
		     sum->devices[i].seen && at < TS_MIN(of->nr, sum->devices[i].nr_steps); at++) {
			const struct ts_step *step = &of->items[at];
			struct roofline_row *row = &rows[step->row];

			row->step = (int64_t)step->number;
			row->total_ps = ts_i64_add(row->total_ps, step->end_ps - step->start_ps);
			all->total_ps = ts_i64_add(all->total_ps, step->end_ps - step->start_ps);
			add_work(&row->work, &sum->devices[i].steps[at]);
			add_work(&all->work, &sum->devices[i].steps[at]);
		}
	}
}

static bool put_step(struct report *report, struct roofline_row *row)
{
	struct roofline_work *work = &row->work;

	if (!report->program.has_breakdown)
		work->amount[ROOF_HBM] = work->amount[ROOF_BYTES];
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		if (isnan(report->program.work.amount[part]))
			work->amount[part] = NAN;
	return put(report, row);
}

/* All of them in one row (the rates of XProf's average step), then each. */
static bool put_steps(struct report *report, const struct roofline_state *sum)
{
	const struct roofline_row none = { .step = -1, .self_ps = -1, .op = TS_NONE };
	size_t nr = report->ctx->outline->steps.nr_steps;
	struct roofline_row *rows = malloc((nr + 1) * sizeof(*rows)), all = none;
	bool good = rows != NULL;

	for (size_t i = 0; i < nr && good; i++) {
		rows[i] = none;
		rows[i].step = (int64_t)i;
		rows[i].kind = "step";
		rows[i].occurrences = 1;
	}
	if (good)
		add_steps(report, sum, rows, &all);
	all.kind = "steps";
	all.occurrences = (int64_t)nr;
	if (good && nr > 0)
		good = put_step(report, &all);
	for (size_t i = 0; i < TS_MIN(nr, MAX_STEPS) && good; i++)
		good = put_step(report, &rows[i]);
	free(rows);
	if (nr > MAX_STEPS)
		ts_result_note(report->result,
			       "roofline: the first %d steps are listed, %zu are not", MAX_STEPS,
			       nr - MAX_STEPS);
	return good;
}

static int64_t program_time(const struct roofline_state *sum)
{
	int64_t total_ps = 0;

	for (size_t i = 0; i < sum->nr_devices; i++)
		if (sum->devices[i].seen)
			total_ps = ts_i64_add(total_ps, ts_i64_sub(sum->devices[i].last_ps,
								   sum->devices[i].first_ps));
	return total_ps;
}

static enum ts_status put_ridges(const struct report *report, const struct roofline_state *sum,
				 struct ts_error *err)
{
	bool *ran = calloc(sum->nr_devices + 1, sizeof(*ran));
	bool good = ran != NULL;

	for (size_t i = 0; good && i < sum->nr_devices; i++)
		ran[i] = sum->devices[i].seen;
	good = good && roofline_put_ridges(report->result, report->ctx, ran);
	free(ran);
	return good ? TS_OK : ts_fail_nomem(err);
}

/* Of the first device whose peak is known; chips of one run are taken to be of one kind. */
static struct roofline_peaks peaks_of_run(const struct ts_context *ctx)
{
	uint32_t at = 0;

	for (uint32_t i = (uint32_t)ctx->profile->nr_devices; i-- > 0;)
		if (ctx->rates[i].peak_flops_per_s > 0)
			at = i;
	return roofline_peaks_of(ctx, at);
}

static enum ts_status put_all(struct report *report, const struct roofline_state *sum,
			      struct ts_error *err)
{
	bool good;

	report->table = roofline_table(report->result);
	good = report->table && put_program(report) && put_modules(report) && put_ops(report) &&
	       put_steps(report, sum);
	return good ? put_ridges(report, sum, err) : ts_fail_nomem(err);
}

static enum ts_status roofline_close(void *arg, const struct ts_context *ctx, void *facts,
				     struct ts_result *result, struct ts_error *err)
{
	struct roofline_state *sum = arg;
	struct report report = { .ctx = ctx, .result = result };
	struct ops_table ops = find_ops(ctx);
	enum ts_status st = make_devices(sum, ctx, err);

	report.program_ps = program_time(sum);
	if (st || !ops.table || ctx->profile->nr_devices == 0 || report.program_ps <= 0)
		return st; /* nothing ran */
	report.peaks = peaks_of_run(ctx);
	st = read_ops(&report, &ops, err);
	if (st == TS_OK)
		st = put_all(&report, sum, err);
	free(report.rows);
	free(report.modules);
	ts_map_release(&report.by_program);
	return st;
}

const struct ts_analysis ts_analysis_roofline = {
	.name = "roofline",
	.title = "Roofline",
	.top_level = true,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_COSTS | TS_COL_DEVICE_CLOCK,
	.state_size = sizeof(struct roofline_state),
	.wants = roofline_wants,
	.open = roofline_open,
	.block = roofline_block,
	.merge = roofline_merge,
	.close = roofline_close,
	.release = roofline_release,
};
