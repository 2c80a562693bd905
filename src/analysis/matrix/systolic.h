/*
 * The systolic analysis' own interface: between what it sums (systolic.c), its ops (systolic_ops.c)
 * and its tables per module, step and core (systolic_sums.c). No other analysis includes this.
 */
#ifndef TS_ANALYSIS_SYSTOLIC_H
#define TS_ANALYSIS_SYSTOLIC_H

#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(ops) X(time)
#include "analysis/kit/needs.h"
#include "model/op_work.h"
#include "model/tally.h"

/* One device. */
struct ts_systolic_core {
	bool seen;
	double flops;	    /* in terms of the bf16 peak */
	double *step_flops; /* one a step of the device, or NULL */
	size_t nr_steps, hint;
};

/* Of a line (one core), or merged (all of them). */
struct ts_systolic {
	struct ts_tally tally;
	struct ts_systolic_core *cores;
	uint32_t first_core; /* the device cores[0] stands for */
	size_t nr_cores;
	double *scale; /* by op: FLOPs as counted -> in terms of the bf16 peak; 0: not yet asked */
	size_t nr_scale, cap_scale;
};

/* A row of the table of ops in the making. Shares are of the op's time; NaN unknown. */
struct ts_systolic_op {
	const struct ts_op *op;		    /* NULL: from a module alone */
	const struct ts_hlo_module *module; /* NULL: not in the profile */
	uint32_t instr;			    /* with .module */
	const struct ts_rates *rates;	    /* NULL: no device */
	struct ts_op_work work;
	bool is_opaque;
	int64_t occurrences, time_ps; /* 0 and -1 from a module alone */
	double flops;		      /* one execution's, in terms of the bf16 peak */
	double hbm_bytes;	      /* one execution's */
	double utilization, shape, memory, other;
	double lost_ps;
};

/* What all rows say together, weighted by time. */
struct ts_systolic_sum {
	bool has_matrix;   /* some op's matrix work is known */
	int64_t matrix_ps; /* time of those */
	size_t nr_unknown; /* matrix ops of which nobody says what they compute */
	double used_ps, shape_ps, memory_ps,
		other_ps;	    /* the parts of that time; no shape: in other */
	bool has_shape, has_memory; /* some op's share of that loss is known */
	double flops, filled_flops; /* of products: what the array did, and could have done */
	size_t nr_opaque;	    /* kernels of unknown cost */
	int64_t opaque_ps;
	size_t nr_highest; /* ops in six passes */
	int64_t highest_ps;
};

/* FLOPS of one execution as counted -> in terms of the bf16 peak (hw/chips.h). RATES may be NULL. */
double ts_systolic_flops(double flops, const struct ts_op_work *work, const struct ts_rates *rates);
int ts_systolic_dim(const struct ts_rates *rates); /* of the array; 0 unknown */
const struct ts_rates *ts_systolic_rates(const struct ts_context *ctx,
					 uint32_t device); /* or NULL */
/* All FLOPs of an op's executions, in terms of the bf16 peak; NaN unknown. */
double ts_systolic_total(const struct ts_systolic *state, const struct ts_context *ctx,
			 uint32_t op);

/* systolic_ops.c: adds the table "ops" and sums it up. */
enum ts_status ts_systolic_ops(const struct ts_systolic *state, const struct ts_context *ctx,
			       struct ts_result *result, struct ts_systolic_sum *sum,
			       struct ts_error *err);

/* systolic_sums.c: adds "modules", "steps" and "devices". WALL_PS -1: unknown. Without matrix work
 * there is no utilization to tell of a step or core. */
enum ts_status ts_systolic_sums(const struct ts_systolic *state, const struct ts_context *ctx,
				struct ts_result *result, int64_t wall_ps, bool has_matrix,
				struct ts_error *err);

#endif
