/* SPDX-License-Identifier: MIT */
/* A cause with its evidence, its advice and how sure it is. */
#include "analysis/run/capture_checks.h"

#include "analysis/kit/advice.h"
#include "base/check.h"

static struct ts_bytes capture_add_take_text(struct capture_report *report)
{
	struct ts_bytes text =
		ts_result_text(report->result, "%.*s", TS_ARG(ts_buf_bytes(&report->text)));

	report->failed |= report->text.failed || !text.p;
	ts_buf_clear(&report->text);
	return text;
}

/* What to do about the cause: analysis/advice/FRAMEWORK/capture/ID.py. */
static const struct ts_advice *capture_add_advice_of(const struct ts_profile *profile,
						     const char *id)
{
	char name[64];

	snprintf(name, sizeof(name), "capture/%s", id);
	return ts_advice_find(ts_framework_of(profile), name);
}

/* The causes that are concluded from what is missing. All others are seen in the profile. */
static enum ts_confidence confidence_of(const char *id)
{
	static const char *const likely[] = { "ran_on_cpu",  "warm_up_only",	 "ops_missing",
					      "not_blocked", "device_trace_cut", "steps_inferred" };

	for (size_t i = 0; i < TS_NELEM(likely); i++)
		if (strcmp(likely[i], id) == 0)
			return TS_LIKELY;
	return TS_CERTAIN;
}

/* The causes that say that something is not there. Of a file that could not be read to its end that is not known. */
static bool needs_whole_input(const char *id)
{
	static const char *const absences[] = {
		"ran_on_cpu",	    "no_device",	  "not_read",
		"counters_only",    "device_ran_nothing", "only_compilation",
		"warm_up_only",	    "ops_missing",	  "not_blocked",
		"device_trace_cut", "unused_devices",	  "host_tracing_off",
		"no_hlo",	    "steps_inferred",	  "steps_missing",
		"devices_missing",
	};

	for (size_t i = 0; i < TS_NELEM(absences); i++)
		if (strcmp(absences[i], id) == 0)
			return true;
	return false;
}

/* Reports a cause; the evidence is what was put into report->text. */
void ts_capture_add(struct capture_report *report, const char *id, enum ts_severity severity,
		    enum ts_capture_verdict verdict, struct ts_bytes what)
{
	const struct ts_advice *advice = capture_add_advice_of(report->ctx->profile, id);

	if (ts_profile_is_damaged(report->ctx->profile) && needs_whole_input(id)) {
		ts_buf_clear(&report->text);
		return;
	}
	TS_ASSERT(advice->advice[0] && report->nr_causes < MAX_CAUSES);
	report->causes[report->nr_causes++] = (struct ts_capture_cause){
		.id = id,
		.severity = severity,
		.verdict = verdict,
		.confidence = confidence_of(id),
		.what = what,
		.evidence = capture_add_take_text(report),
		.fix = ts_bytes_of(advice->advice),
		.code = ts_bytes_of(advice->code),
	};
	report->failed |= !what.p;
	report->verdict = TS_MAX(report->verdict, verdict);
}
