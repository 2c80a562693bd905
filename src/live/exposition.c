/* SPDX-License-Identifier: MIT */
/* https://prometheus.io/docs/instrumenting/exposition_formats/ has the format, .../practices/naming/ the units. */
#include "live/exposition.h"

#include "base/check.h"
#include "base/units.h"

#define PREFIX "tpusight_live_"

static const struct base_unit {
	const char *of; /* in a name of the JSON lines */
	const char *name;
	double factor;
} base_units[] = {
	[TS_METRIC_PCT] = { "_pct", "_ratio", 0.01 },
	[TS_METRIC_MS] = { "_ms", "_seconds", 0.001 },
	[TS_METRIC_PS] = { "_ps", "_seconds", 1 / (double)TS_PS_PER_S },
	[TS_METRIC_BYTES] = { "_bytes", "_bytes", 1 },
	[TS_METRIC_POINTS] = { "_score", "_score", 1 },
};

static void exposition_head(struct ts_buf *out, const char *name, const char *type,
			    const char *help)
{
	ts_buf_printf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name,
		      type);
}

/* A label's value: \, " and line ends are escaped. */
static void exposition_label(struct ts_buf *out, const char *name, struct ts_bytes value)
{
	ts_buf_printf(out, "%s=\"", name);
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] == '\n')
			ts_buf_puts(out, "\\n");
		else if (value.p[i] == '\\' || value.p[i] == '"')
			ts_buf_printf(out, "\\%c", value.p[i]);
		else
			ts_buf_putc(out, (char)value.p[i]);
	}
	ts_buf_putc(out, '"');
}

static void exposition_metric(struct ts_buf *out, enum ts_metric metric, double value)
{
	const struct ts_metric_row *row = &ts_metric_rows[metric];
	const struct base_unit *unit = &base_units[row->unit];
	const char *at = strstr(row->name, unit->of);
	char name[128];

	TS_ASSERT(at != NULL);
	if (!isfinite(value))
		return;
	snprintf(name, sizeof(name), "%.*s%s%s", (int)(at - row->name), row->name, unit->name,
		 at + strlen(unit->of));
	exposition_head(out, name, "gauge", row->label);
	ts_buf_printf(out, PREFIX "%s %.17g\n", name, value * unit->factor);
}

static void exposition_count(struct ts_buf *out, const char *name, const char *help, uint64_t value)
{
	exposition_head(out, name, "counter", help);
	ts_buf_printf(out, PREFIX "%s %llu\n", name, (unsigned long long)value);
}

static double service_is_up(const struct ts_service *service)
{
	return service->state == TS_SERVICE_UP;
}

static double service_samples(const struct ts_service *service)
{
	return (double)service->nr_samples;
}

static double service_failures(const struct ts_service *service)
{
	return (double)service->nr_failed;
}

static double service_restarts(const struct ts_service *service)
{
	return (double)service->nr_restarts;
}

static const struct {
	const char *name, *type, *help;
	double (*of)(const struct ts_service *service);
} of_services[] = {
	{ "service_up", "gauge", "1: the host answered the last sample", service_is_up },
	{ "service_samples_total", "counter", "samples of the host", service_samples },
	{ "service_failures_total", "counter", "samples that the host did not give",
	  service_failures },
	{ "service_restarts_total", "counter", "how often another process answered",
	  service_restarts },
};

static void exposition_services(struct ts_buf *out, const struct ts_live_sample *sample)
{
	for (size_t k = 0; k < TS_NELEM(of_services) && sample->nr_services > 0; k++) {
		exposition_head(out, of_services[k].name, of_services[k].type, of_services[k].help);
		for (size_t i = 0; i < sample->nr_services; i++) {
			ts_buf_printf(out, PREFIX "%s{", of_services[k].name);
			exposition_label(out, "service", ts_bytes_of(sample->services[i].address));
			ts_buf_printf(out, "} %.17g\n", of_services[k].of(&sample->services[i]));
		}
	}
}

static void exposition_alerts(struct ts_buf *out, const struct ts_alerts *alerts)
{
	bool has_head = false;

	for (size_t i = 0; i < alerts->nr; i++) {
		const struct ts_alert *alert = &alerts->items[i];

		if (!alert->is_active)
			continue;
		if (!has_head)
			exposition_head(out, "alert_active", "gauge", "1: the alert is raised");
		has_head = true;
		ts_buf_puts(out, PREFIX "alert_active{");
		exposition_label(out, "rule", ts_bytes_of(alert->rule));
		ts_buf_putc(out, ',');
		exposition_label(out, "severity", ts_bytes_of(ts_severity_name(alert->severity)));
		ts_buf_puts(out, "} 1\n");
	}
	exposition_head(out, "alerts_raised_total", "counter",
			"alerts raised since the watch began");
	for (int i = 0; i < TS_NR_SEVERITIES; i++) {
		ts_buf_puts(out, PREFIX "alerts_raised_total{");
		exposition_label(out, "severity",
				 ts_bytes_of(ts_severity_name((enum ts_severity)i)));
		ts_buf_printf(out, "} %llu\n", (unsigned long long)alerts->nr_raised[i]);
	}
}

void ts_exposition_put(struct ts_buf *out, const struct ts_live_sample *sample)
{
	TS_ASSERT(out != NULL && sample != NULL && sample->alerts != NULL);
	for (size_t i = 0; i < TS_NR_METRICS; i++)
		exposition_metric(out, (enum ts_metric)i, sample->values[i]);
	exposition_count(out, sample->watch ? "sessions_total" : "samples_total",
			 sample->watch ? "sessions that were annotated" : "samples with figures",
			 sample->number);
	exposition_head(out, "last_timestamp_seconds", "gauge", "when the figures are of");
	ts_buf_printf(out, PREFIX "last_timestamp_seconds %.3f\n", (double)sample->unix_ms / 1000);
	exposition_services(out, sample);
	exposition_alerts(out, sample->alerts);
}
