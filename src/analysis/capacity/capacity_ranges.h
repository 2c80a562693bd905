/* SPDX-License-Identifier: MIT */
/*
 * The live ranges' own interface: between what must stand in one place (capacity_join.c), what is
 * needed when (capacity_ranges.c), what may then share a place (capacity_share.c), and when a place
 * is empty (capacity_spans.c). A value is one part of one op's result; values of one place are a
 * set, found through their root.
 */
#ifndef TS_ANALYSIS_CAPACITY_RANGES_H
#define TS_ANALYSIS_CAPACITY_RANGES_H

#include "analysis/capacity/capacity.h"

struct range_set {
	uint32_t from, to;
	uint32_t maker; /* value */
	int64_t nr_bytes, space;
	bool is_parameter, is_output, is_constant, used;
};

/* From the first op that makes or uses a value to the last. */
struct span {
	uint32_t from, to;
	bool used;
};

struct ranges {
	const struct ts_hlo_module *module;
	struct program *program;
	uint32_t *first;	/* of each instruction: its first value; one more at the end */
	uint32_t *owner;	/* of each value: its instruction */
	uint32_t *parent;	/* of each value: towards the root of its set */
	struct range_set *sets; /* of each root */
	uint32_t *same;		/* of each value: towards the one that it is a name of */
	struct span *spans;	/* of each of those */
	bool reuses;		/* of what stands in the memory of results */
	bool naming;		/* what is joined is one value, not only one place */
	bool *walked;		/* of each computation */
	bool *elementwise;	/* of each instruction; capacity_share.c */
	uint32_t nr_values, next;
};

static inline const struct ts_hlo_instr *instr_at(const struct ranges *ranges, uint32_t instr)
{
	return &ranges->module->instrs[instr];
}

static inline uint32_t nr_leaves(const struct ranges *ranges, uint32_t instr)
{
	return ranges->first[instr + 1] - ranges->first[instr];
}

static inline uint32_t find_root(struct ranges *ranges, uint32_t value)
{
	while (ranges->parent[value] != value) {
		ranges->parent[value] = ranges->parent[ranges->parent[value]];
		value = ranges->parent[value];
	}
	return value;
}

static inline uint32_t find_same(struct ranges *ranges, uint32_t value)
{
	while (ranges->same[value] != value) {
		ranges->same[value] = ranges->same[ranges->same[value]];
		value = ranges->same[value];
	}
	return value;
}

/* capacity_join.c: joins the values that must share their memory. Leaves .walked marked. */
void ts_ranges_join(struct ranges *ranges);
/* capacity_spans.c: makes the program's buffers of the sets. */
enum ts_status ts_ranges_keep(struct ranges *ranges, struct ts_error *err);
/* capacity_share.c: and those that may, of ranges that are known. Fills .elementwise first. */
void ts_ranges_mark_elementwise(struct ranges *ranges);
void ts_ranges_share(struct ranges *ranges);
bool ts_range_writes_over(struct ranges *ranges, uint32_t value, uint32_t operand);
/* capacity_reuse.c: what stands in the memory of results is not used any more. */
enum ts_status ts_ranges_reuse(struct ranges *ranges, struct ts_error *err);
/* A name (a tuple, a bitcast, a parameter) makes nothing and uses nothing by itself. */
bool ts_range_is_name(const struct ts_hlo_instr *instr);
/* Are its computations' ops ops of the program? Not what a fusion or a reduction holds. */
bool ts_range_runs_callees(const struct ts_hlo_instr *instr);

#endif
