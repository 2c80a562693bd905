/* SPDX-License-Identifier: MIT */
/*
 * What the analysis gaps knows: what host threads were seen doing in the longest gaps of the devices.
 */
#ifndef TS_ANALYSIS_FACTS_GAPS_H
#define TS_ANALYSIS_FACTS_GAPS_H

#include "analysis/facts/time.h"
#include "base/bytes.h"
#include "model/bucket.h"
#include "model/host_event.h"

/* What a host did in one gap; texts with .n 0: it is not known. */
struct ts_gap_witness {
	struct ts_bytes event, thread;	/* the host event that it passed in */
	struct ts_bytes ended_by;	/* the host event that ended it */
	enum ts_host_activity activity; /* of the event */
	enum ts_host_owner owner;
	bool is_awaited; /* what a thread that launches did until it launched the next program */
	bool is_mark; /* of a step: it says where the host was, and nothing is known of what it did */
};

/* The gaps that passed in one host event. */
struct ts_gap_group {
	struct ts_gap_witness witness; /* of the longest */
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

/* What was seen in a gap; nothing, where it is not one of the gaps of facts/time.h. */
static inline struct ts_gap_witness ts_gap_witness_of(const struct ts_gaps_facts *gaps,
						      const struct ts_time_facts *time,
						      const struct ts_time_gap *gap)
{
	for (size_t i = 0; gap->device != TS_NONE && i < time->nr_gaps; i++)
		if (time->gaps[i].device == gap->device && time->gaps[i].start_ps == gap->start_ps)
			return gaps->witnesses[i];
	return (struct ts_gap_witness){ .event = { NULL, 0 } };
}

#endif
