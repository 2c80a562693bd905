/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formulas are those of PyTorch's own counter (torch/utils/flop_counter.py): 2 m n k for a product, of a
 * convolution 2 FLOPs for each weight that an element of the output meets, of attention the two products of
 * scores and values, and backward the five that compute its gradients (scores once more among them). Attention
 * is counted whole: the profiler does not say how much of it a mask leaves out.
 *
 * The places of arguments are those of ATen's schemas (aten/src/ATen/native/native_functions.yaml).
 */
#include "model/aten_flops.h"

#include <math.h>

#include "base/check.h"

#define RANK_MAX 8

struct shape {
	int64_t dims[RANK_MAX];
	size_t nr;
};

/* Where a convolution has what; -1: nowhere. */
struct conv_places {
	int stride, padding, dilation, transposed;
};

enum kind { PRODUCT, LINEAR, CONV, CONV_BACKWARD, ATTENTION, ATTENTION_BACKWARD };

struct formula {
	const char *name;
	enum kind kind;
	int first; /* of the arguments that are multiplied */
	struct conv_places conv;
};

static const struct formula formulas[] = {
	{ "aten::mm", PRODUCT, 0, { 0 } },
	{ "aten::bmm", PRODUCT, 0, { 0 } },
	{ "aten::matmul", PRODUCT, 0, { 0 } },
	{ "aten::_scaled_mm", PRODUCT, 0, { 0 } },
	{ "aten::_int_mm", PRODUCT, 0, { 0 } },
	{ "aten::addmm", PRODUCT, 1, { 0 } },
	{ "aten::addmm_", PRODUCT, 1, { 0 } },
	{ "aten::_addmm_activation", PRODUCT, 1, { 0 } },
	{ "aten::baddbmm", PRODUCT, 1, { 0 } },
	{ "aten::baddbmm_", PRODUCT, 1, { 0 } },
	{ "aten::linear", LINEAR, 0, { 0 } },
	{ "aten::conv1d", CONV, 0, { 3, 4, 5, -1 } },
	{ "aten::conv2d", CONV, 0, { 3, 4, 5, -1 } },
	{ "aten::conv3d", CONV, 0, { 3, 4, 5, -1 } },
	{ "aten::convolution", CONV, 0, { 3, 4, 5, 6 } },
	{ "aten::_convolution", CONV, 0, { 3, 4, 5, 6 } },
	{ "aten::cudnn_convolution", CONV, 0, { 3, 2, 4, -1 } },
	{ "aten::miopen_convolution", CONV, 0, { 4, 3, 5, -1 } },
	{ "aten::mkldnn_convolution", CONV, 0, { 4, 3, 5, -1 } },
	{ "aten::convolution_backward", CONV_BACKWARD, 0, { 4, 5, 6, 7 } },
	{ "aten::scaled_dot_product_attention", ATTENTION, 0, { 0 } },
	{ "aten::_scaled_dot_product_attention_math", ATTENTION, 0, { 0 } },
	{ "aten::_scaled_dot_product_flash_attention", ATTENTION, 0, { 0 } },
	{ "aten::_scaled_dot_product_flash_attention_for_cpu", ATTENTION, 0, { 0 } },
	{ "aten::_scaled_dot_product_efficient_attention", ATTENTION, 0, { 0 } },
	{ "aten::_scaled_dot_product_cudnn_attention", ATTENTION, 0, { 0 } },
	{ "aten::_scaled_dot_product_flash_attention_backward", ATTENTION_BACKWARD, 1, { 0 } },
	{ "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
	  ATTENTION_BACKWARD,
	  1,
	  { 0 } },
	{ "aten::_scaled_dot_product_efficient_attention_backward", ATTENTION_BACKWARD, 1, { 0 } },
	{ "aten::_scaled_dot_product_cudnn_attention_backward", ATTENTION_BACKWARD, 1, { 0 } },
};

#define MASK_PLACE 10 /* of a convolution's backward: which gradients it computes */

static const struct formula *formula_of(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(formulas); i++)
		if (ts_bytes_is(name, formulas[i].name))
			return &formulas[i];
	return NULL;
}

/* --- lists as text */

