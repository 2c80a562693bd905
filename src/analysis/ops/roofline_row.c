/*
 * One row of the roofline: amounts of work over time, against what the device could do. Formulas
 * are XProf's (openxla/xprof, xprof/convert/op_metrics_to_record.h and
 * op_stats_to_roofline_model.cc), in FLOPs and bytes a second instead of giga and gibi.
 */
#include "analysis/ops/roofline.h"

/* The resources an op can be bound by, in the order in which the first of equals wins. */
static const struct resource {
	enum roofline_part part;
	const char *name;   /* XProf's word for the bound */
	const char *memory; /* in the table of ridges; NULL: it is no memory */
} resources[] = {
	{ ROOF_FLOPS, "Compute", NULL },
	{ ROOF_HBM, "HBM", "HBM" },
	{ ROOF_CMEM_READ, "CMEM Read", "CMEM read" },
	{ ROOF_CMEM_WRITE, "CMEM Write", "CMEM write" },
	{ ROOF_VMEM_READ, "VMEM Read", "VMEM read" },
	{ ROOF_VMEM_WRITE, "VMEM Write", "VMEM write" },
};

static double known(double rate)
{
	return isfinite(rate) && rate > 0 ? rate : NAN;
}

struct roofline_peaks roofline_peaks_of(const struct ts_context *ctx, uint32_t device)
{
	const struct ts_device *from = &ctx->profile->devices[device];
	const struct ts_rates *rates = &ctx->rates[device];

	return (struct roofline_peaks){ .peak = {
						[ROOF_FLOPS] = known(rates->peak_flops_per_s),
						[ROOF_MODEL_FLOPS] = NAN,
						[ROOF_BYTES] = NAN,
						[ROOF_HBM] = known(rates->hbm_bytes_per_s),
						[ROOF_CMEM_READ] =
							known(from->cmem_read_bytes_per_s),
						[ROOF_CMEM_WRITE] =
							known(from->cmem_write_bytes_per_s),
						[ROOF_VMEM_READ] =
							known(from->vmem_read_bytes_per_s),
						[ROOF_VMEM_WRITE] =
							known(from->vmem_write_bytes_per_s),
					} };
}

enum {
	COL_KIND,
	COL_STEP,
	COL_PROGRAM_ID,
	COL_MODULE,
	COL_NAME,
	COL_CATEGORY,
	COL_OCCURRENCES,
	COL_TOTAL,
	COL_SELF,
	COL_TIME,
	COL_SELF_SHARE,
	COL_FLOPS,
	COL_MODEL_FLOPS,
	COL_BYTES,
	COL_HBM,
	COL_ONCHIP,
	COL_CMEM_READ,
	COL_CMEM_WRITE,
	COL_VMEM_READ,
	COL_VMEM_WRITE,
	COL_INTENSITY,
	COL_HBM_INTENSITY,
	COL_BOUND_INTENSITY,
	COL_BOUND,
	COL_OPTIMAL,
	COL_EFFICIENCY,
	COL_FLOPS_USED,
	COL_HBM_USED,
	COL_MEMORY_USED,
	COL_SOURCE,
	COL_OP,
	NR_COLS
};

