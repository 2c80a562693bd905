/* SPDX-License-Identifier: MIT */
/* Alerts: conditions of single samples become states over time. */
#include "live/alert.h"

#include "analysis/settings.h"
#include "base/check.h"
#include "base/units.h"
#include "result/schema/cache.def"
#include "result/schema/capture.def"
#include "result/schema/doctor.def"

#define BACK 0.1 /* how far a figure must come back to be good, as a share of its threshold */

struct figure_rule {
	const char *name;
	enum ts_severity severity;
	enum ts_metric metric;
	bool is_below; /* a figure below the threshold is wrong; otherwise one above it is */
	const char *what;
	/* a stronger rule about the same figure; this one is silent while that one holds */
	const char *unless;
	/* the doctor's finding that gives evidence and advice, where the sample has it */
	const char *finding;
};

static const struct figure_rule figure_rules[] = {
	{ "mxu_utilization_low", TS_CRITICAL, TS_METRIC_MXU, true, "Matrix-unit utilization", NULL,
	  "mxu_utilization" },
	{ "mxu_utilization_warning", TS_WARNING, TS_METRIC_MXU, true, "Matrix-unit utilization",
	  "mxu_utilization_low", "mxu_utilization" },
	{ "padding_waste_high", TS_WARNING, TS_METRIC_PADDING, false, "Padding waste", NULL,
	  "padding_waste" },
	{ "compilation_time_high", TS_WARNING, TS_METRIC_COMPILATION, false,
	  "Compilation in the last minute", NULL, "compilation" },
};

#define MAX_NAMED 3 /* so many compiled functions are named in the evidence */

static const struct {
	const char *rule;
	/* by live/programs.h or a figure over time; both see more than one sample */
	bool by_samples;
} covered_elsewhere[] = {
	{ "mxu_utilization", false }, { "padding_waste", false }, /* by a row above */
	{ "compilation", true },      { "recompilation", true },  { "unknown_cost", false },
	{ "unknown_chip", false },    { "capture", false },
};

void ts_alerts_init(struct ts_alerts *alerts, const struct ts_settings *settings, int64_t hold_ms,
		    int64_t clear_ms)
{
	TS_ASSERT(alerts != NULL && settings != NULL);
	TS_ASSERT(hold_ms >= 0 && clear_ms >= 0);
	memset(alerts, 0, sizeof(*alerts));
	alerts->settings = settings;
	alerts->hold_ms = hold_ms;
	alerts->clear_ms = clear_ms;
}

void ts_alerts_release(struct ts_alerts *alerts)
{
	TS_ASSERT(alerts != NULL);
	TS_ASSERT(alerts->nr <= TS_MAX_ALERTS);
	for (size_t i = 0; i < alerts->nr; i++) {
		ts_buf_release(&alerts->items[i].title);
		ts_buf_release(&alerts->items[i].evidence);
		ts_buf_release(&alerts->items[i].advice);
	}
	alerts->nr = 0;
}

static struct ts_alert *alert_find(struct ts_alerts *alerts, const char *rule)
{
	for (size_t i = 0; i < alerts->nr; i++)
		if (strcmp(alerts->items[i].rule, rule) == 0)
			return &alerts->items[i];
	return NULL;
}

/* The alert of this rule, which is made if there is none yet. NULL: there are too many. */
static struct ts_alert *alert_get(struct ts_alerts *alerts, const char *rule)
{
	TS_ASSERT(rule != NULL && rule[0] != '\0');
	TS_ASSERT(strlen(rule) < sizeof(((struct ts_alert *)NULL)->rule));

	struct ts_alert *alert = alert_find(alerts, rule);

	if (alert || alerts->nr == TS_MAX_ALERTS)
		return alert;
	alert = &alerts->items[alerts->nr++];
	memset(alert, 0, sizeof(*alert));
	snprintf(alert->rule, sizeof(alert->rule), "%s", rule);
	alert->severity = TS_NR_SEVERITIES;
	alert->held_since_ms = alert->good_since_ms = -1;
	return alert;
}

void ts_alerts_forget(struct ts_alerts *alerts)
{
	TS_ASSERT(alerts != NULL);
	TS_ASSERT(alerts->nr <= TS_MAX_ALERTS);
	for (size_t i = 0; i < alerts->nr; i++) {
		alerts->items[i].is_active = false;
		alerts->items[i].severity = TS_NR_SEVERITIES;
		alerts->items[i].held_since_ms = alerts->items[i].good_since_ms = -1;
	}
}

void ts_alerts_begin(struct ts_alerts *alerts, int64_t now_ms)
{
	TS_ASSERT(alerts != NULL && alerts->settings != NULL);
	TS_ASSERT(alerts->nr <= TS_MAX_ALERTS);
	alerts->now_ms = now_ms;
	for (size_t i = 0; i < alerts->nr; i++)
		alerts->items[i].is_held = false;
}

