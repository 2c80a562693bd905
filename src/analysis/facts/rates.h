/* SPDX-License-Identifier: MIT */
/*
 * What the analysis rates knows beside its counters: how long asynchronous copies were under way.
 */
#ifndef TS_ANALYSIS_FACTS_RATES_H
#define TS_ANALYSIS_FACTS_RATES_H

#include <stddef.h>
#include <stdint.h>

/* An asynchronous op from its start to the end of the wait for it, over all cores. */
struct ts_flight {
	uint32_t op; /* the start: index into profile->ops */
	int64_t executions, span_ps;
};

struct ts_rates_facts {
	const struct ts_flight *flights; /* by op */
	size_t nr_flights;
};

/* Of the op that is the start; NULL: none of its executions came to an end. */
static inline const struct ts_flight *ts_flight_of(const struct ts_rates_facts *rates,
						   uint32_t start)
{
	size_t from = 0, to = rates->nr_flights;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (rates->flights[middle].op < start)
			from = middle + 1;
		else
			to = middle;
	}
	return from < rates->nr_flights && rates->flights[from].op == start ? &rates->flights[from]
									    : NULL;
}

#endif
