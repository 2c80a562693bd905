/* SPDX-License-Identifier: MIT */
/*
 * One row of the roofline: amounts of work over time, against what the device could do. Formulas
 * are XProf's (openxla/xprof, xprof/convert/op_metrics_to_record.h and
 * op_stats_to_roofline_model.cc), in FLOPs and bytes a second instead of giga and gibi.
 */
#include "analysis/ops/roofline.h"

#include "base/check.h"
#include "base/units.h"
#include "result/impossible.h"
#include "result/schema/roofline.def"

/* The resources an op can be bound by, in the order in which the first of equals wins. */
static const struct resource {
	enum roofline_part part;
	const char *name;   /* XProf's word for the bound */
	const char *memory; /* in the table of ridges; NULL: it is not a memory */
} resources[] = {
	{ ROOF_FLOPS, "Compute", NULL },
	{ ROOF_HBM, "HBM", "HBM" },
	{ ROOF_CMEM_READ, "CMEM Read", "CMEM read" },
	{ ROOF_CMEM_WRITE, "CMEM Write", "CMEM write" },
	{ ROOF_VMEM_READ, "VMEM Read", "VMEM read" },
	{ ROOF_VMEM_WRITE, "VMEM Write", "VMEM write" },
};

static double roofline_row_known(double rate)
{
	return isfinite(rate) && rate > 0 ? rate : NAN;
}

struct roofline_peaks ts_roofline_peaks_of(const struct ts_context *ctx, uint32_t device)
{
	const struct ts_device *from = &ctx->profile->devices[device];
	const struct ts_rates *rates = &ctx->rates[device];
	struct roofline_peaks peaks;

	TS_ASSERT(device < ctx->profile->nr_devices);
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		peaks.peak[part] = NAN;
	peaks.peak[ROOF_FLOPS] = roofline_row_known(rates->peak_flops_per_s);
	peaks.peak[ROOF_HBM] = roofline_row_known(rates->hbm_bytes_per_s);
	peaks.peak[ROOF_CMEM_READ] = roofline_row_known(from->cmem_read_bytes_per_s);
	peaks.peak[ROOF_CMEM_WRITE] = roofline_row_known(from->cmem_write_bytes_per_s);
	peaks.peak[ROOF_VMEM_READ] = roofline_row_known(from->vmem_read_bytes_per_s);
	peaks.peak[ROOF_VMEM_WRITE] = roofline_row_known(from->vmem_write_bytes_per_s);
	return peaks;
}

/* What is unknown leaves the larger of the others; all unknown: NaN. */
struct bound {
	const char *name;
	double utilization, intensity; /* of the resource used most */
	double memory_utilization;     /* of the memory used most */
};

static struct bound roofline_row_bound_of(const struct roofline_work *work,
					  const struct roofline_peaks *peaks, double seconds)
{
	struct bound bound = { "Unknown", NAN, NAN, NAN };

	for (size_t i = 0; i < TS_NELEM(resources); i++) {
		enum roofline_part part = resources[i].part;
		double used = work->amount[part] / seconds / peaks->peak[part];

		if (resources[i].memory)
			bound.memory_utilization = fmax(bound.memory_utilization, used);
		if (isnan(used) || used <= bound.utilization)
			continue;
		bound.utilization = used;
		if (used <= 0)
			continue;
		bound.name = resources[i].name;
		bound.intensity = resources[i].memory
					  ? work->amount[ROOF_FLOPS] / work->amount[part]
					  : work->amount[ROOF_FLOPS] / work->amount[ROOF_BYTES];
	}
	return bound;
}

static double onchip(const struct roofline_work *work)
{
	double sum = NAN;

	for (int part = ROOF_CMEM_READ; part <= ROOF_VMEM_WRITE; part++)
		if (!isnan(work->amount[part]))
			sum = ts_or_zero(sum) + work->amount[part];
	return sum;
}

/* Steps of a host reach beyond what its devices ran, streams lie over one another: what is longer than the
 * program is not a part of it. */
