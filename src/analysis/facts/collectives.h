/*
 * What the analysis collectives knows: of each collective what it took and what its cores waited,
 * and of each core how often the others waited for it. Times are sums over all cores and the run.
 */
#ifndef TS_ANALYSIS_FACTS_COLLECTIVES_H
#define TS_ANALYSIS_FACTS_COLLECTIVES_H

#include "base/bytes.h"

struct ts_collective {
	uint32_t op; /* index into profile->ops: the start, or the op itself */
	struct ts_bytes name, module;
	int64_t occurrences, total_ps;
	int64_t exposed_ps; /* nothing hid it; -1: a trace does not say */
	double link_s; /* of one execution: its bytes over one link of the chip; NaN: unknown */
	int64_t nr_matched; /* executions whose arrivals could be compared */
	int64_t wait_ps;    /* for the last core to come; -1: none could be compared */
};

/* A core and those it meets, over the executions that could be compared. */
struct ts_collective_core {
	uint32_t device;
	int64_t nr_matched, nr_last; /* nr_last: it came last */
	int64_t caused_ps;	     /* what the others waited while it was the last */
	int64_t excess_ps; /* the part of it for which the last but one was not late as well */
	int64_t waited_ps; /* itself */
};

struct ts_collectives_facts {
	const struct ts_collective *items; /* the most exposed first */
	size_t nr;
	const struct ts_collective_core *cores; /* those that met others, by device */
	size_t nr_cores;
};

/* The fact of an op of the profile, or NULL: it is not a collective, or it did not run. */
static inline const struct ts_collective *ts_collective_of(
	const struct ts_collectives_facts *collectives, uint32_t op)
{
	for (size_t i = 0; i < collectives->nr; i++)
		if (collectives->items[i].op == op)
			return &collectives->items[i];
	return NULL;
}

#endif
