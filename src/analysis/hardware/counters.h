/* SPDX-License-Identifier: MIT */
/* The parts of the analysis counters: counters.c walks over the ops, counters_sums.c adds up, counters_report.c fills the result, counters_rules.c
 * has the findings. */
#ifndef TS_ANALYSIS_HARDWARE_COUNTERS_H
#define TS_ANALYSIS_HARDWARE_COUNTERS_H

#define TS_NEEDS(X) X(samples) X(ops) X(time)
#include "analysis/kit/needs.h"

#include "analysis/facts/ops.h"
#include "analysis/facts/samples.h"
#include "analysis/facts/time.h"

/* A counter over time while an op ran, on a device. */
struct counters_row {
	uint32_t device, op, counter; /* op, counter: index into profile->ops */
	int64_t ps;		      /* for which there are samples */
	double amount;		      /* value x ps, or of a running total its growth */
};

/* An op on a device, while its clock was held back and otherwise. */
struct counters_op {
	uint32_t device, op;
	int64_t in_ps, in_nr, out_ps, out_nr;
};

struct counters_state {
	uint32_t device;
	struct counters_row *rows;
	size_t nr_rows, cap_rows;
	struct counters_op *ops;
	size_t nr_ops, cap_ops;
	/* of a line */
	const struct ts_series *series; /* of its device */
	size_t nr_series;
	const struct ts_throttled *throttled;
	size_t nr_throttled, at_throttled;
	size_t *hints;		  /* one a series */
	uint32_t *row_of, *op_of; /* by op: 1 + the first of its rows, its op; 0: none yet */
};

/* A counter and an op over all devices. */
struct counters_by_op {
	uint32_t op, counter;
	int64_t op_ps; /* of the op, with any counter: the most */
	int64_t ps;
	double amount;
	const char *unit;
	bool is_total;
	double clock_hz; /* NaN: unknown */
};

/* Two figures for one thing; NaN: unknown. */
struct counters_pair {
	double measured, modelled;
};

struct ts_counters_facts {
	const struct counters_by_op *by_op;
	size_t nr_by_op;
	struct counters_pair mxu; /* shares of the peak */
	struct counters_pair hbm; /* bytes */
	double hbm_share;
	int64_t throttled_ps; /* over all devices; -1: no counter says */
	int64_t lost_ps;      /* core time; -1 unknown */
	double skipped_share; /* of the clocks, where counters at the end of the capture say; NaN */
	int64_t skipped_ps;   /* the same as core time; -1 */
	double slower;	      /* the ops in it, against the same ones elsewhere; NaN */
	double throttle_pct;  /* the largest sample of a counter of throttling; NaN */
	uint32_t nr_devices;  /* that were throttled */
	uint32_t device;      /* the first of them */
};

enum ts_status ts_counters_sum(const struct counters_state *sum, const struct ts_context *ctx,
			       struct ts_arena *arena, struct ts_counters_facts *facts,
			       struct ts_error *err);
void ts_counters_report(const struct ts_context *ctx, const struct ts_counters_facts *facts,
			struct ts_result *result);
extern const struct ts_rule ts_rule_throttled, ts_rule_mxu_differs, ts_rule_hbm_differs;

#endif