static struct ts_value roofline_row_share_of(int64_t ps, int64_t program_ps)
{
	return ps < 0 || ps > program_ps ? ts_null()
					 : ts_share_pct((double)ps / (double)program_ps);
}

/* What a row's rate is held against, and why it cannot be true. */
struct holds {
	struct ts_result *result;
	const struct roofline_row *row;
	const struct roofline_peaks *peaks;
	double seconds;
};

static const struct ts_bytes above =
	TS_LIT("what its ops do and the time that they take contradict the chip's peak");

static struct ts_value held(const struct holds *holds, double value, double peak,
			    struct ts_bytes cause)
{
	if (cause.n > 0)
		return ts_impossible_value(holds->result, value, peak, cause);
	return ts_held_value(holds->result, value, peak, above);
}

static struct ts_bytes roofline_row_cause_of(const struct holds *holds, enum roofline_part part)
{
	switch (part) {
	case ROOF_FLOPS:
	case ROOF_MODEL_FLOPS: return holds->row->flops_cause;
	case ROOF_BYTES:
	case ROOF_HBM:	       return holds->row->hbm_cause;
	default:	       return (struct ts_bytes){ NULL, 0 };
	}
}

static struct ts_value roofline_row_rate(const struct holds *holds, enum roofline_part part)
{
	enum roofline_part peak = part == ROOF_MODEL_FLOPS ? ROOF_FLOPS : part;

	return held(holds, holds->row->work.amount[part] / holds->seconds, holds->peaks->peak[peak],
		    roofline_row_cause_of(holds, part));
}

static struct ts_value used(const struct holds *holds, enum roofline_part part)
{
	double per_s = holds->row->work.amount[part] / holds->seconds;

	return held(holds, 100 * per_s / holds->peaks->peak[part], 100,
		    roofline_row_cause_of(holds, part));
}

static struct ts_bytes any_cause(const struct roofline_row *row)
{
	return row->hbm_cause.n > 0 ? row->hbm_cause : row->flops_cause;
}

#define AMOUNT(part) row->work.amount[ROOF_##part]
#define RATE(part) roofline_row_rate(&holds, ROOF_##part)
#define USED(part) used(&holds, ROOF_##part)

#define ROOFLINE_CELLS(X) \
	X(kind, ts_text(ts_bytes_of(row->kind))) \
	X(step, ts_int_or_null(row->step)) \
	X(program_id, row->has_program ? ts_id(row->program_id) : ts_null()) \
	X(module, ts_text_or_null(row->module)) \
	X(name, ts_text_or_null(row->name)) \
	X(category, ts_text_or_null(row->category)) \
	X(occurrences, ts_int_or_null(row->occurrences)) \
	X(total_time_ps, ts_int_or_null(row->total_ps)) \
	X(self_time_ps, ts_int_or_null(row->self_ps)) \
	X(time_pct, roofline_row_share_of(row->total_ps, program_ps)) \
	X(self_time_pct, roofline_row_share_of(row->self_ps, program_ps)) \
	X(flops_per_s, RATE(FLOPS)) \
	X(model_flops_per_s, RATE(MODEL_FLOPS)) \
	X(bytes_per_s, RATE(BYTES)) \
	X(hbm_bytes_per_s, RATE(HBM)) \
	X(onchip_bytes_per_s, ts_real(onchip(&row->work) / seconds)) \
	X(cmem_read_bytes_per_s, RATE(CMEM_READ)) \
	X(cmem_write_bytes_per_s, RATE(CMEM_WRITE)) \
	X(vmem_read_bytes_per_s, RATE(VMEM_READ)) \
	X(vmem_write_bytes_per_s, RATE(VMEM_WRITE)) \
	X(operational_intensity, ts_real(AMOUNT(FLOPS) / AMOUNT(BYTES))) \
	X(hbm_operational_intensity, ts_real(AMOUNT(FLOPS) / AMOUNT(HBM))) \
	X(bottleneck_operational_intensity, ts_real(bound.intensity)) \
	X(bound_by, ts_text(ts_bytes_of(row->transfer ? ts_bound_name(row->transfer) : bound.name))) \
	X(optimal_flops_per_s, ts_real(AMOUNT(FLOPS) / seconds / bound.utilization)) \
	X(roofline_efficiency_pct, held(&holds, 100 * bound.utilization, 100, any_cause(row))) \
	X(flops_utilization_pct, USED(FLOPS)) \
	X(hbm_utilization_pct, USED(HBM)) \
	X(memory_utilization_pct, held(&holds, 100 * bound.memory_utilization, 100, row->hbm_cause)) \
	X(source, ts_text_or_null(row->source)) \
	X(op_index, row->op == TS_NONE ? ts_null() : ts_int(row->op))