static void alert_set_text(struct ts_alerts *alerts, struct ts_buf *buf, struct ts_bytes text)
{
	ts_buf_clear(buf);
	ts_buf_put(buf, text);
	alerts->failed |= buf->failed;
}

void ts_alerts_hold(struct ts_alerts *alerts, const struct ts_condition *condition)
{
	TS_ASSERT(alerts != NULL && condition != NULL);
	TS_ASSERT(condition->severity < TS_NR_SEVERITIES);

	struct ts_alert *alert = alert_get(alerts, condition->rule);

	/* where a rule has several findings, the first one is the largest */
	if (!alert || (alert->is_held && condition->severity >= alert->severity))
		return;
	if (!alert->is_active)
		alert->severity = condition->severity;
	alert->is_held = true;
	alert->value = condition->value;
	alert->threshold = condition->threshold;
	alert_set_text(alerts, &alert->title, condition->title);
	alert_set_text(alerts, &alert->evidence, condition->evidence);
	alert_set_text(alerts, &alert->advice, condition->advice);
	if (alert->held_since_ms < 0)
		alert->held_since_ms =
			condition->at_once ? alerts->now_ms - alerts->hold_ms : alerts->now_ms;
	if (alert->is_active && condition->severity < alert->severity) {
		alert->severity = condition->severity; /* it is raised once more */
		alert->is_active = false;
	}
}

