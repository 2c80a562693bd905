/* SPDX-License-Identifier: MIT */
/*
 * Arrays of a call: their types and sizes, and the bytes of operators that are bound by them. An operator that makes
 * its result has it not among its arguments: its size follows from theirs.
 */
#include "model/aten_parts.h"

#include <math.h>

#include "base/check.h"

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
	{ "short int", 2, 2, TS_ATEN_UNKNOWN },
	{ "int", 3, 4, TS_ATEN_UNKNOWN },
	{ "long int", 4, 8, TS_ATEN_UNKNOWN },
	{ "bool", 11, 1, TS_ATEN_UNKNOWN },
};

#define BYTES_OF_BOOL  1
#define BYTES_OF_F32   4
#define BYTES_OF_INDEX 8 /* argmax and its like make long ints */

static const struct element *element_of(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(elements); i++)
		if (ts_bytes_is(name, elements[i].name))
			return &elements[i];
	return NULL;
}

int ts_aten_element(const struct ts_aten_call *call, int at, enum ts_aten_type *type)
{
	const struct element *element = element_of(ts_aten_item(call->types, at));

	if (type)
		*type = element ? element->type : TS_ATEN_UNKNOWN;
	return element ? element->bytes : 0;
}

int ts_aten_element_of(int64_t number)
{
	for (size_t i = 0; i < TS_NELEM(elements); i++)
		if (elements[i].number == number)
			return elements[i].bytes;
	return 0;
}

double ts_aten_array(const struct ts_aten_call *call, int at)
{
	int element = ts_aten_element(call, at, NULL);
	struct ts_aten_shape shape;

	if (element == 0 || !ts_aten_shape(ts_aten_item(call->dims, at), &shape))
		return NAN;
	return ts_aten_product(&shape, 0, shape.nr) * element;
}

/* All arrays of a call: what is an argument, and what a result of one element for each of theirs would be. */
struct arrays {
	double bytes;		     /* of all; NaN: one is not known */
	double at[ATEN_RANK_MAX];    /* of the first arguments; 0: it is not an array */
	size_t past;		     /* the last array and one */
	struct ts_aten_shape result; /* broadcast */
	int widest
		[2]; /* bytes of an element: of scalars, which count where there is nothing else, and of others */
};

/* Right-aligned, the larger of each dim. */
static void arrays_broadcast(struct ts_aten_shape *into, const struct ts_aten_shape *from)
{
	size_t nr = TS_MAX(into->nr, from->nr);
	struct ts_aten_shape all = { .nr = nr };

	for (size_t i = 0; i < nr; i++) {
		int64_t a = i < into->nr ? into->dims[into->nr - 1 - i] : 1;
		int64_t b = i < from->nr ? from->dims[from->nr - 1 - i] : 1;

		all.dims[nr - 1 - i] = a == 1 ? b : a;
	}
	*into = all;
}

static void arrays_take(struct arrays *arrays, size_t at, const struct ts_aten_shape *shape,
			const struct element *element)
{
	double bytes = ts_aten_product(shape, 0, shape->nr) * element->bytes;
	int *widest = &arrays->widest[shape->nr > 0];

	arrays->bytes += bytes;
	arrays->past = at + 1;
	if (at < ATEN_RANK_MAX)
		arrays->at[at] = bytes;
	arrays_broadcast(&arrays->result, shape);
	*widest = TS_MAX(*widest, element->bytes);
}

/* An argument that has a type of arrays is one; what has a shape must have such a type. */
static struct arrays arrays_of(const struct ts_aten_call *call)
{
	struct arrays arrays = { .bytes = 0 };
	struct ts_bytes dims = call->dims, types = call->types, dim, type;

	if (!ts_aten_enter(&dims) || !ts_aten_enter(&types)) {
		arrays.bytes = NAN;
		return arrays;
	}
	for (size_t at = 0; ts_aten_next(&dims, &dim) && ts_aten_next(&types, &type); at++) {
		const struct element *element = element_of(type);
		struct ts_aten_shape shape;

		if (!ts_aten_shape(dim, &shape) || (!element && shape.nr > 0))
			arrays.bytes = NAN;
		else if (element)
			arrays_take(&arrays, at, &shape, element);
	}
	return arrays;
}

/* What an elementwise operator makes; 0: it was given an array for it, which counts already. */
static double made_bytes(const struct ts_aten_call *call, const struct arrays *arrays)
{
	bool is_truth = call->formula->kind == ATEN_TRUTH;
	int element = is_truth ? BYTES_OF_BOOL : arrays->widest[arrays->widest[1] > 0];

	if (arrays->past > (size_t)call->formula->at[0])
		return 0;
	return ts_aten_product(&arrays->result, 0, arrays->result.nr) * element;
}

