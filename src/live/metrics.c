/* SPDX-License-Identifier: MIT */
/* Figures are taken from the results by name. */
#include "live/metrics.h"

#include "base/check.h"
#include "base/units.h"
#include "result/schema/time.def"
#include "result/schema/overview.def"
#include "result/schema/doctor.def"

const struct ts_metric_row ts_metric_rows[TS_NR_METRICS] = {
	[TS_METRIC_MXU] = { "mxu_utilization_pct", "MXU", TS_METRIC_PCT, true, &ts_schema_overview,
			    TS_FIELD_AT(overview, overview.mxu_utilization_pct) },
	[TS_METRIC_HBM] = { "hbm_utilization_pct", "HBM", TS_METRIC_PCT, true, &ts_schema_overview,
			    TS_FIELD_AT(overview, overview.hbm_utilization_pct) },
	[TS_METRIC_DUTY] = { "duty_cycle_pct", "duty", TS_METRIC_PCT, true, &ts_schema_overview,
			     TS_FIELD_AT(overview, overview.duty_cycle_pct) },
	[TS_METRIC_PADDING] = { "padding_waste_pct", "padding", TS_METRIC_PCT, true,
				&ts_schema_overview,
				TS_FIELD_AT(overview, overview.padding_waste_pct) },
	[TS_METRIC_IDLE] = { "idle_pct", "idle", TS_METRIC_PCT, false, &ts_schema_time,
			     TS_FIELD_AT(time, buckets.idle_ps) },
	[TS_METRIC_COMMUNICATION] = { "communication_pct", "communication", TS_METRIC_PCT, false,
				      &ts_schema_time,
				      TS_FIELD_AT(time, buckets.communication_ps) },
	[TS_METRIC_INPUT] = { "input_pct", "input", TS_METRIC_PCT, false, &ts_schema_time,
			      TS_FIELD_AT(time, buckets.input_ps) },
	[TS_METRIC_COMPILING] = { "compiling_pct", "compiling", TS_METRIC_PCT, true, NULL, 0 },
	[TS_METRIC_COMPILATION] = { "compilation_ms_per_min", "compilation per minute",
				    TS_METRIC_MS, false, NULL, 0 },
	[TS_METRIC_STEP] = { "step_time_ps", "step", TS_METRIC_PS, true, &ts_schema_overview,
			     TS_FIELD_AT(overview, overview.step_time_ps.median) },
	[TS_METRIC_STEP_MARKED] = { "step_marked_ps", "step's mark", TS_METRIC_PS, false, NULL, 0 },
	[TS_METRIC_STEP_UNSAMPLED] = { "step_time_unsampled_ps", "step between samples",
				       TS_METRIC_PS, false, NULL, 0 },
	[TS_METRIC_SAMPLED] = { "sampled_pct", "sampled", TS_METRIC_PCT, false, NULL, 0 },
	[TS_METRIC_COST] = { "sampling_cost_pct", "price of sampling", TS_METRIC_PCT, false, NULL,
			     0 },
	[TS_METRIC_MEMORY] = { "memory_used_bytes", "memory in use", TS_METRIC_BYTES, false, NULL,
			       0 },
	[TS_METRIC_NO_STEP] = { "no_step_ms", "since the last step", TS_METRIC_MS, false, NULL, 0 },
	[TS_METRIC_HEALTH] = { "health_score", "health", TS_METRIC_POINTS, false, &ts_schema_doctor,
			       TS_FIELD_AT(doctor, health_score) },
};

static double field(const struct ts_results *results, const struct ts_metric_row *row)
{
	const struct ts_result *found = ts_results_find(results, row->result->name);

	return ts_value_number(ts_result_value(found, &row->result->fields[row->field]));
}

/* A bucket of the analysis time becomes a share of the whole time. */
static double read_row(const struct ts_results *results, const struct ts_metric_row *row)
{
	double value, total_ps;

	if (!row->result)
		return NAN;
	value = field(results, row);
	if (row->result != &ts_schema_time)
		return value;
	total_ps = ts_value_number(TS_GET(TS_FIND(results, time), time, total_ps));
	return total_ps > 0 ? value / total_ps * 100 : NAN;
}

void ts_metrics_read(double out[TS_NR_METRICS], const struct ts_results *results)
{
	TS_ASSERT(out != NULL);
	for (size_t i = 0; i < TS_NR_METRICS; i++)
		out[i] = results ? read_row(results, &ts_metric_rows[i]) : NAN;
}

const char *ts_metric_text(char *out, size_t cap, enum ts_metric metric, double value)
{
	char text[TS_UNIT_MAX];

	TS_ASSERT(out != NULL && cap > 0);
	TS_ASSERT(metric < TS_NR_METRICS);
	if (!isfinite(value)) {
		snprintf(out, cap, "-");
		return out;
	}
	switch (ts_metric_rows[metric].unit) {
	case TS_METRIC_PCT: snprintf(out, cap, "%.1f %%", value); break;
	case TS_METRIC_MS:
		snprintf(out, cap, "%s",
			 value > 0 ? ts_fmt_ps(text, (int64_t)(value * 1e9)) : "0 ms");
		break;
	case TS_METRIC_PS:     snprintf(out, cap, "%s", ts_fmt_ps(text, (int64_t)value)); break;
	case TS_METRIC_BYTES:  snprintf(out, cap, "%s", ts_fmt_bytes(text, value)); break;
	case TS_METRIC_POINTS: snprintf(out, cap, "%.0f", value); break;
	}
	return out;
}
