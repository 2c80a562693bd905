/* SPDX-License-Identifier: MIT */
/* What the async analysis says: a row a transfer, the most exposed first. */
#include "analysis/kit/peaks.h"
#include "analysis/kit/source.h"
#include "analysis/waits/async.h"
#include "model/op_kind.h"
#include "result/impossible.h"
#include "result/schema/async.def"

struct report {
	const struct ts_context *ctx;
	struct ts_result *result;
};

/* What it moves: the opcode less its phase; of a wrapper what it wraps. */
static struct ts_bytes async_report_kind_of(const struct ts_profile *profile,
					    const struct ts_op *op)
{
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);
	struct ts_bytes kind = op->category;

	if (instr) {
		const struct ts_hlo_module *module = &profile->modules[op->module];

		instr = &module->instrs[ts_hlo_wrapped(module, op->instr)];
		if (instr->opcode != TS_OPCODE_FUSION)
			kind = instr->opcode_text;
	}
	return ts_bytes_ends(kind, "-start") ? ts_bytes_cut(kind, 0, kind.n - strlen("-start"))
					     : kind;
}

/* Of what comes out: the shape of the done, or of the op itself. -1 unknown. */
static int64_t async_report_bytes_of(const struct ts_profile *profile, const struct ts_op *op)
{
	const struct ts_hlo_instr *instr =
		ts_op_instr(profile, op->partner == TS_NONE ? op : &profile->ops[op->partner]);

	return instr ? ts_shape_bytes(&instr->shape) : -1;
}

static double async_report_rate_of(const struct ts_async_op *fact, int64_t bytes)
{
	if (bytes <= 0)
		return NAN;
	return (double)bytes * (double)fact->occurrences * 1e12 / (double)fact->interval_ps;
}

/* What is moved goes through HBM or slower links: where only a part of a transfer was seen, its
 * time is too short for its bytes. */
static struct ts_value async_report_rate_cell(const struct report *report, double rate)
{
	const struct ts_rates *rates = ts_hbm_rates(report->ctx);

	return ts_held_value(report->result, rate, rates ? rates->hbm_bytes_per_s : NAN,
			     TS_LIT("what was seen of the transfer is too short for its bytes"));
}

static struct ts_value name_cell(const struct ts_hlo_module *module, uint32_t instr)
{
	return instr == TS_NONE ? ts_null() : ts_text(module->instrs[instr].name);
}

static struct ts_value async_report_source_cell(struct ts_result *result,
						const struct ts_hlo_module *module, uint32_t instr)
{
	return ts_text_or_null(
		ts_instr_source(result, instr == TS_NONE ? NULL : &module->instrs[instr]));
}

#define IF_COVER(value) (cover->known ? (value) : ts_null())
#define ALL_RUNS(ps) ts_int(ts_i64_mul(ps, fact->occurrences))

#define OP_CELLS(X) \
	X(module, ts_text_or_null(fact->module)) \
	X(name, ts_text(fact->name)) \
	X(done, ts_text_or_null(fact->done)) \
	X(kind, ts_text_or_null(async_report_kind_of(profile, op))) \
	X(is_async, ts_bool(op->partner != TS_NONE)) \
	X(is_host, ts_bool(fact->is_host)) \
	X(occurrences, ts_int(fact->occurrences)) \
	X(interval_ps, ts_int(fact->interval_ps)) \
	X(exposed_ps, ts_int(fact->exposed_ps)) \
	X(hidden_ps, ts_int(fact->hidden_ps)) \
	X(hidden_pct, ts_share_pct((double)fact->hidden_ps / (double)fact->interval_ps)) \
	X(bytes, ts_int_or_null(bytes)) \
	X(bytes_per_s, async_report_rate_cell(report, async_report_rate_of(fact, bytes))) \
	X(between_ps, IF_COVER(ALL_RUNS(cover->between_ps))) \
	X(hidden_by, IF_COVER(name_cell(module, cover->between))) \
	X(independent_ps, IF_COVER(ALL_RUNS(cover->free_ps))) \
	X(independent_ops, IF_COVER(ts_int(cover->nr_free))) \
	X(could_hide, ts_text_or_null(fact->could_hide)) \
	X(could_hide_source, IF_COVER(async_report_source_cell(report->result, module, cover->free))) \
	X(coverable_ps, ts_int_or_null(fact->coverable_ps)) \
	X(source, ts_text_or_null(op->source)) \
	X(op_index, ts_int(fact->op))

static void async_report_put_op(const struct report *report, struct ts_table *table,
				const struct async_cover *cover, const struct ts_async_op *fact)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_op *op = &profile->ops[fact->op];
	const struct ts_hlo_module *module =
		op->module == TS_NONE ? NULL : &profile->modules[op->module];
	int64_t bytes = async_report_bytes_of(profile, op);

	TS_CELLS(report->result, table, async_ops, OP_CELLS);
}

static void async_report_put_ops(const struct report *report, const struct async_rows *rows,
				 const struct ts_async_facts *facts)
{
	struct ts_table *table = TS_TABLE(report->result, async_ops);

	for (size_t i = 0; i < facts->nr; i++)
		async_report_put_op(report, table, &rows->items[i].cover, &facts->items[i]);
}

static void async_report_put_fields(const struct report *report, const struct async_rows *rows)
{
	struct ts_async_seen sum = { .occurrences = 0 };
	int64_t coverable_ps = 0;
	bool known = false;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct async_row *row = &rows->items[i];

		if (report->ctx->profile->ops[row->op].partner == TS_NONE)
			continue;
		ts_async_merge(&sum, &row->seen);
		known |= row->coverable_ps >= 0;
		coverable_ps = ts_i64_add(coverable_ps, TS_MAX(row->coverable_ps, 0));
	}
	TS_SET(report->result, async, interval_ps, ts_int(sum.interval_ps));
	TS_SET(report->result, async, exposed_ps, ts_int(sum.exposed_ps));
	TS_SET(report->result, async, hidden_ps,
	       ts_int(ts_i64_sub(sum.interval_ps, sum.exposed_ps)));
	TS_SET(report->result, async, coverable_ps, known ? ts_int(coverable_ps) : ts_null());
	if (rows->nr > ASYNC_MAX_COVERED)
		ts_result_note(report->result,
			       "what could hide a wait was worked out for the %d longest",
			       ASYNC_MAX_COVERED);
}

/* Of the cores that have the line: what it says, and what starts and dones say. */
static void async_report_put_line(const struct report *report, const struct async_state *sum)
{
	int64_t line_ps = 0, interval_ps = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_devices; i++) {
		if (sum->devices[i].line_ps == 0)
			continue;
		line_ps = ts_i64_add(line_ps, sum->devices[i].line_ps);
		interval_ps = ts_i64_add(interval_ps, sum->devices[i].interval_ps);
	}
	TS_SET(report->result, async, async_line_ps, line_ps ? ts_int(line_ps) : ts_null());
	TS_SET(report->result, async, async_line_interval_ps,
	       line_ps ? ts_int(interval_ps) : ts_null());
}

void ts_async_report(const struct async_state *sum, const struct ts_context *ctx,
		     const struct async_rows *rows, const struct ts_async_facts *facts,
		     struct ts_result *result)
{
	struct report report = { ctx, result };

	TS_ASSERT(facts->nr <= rows->nr);
	async_report_put_fields(&report, rows);
	async_report_put_line(&report, sum);
	async_report_put_ops(&report, rows, facts);
}
