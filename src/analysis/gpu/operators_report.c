/* SPDX-License-Identifier: MIT */
/* The tables of operators: by name, and by name and shapes; what took GPUs longest first, then hosts. */
#include "analysis/gpu/operators.h"

#include "analysis/kit/peaks.h"
#include "model/trace_class.h"
#include "result/impossible.h"
#include "base/order.h"
#include "result/schema/operators.def"

struct report {
	const struct ts_context *ctx;
	struct ts_result *result;
	const struct operators_state *sum;
	const struct ts_rates *rates; /* of the first device whose FLOPs are known; NULL: unknown */
	double peak;		      /* FLOP/s of the narrowest type; NaN: unknown */
};

static struct ts_bytes operators_report_name_of(const struct report *report,
						const struct operator_row *row)
{
	return report->ctx->profile->ops[row->op].name;
}

static bool operators_report_is_counted(const struct operator_row *row)
{
	return row->calls > 0 && row->nr_counted == row->calls;
}

static struct ts_value flops(const struct operator_row *row)
{
	return operators_report_is_counted(row) ? ts_real(row->flops) : ts_null();
}

static struct ts_value flops_dense(const struct operator_row *row)
{
	return operators_report_is_counted(row) ? ts_real(row->flops_dense) : ts_null();
}

static struct ts_value operators_report_rate(const struct report *report,
					     const struct operator_row *row)
{
	if (!operators_report_is_counted(row) || row->gpu_ps <= 0)
		return ts_null();
	return ts_held_value(report->result, row->flops / ((double)row->gpu_ps * 1e-12),
			     report->peak, TS_LIT("kernels are missing in the trace"));
}

/* Null where the profile has no GPU. */
static struct ts_value gpu(const struct report *report, int64_t value)
{
	return report->ctx->profile->nr_devices > 0 ? ts_int(value) : ts_null();
}

static struct ts_value gpu_share(const struct report *report, const struct operator_row *row)
{
	int64_t all_ps = report->sum->sums.gpu_ps;

	return all_ps > 0 ? ts_real(100 * (double)row->self_gpu_ps / (double)all_ps) : ts_null();
}

/* "[[64, 128], [128, 32]]", however the file has blanks and ends of lines. */
static struct ts_value shapes(const struct report *report, const struct operator_row *row)
{
	struct ts_bytes text = row->shapes;
	uint8_t *copy;
	size_t n = 0;

	if (row->is_others)
		return ts_text(TS_LIT("others"));
	copy = ts_arena_alloc(&report->result->owner->arena, 2 * text.n + 1);
	report->result->owner->failed |= !copy;
	for (size_t i = 0; copy && i < text.n; i++) {
		if (text.p[i] <= ' ')
			continue;
		copy[n++] = text.p[i];
		if (text.p[i] == ',')
			copy[n++] = ' ';
	}
	return ts_text_or_null((struct ts_bytes){ copy, n });
}

/* Of the only kernel that it launches. */
static struct ts_value operators_report_kernel_name(const struct report *report,
						    const struct operator_row *row)
{
	return row->kernel == TS_NONE ? ts_null()
				      : ts_text(report->ctx->profile->ops[row->kernel].name);
}

static struct ts_value type(const struct operator_row *row)
{
	const char *name = ts_aten_type_names[row->type];

	return name ? ts_text(ts_bytes_of(name)) : ts_null();
}

/* Of what all cores could do at the peak of the first one in the wall time. */
static struct ts_value utilization(const struct report *report)
{
	const struct operator_sums *sums = &report->sum->sums;
	const struct ts_rates *rates = report->rates;
	double s = (double)ts_time_facts(report->ctx)->total_ps * 1e-12;

	if (sums->nr_counted == 0 || !rates || !(s > 0))
		return ts_null();
	return ts_held_share_pct(
		report->result, sums->flops / (s * rates->peak_flops_per_s),
		TS_LIT("FLOPs of types faster than bf16, or kernels are missing in "
		       "the trace"));
}

#define TIMES(X) \
	X(calls, ts_int(row->calls)) \
	X(self_gpu_ps, gpu(report, row->self_gpu_ps)) \
	X(self_gpu_pct, gpu_share(report, row)) \
	X(gpu_ps, gpu(report, row->gpu_ps)) \
	X(self_cpu_ps, ts_int(row->self_cpu_ps)) \
	X(cpu_ps, ts_int(row->cpu_ps)) \
	X(cpu_mean_ps, ts_int(row->cpu_ps / TS_MAX(row->calls, 1))) \
	X(kernels, gpu(report, row->nr_kernels)) \
	X(flops, flops(row)) \
	X(flops_dense, flops_dense(row)) \
	X(flops_per_s, operators_report_rate(report, row)) \
	X(category, ts_operators_category(report->ctx, row)) \
	X(dtype, type(row)) \
	X(bytes, ts_operators_is_sized(row) ? ts_real(row->bytes) : ts_null()) \
	X(operational_intensity, ts_operators_intensity(row)) \
	X(bound_by, ts_operators_bound(row, report->rates)) \
	X(roofline_efficiency_pct, ts_operators_roofline(report->result, row)) \
	X(kernel, operators_report_kernel_name(report, row))

#define NAME_CELLS(X) \
	X(name, ts_text(operators_report_name_of(report, row))) \
	X(kind, ts_text(row->is_call ? TS_LIT("runtime") : TS_LIT("operator"))) \
	TIMES(X)

