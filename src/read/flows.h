/* SPDX-License-Identifier: MIT */
/*
 * Arrows between slices that a trace in JSON has of its own (ph s and f): from an operator to its
 * backward, for instance. Not those from a launch to its kernel, which both say in their args and so
 * have block->link in common.
 */
#ifndef TS_READ_FLOWS_H
#define TS_READ_FLOWS_H

#include "model/profile.h"

struct ts_flow {
	uint64_t id; /* that both ends have, and no other arrow of the host */
	bool ends;   /* here; else it begins here */
};

/* Has HOST such arrows? */
bool ts_flows_are_in(const struct ts_profile *profile, uint32_t host);
/* The end of one at the event of LINE whose body in a block is BODY; false: there is not one. */
bool ts_flow_find(const struct ts_profile *profile, const struct ts_line *line,
		  struct ts_bytes body, struct ts_flow *flow);

#endif
