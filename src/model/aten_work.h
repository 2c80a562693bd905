/* SPDX-License-Identifier: MIT */
/*
 * What one call of an operator of PyTorch, or of a serving engine, has to do: FLOPs and bytes, from the shapes
 * and types that the profiler writes beside the call (record_shapes=True). The one place where that is made: time
 * classes, roofline, matrix units and the tables of operators ask here, of GPUs by the launches of a call
 * (model/launched.h).
 *
 * FLOPs are those of products of matrices, convolutions and attention, a multiply and an add being two: what matrix
 * units do. Other operators are bound by their bytes, and their FLOPs a convention that does not matter. Bytes are
 * those of the arrays that go in and come out, each once: less cannot be moved.
 *
 * "Input Dims" is a list with the shape of each argument, "[[64, 128], [128, 32]]"; "Concrete Inputs" a list with
 * the values of those that are not tensors, "[\"\", \"\", \"[2, 2]\"]"; "Input type" one with the type of each,
 * "[\"float\", \"c10::BFloat16\", \"Scalar\"]". docs/analyses/gpu/operators.md has the formulas.
 */
#ifndef TS_MODEL_ATEN_WORK_H
#define TS_MODEL_ATEN_WORK_H

#include "base/bytes.h"
#include "model/kernel_name.h"

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

/* The formula of the operator of this name; NULL: there is none. A search: once for each name. */
struct ts_aten_formula;
const struct ts_aten_formula *ts_aten_formula_of(struct ts_bytes name);

/* What it is for: GEMM, attention, a norm; TS_CATEGORY_OTHER: FORMULA is NULL. */
enum ts_kernel_category ts_aten_category(const struct ts_aten_formula *formula);
/* Does it work on matrix units? */
bool ts_aten_is_matrix(const struct ts_aten_formula *formula);

struct ts_aten_call {
	const struct ts_aten_formula *formula;
	struct ts_bytes dims, types, values;
};
struct ts_aten_work {
	double flops;		/* on matrix units; 0: it uses none of them; NaN: unknown */
	double flops_dense;	/* the same of attention as a whole: a causal mask leaves half */
	double bytes;		/* NaN: unknown */
	enum ts_aten_type type; /* of what matrix units multiply */
};
struct ts_aten_work ts_aten_work_of(const struct ts_aten_call *call);

/* The last two dims of an argument's shape, above 1 both. False: it has no such shape. */
bool ts_aten_matrix(struct ts_bytes dims, int argument, int64_t matrix[2]);

#endif
