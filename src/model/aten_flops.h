/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FLOPs of PyTorch's operators, from the shapes that its profiler writes beside each call (record_shapes=True):
 * products of matrices, convolutions and attention, forward and backward. A multiply and an add are two.
 *
 * "Input Dims" is a list with the shape of each argument, "[[64, 128], [128, 32]]"; "Concrete Inputs" a list with
 * the values of those that are not tensors, "[\"\", \"\", \"[2, 2]\"]".
 */
#ifndef TS_MODEL_ATEN_FLOPS_H
#define TS_MODEL_ATEN_FLOPS_H

#include "base/bytes.h"

/* Has the operator of this name a formula? *NEEDS_VALUES: it reads "Concrete Inputs", too. */
bool ts_aten_has_flops(struct ts_bytes name, bool *needs_values);
/* Of one call. NaN: there is not a formula, or the texts do not fit it. */
double ts_aten_flops(struct ts_bytes name, struct ts_bytes dims, struct ts_bytes values);
/* The last two dims of an argument's shape, above 1 both. False: it has no such shape. */
bool ts_aten_matrix(struct ts_bytes dims, int argument, int64_t matrix[2]);

#endif
