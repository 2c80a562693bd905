/* SPDX-License-Identifier: MIT */
/*
 * The systolic analysis' own header, shared by systolic.c (the pass and the run's figures),
 * systolic_flops.c (FLOPs in terms of the peak), systolic_ops.c (its ops) and systolic_sums.c (its
 * tables of modules, steps and cores) only.
 */
#ifndef TS_ANALYSIS_SYSTOLIC_H
#define TS_ANALYSIS_SYSTOLIC_H

#include "analysis/facts/ops.h"
#include "analysis/facts/samples.h"
#include "analysis/facts/systolic.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(ops) X(time) X(samples)
#include "analysis/kit/needs.h"
#include "analysis/kit/run_steps.h"
#include "model/op_work.h"

/* One device. */
struct systolic_core {
	bool seen;
	double flops; /* in terms of the bf16 peak */
	uint32_t
		step; /* that the last event was in, or TS_NONE, and its place among those listed */
	size_t hint, at;
};

/* Of a line (one core), or merged (all of them). */
struct systolic_state {
	struct ts_hull hull; /* of the events on the timeline */
	struct systolic_core *cores;
	uint32_t first_core; /* the device cores[0] stands for */
	size_t nr_cores;
	double *step_flops; /* of all cores: one a step that is listed, and of all others; or NULL */
	size_t nr_step_flops;
	double *scale; /* by op: FLOPs as counted -> in terms of the bf16 peak; 0: not yet asked */
	size_t nr_scale, cap_scale;
};

/* What all rows say together, weighted by time. */
struct systolic_sum {
	bool has_matrix;   /* some op's matrix work is known */
	int64_t matrix_ps; /* time of those */
	size_t nr_unknown; /* matrix ops whose FLOPs are unknown */
	double used_ps, shape_ps, memory_ps,
		other_ps;	    /* the parts of that time; no shape: in other */
	bool has_shape, has_memory; /* some op's share of that loss is known */
	double flops, filled_flops; /* of products: what the array did, and could have done */
	size_t nr_opaque;	    /* kernels of unknown cost */
	int64_t opaque_ps;
	double impossible_flops; /* of ops that cannot have done them in their time */
	size_t nr_highest;	 /* ops in six passes */
	int64_t highest_ps;
};

static const struct ts_bytes systolic_above =
	TS_LIT("its FLOPs and the time that they take contradict the chip's peak");

/* systolic_flops.c. RATES may be NULL, and are when no device is known. */
const struct ts_rates *ts_systolic_rates(const struct ts_context *ctx, uint32_t device);
int ts_systolic_dim(const struct ts_rates *rates); /* of the array; 0: unknown */
/* FLOPs of one execution, as they are counted, in terms of the bf16 peak (hw/chips.h). */
double ts_systolic_flops(double flops, const struct ts_op_work *work, const struct ts_rates *rates);
/* What an op's FLOPs are multiplied with to be in terms of the bf16 peak. */
double ts_systolic_scale(const struct ts_context *ctx, uint32_t device, uint32_t op);
/* All FLOPs of an op's executions, in terms of the bf16 peak; NaN: unknown. */
double ts_systolic_total(const struct ts_context *ctx, uint32_t op);

/* systolic_ops.c: adds the table "ops", puts its rows into FACTS, and sums all ops up. */
enum ts_status ts_systolic_ops(const struct systolic_state *state, const struct ts_context *ctx,
			       struct ts_result *result, struct ts_systolic_facts *facts,
			       struct systolic_sum *sum, struct ts_error *err);

/* systolic_sums.c: adds "modules", "steps" and "devices". WALL_PS -1: unknown. Without matrix work
 * a step or a core has no utilization; with a CAUSE it cannot be true. */
enum ts_status ts_systolic_sums(const struct systolic_state *state, const struct ts_context *ctx,
				struct ts_result *result, int64_t wall_ps, bool has_matrix,
				struct ts_bytes cause, struct ts_error *err);

#endif
