/* SPDX-License-Identifier: MIT */
/*
 * Key figures: the numbers that people judge a run by, each with the bands that make it good,
 * fair or poor. The values are those of the other results, none is measured here; what is not
 * known is null and has no band. Definitions and where they mislead: docs/analyses/doctor/doctor.md.
 *
 * Bands are thresholds like all others. A figure with one limit is good or poor.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/allocators.h"
#include "analysis/facts/capacity.h"
#include "analysis/facts/kernels.h"
#include "analysis/facts/memory.h"
#include "analysis/facts/memory_timeline.h"
#include "analysis/facts/timeline.h"
#include "analysis/settings_list.h"
#include "base/check.h"
#include "base/units.h"
#include "result/schema/doctor.def"

static double mean_program(const struct ts_ops_facts *ops)
{
	double time_ps = 0, nr = 0;

	for (size_t i = 0; i < ops->nr_modules; i++) {
		if (ops->modules[i].executions <= 0)
			continue;
		time_ps += (double)ops->modules[i].total_ps;
		nr += (double)ops->modules[i].executions;
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
	return has_plane(doctor, TS_PLANE_GPU) && !ts_profile_is_of_cpus(doctor->ctx->profile)
		       ? ts_kernels_facts(doctor->ctx)->mean_ps / (double)TS_PS_PER_MS
		       : mean_program(doctor->ops);
}

/* Without host threads it is unknown what was waited for. */
static double host_overhead(const struct ts_doctor *doctor)
{
	if (!ts_profile_has_threads(doctor->ctx->profile))
		return NAN;
	return ts_doctor_bucket_share(doctor, TS_BUCKET_INPUT) +
	       ts_doctor_bucket_share(doctor, TS_BUCKET_LAUNCH) +
	       ts_doctor_bucket_share(doctor, TS_BUCKET_COMPILATION) +
	       ts_doctor_bucket_share(doctor, TS_BUCKET_HOST_TRANSFER);
}

/* Whatever the host did meanwhile. */
static double nothing_ran(const struct ts_doctor *doctor)
{
	double share = 0;

	for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
		share += ts_doctor_bucket_share(doctor, b);
	return share;
}

/* Without host threads in the capture it is unknown whether there was a compilation, and without a device that ran anything no
 * compilation is no sign that all was compiled. */
static double compilation_time(const struct ts_doctor *doctor)
{
	int64_t compile_ps = doctor->ctx->outline->compile_ps;

	if (!ts_profile_has_threads(doctor->ctx->profile) ||
	    (compile_ps == 0 && doctor->time->nr_cores == 0))
		return NAN;
	return (double)compile_ps * 1e-12;
}

static double fuller(double most, int64_t peak_bytes, int64_t capacity_bytes)
{
	if (capacity_bytes <= 0)
		return most;
	return fmax(most, 100 * (double)peak_bytes / (double)capacity_bytes);
}

/* In percent: what allocators had in use at their peaks, of what they may use; the fullest of a
 * device. */
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

/* As the overview has it: of the work that the steps launched, where that is known. */
static double median_step(const struct ts_doctor *doctor)
{
	int64_t worked_ps = ts_timeline_facts(doctor->ctx)->median_step_ps;
	int64_t ps = worked_ps > 0 ? worked_ps : doctor->time->median_step_ps;

	return ps > 0 ? (double)ps / (double)TS_PS_PER_MS : NAN;
}

/* In ms: as long as the median step may be for its device's work to fill all but WAITS_PCT of it. */
static double step_limit(const struct ts_doctor *doctor, double waits_pct)
{
	double waits =
		nothing_ran(doctor) + ts_doctor_bucket_share(doctor, TS_BUCKET_HOST_TRANSFER);

	return median_step(doctor) * (1 - waits) / (1 - waits_pct / 100);
}

/* Facts are in the order of their time. */
static double top_op(const struct ts_doctor *doctor)
{
	return doctor->nr_facts ? 100 * ts_doctor_share(doctor, doctor->facts[0].exclusive_ps)
				: NAN;
}

