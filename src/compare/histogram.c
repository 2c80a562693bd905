/* SPDX-License-Identifier: MIT */
/*
 * How long the steps of each run took, counted in bins that all runs share: what a page draws over one another.
 *
 * The bins reach over the middle nine tenths of every run's steps, and half as far again to either side where there
 * are steps. A few steps that are far off (the first one often compiles) would else make one bin of all others; they
 * are counted in a bin without an end at either side.
 */
#include "compare/parts.h"

#include "base/check.h"
#include "base/order.h"

#include <stdlib.h>

#define BINS   30 /* for two runs; of more any two may be looked at closely */
#define FINER  4
#define EDGE   0.05 /* of a run's steps at either end may lie outside */
#define BESIDE 0.5  /* of the reach belongs to it too, on either side */
#define LEAST  0.01 /* of the time, where all steps are alike */

struct bins {
	double from_ps, width_ps;
	size_t nr;
};

/* The nearest rank in SORTED, as far from its end as EDGE says. */
static double edge(const double *sorted, size_t nr, bool upper)
{
	size_t outside = (size_t)((double)nr * EDGE);

	return sorted[upper ? nr - 1 - outside : outside];
}

/* A length that is unknown counts as none, below all others. */
static double histogram_length(const struct ts_measured *measured, size_t step)
{
	return isfinite(measured->step_ps[step]) ? measured->step_ps[step] : 0;
}

struct hull {
	double low, high;   /* of the middle steps */
	double least, most; /* of all */
};

/* By one run's steps. */
static enum ts_status histogram_widen(const struct ts_measured *measured, struct hull *hull,
				      struct ts_error *err)
{
	size_t nr = measured->nr_steps;
	double *sorted;

	if (nr == 0)
		return TS_OK;
	sorted = calloc(nr, sizeof(*sorted));
	if (!sorted)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++)
		sorted[i] = histogram_length(measured, i);
	TS_SORT(sorted, nr, ts_double_order);
	hull->low = TS_MIN(hull->low, edge(sorted, nr, false));
	hull->high = TS_MAX(hull->high, edge(sorted, nr, true));
	hull->least = TS_MIN(hull->least, sorted[0]);
	hull->most = TS_MAX(hull->most, sorted[nr - 1]);
	free(sorted);
	return TS_OK;
}

/* Whole picoseconds, so that a bin ends where the report says that it does. */
static struct bins bins_of(const struct hull *hull, double most)
{
	double beside = TS_MAX((hull->high - hull->low) * BESIDE, hull->high * LEAST);
	double from = floor(TS_MAX(hull->least, hull->low - beside));
	double span = floor(TS_MIN(hull->most, hull->high + beside)) - from + 1;
	double width = ceil(span / most);

	return (struct bins){ .from_ps = from,
			      .width_ps = width,
			      .nr = (size_t)ceil(span / width) };
}

/* 0: below the first bin; .nr + 1: behind the last. */
static size_t histogram_bin_of(const struct bins *bins, double ps)
{
	double at = floor((ps - bins->from_ps) / bins->width_ps);

	if (at < 0)
		return 0;
	return at < (double)bins->nr ? (size_t)at + 1 : bins->nr + 1;
}

static void histogram_count(const struct comparing *comparing, const struct bins *bins,
			    int64_t counts[FINER * BINS + 2][TS_COMPARE_MAX])
{
	for (size_t r = 0; r < comparing->nr; r++) {
		const struct ts_measured *measured = &comparing->measured[r];

		for (size_t i = 0; i < measured->nr_steps; i++)
			counts[histogram_bin_of(bins, histogram_length(measured, i))][r]++;
	}
}

static bool histogram_is_empty(const int64_t *counts, size_t nr)
{
	for (size_t r = 0; r < nr; r++)
		if (counts[r] > 0)
			return false;
	return true;
}

#define BIN_CELLS(X) \
	X(from_ps, at == 0 ? ts_null() : ts_compare_ps(from)) \
	X(to_ps, at > bins->nr ? ts_null() : ts_compare_ps(from + bins->width_ps))
#define BIN_EACH_CELLS(X) X(steps, ts_int(counts[r]))

static void put_bin(struct comparing *comparing, const struct ts_compare_table *table,
		    const struct bins *bins, size_t at, const int64_t *counts)
{
	double from = bins->from_ps + bins->width_ps * ((double)at - 1);
	struct ts_value *row;

	COMPARE_ROW(comparing, table, compare_histogram, row, BIN_CELLS);
	for (size_t r = 0; r < comparing->nr; r++)
		COMPARE_RUN(table, compare_histogram_each, row, r, BIN_EACH_CELLS);
}

enum ts_status ts_compare_histogram(struct comparing *comparing, struct ts_error *err)
{
	/* people see it drawn: no title */
	struct ts_compare_table table = ts_compare_table(comparing, &ts_sheet_compare_histogram,
							 &ts_sheet_compare_histogram_each, NULL);
	struct hull hull = { INFINITY, -INFINITY, INFINITY, -INFINITY };
	int64_t counts[FINER * BINS + 2][TS_COMPARE_MAX] = { { 0 } };
	enum ts_status st = TS_OK;
	struct bins bins;

	TS_ASSERT(comparing);
	for (size_t r = 0; st == TS_OK && comparing->by_step && r < comparing->nr; r++)
		st = histogram_widen(&comparing->measured[r], &hull, err);
	if (st)
		return st;
	if (!table.table || hull.low > hull.high)
		return TS_OK; /* who asked for the memory says so */
	bins = bins_of(&hull, comparing->nr > 2 ? FINER * BINS : BINS);
	TS_ASSERT(bins.nr >= 1 && bins.nr <= FINER * BINS);
	histogram_count(comparing, &bins, counts);
	for (size_t at = 0; at < bins.nr + 2; at++)
		if ((at > 0 && at <= bins.nr) || !histogram_is_empty(counts[at], comparing->nr))
			put_bin(comparing, &table, &bins, at, counts[at]);
	return TS_OK;
}
