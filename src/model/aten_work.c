/* SPDX-License-Identifier: MIT */
/*
 * FLOPs are those of PyTorch's own counter (torch/utils/flop_counter.py): 2 m n k for a product, of a convolution 2
 * FLOPs for each weight that an element of the output meets, of attention the two products of scores and values, and
 * backward the five that compute its gradients (scores once more among them). What a causal mask leaves out of
 * attention is not computed by flash kernels and counts nothing here, as FlashAttention's own benchmarks have it;
 * PyTorch's counter counts it, and that is .flops_dense.
 */
#include "model/aten_work.h"

#include <math.h>

#include "base/check.h"
#include "model/aten_parts.h"

#define MASK_PLACE     10 /* of a convolution's backward: which gradients it computes */
#define FORWARD_KEYS   1  /* products of attention over a key's width, and over a value's */
#define FORWARD_VALUES 1
#define BACKWARD_KEYS	3
#define BACKWARD_VALUES 2

const char *const ts_aten_type_names[TS_NR_ATEN_TYPES] = {
	[TS_ATEN_F64] = "f64",	   [TS_ATEN_F32] = "f32", [TS_ATEN_BF16] = "bf16",
	[TS_ATEN_F16] = "f16",	   [TS_ATEN_FP8] = "fp8", [TS_ATEN_INT8] = "s8",
	[TS_ATEN_MIXED] = "mixed",
};

/* A call as its formula reads it: the arrays that are multiplied. */
struct operands {
	const struct ts_aten_call *call;
	const struct ts_aten_formula *formula;
	struct ts_aten_shape a, b, c;
};

static bool aten_read(struct operands *of, int at, struct ts_aten_shape *shape)
{
	return ts_aten_shape(ts_aten_item(of->call->dims, of->formula->first + at), shape);
}

static struct ts_bytes aten_value(const struct operands *of, int at)
{
	return ts_aten_item(of->call->values, at);
}

/* The last two dims are multiplied; those before them are broadcast. */
static double matrix_flops(const struct operands *of)
{
	const struct ts_aten_shape *a = &of->a, *b = &of->b;
	double batch;

	if (a->nr < 2 || b->nr < 2 || a->dims[a->nr - 1] != b->dims[b->nr - 2])
		return NAN;
	batch = fmax(ts_aten_product(a, 0, a->nr - 2), ts_aten_product(b, 0, b->nr - 2));
	return 2 * batch * ts_aten_product(a, a->nr - 2, a->nr) * (double)b->dims[b->nr - 1];
}

static double linear_flops(const struct operands *of)
{
	const struct ts_aten_shape *a = &of->a, *b = &of->b;

	if (a->nr < 1 || b->nr != 2 || a->dims[a->nr - 1] != b->dims[1])
		return NAN;
	return 2 * ts_aten_product(a, 0, a->nr) * (double)b->dims[0];
}

static double grouped_flops(const struct operands *of)
{
	const struct ts_aten_shape *a = &of->a, *b = &of->b;

	if (a->nr != 2 || b->nr != 3 || a->dims[1] != b->dims[1])
		return NAN;
	return 2 * ts_aten_product(a, 0, 2) * (double)b->dims[2];
}

/* A list with a number for each dim of space, or with one for all. */
static int64_t of_dim(const struct ts_aten_shape *list, size_t dim)
{
	return list->dims[list->nr == 1 ? 0 : dim];
}

enum { CONV_STRIDE, CONV_PADDING, CONV_DILATION, CONV_TRANSPOSED };

/* Elements of the output's space. */
static double space_of(const struct operands *of)
{
	struct ts_aten_shape lists[CONV_TRANSPOSED];
	size_t nr = of->b.nr - 2;
	double space = 1;

	for (int i = 0; i < CONV_TRANSPOSED; i++)
		if (!ts_aten_shape(aten_value(of, of->formula->at[i]), &lists[i]) ||
		    (lists[i].nr != 1 && lists[i].nr != nr))
			return NAN;
	for (size_t i = 0; i < nr; i++) {
		int64_t stride = of_dim(&lists[CONV_STRIDE], i);
		double reach =
			(double)of_dim(&lists[CONV_DILATION], i) * (double)(of->b.dims[2 + i] - 1) +
			1;
		double room = (double)of->a.dims[2 + i] +
			      2 * (double)of_dim(&lists[CONV_PADDING], i) - reach;

		if (stride == 0 || room < 0)
			return NAN;
		space *= floor(room / (double)stride) + 1;
	}
	return space;
}

static bool is_transposed(const struct operands *of)
{
	return ts_bytes_is(aten_value(of, of->formula->at[CONV_TRANSPOSED]), "True");
}

/* The weight is [out, in / groups, ...]; of a transposed one [in, out / groups, ...], each element of the
 * input meets all but its first dim. */