static const char *top_op_meaning(const struct ts_doctor *doctor)
{
	static const char plain[] = "core time of the op that holds most of it";
	char time[TS_UNIT_MAX];
	struct ts_bytes text;

	if (!isfinite(top_op(doctor)))
		return plain;
	text = ts_result_text(doctor->result, "%s: %.*s, %s over all cores", plain,
			      TS_ARG(doctor->facts[0].name),
			      ts_fmt_ps(time, doctor->facts[0].exclusive_ps));
	return text.p ? (const char *)text.p : plain;
}

struct kpi {
	const char *name, *unit;
	bool less_is_better;
	double good, fair; /* limits; NaN: there is none */
	enum ts_origin origin;
	double value;	    /* NaN: unknown */
	const char *window; /* that it is a share, a mean or a sum of */
	const char *meaning;
};

#define MORE	 false
#define LESS	 true
#define LIMIT	 doctor->ctx->settings->
#define CORES	 "core time: wall time x cores"
#define PROGRAMS "each core, from its first event to its last"
#define STARTS	 "executions"
#define CAPTURE	 "the capture"
/* A figure, its unit, which way is better, the limits of the bands "good" and "fair", its origin,
 * its value, the window that it is of, and what it means. */
#define KPIS(X) \
	X(device_utilization, "%", MORE, LIMIT device_utilization_good, \
	  LIMIT device_utilization_fair, TS_MEASURED, 100 * doctor->time->duty_cycle, PROGRAMS, \
	  "time with a program on the core") \
	X(kernel_duration, "ms", MORE, LIMIT kernel_duration_good, LIMIT kernel_duration_fair, \
	  TS_MEASURED, kernel_duration(doctor), STARTS, \
	  "mean time of what the host starts at once: a program on a TPU, a kernel on a GPU") \
	X(host_overhead, "%", LESS, LIMIT host_overhead_good, LIMIT host_overhead_fair, \
	  TS_MEASURED, 100 * host_overhead(doctor), CORES, \
	  "time that waits for input, compilation or copies from and to the host") \
	X(memory_bandwidth, "%", MORE, LIMIT memory_bandwidth_good, LIMIT memory_bandwidth_fair, \
	  TS_MODELLED, 100 * ts_held_known(ts_memory_facts(doctor->ctx)->hbm), CORES, \
	  "bytes through HBM, of what the peak could have moved") \
	X(compilation_time, "s", LESS, LIMIT compilation_time_good, LIMIT compilation_time_fair, \
	  TS_MEASURED, compilation_time(doctor), CAPTURE, \
	  "time of the hosts in compilations; those at once count once") \
	X(idle, "%", LESS, LIMIT idle_high, NAN, TS_MEASURED, 100 * nothing_ran(doctor), CORES, \
	  "time in which no op ran on the device, whatever the host did meanwhile") \
	X(peak_memory, "%", LESS, LIMIT peak_memory_high, NAN, \
	  isnan(allocated) ? TS_MODELLED : TS_MEASURED, \
	  isnan(allocated) ? 100 * ts_capacity_peak_share(ts_capacity_facts(doctor->ctx)) : allocated, \
	  CAPTURE, \
	  "device memory in use at its peak, of what there is: by the allocator, else the largest " \
	  "program's") \
	X(occupancy, "%", MORE, LIMIT occupancy_good, NAN, TS_MEASURED, \
	  ts_kernels_facts(doctor->ctx)->occupancy_pct, STARTS, \
	  "warps in flight of those a GPU's multiprocessors could hold; a TPU has none") \
	X(mxu_utilization, "%", MORE, LIMIT mxu_utilization_warning, LIMIT mxu_utilization_low, \
	  TS_MODELLED, 100 * ts_systolic_facts(doctor->ctx)->utilization, CORES, \
	  "FLOPs of matrix products, of what the peak could have done") \
	X(padding_waste, "%", LESS, LIMIT padding_waste_high, NAN, TS_MODELLED, \
	  100 * ts_padding_facts(doctor->ctx)->waste_share, CORES, "time that goes into tile padding") \
	X(step_time, "ms", LESS, step_limit(doctor, LIMIT idle_high), \
	  step_limit(doctor, LIMIT host_overhead_fair), TS_MEASURED, median_step(doctor), "steps", \
	  "the median step; the limits are what it would take if its device waited for nothing " \
	  "longer than idle_high, host_overhead_fair") \
	X(top_op, "%", LESS, LIMIT dominant_op_high, NAN, TS_MEASURED, top_op(doctor), CORES, \
	  top_op_meaning(doctor))

