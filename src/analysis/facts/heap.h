/* SPDX-License-Identifier: MIT */
/*
 * What an allocator has given out where the steps of its device end. The analyses allocators and
 * memory_timeline know it, each for its own source of events.
 */
#ifndef TS_ANALYSIS_FACTS_HEAP_H
#define TS_ANALYSIS_FACTS_HEAP_H

#include "base/map.h"

struct ts_heap_growth {
	int64_t nr_steps;  /* that ended after the first event; below 2: growth is unknown */
	int64_t nr_rising; /* steps that end with more than the one before */
	int64_t first_bytes, last_bytes; /* at the end of the first of them, and of the last one */
};

#endif
