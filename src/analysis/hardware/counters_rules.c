/* SPDX-License-Identifier: MIT */
/*
 * The rules about counters: a clock that was held back, and figures of the hardware that differ from the modelled ones. They
 * speak of nothing but what a counter or a line says: a fall of power alone is no throttling.
 */
#include "analysis/hardware/counters.h"

#include <math.h>

#include "analysis/kit/rule.h"
#include "analysis/settings_list.h"

/* --- throttling */

static void add_times(struct ts_doctor *doctor)
{
	const struct ts_samples_facts *samples = ts_samples_facts(doctor->ctx);

	for (size_t i = 0; i < TS_MIN(samples->nr_throttled, TS_MAX_RANGES); i++)
		ts_doctor_range(doctor, samples->throttled[i].device,
				samples->throttled[i].span.start_ps,
				samples->throttled[i].span.end_ps);
}

static void report_throttled(struct ts_doctor *doctor, const struct ts_rule *rule,
			     const struct ts_counters_facts *counters)
{
	const struct ts_throttled *first = ts_samples_facts(doctor->ctx)->throttled;
	const struct ts_device *device = &doctor->ctx->profile->devices[counters->device];
	struct ts_finding *finding = ts_doctor_report_run(doctor, rule, counters->lost_ps);

	finding->title = TS_SENTENCE(
		doctor, "Throttling: the clock was held back for {core}[, which cost {core}]",
		TS_CORE(counters->throttled_ps), TS_CORE(counters->lost_ps));
	finding->evidence = TS_SENTENCE(
		doctor,
		"The chip says so itself, of {count} device{s}: on {name} first from {time} to "
		"{time}. [Its counter shows up to {pct}. ][Ops took {number} % of what the same "
		"ones "
		"take at other times.]",
		TS_COUNT(counters->nr_devices), TS_NAME(device->label),
		TS_TIME(first->span.start_ps), TS_TIME(first->span.end_ps),
		TS_PCT(counters->throttle_pct), TS_ROUNDED(100 * counters->slower));
	add_times(doctor);
	ts_doctor_lift(doctor, TS_WARNING, "the chip itself says so");
}

static void report_skipped(struct ts_doctor *doctor, const struct ts_rule *rule,
			   const struct ts_counters_facts *counters)
{
	struct ts_finding *finding = ts_doctor_report_run(doctor, rule, counters->skipped_ps);

	finding->title =
		TS_SENTENCE(doctor, "Throttling: {share} of the cores' clocks were skipped, {core}",
			    TS_SHARE(counters->skipped_share), TS_CORE(counters->skipped_ps));
	finding->evidence = TS_SENTENCE(doctor,
					"The chip counts {share} of its cycles as skipped (Clocks "
					"Skipped) since the capture "
					"began.",
					TS_SHARE(counters->skipped_share));
}

static void check_throttled(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_counters_facts *counters = doctor->own;
	double least = doctor->ctx->settings->throttling_high / 100;

	if (counters->throttled_ps > 0 && !(ts_doctor_share(doctor, counters->lost_ps) < least))
		report_throttled(doctor, rule, counters);
	else if (counters->throttled_ps <= 0 && counters->skipped_share > least)
		report_skipped(doctor, rule, counters);
}

const struct ts_rule ts_rule_throttled = {
	.name = "throttled",
	.confidence = TS_CERTAIN,
	.keep = true,
	.classes = TS_CLASSES_OF_WORK,
	.ceiling = "what ops took longer while the clock was held back",
	.check = check_throttled,
};

/* --- measured against modelled */

static bool differs(const struct ts_doctor *doctor, struct counters_pair pair)
{
	double most = doctor->ctx->settings->counters_differ_high / 100;

	return pair.modelled > 0 && fabs(pair.measured / pair.modelled - 1) > most;
}

static void check_mxu_differs(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_counters_facts *counters = doctor->own;
	struct counters_pair mxu = counters->mxu;
	struct ts_finding *finding;

	if (!differs(doctor, mxu))
		return;
	finding = ts_doctor_report_run(doctor, rule, TS_UNKNOWN);
	finding->title = TS_SENTENCE(
		doctor, "Matrix units are busy {share} of the cycles, and the model says {share}",
		TS_SHARE(mxu.measured), TS_SHARE(mxu.modelled));
	finding->evidence = TS_SENTENCE(
		doctor,
		"Measured: the chip's counters. Modelled: the FLOPs of the ops against the peak. "
		"[Busy "
		"and not full: {text}.][{text}.]",
		TS_WHEN(mxu.measured > mxu.modelled,
			TS_STRING("products whose shape leaves a part of the array empty, a weight "
				  "that is pushed for few rows, or an op whose cost is unknown")),
		TS_WHEN(mxu.measured < mxu.modelled,
			TS_STRING(
				"The FLOPs that the ops claim were not all computed: a kernel that "
				"leaves masked or sparse blocks out, or a cost that its author set "
				"too high")));
	ts_doctor_cap(doctor, TS_INFO, "it says how far the model is to be believed");
}

const struct ts_rule ts_rule_mxu_differs = {
	.name = "mxu_differs",
	.confidence = TS_LIKELY,
	.keep = true,
	.is_headroom = true,
	.check = check_mxu_differs,
};

static void check_hbm_differs(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_counters_facts *counters = doctor->own;
	struct counters_pair hbm = counters->hbm;
	struct ts_finding *finding;

	if (!differs(doctor, hbm))
		return;
	finding = ts_doctor_report_run(doctor, rule, TS_UNKNOWN);
	finding->title =
		TS_SENTENCE(doctor, "HBM moved {bytes} by its counters, and the model says {bytes}",
			    TS_BYTES(hbm.measured), TS_BYTES(hbm.modelled));
	finding->evidence = TS_SENTENCE(
		doctor,
		"Measured: the memory's counters, {share} of its peak. Modelled: the bytes of the "
		"ops. "
		"[More than modelled: {text}.][Less than modelled: {text}.]",
		TS_SHARE(counters->hbm_share),
		TS_WHEN(hbm.measured > hbm.modelled,
			TS_STRING(
				"copies that no op stands for, kernels without a cost, spills, or "
				"traffic of other programs")),
		TS_WHEN(hbm.measured < hbm.modelled,
			TS_STRING(
				"operands that stay on the chip between ops, or a cost that counts "
				"an array more often than it is read")));
	ts_doctor_cap(doctor, TS_INFO, "it says how far the model is to be believed");
}

const struct ts_rule ts_rule_hbm_differs = {
	.name = "hbm_differs",
	.confidence = TS_LIKELY,
	.keep = true,
	.is_headroom = true,
	.check = check_hbm_differs,
};
