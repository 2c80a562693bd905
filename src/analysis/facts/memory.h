/* SPDX-License-Identifier: MIT */
/*
 * What the analysis memory knows: what ops move and how fast, copies that compute nothing, and
 * arrays that are stored wider than their readers need. Times and bytes are sums over all cores and
 * all executions; without a run they are those of one execution and times are -1.
 */
#ifndef TS_ANALYSIS_FACTS_MEMORY_H
#define TS_ANALYSIS_FACTS_MEMORY_H

#include "analysis/facts/reason.h"
#include "model/traffic.h"
#include "result/impossible.h"

/* An op; of an asynchronous pair the start, with the done's part. */
struct ts_memory_op {
	uint32_t op;		/* index into profile->ops; TS_NONE: of a module alone */
	uint32_t module, instr; /* TS_NONE: not in the profile */
	struct ts_bytes name, category, source;
	int64_t executions; /* -1: no run */
	int64_t time_ps;    /* its events'; of a pair from start to done */
	int64_t self_ps;    /* of its events on the core's line */
	struct ts_traffic all;
	double hbm_bytes_per_s, hbm_share; /* of the peak, 0..1; NaN: unknown */
	struct ts_bytes hbm_cause;	   /* why these cannot be true; .n 0: they can */
};

/* An op that brings an array into another layout, memory or place. */
struct ts_memory_copy {
	const struct ts_hlo_module *module;
	uint32_t instr;
	struct ts_bytes producer, consumer; /* or "(argument)", "(result)"; .n 0: unknown */
	struct ts_bytes from, to;	    /* shapes as XLA prints them */
	const struct ts_reason *reason;
	bool is_transfer; /* between memories, or in the host's; else a layout or a place */
	int64_t executions, self_ps;
	int64_t bytes; /* of one execution */
	struct ts_bytes source;
};

struct ts_memory_upcast {
	const struct ts_hlo_module *module;
	uint32_t instr, consumer; /* that makes it; that reads it first */
	int64_t nr_consumers;
	struct ts_bytes stored;		 /* its shape */
	enum ts_dtype widened_from;	 /* TS_DTYPE_INVALID: it was computed wide */
	enum ts_dtype enough;		 /* for its readers */
	int64_t executions, saved_bytes; /* by storing it narrow */
	double impact_ps;		 /* time that this saves at most; NaN: unknown */
	enum ts_confidence confidence;
	const char *reason;
	struct ts_bytes source;
};

/* Those of the tables. */
struct ts_memory_facts {
	struct ts_held hbm;		/* bytes of HBM a second of core time, of the peak */
	const struct ts_memory_op *ops; /* the most HBM bytes first */
	size_t nr_ops;
	const struct ts_memory_copy *copies; /* the longest first */
	size_t nr_copies;
	const struct ts_memory_upcast *upcasts; /* the largest impact first */
	size_t nr_upcasts;
};

#endif