static double threshold_of(const struct ts_settings *settings, const char *name)
{
	for (const struct ts_setting *row = ts_setting_list; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return *(const double *)(const void *)((const char *)settings +
							       row->offset);
	TS_ASSERT(!"a row of figure_rules names a setting");
	return NAN;
}

static bool is_wrong(struct ts_alerts *alerts, const struct figure_rule *rule, double value,
		     double threshold)
{
	const struct ts_alert *alert = alert_find(alerts, rule->name);
	double back = alert && alert->is_active ? BACK * threshold : 0;

	return rule->is_below ? value < threshold + back : value > threshold - back;
}

static const struct ts_finding *find_finding(const struct ts_results *results, const char *rule)
{
	const struct ts_result *doctor = results ? TS_FIND(results, doctor) : NULL;

	for (size_t i = 0; doctor && i < doctor->nr_findings; i++)
		if (doctor->findings[i].rule && strcmp(doctor->findings[i].rule, rule) == 0)
			return &doctor->findings[i];
	return NULL;
}

/* "In this sample: jit_train_step, jit_loss and 2 more." */
static void alert_put_compiled(struct ts_buf *out, const struct ts_results *results)
{
	const struct ts_result *cache = results ? TS_FIND(results, cache) : NULL;
	const struct ts_table *table = TS_RESULT_TABLE(cache, cache_compilations);
	size_t nr = table ? table->nr_rows : 0;

	for (size_t i = 0; i < TS_MIN(nr, MAX_NAMED); i++) {
		struct ts_bytes source =
			ts_value_text(TS_CELL_OF(table, cache_compilations, i, source));

		ts_buf_printf(
			out, "%s%.*s", i ? ", " : "In this sample: ",
			TS_ARG(ts_value_text(TS_CELL_OF(table, cache_compilations, i, module))));
		if (source.n > 0)
			ts_buf_printf(out, " (%.*s)", TS_ARG(source));
	}
	if (nr > MAX_NAMED)
		ts_buf_printf(out, " and %zu more", nr - MAX_NAMED);
	if (nr > 0)
		ts_buf_putc(out, '.');
}

static void hold_figure(struct ts_alerts *alerts, const struct figure_rule *rule, double value,
			double threshold, const struct ts_results *results)
{
	TS_ASSERT(rule->metric < TS_NR_METRICS && isfinite(value));

	const struct ts_finding *finding = find_finding(results, rule->finding);
	char text[TS_UNIT_MAX], limit[TS_UNIT_MAX];
	struct ts_buf title = TS_BUF_INIT, evidence = TS_BUF_INIT;
	struct ts_condition condition = { .rule = rule->name,
					  .severity = rule->severity,
					  .value = value,
					  .threshold = threshold };

	ts_metric_text(text, sizeof(text), rule->metric, value);
	ts_metric_text(limit, sizeof(limit), rule->metric, threshold);
	ts_buf_printf(&title, "%s is %s (limit: %s)", rule->what, text, limit);
	if (finding)
		ts_buf_printf(&evidence, "%.*s. %.*s", TS_ARG(finding->title),
			      TS_ARG(finding->evidence));
	else if (rule->metric == TS_METRIC_COMPILATION)
		alert_put_compiled(&evidence, results);
	alerts->failed |= title.failed || evidence.failed;
	condition.title = ts_buf_bytes(&title);
	condition.evidence = ts_buf_bytes(&evidence);
	condition.advice = finding ? finding->advice : condition.advice;
	ts_alerts_hold(alerts, &condition);
	ts_buf_release(&title);
	ts_buf_release(&evidence);
}

/* The figure is unknown in this sample: the alert of its rule stays as it is. */
static void alert_keep(struct ts_alerts *alerts, const char *rule)
{
	struct ts_alert *alert = alert_find(alerts, rule);

	if (alert && alert->is_active)
		alert->is_held = true;
}

void ts_alerts_metrics(struct ts_alerts *alerts, const double values[TS_NR_METRICS],
		       const struct ts_results *results)
{
	TS_ASSERT(alerts != NULL && alerts->settings != NULL);
	TS_ASSERT(values != NULL);
	for (size_t i = 0; i < TS_NELEM(figure_rules); i++) {
		const struct figure_rule *rule = &figure_rules[i];
		double value = values[rule->metric];
		double threshold = threshold_of(alerts->settings, rule->name);
		const struct ts_alert *stronger =
			rule->unless ? alert_find(alerts, rule->unless) : NULL;

		if (!isfinite(value))
			alert_keep(alerts, rule->name);
		else if (!(stronger && stronger->is_held) &&
			 is_wrong(alerts, rule, value, threshold))
			hold_figure(alerts, rule, value, threshold, results);
	}
}

static bool is_about_the_capture(const struct ts_results *results, const char *rule, bool is_sample)
{
	const struct ts_result *capture = TS_FIND(results, capture);
	const struct ts_table *causes = TS_RESULT_TABLE(capture, capture_causes);

	for (size_t i = 0; causes && i < causes->nr_rows; i++)
		if (ts_bytes_is(ts_value_text(TS_CELL_OF(causes, capture_causes, i, id)), rule))
			return true;
	for (size_t i = 0; i < TS_NELEM(covered_elsewhere); i++)
		if (strcmp(rule, covered_elsewhere[i].rule) == 0)
			return is_sample || !covered_elsewhere[i].by_samples;
	return false;
}

void ts_alerts_findings(struct ts_alerts *alerts, const struct ts_results *results, bool is_sample)
{
	TS_ASSERT(alerts != NULL && results != NULL);

	const struct ts_result *doctor = TS_FIND(results, doctor);

	for (size_t i = 0; doctor && i < doctor->nr_findings; i++) {
		const struct ts_finding *finding = &doctor->findings[i];
		struct ts_condition condition = { .rule = finding->rule,
						  .severity = finding->severity,
						  .title = finding->title,
						  .evidence = finding->evidence,
						  .advice = finding->advice,
						  .value = NAN,
						  .threshold = NAN };

		if (!finding->rule || finding->severity == TS_INFO ||
		    is_about_the_capture(results, finding->rule, is_sample))
			continue;
		ts_alerts_hold(alerts, &condition);
	}
}

static void alert_raise_alert(struct ts_alerts *alerts, struct ts_alert *alert, ts_alert_fn *fn,
			      void *ctx)
{
	TS_ASSERT(!alert->is_active && alert->is_held);
	TS_ASSERT(alert->severity < TS_NR_SEVERITIES);
	alert->is_active = true;
	alert->since_ms = alerts->now_ms;
	alerts->nr_raised[alert->severity]++;
	fn(ctx, alert);
}

static void clear_alert(struct ts_alerts *alerts, struct ts_alert *alert, ts_alert_fn *fn,
			void *ctx)
{
	TS_ASSERT(alert->is_active && !alert->is_held);
	alert->is_active = false;
	alert->since_ms = alerts->now_ms;
	fn(ctx, alert);
}

void ts_alerts_end(struct ts_alerts *alerts, bool known, ts_alert_fn *fn, void *ctx)
{
	TS_ASSERT(alerts != NULL && fn != NULL);
	TS_ASSERT(alerts->nr <= TS_MAX_ALERTS);
	for (size_t i = 0; i < alerts->nr; i++) {
		struct ts_alert *alert = &alerts->items[i];

		if (alert->is_held) {
			alert->good_since_ms = -1;
			if (!alert->is_active &&
			    alerts->now_ms - alert->held_since_ms >= alerts->hold_ms)
				alert_raise_alert(alerts, alert, fn, ctx);
			continue;
		}
		if (!known)
			continue;
		if (alert->good_since_ms < 0)
			alert->good_since_ms = alerts->now_ms;
		if (!alert->is_active)
			alert->held_since_ms = -1;
		else if (alerts->now_ms - alert->good_since_ms >= alerts->clear_ms)
			clear_alert(alerts, alert, fn, ctx);
	}
}
