/* SPDX-License-Identifier: MIT */
/* The Mann-Whitney U test. */
#include "compare/rank.h"

#include "base/check.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

struct sample {
	double value;
	bool is_b;
};

TS_ORDER(rank_by_value, struct sample, TS_UP(value))

/* Twice the midrank of each, so that all are whole; TIES gets the sum of t^3 - t over the ties. */
static void rank_all(const struct sample *samples, size_t nr, size_t *twice, double *ties)
{
	*ties = 0;
	for (size_t from = 0, to; from < nr; from = to) {
		double t;

		for (to = from + 1; to < nr && samples[to].value == samples[from].value;)
			to++;
		t = (double)(to - from);
		*ties += t * t * t - t;
		for (size_t i = from; i < to; i++)
			twice[i] = from + 1 + to;
	}
}

/* The ways to choose NR_B of the samples, by twice the sum of their ranks: ways[k][sum]. */
static void count_ways(double *ways, size_t width, const size_t *twice, size_t nr, size_t nr_b)
{
	ways[0] = 1;
	for (size_t i = 0; i < nr; i++)
		for (size_t k = TS_MIN(nr_b, i + 1); k > 0; k--)
			for (size_t sum = width; sum-- > twice[i];)
				ways[k * width + sum] += ways[(k - 1) * width + sum - twice[i]];
}

/* Both tails, the smaller one twice: of what was seen, and of the outermost that there is. */
static void rank_read_tails(struct ts_rank *rank, const double *ways, size_t width, size_t seen)
{
	double below = 0, above = 0, all = 0, first = 0, last = 0;

	for (size_t sum = 0; sum < width; sum++) {
		all += ways[sum];
		below += sum <= seen ? ways[sum] : 0;
		above += sum >= seen ? ways[sum] : 0;
		first = first > 0 ? first : ways[sum];
		last = ways[sum] > 0 ? ways[sum] : last;
	}
	rank->p = fmin(1, 2 * fmin(below, above) / all);
	rank->p_least = fmin(1, 2 * fmin(first, last) / all);
	rank->exact = true;
}

static enum ts_status count_exactly(struct ts_rank *rank, const size_t *twice, size_t nr,
				    size_t nr_b, size_t seen, struct ts_error *err)
{
	size_t width = nr * (nr + 1) + 1; /* twice the sum of all ranks, and 0 */
	double *ways = calloc((nr_b + 1) * width, sizeof(*ways));

	if (!ways)
		return ts_fail_nomem(err);
	count_ways(ways, width, twice, nr, nr_b);
	rank_read_tails(rank, &ways[nr_b * width], width, seen);
	free(ways);
	return TS_OK;
}

static void approximate(struct ts_rank *rank, double nr_a, double nr_b, double ties)
{
	double n = nr_a + nr_b, off = fabs(rank->u - nr_a * nr_b / 2) - 0.5;
	double variance = nr_a * nr_b / 12 * (n + 1 - ties / (n * (n - 1)));

	/* all samples are alike: nothing can be tested */
	rank->p = variance > 0 ? erfc(fmax(off, 0) / sqrt(2 * variance)) : 1;
	rank->p = fmin(rank->p, 1);
}

static enum ts_status test(struct sample *samples, size_t *twice, size_t nr_a, size_t nr_b,
			   struct ts_rank *rank, struct ts_error *err)
{
	size_t nr = nr_a + nr_b, sum = 0;
	double ties;

	TS_SORT(samples, nr, rank_by_value);
	rank_all(samples, nr, twice, &ties);
	for (size_t i = 0; i < nr; i++)
		sum += samples[i].is_b ? twice[i] : 0;
	rank->u = (double)sum / 2 - (double)nr_b * (double)(nr_b + 1) / 2;
	rank->effect = 2 * rank->u / ((double)nr_a * (double)nr_b) - 1;
	if (nr <= TS_RANK_EXACT)
		return count_exactly(rank, twice, nr, nr_b, sum, err);
	approximate(rank, (double)nr_a, (double)nr_b, ties);
	return TS_OK;
}

enum ts_status ts_rank_test(const double *a, size_t nr_a, const double *b, size_t nr_b,
			    struct ts_rank *rank, struct ts_error *err)
{
	size_t nr = nr_a + nr_b;
	struct sample *samples = calloc(nr + 1, sizeof(*samples));
	size_t *twice = calloc(nr + 1, sizeof(*twice));
	enum ts_status st = TS_OK;

	TS_ASSERT(rank);
	TS_ASSERT((a || nr_a == 0) && (b || nr_b == 0));
	*rank = (struct ts_rank){ NAN, NAN, NAN, NAN, false };
	if (!samples || !twice)
		st = ts_fail_nomem(err);
	for (size_t i = 0; st == TS_OK && i < nr; i++)
		samples[i] = (struct sample){ i < nr_a ? a[i] : b[i - nr_a], i >= nr_a };
	if (st == TS_OK && nr_a > 0 && nr_b > 0)
		st = test(samples, twice, nr_a, nr_b, rank, err);
	free(samples);
	free(twice);
	return st;
}
