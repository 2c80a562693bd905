/* SPDX-License-Identifier: MIT */
/* The time of an op, divided by what explains it. */
#include "analysis/kit/split.h"

#include <math.h>

#include "analysis/kit/peaks.h"
#include "base/check.h"
#include "base/units.h"
#include "model/kernel_name.h"
#include "model/launched.h"
#include "model/op_kind.h"
#include "model/op_work.h"
#include "model/traffic.h"
#include "result/impossible.h"

static int64_t split_ps_of(double seconds)
{
	return seconds > 0 ? (int64_t)fmin(seconds * (double)TS_PS_PER_S + 0.5, 9e18) : 0;
}

static bool has_instr(const struct ts_op *op)
{
	return op->module != TS_NONE && op->instr != TS_NONE;
}

/* Of the products in the compiled op: with the empty parts of the array and the passes of f32. */
static double split_products_s(const struct ts_rates *rates, const struct ts_hlo_module *module,
			       uint32_t instr)
{
	struct ts_op_work work = ts_op_work_of(module, instr, rates->mxu_dim);
	double issued = work.passes_flops >= work.flops ? work.passes_flops : work.flops;
	double bf16;

	if (work.nr_products == 0 || !(work.flops > 0))
		return 0;
	bf16 = ts_bf16_flops(rates, work.flops, work.flops, work.int8_flops, work.fp8_flops);
	return issued * (bf16 / work.flops) / rates->peak_flops_per_s;
}

/* Without the compiled op, and of kernels that say themselves what they do: FLOPs at the peak. NaN: the peak is
 * unknown, or what a kernel does. */
static double matrix_s(const struct ts_profile *profile, const struct ts_rates *rates,
		       const struct ts_op *op)
{
	if (has_instr(op) && op->category_id != TS_OPCODE_CUSTOM_CALL)
		return split_products_s(rates, &profile->modules[op->module], op->instr);
	if (op->flops > 0)
		return ts_op_flops(op) / rates->peak_flops_per_s;
	return ts_op_is_opaque(profile, op) ? NAN : 0;
}

static double hbm_s(const struct ts_profile *profile, const struct ts_rates *rates,
		    const struct ts_op *op)
{
	struct ts_traffic traffic = ts_op_traffic(profile, op);

	return (double)ts_traffic_hbm_bytes(&traffic) / rates->hbm_bytes_per_s;
}

static double estimate_s(const struct ts_profile *profile, const struct ts_rates *rates,
			 const struct ts_op *op)
{
	const struct ts_hlo_instr *instr = has_instr(op) ? ts_op_instr(profile, op) : NULL;

	return instr && instr->backend.estimated_cycles > 0
		       ? (double)instr->backend.estimated_cycles / rates->clock_hz
		       : 0;
}

/* At the fastest rate that the chip has for any type. */
static double flops_s(const struct ts_rates *rates, double flops)
{
	return flops /
	       fmax(rates->peak_flops_per_s, fmax(rates->peak_int8_per_s, rates->peak_fp8_per_s));
}

/* What an execution needs at least, less what a peak is known to. */
static int64_t split_least_of(double flops_s, double hbm_s)
{
	return (int64_t)((double)TS_MAX(split_ps_of(flops_s), split_ps_of(hbm_s)) / TS_ABOVE_PEAK);
}

/* What a library wrote is known by its name, what XLA compiled by its category. */
static bool split_kind_is_known(const struct ts_op *op)
{
	bool is_compiled =
		op->has_program && op->category.n > 0 && op->category_id != TS_OPCODE_CUSTOM_CALL;

	return is_compiled || ts_kernel_class_of(op->name).category != TS_CATEGORY_OTHER;
}

/* Whose time is what the needs leave of an op of unknown work? */
static enum ts_split_part left_of_kind(const struct ts_op *op)
{
	if (op->kind == TS_OP_CONTROL || !split_kind_is_known(op))
		return TS_SPLIT_REST;
	return op->kind == TS_OP_MOVE ? TS_SPLIT_MOVE : TS_SPLIT_KIND;
}

/* There is a roofline where the op's work is known, and each peak that it asks for. On a CPU, whose peaks are not known,
 * work that is known is compute. */
static enum ts_split_part split_left_of(const struct ts_context *ctx, const struct ts_op *op,
					const struct ts_split *split, double in_matrix_s,
					double in_hbm_s)
{
	int64_t need_ps = 0;

	if (ts_profile_is_of_cpus(ctx->profile) && op->kind != TS_OP_CONTROL && op->flops > 0)
		return TS_SPLIT_KIND;
	for (int part = 0; part < TS_NR_NEEDS; part++)
		need_ps |= split->need_ps[part];
	if (need_ps == 0 || isnan(in_matrix_s) || isnan(in_hbm_s))
		return left_of_kind(op);
	return TS_SPLIT_BELOW;
}

static struct ts_split split_by(const struct ts_context *ctx, const struct ts_rates *rates,
				const struct ts_op *op, double flops, double in_matrix_s,
				double in_hbm_s)
{
	struct ts_split split = { .whole = TS_NR_BUCKETS,
				  .least_ps = split_least_of(flops_s(rates, flops), in_hbm_s) };
	int64_t matrix_ps = split_ps_of(in_matrix_s),
		least_ps = TS_MAX(matrix_ps, split_ps_of(in_hbm_s));

	split.need_ps[TS_SPLIT_MATRIX] = matrix_ps;
	split.need_ps[TS_SPLIT_HBM] = least_ps - matrix_ps;
	split.need_ps[TS_SPLIT_ESTIMATE] =
		TS_MAX(split_ps_of(estimate_s(ctx->profile, rates, op)) - least_ps, 0);
	split.left = split_left_of(ctx, op, &split, in_matrix_s, in_hbm_s);
	return split;
}

