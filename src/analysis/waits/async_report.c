/* What the async analysis says: a row a transfer, the most exposed first. */
#include "analysis/waits/async.h"

#define MAX_COVERED 512 /* rows for which it is asked what could hide them */
#define MAX_ROWS    1000
#define MAX_WRAPS   4

struct row {
	uint32_t op;
	struct ts_async_seen seen;
	struct async_cover cover;
	int64_t coverable_ps; /* of the exposed time; -1 unknown */
};

struct report {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct row *rows;
	size_t nr;
};

static int by_exposed(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->seen.exposed_ps != y->seen.exposed_ps)
		return x->seen.exposed_ps > y->seen.exposed_ps ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static bool is_mine(const struct report *report, size_t i, uint32_t module)
{
	return i < TS_MIN(report->nr, MAX_COVERED) &&
	       report->ctx->profile->ops[report->rows[i].op].module == module;
}

static void cover_row(const struct report *report, struct async_schedule *schedule, struct row *row)
{
	const struct ts_op *op = &report->ctx->profile->ops[row->op];
	const struct ts_op *done =
		op->partner == TS_NONE ? op : &report->ctx->profile->ops[op->partner];

	if (op->instr == TS_NONE || done->instr == TS_NONE || done->module != op->module)
		return;
	row->cover = async_cover_of(schedule, op->instr, done->instr);
	if (row->cover.known)
		row->coverable_ps =
			TS_MIN(row->seen.exposed_ps,
			       ts_i64_mul(row->cover.free_ps, TS_MAX(row->seen.occurrences, 0)));
}

/*
 * An op can hide only so much: of the waits in one computation together no more can be covered than
 * what all ops that could cover some of them take. Cuts the rows down in proportion.
 */
static void share_out(const struct report *report, const struct async_schedule *schedule,
		      uint32_t module, uint32_t comp)
{
	const struct ts_hlo_comp *within = &schedule->module->comps[comp];
	int64_t free_ps = 0, wanted_ps = 0, runs = 0;
	const struct ts_profile *profile = report->ctx->profile;

	for (uint32_t i = within->first_instr; i < within->first_instr + within->nr_instrs; i++)
		if (schedule->is_free[i])
			free_ps = ts_i64_add(free_ps, schedule->mean_ps[i]);
	for (size_t i = 0; i < TS_MIN(report->nr, MAX_COVERED); i++) {
		const struct row *row = &report->rows[i];

		if (!is_mine(report, i, module) || !row->cover.known ||
		    schedule->module->instrs[profile->ops[row->op].instr].computation != comp)
			continue;
		wanted_ps = ts_i64_add(wanted_ps, row->coverable_ps);
		runs = TS_MAX(runs, row->seen.occurrences);
	}
	free_ps = ts_i64_mul(free_ps, runs);
	for (size_t i = 0; wanted_ps > free_ps && i < TS_MIN(report->nr, MAX_COVERED); i++) {
		struct row *row = &report->rows[i];

		if (is_mine(report, i, module) && row->cover.known &&
		    schedule->module->instrs[profile->ops[row->op].instr].computation == comp)
			row->coverable_ps = (int64_t)((double)row->coverable_ps /
						      (double)wanted_ps * (double)free_ps);
	}
}

static bool cover_module(const struct report *report, uint32_t module)
{
	struct async_schedule schedule;
	bool good = async_schedule_init(&schedule, report->ctx, module);
	bool *asked = calloc(report->ctx->profile->modules[module].nr_comps + 1, sizeof(*asked));

	good = good && asked;
	for (size_t i = 0; good && i < TS_MIN(report->nr, MAX_COVERED); i++)
		if (is_mine(report, i, module))
			cover_row(report, &schedule, &report->rows[i]);
	for (size_t i = 0; good && i < TS_MIN(report->nr, MAX_COVERED); i++) {
		uint32_t comp;

		if (!is_mine(report, i, module) || !report->rows[i].cover.known)
			continue;
		comp = schedule.module->instrs[report->ctx->profile->ops[report->rows[i].op].instr]
			       .computation;
		if (!asked[comp])
			share_out(report, &schedule, module, comp);
		asked[comp] = true;
	}
	free(asked);
	async_schedule_release(&schedule);
	return good;
}

/* What it moves: the opcode less its phase; of a wrapper what it wraps. */
static struct ts_bytes kind_of(const struct ts_profile *profile, const struct ts_op *op)
{
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);
	struct ts_bytes kind = op->category;

	for (int i = 0; instr && i < MAX_WRAPS; i++) {
		kind = instr->opcode;
		if (instr->nr_called == 0 || !ts_bytes_starts(instr->opcode, "async-"))
			break;
		instr = &profile->modules[op->module]
				 .instrs[profile->modules[op->module].comps[instr->called[0]].root];
	}
	if (ts_bytes_is(kind, "fusion"))
		kind = op->category;
	return ts_bytes_ends(kind, "-start") ? ts_bytes_cut(kind, 0, kind.n - strlen("-start"))
					     : kind;
}

