/* SPDX-License-Identifier: MIT */
/*
 * Live ranges, at their end: the buffers of a program. A place holds one value after the other; what
 * a loop carries, for one, is gone between its last use and the op that makes the next. So a set gives
 * a buffer for each stretch in which it holds something, and the memory is others' in between.
 *
 * Facts: openxla/xla, HloLiveRange (a value ends where the next one of its place begins), checked
 * against libtpu.
 */
#include "analysis/capacity/capacity_ranges.h"
#include "base/order.h"

struct stretch {
	uint32_t set, value, from, to;
};

struct stretches {
	struct stretch *items;
	size_t nr;
};

static enum ts_buffer_kind capacity_spans_kind_of(const struct range_set *set)
{
	if (set->is_parameter)
		return set->is_output ? TS_BUFFER_DONATED : TS_BUFFER_PARAMETER;
	if (set->is_output)
		return TS_BUFFER_OUTPUT;
	return set->is_constant ? TS_BUFFER_CONSTANT : TS_BUFFER_TEMP;
}

/* A run takes the memory of its results first. */
static bool is_always(const struct range_set *set)
{
	return set->is_constant || set->is_output || set->is_parameter;
}

/* What a start without operands makes is the context of a SparseCore: libtpu's peak is without it. */
static bool is_context(const struct ts_hlo_instr *maker)
{
	return maker->opcode == TS_OPCODE_ASYNC_START && maker->nr_operands == 0;
}

static bool capacity_spans_is_kept(const struct ranges *ranges, uint32_t value)
{
	const struct range_set *set = &ranges->sets[value];

	return ranges->parent[value] == value && set->used && set->nr_bytes > 0 &&
	       set->maker != TS_NONE && !is_context(instr_at(ranges, ranges->owner[set->maker]));
}

static enum ts_status capacity_spans_keep(struct ranges *ranges, const struct stretch *stretch,
					  struct ts_error *err)
{
	struct program *program = ranges->program;
	const struct range_set *set = &ranges->sets[stretch->set];
	uint32_t instr = ranges->owner[set->maker];

	if (!ts_grow(&program->buffers, &program->cap_buffers, program->nr_buffers + 1,
		     sizeof(*program->buffers)))
		return ts_fail_nomem(err);
	program->buffers[program->nr_buffers++] = (struct buffer){
		.instr = instr,
		.leaf = set->maker - ranges->first[instr],
		.nr_bytes = set->nr_bytes,
		.from = stretch->from,
		.to = stretch->to,
		.kind = capacity_spans_kind_of(set),
		.space = set->space,
	};
	return TS_OK;
}

TS_ORDER(by_set_and_start, struct stretch, TS_UP(set) TS_UP(from) TS_UP(to))

/* Of the values in sets that come and go. */
static void capacity_spans_list(struct ranges *ranges, struct stretches *to)
{
	for (uint32_t v = 0; v < ranges->nr_values; v++) {
		uint32_t set = find_root(ranges, v);
		const struct span *span = &ranges->spans[v];

		if (ranges->same[v] == v && span->used && capacity_spans_is_kept(ranges, set) &&
		    !is_always(&ranges->sets[set]))
			to->items[to->nr++] = (struct stretch){ set, v, span->from, span->to };
	}
	TS_SORT(to->items, to->nr, by_set_and_start);
}

/* Does the module say that the value stands in the place of an operand? What a loop carries does. */
static bool is_told_place(const struct ranges *ranges, uint32_t value)
{
	uint32_t index = ranges->owner[value];
	const struct ts_hlo_instr *instr = instr_at(ranges, index);

	if (instr->opcode == TS_OPCODE_PARAMETER || instr->opcode == TS_OPCODE_WHILE)
		return true;
	for (uint32_t i = 0; i < instr->nr_aliases; i++)
		if (instr->aliases[i].output_leaf == value - ranges->first[index])
			return true;
	return false;
}

/*
 * Is the place held from one to the other? On the chip libtpu counts an operand and the result that is
 * written over it both, while the op runs; not where the module itself says that they are one place.
 */
static bool goes_on(const struct ranges *ranges, const struct stretch *next, uint32_t set,
		    uint32_t end)
{
	if (next->set != set)
		return false;
	if (ranges->sets[set].space == TS_SPACE_HBM || is_told_place(ranges, next->value))
		return next->from <= end + 1;
	return next->from < end || next->from == end + 1;
}

static enum ts_status keep_listed(struct ranges *ranges, const struct stretches *from,
				  struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < from->nr;) {
		struct stretch whole = from->items[i];
		uint32_t end = whole.to;

		while (++i < from->nr && goes_on(ranges, &from->items[i], whole.set, end))
			end = TS_MAX(end, from->items[i].to);
		whole.to = end;
		st = capacity_spans_keep(ranges, &whole, err);
		if (st)
			return st;
	}
	return TS_OK;
}

enum ts_status ts_ranges_keep(struct ranges *ranges, struct ts_error *err)
{
	struct stretches stretches = {
		.items = calloc((size_t)ranges->nr_values + 1, sizeof(*stretches.items)),
	};
	enum ts_status st = TS_OK;

	if (!stretches.items)
		return ts_fail_nomem(err);
	for (uint32_t v = 0; v < ranges->nr_values && st == TS_OK; v++)
		if (capacity_spans_is_kept(ranges, v) && is_always(&ranges->sets[v]))
			st = capacity_spans_keep(
				ranges, &(struct stretch){ v, v, 0, ranges->next - 1 }, err);
	if (st)
		goto done;
	capacity_spans_list(ranges, &stretches);
	st = keep_listed(ranges, &stretches, err);
done:
	free(stretches.items);
	return st;
}
