/* SPDX-License-Identifier: MIT */
/*
 * What the analysis remat knows: the ops that are computed a second time to save memory.
 */
#ifndef TS_ANALYSIS_FACTS_REMAT_H
#define TS_ANALYSIS_FACTS_REMAT_H

#include "base/bytes.h"

struct ts_remat_op {
	uint32_t op; /* index into profile->ops; TS_NONE: there was no run */
	uint32_t module, instr;
	struct ts_bytes name, scope, source;
	int64_t occurrences, time_ps;	 /* over all cores; -1: no run */
	double flops, bytes;		 /* of one execution; NaN: unknown */
	int64_t runs;			 /* of its module, over all cores; -1: unknown */
	int64_t kept_bytes, saved_bytes; /* a run of the module on one core; -1: unknown */
	double ms_per_kept_mb;		 /* the time that a megabyte buys; NaN: unknown */
	struct ts_bytes original; /* the op of the forward pass that it repeats; .n 0: unknown */
	bool by_xla;		  /* else by jax.checkpoint */
	bool is_kernel;		  /* of a trace of PyTorch: .scope is what it is for */
};

struct ts_remat_facts {
	const struct ts_remat_op *ops; /* the costliest first */
	size_t nr_ops;
	int64_t time_ps;     /* of all, over all cores; -1: no run */
	int64_t saved_bytes; /* by all, on one core */
};

#endif
