/* SPDX-License-Identifier: MIT */
/*
 * What the analysis custom_calls knows: the kernels that the compiler takes as they are, and what
 * they cost.
 */
#ifndef TS_ANALYSIS_FACTS_CUSTOM_CALLS_H
#define TS_ANALYSIS_FACTS_CUSTOM_CALLS_H

#include "base/bytes.h"

enum ts_kernel_cost_source {
	TS_COST_UNKNOWN,
	TS_COST_ESTIMATE, /* of the kernel's author */
	TS_COST_PRODUCT,  /* a matrix product that the call describes */
	TS_COST_PROFILE,
	TS_COST_SHAPES, /* the arrays alone: how much it computes is unknown */
};

struct ts_custom_call {
	uint32_t op;		      /* index into profile->ops; TS_NONE: it did not run */
	uint32_t module, instr;	      /* into profile->modules and its instructions, or TS_NONE */
	struct ts_bytes name, kernel; /* the op's name, and the one that the kernel was given */
	double flops, transcendentals, bytes; /* an execution; NaN: unknown */
	enum ts_kernel_cost_source source;
	double flops_per_s, bytes_per_s; /* while it runs; NaN: unknown */
	double roofline_share; /* the least time of its work, of the time it took; NaN: unknown */
};

struct ts_custom_calls_facts {
	const struct ts_custom_call *items; /* the largest self time first */
	size_t nr;
};

#endif
