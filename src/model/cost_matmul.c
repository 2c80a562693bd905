/* SPDX-License-Identifier: MIT */
/*
 * Matrix products: convolutions, dots and the library calls of GPUs, as batch x (m x k) x (k x n).
 *
 * A TPU compiler writes every dot as a convolution, with tricks for batch and contracted
 * dimensions; counting the positions where the kernel meets real input tells them apart (openxla/xla,
 * HloCostAnalysis::GetConvolutionFlops). libtpu makes a group a position of one more spatial dimension, or,
 * where a group has one feature, gives the convolution to an emitter of depthwise ones.
 */
#include "model/cost_parts.h"

#include "base/check.h"

#define MAX_POSITIONS 16384 /* of the shorter of output and kernel; real ones: below a tenth */
#define MAX_SPATIAL   16    /* dimensions: XLA's own convolutions have three */

/* The arrays of a convolution in the terms of the forward pass, whatever pass it is. */
struct conv {
	const struct ts_hlo_instr *instr;
	const struct ts_shape *lhs, *rhs, *out;
};

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The x in [0, n) with a x = 1 (mod n), for a and n without a common factor: Euclid's way. */
static int64_t inverse(int64_t a, int64_t n)
{
	int64_t r0 = n, r1 = a % n, t0 = 0, t1 = 1;

	while (r1) {
		int64_t q = r0 / r1, rest = r0 - q * r1, t = t0 - q * t1;

		r0 = r1;
		r1 = rest;
		t0 = t1;
		t1 = t;
	}
	return t0 < 0 ? t0 + n : t0;
}

/* Where the steps of one position meet real elements: the same for all positions of a dimension. */
struct stride {
	int64_t n, step, hi, dilation;
	int64_t g, period, inverse; /* of step and dilation; the step's inverse modulo the period */
};

static struct stride stride_of(int64_t n, int64_t step, int64_t hi, int64_t dilation)
{
	struct stride stride = { .n = n, .step = step, .hi = hi, .dilation = dilation };

	stride.g = gcd(step, dilation);
	stride.period = dilation / stride.g;
	stride.inverse = inverse(step / stride.g % stride.period, stride.period);
	return stride;
}

/*
 * How many i in [0, n) have 0 <= base + i x step <= hi and a multiple of the dilation there: hits
 * of the real elements, with dilation - 1 holes between each two. All sizes below 2^31.
 */
static int64_t count_hits(const struct stride *stride, int64_t base)
{
	int64_t step = stride->step, period = stride->period, first, last, want;

	if (stride->hi < 0 || base > stride->hi)
		return 0;
	first = base < 0 ? (-base + step - 1) / step : 0;
	last = TS_MIN(stride->n - 1, (stride->hi - base) / step);
	if (first > last || base % stride->g != 0)
		return 0;
	if (period > 1) { /* i = want (mod period) */
		want = (-base / stride->g) % period;
		want = (want + period) % period * stride->inverse % period;
		first += ((want - first) % period + period) % period;
	}
	return first > last ? 0 : (last - first) / period + 1;
}

static bool sane(int64_t n, int64_t least)
{
	return n >= least && n < INT64_C(1) << 31;
}

/* Pairs of an output position and a kernel position that meet a real element; -1: unknown. */
static int64_t valid_positions(const struct ts_window_dim *dim, int64_t in, int64_t kernel,
			       int64_t out)
{
	bool taps = kernel <= out;
	int64_t n = taps ? kernel : out, other = taps ? out : kernel;
	int64_t step = taps ? dim->window_dilation : dim->stride;
	int64_t other_step = taps ? dim->stride : dim->window_dilation;
	struct stride stride;
	int64_t sum = 0;

	if (!sane(in, 0) || !sane(kernel, 0) || !sane(out, 0) || !sane(dim->stride, 1) ||
	    !sane(dim->window_dilation, 1) || !sane(dim->base_dilation, 1) ||
	    !sane(dim->pad_low < 0 ? -(dim->pad_low + 1) : dim->pad_low, 0))
		return -1;
	if (in == 0 || kernel == 0 || out == 0)
		return 0;
	if (n > MAX_POSITIONS)
		return -1;
	stride = stride_of(other, other_step, (in - 1) * dim->base_dilation, dim->base_dilation);
	for (int64_t i = 0; i < n; i++)
		sum += count_hits(&stride, i * step - dim->pad_low);
	return sum;
}

