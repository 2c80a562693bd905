/* SPDX-License-Identifier: MIT */
/*
 * What the analysis allocators knows: the runtime's allocators by their own events. Bytes are those
 * of the whole capture, times are in picoseconds since the run's start.
 */
#ifndef TS_ANALYSIS_FACTS_ALLOCATORS_H
#define TS_ANALYSIS_FACTS_ALLOCATORS_H

#include "analysis/facts/heap.h"

/* Equal blocks that were alive at the peak of an allocator. Texts with .n 0: they are unknown. */
struct ts_allocator_blocks {
	struct ts_bytes op, region, shape;
	int64_t nr_bytes, requested_bytes; /* of one block */
	int64_t count;
};

struct ts_allocator_moment {	     /* from here on, the most until the next one */
	int64_t at_ps, in_use_bytes; /* stack and heap together */
};

struct ts_allocator {
	struct ts_bytes name;
	uint32_t host;
	uint32_t device;    /* of the profile; TS_NONE: it has memory of the host, or none fits */
	int64_t peak_bytes; /* stack and heap together */
	int64_t peak_ps;
	int64_t capacity_bytes, heap_bytes, stack_bytes; /* at the peak */
	double fragmentation;				 /* at the peak, 0..1; NaN: unknown */
	int64_t lifetime_peak_bytes;			 /* the time before the capture too */
	int64_t nr_events;
	int64_t unfreed_bytes; /* of blocks taken in the capture */
	int64_t growth_bytes;  /* of the heap from the first event to the last */
	struct ts_heap_growth growth;
	const struct ts_allocator_blocks *blocks;  /* those that hold most come first */
	size_t nr_blocks;			   /* 200 at most */
	const struct ts_allocator_moment *moments; /* the last one: after the last event */
	size_t nr_moments;			   /* 513 at most */
};

struct ts_allocators_facts {
	const struct ts_allocator *items; /* by host and name */
	size_t nr;			  /* 0: the capture has no such events */
};

/* What blocks hold together. */
static inline int64_t ts_allocator_held_bytes(const struct ts_allocator_blocks *blocks)
{
	return ts_i64_mul(blocks->nr_bytes, blocks->count);
}

/* The allocator of a device with the largest peak, or NULL. */
static inline const struct ts_allocator *ts_allocator_fullest(
	const struct ts_allocators_facts *allocators)
{
	const struct ts_allocator *most = NULL;

	for (size_t i = 0; i < allocators->nr; i++)
		if (allocators->items[i].device != TS_NONE &&
		    (!most || allocators->items[i].peak_bytes > most->peak_bytes))
			most = &allocators->items[i];
	return most;
}

#endif
