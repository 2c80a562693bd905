/* SPDX-License-Identifier: MIT */
/*
 * FLOPs and bytes of PyTorch's operators, from the shapes and types that its profiler writes beside each call
 * (record_shapes=True): products of matrices, convolutions and attention, forward and backward. A multiply and an
 * add are two FLOPs. Bytes are those of the arrays that go in and come out, each once: less cannot be moved.
 *
 * "Input Dims" is a list with the shape of each argument, "[[64, 128], [128, 32]]"; "Concrete Inputs" a list with
 * the values of those that are not tensors, "[\"\", \"\", \"[2, 2]\"]"; "Input type" one with the type of each,
 * "[\"float\", \"c10::BFloat16\", \"Scalar\"]".
 */
#ifndef TS_MODEL_ATEN_FLOPS_H
#define TS_MODEL_ATEN_FLOPS_H

#include "base/bytes.h"
#include "model/kernel_name.h"

/* Has the operator of this name a formula? *NEEDS_VALUES: it reads "Concrete Inputs", too. */
bool ts_aten_has_flops(struct ts_bytes name, bool *needs_values);
/* Of one call. NaN: there is not a formula, or the texts do not fit it. */
double ts_aten_flops(struct ts_bytes name, struct ts_bytes dims, struct ts_bytes values);

/* What is multiplied, by which a chip has its peaks. Numbers are saved: they stay. */
enum ts_aten_type {
	TS_ATEN_UNKNOWN,
	TS_ATEN_F64,
	TS_ATEN_F32,
	TS_ATEN_BF16,
	TS_ATEN_F16,
	TS_ATEN_FP8,
	TS_ATEN_INT8,
	TS_ATEN_MIXED, /* two types, or several calls of different ones */
	TS_NR_ATEN_TYPES
};
extern const char *const ts_aten_type_names[]; /* "bf16"; NULL: unknown */

struct ts_aten_call {
	struct ts_bytes name, dims, types, values; /* of an operator with FLOPs */
};
/* NaN: a type or shape is not known, or the operator is a transposed convolution. */
double ts_aten_bytes(const struct ts_aten_call *call);
enum ts_aten_type ts_aten_type_of(const struct ts_aten_call *call);
/* GEMM, convolution or attention, of an operator with FLOPs; else TS_CATEGORY_OTHER. */
enum ts_kernel_category ts_aten_category(struct ts_bytes name);

/* The last two dims of an argument's shape, above 1 both. False: it has no such shape. */
bool ts_aten_matrix(struct ts_bytes dims, int argument, int64_t matrix[2]);

#endif
