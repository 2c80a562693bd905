/* SPDX-License-Identifier: MIT */
/* What is predicted, as fields and tables. */
#include "analysis/facts/ops.h"
#include "analysis/kit/cells.h"
#include "analysis/time/prediction.h"
#include "result/schema/prediction.def"

#define MAX_UNKNOWN 1000 /* ops that a table lists */
#define MAX_OPS	    200

static const struct prediction_module *main_of(const struct prediction *prediction)
{
	return prediction->main == TS_NONE ? NULL : &prediction->modules[prediction->main];
}

static int64_t two(const int64_t *lanes, enum ts_lane a, enum ts_lane b)
{
	return ts_i64_add(lanes[a], lanes[b]);
}

static int64_t count_unknown(const struct prediction_module *module)
{
	int64_t nr = 0;

	for (uint32_t i = 0; i < module->times.module->nr_instrs; i++)
		nr += module->sums[i].runs > 0 && module->times.items[i].unknown;
	return nr;
}

/* Of the main module; null, all of them, where nothing can be predicted. */
#define OF(value) (module ? ts_int_or_null(value) : ts_null())

static void prediction_report_put_fields(const struct prediction *prediction,
					 struct ts_result *result)
{
	const struct prediction_module *module = main_of(prediction);
	const struct ts_context *ctx = prediction->ctx;

	TS_SET(result, prediction, chip,
	       module ? ts_string_cell(prediction->rates->name) : ts_null());
	TS_SET(result, prediction, topology, ts_text_or_null(ctx->topology_name));
	TS_SET(result, prediction, core_count,
	       ctx->topology.nr_dims > 0 ? ts_int(ctx->topology.nr_cores) : ts_null());
	TS_SET(result, prediction, module,
	       module ? ts_text_or_null(ts_module_name(ctx->profile, prediction->main))
		      : ts_null());
	TS_SET(result, prediction, step_ps, OF(module->walk.end_ps));
	TS_SET(result, prediction, step_low_ps, OF(module->low_ps));
	TS_SET(result, prediction, step_high_ps, OF(module->high_ps));
	TS_SET(result, prediction, compute_ps, OF(module->walk.core_ps));
	TS_SET(result, prediction, dma_ps, OF(module->walk.lane_ps[TS_LANE_DMA]));
	TS_SET(result, prediction, exposed_dma_ps, OF(module->walk.exposed_ps[TS_LANE_DMA]));
	TS_SET(result, prediction, host_ps,
	       OF(two(module->walk.lane_ps, TS_LANE_TO_HOST, TS_LANE_FROM_HOST)));
	TS_SET(result, prediction, exposed_host_ps,
	       OF(two(module->walk.exposed_ps, TS_LANE_TO_HOST, TS_LANE_FROM_HOST)));
	TS_SET(result, prediction, collective_ps, OF(module->walk.lane_ps[TS_LANE_ICI]));
	TS_SET(result, prediction, exposed_collective_ps, OF(module->walk.exposed_ps[TS_LANE_ICI]));
	TS_SET(result, prediction, unknown_count, OF(count_unknown(module)));
	TS_SET(result, prediction, left_out_trips, OF(module->walk.left_out_trips));
	TS_SET(result, prediction, left_out_ps, OF(module->walk.left_out_ps));
}

#define KINDS(X) \
	X(kind, ts_string_cell(ts_time_kind_name(kind))) \
	X(count, ts_int(row->nr_ops)) \
	X(runs, ts_int(row->runs)) \
	X(time_ps, ts_int(row->time_ps)) \
	X(of_core_ps, ts_int(row->exposed_ps)) \
	X(basis, ts_string_cell(ts_time_basis_name(basis))) \
	X(error_pct, known ? ts_real(known->error_pct) : ts_null()) \
	X(error_count, ts_int(known ? known->nr_ops : 0))

