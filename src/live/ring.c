/* SPDX-License-Identifier: MIT */
/* Means and medians over the history. */
#include "live/ring.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/order.h"

double ts_ring_mean(const struct ts_ring *ring, enum ts_metric metric, int64_t now_ms,
		    int64_t age_ms)
{
	double sum = 0;
	size_t nr = 0;

	TS_ASSERT(ring != NULL && metric < TS_NR_METRICS);
	TS_ASSERT(age_ms >= 0);
	for (size_t i = 0; i < ts_ring_count(ring); i++) {
		const struct ts_ring_row *row = ts_ring_back(ring, i);

		if (now_ms - row->at_ms > age_ms)
			break;
		if (!isfinite(row->values[metric]))
			continue;
		sum += row->values[metric];
		nr++;
	}
	return nr ? sum / (double)nr : NAN;
}

double ts_ring_median(const struct ts_ring *ring, enum ts_metric metric, size_t nr)
{
	double values[TS_RING];
	size_t nr_known = 0;

	TS_ASSERT(ring != NULL && metric < TS_NR_METRICS);
	for (size_t i = 0; i < ts_ring_count(ring) && nr_known < nr; i++)
		if (isfinite(ts_ring_back(ring, i)->values[metric]))
			values[nr_known++] = ts_ring_back(ring, i)->values[metric];
	if (nr_known == 0)
		return NAN;
	qsort(values, nr_known, sizeof(*values), ts_double_order);
	return nr_known % 2 ? values[nr_known / 2]
			    : (values[nr_known / 2 - 1] + values[nr_known / 2]) / 2;
}
