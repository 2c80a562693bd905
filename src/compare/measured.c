/* SPDX-License-Identifier: MIT */
/* What is measured of one of the runs that are compared. */
#include "compare/measured.h"

#include "base/check.h"
#include "base/units.h"
#include "result/schema/overview.def"
#include "result/schema/ops.def"
#include "result/schema/time.def"
#include "result/schema/allocators.def"
#include "result/schema/memory_timeline.def"
#include "result/schema/capacity.def"
#include "result/schema/compile.def"
#include "result/schema/doctor.def"
#include "result/schema/capture.def"

#define STEP_BUCKET(id, name) [TS_BUCKET_##id] = TS_COLUMN_AT(time_per_step, name),
#define RUN_BUCKET(id, name)  [TS_BUCKET_##id] = TS_FIELD_AT(time, buckets.name),
static const size_t step_buckets[TS_NR_BUCKETS] = { TS_EACH_BUCKET(STEP_BUCKET) };
static const size_t run_buckets[TS_NR_BUCKETS] = { TS_EACH_BUCKET(RUN_BUCKET) };

/* Steps without cores or time were not run: there is nothing to share out. */
static void measured_take_steps(struct ts_measured *measured)
{
	double sum[TS_NR_BUCKETS] = { 0 }, cores_sum = 0, total = 0;

	for (size_t i = 0; i < measured->steps->nr_rows; i++) {
		double cores =
			ts_value_number(TS_CELL_OF(measured->steps, time_per_step, i, cores));
		double ps =
			ts_value_number(TS_CELL_OF(measured->steps, time_per_step, i, total_ps)) /
			cores;

		if (!isfinite(ps))
			continue;
		measured->step_ps[measured->nr_steps++] = ps;
		total += ps;
		cores_sum += cores;
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			sum[b] += ts_value_number(
					  ts_table_cell(measured->steps, i, (int)step_buckets[b])) /
				  cores;
	}
	if (measured->nr_steps == 0)
		return;
	measured->by_step = true;
	measured->parts = cores_sum;
	measured->time_ps = total / (double)measured->nr_steps;
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		measured->bucket_ps[b] = sum[b] / (double)measured->nr_steps;
}

/* Whose steps the report shows: those of the time view are marked or inferred. */
static bool measured_is_source(const struct ts_table *steps, const char *source)
{
	return steps && steps->nr_rows > 0 &&
	       ts_bytes_is(ts_value_text(TS_CELL_OF(steps, overview_steps, 0, source)), source);
}

/* By the work that they launched. The buckets stay those of the host's marks, which they sum to. */
static void take_launched_steps(struct ts_measured *measured, const struct ts_table *steps)
{
	measured->nr_steps = steps->nr_rows;
	for (size_t i = 0; i < steps->nr_rows; i++)
		measured->step_ps[i] =
			ts_value_number(TS_CELL_OF(steps, overview_steps, i, duration_ps));
}

/* Of a job without a device: the steps that its hosts marked. What they were spent on is unknown. */
static void measured_take_host_steps(struct ts_measured *measured, const struct ts_table *steps)
{
	double total = 0;

	for (size_t i = 0; i < steps->nr_rows; i++) {
		double ps = ts_value_number(TS_CELL_OF(steps, overview_steps, i, duration_ps));

		measured->step_ps[measured->nr_steps++] = ps;
		total += ps;
	}
	if (measured->nr_steps == 0)
		return;
	measured->by_step = true;
	measured->time_ps = total / (double)measured->nr_steps;
}

static void take_wall(struct ts_measured *measured)
{
	measured->by_step = false;
	measured->parts = ts_value_number(TS_GET(measured->time, time, cores));
	measured->time_ps = ts_value_number(TS_GET(measured->time, time, wall_ps));
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		measured->bucket_ps[b] =
			ts_value_number(TS_GET_AT(measured->time, time, run_buckets[b])) /
			measured->parts;
}