/* Of what comes out: the shape of the done, or of the op itself. -1 unknown. */
static int64_t bytes_of(const struct ts_profile *profile, const struct ts_op *op)
{
	const struct ts_hlo_instr *instr =
		ts_op_instr(profile, op->partner == TS_NONE ? op : &profile->ops[op->partner]);

	return instr ? ts_shape_bytes(&instr->shape) : -1;
}

enum {
	COL_MODULE,
	COL_NAME,
	COL_DONE,
	COL_KIND,
	COL_ASYNC,
	COL_HOST,
	COL_OCCURRENCES,
	COL_TOTAL,
	COL_EXPOSED,
	COL_HIDDEN,
	COL_HIDDEN_SHARE,
	COL_BYTES,
	COL_RATE,
	COL_BETWEEN,
	COL_HIDDEN_BY,
	COL_FREE,
	COL_FREE_COUNT,
	COL_COULD,
	COL_COULD_SOURCE,
	COL_COVERABLE,
	COL_SOURCE,
	COL_OP,
	NR_COLS
};

static const struct ts_column columns[NR_COLS] = {
	[COL_MODULE] = { "module", TS_MEASURED, NULL },
	[COL_NAME] = { "name", TS_MEASURED, "op" },
	[COL_DONE] = { "done", TS_MEASURED, NULL },
	[COL_KIND] = { "kind", TS_COMPILED, "kind" },
	[COL_ASYNC] = { "is_async", TS_COMPILED, NULL },
	[COL_HOST] = { "is_host", TS_COMPILED, NULL },
	[COL_OCCURRENCES] = { "occurrences", TS_MEASURED, "count" },
	[COL_TOTAL] = { "interval_ps", TS_MEASURED, "under way" },
	[COL_EXPOSED] = { "exposed_ps", TS_MEASURED, "waited" },
	[COL_HIDDEN] = { "hidden_ps", TS_MEASURED, NULL },
	[COL_HIDDEN_SHARE] = { "hidden_pct", TS_MEASURED, "hidden" },
	[COL_BYTES] = { "bytes", TS_COMPILED, "bytes" },
	[COL_RATE] = { "bytes_per_s", TS_MODELLED, NULL },
	[COL_BETWEEN] = { "between_ps", TS_MODELLED, NULL },
	[COL_HIDDEN_BY] = { "hidden_by", TS_COMPILED, "behind" },
	[COL_FREE] = { "independent_ps", TS_MODELLED, NULL },
	[COL_FREE_COUNT] = { "independent_ops", TS_COMPILED, NULL },
	[COL_COULD] = { "could_hide", TS_COMPILED, "could hide" },
	[COL_COULD_SOURCE] = { "could_hide_source", TS_COMPILED, NULL },
	[COL_COVERABLE] = { "coverable_ps", TS_MODELLED, "coverable" },
	[COL_SOURCE] = { "source", TS_MEASURED, NULL },
	[COL_OP] = { "op_index", TS_DERIVED, NULL },
};

static struct ts_value name_of(const struct ts_hlo_module *module, uint32_t instr)
{
	return instr == TS_NONE ? ts_null() : ts_text(module->instrs[instr].name);
}

static void put_cover(const struct report *report, const struct row *row, struct ts_value *cells)
{
	const struct ts_op *op = &report->ctx->profile->ops[row->op];
	const struct async_cover *cover = &row->cover;
	const struct ts_hlo_module *module;

	if (!cover->known)
		return;
	module = &report->ctx->profile->modules[op->module];
	cells[COL_BETWEEN] = ts_int(ts_i64_mul(cover->between_ps, row->seen.occurrences));
	cells[COL_HIDDEN_BY] = name_of(module, cover->between);
	cells[COL_FREE] = ts_int(ts_i64_mul(cover->free_ps, row->seen.occurrences));
	cells[COL_FREE_COUNT] = ts_int(cover->nr_free);
	cells[COL_COULD] = name_of(module, cover->free);
	if (cover->free != TS_NONE && module->instrs[cover->free].source_file.n > 0)
		cells[COL_COULD_SOURCE] = ts_text(ts_result_text(
			report->result, "%.*s:%d", TS_ARG(module->instrs[cover->free].source_file),
			(int)module->instrs[cover->free].source_line));
	cells[COL_COVERABLE] = ts_int_or_null(row->coverable_ps);
}

