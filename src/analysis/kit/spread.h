/* SPDX-License-Identifier: MIT */
/*
 * Figures of many numbers of which none is kept: how many there were, their sum, the smallest and
 * the largest, the mean, the deviation, and percentiles where they are wanted.
 *
 * A zeroed struct is empty. The sum of squared distances from the mean is Welford's, so it stays
 * exact however many numbers come. For percentiles the numbers are counted in bins of equal ratio:
 * a percentile is off by 1.6 % at most; all else is exact.
 */
#ifndef TS_ANALYSIS_KIT_SPREAD_H
#define TS_ANALYSIS_KIT_SPREAD_H

#include "base/bytes.h"

#define TS_SPREAD_BINS (60 * 32)

struct ts_spread {
	uint64_t nr;
	int64_t sum, min, max; /* when nr > 0 */
	double mean, squares;  /* squares: sum of squared distances from the mean */
	uint64_t *bins;	       /* NULL: no percentiles are wanted */
	size_t nr_bins;	       /* TS_SPREAD_BINS, or 0 */
};

struct ts_record;
extern const struct ts_record ts_spread_record; /* what it is made of, for states */

/* Makes an empty one with bins, which ts_record_release() frees. */
enum ts_status ts_spread_init(struct ts_spread *spread, struct ts_error *err);
void ts_spread_add(struct ts_spread *spread, int64_t number);
/* Percentiles of INTO are right only when both have bins. */
void ts_spread_merge(struct ts_spread *into, const struct ts_spread *from);
double ts_spread_mean(const struct ts_spread *spread);	    /* NaN: there are no numbers */
double ts_spread_deviation(const struct ts_spread *spread); /* divisor n - 1; of one number 0 */
/* The smallest number that is not below SHARE (0..1) of them; -1: no numbers, or no bins. */
int64_t ts_spread_percentile(const struct ts_spread *spread, double share);

/* The number that stands at place AT (below NR) when they are sorted; moves them. */
int64_t ts_select(int64_t *numbers, size_t nr, size_t at);
/* Moves the numbers. Of an even number the middle of the two closest, rounded (numpy's default); of none 0. */
int64_t ts_median_of(int64_t *numbers, size_t nr);

#endif
