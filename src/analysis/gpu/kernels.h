/* SPDX-License-Identifier: MIT */
/*
 * The kernels analysis' own header: what each kernel took on each device. Shared by kernels.c (the
 * pass), kernels_launch.c (which op launched it, and how) and kernels_report.c (the result) only.
 */
#ifndef TS_ANALYSIS_KERNELS_H
#define TS_ANALYSIS_KERNELS_H

#include "analysis/facts/kernels.h"
#include "analysis/facts/timeline.h"

#define TS_NEEDS(X) X(timeline)
#include "analysis/kit/needs.h"
#include "analysis/kit/spread.h"
#include "model/launches.h"
#include "model/trace_class.h"

struct kernel_shape {		     /* of one launch; TS_UNKNOWN or empty: unknown */
	struct ts_bytes grid, block; /* views into the input */
	int64_t registers, shared_bytes;
};

struct kernel_row {
	uint32_t op; /* that has the kernel's name */
	uint32_t device;
	uint8_t class;	  /* enum ts_trace_class */
	bool is_compiled; /* by XLA: the op itself is known, not only the one open on the host */
	struct ts_spread time;
	struct kernel_shape longest;
	/* sums over the launches that have it, weighted by their time */
	double occupancy, blocks;
	int64_t occupancy_ps, blocks_ps;
	int64_t nr_bytes, bytes_ps; /* bytes of copies and fills; -1: unknown */
};

struct kernel_caller { /* an op, and a kernel that it launched */
	uint32_t row, op;
	int64_t count, total_ps;
};

struct kernel_open {
	int64_t end_ps;
	uint32_t op;
};

struct kernel_thread { /* operators that are open */
	struct kernel_open *items;
	size_t nr, cap;
};

struct kernel_table {
	struct kernel_row *rows;
	struct kernel_caller *callers;
	size_t nr_rows, cap_rows, nr_callers, cap_callers;
};

struct kernels_state {
	struct kernel_table table;
	/* of a host */
	struct ts_map row_ids;	       /* by op and device */
	struct ts_map caller_ids;      /* by row and op */
	struct kernel_thread *threads; /* one a line of the profile */
	size_t nr_threads;
	struct ts_launches launches; /* the operator that was open */
	uint8_t *sides;		     /* of each line: enum ts_trace_side */
	uint8_t *classes;	     /* on the host, of each op, once it was met */
};

/* kernels_launch.c */

/* An operator begins on a thread. */
enum ts_status ts_kernels_open_op(struct kernel_thread *thread, uint32_t op, int64_t start_ps,
				  int64_t end_ps, struct ts_error *err);
/* The innermost operator that is open; TS_NONE: no operator is open. */
uint32_t ts_kernels_innermost(struct kernel_thread *thread, int64_t at_ps);
/* Adds what event I says of its launch; to be called before the event's time is counted. */
void ts_kernels_add_launch(struct kernel_row *row, const struct ts_interleaved *interleaved,
			   size_t i);

/* kernels_report.c */
enum ts_status ts_kernels_report(struct kernels_state *sum, const struct ts_context *ctx,
				 struct ts_kernels_facts *facts, struct ts_result *result,
				 struct ts_error *err);

#endif