#define SHAPE_CELLS(X) \
	X(name, ts_text(operators_report_name_of(report, row))) \
	X(input_shapes, shapes(report, row)) \
	TIMES(X)

TS_ORDER(operators_report_costliest_first, struct operator_row,
	 TS_DOWN(self_gpu_ps) TS_DOWN(self_cpu_ps) TS_UP(op) TS_UP(shapes))

/* Sums of doubles hang on the order. */
TS_ORDER(operators_report_by_op, struct operator_row, TS_UP(op) TS_UP(shapes))

/* Rows of one operator become one. How many are left. */
static size_t fold_shapes(struct operator_row *rows, size_t nr)
{
	size_t left = 0;

	TS_SORT(rows, nr, operators_report_by_op);
	for (size_t i = 0; i < nr; i++) {
		if (left > 0 && rows[left - 1].op == rows[i].op)
			ts_operators_add_row(&rows[left - 1], &rows[i]);
		else
			rows[left++] = rows[i];
	}
	for (size_t i = 0; i < left; i++)
		rows[i].shapes = (struct ts_bytes){ NULL, 0 };
	return left;
}

static void operators_report_put_shapes(const struct report *report,
					const struct operator_row *rows, size_t nr)
{
	struct ts_table *table = TS_TABLE(report->result, operators_by_shape);

	for (size_t i = 0; i < nr; i++) {
		const struct operator_row *row = &rows[i];

		if (row->shapes.n > 0 || row->is_others)
			TS_CELLS(report->result, table, operators_by_shape, SHAPE_CELLS);
	}
}

static void operators_report_put_names(const struct report *report, const struct operator_row *rows,
				       size_t nr)
{
	struct ts_table *table = TS_TABLE(report->result, operators_by_name);

	for (size_t i = 0; i < nr; i++) {
		const struct operator_row *row = &rows[i];

		TS_CELLS(report->result, table, operators_by_name, NAME_CELLS);
	}
}

static void operators_report_put_sums(const struct report *report)
{
	const struct operators_state *sum = report->sum;
	const struct operator_sums *sums = &sum->sums;
	int64_t calls = 0, cpu_ps = 0;

	for (size_t i = 0; i < sum->nr_rows; i++) {
		calls += sum->rows[i].is_call ? 0 : sum->rows[i].calls;
		cpu_ps = ts_i64_add(cpu_ps, sum->rows[i].self_cpu_ps);
	}
	TS_SET(report->result, operators, calls, ts_int(calls));
	TS_SET(report->result, operators, self_cpu_ps, ts_int(cpu_ps));
	TS_SET(report->result, operators, gpu_ps, gpu(report, sums->gpu_ps));
	TS_SET(report->result, operators, outside_gpu_ps, gpu(report, sums->outside_ps));
	TS_SET(report->result, operators, flops,
	       sums->nr_counted > 0 ? ts_real(sums->flops) : ts_null());
	TS_SET(report->result, operators, flops_utilization_pct, utilization(report));
}

static void operators_report_put_notes(const struct report *report)
{
	bool has_shapes = false, has_others = false;

	for (size_t i = 0; i < report->sum->nr_rows; i++) {
		has_shapes |= report->sum->rows[i].shapes.n > 0;
		has_others |= report->sum->rows[i].is_others;
	}
	if (report->sum->nr_rows == 0)
		ts_result_note(report->result, "the trace has no operators");
	else if (!has_shapes)
		ts_result_note(report->result, "the trace has no shapes, so FLOPs are unknown "
					       "(profile with record_shapes=True)");
	if (has_others)
		ts_result_note(
			report->result,
			"beyond %d rows of by_shape[] further shapes of an operator are one row, "
			"others",
			OPERATORS_ROWS);
}

static double narrow_peak(const struct ts_rates *rates)
{
	if (!rates)
		return NAN;
	return fmax(rates->peak_flops_per_s, fmax(rates->peak_fp8_per_s, rates->peak_int8_per_s));
}

enum ts_status ts_operators_report(const struct operators_state *sum, const struct ts_context *ctx,
				   struct ts_result *result, struct ts_error *err)
{
	const struct ts_rates *rates = ts_flops_rates(ctx);
	struct report report = { ctx, result, sum, rates, narrow_peak(rates) };
	struct operator_row *rows;
	size_t nr = sum->nr_rows;

	if (!ts_profile_is_torch(ctx->profile))
		return TS_OK;
	operators_report_put_sums(&report);
	operators_report_put_notes(&report);
	if (nr == 0)
		return TS_OK;
	rows = malloc(nr * sizeof(*rows));
	if (!rows)
		return ts_fail_nomem(err);
	memcpy(rows, sum->rows, nr * sizeof(*rows));
	ts_operators_least(rows, nr, rates);
	nr = fold_shapes(rows, nr);
	TS_SORT(rows, nr, operators_report_costliest_first);
	operators_report_put_names(&report, rows, nr);
	ts_operators_categories(ctx, rows, nr, sum->sums.gpu_ps, result);
	nr = sum->nr_rows;
	memcpy(rows, sum->rows, nr * sizeof(*rows));
	ts_operators_least(rows, nr, rates);
	TS_SORT(rows, nr, operators_report_costliest_first);
	operators_report_put_shapes(&report, rows, nr);
	free(rows);
	return TS_OK;
}
