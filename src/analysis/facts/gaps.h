/*
 * What the analysis gaps knows: what host threads were seen doing in the longest gaps of the devices.
 */
#ifndef TS_ANALYSIS_FACTS_GAPS_H
#define TS_ANALYSIS_FACTS_GAPS_H

#include "base/bytes.h"
#include "model/bucket.h"

/* What a host did in one gap; texts with .n 0: it is not known. */
struct ts_gap_witness {
	struct ts_bytes event, thread; /* the host event that it passed in */
	struct ts_bytes ended_by;      /* the host event that ended it */
};

/* The gaps that passed in one host event. */
struct ts_gap_group {
	struct ts_bytes event, thread, ended;
	enum ts_bucket cause;
	int64_t count, total_ps, longest_ps;
	uint32_t device; /* of the longest */
	int64_t start_ps;
};

struct ts_gaps_facts {
	const struct ts_gap_witness *witnesses; /* by index into the gaps of facts/time.h */
	const struct ts_gap_group *groups;	/* by host event, the costliest first */
	size_t nr_groups;
};

#endif