/* Has the result the dim? DIMS are those that it lacks, counted from the end where below 0. */
static bool reduce_keeps(const struct ts_aten_shape *dims, size_t dim, size_t rank)
{
	for (size_t i = 0; i < dims->nr; i++)
		if (dims->dims[i] == (int64_t)dim || dims->dims[i] + (int64_t)rank == (int64_t)dim)
			return false;
	return dims->nr > 0; /* without a list it lacks all */
}

/* "[1]", "-1"; "" and "[]": all. */
static double reduced_elements(const struct ts_aten_call *call, const struct ts_aten_shape *input)
{
	struct ts_bytes text = ts_aten_item(call->values, call->formula->at[0]);
	struct ts_aten_shape dims = { .nr = 0 };
	double elements_left = 1;

	if (text.n > 0 && !ts_aten_numbers(text, &dims))
		dims.nr = ts_bytes_i64(text, &dims.dims[0]);
	for (size_t i = 0; i < input->nr; i++)
		if (reduce_keeps(&dims, i, input->nr))
			elements_left *= (double)input->dims[i];
	return elements_left;
}

static double reduce_bytes(const struct ts_aten_call *call)
{
	int element = ts_aten_element(call, 0, NULL);
	bool is_index = ts_bytes_starts(ts_bytes_of(call->formula->name), "arg");
	struct ts_aten_shape input;

	if (!ts_aten_shape(ts_aten_item(call->dims, 0), &input))
		return NAN;
	return ts_aten_array(call, 0) +
	       reduced_elements(call, &input) * (is_index ? BYTES_OF_INDEX : element);
}

/* Of what is looked up: read and written, not all that could be; and the indices. */
static double picked_bytes(const struct ts_aten_call *call)
{
	const struct ts_aten_formula *formula = call->formula;
	int element = ts_aten_element(call, formula->first, NULL);
	struct ts_aten_shape table, indices;
	double picked;

	if (element == 0 || !ts_aten_shape(ts_aten_item(call->dims, formula->first), &table) ||
	    !ts_aten_shape(ts_aten_item(call->dims, formula->at[0]), &indices))
		return NAN;
	picked = ts_aten_product(&indices, 0, indices.nr);
	if (formula->kind == ATEN_ROWS)
		picked *= ts_aten_product(&table, TS_MIN(table.nr, 1), table.nr);
	return 2 * picked * element + ts_aten_array(call, formula->at[0]);
}

/* A result like an argument; softmax may be told to make f32 of 16 bits. */
static double like_bytes(const struct ts_aten_call *call, const struct arrays *arrays)
{
	const struct ts_aten_formula *formula = call->formula;
	double like = ts_aten_array(call, formula->first);
	int element = ts_aten_element(call, formula->first, NULL);

	if (formula->at[0] >= 0 && ts_bytes_is(ts_aten_item(call->values, formula->at[0]), "True"))
		like *= (double)BYTES_OF_F32 / TS_MAX(element, 1);
	return arrays->bytes + like;
}

/* Arguments that are written as well; .first is one that is only looked up here and there. */
static double inplace_bytes(const struct ts_aten_call *call, const struct arrays *arrays)
{
	const struct ts_aten_formula *formula = call->formula;
	double bytes = arrays->bytes;

	for (size_t i = 0; i < TS_NELEM(formula->at); i++)
		if (formula->at[i] >= 0)
			bytes += arrays->at[formula->at[i]];
	return formula->first >= 0 ? bytes - arrays->at[formula->first] : bytes;
}

double ts_aten_vector_bytes(const struct ts_aten_call *call)
{
	struct arrays arrays = arrays_of(call);

	TS_ASSERT(call->formula);
	switch (call->formula->kind) {
	case ATEN_EACH:
	case ATEN_TRUTH:   return arrays.bytes + made_bytes(call, &arrays);
	case ATEN_LIKE:	   return like_bytes(call, &arrays);
	case ATEN_ARRAYS:  return arrays.bytes > 0 ? arrays.bytes : NAN;
	case ATEN_INPLACE: return inplace_bytes(call, &arrays);
	case ATEN_INTO:
		return 2 * (ts_aten_array(call, 0) + ts_aten_array(call, 1)) +
		       ts_aten_array(call, call->formula->at[0]);
	case ATEN_FILL:	  return ts_aten_array(call, call->formula->first);
	case ATEN_REDUCE: return reduce_bytes(call);
	case ATEN_ROWS:
	case ATEN_PICK:	  return picked_bytes(call);
	default:	  return NAN;
	}
}
