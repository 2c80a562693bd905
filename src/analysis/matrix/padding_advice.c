/* SPDX-License-Identifier: MIT */
/*
 * What to change so that less is padding: other sizes, or another order of dimensions. What is said
 * of bytes is about the array that wastes most of them, what is said of FLOPs about the dimension of
 * the product that leaves most of the matrix unit empty. A gain is the op's time times what the change saves of the resource that bounds it, at the rate the op
 * ran at. A larger size that costs no more saves nothing: then there is no gain.
 */
#include "analysis/matrix/padding.h"

#include <inttypes.h>

#define SHRINK_SHARE 8	   /* a size is brought down a tile when it is over by an eighth of one */
#define WORTH	     0.001 /* a share below which nothing is said */
#define FEW_BYTES    4096  /* 8 x 128 words, a register: an array takes about that whatever its size and layout */

/* A dimension of the largest product and what the array makes of it. */
struct dim {
	char name;
	int64_t size, whole, unit; /* whole: rounded up to units */
	double share;		   /* size / whole */
};

static struct dim padding_advice_dim_of(char name, int64_t size, double share, int array)
{
	struct dim dim = { .name = name, .size = size, .share = share, .unit = array };

	dim.whole = share > 0 ? (int64_t)fmin(round((double)size / share), 9e18) : size;
	if (dim.whole - size < 8 && dim.whole % array != 0)
		dim.unit = 8; /* the side that lies on sublanes */
	return dim;
}

static struct dim worst_dim(const struct ts_op_work *work, int array)
{
	struct dim dims[] = {
		padding_advice_dim_of('M', work->main.m, work->fill.m_share, array),
		padding_advice_dim_of('N', work->main.n, work->fill.n_share, array),
		padding_advice_dim_of('K', work->main.k, work->fill.k_share, array),
	};
	size_t worst = 0;

	for (size_t i = 1; i < TS_NELEM(dims); i++)
		if (dims[i].share < dims[worst].share)
			worst = i;
	return dims[worst];
}

/*
 * What of a convolution cannot grow for nothing. On a v6e libtpu estimates for 16 features 7,296 cycles at one position of
 * the kernel and 21,460 at 3 x 3, both K of less than 256; 32 features take the same 21,460. Four groups of 64 features
 * take 66,596, one of 256 takes 66,225, and 32 of 8 take 1,116,608.
 */
static struct ts_bytes advise_convolution(struct ts_result *result, const struct ts_matmul *product,
					  int array)
{
	int64_t features = product->k / TS_MAX(product->taps, 1);

	if (product->groups > 1)
		return ts_result_text(result,
				      "each of the %" PRId64 " groups has %" PRId64 " x %" PRId64
				      " features for an array of %d x %d: fewer, wider groups fill "
				      "more of it",
				      product->groups, features, product->n, array, array);
	return ts_result_text(result,
			      "K=%" PRId64 " is %" PRId64 " features at %" PRId64
			      " positions of the kernel: more features fill the array, a larger "
			      "kernel takes longer",
			      product->k, features, product->taps);
}

static struct ts_bytes advise_product(struct ts_result *result, const struct padding_op *row,
				      double *gain_ps)
{
	struct dim dim = worst_dim(&row->work, row->dim);
	int64_t low = dim.whole - dim.unit, batch = row->work.main.batch;
	double self_ps = row->self_ps < 0 ? NAN : (double)row->self_ps;

	if (dim.whole <= dim.size)
		return (struct ts_bytes){ NULL, 0 };
	if (dim.name != 'M' &&
	    (row->work.main.groups > 1 || (dim.name == 'K' && row->work.main.taps > 1)))
		return advise_convolution(result, &row->work.main, row->dim);
	if (dim.size <= dim.unit && dim.size * 2 == dim.unit && dim.name != 'M' && batch > 1 &&
	    batch % 2 == 0) {
		*gain_ps = self_ps * (1 - dim.share);
		return ts_result_text(result,
				      "%c=%" PRId64 " fills half of %" PRId64 ": pack two of the "
				      "%" PRId64
				      " batches (heads) into one product, or make it %" PRId64,
				      dim.name, dim.size, dim.unit, batch, dim.unit);
	}
	if (low > 0 && dim.size - low <= dim.unit / SHRINK_SHARE) {
		*gain_ps = self_ps * (double)dim.unit / (double)dim.whole;
		return ts_result_text(result,
				      "%c=%" PRId64 " takes as long as %" PRId64
				      ": bring it down to %" PRId64,
				      dim.name, dim.size, dim.whole, low);
	}
	return ts_result_text(result,
			      "%c=%" PRId64 " takes as long as %" PRId64 ": use it up to %" PRId64
			      ", which costs no more",
			      dim.name, dim.size, dim.whole, dim.whole);
}

