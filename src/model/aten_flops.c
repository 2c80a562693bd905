/* SPDX-License-Identifier: MIT */
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

/* Where the type of the result is, of operators that take it as an argument; -1: it is that of the operands. */
static int out_type_place(const struct formula *formula)
{
	return strcmp(formula->name, "aten::_scaled_mm") == 0 ? 6 : -1;
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
static bool aten_flops_next_item(struct ts_bytes *list, struct ts_bytes *item)
{
	size_t end = item_end(*list, 0);

	*item = bare(ts_bytes_cut(*list, 0, end));
	if (item->n == 0 && (end >= list->n || list->p[end] == ']') && end == 0)
		return false;
	*list = end < list->n && list->p[end] == ',' ? ts_bytes_cut(*list, end + 1, list->n)
						     : (struct ts_bytes){ NULL, 0 };
	return true;
}

static bool aten_flops_enter(struct ts_bytes *list)
{
	*list = bare(*list);
	if (list->n == 0 || list->p[0] != '[')
		return false;
	*list = ts_bytes_cut(*list, 1, list->n);
	return true;
}

/* Item AT of a list; empty: it has none there. */
static struct ts_bytes aten_flops_item_of(struct ts_bytes list, int at)
{
	struct ts_bytes item = { NULL, 0 };

	if (at < 0 || !aten_flops_enter(&list))
		return item;
	for (int i = 0; i <= at; i++)
		if (!aten_flops_next_item(&list, &item))
			return (struct ts_bytes){ NULL, 0 };
	return item;
}

/* A list of whole numbers, none of them below 0. False: it is not one. */
static bool aten_flops_read_shape(struct ts_bytes text, struct shape *shape)
{
	struct ts_bytes item;

	shape->nr = 0;
	if (!aten_flops_enter(&text))
		return false;
	while (aten_flops_next_item(&text, &item)) {
		if (shape->nr == RANK_MAX || !ts_bytes_i64(item, &shape->dims[shape->nr]) ||
		    shape->dims[shape->nr] < 0)
			return false;
		shape->nr++;
	}
	return true;
}

/* --- formulas */

static double aten_flops_product(const struct shape *shape, size_t from, size_t to)
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
	batch = fmax(aten_flops_product(a, 0, a->nr - 2), aten_flops_product(b, 0, b->nr - 2));
	return 2 * batch * aten_flops_product(a, a->nr - 2, a->nr) * (double)b->dims[b->nr - 1];
}

static double linear_flops(const struct shape *input, const struct shape *weight)
{
	if (input->nr < 1 || weight->nr != 2 || input->dims[input->nr - 1] != weight->dims[1])
		return NAN;
	return 2 * aten_flops_product(input, 0, input->nr) * (double)weight->dims[0];
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

	if (!aten_flops_read_shape(aten_flops_item_of(values, places->stride), &stride) ||
	    !aten_flops_read_shape(aten_flops_item_of(values, places->padding), &padding) ||
	    !aten_flops_read_shape(aten_flops_item_of(values, places->dilation), &dilation))
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
	return ts_bytes_is(aten_flops_item_of(values, formula->conv.transposed), "True");
}

/* The weight is [out, in / groups, ...]; of a transposed one [in, out / groups, ...], each element of the
 * input meets all but its first dim. */
static double conv_flops(const struct formula *formula, const struct shape *input,
			 const struct shape *weight, struct ts_bytes values)
{
	if (weight->nr < 3 || input->nr != weight->nr)
		return NAN;
	if (is_transposed(formula, values))
		return 2 * aten_flops_product(input, 0, input->nr) *
		       aten_flops_product(weight, 1, weight->nr);
	return 2 * (double)input->dims[0] * space_of(&formula->conv, input, weight, values) *
	       aten_flops_product(weight, 0, weight->nr);
}

/* Each gradient costs what the forward does. */
static double conv_backward_flops(const struct formula *formula, const struct shape *grad,
				  const struct shape *input, struct ts_bytes dims,
				  struct ts_bytes values)
{
	struct ts_bytes mask = aten_flops_item_of(values, MASK_PLACE);
	struct shape weight;
	const struct shape *met = is_transposed(formula, values) ? input : grad;
	int nr = ts_bytes_is(aten_flops_item_of(mask, 0), "True") +
		 ts_bytes_is(aten_flops_item_of(mask, 1), "True");

	if (mask.n == 0 || !aten_flops_read_shape(aten_flops_item_of(dims, 2), &weight) ||
	    weight.nr < 3)
		return NAN;
	return nr * 2 * aten_flops_product(met, 0, met->nr) *
	       aten_flops_product(&weight, 1, weight.nr);
}

/* [..., heads, length, width]: scores of each query with each key, and the values by them. */
static double attention_flops(const struct shape *query, const struct shape *key,
			      const struct shape *value, double by_key, double by_value)
{
	size_t nr = query->nr;

	if (nr < 3 || key->nr != nr || value->nr != nr ||
	    query->dims[nr - 1] != key->dims[nr - 1] || key->dims[nr - 2] != value->dims[nr - 2])
		return NAN;
	return 2 * aten_flops_product(query, 0, nr - 1) * (double)key->dims[nr - 2] *
	       (by_key * (double)key->dims[nr - 1] + by_value * (double)value->dims[nr - 1]);
}

