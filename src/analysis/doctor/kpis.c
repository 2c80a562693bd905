/*
 * Key figures: the ten numbers that people judge a run by, each with the bands that make it good,
 * fair or poor. The values are those of the other results, none is measured here; what is not
 * known is null and has no band. Definitions and where they mislead: docs/analyses/doctor/doctor.md.
 *
 * Bands are thresholds like all others. A figure with one limit is good or poor.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/facts/allocators.h"
#include "analysis/facts/capacity.h"
#include "analysis/facts/memory_timeline.h"

static double field(const struct ts_doctor *doctor, const char *result, const char *name)
{
	return ts_value_number(ts_result_get(ts_results_find(doctor->ctx->results, result), name));
}

static double device_utilization(const struct ts_doctor *doctor)
{
	return field(doctor, "time", "duty_cycle_pct");
}

/* Of a column over another, both summed over all rows of a table of the ops' result; in ms. */
static double mean_ms(const struct ts_doctor *doctor, const char *table_name, const char *count)
{
	const struct ts_table *table = ts_result_find_table(doctor->ops, table_name);
	double time_ps = 0, nr = 0;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		double executions = ts_cell_number(table, i, count);
		double ps = ts_cell_number(table, i, "total_time_ps");

		if (executions > 0 && ps >= 0) {
			time_ps += ps;
			nr += executions;
		}
	}
	return nr > 0 ? time_ps / nr / (double)TS_PS_PER_MS : NAN;
}

static bool has_plane(const struct ts_doctor *doctor, enum ts_plane_kind kind)
{
	for (size_t i = 0; i < doctor->ctx->profile->nr_planes; i++)
		if (doctor->ctx->profile->planes[i].kind == kind)
			return true;
	return false;
}

/* What the host starts at once: a program on a TPU, a kernel on a GPU. */
static double kernel_duration(const struct ts_doctor *doctor)
{
	if (has_plane(doctor, TS_PLANE_GPU))
		return mean_ms(doctor, "ops", "occurrences");
	return mean_ms(doctor, "modules", "executions");
}

static double host_overhead(const struct ts_doctor *doctor)
{
	return 100 * (ts_doctor_bucket_share(doctor, TS_BUCKET_INPUT) +
		      ts_doctor_bucket_share(doctor, TS_BUCKET_COMPILATION) +
		      ts_doctor_bucket_share(doctor, TS_BUCKET_HOST_TRANSFER));
}

/* Bytes of HBM moved over what the run's core time could have moved at the peak. */
static double memory_bandwidth(const struct ts_doctor *doctor)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	const struct ts_table *table = ts_result_find_table(doctor->ops, "ops");
	double peak = profile->nr_devices ? doctor->ctx->rates[0].hbm_bytes_per_s : NAN, bytes = 0;
	bool known = false;

	if (!table || table->nr_rows == 0 || doctor->total_ps <= 0)
		return NAN;
	for (size_t i = 0; i < table->nr_rows; i++) {
		int64_t at = ts_cell_int(table, i, "op_index");
		const struct ts_op *op =
			at < 0 || (uint64_t)at >= profile->nr_ops ? NULL : &profile->ops[at];
		double moved = ts_cell_number(table, i, "hbm_bytes_per_s") *
			       ts_cell_number(table, i, "total_time_ps") * 1e-12;

		if (op && op->kind != TS_OP_CONTROL && op->async != TS_ASYNC_DONE &&
		    isfinite(moved)) {
			bytes += moved; /* a -done moves nothing that its -start did not */
			known = true;
		}
	}
	if (!known)
		return NAN;
	return 100 * bytes / ((double)doctor->total_ps * 1e-12 * peak);
}

/* Without host threads in the capture it is unknown whether there was a compilation. */
static double compilation_time(const struct ts_doctor *doctor)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->lines[i].kind == TS_LINE_THREAD)
			return field(doctor, "time", "compilation_host_ps") * 1e-12;
	return NAN;
}

static double idle(const struct ts_doctor *doctor)
{
	return 100 * ts_doctor_bucket_share(doctor, TS_BUCKET_IDLE);
}

static double occupancy(const struct ts_doctor *doctor)
{
	return field(doctor, "kernels", "gpu.occupancy_pct");
}

static double peak_memory(const struct ts_doctor *doctor)
{
	return 100 * ts_capacity_peak_share(ts_capacity_facts(doctor->ctx));
}

static double fuller(double most, int64_t peak_bytes, int64_t capacity_bytes)
{
	if (capacity_bytes <= 0)
		return most;
	return fmax(most, 100 * (double)peak_bytes / (double)capacity_bytes);
}

/* What allocators had in use at their peaks, of what they may use: the fullest of a device. */
static double allocator_peak(const struct ts_doctor *doctor)
{
	const struct ts_allocators_facts *allocators = ts_allocators_facts(doctor->ctx);
	const struct ts_memory_timeline_facts *torch = ts_memory_timeline_facts(doctor->ctx);
	double most = NAN;

	for (size_t i = 0; i < allocators->nr; i++)
		if (allocators->items[i].device != TS_NONE)
			most = fuller(most, allocators->items[i].peak_bytes,
				      allocators->items[i].capacity_bytes);
	for (size_t i = 0; i < torch->nr_devices; i++)
		most = fuller(most, torch->devices[i].peak_bytes, torch->devices[i].capacity_bytes);
	return most;
}

static double mxu_utilization(const struct ts_doctor *doctor)
{
	return field(doctor, "systolic", "mxu_utilization_pct");
}

