/* SPDX-License-Identifier: MIT */
/*
 * The prediction analysis' own interface: between what is predicted (prediction.c), what was measured of the same ops
 * (prediction_measured.c), how far predictions were off before (prediction_known.c) and the tables (prediction_report.c). No
 * other analysis includes this.
 */
#ifndef TS_ANALYSIS_PREDICTION_H
#define TS_ANALYSIS_PREDICTION_H

#define TS_NEEDS(X) X(ops) X(async)
#include "analysis/kit/needs.h"
#include "analysis/kit/op_time.h"

/* One execution of a module. */
struct prediction_module {
	struct ts_op_times times;
	struct ts_schedule walk;      /* of what is likely; without events */
	struct ts_schedule_sum *sums; /* its */
	int64_t low_ps, high_ps;      /* of an execution; the latter -1: there is no bound */
	int64_t executions;	      /* in the run, over all cores; -1: it did not run */
	int64_t measured_ps;	      /* all of them; -1 */
};

/* Of the ops of a kind what is predicted and what was measured, over the whole run. */
struct prediction_error {
	int64_t nr_ops, executions, predicted_ps, measured_ps;
	int64_t off_ps; /* by how much, an op at a time */
};

/* By kind and basis, over an execution of the main module. */
struct prediction_kind {
	int64_t nr_ops, runs, time_ps,
		exposed_ps; /* exposed: what the core waits; of its own work all */
};

struct prediction {
	const struct ts_context *ctx;
	const struct ts_rates *rates;
	struct prediction_module *modules; /* one a module of the profile */
	uint32_t main;			   /* the module that the step is; TS_NONE */
	struct prediction_kind kinds[TS_NR_TIME_KINDS][TS_NR_TIME_BASES];
	struct prediction_error errors[TS_NR_TIME_KINDS]; /* of a measured run */
};

enum ts_status ts_prediction_measure(struct prediction *prediction, struct ts_error *err);
bool ts_prediction_report(const struct prediction *prediction, struct ts_result *result);

/* How far off predictions of a kind were in the profile that they are held against; NULL: it has none. */
struct prediction_known {
	enum ts_time_kind kind;
	double error_pct; /* sum of what the ops were off, of their measured time */
	int64_t nr_ops, executions;
};
const struct prediction_known *ts_prediction_known_of(enum ts_time_kind kind);

#endif
