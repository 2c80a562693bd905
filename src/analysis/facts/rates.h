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

#endif
