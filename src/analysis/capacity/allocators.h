/* SPDX-License-Identifier: MIT */
/*
 * The allocators' own interface: the events of one or of all threads (allocators.c), what they say of
 * each allocator (allocators_facts.c), and the tables and counters (allocators_report.c). No other
 * analysis includes this.
 */
#ifndef TS_ANALYSIS_ALLOCATORS_H
#define TS_ANALYSIS_ALLOCATORS_H

#include "analysis/analysis.h"
#include "analysis/facts/allocators.h"
#include "base/check.h"

/* An event of an allocator, and what it says of the allocator's state after it. */
struct allocator_record {
	struct ts_bytes allocator, op, region, shape; /* views into the input */
	int64_t number; /* of the device, where the allocator has no name */
	int64_t at_ps, address, nr_bytes, requested;
	int64_t reserved, heap, available, lifetime_peak;
	double fragmentation;
	uint32_t host;
	bool is_free;
};

struct allocators_state {
	struct allocator_record *records;
	size_t nr, cap;
	uint64_t nr_lost;
	uint32_t host; /* of a line */
};

/* The records of one allocator, in the order of time. */
struct allocator_records {
	const struct allocator_record *items;
	size_t nr;
};

static inline int64_t bytes_in_use(const struct allocator_record *record)
{
	return ts_i64_add(record->reserved, record->heap);
}

/* Sorts the records of the sum by allocator and time. */
enum ts_status ts_allocators_make_facts(const struct ts_context *ctx, struct allocators_state *sum,
					struct ts_result *result, struct ts_allocators_facts *facts,
					struct ts_error *err);
/* Of sorted records, those of the allocator that begins at index FROM; .nr 0: that is the end. */
struct allocator_records ts_allocator_records(const struct allocators_state *sum, size_t from);

enum ts_status ts_allocators_report(const struct ts_context *ctx,
				    const struct allocators_state *sum,
				    const struct ts_allocators_facts *facts,
				    struct ts_result *result, struct ts_error *err);

#endif