static int64_t cost_matmul_dim_of(const struct ts_shape *shape, int64_t dim)
{
	return dim >= 0 && dim < shape->rank ? TS_MAX(shape->dims[dim], 0) : -1;
}

/* What one spatial dimension adds to batch, m and k. */
struct spatial {
	int64_t batch, m, k_valid, m_out, valid, taps;
};

/*
 * facts: kernel > 1 and one position an output: a batch dimension, each output with a tap of its
 * own. One output alone: all is contracted. Else rows, with the taps contracted.
 */
static bool add_spatial(struct spatial *sum, const struct ts_window_dim *dim, int64_t in,
			int64_t kernel, int64_t out)
{
	int64_t valid = valid_positions(dim, in, kernel, out);

	if (valid < 0)
		return false;
	sum->valid = ts_i64_mul(sum->valid, valid);
	if (kernel > 1 && out > 1 && valid == out) {
		sum->batch = ts_i64_mul(sum->batch, out);
		return true;
	}
	sum->m = ts_i64_mul(sum->m, out);
	sum->m_out = ts_i64_mul(sum->m_out, out);
	sum->k_valid = ts_i64_mul(sum->k_valid, valid);
	if (kernel <= out) /* else a gradient's: its window is the image */
		sum->taps = ts_i64_mul(sum->taps, kernel);
	return true;
}

static bool add_spatials(struct spatial *sum, const struct conv *conv)
{
	const struct ts_conv_dims *dims = conv->instr->conv;

	if (dims->nr_spatial > MAX_SPATIAL)
		return false;
	if (conv->instr->nr_window != dims->nr_spatial)
		return conv->instr->nr_window == 0 && dims->nr_spatial == 0;
	for (uint32_t i = 0; i < dims->nr_spatial; i++) {
		int64_t in = cost_matmul_dim_of(conv->lhs, dims->in_spatial[i]);
		int64_t kernel = cost_matmul_dim_of(conv->rhs, dims->kernel_spatial[i]);
		int64_t out = cost_matmul_dim_of(conv->out, dims->out_spatial[i]);

		if (in < 0 || kernel < 0 || out < 0 ||
		    !add_spatial(sum, &conv->instr->window[i], in, kernel, out))
			return false;
	}
	return true;
}

/* n / of, to the next whole number: taps less borders need not divide evenly. */
static int64_t cost_matmul_ratio(int64_t n, int64_t of)
{
	return of > 0 ? ts_i64_add(n, of / 2) / of : 0;
}

static bool conv_product(const struct conv *conv, struct ts_matmul *to)
{
	const struct ts_conv_dims *dims = conv->instr->conv;
	int64_t groups = conv->instr->feature_group_count,
		batch_groups = conv->instr->batch_group_count;
	int64_t in_batch = cost_matmul_dim_of(conv->lhs, dims->in_batch),
		in_feature = cost_matmul_dim_of(conv->lhs, dims->in_feature);
	int64_t features = cost_matmul_dim_of(conv->out, dims->out_feature),
		rows = cost_matmul_dim_of(conv->out, dims->out_batch);
	struct spatial sum = { 1, 1, 1, 1, 1, 1 };
	int64_t depth = in_feature / groups;

	if (in_batch < 0 || in_feature < 0 || features < 0 || rows < 0 || !add_spatials(&sum, conv))
		return false;
	to->batch = ts_i64_mul(sum.batch, ts_i64_mul(groups, batch_groups));
	to->taps = TS_MAX(sum.taps, 1);
	to->groups = to->taps > 1 ? to->batch : ts_i64_mul(groups, batch_groups);
	to->by_channel =
		(groups > 1 && depth == 1) || (batch_groups > 1 && in_batch == batch_groups);
	to->m = ts_i64_mul(rows, sum.m);
	to->n = features / groups / batch_groups;
	to->k = ts_i64_mul(depth, cost_matmul_ratio(sum.k_valid, sum.m_out));
	to->flops = ts_i64_mul(ts_i64_mul(ts_i64_mul(depth, features), in_batch / batch_groups),
			       ts_i64_mul(sum.valid, 2));
	return true;
}