#define KPI(name, unit, less, good, fair, origin, value, window, meaning) \
	{ #name, unit, less, good, fair, origin, value, window, meaning },

static bool reaches(const struct kpi *kpi, double bound)
{
	/* NaN reaches nothing */
	return kpi->less_is_better ? kpi->value <= bound : kpi->value >= bound;
}

/* A run is bound by one of the two: then a low figure of the other is not a fault. */
struct excuse {
	const char *name, *other, *words;
};
static const struct excuse excuses[] = {
	{ "memory_bandwidth", "mxu_utilization",
	  "the run is bound by the matrix units, not by memory" },
	{ "mxu_utilization", "memory_bandwidth",
	  "the run is bound by memory, not by the matrix units" },
};

static const struct kpi *kpi_named(const struct kpi *kpis, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(kpis[i].name, name) == 0)
			return &kpis[i];
	return NULL;
}

/* Why a poor figure is not a fault, or NULL. */
static const char *kpis_reason_of(const struct kpi *kpi, const struct kpi *kpis, size_t nr)
{
	if (!isfinite(kpi->value) || reaches(kpi, kpi->good) || reaches(kpi, kpi->fair))
		return NULL;
	for (size_t i = 0; i < TS_NELEM(excuses); i++) {
		const struct kpi *other = kpi_named(kpis, nr, excuses[i].other);

		if (strcmp(kpi->name, excuses[i].name) == 0 && reaches(other, other->good))
			return excuses[i].words;
	}
	return NULL;
}

static const char *band_of(const struct kpi *kpi, const char *reason)
{
	if (!isfinite(kpi->value))
		return "unknown";
	if (reason)
		return "neutral";
	if (reaches(kpi, kpi->good))
		return "good";
	return reaches(kpi, kpi->fair) ? "fair" : "poor";
}

#define KPI_CELLS(X) \
	X(name, ts_text(ts_bytes_of(kpi->name))) \
	X(value, ts_real(kpi->value)) \
	X(unit, ts_text(ts_bytes_of(kpi->unit))) \
	X(band, ts_text(ts_bytes_of(band_of(kpi, reason)))) \
	X(band_reason, reason ? ts_text(ts_bytes_of(reason)) : ts_null()) \
	X(better, ts_text(ts_bytes_of(kpi->less_is_better ? "lower" : "higher"))) \
	X(good, ts_real(kpi->good)) \
	X(fair, ts_real(kpi->fair)) \
	X(origin, \
	  isfinite(kpi->value) ? ts_text(ts_bytes_of(ts_origin_name(kpi->origin))) : ts_null()) \
	X(window, ts_text(ts_bytes_of(kpi->window))) \
	X(meaning, ts_text(ts_bytes_of(kpi->meaning)))

void ts_doctor_kpis(struct ts_doctor *doctor, struct ts_doctor_facts *facts)
{
	double allocated = allocator_peak(doctor);
	const struct kpi kpis[] = { KPIS(KPI) };
	struct ts_table *table = TS_TABLE(doctor->result, doctor_kpis);

	TS_ASSERT(facts);
	if (doctor->ctx->profile->nr_hosts == 0)
		return; /* modules alone: nothing ran that could be judged */
	for (const struct kpi *kpi = kpis; kpi < kpis + TS_NELEM(kpis); kpi++) {
		const char *reason = kpis_reason_of(kpi, kpis, TS_NELEM(kpis));

		TS_CELLS(doctor->result, table, doctor_kpis, KPI_CELLS);
	}
	if (table)
		table->text_rows = TS_NELEM(kpis);
}
