/* SPDX-License-Identifier: MIT */
/*
 * Do the steps of two runs differ, and by how much at least?
 *
 * Steps that follow one another are not independent: what else a machine does comes in stretches that last many
 * steps. So a test of each step by itself is too sure. Where the runs took turns, on one clock, each turn
 * counts once: it is the median of its steps, and the interval is that of the ratios of turns. Else each run
 * was captured in one go, and its steps are put into blocks that are as long as its own stretches: a block's
 * median counts once. Whatever lasted as long as a run cannot be seen in it: only turns rule that out.
 *
 * Stretches are found by the runs test (A. Wald and J. Wolfowitz, On a test whether two samples are from the
 * same population, Ann. Math. Stat. 11, 1940) of steps above and below their median, by a tenth of the
 * difference of the runs' medians at least: what is smaller does not matter to it. Where there are fewer
 * changes than chance would make (p < 0.05, one-sided), a block is as long as the autocorrelation time of a
 * first-order process with so many changes: cot^2(pi q / 2) steps, where q is 0.5 when nothing is correlated.
 *
 * The interval is that of order statistics, of whatever distribution: of the median of the ratios, or of
 * both medians (each with half of the error). It covers at least 95 %.
 */
#ifndef TS_COMPARE_DIFFER_H
#define TS_COMPARE_DIFFER_H

#include "compare/rank.h"

#define TS_DIFFER_ERROR 0.05 /* of the interval */

struct ts_step_times {
	const double *ps;	 /* in the order of time */
	const int64_t *start_ns; /* one a step, on a clock that both runs have; NULL: not known */
	size_t nr;
};

struct ts_differ {
	struct ts_rank rank;	      /* of what counts once */
	size_t counted[2];	      /* turns, or blocks, of A and of B */
	size_t turns;		      /* 1: one run after the other; 0: not known */
	double ratio_low, ratio_high; /* of a step of A to one of B; NaN: too few to tell */
};

enum ts_status ts_differ(const struct ts_step_times *a, const struct ts_step_times *b,
			 struct ts_differ *differ, struct ts_error *err);

#endif
