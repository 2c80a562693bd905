/* SPDX-License-Identifier: MIT */
/*
 * What the analysis memory_timeline knows: how much memory PyTorch's allocators gave out on each
 * device, and who held it. Of a trace without their events all lists are empty.
 *
 * Times are in picoseconds since the run's start. Texts are names of the trace; .n 0: unknown.
 */
#ifndef TS_ANALYSIS_FACTS_MEMORY_TIMELINE_H
#define TS_ANALYSIS_FACTS_MEMORY_TIMELINE_H

#include <math.h>

#include "analysis/facts/heap.h"
#include "model/profile.h"

/* Who took a block; "(others)" as .op: several owners as one. */
struct ts_heap_owner {
	struct ts_bytes op;	  /* the innermost operator that does more than allocate */
	struct ts_bytes outer_op; /* the outermost operator around it */
	struct ts_bytes module;	  /* the innermost nn.Module */
	struct ts_bytes annotation;
	struct ts_bytes source; /* the innermost Python function outside of libraries */
	struct ts_bytes phase;	/* forward, backward, optimizer, input */
};

struct ts_heap_holder { /* what an owner held at the peak */
	struct ts_heap_owner owner;
	int64_t nr_bytes;
	int64_t nr_blocks; /* -1: unknown, allocated before the capture */
};

struct ts_heap_blocks { /* blocks of one owner and size */
	struct ts_heap_owner owner;
	int64_t block_bytes; /* TS_UNKNOWN: of many sizes */
	int64_t peak_count;  /* alive at the peak */
	int64_t count, total_bytes,
		mean_lifetime_ps; /* all that were taken; lifetime -1: unknown */
	/* Those that were taken in a step and outlived it, and in how many steps. */
	int64_t unfreed_count, unfreed_bytes, unfreed_steps;
};

struct ts_heap_step {
	uint64_t number; /* TS_NO_NUMBER: unknown */
	int64_t peak_bytes, end_bytes;
	int64_t reserved_bytes; /* the most; 0: unknown */
	int64_t taken_bytes, count;
};

struct ts_heap_moment { /* from here on, the most until the next one */
	int64_t at_ps, allocated_bytes, reserved_bytes; /* reserved -1: unknown */
};

struct ts_heap_device {
	struct ts_bytes name; /* "cuda:0" */
	uint32_t host;
	uint32_t device;	/* of the profile, or TS_NONE */
	int64_t capacity_bytes; /* of the device's memory; -1: unknown */
	int64_t first_bytes;	/* before the first event; -1: unknown */
	int64_t peak_bytes, peak_ps;
	uint64_t peak_step;    /* TS_NO_NUMBER: in none */
	int64_t peak_reserved; /* at the peak; -1: unknown */
	int64_t most_reserved; /* -1: unknown */
	int64_t unknown_bytes; /* of the peak: allocated before the capture */
	double unused_share;   /* of the reserved, over time, 0..1; NaN: unknown */
	int64_t allocated_bytes, reserved_bytes; /* at the end; reserved -1: unknown */
	int64_t nr_taken, nr_given, taken_bytes; /* blocks */
	struct ts_heap_growth growth;
	int64_t nr_oom; /* times that it ran out of memory; of the first one: */
	int64_t oom_bytes, oom_ps;
	struct ts_heap_owner oom_owner;
	/* All with the largest first: those of the tables. */
	const struct ts_heap_holder *holders, *modules; /* by owner, by module and phase */
	const struct ts_heap_blocks *blocks;		/* by size, of those alive at the peak */
	const struct ts_heap_blocks *allocations;	/* by size, of all */
	const struct ts_heap_blocks *unfreed;
	size_t nr_holders, nr_modules, nr_blocks, nr_allocations, nr_unfreed;
	/* In the order of time. */
	const struct ts_heap_step *steps;
	const struct ts_heap_moment *moments; /* the last one: where the capture ends */
	size_t nr_steps, nr_moments;
};

struct ts_heap_call { /* calls of the driver's allocator with one name, on one host */
	struct ts_bytes name;
	uint32_t host;
	int64_t count, total_ps, max_ps;
	/* Those from the second step of the capture on; .in_steps 0: the times are not known. */
	int64_t in_steps, in_steps_ps, in_steps_start_ps, in_steps_end_ps;
};

struct ts_heap_losses {	     /* what the figures do not have */
	bool without_totals; /* events of a device do not say what is allocated in all */
	uint64_t nr_unseen;  /* blocks given back that were taken before the capture */
	uint64_t nr_gaps;    /* times that the totals moved without an event */
	uint64_t nr_untracked, nr_rows, nr_devices; /* too many: blocks, rows, events of devices */
};

struct ts_memory_timeline_facts {
	/* GPUs before the host's memory, the largest peak first. */
	const struct ts_heap_device *devices;
	size_t nr_devices;
	const struct ts_heap_call *calls;
	size_t nr_calls;
	struct ts_heap_losses losses;
};

/* Of the reserved, what is not allocated at the peak, 0..1; NaN: unknown. */
static inline double ts_heap_unused_at_peak(const struct ts_heap_device *device)
{
	if (device->peak_reserved <= 0)
		return NAN;
	return TS_MAX(1 - (double)device->peak_bytes / (double)device->peak_reserved, 0);
}

#endif