enum ts_status ts_measured_init(struct ts_measured *measured, const struct ts_results *results,
				bool by_step, struct ts_error *err)
{
	const struct ts_table *marked = TS_FIND_TABLE(results, overview, steps);
	size_t nr_marked = marked ? marked->nr_rows : 0;

	TS_ASSERT(measured && results);
	*measured = (struct ts_measured){
		.time = TS_FIND(results, time),
		.overview = TS_FIND(results, overview),
		.capacity = TS_FIND(results, capacity),
		.doctor = TS_FIND(results, doctor),
		.capture = TS_FIND(results, capture),
		.ops = TS_FIND_TABLE(results, ops, ops),
		.modules = TS_FIND_TABLE(results, ops, modules),
		.steps = TS_FIND_TABLE(results, time, per_step),
		.time_ps = NAN,
		.parts = NAN,
	};
	measured->step_ps = calloc((measured->steps ? measured->steps->nr_rows : 0) + nr_marked + 1,
				   sizeof(double));
	if (!measured->step_ps)
		return ts_fail_nomem(err);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		measured->bucket_ps[b] = NAN;
	if (measured->steps)
		measured_take_steps(measured);
	if (measured->by_step && measured_is_source(marked, "launched"))
		take_launched_steps(measured, marked);
	if (measured->nr_steps == 0 && measured_is_source(marked, "host"))
		measured_take_host_steps(measured, marked);
	if (measured->time && (!by_step || !measured->by_step))
		take_wall(measured);
	return TS_OK;
}

struct ts_bytes ts_measured_step_source(const struct ts_measured *measured)
{
	const struct ts_table *steps = TS_RESULT_TABLE(measured->overview, overview_steps);

	return measured->nr_steps > 0 && steps && steps->nr_rows > 0
		       ? ts_value_text(TS_CELL_OF(steps, overview_steps, 0, source))
		       : (struct ts_bytes){ NULL, 0 };
}

void ts_measured_release(struct ts_measured *measured)
{
	TS_ASSERT(measured);
	free(measured->step_ps);
	memset(measured, 0, sizeof(*measured));
}

/* A field, by its path in the report: parts of the report itself, or behind their result's name. */
static bool measured_find_field(const struct ts_results *results, struct ts_bytes path,
				struct ts_value *value)
{
	for (size_t i = 0; i < results->nr; i++) {
		const struct ts_result *result = results->items[i];
		struct ts_bytes name = path;

		if (!result->top_level) {
			size_t n = strlen(result->name);

			if (!ts_bytes_starts(path, result->name) || path.n <= n || path.p[n] != '.')
				continue;
			name = ts_bytes_cut(path, n + 1, path.n);
		}
		for (size_t f = 0; f < result->nr_fields; f++)
			if (ts_bytes_is(name, result->fields[f].name)) {
				*value = result->fields[f].value;
				return true;
			}
	}
	return false;
}

/* The runtime's own peak, the largest allocator's; of a trace of PyTorch that of its fullest GPU. */
static double allocators_peak(const struct ts_results *results)
{
	const struct ts_table *table = TS_FIND_TABLE(results, allocators, allocators);
	const struct ts_table *devices = TS_FIND_TABLE(results, memory_timeline, devices);
	double most = NAN;

	for (size_t i = 0; table && i < table->nr_rows; i++)
		most = fmax(most, ts_value_number(
					  TS_CELL_OF(table, allocators_allocators, i, peak_bytes)));
	if (devices && devices->nr_rows > 0) /* the first is the one that counts */
		most = fmax(most, ts_value_number(TS_CELL_OF(devices, memory_timeline_devices, 0,
							     peak_bytes)));
	return most;
}

