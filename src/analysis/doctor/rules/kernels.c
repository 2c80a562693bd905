/* SPDX-License-Identifier: MIT */
/* Rules about kernels that the compiler takes as they are. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/custom_calls.h"
#include "analysis/settings_list.h"

static const struct ts_op_fact *rules_kernels_fact_of(const struct ts_doctor *doctor,
						      const struct ts_custom_call *call)
{
	return ts_op_fact_of(doctor->ops, call->op);
}

/* What the kernel would give back at its roofline; -1: it is not slow, or that is unknown. The
 * sizes of the arrays do not show how much it computes, so that it may be at its roofline all the
 * same. */
static int64_t loss_of(const struct ts_doctor *doctor, const struct ts_custom_call *call)
{
	const struct ts_op_fact *fact = rules_kernels_fact_of(doctor, call);
	double share = call->roofline_share;

	if (!fact || isnan(share) || share * 100 >= doctor->ctx->settings->kernel_roofline_low ||
	    call->source == TS_COST_SHAPES || call->source == TS_COST_UNKNOWN)
		return -1;
	return ts_to_ps((double)fact->exclusive_ps * (1 - share));
}

static const char *rules_kernels_name_of(enum ts_kernel_cost_source source)
{
	return source == TS_COST_ESTIMATE  ? "estimate"
	       : source == TS_COST_PRODUCT ? "product"
					   : "profile";
}

static void report_kernel(struct ts_doctor *doctor, const struct ts_rule *rule,
			  const struct ts_custom_call *call, int64_t impact_ps)
{
	const struct ts_op_fact *fact = rules_kernels_fact_of(doctor, call);
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, fact->module, fact->name, impact_ps);

	finding->title = TS_SENTENCE(doctor, "The kernel {name} runs at {pct} of its roofline",
				     TS_NAME(call->kernel), TS_PCT(100 * call->roofline_share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{core}: {metric}FLOP/s and {rate} by its cost ({text}) in {count} execution{s}.",
		TS_CORE(fact->self_ps), TS_METRIC(call->flops_per_s), TS_RATE(call->bytes_per_s),
		TS_STRING(rules_kernels_name_of(call->source)), TS_COUNT(fact->occurrences));
	ts_doctor_where_one(doctor, finding, fact);
}

static void check_kernel_roofline(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_custom_calls_facts *calls = ts_custom_calls_facts(doctor->ctx);
	struct ts_best best = { .nr = 0 };

	for (size_t i = 0; i < calls->nr; i++) {
		int64_t loss_ps = loss_of(doctor, &calls->items[i]);

		if (loss_ps > 0)
			ts_best_add(&best, i, loss_ps);
	}
	for (size_t i = 0; i < best.nr; i++)
		report_kernel(doctor, rule, &calls->items[best.row[i]], best.impact[i]);
}

const struct ts_rule ts_rule_kernel_roofline = {
	.name = "kernel_roofline",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_kernel_roofline,
	.ceiling = "the kernel's time less what its cost takes at the chip's peaks",
};