static int64_t product_of_dims(const struct ts_shape *shape, const int64_t *dims, uint32_t nr)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < nr; i++) {
		int64_t size = cost_matmul_dim_of(shape, dims[i]);

		if (size < 0)
			return -1;
		n = ts_i64_mul(n, size);
	}
	return n;
}

static bool dot_product(const struct ts_dot_dims *dims, const struct ts_shape *lhs,
			const struct ts_shape *rhs, const struct ts_shape *out,
			struct ts_matmul *to)
{
	int64_t inner;

	to->k = product_of_dims(lhs, dims->lhs_contracting, dims->nr_lhs_contracting);
	to->batch = product_of_dims(lhs, dims->lhs_batch, dims->nr_lhs_batch);
	inner = ts_i64_mul(to->k, to->batch);
	if (to->k < 0 || to->batch < 0)
		return false;
	to->m = inner > 0 ? ts_shape_elements(lhs) / inner : 0;
	to->n = inner > 0 ? ts_shape_elements(rhs) / inner : 0;
	to->flops = ts_i64_mul(ts_i64_mul(ts_shape_elements(out), to->k), 2);
	return true;
}

/* cuDNN's backward calls keep the forward pass's dimension numbers; their arrays trade places. */
static struct conv conv_of(const struct ts_hlo_instr *instr, const struct ts_shape *lhs,
			   const struct ts_shape *rhs, const struct ts_shape *out)
{
	if (ts_bytes_has(instr->custom_call_target, "convBackwardInput"))
		return (struct conv){ instr, out, rhs, lhs };
	if (ts_bytes_has(instr->custom_call_target, "convBackwardFilter"))
		return (struct conv){ instr, lhs, out, rhs };
	return (struct conv){ instr, lhs, rhs, out };
}

static bool cost_matmul_is_product(const struct ts_hlo_instr *instr)
{
	if (instr->opcode == TS_OPCODE_CUSTOM_CALL)
		return (instr->conv &&
			ts_bytes_starts(instr->custom_call_target, "__cudnn$conv")) ||
		       (instr->dot && ts_bytes_starts(instr->custom_call_target, "__cublas$"));
	return (instr->conv && instr->opcode == TS_OPCODE_CONVOLUTION) ||
	       (instr->dot && instr->opcode == TS_OPCODE_DOT);
}

bool ts_cost_product(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr,
		     struct ts_matmul *product)
{
	const struct ts_shape *lhs, *rhs, *out = &instr->shape;
	struct conv conv;

	TS_ASSERT(module && instr && product);
	if (instr->nr_operands < 2 || !cost_matmul_is_product(instr))
		return false;
	lhs = &module->instrs[instr->operands[0]].shape;
	rhs = &module->instrs[instr->operands[1]].shape;
	if (out->nr_parts > 0)
		out = &out->parts[0]; /* scratch memory follows */
	*product = (struct ts_matmul){
		.instr = (uint32_t)(instr - module->instrs),
		.lhs = lhs->dtype,
		.rhs = rhs->dtype,
		.out = out->dtype,
		.highest_precision = instr->highest_precision,
		.groups = 1,
		.taps = 1,
	};
	conv = conv_of(instr, lhs, rhs, out);
	return instr->conv ? conv_product(&conv, product)
			   : dot_product(instr->dot, lhs, rhs, out, product);
}

