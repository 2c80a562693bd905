/* SPDX-License-Identifier: MIT */
/*
 * The memory analysis' own interface: between the ops (memory_ops.c), their tables
 * (memory_report.c), copies that only change a layout or a place (memory_layout.c), why these are
 * made (memory_reason.c), arrays that are stored wider than their readers need (memory_upcast.c),
 * and what runs them all (memory.c). No other analysis includes this.
 */
#ifndef TS_ANALYSIS_MEMORY_H
#define TS_ANALYSIS_MEMORY_H

#include "analysis/facts/memory.h"

#define TS_NEEDS(X) X(ops) X(time) X(capacity) X(kernels) X(async)
#include "analysis/kit/needs.h"
#include "base/map.h"
#include "model/kernels.h"

#define TS_MEMORY_MAX_OPS  1000 /* of their table, and of the facts */
#define TS_MEMORY_MAX_ROWS 500	/* of the others */

/* Of an op what orders it: there may be very many. ts_memory_row() works out the others from what the analysis ops
 * knows; pairs, and instructions that did not run, are kept whole. */
struct memory_row {
	uint32_t op, module, instr; /* as in struct ts_memory_op */
	uint32_t whole;		    /* index into memory.whole, or TS_NONE */
	int64_t hbm_bytes, time_ps;
};

struct memory {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_memory_facts *facts;
	const struct ts_rates *rates; /* of the first device whose HBM rate is known, or NULL */
	double byte_ps;		      /* that a byte takes at its peak; NaN: unknown */
	bool measured;
	struct memory_row *ops;
	size_t nr_ops, cap_ops;
	struct ts_memory_op *whole;
	size_t nr_whole, cap_whole;
	size_t nr_listed;	    /* of them, in the table */
	struct ts_memory_op others; /* the sum of those that are not */
	struct ts_map by_op;	    /* half of a pair -> row */
	struct ts_map by_instr;	    /* module and instruction -> row; both halves of a pair */
	struct ts_traffic total;
	int64_t nr_unknown, unknown_ps; /* ops whose traffic is unknown, and their time */
	double impossible_bytes;	/* of ops that cannot have moved them in their time */
	bool uses_host;
	int64_t core_ps; /* wall time x cores; -1: unknown */
};

/* What a walk through one module needs. */
struct memory_walk {
	struct memory *memory;
	const struct ts_hlo_module *module;
	uint32_t index; /* of the module */
	const bool *inner;
	const uint32_t *caller;
};

/* memory_ops.c */
enum ts_status ts_memory_find_ops(struct memory *memory, struct ts_error *err);
void ts_memory_release_ops(struct memory *memory);
struct ts_memory_op ts_memory_row(const struct memory *memory, const struct memory_row *row);
/* False: it did not run. */
bool ts_memory_op_at(const struct memory *memory, uint32_t module, uint32_t instr,
		     struct ts_memory_op *op);
/* Bytes a second; unknown without a time. */
static inline double ts_memory_rate_of(int64_t bytes, int64_t ps)
{
	return ps > 0 ? (double)bytes / ((double)ps * 1e-12) : NAN;
}
/* Is it known what the op moved? */
static inline bool ts_memory_is_known(const struct ts_memory_op *op)
{
	return op->all.source > TS_TRAFFIC_INSIDE;
}
double ts_memory_rate(const struct ts_memory_op *op); /* of HBM's bytes; NaN: unknown */

/* memory_report.c: lists what is in .ops and .total. */
enum ts_status ts_memory_put_ops(struct memory *memory, struct ts_error *err);

/* The readers of an array, found behind names. */
struct memory_readers {
	uint32_t first;	 /* the first kernel in the schedule; TS_NONE */
	bool is_output;	 /* the module gives it out */
	bool is_carried; /* it goes into a loop's next trip, or out of a branch or call */
	bool updates;	 /* a reader writes into it in place */
};

/* A copy, and what its reason follows from. */
struct memory_copy {
	const struct ts_hlo_module *module;
	uint32_t instr, producer; /* producer TS_NONE: an argument, or it is unknown */
	const struct ts_shape *from, *to;
	bool from_argument, touches_host, changes_memory;
	struct memory_readers readers;
	const struct ts_reason *reason;
	int64_t executions, self_ps; /* -1: no run */
	int64_t bytes;		     /* of one execution */
	struct ts_bytes source;
};

/* memory_reason.c. Never NULL: the last reason fits all. */
const struct ts_reason *ts_memory_reason_of(const struct memory_copy *copy);

/* memory_layout.c */
struct memory_copies {
	struct memory_copy *items;
	size_t nr, cap;
};
enum ts_status ts_memory_find_copies(const struct memory_walk *walk, struct memory_copies *copies,
				     struct ts_error *err);
enum ts_status ts_memory_put_copies(struct memory *memory, struct memory_copies *copies,
				    struct ts_error *err);

/* memory_upcast.c */
struct memory_upcasts {
	struct memory_upcast *items;
	size_t nr, cap;
};
enum ts_status ts_memory_find_upcasts(const struct memory_walk *walk,
				      struct memory_upcasts *upcasts, struct ts_error *err);
enum ts_status ts_memory_put_upcasts(struct memory *memory, struct memory_upcasts *upcasts,
				     struct ts_error *err);

#endif
