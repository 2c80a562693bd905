/* SPDX-License-Identifier: MIT */
/*
 * Do two sets of samples differ? The Mann-Whitney U test: by ranks alone, so that no shape of the
 * distribution is assumed and one very slow step counts as one.
 *
 * H. B. Mann and D. R. Whitney, On a test of whether one of two random variables is stochastically
 * larger than the other, Ann. Math. Stat. 18 (1947). Ties have the mean of their ranks. Up to
 * TS_RANK_EXACT samples in all, p is counted over every way to deal the ranks out (so ties are exact
 * too); above, it is the normal approximation with the correction for ties and for continuity.
 */
#ifndef TS_COMPARE_RANK_H
#define TS_COMPARE_RANK_H

#include "base/bytes.h"

#define TS_RANK_EXACT 50 /* the counts of 50 samples still fit a double without rounding */

struct ts_rank {
	double u;	/* pairs in which B is larger; a tie is half a pair */
	double p;	/* two-sided: so far or farther by chance alone; NaN: a set is empty */
	double p_least; /* what so many samples can show at best; NaN when not counted */
	double effect;	/* -1 every B is smaller than every A, 0 neither, 1 every one is larger */
	bool exact;
};

/* A sample must not be NaN. */
enum ts_status ts_rank_test(const double *a, size_t nr_a, const double *b, size_t nr_b,
			    struct ts_rank *rank, struct ts_error *err);

#endif
