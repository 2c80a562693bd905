/* SPDX-License-Identifier: MIT */
/* Alerts over time: hold, hysteresis, severities. Times are given, so answers are by hand. */
#include "tests/test.h"
#include "analysis/doctor/doctor.h"

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "live/alert.h"
#include "result/schema/capture.def"
#include "result/schema/doctor.def"

struct changes {
	char text[4096]; /* "+rule " raised, "-rule " cleared, "!" in front when critical */
};

static void note(void *ctx, const struct ts_alert *alert)
{
	struct changes *changes = ctx;
	size_t n = strlen(changes->text);

	snprintf(changes->text + n, sizeof(changes->text) - n, "%s%s%s ",
		 alert->is_active && alert->severity == TS_CRITICAL ? "!" : "",
		 alert->is_active ? "+" : "-", alert->rule);
}

struct given {
	struct ts_settings settings;
	struct ts_alerts alerts;
	struct changes changes;
};

static void begin(struct given *given)
{
	memset(given, 0, sizeof(*given));
	ts_settings_init(&given->settings);
	ts_alerts_init(&given->alerts, &given->settings, 1000, 5000);
}

static void sample(struct given *given, int64_t at_ms, enum ts_metric metric, double value)
{
	double values[TS_NR_METRICS];

	for (size_t i = 0; i < TS_NR_METRICS; i++)
		values[i] = NAN;
	values[metric] = value;
	ts_alerts_begin(&given->alerts, at_ms);
	ts_alerts_metrics(&given->alerts, values, NULL);
	ts_alerts_end(&given->alerts, true, note, &given->changes);
}

static void must_report(struct given *given, const char *text)
{
	assert_string_equal(given->changes.text, text);
	ts_alerts_release(&given->alerts);
}

TEST(a_figure_that_has_held_is_raised_once)
{
	struct given given;

	begin(&given);
	sample(&given, 0, TS_METRIC_PADDING, 31);
	sample(&given, 600, TS_METRIC_PADDING, 35);
	assert_string_equal(given.changes.text, "");
	for (int64_t at = 1200; at < 60000; at += 600)
		sample(&given, at, TS_METRIC_PADDING, 40);
	must_report(&given, "+padding_waste_high ");
}

TEST(a_moment_is_not_an_alert)
{
	struct given given;

	begin(&given);
	for (int64_t at = 0; at < 60000; at += 600)
		sample(&given, at, TS_METRIC_PADDING, at / 600 % 3 < 2 ? 90 : 5);
	must_report(&given, "");
}

TEST(around_its_threshold_nothing_flaps)
{
	struct given given;

	begin(&given);
	for (int64_t at = 0; at < 3000; at += 600)
		sample(&given, at, TS_METRIC_PADDING, 31);
	for (int64_t at = 3000; at < 60000; at += 600) /* less than a tenth back: not good */
		sample(&given, at, TS_METRIC_PADDING, at / 600 % 2 ? 28 : 31);
	assert_string_equal(given.changes.text, "+padding_waste_high ");
	for (int64_t at = 60000; at <= 66000; at += 600)
		sample(&given, at, TS_METRIC_PADDING, 26);
	must_report(&given, "+padding_waste_high -padding_waste_high ");
}

TEST(it_is_over_after_the_clear_time_and_not_before)
{
	struct given given;

	begin(&given);
	sample(&given, 0, TS_METRIC_COMPILATION, 6000);
	sample(&given, 1000, TS_METRIC_COMPILATION, 6000);
	sample(&given, 2000, TS_METRIC_COMPILATION, 0);
	sample(&given, 6999, TS_METRIC_COMPILATION, 0);
	assert_string_equal(given.changes.text, "+compilation_time_high ");
	sample(&given, 7000, TS_METRIC_COMPILATION, 0);
	must_report(&given, "+compilation_time_high -compilation_time_high ");
}

TEST(the_stronger_of_two_rules_speaks)
{
	struct given given;

	begin(&given);
	for (int64_t at = 0; at < 5000; at += 500)
		sample(&given, at, TS_METRIC_MXU, 12);
	assert_string_equal(given.changes.text, "!+mxu_utilization_low ");
	for (int64_t at = 5000; at < 20000; at += 500)
		sample(&given, at, TS_METRIC_MXU, 40);
	must_report(&given, "!+mxu_utilization_low +mxu_utilization_warning -mxu_utilization_low ");
}

TEST(what_is_unknown_changes_nothing)
{
	struct given given;

	begin(&given);
	for (int64_t at = 0; at < 5000; at += 500)
		sample(&given, at, TS_METRIC_MXU, NAN);
	for (int64_t at = 5000; at < 10000; at += 500)
		sample(&given, at, TS_METRIC_MXU, 12);
	for (int64_t at = 10000; at < 60000; at += 500)
		sample(&given, at, TS_METRIC_MXU, NAN);
	must_report(&given, "!+mxu_utilization_low ");
}

TEST(thresholds_are_the_users)
{
	struct given given;

	begin(&given);
	assert_true(ts_settings_set(&given.settings, TS_LIT("padding_waste_high"), 60));
	for (int64_t at = 0; at < 10000; at += 500)
		sample(&given, at, TS_METRIC_PADDING, 55);
	must_report(&given, "");
}

