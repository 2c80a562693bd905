/*
 * Rules about the capture itself: the causes for doubt that the analysis capture found, and a chip
 * that is not in the chip table. They are reported whatever their impact, because they say how far
 * the other numbers can be trusted.
 */
#include "analysis/doctor/doctor.h"

static enum ts_severity severity_of(struct ts_bytes name)
{
	for (int i = 0; i < TS_NR_SEVERITIES; i++)
		if (ts_bytes_is(name, ts_severity_name((enum ts_severity)i)))
			return (enum ts_severity)i;
	return TS_INFO;
}

static enum ts_confidence confidence_of(struct ts_bytes name)
{
	for (int i = 0; i < TS_NR_CONFIDENCES; i++)
		if (ts_bytes_is(name, ts_confidence_name((enum ts_confidence)i)))
			return (enum ts_confidence)i;
	return TS_POSSIBLE;
}

/* Each cause is a rule of its own to the reader: named by its id, with the words it came with. */
static void report_cause(struct ts_doctor *doctor, const struct ts_rule *rule,
			 const struct ts_table *causes, size_t row)
{
	struct ts_bytes id =
		ts_arena_copy(&doctor->result->owner->arena, ts_cell_text(causes, row, "id"));
	struct ts_rule cause = *rule;
	struct ts_finding *finding;

	if (!id.p) {
		doctor->failed = true;
		return;
	}
	cause.name = (const char *)id.p;
	finding = ts_doctor_report_run(doctor, &cause, -1);
	finding->severity = severity_of(ts_cell_text(causes, row, "severity"));
	finding->confidence = confidence_of(ts_cell_text(causes, row, "confidence"));
	finding->title = ts_cell_text(causes, row, "what");
	finding->evidence = ts_cell_text(causes, row, "evidence");
	finding->advice = ts_cell_text(causes, row, "fix");
	finding->code = ts_cell_text(causes, row, "code");
}

static void check_capture(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *capture = ts_results_find(doctor->ctx->results, "capture");
	const struct ts_table *causes = capture ? ts_result_find_table(capture, "causes") : NULL;

	for (size_t i = 0; causes && i < causes->nr_rows; i++)
		report_cause(doctor, rule, causes, i);
}

static void check_unknown_chip(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	struct ts_finding *finding;

	if (profile->nr_devices == 0 || !doctor->ctx->rates || doctor->rates)
		return;
	finding = ts_doctor_report_run(doctor, rule, -1);
	finding->severity = TS_INFO;
	finding->title = TS_SENTENCE(doctor, "The chip is not known: {name}",
				     TS_NAME(profile->devices[0].kind));
	ts_put(doctor, "Neither the profile nor the chip table has its peak rates, so utilizations "
		       "and rooflines are unknown.");
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_capture = {
	.name = "capture",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_capture,
};
const struct ts_rule ts_rule_unknown_chip = {
	.name = "unknown_chip",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_unknown_chip,
};