/* The array that wastes most, of those the op reads and the one it writes. */
static const struct ts_shape *padding_advice_pick(const struct ts_shape *shape,
						  const struct ts_shape *best, int64_t *waste)
{
	uint32_t nr = shape->dtype == TS_TUPLE ? shape->nr_parts : 1;

	for (uint32_t i = 0; i < nr; i++) {
		const struct ts_shape *one = shape->dtype == TS_TUPLE ? &shape->parts[i] : shape;
		struct ts_padding bytes = ts_padding_of_shape(one);

		if (one->dtype == TS_TUPLE || bytes.allocated_bytes <= FEW_BYTES)
			continue;
		if (bytes.allocated_bytes - bytes.logical_bytes <= *waste)
			continue;
		*waste = bytes.allocated_bytes - bytes.logical_bytes;
		best = one;
	}
	return best;
}

static const struct ts_shape *worst_array(const struct padding_op *row)
{
	const struct ts_shape *best = NULL;
	const struct ts_hlo_instr *instr;
	int64_t waste = 0;

	if (!row->module)
		return row->has_shape ? padding_advice_pick(&row->shape, NULL, &waste) : NULL;
	instr = &row->module->instrs[row->instr];
	best = padding_advice_pick(&instr->shape, best, &waste);
	for (uint32_t i = 0; i < instr->nr_operands; i++)
		best = padding_advice_pick(&row->module->instrs[instr->operands[i]].shape, best,
					   &waste);
	return best;
}

static struct ts_stored worst_stored(const struct ts_shape *shape, uint32_t *minor)
{
	struct ts_stored worst = ts_padding_stored(shape, 0);
	uint32_t nr = shape->nr_tiles > 0 ? shape->tiles[0].nr_dims : 0;

	*minor = 0;
	for (uint32_t i = 1; i < nr; i++) {
		struct ts_stored one = ts_padding_stored(shape, i);

		if ((double)one.size * (double)worst.stored <
		    (double)worst.size * (double)one.stored) {
			worst = one;
			*minor = i;
		}
	}
	return worst;
}

static void print_dims(struct ts_buf *out, const struct ts_shape *shape)
{
	ts_buf_puts(out, ts_dtype_name(shape->dtype));
	ts_buf_putc(out, '[');
	for (uint32_t i = 0; i < shape->rank; i++)
		ts_buf_printf(out, "%s%" PRId64, i ? "," : "", shape->dims[i]);
	ts_buf_putc(out, ']');
}

/* NaN without a run. */
static double padding_advice_saved_ps(const struct padding_op *row, const struct ts_shape *shape,
				      struct ts_stored stored)
{
	double empty = 1 - (double)stored.size / (double)stored.stored;

	if (row->self_ps < 0)
		return NAN;
	return (double)row->self_ps * (double)ts_shape_bytes(shape) * empty /
	       (double)row->bytes.allocated_bytes;
}

static struct ts_bytes advise_array(struct ts_result *result, const struct padding_op *row,
				    double *gain_ps)
{
	const struct ts_shape *shape = worst_array(row);
	struct ts_buf name = TS_BUF_INIT;
	struct ts_bytes text = { NULL, 0 };
	struct ts_stored worst;
	uint32_t minor;

	if (!shape)
		return text;
	worst = worst_stored(shape, &minor);
	if (worst.stored <= worst.size)
		return text;
	print_dims(&name, shape);
	if (name.failed) {
		result->owner->failed = true;
	} else if (worst.size * 2 <= worst.unit) {
		*gain_ps = padding_advice_saved_ps(row, shape, worst);
		text = ts_result_text(
			result,
			"%.*s: only %" PRId64 " of %" PRId64 " %s hold data: let a larger "
			"dimension lie there (transpose), or merge it with its neighbour",
			TS_ARG(ts_buf_bytes(&name)), worst.size, worst.unit,
			minor == 0 ? "lanes" : "sublanes");
	} else {
		text = ts_result_text(result,
				      "%.*s: %" PRId64 " is stored as %" PRId64
				      " already: up to %" PRId64 " costs no more, and a multiple "
				      "of %" PRId64 " has no padding",
				      TS_ARG(ts_buf_bytes(&name)), worst.size, worst.stored,
				      worst.stored, worst.unit);
	}
	ts_buf_release(&name);
	return text;
}

bool ts_padding_is_small(const struct padding_op *row)
{
	TS_ASSERT(row->op || row->module);
	return !worst_array(row);
}

struct ts_padding_hint ts_padding_hint(struct ts_result *result, const struct padding_op *row,
				       enum padding_bound resource)
{
	bool array = resource == PADDING_ARRAY;
	double gain_ps = NAN, share = array ? row->flops_share : row->bytes_share;
	struct ts_padding_hint hint = { .gain_ps = -1 };

	TS_ASSERT(row->op || row->module);
	if (!(share > WORTH) ||
	    (row->self_ps >= 0 && row->bound != PADDING_ARRAY && row->bound != PADDING_BYTES))
		return hint;
	if (!array)
		hint.text = advise_array(result, row, &gain_ps);
	else if (row->work.nr_products > 0 && row->dim > 0)
		hint.text = advise_product(result, row, &gain_ps);
	if (row->bound == resource && isfinite(gain_ps))
		hint.gain_ps = llround(fmin(gain_ps, 9e18));
	return hint;
}
