/* SPDX-License-Identifier: MIT */
/* What the analysis op_cores knows: ops that a core runs slower than the other cores do, and cores that run all their
 * ops slower since a moment. */
#ifndef TS_ANALYSIS_FACTS_OP_CORES_H
#define TS_ANALYSIS_FACTS_OP_CORES_H

#include "base/units.h"

struct ts_op_core {
	uint32_t op, device;
	int64_t executions;
	int64_t mean_ps,
		others_ps; /* of an execution: on this core, and in the mean of all others */
	int64_t excess_ps; /* (mean - others) x executions */
	int64_t since_ps;  /* from when on it is slower here than it was before; -1: it always is */
	int64_t since_step; /* the number of the step in which that is; -1: it is in none */
};

/* A core that is slow as a whole: nearly all of its work, by one factor. */
struct ts_slowdown {
	uint32_t device;
	int64_t since_ps;
	int64_t since_step; /* the number of the step in which that is; -1: it is in none */
	int64_t slow_ps;    /* what its ops take since then */
	int64_t fair_ps;    /* what they would take at their pace of before */
	int64_t nr_ops;
};

struct ts_op_cores_facts {
	const struct ts_op_core *items; /* the largest excess first */
	size_t nr;
	const struct ts_slowdown *slowdowns; /* by device */
	size_t nr_slowdowns;
};

#endif