/* The products found so far, the largest first, and depthwise convolutions. */
struct found {
	struct ts_matmul *out;
	size_t max, nr, nr_depthwise;
};

static void cost_matmul_note(struct found *found, const struct ts_matmul *product)
{
	size_t at = TS_MIN(found->nr, found->max);

	found->nr++; /* not inside the macro: it would count twice */
	while (at > 0 && found->out[at - 1].flops < product->flops) {
		if (at < found->max)
			found->out[at] = found->out[at - 1];
		at--;
	}
	if (at < found->max)
		found->out[at] = *product;
}

/* By the emitter of the op that holds it; without one, by its shape. */
static bool is_depthwise(const struct ts_matmul *product, struct ts_bytes emitter)
{
	return emitter.n > 0 ? ts_bytes_has(emitter, "Depthwise") : product->by_channel;
}

static void search(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr,
		   struct ts_bytes emitter, unsigned depth, struct found *found)
{
	struct ts_matmul product;

	if (instr->backend.emitter.n > 0)
		emitter = instr->backend.emitter;
	if (ts_cost_product(module, instr, &product)) {
		if (is_depthwise(&product, emitter))
			found->nr_depthwise++;
		else
			cost_matmul_note(found, &product);
	}
	if (depth > TS_COST_MAX_DEPTH ||
	    !TS_OPCODE_IN(instr->opcode, TS_OPCODE_FUSION, TS_OPCODE_CALL, TS_OPCODE_ASYNC_START))
		return;
	for (uint32_t c = 0; c < instr->nr_called; c++) {
		const struct ts_hlo_comp *comp = &module->comps[instr->called[c]];

		for (uint32_t i = 0; i < comp->nr_instrs; i++)
			search(module, &module->instrs[comp->first_instr + i], emitter, depth + 1,
			       found);
	}
}

size_t ts_hlo_matmuls(const struct ts_hlo_module *module, uint32_t instr, struct ts_matmul *out,
		      size_t max)
{
	struct found found = { out, max, 0, 0 };

	TS_ASSERT(module && (out || max == 0));
	TS_ASSERT(instr < module->nr_instrs);
	search(module, &module->instrs[instr], (struct ts_bytes){ NULL, 0 }, 0, &found);
	return found.nr;
}

size_t ts_hlo_depthwise(const struct ts_hlo_module *module, uint32_t instr)
{
	struct found found = { NULL, 0, 0, 0 };

	TS_ASSERT(module);
	TS_ASSERT(instr < module->nr_instrs);
	search(module, &module->instrs[instr], (struct ts_bytes){ NULL, 0 }, 0, &found);
	return found.nr_depthwise;
}

/* The share of a row of tiles that N fills. */
static double tile_share(int64_t n, int64_t tile)
{
	if (n <= 0 || tile <= 0)
		return 0;
	return (double)n / ((double)((n - 1) / tile + 1) * (double)tile);
}

static struct ts_fill fill_of(int64_t m, int64_t n, int64_t k, int dim)
{
	struct ts_fill fill = {
		.m_share = tile_share(m, 8), /* rows stream through, eight sublanes at a time */
		.n_share = tile_share(n, dim),
		.k_share = tile_share(k, dim),
	};

	fill.share = fill.m_share * fill.n_share * fill.k_share;
	return fill;
}

struct ts_fill ts_matmul_fill(const struct ts_matmul *product, int dim)
{
	struct ts_fill plain = fill_of(product->m, product->n, product->k, dim);
	struct ts_fill swapped = fill_of(product->n, product->m, product->k, dim);

	TS_ASSERT(product);
	if (plain.share >= swapped.share)
		return plain;
	/* each share stays with the dimension it is named for */
	return (struct ts_fill){ swapped.share, swapped.n_share, swapped.m_share, swapped.k_share };
}