static double padding_waste(const struct ts_doctor *doctor)
{
	return field(doctor, "padding", "waste_pct");
}

#define SETTING(name) offsetof(struct ts_settings, name)
#define NO_BAND	      SIZE_MAX

static const struct kpi {
	const char *name, *unit;
	bool less_is_better;
	size_t good, fair; /* of the limit in the settings */
	enum ts_origin origin;
	double (*value)(const struct ts_doctor *doctor);
	const char *meaning;
	double (*measured)(const struct ts_doctor *doctor); /* where it is known, better; or NULL */
} kpis[] = {
	{ "device_utilization", "%", false, SETTING(device_utilization_good),
	  SETTING(device_utilization_fair), TS_MEASURED, device_utilization,
	  "time with a program on the core, from its first event to its last" },
	{ "kernel_duration", "ms", false, SETTING(kernel_duration_good),
	  SETTING(kernel_duration_fair), TS_MEASURED, kernel_duration,
	  "mean time of what the host starts at once: a program on a TPU, a kernel on a GPU" },
	{ "host_overhead", "%", true, SETTING(host_overhead_good), SETTING(host_overhead_fair),
	  TS_MEASURED, host_overhead,
	  "core time that waits for input, compilation or copies from and to the host" },
	{ "memory_bandwidth", "%", false, SETTING(memory_bandwidth_good),
	  SETTING(memory_bandwidth_fair), TS_MODELLED, memory_bandwidth,
	  "bytes through HBM, of what the core time could have moved at the peak" },
	{ "compilation_time", "s", true, SETTING(compilation_time_good),
	  SETTING(compilation_time_fair), TS_MEASURED, compilation_time,
	  "time of the hosts in compilations; those at once count once" },
	{ "idle", "%", true, SETTING(idle_high), NO_BAND, TS_MEASURED, idle,
	  "core time with nothing to run, and no known cause at the host" },
	{ "peak_memory", "%", true, SETTING(peak_memory_high), NO_BAND, TS_MODELLED, peak_memory,
	  "device memory in use at its peak, of what there is: by the allocator, else the largest "
	  "program's",
	  allocator_peak },
	{ "occupancy", "%", false, SETTING(occupancy_good), NO_BAND, TS_MEASURED, occupancy,
	  "warps in flight of those a GPU's multiprocessors could hold; a TPU has none" },
	{ "mxu_utilization", "%", false, SETTING(mxu_utilization_warning),
	  SETTING(mxu_utilization_low), TS_MODELLED, mxu_utilization,
	  "FLOPs of matrix products, of what the core time could have done at the peak" },
	{ "padding_waste", "%", true, SETTING(padding_waste_high), NO_BAND, TS_MODELLED,
	  padding_waste, "core time that goes into tile padding" },
};

static double limit(const struct ts_doctor *doctor, size_t offset)
{
	if (offset == NO_BAND)
		return NAN;
	return *(const double *)(const void *)((const char *)doctor->ctx->settings + offset);
}

static bool reaches(const struct kpi *kpi, double value, double bound)
{
	return kpi->less_is_better ? value <= bound : value >= bound; /* NaN reaches nothing */
}

static const char *band_of(const struct kpi *kpi, double value, double good, double fair)
{
	if (!isfinite(value))
		return "unknown";
	if (reaches(kpi, value, good))
		return "good";
	return reaches(kpi, value, fair) ? "fair" : "poor";
}

static const struct ts_column columns[] = {
	{ "name", TS_DERIVED, "figure" },	  { "value", TS_DERIVED, "value" },
	{ "unit", TS_DERIVED, "unit" },		  { "band", TS_DERIVED, "band" },
	{ "better", TS_DERIVED, NULL },		  { "good", TS_DERIVED, "good from / to" },
	{ "fair", TS_DERIVED, "fair from / to" }, { "origin", TS_DERIVED, NULL },
	{ "meaning", TS_DERIVED, NULL },
};

static void put_kpi(struct ts_doctor *doctor, struct ts_table *table, const struct kpi *kpi)
{
	struct ts_value *row = ts_table_row(doctor->result, table);
	double measured = kpi->measured ? kpi->measured(doctor) : NAN;
	double value = isfinite(measured) ? measured : kpi->value(doctor),
	       good = limit(doctor, kpi->good);
	double fair = limit(doctor, kpi->fair);

	if (!row)
		return; /* the results know that they are not whole */
	row[0] = ts_text(ts_bytes_of(kpi->name));
	row[1] = ts_real(value);
	row[2] = ts_text(ts_bytes_of(kpi->unit));
	row[3] = ts_text(ts_bytes_of(band_of(kpi, value, good, fair)));
	row[4] = ts_text(ts_bytes_of(kpi->less_is_better ? "lower" : "higher"));
	row[5] = ts_real(good);
	row[6] = ts_real(fair);
	if (isfinite(value))
		row[7] = ts_text(ts_bytes_of(
			ts_origin_name(isfinite(measured) ? TS_MEASURED : kpi->origin)));
	row[8] = ts_text(ts_bytes_of(kpi->meaning));
}

void ts_doctor_kpis(struct ts_doctor *doctor)
{
	struct ts_table *table =
		ts_result_table(doctor->result, "kpis", "Key figures", columns, TS_NELEM(columns));

	if (!table || doctor->ctx->profile->nr_hosts == 0)
		return; /* modules alone: nothing ran that could be judged */
	for (size_t i = 0; i < TS_NELEM(kpis); i++)
		put_kpi(doctor, table, &kpis[i]);
}
