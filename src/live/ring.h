/* SPDX-License-Identifier: MIT */
/* The history of the figures: the last TS_RING samples. */
#ifndef TS_LIVE_RING_H
#define TS_LIVE_RING_H

#include "base/check.h"
#include "live/metrics.h"

#define TS_RING 600 /* six minutes at the default interval */

struct ts_ring_row {
	int64_t at_ms; /* when the sample ended, by ts_now_ms() */
	double values[TS_NR_METRICS];
};

struct ts_ring {
	struct ts_ring_row rows[TS_RING];
	uint64_t nr; /* rows that were added, those that are gone too */
};

static inline size_t ts_ring_count(const struct ts_ring *ring)
{
	return ring->nr < TS_RING ? (size_t)ring->nr : TS_RING;
}

/* The row AGO samples before the last one, which is 0. AGO is less than the count. */
static inline const struct ts_ring_row *ts_ring_back(const struct ts_ring *ring, size_t ago)
{
	TS_ASSERT(ago < ts_ring_count(ring));
	return &ring->rows[(ring->nr - 1 - ago) % TS_RING];
}

static inline struct ts_ring_row *ts_ring_add(struct ts_ring *ring)
{
	return &ring->rows[ring->nr++ % TS_RING];
}

/*
 * The mean over the time from FROM_MS on, in which each row stands for the time since the one before; NaN where more than
 * TS_RING_UNKNOWN of that time is of rows whose value is not known, or there are no rows.
 */
#define TS_RING_UNKNOWN 0.1
double ts_ring_mean(const struct ts_ring *ring, enum ts_metric metric, int64_t from_ms);
/* The median of the last NR known values; NaN: there are none. */
double ts_ring_median(const struct ts_ring *ring, enum ts_metric metric, size_t nr);

#endif