static void prediction_report_put_kinds(const struct prediction *prediction,
					struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, prediction_by_kind);

	for (int kind = 1; kind < TS_NR_TIME_KINDS; kind++)
		for (int basis = 1; basis < TS_NR_TIME_BASES; basis++) {
			const struct prediction_kind *row = &prediction->kinds[kind][basis];
			const struct prediction_known *known =
				ts_prediction_known_of((enum ts_time_kind)kind);

			if (row->nr_ops > 0)
				TS_CELLS(result, table, prediction_by_kind, KINDS);
		}
}

#define UNKNOWN(X) \
	X(op, ts_text(module->times.module->instrs[i].name)) \
	X(module, ts_text_or_null(module->times.module->name)) \
	X(reason, ts_string_cell(time->unknown)) \
	X(low_ps, ts_int(time->ps[TS_CASE_LOW])) \
	X(high_ps, ts_int_or_null(time->ps[TS_CASE_HIGH]))

static void prediction_report_put_unknown(const struct prediction *prediction,
					  struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, prediction_unknown);

	for (uint32_t m = 0; prediction->modules && m < prediction->ctx->profile->nr_modules; m++) {
		const struct prediction_module *module = &prediction->modules[m];

		for (uint32_t i = 0; i < module->times.module->nr_instrs; i++) {
			const struct ts_op_time *time = &module->times.items[i];

			if (module->sums[i].runs > 0 && time->unknown &&
			    table->nr_rows < MAX_UNKNOWN)
				TS_CELLS(result, table, prediction_unknown, UNKNOWN);
		}
	}
}

static int64_t prediction_report_mean_ps(const struct prediction_module *module)
{
	return module->executions > 0 && module->measured_ps >= 0
		       ? module->measured_ps / module->executions
		       : -1;
}

static struct ts_value bias_pct(int64_t predicted_ps, int64_t measured_ps)
{
	return ts_part_pct(ts_i64_sub(predicted_ps, measured_ps), measured_ps);
}

#define MODULES(X) \
	X(name, ts_text_or_null(module->times.module->name)) \
	X(step_ps, ts_int(module->walk.end_ps)) \
	X(low_ps, ts_int(module->low_ps)) \
	X(high_ps, ts_int_or_null(module->high_ps)) \
	X(unknown_count, ts_int(count_unknown(module))) \
	X(measured_ps, ts_int_or_null(is_run ? prediction_report_mean_ps(module) : -1)) \
	X(bias_pct, is_run ? bias_pct(module->walk.end_ps, prediction_report_mean_ps(module)) : ts_null())

static void prediction_report_put_modules(const struct prediction *prediction, bool is_run,
					  struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, prediction_modules);

	for (uint32_t m = 0; prediction->modules && m < prediction->ctx->profile->nr_modules; m++) {
		const struct prediction_module *module = &prediction->modules[m];

		TS_CELLS(result, table, prediction_modules, MODULES);
	}
}

#define MEASURED(X) \
	X(kind, ts_string_cell(ts_time_kind_name(kind))) \
	X(count, ts_int(row->nr_ops)) \
	X(occurrences, ts_int(row->executions)) \
	X(predicted_ps, ts_int(row->predicted_ps)) \
	X(measured_ps, ts_int(row->measured_ps)) \
	X(bias_pct, bias_pct(row->predicted_ps, row->measured_ps)) \
	X(error_pct, ts_part_pct(row->off_ps, row->measured_ps))

static void put_measured(const struct prediction *prediction, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, prediction_measured);

	for (int kind = 1; kind < TS_NR_TIME_KINDS; kind++) {
		const struct prediction_error *row = &prediction->errors[kind];

		if (row->nr_ops > 0)
			TS_CELLS(result, table, prediction_measured, MEASURED);
	}
}

/* An op that the core works on, an execution of it. */
struct measured_op {
	const struct ts_op_fact *fact;
	const struct ts_op_time *time;
	struct ts_bytes module;
	int64_t measured_ps;
};