bool ts_aten_has_flops(struct ts_bytes name, bool *needs_values)
{
	const struct formula *formula = formula_of(name);

	TS_ASSERT(needs_values);
	*needs_values = formula && (formula->kind == CONV || formula->kind == CONV_BACKWARD ||
				    out_type_place(formula) >= 0);
	return formula != NULL;
}

double ts_aten_flops(struct ts_bytes name, struct ts_bytes dims, struct ts_bytes values)
{
	const struct formula *formula = formula_of(name);
	struct shape a, b, c;

	if (!formula || !aten_flops_read_shape(aten_flops_item_of(dims, formula->first), &a) ||
	    !aten_flops_read_shape(aten_flops_item_of(dims, formula->first + 1), &b))
		return NAN;
	switch (formula->kind) {
	case PRODUCT:	    return matrix_flops(&a, &b);
	case LINEAR:	    return linear_flops(&a, &b);
	case CONV:	    return conv_flops(formula, &a, &b, values);
	case CONV_BACKWARD: return conv_backward_flops(formula, &a, &b, dims, values);
	default:	    break;
	}
	if (!aten_flops_read_shape(aten_flops_item_of(dims, formula->first + 2), &c))
		return NAN;
	return formula->kind == ATTENTION ? attention_flops(&a, &b, &c, 1, 1)
					  : attention_flops(&a, &b, &c, 3, 2);
}

/* --- bytes */

const char *const ts_aten_type_names[TS_NR_ATEN_TYPES] = {
	[TS_ATEN_F64] = "f64",	   [TS_ATEN_F32] = "f32", [TS_ATEN_BF16] = "bf16",
	[TS_ATEN_F16] = "f16",	   [TS_ATEN_FP8] = "fp8", [TS_ATEN_INT8] = "s8",
	[TS_ATEN_MIXED] = "mixed",
};

/* C++ names of types (c10/core/ScalarType.h), as the profiler writes them, and their numbers there. */
static const struct element {
	const char *name;
	int number;
	int bytes;
	enum ts_aten_type type;
} elements[] = {
	{ "float", 6, 4, TS_ATEN_F32 },
	{ "c10::BFloat16", 15, 2, TS_ATEN_BF16 },
	{ "c10::Half", 5, 2, TS_ATEN_F16 },
	{ "double", 7, 8, TS_ATEN_F64 },
	{ "c10::Float8_e5m2", 23, 1, TS_ATEN_FP8 },
	{ "c10::Float8_e4m3fn", 24, 1, TS_ATEN_FP8 },
	{ "c10::Float8_e5m2fnuz", 25, 1, TS_ATEN_FP8 },
	{ "c10::Float8_e4m3fnuz", 26, 1, TS_ATEN_FP8 },
	{ "signed char", 1, 1, TS_ATEN_INT8 },
	{ "unsigned char", 0, 1, TS_ATEN_INT8 },
	{ "int", 3, 4, TS_ATEN_UNKNOWN },
	{ "long int", 4, 8, TS_ATEN_UNKNOWN },
	{ "bool", 11, 1, TS_ATEN_UNKNOWN },
};

static const struct element *element_of(struct ts_bytes types, int at)
{
	struct ts_bytes name = aten_flops_item_of(types, at);

	for (size_t i = 0; i < TS_NELEM(elements); i++)
		if (ts_bytes_is(name, elements[i].name))
			return &elements[i];
	return NULL;
}

/* An argument; NaN: its type or shape is unknown. */
static double input_bytes(const struct ts_aten_call *call, int at)
{
	const struct element *element = element_of(call->types, at);
	struct shape shape;

	if (!element || !aten_flops_read_shape(aten_flops_item_of(call->dims, at), &shape))
		return NAN;
	return aten_flops_product(&shape, 0, shape.nr) * element->bytes;
}

/* One that may be left out, as a bias; then it has no type. */
static double optional_bytes(const struct ts_aten_call *call, int at)
{
	return aten_flops_item_of(call->types, at).n == 0 ? 0 : input_bytes(call, at);
}

/* Of an element of the result; NaN: unknown. */
static double out_bytes(const struct ts_aten_call *call, const struct formula *formula)
{
	const struct element *element = element_of(call->types, formula->first);
	int place = out_type_place(formula);
	int64_t number;

	if (ts_bytes_is(call->name, "aten::_int_mm"))
		return 4;
	if (place < 0)
		return element ? element->bytes : NAN;
	if (!ts_bytes_i64(aten_flops_item_of(call->values, place), &number))
		return NAN;
	for (size_t i = 0; i < TS_NELEM(elements); i++)
		if (elements[i].number == number)
			return elements[i].bytes;
	return NAN;
}

