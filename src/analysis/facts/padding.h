/* SPDX-License-Identifier: MIT */
/*
 * What the analysis padding knows: what is lost to tiles, over the run and by op.
 */
#ifndef TS_ANALYSIS_FACTS_PADDING_H
#define TS_ANALYSIS_FACTS_PADDING_H

#include <math.h>

#include "base/bytes.h"

/* What to change of an op. */
struct ts_padding_hint {
	struct ts_bytes text; /* .n 0: nothing */
	int64_t gain_ps;      /* that it would save; -1: unknown, or nothing */
};

/* An op that loses bytes or FLOPs. Without a run: an instruction of a module. */
struct ts_padded_op {
	uint32_t op;	       /* index into profile->ops; TS_NONE: it did not run */
	uint32_t module_index; /* into profile->modules; TS_NONE: the profile has not got it */
	uint32_t instr;	       /* of that module, or TS_NONE */
	struct ts_bytes name, module;
	double bytes_share, flops_share; /* wasted, 0..1; NaN: unknown */
	bool is_small; /* its padded arrays are of a few bytes: no size and no layout takes less */
	int64_t waste_ps;		     /* of all its executions; -1: unknown */
	struct ts_padding_hint bytes, flops; /* about each share */
	struct ts_padding_hint best;	     /* about the larger one, and what gains time */
	int64_t self_ps;		     /* -1: it did not run */
};

/* Of its bytes or of its FLOPs, whichever is more; NaN: neither is known. Small arrays do not count. */
static inline double ts_padded_share(const struct ts_padded_op *op)
{
	return fmax(op->is_small ? NAN : op->bytes_share, op->flops_share);
}

struct ts_padding_facts {
	const struct ts_padded_op *items; /* as the report has them: the most time lost first */
	size_t nr;
	int64_t waste_ps;   /* of all cores; -1: unknown */
	double waste_share; /* of the core time, 0..1; NaN: unknown */
};

#endif
