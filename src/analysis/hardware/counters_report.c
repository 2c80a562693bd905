/* SPDX-License-Identifier: MIT */
/* The fields and tables of the counters. */
#include "analysis/hardware/counters.h"

#include "analysis/kit/cells.h"
#include "analysis/kit/others.h"
#include "result/schema/counters.def"

#define MAX_RAW	  20000
#define MAX_BY_OP 2000

struct report {
	const struct ts_context *ctx;
	const struct ts_samples_facts *samples;
	const struct ts_counters_facts *facts;
	struct ts_result *result;
};

static struct ts_value host_cell(const struct report *report, uint32_t device)
{
	return ts_int(report->ctx->profile->devices[device].host);
}

/* As XProf numbers it. */
static struct ts_value device_cell(const struct report *report, uint32_t device)
{
	const struct ts_device *of = &report->ctx->profile->devices[device];

	return ts_int(of->device_id >= 0 ? of->device_id : (int64_t)of->ordinal);
}

static struct ts_value text_cell(const char *text)
{
	return ts_text(ts_bytes_of(text));
}

static struct ts_value modelled_cell(const struct report *report, const struct ts_unit_row *row)
{
	const struct ts_counters_facts *facts = report->facts;

	if (row->about == TS_UNIT_MXU)
		return ts_share_pct(facts->mxu.modelled);
	if (row->about == TS_UNIT_HBM)
		return ts_share_pct(facts->hbm.modelled * facts->hbm_share / facts->hbm.measured);
	return ts_null();
}

#define UNIT_CELLS(X) \
	X(host, host_cell(report, row->device)) \
	X(device, device_cell(report, row->device)) \
	X(sample, ts_int(row->sample)) \
	X(node, ts_int(row->node)) \
	X(name, text_cell(row->name)) \
	X(achieved, ts_real(row->achieved)) \
	X(peak, ts_real(row->peak)) \
	X(unit, text_cell(row->unit)) \
	X(percent, row->peak > 0 ? ts_real(100 * row->achieved / row->peak) : ts_null()) \
	X(modelled, modelled_cell(report, row))

static void put_utilization(const struct report *report)
{
	struct ts_table *table = TS_TABLE(report->result, counters_utilization);

	for (size_t i = 0; i < report->samples->nr_rows; i++) {
		const struct ts_unit_row *row = &report->samples->rows[i];

		TS_CELLS(report->result, table, counters_utilization, UNIT_CELLS);
	}
	if (table)
		table->text_rows = 26; /* of a core: what stands before its SparseCores */
}

#define SERIES_CELLS(X) \
	X(host, host_cell(report, series->device)) \
	X(device, device_cell(report, series->device)) \
	X(name, ts_text(report->ctx->profile->ops[series->op].name)) \
	X(unit, text_cell(series->unit)) \
	X(samples, ts_int(series->nr)) \
	X(min, ts_real(series->min)) \
	X(max, ts_real(series->max)) \
	X(mean, ts_real(series->mean)) \
	X(first, ts_real(series->first)) \
	X(last, ts_real(series->last)) \
	X(total, series->is_total ? ts_real(series->last - series->first) : ts_null())

static void put_series(const struct report *report)
{
	struct ts_table *table = TS_TABLE(report->result, counters_series);

	for (size_t i = 0; i < report->samples->nr_series; i++) {
		const struct ts_series *series = &report->samples->series[i];

		TS_CELLS(report->result, table, counters_series, SERIES_CELLS);
	}
	if (table)
		table->text_rows = 24;
}

/* "%fusion.1 = bf16[8,128] fusion(...)" is fusion.1. */
static struct ts_bytes instr_name(struct ts_bytes name)
{
	size_t at = ts_bytes_find(name, " = ");

	return ts_bytes_starts(name, "%") && at < name.n ? ts_bytes_cut(name, 1, at - 1) : name;
}

static double mean_of(const struct counters_by_op *of)
{
	double per_ps = of->amount / (double)of->ps;

	return of->is_total ? per_ps * 1e12 : per_ps;
}

static struct ts_value cycles_cell(const struct counters_by_op *of)
{
	return of->is_total ? ts_share_pct(mean_of(of) / of->clock_hz) : ts_null();
}

/* What the model has of the same counter. */
static struct ts_value modelled_by_op(const struct report *report, const struct counters_by_op *of)
{
	const struct ts_op_fact *fact = ts_op_fact_of(ts_ops_facts(report->ctx), of->op);

	if (!fact || !ts_bytes_is(report->ctx->profile->ops[of->counter].name, "MXU"))
		return ts_null();
	return ts_share_pct(fact->mxu_share);
}