static void put_row(const struct report *report, const struct row *row, struct ts_value *cells)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_op *op = &profile->ops[row->op];
	int64_t hidden_ps = ts_i64_sub(row->seen.interval_ps, row->seen.exposed_ps);
	int64_t bytes = bytes_of(profile, op);

	if (op->module != TS_NONE)
		cells[COL_MODULE] = ts_text_or_null(profile->modules[op->module].name);
	cells[COL_NAME] = ts_text(op->name);
	if (op->partner != TS_NONE)
		cells[COL_DONE] = ts_text(profile->ops[op->partner].name);
	cells[COL_KIND] = ts_text_or_null(kind_of(profile, op));
	cells[COL_ASYNC] = ts_bool(op->partner != TS_NONE);
	cells[COL_HOST] = ts_bool(op->kind == TS_OP_HOST);
	cells[COL_OCCURRENCES] = ts_int(row->seen.occurrences);
	cells[COL_TOTAL] = ts_int(row->seen.interval_ps);
	cells[COL_EXPOSED] = ts_int(row->seen.exposed_ps);
	cells[COL_HIDDEN] = ts_int(hidden_ps);
	cells[COL_HIDDEN_SHARE] = ts_share_pct((double)hidden_ps / (double)row->seen.interval_ps);
	cells[COL_BYTES] = ts_int_or_null(bytes);
	if (bytes > 0)
		cells[COL_RATE] = ts_real((double)bytes * (double)row->seen.occurrences * 1e12 /
					  (double)row->seen.interval_ps);
	put_cover(report, row, cells);
	cells[COL_SOURCE] = ts_text_or_null(op->source);
	cells[COL_OP] = ts_int(row->op);
}

static bool put_rows(const struct report *report)
{
	struct ts_table *table =
		ts_result_table(report->result, "ops", "Transfers by the time they are waited for",
				columns, NR_COLS);

	for (size_t i = 0; table && i < TS_MIN(report->nr, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(report->result, table);

		if (!cells)
			return false;
		put_row(report, &report->rows[i], cells);
	}
	return table != NULL;
}

static void put_fields(const struct report *report)
{
	struct ts_async_seen sum = { .occurrences = 0 };
	int64_t coverable_ps = 0;
	bool known = false;

	for (size_t i = 0; i < report->nr; i++) {
		const struct row *row = &report->rows[i];

		if (report->ctx->profile->ops[row->op].partner == TS_NONE)
			continue;
		ts_async_merge(&sum, &row->seen);
		known |= row->coverable_ps >= 0;
		coverable_ps = ts_i64_add(coverable_ps, TS_MAX(row->coverable_ps, 0));
	}
	ts_result_field(report->result, "interval_ps", ts_int(sum.interval_ps), TS_MEASURED,
			"asynchronous ops under way");
	ts_result_field(report->result, "exposed_ps", ts_int(sum.exposed_ps), TS_MEASURED,
			"waited for");
	ts_result_field(report->result, "hidden_ps",
			ts_int(ts_i64_sub(sum.interval_ps, sum.exposed_ps)), TS_MEASURED, "hidden");
	ts_result_field(report->result, "coverable_ps", known ? ts_int(coverable_ps) : ts_null(),
			TS_MODELLED, "that other compute could cover");
	if (report->nr > MAX_COVERED)
		ts_result_note(report->result,
			       "what could hide a wait was worked out for the %d longest",
			       MAX_COVERED);
}

/* Of the cores that have the line: what it says, and what starts and dones say. */
static void put_line(const struct report *report, const struct async_state *sum)
{
	int64_t line_ps = 0, interval_ps = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_devices; i++) {
		if (sum->devices[i].line_ps == 0)
			continue;
		line_ps = ts_i64_add(line_ps, sum->devices[i].line_ps);
		interval_ps = ts_i64_add(interval_ps, sum->devices[i].interval_ps);
	}
	ts_result_field(report->result, "async_line_ps", line_ps ? ts_int(line_ps) : ts_null(),
			TS_MEASURED, NULL);
	ts_result_field(report->result, "async_line_interval_ps",
			line_ps ? ts_int(interval_ps) : ts_null(), TS_MEASURED, NULL);
}

static void read_rows(struct report *report, const struct async_state *sum)
{
	for (size_t i = 0; i < sum->slots.nr; i++)
		if (sum->seen[i].occurrences > 0 || sum->seen[i].exposed_ps > 0)
			report->rows[report->nr++] = (struct row){ .op = sum->slots.op[i],
								   .seen = sum->seen[i],
								   .coverable_ps = -1 };
	if (report->nr > 1)
		qsort(report->rows, report->nr, sizeof(*report->rows), by_exposed);
}

static bool cover_all(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	bool *asked = calloc(profile->nr_modules + 1, sizeof(*asked)), good = asked != NULL;

	for (size_t i = 0; good && i < TS_MIN(report->nr, MAX_COVERED); i++) {
		uint32_t module = profile->ops[report->rows[i].op].module;

		if (module == TS_NONE || asked[module])
			continue;
		asked[module] = true;
		good = cover_module(report, module);
	}
	free(asked);
	return good;
}

enum ts_status async_report(struct async_state *sum, const struct ts_context *ctx,
			    struct ts_result *result, struct ts_error *err)
{
	struct report report = { .ctx = ctx,
				 .result = result,
				 .rows = calloc(sum->slots.nr + 1, sizeof(*report.rows)) };
	bool good = report.rows != NULL;

	if (good) {
		read_rows(&report, sum);
		good = cover_all(&report);
	}
	if (good) {
		put_fields(&report);
		put_line(&report, sum);
		good = put_rows(&report);
	}
	free(report.rows);
	return good ? TS_OK : ts_fail_nomem(err);
}
