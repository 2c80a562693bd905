/* SPDX-License-Identifier: MIT */
/*
 * Sizes to pad a changing dimension to: at most log2(n) of them for n sizes that were met, at least
 * one, so that padding costs least.
 *
 * A bucket ends at a round number (3 significant bits, 8 at least, so that near sizes that were not met yet
 * fit too), and work is taken to be proportional to the dimension. The cheapest cut of the sorted
 * sizes into k runs is found exactly, by dynamic programming over their ends.
 */
#include "analysis/compile/cache.h"
#include "base/order.h"

struct size_met {
	int64_t value, weight;
};

TS_ORDER(cache_bucket_by_value, struct size_met, TS_UP(value))

static size_t sort_sizes(const struct ts_cache_axis *axis, size_t nr_values, const int64_t *weights,
			 struct size_met *sizes)
{
	size_t nr = 0, nr_once = 0;

	for (size_t i = 0; i < nr_values; i++)
		sizes[nr++] = (struct size_met){ axis->values[i], TS_MAX(weights[i], 1) };
	TS_SORT(sizes, nr, cache_bucket_by_value);
	for (size_t i = 0; i < nr; i++) {
		if (nr_once > 0 && sizes[nr_once - 1].value == sizes[i].value)
			sizes[nr_once - 1].weight =
				ts_i64_add(sizes[nr_once - 1].weight, sizes[i].weight);
		else
			sizes[nr_once++] = sizes[i];
	}
	return nr_once;
}

/* Up to the next number with three significant bits; 8 or a power of two at least. */
static int64_t cache_bucket_round_up(int64_t value)
{
	int64_t top = 1;

	while (top <= value / 2)
		top *= 2;
	if (top == value)
		return value;
	if (top < 8)
		return 2 * top;
	return value > INT64_MAX - top / 4 ? value : (value + top / 4 - 1) / (top / 4) * (top / 4);
}

/* Padded work of the sizes [from, to], all padded to the end of the last. */
static double cost(const struct size_met *sizes, size_t from, size_t to)
{
	double end = (double)cache_bucket_round_up(sizes[to].value), work = 0;

	for (size_t i = from; i <= to; i++)
		work += (double)sizes[i].weight * end;
	return work;
}

static size_t floor_log2(size_t n)
{
	size_t log = 0;

	while (n >>= 1)
		log++;
	return log;
}

/* least[k][i]: the work of the sizes before I in K buckets; cut[k][i]: where the last one starts. */
struct cuts {
	double least[TS_CACHE_MAX_BUCKETS + 1][CACHE_MAX_VALUES + 1];
	size_t cut[TS_CACHE_MAX_BUCKETS + 1][CACHE_MAX_VALUES + 1];
};

static void find_cuts(struct cuts *cuts, const struct size_met *sizes, size_t nr, size_t max)
{
	for (size_t i = 0; i <= nr; i++)
		cuts->least[0][i] = i == 0 ? 0 : INFINITY;
	for (size_t k = 1; k <= max; k++) {
		cuts->least[k][0] = 0;
		for (size_t i = 1; i <= nr; i++) {
			cuts->least[k][i] = INFINITY;
			for (size_t from = 0; from < i; from++) {
				double work = cuts->least[k - 1][from] + cost(sizes, from, i - 1);

				if (work < cuts->least[k][i]) {
					cuts->least[k][i] = work;
					cuts->cut[k][i] = from;
				}
			}
		}
	}
}

void ts_cache_axis_buckets(struct ts_cache_axis *axis, size_t nr_values, const int64_t *weights)
{
	struct size_met sizes[CACHE_MAX_VALUES];
	struct cuts cuts;
	double work = 0;
	size_t nr, max, at;

	TS_ASSERT(axis && axis->values && weights);
	axis->nr_buckets = 0;
	axis->waste_share = NAN;
	if (nr_values == 0 || nr_values > CACHE_MAX_VALUES)
		return;
	nr = sort_sizes(axis, nr_values, weights, sizes);
	if (nr < 2 || sizes[0].value < 0)
		return;
	max = TS_MIN(TS_MAX(floor_log2(nr), 1), TS_CACHE_MAX_BUCKETS);
	memset(&cuts, 0, sizeof(cuts));
	find_cuts(&cuts, sizes, nr, max);
	for (size_t k = max, i = nr; k > 0 && i > 0; i = cuts.cut[k][i], k--)
		axis->buckets[axis->nr_buckets++] = cache_bucket_round_up(sizes[i - 1].value);
	for (at = 0; at < axis->nr_buckets / 2; at++) { /* the largest was found first */
		int64_t last = axis->buckets[axis->nr_buckets - 1 - at];

		axis->buckets[axis->nr_buckets - 1 - at] = axis->buckets[at];
		axis->buckets[at] = last;
	}
	for (size_t i = 0; i < nr; i++)
		work += (double)sizes[i].weight * (double)sizes[i].value;
	if (cuts.least[max][nr] > 0)
		axis->waste_share = 1 - work / cuts.least[max][nr];
}