static double conv_flops(const struct operands *of)
{
	const struct ts_aten_shape *input = &of->a, *weight = &of->b;

	if (weight->nr < 3 || input->nr != weight->nr)
		return NAN;
	if (is_transposed(of))
		return 2 * ts_aten_product(input, 0, input->nr) *
		       ts_aten_product(weight, 1, weight->nr);
	return 2 * (double)input->dims[0] * space_of(of) * ts_aten_product(weight, 0, weight->nr);
}

/* How many gradients a convolution's backward computes; 0: unknown. */
static int nr_gradients(const struct operands *of)
{
	struct ts_bytes mask = aten_value(of, MASK_PLACE);

	return ts_bytes_is(ts_aten_item(mask, 0), "True") +
	       ts_bytes_is(ts_aten_item(mask, 1), "True");
}

/* Each gradient costs what the forward does. */
static double conv_backward_flops(struct operands *of)
{
	const struct ts_aten_shape *met = is_transposed(of) ? &of->b : &of->a, *weight = &of->c;

	if (aten_value(of, MASK_PLACE).n == 0 || !aten_read(of, 2, &of->c) || weight->nr < 3)
		return NAN;
	return nr_gradients(of) * 2 * ts_aten_product(met, 0, met->nr) *
	       ts_aten_product(weight, 1, weight->nr);
}

/* --- attention */

enum { ATTENTION_CAUSAL, ATTENTION_SAYS, ATTENTION_LAYOUT };

/* Where the length stands; the heads stand in the other of the last three dims but the width. */
static size_t length_at(const struct operands *of)
{
	bool by_token = of->formula->at[ATTENTION_LAYOUT] == ATEN_BY_TOKEN;

	return of->a.nr - (by_token ? 3 : 2);
}

static bool is_attention(struct operands *of)
{
	size_t nr = of->a.nr;

	if (!aten_read(of, 2, &of->c) || nr < 3 || of->b.nr != nr || of->c.nr != nr ||
	    of->a.dims[nr - 1] != of->b.dims[nr - 1])
		return false;
	return of->b.dims[length_at(of)] == of->c.dims[length_at(of)];
}

/* The share of pairs of a query and a key that a mask leaves: of a causal one the last query meets all keys. A trace
 * without values does not say whether there is one: then all are computed. NaN: it says, and not this. */
static double attended(const struct operands *of, double queries, double keys)
{
	struct ts_bytes says = aten_value(of, of->formula->at[ATTENTION_CAUSAL]);
	bool is_kind = of->formula->at[ATTENTION_SAYS] == ATEN_IS_KIND;

	if (of->call->values.n == 0)
		return 1;
	if (says.n == 0)
		return NAN;
	if (ts_bytes_is(says, is_kind ? "0" : "False"))
		return 1;
	return keys >= queries ? 1 - queries / keys / 2 : keys / queries / 2;
}

/* Scores of each query with each key, and the values by them; heads are the queries'. */
static void attention_flops(struct operands *of, double by_key, double by_value,
			    struct ts_aten_work *work)
{
	size_t nr = of->a.nr;
	double keys, queries;

	if (!is_attention(of))
		return;
	queries = (double)of->a.dims[length_at(of)];
	keys = (double)of->b.dims[length_at(of)];
	work->flops_dense =
		2 * ts_aten_product(&of->a, 0, nr - 1) * keys *
		(by_key * (double)of->b.dims[nr - 1] + by_value * (double)of->c.dims[nr - 1]);
	work->flops = work->flops_dense * attended(of, queries, keys);
}

/* Query, key and value go in; the result is as large as the query, of the value's width. Backward the gradient
 * of the result, which is as large, goes in, too, and a gradient of each of the three comes out. */
static double attention_bytes(const struct operands *of)
{
	int first = of->formula->first, element = ts_aten_element(of->call, first, NULL);
	double arrays = 0, result;

	for (int i = 0; i < 3; i++)
		arrays += ts_aten_array(of->call, first + i);
	if (of->c.nr < 1 || element == 0)
		return NAN;
	result = ts_aten_product(&of->a, 0, of->a.nr - 1) * (double)of->c.dims[of->c.nr - 1] *
		 element;
	return of->formula->kind == ATEN_ATTENTION ? arrays + result : 2 * arrays + result;
}

/* --- bytes of products and convolutions */

/* An array that may be left out, as a bias; then it has no type. */
static double aten_optional(const struct operands *of, int at)
{
	return at < 0 || ts_aten_item(of->call->types, at).n == 0 ? 0 : ts_aten_array(of->call, at);
}