static const struct ts_column columns[NR_COLS] = {
	[COL_KIND] = { "kind", TS_DERIVED, "kind" },
	[COL_STEP] = { "step", TS_MEASURED, NULL },
	[COL_PROGRAM_ID] = { "program_id", TS_MEASURED, NULL },
	[COL_MODULE] = { "module", TS_MEASURED, NULL },
	[COL_NAME] = { "name", TS_MEASURED, "name" },
	[COL_CATEGORY] = { "category", TS_COMPILED, NULL },
	[COL_OCCURRENCES] = { "occurrences", TS_MEASURED, NULL },
	[COL_TOTAL] = { "total_time_ps", TS_MEASURED, "total" },
	[COL_SELF] = { "self_time_ps", TS_MEASURED, NULL },
	[COL_TIME] = { "time_pct", TS_MEASURED, NULL },
	[COL_SELF_SHARE] = { "self_time_pct", TS_MEASURED, NULL },
	[COL_FLOPS] = { "flops_per_s", TS_MODELLED, "FLOP/s" },
	[COL_MODEL_FLOPS] = { "model_flops_per_s", TS_MODELLED, NULL },
	[COL_BYTES] = { "bytes_per_s", TS_MODELLED, NULL },
	[COL_HBM] = { "hbm_bytes_per_s", TS_MODELLED, "HBM" },
	[COL_ONCHIP] = { "onchip_bytes_per_s", TS_MODELLED, NULL },
	[COL_CMEM_READ] = { "cmem_read_bytes_per_s", TS_MODELLED, NULL },
	[COL_CMEM_WRITE] = { "cmem_write_bytes_per_s", TS_MODELLED, NULL },
	[COL_VMEM_READ] = { "vmem_read_bytes_per_s", TS_MODELLED, NULL },
	[COL_VMEM_WRITE] = { "vmem_write_bytes_per_s", TS_MODELLED, NULL },
	[COL_INTENSITY] = { "operational_intensity", TS_COMPILED, "FLOPs a byte" },
	[COL_HBM_INTENSITY] = { "hbm_operational_intensity", TS_COMPILED, NULL },
	[COL_BOUND_INTENSITY] = { "bottleneck_operational_intensity", TS_MODELLED, NULL },
	[COL_BOUND] = { "bound_by", TS_MODELLED, "bound by" },
	[COL_OPTIMAL] = { "optimal_flops_per_s", TS_MODELLED, NULL },
	[COL_EFFICIENCY] = { "roofline_efficiency_pct", TS_MODELLED, "of roofline" },
	[COL_FLOPS_USED] = { "flops_utilization_pct", TS_MODELLED, NULL },
	[COL_HBM_USED] = { "hbm_utilization_pct", TS_MODELLED, NULL },
	[COL_MEMORY_USED] = { "memory_utilization_pct", TS_MODELLED, NULL },
	[COL_SOURCE] = { "source", TS_MEASURED, NULL },
	[COL_OP] = { "op_index", TS_DERIVED, NULL },
};

struct ts_table *roofline_table(struct ts_result *result)
{
	return ts_result_table(result, "roofline", "Against the roofline", columns, NR_COLS);
}

/* What is unknown leaves the larger of the others; all unknown: NaN. */
struct bound {
	const char *name;
	double utilization, intensity; /* of the resource used most */
	double memory_utilization;     /* of the memory used most */
};

static struct bound bound_of(const struct roofline_work *work, const struct roofline_peaks *peaks,
			     double seconds)
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
			sum = (isnan(sum) ? 0 : sum) + work->amount[part];
	return sum;
}

static void put_rates(struct ts_value *cells, const struct roofline_work *work, double seconds)
{
	static const int column_of[NR_ROOF_PARTS] = {
		[ROOF_FLOPS] = COL_FLOPS,	  [ROOF_MODEL_FLOPS] = COL_MODEL_FLOPS,
		[ROOF_BYTES] = COL_BYTES,	  [ROOF_HBM] = COL_HBM,
		[ROOF_CMEM_READ] = COL_CMEM_READ, [ROOF_CMEM_WRITE] = COL_CMEM_WRITE,
		[ROOF_VMEM_READ] = COL_VMEM_READ, [ROOF_VMEM_WRITE] = COL_VMEM_WRITE,
	};
	const double *amount = work->amount;

	for (int part = 0; part < NR_ROOF_PARTS; part++)
		cells[column_of[part]] = ts_real(amount[part] / seconds);
	cells[COL_ONCHIP] = ts_real(onchip(work) / seconds);
	cells[COL_INTENSITY] = ts_real(amount[ROOF_FLOPS] / amount[ROOF_BYTES]);
	cells[COL_HBM_INTENSITY] = ts_real(amount[ROOF_FLOPS] / amount[ROOF_HBM]);
}

static void put_bound(struct ts_value *cells, const struct roofline_work *work,
		      const struct roofline_peaks *peaks, double seconds)
{
	struct bound bound = bound_of(work, peaks, seconds);
	double flops_per_s = work->amount[ROOF_FLOPS] / seconds;

	cells[COL_BOUND] = ts_text(ts_bytes_of(bound.name));
	cells[COL_BOUND_INTENSITY] = ts_real(bound.intensity);
	cells[COL_OPTIMAL] = ts_real(flops_per_s / bound.utilization);
	cells[COL_EFFICIENCY] = ts_share_pct(bound.utilization);
	cells[COL_FLOPS_USED] = ts_share_pct(flops_per_s / peaks->peak[ROOF_FLOPS]);
	cells[COL_HBM_USED] =
		ts_share_pct(work->amount[ROOF_HBM] / seconds / peaks->peak[ROOF_HBM]);
	cells[COL_MEMORY_USED] = ts_share_pct(bound.memory_utilization);
}

