/* SPDX-License-Identifier: MIT */
/*
 * One program in several modes of its compiler (eager, default, reduce-overhead, max-autotune ...), a run
 * each: what a step takes, how much faster than the first, and what that cost to compile.
 *
 * A table for the user who chooses a mode; what made the difference is for ts_compare(). What comes out is
 * a result "compile_modes". It looks into the runs' results, which must live longer than it does.
 */
#ifndef TS_COMPARE_MODES_H
#define TS_COMPARE_MODES_H

#include "compare/compare.h"

/* The mode that a name says: "run/net-max-autotune.pt.trace.json.gz"; empty: it says none. */
struct ts_bytes ts_mode_of(struct ts_bytes name);

/* Adds the result to INTO. A run's mode is its label; without one, what its name says. */
enum ts_status ts_compare_modes(const struct ts_compare_request *request, struct ts_results *into,
				struct ts_error *err);

#endif