/* FLOPs of a product are 2 for each element of the result and each column of the left operand. */
static double product_bytes(const struct ts_aten_call *call, const struct formula *formula)
{
	int a = formula->first, added = a == 1 ? 0 : -1;
	double flops = ts_aten_flops(call->name, call->dims, call->values), result;
	struct shape left;

	if (!aten_flops_read_shape(aten_flops_item_of(call->dims, a), &left) || left.nr < 2)
		return NAN;
	if (formula->kind == LINEAR)
		added = 2;
	else if (out_type_place(formula) >= 0)
		added = 4;
	result = flops / 2 / fmax((double)left.dims[left.nr - 1], 1) * out_bytes(call, formula);
	return input_bytes(call, a) + input_bytes(call, a + 1) + result +
	       (added >= 0 ? optional_bytes(call, added) : 0);
}

/* FLOPs of a convolution are 2 for each element of the result and each weight of one channel. */
static double conv_bytes(const struct ts_aten_call *call, const struct formula *formula)
{
	double flops = ts_aten_flops(call->name, call->dims, call->values);
	bool has_bias = !ts_bytes_is(call->name, "aten::cudnn_convolution");
	struct shape weight;

	if (is_transposed(formula, call->values) ||
	    !aten_flops_read_shape(aten_flops_item_of(call->dims, 1), &weight))
		return NAN;
	return input_bytes(call, 0) + input_bytes(call, 1) +
	       (has_bias ? optional_bytes(call, 2) : 0) +
	       flops / 2 / fmax(aten_flops_product(&weight, 1, weight.nr), 1) *
		       out_bytes(call, formula);
}

/* Each gradient takes in two of the three arrays and is as large as the third. */
static double conv_backward_bytes(const struct ts_aten_call *call)
{
	struct ts_bytes mask = aten_flops_item_of(call->values, MASK_PLACE);
	int nr = ts_bytes_is(aten_flops_item_of(mask, 0), "True") +
		 ts_bytes_is(aten_flops_item_of(mask, 1), "True");

	if (mask.n == 0)
		return NAN;
	return nr * (input_bytes(call, 0) + input_bytes(call, 1) + input_bytes(call, 2));
}

/* Query, key and value go in; the result has the query's heads and lengths and the value's width. Backward the
 * gradient of the result, which is as large, goes in, too, and a gradient of each of the three comes out. */
static double attention_bytes(const struct ts_aten_call *call, const struct formula *formula)
{
	double arrays = 0, result;
	struct shape query, value;
	int first = formula->first;

	if (!aten_flops_read_shape(aten_flops_item_of(call->dims, first), &query) ||
	    !aten_flops_read_shape(aten_flops_item_of(call->dims, first + 2), &value) ||
	    query.nr < 1 || value.nr < 1)
		return NAN;
	for (int i = 0; i < 3; i++)
		arrays += input_bytes(call, first + i);
	result = aten_flops_product(&query, 0, query.nr - 1) * (double)value.dims[value.nr - 1] *
		 out_bytes(call, formula);
	return formula->kind == ATTENTION ? arrays + result : 2 * arrays + result;
}

double ts_aten_bytes(const struct ts_aten_call *call)
{
	const struct formula *formula;

	TS_ASSERT(call);
	formula = formula_of(call->name);
	if (!formula)
		return NAN;
	switch (formula->kind) {
	case PRODUCT:
	case LINEAR:	    return product_bytes(call, formula);
	case CONV:	    return conv_bytes(call, formula);
	case CONV_BACKWARD: return conv_backward_bytes(call);
	default:	    return attention_bytes(call, formula);
	}
}

enum ts_aten_type ts_aten_type_of(const struct ts_aten_call *call)
{
	const struct formula *formula;
	const struct element *a, *b;

	TS_ASSERT(call);
	formula = formula_of(call->name);
	a = formula ? element_of(call->types, formula->first) : NULL;
	b = formula ? element_of(call->types, formula->first + 1) : NULL;
	if (!a || !b)
		return TS_ATEN_UNKNOWN;
	return a->type == b->type ? a->type : TS_ATEN_MIXED;
}

enum ts_kernel_category ts_aten_category(struct ts_bytes name)
{
	static const enum ts_kernel_category categories[] = {
		[PRODUCT] = TS_CATEGORY_GEMM,	     [LINEAR] = TS_CATEGORY_GEMM,
		[CONV] = TS_CATEGORY_CONVOLUTION,    [CONV_BACKWARD] = TS_CATEGORY_CONVOLUTION,
		[ATTENTION] = TS_CATEGORY_ATTENTION, [ATTENTION_BACKWARD] = TS_CATEGORY_ATTENTION,
	};
	const struct formula *formula = formula_of(name);

	return formula ? categories[formula->kind] : TS_CATEGORY_OTHER;
}

bool ts_aten_matrix(struct ts_bytes dims, int argument, int64_t matrix[2])
{
	struct shape shape;

	TS_ASSERT(matrix);
	if (!aten_flops_read_shape(aten_flops_item_of(dims, argument), &shape) || shape.nr < 2)
		return false;
	memcpy(matrix, &shape.dims[shape.nr - 2], 2 * sizeof(*matrix));
	return matrix[0] > 1 && matrix[1] > 1;
}