/* Of an element of the result; NaN: unknown. */
static double result_element(const struct operands *of)
{
	const struct ts_aten_formula *formula = of->formula;
	int element = ts_aten_element(of->call, formula->first, NULL);
	int64_t number;

	if (strcmp(formula->name, "_int_mm") == 0)
		return 4;
	if (formula->kind == ATEN_PRODUCT && formula->at[0] >= 0)
		element = ts_bytes_i64(aten_value(of, formula->at[0]), &number)
				  ? ts_aten_element_of(number)
				  : 0;
	return element > 0 ? element : NAN;
}

/* What is added to a product: in front of its operands, or behind them. */
static int added_at(const struct ts_aten_formula *formula)
{
	if (formula->kind == ATEN_LINEAR)
		return 2;
	if (formula->kind == ATEN_PRODUCT && formula->at[0] >= 0)
		return 4;
	return formula->first == 1 ? 0 : -1;
}

/* FLOPs of a product are 2 for each element of the result and each column of the left operand. */
static double matrix_bytes(const struct operands *of, double flops)
{
	int first = of->formula->first;
	double columns = (double)of->a.dims[of->a.nr - 1];

	return ts_aten_array(of->call, first) + ts_aten_array(of->call, first + 1) +
	       flops / 2 / fmax(columns, 1) * result_element(of) +
	       aten_optional(of, added_at(of->formula));
}

/* FLOPs of a convolution are 2 for each element of the result and each weight of one channel. */
static double conv_bytes(const struct operands *of, double flops)
{
	bool has_bias = strcmp(of->formula->name, "cudnn_convolution") != 0;

	if (is_transposed(of))
		return NAN;
	return ts_aten_array(of->call, 0) + ts_aten_array(of->call, 1) +
	       aten_optional(of, has_bias ? 2 : -1) +
	       flops / 2 / fmax(ts_aten_product(&of->b, 1, of->b.nr), 1) * result_element(of);
}

/* Each gradient takes in two of the three arrays and is as large as the third. */
static double conv_backward_bytes(const struct operands *of)
{
	return nr_gradients(of) * (ts_aten_array(of->call, 0) + ts_aten_array(of->call, 1) +
				   ts_aten_array(of->call, 2));
}

static void matrix_work(struct operands *of, struct ts_aten_work *work)
{
	switch (of->formula->kind) {
	case ATEN_PRODUCT: work->flops = matrix_flops(of); break;
	case ATEN_LINEAR:  work->flops = linear_flops(of); break;
	case ATEN_GROUPED: work->flops = grouped_flops(of); break;
	case ATEN_CONV:	   work->flops = conv_flops(of); break;
	case ATEN_ATTENTION:
		attention_flops(of, FORWARD_KEYS, FORWARD_VALUES, work);
		work->bytes = attention_bytes(of);
		return;
	case ATEN_ATTENTION_BACKWARD:
		attention_flops(of, BACKWARD_KEYS, BACKWARD_VALUES, work);
		work->bytes = attention_bytes(of);
		return;
	default: work->flops = conv_backward_flops(of); break;
	}
	work->flops_dense = work->flops;
	if (isnan(work->flops))
		return;
	if (of->formula->kind == ATEN_CONV)
		work->bytes = conv_bytes(of, work->flops);
	else if (of->formula->kind == ATEN_CONV_BACKWARD)
		work->bytes = conv_backward_bytes(of);
	else
		work->bytes = matrix_bytes(of, work->flops);
}

static enum ts_aten_type multiplied_type(const struct operands *of)
{
	enum ts_aten_type a, b;

	if (ts_aten_element(of->call, of->formula->first, &a) == 0 ||
	    ts_aten_element(of->call, of->formula->first + 1, &b) == 0)
		return TS_ATEN_UNKNOWN;
	return a == b ? a : TS_ATEN_MIXED;
}

struct ts_aten_work ts_aten_work_of(const struct ts_aten_call *call)
{
	struct ts_aten_work work = { NAN, NAN, NAN, TS_ATEN_UNKNOWN };
	struct operands of = { .call = call, .formula = call->formula };

	TS_ASSERT(call);
	if (!call->formula)
		return work;
	if (!ts_aten_is_matrix(call->formula)) {
		work.bytes = ts_aten_vector_bytes(call);
		work.flops = work.flops_dense = isnan(work.bytes) ? NAN : 0;
		return work;
	}
	work.type = multiplied_type(&of);
	if (aten_read(&of, 0, &of.a) && aten_read(&of, 1, &of.b))
		matrix_work(&of, &work);
	return work;
}

bool ts_aten_matrix(struct ts_bytes dims, int argument, int64_t matrix[2])
{
	struct ts_aten_shape shape;

	TS_ASSERT(matrix);
	if (!ts_aten_shape(ts_aten_item(dims, argument), &shape) || shape.nr < 2)
		return false;
	memcpy(matrix, &shape.dims[shape.nr - 2], 2 * sizeof(*matrix));
	return matrix[0] > 1 && matrix[1] > 1;
}