#define OPS(X) \
	X(op, ts_text(row->fact->name)) \
	X(module, ts_text_or_null(row->module)) \
	X(kind, ts_string_cell(ts_time_kind_name(row->time->kind))) \
	X(occurrences, ts_int(row->fact->occurrences)) \
	X(measured_ps, ts_int(row->measured_ps)) \
	X(predicted_ps, ts_int(row->time->ps[TS_CASE_LIKELY])) \
	X(estimate_ps, ts_int_or_null(row->time->estimate_ps)) \
	X(roofline_ps, ts_int_or_null(row->time->roofline_ps)) \
	X(bias_pct, bias_pct(row->time->ps[TS_CASE_LIKELY], row->measured_ps))

/* The longest first, as the op table has them. */
static void prediction_report_put_ops(const struct prediction *prediction, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, prediction_ops);
	const struct ts_ops_facts *ops = ts_ops_facts(prediction->ctx);

	for (size_t i = 0; i < ops->nr && prediction->modules && table->nr_rows < MAX_OPS; i++) {
		const struct ts_op_fact *fact = &ops->items[i];
		const struct prediction_module *module;
		struct measured_op op = { .fact = fact }, *row = &op;

		if (fact->op == TS_NONE || fact->instr == TS_NONE || fact->occurrences <= 0 ||
		    fact->module_index >= prediction->ctx->profile->nr_modules)
			continue;
		module = &prediction->modules[fact->module_index];
		op.time = &module->times.items[fact->instr];
		op.module = module->times.module->name;
		op.measured_ps = fact->self_ps / fact->occurrences;
		if (op.time->roofline_ps >= 0)
			TS_CELLS(result, table, prediction_ops, OPS);
	}
}

#define KNOWN(X) \
	X(kind, ts_string_cell(ts_time_kind_name((enum ts_time_kind)kind))) \
	X(error_pct, known ? ts_real(known->error_pct) : ts_null()) \
	X(count, ts_int(known ? known->nr_ops : 0)) \
	X(occurrences, ts_int(known ? known->executions : 0))

static void prediction_report_put_known(struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, prediction_known_errors);

	for (int kind = 1; kind < TS_TIME_TRANSFER; kind++) {
		const struct prediction_known *known =
			ts_prediction_known_of((enum ts_time_kind)kind);

		TS_CELLS(result, table, prediction_known_errors, KNOWN);
	}
}

static void prediction_report_put_notes(const struct prediction *prediction,
					struct ts_result *result)
{
	const struct prediction_module *module = main_of(prediction);
	const struct ts_context *ctx = prediction->ctx;
	int64_t nr_cores = ctx->topology.nr_cores * ctx->topology.nr_slices;

	if (!module)
		return;
	ts_result_note(
		result,
		"Times are predicted, not measured: by the compiler's estimates and the chip's "
		"peak rates. How far such predictions were off is of one real profile, of a "
		"TPU v6e.");
	if (!module->times.module->is_scheduled)
		ts_result_note(result,
			       "The module has no schedule: its ops were taken in the order in "
			       "which they are written.");
	if (module->walk.left_out_trips > 0)
		ts_result_note(result,
			       "Of its loops the first trips were walked; the last of them stands "
			       "for those that were left out.");
	if (nr_cores > 1)
		ts_result_note(result, "One of %lld cores is shown: all of them run this program.",
			       (long long)nr_cores);
}

bool ts_prediction_report(const struct prediction *prediction, struct ts_result *result)
{
	const struct ts_context *ctx = prediction->ctx;
	bool is_run = ctx->profile->nr_devices > 0 && ts_profile_predicted(ctx->profile).n == 0;

	if (!prediction->rates) {
		if (ctx->profile->nr_devices == 0 && ctx->profile->nr_modules > 0)
			ts_result_note(result,
				       "No step is predicted: which TPU the module is for is not "
				       "known (name it with --topology v5e:2x4, for instance).");
		return true;
	}
	prediction_report_put_fields(prediction, result);
	prediction_report_put_kinds(prediction, result);
	prediction_report_put_unknown(prediction, result);
	prediction_report_put_modules(prediction, is_run, result);
	put_measured(prediction, result);
	if (is_run)
		prediction_report_put_ops(prediction, result);
	if (main_of(prediction))
		prediction_report_put_known(result);
	prediction_report_put_notes(prediction, result);
	return true;
}
