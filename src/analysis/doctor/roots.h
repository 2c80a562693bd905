/* SPDX-License-Identifier: MIT */
/*
 * Where lateness begins: of what the critical path runs over, the ops that take longer on this core than on the others, and how
 * those that wait pass it on.
 */
#ifndef TS_ANALYSIS_DOCTOR_ROOTS_H
#define TS_ANALYSIS_DOCTOR_ROOTS_H

#include "analysis/kit/rule.h"

#define TS_MAX_LATE  4 /* cores that are named together */
#define TS_MAX_CHAIN 4

/* What a core passes on: TO waits for FROM in OP, or NR_OTHERS wait there. */
struct ts_hop {
	uint32_t from, to, op;
	size_t nr_others; /* cores beside TO */
};

/* An op of a core that takes longer there than elsewhere. */
struct ts_late_op {
	uint32_t device, op;
	int64_t path_ps;	  /* longer, where the critical path runs over it */
	int64_t own_ps, usual_ps; /* of all executions: here, and on the others */
	int64_t nr;
};

struct ts_roots {
	int64_t excess_ps;	      /* of all on the critical path */
	const struct ts_late_op *ops; /* the largest path_ps first */
	size_t nr_ops;
	/* The cores that have nearly all of it, the latest first; none: it is one core now and another then. */
	uint32_t devices[TS_MAX_LATE];
	size_t nr_devices;
	uint32_t uneven; /* without such cores: the op that has most of it, TS_NONE: none has */
	struct ts_hop hops[TS_MAX_CHAIN]; /* from the largest single one of the first core on */
	size_t nr_hops;
};

/* In the doctor's scratch; NULL: no memory. */
const struct ts_roots *ts_doctor_roots(struct ts_doctor *doctor);

#endif
