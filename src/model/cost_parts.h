/* SPDX-License-Identifier: MIT */
/* The inside of the cost model, shared by cost*.c alone. See model/cost.h. */
#ifndef TS_MODEL_COST_PARTS_H
#define TS_MODEL_COST_PARTS_H

#include "base/map.h"
#include "model/cost.h"

#define TS_COST_MAX_DEPTH 80 /* of calls; a module from the reader has fewer */

struct ts_cost_walk {
	const struct ts_hlo_module *module;
	unsigned depth;
	bool whole;	 /* as libtpu adds up a module: both halves of a copy read and write */
	bool with_roots; /* a fusion that makes a fusion's result reads too: libtpu leaves it out */
	const struct ts_hlo_instr *fusion; /* whose only work the instruction is, or NULL */
};

static inline const struct ts_hlo_instr *ts_operand(const struct ts_cost_walk *walk,
						    const struct ts_hlo_instr *instr, uint32_t i)
{
	return i < instr->nr_operands ? &walk->module->instrs[instr->operands[i]] : NULL;
}

/* The bytes that libtpu and XLA count for a shape: 0 where a layout is missing. */
int64_t ts_cost_size(const struct ts_shape *shape);

/* Adds BYTES that lie where the layout of SHAPE says. */
void ts_cost_read_bytes(struct ts_cost *cost, const struct ts_shape *shape, int64_t bytes);
void ts_cost_write_bytes(struct ts_cost *cost, const struct ts_shape *shape, int64_t bytes);
/* Adds all arrays in SHAPE. */
void ts_cost_read(struct ts_cost *cost, const struct ts_shape *shape);
void ts_cost_write(struct ts_cost *cost, const struct ts_shape *shape);

/* cost.c: everything in a called computation; unknown parts of it stay out of the sums. */
struct ts_cost ts_cost_comp(const struct ts_cost_walk *walk, uint32_t comp);

/* cost_fusion.c */
void ts_cost_fusion(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		    struct ts_cost *cost);

/* cost_rules.c: adds what one instruction costs. */
void ts_cost_instr(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		   struct ts_cost *cost);

/* cost_matmul.c: false when it is not a product, or its shapes do not fit together. */
bool ts_cost_product(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr,
		     struct ts_matmul *product);

#endif
