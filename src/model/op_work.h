/* SPDX-License-Identifier: MIT */
/*
 * What one execution of a compiled op has to do on the matrix unit: the products inside it taken
 * together. Made from model/cost.h for the analyses that ask how well the unit was used.
 */
#ifndef TS_MODEL_OP_WORK_H
#define TS_MODEL_OP_WORK_H

#include "model/cost.h"
#include "model/profile.h"

struct ts_op_work {
	size_t nr_products;
	struct ts_matmul main; /* the largest by FLOPs, when nr_products > 0 */
	struct ts_fill fill;   /* of main; NaN when the unit's dimension is unknown */
	double flops;	       /* of all products, 2 x batch x m x n x k */
	double filled_flops; /* what the array could do in the time they take: flops / fill; NaN */
	double passes_flops; /* the same, and six times where f32 asks for highest precision */
	double int8_flops,
		fp8_flops;	/* those of .flops whose operands are both of 8 bits or less */
	bool highest_precision; /* some product takes six passes */
};

/* DIM is the array's dimension, 0 or less when unknown. */
struct ts_op_work ts_op_work_of(const struct ts_hlo_module *module, uint32_t instr, int dim);

/* A custom call that does something: calls that only rename or pin a buffer do not. */
bool ts_instr_is_kernel(const struct ts_hlo_instr *instr);
/*
 * A kernel whose work is unknown: a custom call without a cost. Calls that only rename or pin a
 * buffer do not count.
 */
bool ts_op_is_opaque(const struct ts_profile *profile, const struct ts_op *op);
bool ts_instr_is_opaque(const struct ts_hlo_instr *instr);

/* Of each computation: is it the inside of a fusion (or of a reducer), so that its instructions
 * have no arrays and no events of their own? From malloc; NULL: no memory. */
bool *ts_hlo_inner_comps(const struct ts_hlo_module *module);

#endif