static struct ts_value share_of(int64_t ps, int64_t program_ps)
{
	return ps < 0 ? ts_null() : ts_share_pct((double)ps / (double)program_ps);
}

bool roofline_put_row(struct ts_result *result, struct ts_table *table,
		      const struct roofline_row *row, const struct roofline_peaks *peaks,
		      int64_t program_ps)
{
	struct ts_value *cells = ts_table_row(result, table);
	double seconds = row->total_ps < 0 ? NAN : (double)row->total_ps * 1e-12;

	if (!cells)
		return false;
	cells[COL_KIND] = ts_text(ts_bytes_of(row->kind));
	cells[COL_STEP] = ts_int_or_null(row->step);
	cells[COL_PROGRAM_ID] = row->has_program ? ts_id(row->program_id) : ts_null();
	cells[COL_MODULE] = ts_text_or_null(row->module);
	cells[COL_NAME] = ts_text_or_null(row->name);
	cells[COL_CATEGORY] = ts_text_or_null(row->category);
	cells[COL_OCCURRENCES] = ts_int_or_null(row->occurrences);
	cells[COL_TOTAL] = ts_int_or_null(row->total_ps);
	cells[COL_SELF] = ts_int_or_null(row->self_ps);
	cells[COL_TIME] = share_of(row->total_ps, program_ps);
	cells[COL_SELF_SHARE] = share_of(row->self_ps, program_ps);
	put_rates(cells, &row->work, seconds);
	put_bound(cells, &row->work, peaks, seconds);
	cells[COL_SOURCE] = ts_text_or_null(row->source);
	cells[COL_OP] = row->op == TS_NONE ? ts_null() : ts_int(row->op);
	return true;
}

static const struct ts_column ridge_columns[] = {
	{ "device_kind", TS_MEASURED, "device" },
	{ "memory", TS_DERIVED, "memory" },
	{ "peak_flops_per_s", TS_MODELLED, "peak" },
	{ "bytes_per_s", TS_MODELLED, "bandwidth" },
	{ "ridge_flops_per_byte", TS_MODELLED, "ridge, FLOPs a byte" },
};

static bool same_peaks(const struct roofline_peaks *a, const struct roofline_peaks *b)
{
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		if (isnan(a->peak[part]) != isnan(b->peak[part]) ||
		    (!isnan(a->peak[part]) && a->peak[part] != b->peak[part]))
			return false;
	return true;
}

static struct ts_bytes kind_of(const struct ts_context *ctx, uint32_t device)
{
	const char *name = ctx->rates[device].name;

	if (ctx->profile->devices[device].kind.n > 0 || !name)
		return ctx->profile->devices[device].kind;
	return ts_bytes_of(name);
}

/* A device before this one was the same: its rows are there. */
static bool is_told(const struct ts_context *ctx, const bool *ran, uint32_t device)
{
	struct roofline_peaks peaks = roofline_peaks_of(ctx, device);

	for (uint32_t i = 0; i < device; i++) {
		struct roofline_peaks other = roofline_peaks_of(ctx, i);

		if (ran[i] && ts_bytes_eq(kind_of(ctx, i), kind_of(ctx, device)) &&
		    same_peaks(&peaks, &other))
			return true;
	}
	return false;
}

static bool put_ridges_of(struct ts_result *result, struct ts_table *table,
			  const struct ts_context *ctx, uint32_t device)
{
	struct roofline_peaks peaks = roofline_peaks_of(ctx, device);

	for (size_t i = 0; i < TS_NELEM(resources); i++) {
		double bytes_per_s = peaks.peak[resources[i].part];
		struct ts_value *cells;

		if (!resources[i].memory || isnan(bytes_per_s))
			continue;
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		cells[0] = ts_text_or_null(kind_of(ctx, device));
		cells[1] = ts_text(ts_bytes_of(resources[i].memory));
		cells[2] = ts_real(peaks.peak[ROOF_FLOPS]);
		cells[3] = ts_real(bytes_per_s);
		cells[4] = ts_real(peaks.peak[ROOF_FLOPS] / bytes_per_s);
	}
	return true;
}

bool roofline_put_ridges(struct ts_result *result, const struct ts_context *ctx, const bool *ran)
{
	struct ts_table *table = ts_result_table(result, "roofline_ridges", "Ridge points",
						 ridge_columns, TS_NELEM(ridge_columns));

	for (uint32_t i = 0; table && i < ctx->profile->nr_devices; i++)
		if (ran[i] && !is_told(ctx, ran, i) && !put_ridges_of(result, table, ctx, i))
			return false;
	return table != NULL;
}