#define FIELD(of, name) &ts_schema_##of, TS_FIELD_AT(of, name)
static const struct alias {
	const char *name;
	const struct ts_schema *result; /* NULL: it is no field */
	size_t field;
	double unit; /* of the name, in that of the field */
} aliases[] = {
	{ "wall_ms", FIELD(time, wall_ps), TS_PS_PER_MS },
	{ "peak_memory_mb", FIELD(capacity, peak_bytes), 1048576 },
	{ "allocator_peak_mb", NULL, 0, 1048576 },
	{ "compile_time_ms", FIELD(compile, compile_time_ms), 1 },
	{ "graph_breaks", FIELD(compile, graph_breaks), 1 },
	{ "recompilations", FIELD(compile, recompilations), 1 },
	{ "fusion_ratio", FIELD(compile, fusion_ratio), 1 },
	{ "health_score", FIELD(overview, overview.health_score), 1 },
	{ "duty_cycle_pct", FIELD(overview, overview.duty_cycle_pct), 1 },
	{ "mxu_utilization_pct", FIELD(overview, overview.mxu_utilization_pct), 1 },
	{ "hbm_utilization_pct", FIELD(overview, overview.hbm_utilization_pct), 1 },
	{ "padding_waste_pct", FIELD(overview, overview.padding_waste_pct), 1 },
	{ "step_count", FIELD(overview, overview.step_count), 1 },
	{ "step_time_ms.mean", FIELD(overview, overview.step_time_ps.mean), TS_PS_PER_MS },
	{ "step_time_ms.median", FIELD(overview, overview.step_time_ps.median), TS_PS_PER_MS },
	{ "step_time_ms.p90", FIELD(overview, overview.step_time_ps.p90), TS_PS_PER_MS },
	{ "step_time_ms.p99", FIELD(overview, overview.step_time_ps.p99), TS_PS_PER_MS },
	{ "step_time_ms.min", FIELD(overview, overview.step_time_ps.min), TS_PS_PER_MS },
	{ "step_time_ms.max", FIELD(overview, overview.step_time_ps.max), TS_PS_PER_MS },
	{ "step_time_ms.stddev", FIELD(overview, overview.step_time_ps.stddev), TS_PS_PER_MS },
};
#undef FIELD

static const struct alias *find_alias(struct ts_bytes path)
{
	for (size_t i = 0; i < TS_NELEM(aliases); i++)
		if (ts_bytes_is(path, aliases[i].name))
			return &aliases[i];
	return NULL;
}

/* buckets.idle_ms, buckets.idle_pct: of a step where there are steps. */
static bool bucket_value(const struct ts_measured *measured, struct ts_bytes path, double *value)
{
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		char name[64];

		snprintf(name, sizeof(name), "buckets.%s_ms", ts_bucket_name((enum ts_bucket)b));
		*value = measured->bucket_ps[b] / (double)TS_PS_PER_MS;
		if (ts_bytes_is(path, name))
			return true;
		snprintf(name, sizeof(name), "buckets.%s_pct", ts_bucket_name((enum ts_bucket)b));
		*value = measured->bucket_ps[b] / measured->time_ps * 100;
		if (ts_bytes_is(path, name))
			return true;
	}
	return false;
}

bool ts_measured_value(const struct ts_measured *measured, const struct ts_results *results,
		       struct ts_bytes path, double *value)
{
	const struct alias *alias = find_alias(path);
	struct ts_value found = ts_null();
	bool known;

	TS_ASSERT(measured && results && value);
	if (bucket_value(measured, path, value))
		return true;
	if (alias && alias->result)
		found = ts_result_value(ts_results_find(results, alias->result->name),
					&alias->result->fields[alias->field]);
	known = alias || measured_find_field(results, path, &found);
	*value = ts_value_number(found) / (alias ? alias->unit : 1);
	if (ts_bytes_is(path, "allocator_peak_mb") ||
	    (ts_bytes_is(path, "peak_memory_mb") && isnan(*value)))
		*value = allocators_peak(results) / alias->unit;
	return known;
}