struct ts_split ts_split_of(const struct ts_context *ctx, uint32_t device, const struct ts_op *op)
{
	const struct ts_rates *rates = &ctx->rates[device];
	enum ts_bucket whole = ts_op_bucket(op);

	TS_ASSERT(device < ctx->profile->nr_devices);
	if (whole != TS_NR_BUCKETS || op->kind == TS_OP_CONTROL) /* the ops inside explain it */
		return (struct ts_split){ .whole = whole, .left = TS_SPLIT_REST };
	return split_by(ctx, rates, op, ts_op_flops(op), matrix_s(ctx->profile, rates, op),
			hbm_s(ctx->profile, rates, op));
}

struct ts_split ts_split_of_call(const struct ts_context *ctx, uint32_t device,
				 const struct ts_op *op, int64_t flops, int64_t bytes)
{
	const struct ts_rates *rates = &ctx->rates[device];

	if (op->category_id != TS_OPCODE_CUSTOM_CALL || ts_op_bucket(op) != TS_NR_BUCKETS)
		return ts_split_of(ctx, device, op);
	return split_by(ctx, rates, op, flops == TS_UNKNOWN ? ts_op_flops(op) : (double)flops,
			flops == TS_UNKNOWN ? matrix_s(ctx->profile, rates, op)
					    : (double)flops / rates->peak_flops_per_s,
			bytes == TS_UNKNOWN ? hbm_s(ctx->profile, rates, op)
					    : (double)bytes / rates->hbm_bytes_per_s);
}

/* Bytes that the cache keeps are moved faster than HBM's peak: then all of the time is memory's. */
struct ts_split ts_split_of_kernel(const struct ts_context *ctx, uint32_t device,
				   const struct ts_split *class, int64_t flops, int64_t bytes,
				   uint8_t how)
{
	const struct ts_rates *rates = &ctx->rates[device];
	bool no_matrix = how & TS_HOW_NO_MATRIX;
	double matrix_s = no_matrix ? 0 : NAN, bytes_s = NAN;
	struct ts_split split = *class;

	if (how & TS_HOW_AGAIN && class->whole == TS_NR_BUCKETS)
		split.whole = TS_BUCKET_REMATERIALIZATION;
	if (split.whole != TS_NR_BUCKETS || how == 0)
		return split;
	if (!no_matrix && flops != TS_UNKNOWN)
		matrix_s =
			(double)flops / ts_type_peak(rates, (enum ts_aten_type)(how & TS_HOW_TYPE));
	if (bytes != TS_UNKNOWN)
		bytes_s = (double)bytes / rates->hbm_bytes_per_s;
	split.need_ps[TS_SPLIT_MATRIX] = split_ps_of(matrix_s);
	split.need_ps[TS_SPLIT_HBM] =
		TS_MAX(split_ps_of(bytes_s) - split.need_ps[TS_SPLIT_MATRIX], 0);
	split.least_ps = split_least_of(matrix_s, 0);
	if (!isnan(matrix_s) && !isnan(bytes_s))
		split.left = TS_SPLIT_BELOW;
	else if (split.left == TS_SPLIT_REST && how & TS_HOW_KIND)
		split.left = TS_SPLIT_KIND;
	return split;
}

/* What a part takes of the time that is left. */
static int64_t split_take(const struct ts_split *split, enum ts_split_part part, int64_t *left_ps)
{
	int64_t ps = TS_MIN(split->need_ps[part], *left_ps);

	*left_ps -= ps;
	return ps;
}

void ts_split_time(const struct ts_split *split, int64_t dur_ps, int64_t parts[TS_NR_SPLITS])
{
	int64_t left_ps = dur_ps;

	TS_ASSERT_HOT(split->whole == TS_NR_BUCKETS && dur_ps >= 0);
	memset(parts, 0, TS_NR_SPLITS * sizeof(*parts));
	if (dur_ps < split->least_ps) {
		parts[TS_SPLIT_REST] = dur_ps;
		return;
	}
	for (enum ts_split_part part = 0; part < TS_NR_NEEDS; part++)
		parts[part] = split_take(split, part, &left_ps);
	parts[split->left] = left_ps;
}

enum ts_bucket ts_split_bucket(enum ts_split_part part)
{
	static const enum ts_bucket buckets[TS_NR_SPLITS] = {
		[TS_SPLIT_MATRIX] = TS_BUCKET_COMPUTE,
		[TS_SPLIT_HBM] = TS_BUCKET_MEMORY_WAIT,
		[TS_SPLIT_ESTIMATE] = TS_BUCKET_COMPUTE,
		[TS_SPLIT_KIND] = TS_BUCKET_COMPUTE,
		[TS_SPLIT_MOVE] = TS_BUCKET_MEMORY_WAIT,
		[TS_SPLIT_BELOW] = TS_BUCKET_BELOW_ROOFLINE,
		[TS_SPLIT_REST] = TS_BUCKET_UNEXPLAINED,
	};

	TS_ASSERT_HOT((unsigned)part < TS_NR_SPLITS);
	return buckets[part];
}
