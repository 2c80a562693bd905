/* SPDX-License-Identifier: MIT */
/*
 * The operators analysis' own header: what each operator took on the host and on GPUs. Shared by operators.c
 * (the pass), operators_rows.c (rows and call paths), operators_attention.c and operators_report.c (the result) only.
 */
#ifndef TS_ANALYSIS_OPERATORS_H
#define TS_ANALYSIS_OPERATORS_H

#include "analysis/facts/operators.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(time)
#include "analysis/kit/needs.h"
#include "model/aten_known.h"
#include "model/launches.h"

#define OPERATORS_ROWS	4096  /* of operators and shapes; further shapes of an operator are one row */
#define OPERATORS_NO_CATEGORY TS_NR_KERNEL_CATEGORIES
#define OPERATORS_PATHS 65536 /* further ones are counted for the innermost operator alone */

struct operator_row {
	uint32_t op;
	bool is_call;		/* of a runtime (cudaLaunchKernel), not an operator */
	bool is_others;		/* shapes that have no row of their own */
	struct ts_bytes shapes; /* "Input Dims", a view into the input; empty: not written */
	int64_t calls, nr_kernels, nr_own; /* nr_own: kernels that it launches itself */
	int64_t cpu_ps, self_cpu_ps, gpu_ps, self_gpu_ps;
	double flops;	    /* of the calls whose FLOPs are known, on matrix units */
	double flops_dense; /* the same, attention as a whole */
	int64_t nr_counted; /* how many these are */
	double bytes;	    /* of the calls whose bytes are known */
	int64_t nr_sized;   /* how many these are */
	uint8_t type;	    /* enum ts_aten_type of what is multiplied */
	uint8_t category; /* OPERATORS_NO_CATEGORY, or that of the kernels that it launches itself */
	bool has_categories; /* these are of several */
	double least_s; /* of all calls by the roofline, made when all are counted; NaN: unknown */
	/* The kernel that it launches itself; TS_NONE: it launches none, or several different ones. */
	uint32_t kernel;
	bool has_several;
};

/* A row, and the path of rows around it: what a kernel's time is added to. */
struct operator_path {
	uint32_t outer, row; /* outer: TS_NONE at the top */
};

struct operator_open {
	int64_t end_ps;
	uint32_t row, path; /* path TS_NONE: not of an operator */
	bool has_flops;	    /* it, or one around it */
};

struct operator_thread { /* calls that are open, the outermost first */
	struct operator_open *items;
	size_t nr, cap;
};

/* What is not in a row. */
struct operator_sums {
	int64_t gpu_ps;	    /* of all that GPUs ran */
	int64_t outside_ps; /* of it, what no operator launched */
	double flops;	    /* an operator's inside another one are not counted twice */
	int64_t nr_counted;
};

struct operators_state {
	struct operator_row *rows;
	size_t nr_rows, cap_rows;
	struct operator_sums sums;
	/* of a host */
	struct ts_map row_ids; /* by a hash of op and shapes */
	struct operator_path *paths;
	size_t nr_paths, cap_paths;
	struct ts_map path_ids;		 /* by outer path and row */
	struct operator_thread *threads; /* one a line of the profile */
	size_t nr_threads;
	struct ts_launches launches;		 /* the path that was open */
	uint8_t *sides;				 /* of each line: enum ts_trace_side */
	uint8_t *kinds;				 /* of each op, once it was met */
	const struct ts_aten_formula **formulas; /* likewise */
	struct ts_aten_known known;
	uint8_t *categories; /* of each op that is a kernel, plus one, once it was met */
};

/* operators_rows.c */

/* AT: the row of OP and SHAPES, made if it is new: a copy of FRESH. */
enum ts_status ts_operators_row(struct operators_state *state, const struct operator_row *fresh,
				uint32_t *at, struct ts_error *err);
/* AT: the path of ROW inside OUTER, or in no other where there are too many. */
enum ts_status ts_operators_path(struct operators_state *state, uint32_t outer, uint32_t row,
				 uint32_t *at, struct ts_error *err);
/* Execution of KERNEL, an op, that was launched there. */
void ts_operators_add_kernel(struct operators_state *state, uint32_t path, uint32_t kernel,
			     uint8_t category, int64_t dur_ps);
/* Adds what FROM counted. */
void ts_operators_add_row(struct operator_row *into, const struct operator_row *from);

/* operators_roofline.c */
/* The least time of each row's calls, and "categories": GEMM, convolutions ... each with its part of the roof. ALL_PS: of
 * all that GPUs ran. */
void ts_operators_least(struct operator_row *rows, size_t nr, const struct ts_rates *rates);
void ts_operators_categories(const struct ts_context *ctx, const struct operator_row *rows,
			     size_t nr, int64_t all_ps, struct ts_result *result);
/* Cells of a row, or of a sum of rows. */
struct ts_value ts_operators_category(const struct ts_context *ctx, const struct operator_row *row);
bool ts_operators_is_sized(const struct operator_row *row);
struct ts_value ts_operators_intensity(const struct operator_row *row);
struct ts_value ts_operators_bound(const struct operator_row *row, const struct ts_rates *rates);
struct ts_value ts_operators_roofline(struct ts_result *result, const struct operator_row *row);

/* operators_attention.c */
struct ts_operators_facts ts_operators_attention(const struct operators_state *sum,
						 const struct ts_context *ctx);

/* operators_report.c */
enum ts_status ts_operators_report(const struct operators_state *sum, const struct ts_context *ctx,
				   struct ts_result *result, struct ts_error *err);

#endif
