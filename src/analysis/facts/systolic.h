/* SPDX-License-Identifier: MIT */
/*
 * What the analysis systolic knows: how well the matrix units were used, over the run and by op.
 */
#ifndef TS_ANALYSIS_FACTS_SYSTOLIC_H
#define TS_ANALYSIS_FACTS_SYSTOLIC_H

#include "result/impossible.h"

/* An op that uses the matrix unit, or may use it. Without a run: an instruction of a module. */
struct ts_matrix_op {
	uint32_t op;	       /* index into profile->ops; TS_NONE: it did not run */
	uint32_t module_index; /* into profile->modules; TS_NONE: the profile has not got it */
	uint32_t instr;	       /* of that module, or TS_NONE */
	struct ts_bytes name, module;
	struct ts_bytes limit; /* "N=64 fills 50 % of 128"; .n 0: the shape leaves nothing empty */
	int64_t m, n, k;       /* of its largest product; -1: unknown */
	int64_t time_ps;       /* of all its executions; -1: it did not run */
	double utilization;    /* FLOPs over time x peak; NaN: unknown, or it cannot be true */
	double fill;	       /* of the array by its largest product, 0..1; NaN: unknown */
	double shape_loss, memory_loss, other_loss; /* of its time, 0..1; NaN: unknown */
};

#define TS_MATRIX_DRAWN 48 /* ops of a heat map: the first ones */

struct ts_systolic_facts {
	const struct ts_matrix_op *items; /* as the report has them: the most time lost first */
	size_t nr;
	struct ts_held run; /* by counters of the hosts, else by FLOPs */
	double utilization; /* of the run, where it can be true; NaN: unknown */
};

#endif
