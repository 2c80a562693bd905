/* SPDX-License-Identifier: MIT */
/*
 * Two or more runs: what differs, and where the difference comes from. The first is the baseline.
 *
 * What comes out is a result "compare" like any other, so that every output can show it: is the
 * comparison fair, who is faster and could that be chance, time by bucket, ops that are new, gone, slower
 * or faster, modules, findings, gates. Times are of a step and a core where all runs have steps, else
 * of the run's wall time; the parts of a difference sum to it, what is left over is a part too.
 *
 * The result looks into the runs' profiles and results, which must live longer than it does.
 */
#ifndef TS_COMPARE_COMPARE_H
#define TS_COMPARE_COMPARE_H

#include "compare/gate.h"
#include "model/profile.h"

#define TS_COMPARE_MAX 16 /* runs at most */

struct ts_compare_run {
	struct ts_bytes name; /* as people know it: its path */
	const struct ts_profile *profile;
	const struct ts_results *results;
	const char *label; /* as the user calls it; NULL: by what tells its name apart */
};

struct ts_compare_request {
	const struct ts_compare_run
		*runs; /* 1..TS_COMPARE_MAX; one alone has its figures and gates */
	size_t nr_runs;
	const struct ts_gate
		*gates; /* of every run but the baseline; of the run where there is one */
	size_t nr_gates;
};

/* The names of the tables of the result, in its order; NULL at the end. */
extern const char *const ts_compare_views[];

/* Adds the result to INTO. *NR_FAILED: gates that did not pass, once for each run. */
enum ts_status ts_compare(const struct ts_compare_request *request, struct ts_results *into,
			  size_t *nr_failed, struct ts_error *err);

#endif
