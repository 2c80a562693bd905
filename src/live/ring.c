/* SPDX-License-Identifier: MIT */
/* Means and medians over the history. */
#include "live/ring.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/order.h"

double ts_ring_mean(const struct ts_ring *ring, enum ts_metric metric, int64_t from_ms)
{
	double sum = 0, known_ms = 0, all_ms = 0;
	size_t nr = ts_ring_count(ring);

	TS_ASSERT(ring != NULL && metric < TS_NR_METRICS);
	for (size_t i = 0; i < nr; i++) {
		const struct ts_ring_row *row = ts_ring_back(ring, i);
		int64_t before_ms = i + 1 < nr ? ts_ring_back(ring, i + 1)->at_ms : from_ms;
		double ms = (double)(row->at_ms - TS_MAX(before_ms, from_ms));

		if (row->at_ms <= from_ms)
			break;
		all_ms += ms;
		if (!isfinite(row->values[metric]))
			continue;
		known_ms += ms;
		sum += row->values[metric] * ms;
	}
	return known_ms > 0 && known_ms >= all_ms * (1 - TS_RING_UNKNOWN) ? sum / known_ms : NAN;
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