static void hold(struct given *given, int64_t at_ms, enum ts_severity severity, bool at_once)
{
	struct ts_condition condition = { .rule = "recompilation",
					  .severity = severity,
					  .title = TS_LIT("f"),
					  .value = NAN,
					  .threshold = NAN,
					  .at_once = at_once };

	ts_alerts_begin(&given->alerts, at_ms);
	ts_alerts_hold(&given->alerts, &condition);
	ts_alerts_end(&given->alerts, true, note, &given->changes);
}

TEST(what_has_its_own_evidence_needs_no_hold_time)
{
	struct given given;

	begin(&given);
	hold(&given, 100, TS_WARNING, true);
	hold(&given, 700, TS_WARNING, true);
	must_report(&given, "+recompilation ");
}

TEST(an_alert_that_gets_more_severe_is_raised_again)
{
	struct given given;

	begin(&given);
	hold(&given, 0, TS_WARNING, true);
	hold(&given, 600, TS_CRITICAL, true);
	hold(&given, 1200, TS_WARNING, true);
	hold(&given, 1800, TS_CRITICAL, true);
	assert_int_equal(given.alerts.nr_raised[TS_WARNING], 1);
	assert_int_equal(given.alerts.nr_raised[TS_CRITICAL], 1);
	must_report(&given, "+recompilation !+recompilation ");
}

/* A sample in which the doctor found this. */
static void found(struct given *given, int64_t at_ms, const char *rule, enum ts_severity severity,
		  bool of_capture)
{
	struct ts_result *doctor, *capture;
	struct ts_finding *finding;
	struct ts_results results;

	ts_results_init(&results);
	doctor = TS_ADD(&results, doctor);
	finding = ts_result_finding(doctor);
	finding->rule = rule;
	finding->severity = severity;
	finding->title = TS_LIT("found");
	capture = TS_ADD(&results, capture);
	if (of_capture)
		TS_PUT_ROW(capture, TS_TABLE(capture, capture_causes), capture_causes,
			   .id = ts_text(ts_bytes_of(rule)));
	ts_alerts_begin(&given->alerts, at_ms);
	ts_alerts_findings(&given->alerts, &results, true);
	ts_alerts_end(&given->alerts, true, note, &given->changes);
	ts_results_release(&results);
}

#define NAME_OF(name) #name,
static const char *const doctor_rules[] = { TS_RULES(NAME_OF) };

/* Is the rule covered by a figure or by the watch over programs, or of no use while a job runs? */
static bool is_covered_elsewhere(const char *rule)
{
	static const char *const names[] = { "capture",		"compilation",	 "recompilation",
					     "mxu_utilization", "padding_waste", "unknown_cost",
					     "unknown_chip" };

	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (strcmp(rule, names[i]) == 0)
			return true;
	return false;
}

TEST(every_rule_of_the_doctor_raises_one_alert_that_holds)
{
	assert_true(TS_NELEM(doctor_rules) + 4 <= TS_MAX_ALERTS);
	for (size_t i = 0; i < TS_NELEM(doctor_rules); i++) {
		const char *rule = doctor_rules[i];
		char text[256] = "";
		struct given given;

		begin(&given);
		found(&given, 0, rule, TS_WARNING, false);
		found(&given, 999, rule, TS_WARNING, false);
		assert_string_equal(given.changes.text, ""); /* not held for a second yet */
		for (int64_t at = 1000; at < 30000; at += 500)
			found(&given, at, rule, TS_WARNING, false);
		for (int64_t at = 30000; at <= 35000; at += 500)
			found(&given, at, "some_other_rule", TS_INFO, false);
		if (!is_covered_elsewhere(rule))
			snprintf(text, sizeof(text), "+%s -%s ", rule, rule);
		must_report(&given, text);
	}
}

TEST(findings_about_the_capture_are_not_alerts)
{
	struct given given;

	begin(&given);
	for (int64_t at = 0; at < 10000; at += 500)
		found(&given, at, "not_a_device", TS_CRITICAL, true);
	must_report(&given, "");
}

TEST(information_is_not_an_alert)
{
	struct given given;

	begin(&given);
	for (int64_t at = 0; at < 10000; at += 500)
		found(&given, at, "straggler", TS_INFO, false);
	must_report(&given, "");
}

TEST(a_finding_is_reported_again_when_it_gets_worse_and_not_when_it_gets_better)
{
	struct given given;

	begin(&given);
	for (int64_t at = 0; at < 20000; at += 500)
		found(&given, at, "idle", at / 1000 % 4 == 2 ? TS_CRITICAL : TS_WARNING, false);
	must_report(&given, "+idle !+idle ");
}

TEST(more_rules_than_are_kept_do_no_harm)
{
	struct given given;
	char name[32];

	begin(&given);
	for (int i = 0; i < TS_MAX_ALERTS * 2; i++) {
		snprintf(name, sizeof(name), "rule_%d", i);
		found(&given, i * 100000, name, TS_WARNING, false);
	}
	assert_int_equal(given.alerts.nr, TS_MAX_ALERTS);
	ts_alerts_release(&given.alerts);
}
