/* SPDX-License-Identifier: MIT */
/*
 * What the analysis collectives knows: of each collective what it took and what its cores waited,
 * of each core how often the others waited for it, and of each host how its clock differs from that
 * of the others. Times are sums over all cores and the run.
 */
#ifndef TS_ANALYSIS_FACTS_COLLECTIVES_H
#define TS_ANALYSIS_FACTS_COLLECTIVES_H

#include "base/map.h"
#include "base/bytes.h"
#include "base/units.h"

struct ts_collective {
	uint32_t op; /* index into profile->ops: the start, or the op itself */
	struct ts_bytes name, module;
	int64_t occurrences, total_ps;
	int64_t exposed_ps; /* nothing hid it; -1: a trace does not say */
	double link_s; /* of one execution: its bytes over one link of the chip; NaN: unknown */
	int64_t nr_matched; /* executions whose arrivals could be compared */
	int64_t wait_ps;    /* for the last core to come; -1: none could be compared */
	/* The devices that meet at it, group after group, each of .group_size; none where it is not known who meets whom, or
	 * their clocks cannot be compared. */
	const uint32_t *members;
	size_t nr_members, group_size;
	int64_t nr_devices; /* in all its groups, as the module says, seen or not; -1: unknown */
};

/* A core and those it meets, over the executions that could be compared. */
struct ts_collective_core {
	uint32_t device;
	int64_t nr_matched, nr_last; /* nr_last: it came last */
	int64_t caused_ps;	     /* what the others waited while it was the last */
	int64_t excess_ps; /* the part of it for which the last but one was not late as well */
	int64_t lead_ps;   /* by which it came later than the last but one: time of its own */
	int64_t waited_ps; /* itself */
	/* The stretch of executions up to the last one in which it came last most: those less the others, and
	 * its arrival at the first one, by the clock of the reference host. */
	int64_t late_score, late_nr, late_since_ps; /* late_nr: executions in the stretch */
	int64_t late_excess_ps, late_most_ps; /* excess in it, and the largest of one execution */
	int64_t since_step; /* in which that is; -1: it is in none, or the stretch is too short to tell */
};

/* How a host's clock is known. */
enum ts_clock_source {
	TS_CLOCK_NO_CORES,   /* not: the host has no core that ran a collective */
	TS_CLOCK_NOT_SHARED, /* not: it shares no collective with another host */
	TS_CLOCK_TOO_FEW,   /* not: too few executions of those that it shares are in the profile */
	TS_CLOCK_TOO_WIDE,  /* not: cores do not leave them together */
	TS_CLOCK_REFERENCE, /* the others are held against it */
	TS_CLOCK_COLLECTIVES, /* by the ends of collectives */
	TS_CLOCK_REGULAR, /* likewise, but for whole intervals: the collectives are too regular for more */
};

/*
 * A host's clock against that of its reference host: OFFSET is what it shows more at PIVOT (its own
 * time), and DRIFT by how much that grows for each unit of its time. Hosts with one reference can be
 * compared with each other.
 */
struct ts_host_clock {
	enum ts_clock_source source;
	uint32_t reference; /* host; TS_NONE: the clock is not known */
	int64_t offset_ps, pivot_ps;
	int64_t spread_ps; /* median distance of single executions from the offset; the largest on the way */
	double drift;
	int64_t nr_matched; /* executions that it follows from */
};

/* A host's time on the clock of its reference host; as it is where the clock is not known. */
static inline int64_t ts_host_clock_align(const struct ts_host_clock *clock, int64_t t_ps)
{
	int64_t since_ps = ts_i64_sub(t_ps, clock->pivot_ps);

	if (clock->offset_ps == 0 && clock->drift == 0)
		return t_ps;
	return ts_i64_sub(t_ps,
			  ts_i64_add(clock->offset_ps, (int64_t)(clock->drift * (double)since_ps)));
}

struct ts_collectives_facts {
	const struct ts_collective *items; /* the most exposed first */
	size_t nr;
	const struct ts_collective_core *cores; /* those that met others, by device */
	size_t nr_cores;
	const struct ts_host_clock *clocks; /* one a host; NULL: there are not several with cores */
	size_t nr_clocks;
	const uint32_t *
		of_op; /* of each op of the profile: its place in .items, or TS_NONE; NULL: there are none */
};

/* The fact of an op of the profile, or NULL: it is not a collective, or it did not run. */
static inline const struct ts_collective *ts_collective_of(
	const struct ts_collectives_facts *collectives, uint32_t op)
{
	uint32_t at = collectives->of_op ? collectives->of_op[op] : TS_NONE;

	return at == TS_NONE ? NULL : &collectives->items[at];
}

#endif
