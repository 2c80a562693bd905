/* SPDX-License-Identifier: MIT */
/*
 * How long an op of a compiled module takes, predicted: from the compiler's own estimate, the chip's peak
 * rates and what the op has to do. docs/analyses/time/prediction.md has the rule, and how far it was off.
 *
 * Where there is no such source the op is unknown: it counts with the least that it can take, and the
 * most is unknown or an assumption.
 */
#ifndef TS_ANALYSIS_KIT_OP_TIME_H
#define TS_ANALYSIS_KIT_OP_TIME_H

#include "hw/chips.h"
#include "hw/topology.h"
#include "model/profile.h"
#include "model/schedule.h"

/* What an op is, where times are predicted. */
enum ts_time_kind {
	TS_TIME_NONE, /* a name, or one that holds others */
	TS_TIME_MATRIX,
	TS_TIME_VECTOR,
	TS_TIME_MOVE, /* the core itself moves bytes: copy, transpose, ... */
	TS_TIME_KERNEL,
	TS_TIME_COPY, /* beside the core, between memories of the chip */
	TS_TIME_HOST_COPY,
	TS_TIME_COLLECTIVE,
	TS_TIME_TRANSFER, /* infeed, outfeed, send and recv */
	TS_TIME_LOOP,	  /* whose trips are unknown: one was counted */
	TS_NR_TIME_KINDS,
};
const char *ts_time_kind_name(enum ts_time_kind kind); /* "matrix", "host copy" */

/* Where a time is from. */
enum ts_time_basis {
	TS_BASIS_NONE,
	TS_BASIS_ESTIMATE, /* the compiler's estimated_cycles */
	TS_BASIS_MATRIX,   /* products at the matrix unit's peak */
	TS_BASIS_HBM,	   /* bytes at the memory's bandwidth */
	TS_BASIS_VMEM,
	TS_BASIS_HOST,	 /* bytes at the bandwidth of the way to the host */
	TS_BASIS_ICI,	 /* bytes at the bandwidth of the links between chips */
	TS_BASIS_AUTHOR, /* the cost that a kernel's author gave */
	TS_BASIS_LEAST,	 /* unknown: what its arrays take at least */
	TS_NR_TIME_BASES,
};
const char *ts_time_basis_name(
	enum ts_time_basis basis); /* "compiler's estimate", "HBM bandwidth" */

struct ts_op_time {
	enum ts_time_kind kind;
	enum ts_time_basis basis;
	int64_t ps[TS_NR_CASES]; /* the highest -1: there is no bound */
	const char *unknown;	 /* why; NULL: it is known */
	int64_t estimate_ps;	 /* the compiler's; -1: it has none */
	int64_t roofline_ps; /* what its products and bytes take at the chip's peaks; -1: it does not work on the core */
};

struct ts_op_times {
	const struct ts_hlo_module *module;
	struct ts_op_time *items;      /* one an instruction of the module */
	struct ts_schedule_op *walked; /* likewise, for ts_schedule_walk() */
};

/* A chip whose ops can be predicted: a TPU of the chip table. */
bool ts_op_times_knows(const struct ts_rates *rates);
/* Of a module of PROFILE; TOPOLOGY may be unknown. */
enum ts_status ts_op_times_make(struct ts_op_times *times, const struct ts_profile *profile,
				uint32_t module, const struct ts_rates *rates,
				const struct ts_topology *topology, struct ts_error *err);
void ts_op_times_release(struct ts_op_times *times);

#endif
