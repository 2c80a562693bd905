/* SPDX-License-Identifier: MIT */
/* What kind of op one is: from its hlo_category, its compiled instruction and its HLO text. */
#ifndef TS_MODEL_OP_KIND_H
#define TS_MODEL_OP_KIND_H

#include "model/profile.h"

/* Sets category_id, kind, async and is_remat of an op whose module link is known. */
void ts_op_classify(const struct ts_profile *profile, struct ts_op *op);

/* hlo_category as XLA derives it from an instruction: "loop fusion", or the opcode. */
struct ts_bytes ts_hlo_category(const struct ts_hlo_instr *instr);

/*
 * An async wrapper is what it wraps: the root of the computation that it calls, of a done that of its start. A `call` may stand
 * between: so libtpu gives collectives to the SparseCores of a v7x. INDEX itself where nothing is wrapped.
 */
uint32_t ts_hlo_wrapped(const struct ts_hlo_module *module, uint32_t index);

double ts_op_vmem_bytes(const struct ts_op *op); /* NaN unknown */
double ts_op_flops(const struct ts_op *op);	 /* NaN unknown */

/* Of a -done op: the name of its -start, from the module or the HLO text; empty when unknown. */
struct ts_bytes ts_op_start_name(const struct ts_profile *profile, const struct ts_op *op);

#endif