/* The end of the item that begins at AT: a comma or bracket outside of brackets and quotes. */
static size_t item_end(struct ts_bytes list, size_t at)
{
	bool quoted = false;
	int depth = 0;

	for (; at < list.n; at++) {
		uint8_t c = list.p[at];

		if (c == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (c == '[')
			depth++;
		else if ((c == ']' && depth-- == 0) || (c == ',' && depth == 0))
			break;
	}
	return at;
}

/* Without blanks and quotes around it. */
static struct ts_bytes bare(struct ts_bytes text)
{
	while (text.n > 0 && (text.p[0] <= ' ' || text.p[0] == '"'))
		text = ts_bytes_cut(text, 1, text.n);
	while (text.n > 0 && (text.p[text.n - 1] <= ' ' || text.p[text.n - 1] == '"'))
		text.n--;
	return text;
}

/* *LIST is behind the opening bracket, or behind an item. False: there are no more. */
static bool next_item(struct ts_bytes *list, struct ts_bytes *item)
{
	size_t end = item_end(*list, 0);

	*item = bare(ts_bytes_cut(*list, 0, end));
	if (item->n == 0 && (end >= list->n || list->p[end] == ']') && end == 0)
		return false;
	*list = end < list->n && list->p[end] == ',' ? ts_bytes_cut(*list, end + 1, list->n)
						     : (struct ts_bytes){ NULL, 0 };
	return true;
}

static bool enter(struct ts_bytes *list)
{
	*list = bare(*list);
	if (list->n == 0 || list->p[0] != '[')
		return false;
	*list = ts_bytes_cut(*list, 1, list->n);
	return true;
}

/* Item AT of a list; empty: it has none there. */
static struct ts_bytes item_of(struct ts_bytes list, int at)
{
	struct ts_bytes item = { NULL, 0 };

	if (at < 0 || !enter(&list))
		return item;
	for (int i = 0; i <= at; i++)
		if (!next_item(&list, &item))
			return (struct ts_bytes){ NULL, 0 };
	return item;
}

/* A list of whole numbers, none of them below 0. False: it is not one. */
static bool read_shape(struct ts_bytes text, struct shape *shape)
{
	struct ts_bytes item;

	shape->nr = 0;
	if (!enter(&text))
		return false;
	while (next_item(&text, &item)) {
		if (shape->nr == RANK_MAX || !ts_bytes_i64(item, &shape->dims[shape->nr]) ||
		    shape->dims[shape->nr] < 0)
			return false;
		shape->nr++;
	}
	return true;
}

/* --- formulas */

static double product(const struct shape *shape, size_t from, size_t to)
{
	double all = 1;

	for (size_t i = from; i < to; i++)
		all *= (double)shape->dims[i];
	return all;
}

/* The last two dims are multiplied; those before them are broadcast. */
static double matrix_flops(const struct shape *a, const struct shape *b)
{
	double batch;

	if (a->nr < 2 || b->nr < 2 || a->dims[a->nr - 1] != b->dims[b->nr - 2])
		return NAN;
	batch = fmax(product(a, 0, a->nr - 2), product(b, 0, b->nr - 2));
	return 2 * batch * product(a, a->nr - 2, a->nr) * (double)b->dims[b->nr - 1];
}

static double linear_flops(const struct shape *input, const struct shape *weight)
{
	if (input->nr < 1 || weight->nr != 2 || input->dims[input->nr - 1] != weight->dims[1])
		return NAN;
	return 2 * product(input, 0, input->nr) * (double)weight->dims[0];
}

/* A list with a number for each dim of space, or with one for all. */
static int64_t of_dim(const struct shape *list, size_t dim)
{
	return list->dims[list->nr == 1 ? 0 : dim];
}

/* Elements of the output's space. */
static double space_of(const struct conv_places *places, const struct shape *input,
		       const struct shape *weight, struct ts_bytes values)
{
	struct shape stride, padding, dilation;
	size_t nr = weight->nr - 2;
	double space = 1;

	if (!read_shape(item_of(values, places->stride), &stride) ||
	    !read_shape(item_of(values, places->padding), &padding) ||
	    !read_shape(item_of(values, places->dilation), &dilation))
		return NAN;
	if ((stride.nr != 1 && stride.nr != nr) || (padding.nr != 1 && padding.nr != nr) ||
	    (dilation.nr != 1 && dilation.nr != nr))
		return NAN;
	for (size_t i = 0; i < nr; i++) {
		double reach = (double)of_dim(&dilation, i) * (double)(weight->dims[2 + i] - 1) + 1;
		double room = (double)input->dims[2 + i] + 2 * (double)of_dim(&padding, i) - reach;

		if (of_dim(&stride, i) == 0 || room < 0)
			return NAN;
		space *= floor(room / (double)of_dim(&stride, i)) + 1;
	}
	return space;
}

static bool is_transposed(const struct formula *formula, struct ts_bytes values)
{
	return ts_bytes_is(item_of(values, formula->conv.transposed), "True");
}

/* The weight is [out, in / groups, ...]; of a transposed one [in, out / groups, ...], each element of the
 * input meets all but its first dim. */
static double conv_flops(const struct formula *formula, const struct shape *input,
			 const struct shape *weight, struct ts_bytes values)
{
	if (weight->nr < 3 || input->nr != weight->nr)
		return NAN;
	if (is_transposed(formula, values))
		return 2 * product(input, 0, input->nr) * product(weight, 1, weight->nr);
	return 2 * (double)input->dims[0] * space_of(&formula->conv, input, weight, values) *
	       product(weight, 0, weight->nr);
}

/* Each gradient costs what the forward does. */
static double conv_backward_flops(const struct formula *formula, const struct shape *grad,
				  const struct shape *input, struct ts_bytes dims,
				  struct ts_bytes values)
{
	struct ts_bytes mask = item_of(values, MASK_PLACE);
	struct shape weight;
	const struct shape *met = is_transposed(formula, values) ? input : grad;
	int nr = ts_bytes_is(item_of(mask, 0), "True") + ts_bytes_is(item_of(mask, 1), "True");

	if (mask.n == 0 || !read_shape(item_of(dims, 2), &weight) || weight.nr < 3)
		return NAN;
	return nr * 2 * product(met, 0, met->nr) * product(&weight, 1, weight.nr);
}

/* [..., heads, length, width]: scores of each query with each key, and the values by them. */
static double attention_flops(const struct shape *query, const struct shape *key,
			      const struct shape *value, double by_key, double by_value)
{
	size_t nr = query->nr;

	if (nr < 3 || key->nr != nr || value->nr != nr ||
	    query->dims[nr - 1] != key->dims[nr - 1] || key->dims[nr - 2] != value->dims[nr - 2])
		return NAN;
	return 2 * product(query, 0, nr - 1) * (double)key->dims[nr - 2] *
	       (by_key * (double)key->dims[nr - 1] + by_value * (double)value->dims[nr - 1]);
}

bool ts_aten_has_flops(struct ts_bytes name, bool *needs_values)
{
	const struct formula *formula = formula_of(name);

	TS_ASSERT(needs_values);
	*needs_values = formula && (formula->kind == CONV || formula->kind == CONV_BACKWARD);
	return formula != NULL;
}

double ts_aten_flops(struct ts_bytes name, struct ts_bytes dims, struct ts_bytes values)
{
	const struct formula *formula = formula_of(name);
	struct shape a, b, c;

	if (!formula || !read_shape(item_of(dims, formula->first), &a) ||
	    !read_shape(item_of(dims, formula->first + 1), &b))
		return NAN;
	switch (formula->kind) {
	case PRODUCT:	    return matrix_flops(&a, &b);
	case LINEAR:	    return linear_flops(&a, &b);
	case CONV:	    return conv_flops(formula, &a, &b, values);
	case CONV_BACKWARD: return conv_backward_flops(formula, &a, &b, dims, values);
	default:	    break;
	}
	if (!read_shape(item_of(dims, formula->first + 2), &c))
		return NAN;
	return formula->kind == ATTENTION ? attention_flops(&a, &b, &c, 1, 1)
					  : attention_flops(&a, &b, &c, 3, 2);
}

bool ts_aten_matrix(struct ts_bytes dims, int argument, int64_t matrix[2])
{
	struct shape shape;

	TS_ASSERT(matrix);
	if (!read_shape(item_of(dims, argument), &shape) || shape.nr < 2)
		return false;
	memcpy(matrix, &shape.dims[shape.nr - 2], 2 * sizeof(*matrix));
	return matrix[0] > 1 && matrix[1] > 1;
}