#define BY_OP_CELLS(X) \
	X(op, ts_text(instr_name(op->name))) \
	X(module, ts_text_or_null(ts_module_name(report->ctx->profile, op->module))) \
	X(name, ts_text(report->ctx->profile->ops[of->counter].name)) \
	X(unit, of->is_total ? text_cell("counts/s") : text_cell(of->unit)) \
	X(mean, ts_real(mean_of(of))) \
	X(modelled, modelled_by_op(report, of)) \
	X(total, of->is_total ? ts_real(of->amount) : ts_null()) \
	X(cycles_pct, cycles_cell(of)) \
	X(sampled_ps, ts_int(of->ps)) \
	X(op_index, ts_int(of->op))

static void put_by_op(const struct report *report)
{
	struct ts_table *table = TS_TABLE(report->result, counters_by_op);
	size_t nr = ts_listed_ops(report->ctx, report->facts->nr_by_op, MAX_BY_OP);

	for (size_t i = 0; i < nr; i++) {
		const struct counters_by_op *of = &report->facts->by_op[i];
		const struct ts_op *op = &report->ctx->profile->ops[of->op];

		TS_CELLS(report->result, table, counters_by_op, BY_OP_CELLS);
	}
	if (nr < report->facts->nr_by_op)
		ts_result_note(report->result, "%zu rows of counters by op are not listed",
			       report->facts->nr_by_op - nr);
}

#define RAW_CELLS(X) \
	X(host, host_cell(report, set->device)) \
	X(device, device_cell(report, set->device)) \
	X(sample, ts_int(set->sample)) \
	X(name, ts_text(report->ctx->profile->ops[counter->op].name)) \
	X(id, ts_id(counter->id)) \
	X(value, ts_real(counter->value)) \
	X(description, ts_text_or_null(counter->description)) \
	X(sets, ts_text_or_null(counter->sets))

static void put_raw(const struct report *report)
{
	struct ts_table *table = TS_TABLE(report->result, counters_raw);
	size_t nr_left = 0;

	for (size_t i = 0; i < report->samples->nr_sets; i++) {
		const struct ts_counter_set *set = &report->samples->sets[i];

		for (size_t k = 0; k < set->nr; k++) {
			const struct ts_counter *counter = &set->items[k];

			if (counter->value == 0)
				continue;
			if (ts_table_rows(table) >= MAX_RAW) {
				nr_left++;
				continue;
			}
			TS_CELLS(report->result, table, counters_raw, RAW_CELLS);
		}
	}
	if (nr_left > 0)
		ts_result_note(report->result, "%zu counters are not listed", nr_left);
}

#define UNREAD_CELLS(X) \
	X(host, host_cell(report, set->device)) \
	X(device, device_cell(report, set->device)) \
	X(chip, ts_text_or_null(report->ctx->profile->devices[set->device].kind)) \
	X(count, ts_int((int64_t)set->nr))

static void put_unread(const struct report *report)
{
	struct ts_table *table = TS_TABLE(report->result, counters_unread);

	for (size_t i = 0; i < report->samples->nr_sets; i++) {
		const struct ts_counter_set *set = &report->samples->sets[i];

		if (!set->known)
			TS_CELLS(report->result, table, counters_unread, UNREAD_CELLS);
	}
	if (report->samples->nr_over > 0)
		ts_result_note(report->result,
			       "%lld samples of counters are left out: there are too many labels",
			       (long long)report->samples->nr_over);
}

static void put_fields(const struct report *report)
{
	const struct ts_counters_facts *facts = report->facts;
	struct ts_result *result = report->result;
	int64_t nr = 0;

	for (size_t i = 0; i < report->samples->nr_sets; i++)
		nr += (int64_t)report->samples->sets[i].nr;
	TS_SET(result, counters, counter_count, ts_int(nr));
	TS_SET(result, counters, mxu_measured_pct, ts_share_pct(facts->mxu.measured));
	TS_SET(result, counters, mxu_modelled_pct, ts_share_pct(facts->mxu.modelled));
	TS_SET(result, counters, hbm_measured_bytes, ts_whole_or_null(facts->hbm.measured));
	TS_SET(result, counters, hbm_modelled_bytes, ts_whole_or_null(facts->hbm.modelled));
	TS_SET(result, counters, hbm_measured_pct, ts_share_pct(facts->hbm_share));
	TS_SET(result, counters, throttled_ps, ts_int_or_null(facts->throttled_ps));
	TS_SET(result, counters, throttle_lost_ps, ts_int_or_null(facts->lost_ps));
}

void ts_counters_report(const struct ts_context *ctx, const struct ts_counters_facts *facts,
			struct ts_result *result)
{
	struct report report = { ctx, ts_samples_facts(ctx), facts, result };

	TS_ASSERT(ctx && facts && result);
	if (report.samples->nr_sets == 0 && report.samples->nr_series == 0 &&
	    report.samples->nr_throttled == 0)
		return;
	put_fields(&report);
	put_utilization(&report);
	put_series(&report);
	put_by_op(&report);
	put_raw(&report);
	put_unread(&report);
}
