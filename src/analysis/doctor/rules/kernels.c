/* Rules about kernels that the compiler takes as they are. */
#include "analysis/doctor/doctor.h"

static const struct ts_op_fact *fact_of(const struct ts_doctor *doctor,
					const struct ts_table *calls, size_t row)
{
	return ts_doctor_fact(doctor, ts_cell_text(calls, row, "module"),
			      ts_cell_text(calls, row, "name"));
}

/* What the kernel would give back at its roofline; -1: it is not slow, or that is unknown. The
 * sizes of the arrays do not show how much it computes, so that it may be at its roofline all the
 * same. */
static int64_t loss_of(const struct ts_doctor *doctor, const struct ts_table *calls, size_t row)
{
	const struct ts_op_fact *fact = fact_of(doctor, calls, row);
	double share = ts_cell_number(calls, row, "roofline_pct") / 100;
	struct ts_bytes source = ts_cell_text(calls, row, "cost_source");

	if (!fact || isnan(share) || share * 100 >= doctor->ctx->settings->kernel_roofline_low ||
	    ts_bytes_is(source, "shapes") || source.n == 0)
		return -1;
	return ts_to_ps((double)fact->exclusive_ps * (1 - share));
}

static void report_kernel(struct ts_doctor *doctor, const struct ts_rule *rule,
			  const struct ts_table *calls, size_t row, int64_t impact_ps)
{
	const struct ts_op_fact *fact = fact_of(doctor, calls, row);
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, fact->module, fact->name, impact_ps);

	finding->title = TS_SENTENCE(doctor, "The kernel {name} runs at {pct} of its roofline",
				     TS_NAME(ts_cell_text(calls, row, "kernel")),
				     TS_PCT(ts_cell_number(calls, row, "roofline_pct")));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{time}: {metric}FLOP/s and {rate} by its cost ({text}) in {count} execution{s}.",
		TS_TIME(fact->self_ps), TS_METRIC(ts_cell_number(calls, row, "flops_per_s")),
		TS_RATE(ts_cell_number(calls, row, "bytes_per_s")),
		TS_TEXT(ts_cell_text(calls, row, "cost_source")), TS_COUNT(fact->occurrences));
	ts_doctor_where_one(doctor, finding, fact);
}

static void check_kernel_roofline(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *result = ts_results_find(doctor->ctx->results, "custom_calls");
	const struct ts_table *calls = result ? ts_result_find_table(result, "calls") : NULL;
	struct ts_best best = { .nr = 0 };

	for (size_t i = 0; calls && i < calls->nr_rows; i++) {
		int64_t loss_ps = loss_of(doctor, calls, i);

		if (loss_ps > 0)
			ts_best_add(&best, i, loss_ps);
	}
	for (size_t i = 0; i < best.nr; i++)
		report_kernel(doctor, rule, calls, best.row[i], best.impact[i]);
}

const struct ts_rule ts_rule_kernel_roofline = {
	.name = "kernel_roofline",
	.confidence = TS_LIKELY,
	.check = check_kernel_roofline,
	.ceiling = "the kernel's time less what its cost takes at the chip's peaks",
};