struct ts_table *ts_roofline_table(struct ts_result *result)
{
	return TS_TABLE(result, roofline_roofline);
}

void ts_roofline_put_row(struct ts_result *result, struct ts_table *table,
			 const struct roofline_row *row, const struct roofline_peaks *peaks,
			 int64_t program_ps)
{
	double seconds = row->work_ps < 0 ? NAN : (double)row->work_ps * 1e-12;
	struct holds holds = { result, row, peaks, seconds };
	struct bound bound = roofline_row_bound_of(&row->work, peaks, seconds);

	TS_ASSERT(row->kind && program_ps > 0);
	TS_CELLS(result, table, roofline_roofline, ROOFLINE_CELLS);
}

static bool same_peaks(const struct roofline_peaks *a, const struct roofline_peaks *b)
{
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		if (isnan(a->peak[part]) != isnan(b->peak[part]) ||
		    (!isnan(a->peak[part]) && a->peak[part] != b->peak[part]))
			return false;
	return true;
}

static struct ts_bytes roofline_row_kind_of(const struct ts_context *ctx, uint32_t device)
{
	const char *name = ctx->rates[device].name;

	if (ctx->profile->devices[device].kind.n > 0 || !name)
		return ctx->profile->devices[device].kind;
	return ts_bytes_of(name);
}

/* A device before this one was the same: its rows are there. */
static bool roofline_row_is_listed(const struct ts_context *ctx, const struct roofline_state *sum,
				   uint32_t device)
{
	struct roofline_peaks peaks = ts_roofline_peaks_of(ctx, device);

	for (uint32_t i = 0; i < device; i++) {
		struct roofline_peaks other = ts_roofline_peaks_of(ctx, i);

		if (sum->devices[i].nr_events > 0 &&
		    ts_bytes_eq(roofline_row_kind_of(ctx, i), roofline_row_kind_of(ctx, device)) &&
		    same_peaks(&peaks, &other))
			return true;
	}
	return false;
}

#define RIDGE_CELLS(X) \
	X(device_kind, ts_text_or_null(roofline_row_kind_of(ctx, device))) \
	X(memory, ts_text(ts_bytes_of(resource->memory))) \
	X(peak_flops_per_s, ts_real(peaks.peak[ROOF_FLOPS])) \
	X(bytes_per_s, ts_real(bytes_per_s)) \
	X(ridge_flops_per_byte, ts_real(peaks.peak[ROOF_FLOPS] / bytes_per_s))

static void put_ridges_of(struct ts_result *result, struct ts_table *table,
			  const struct ts_context *ctx, uint32_t device)
{
	struct roofline_peaks peaks = ts_roofline_peaks_of(ctx, device);

	for (size_t i = 0; i < TS_NELEM(resources); i++) {
		const struct resource *resource = &resources[i];
		double bytes_per_s = peaks.peak[resource->part];

		if (resource->memory && !isnan(bytes_per_s))
			TS_CELLS(result, table, roofline_roofline_ridges, RIDGE_CELLS);
	}
}

void ts_roofline_put_ridges(struct ts_result *result, const struct ts_context *ctx,
			    const struct roofline_state *sum)
{
	struct ts_table *table = TS_TABLE(result, roofline_roofline_ridges);

	for (uint32_t i = 0; i < sum->nr_devices; i++)
		if (sum->devices[i].nr_events > 0 && !roofline_row_is_listed(ctx, sum, i))
			put_ridges_of(result, table, ctx, i);
}
