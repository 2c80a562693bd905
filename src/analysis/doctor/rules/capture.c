/* SPDX-License-Identifier: MIT */
/*
 * Rules about the capture itself: the causes for doubt that the analysis capture found, and a chip
 * that is not in the chip table. They are reported whatever their impact, because they say how far
 * the other numbers can be trusted.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/capture.h"

/* Each cause is a rule of its own to the reader: named by its id, with the words it came with. */
static void report_cause(struct ts_doctor *doctor, const struct ts_rule *rule,
			 const struct ts_capture_cause *cause)
{
	struct ts_rule named = *rule;
	struct ts_finding *finding;

	named.name = cause->id;
	finding = ts_doctor_report_run(doctor, &named, -1);
	if (cause->severity < TS_INFO)
		ts_doctor_lift(doctor, cause->severity,
			       "it decides how far the other figures can be trusted");
	finding->confidence = cause->confidence;
	finding->title = cause->what;
	finding->evidence = cause->evidence;
	finding->advice = cause->fix;
	finding->code = cause->code;
}

static void rules_capture_check_capture(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_capture_facts *capture = ts_capture_facts(doctor->ctx);

	for (size_t i = 0; i < capture->nr_causes; i++)
		report_cause(doctor, rule, &capture->causes[i]);
}

static void check_unknown_chip(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	struct ts_finding *finding;

	if (profile->nr_devices == 0 || !doctor->ctx->rates || doctor->rates ||
	    ts_profile_is_of_cpus(profile)) /* the cause ran_on_cpu says it */
		return;
	finding = ts_doctor_report_run(doctor, rule, -1);
	finding->title = TS_SENTENCE(doctor, "The chip is not known[: {name}]",
				     TS_NAME(profile->devices[0].kind));
	ts_put(doctor, "Neither the profile nor the chip table has its peak rates, so utilizations "
		       "and rooflines are unknown.");
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_capture = {
	.name = "capture",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = rules_capture_check_capture,
};
const struct ts_rule ts_rule_unknown_chip = {
	.name = "unknown_chip",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_unknown_chip,
};
