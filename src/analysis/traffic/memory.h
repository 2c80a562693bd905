/*
 * The memory analysis' own interface: between the sums (memory.c), its tables (memory_report.c), copies
 * that only change a layout or a place (memory_layout.c) and arrays stored wider than their readers
 * need (memory_upcast.c). No other analysis includes this.
 */
#ifndef TS_ANALYSIS_MEMORY_H
#define TS_ANALYSIS_MEMORY_H

#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(ops) X(time) X(rates) X(capacity)
#include "analysis/kit/needs.h"
#include "base/map.h"
#include "model/kernels.h"
#include "model/traffic.h"

#define TS_MEMORY_MAX_ROWS 500 /* of a table */

/* An op; of an asynchronous pair the start, with the done's part. */
struct memory_op {
	uint32_t op;		/* index into profile->ops; TS_NONE: of a module alone */
	uint32_t module, instr; /* TS_NONE: not in the profile */
	struct ts_bytes name, category, source;
	int64_t executions;    /* -1: no run */
	int64_t time_ps;       /* its events'; of a pair from start to done; -1: no run */
	int64_t self_ps;       /* of its events on the core's line; -1: no run */
	struct ts_traffic all; /* of all executions; without a run of one */
};

struct memory {
	const struct ts_context *ctx;
	struct ts_result *result;
	const struct ts_rates *rates; /* of the first device whose HBM rate is known, or NULL */
	bool measured;
	struct memory_op *ops;
	size_t nr_ops, cap_ops;
	struct ts_map by_op;	/* op -> row */
	struct ts_map by_instr; /* module and instruction -> row; both halves of a pair */
	struct ts_traffic total;
	int64_t core_ps; /* wall time x cores; -1 unknown */
};

/* What a walk through one module needs. */
struct memory_walk {
	struct memory *memory;
	const struct ts_hlo_module *module;
	uint32_t index; /* of the module */
	const bool *inner;
	const uint32_t *caller;
};

/* NULL: it did not run. */
const struct memory_op *memory_op_at(const struct memory *memory, uint32_t module, uint32_t instr);
/* Picoseconds that a byte takes at HBM's peak; NaN unknown. */
double memory_per_byte_ps(const struct memory *memory);
struct ts_value memory_source(struct memory *memory, const struct ts_hlo_instr *instr);
struct ts_value memory_shape(struct memory *memory, const struct ts_shape *shape);
int64_t memory_to_ps(double ps); /* NaN gives -1 */

/* memory_report.c: what is in .ops and .total. */
bool memory_put(struct memory *memory);

/* memory_layout.c */
struct memory_copies {
	struct memory_copy *items;
	size_t nr, cap;
};
bool memory_find_copies(const struct memory_walk *walk, struct memory_copies *copies);
bool memory_put_copies(struct memory *memory, struct memory_copies *copies);

/* memory_upcast.c */
struct memory_upcasts {
	struct memory_upcast *items;
	size_t nr, cap;
};
bool memory_find_upcasts(const struct memory_walk *walk, struct memory_upcasts *upcasts);
bool memory_put_upcasts(struct memory *memory, struct memory_upcasts *upcasts);

#endif
