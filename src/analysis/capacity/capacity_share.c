/* SPDX-License-Identifier: MIT */
/*
 * Live ranges, last part: an op that may write its result over an operand, and does so in HBM: an
 * elementwise one, a fusion that is one for that operand, a sort, an all-reduce. The operand ends there, its shape is the
 * result's, and neither is the program's own, which have their memory apart.
 *
 * Facts: openxla/xla, HloDataflowAnalysis::CanShareOperandBufferWithUser, checked against libtpu,
 * which does not do it in VMEM.
 */
#include "analysis/capacity/capacity_ranges.h"

#include "model/cost.h"

/* Of each instruction: is all that comes of it, in its computation, made of elements in one place each? */
void ts_ranges_mark_elementwise(struct ranges *ranges)
{
	for (uint32_t i = ranges->module->nr_instrs; i-- > 0;) {
		const struct ts_hlo_instr *instr = instr_at(ranges, i);

		ranges->elementwise[i] = true;
		for (uint32_t k = 0; k < instr->nr_users; k++) {
			const struct ts_hlo_instr *user = instr_at(ranges, instr->users[k]);

			ranges->elementwise[i] &=
				(user->opcode == TS_OPCODE_TUPLE || ts_hlo_is_elementwise(user)) &&
				ranges->elementwise[instr->users[k]]; /* it stands behind */
		}
	}
}

static bool capacity_share_is_candidate(const struct ts_hlo_instr *instr)
{
	if (instr->opcode == TS_OPCODE_FUSION)
		return instr->nr_called > 0 && instr->fusion_kind != TS_FUSION_CUSTOM;
	return instr->opcode == TS_OPCODE_SORT || instr->opcode == TS_OPCODE_ALL_REDUCE ||
	       ts_hlo_is_elementwise(instr);
}

/* May INSTR, a candidate, write over its Kth operand? */
static bool may_write_over(const struct ranges *ranges, const struct ts_hlo_instr *instr,
			   uint32_t k)
{
	const struct ts_hlo_comp *comp;

	if (instr->opcode != TS_OPCODE_FUSION)
		return true;
	comp = &ranges->module->comps[instr->called[0]];
	return k < comp->nr_params && comp->params[k] != TS_NONE &&
	       ranges->elementwise[comp->params[k]];
}

static bool capacity_share_is_own(const struct range_set *set)
{
	return set->is_parameter || set->is_output || set->is_constant;
}

/* Ends FROM where TO begins, and is its memory free to take? */
static bool can_follow(const struct range_set *from, const struct range_set *to, uint32_t position)
{
	return from->used && to->used && from->to == position && to->from == position &&
	       from->space == TS_SPACE_HBM && to->space == TS_SPACE_HBM &&
	       from->nr_bytes == to->nr_bytes && !capacity_share_is_own(from) &&
	       !capacity_share_is_own(to);
}

static bool capacity_share_share(struct ranges *ranges, uint32_t from, uint32_t to,
				 uint32_t position)
{
	uint32_t a = find_root(ranges, from), b = find_root(ranges, to);

	if (a == b || !can_follow(&ranges->sets[a], &ranges->sets[b], position))
		return false;
	ranges->sets[a].to = ranges->sets[b].to;
	ranges->sets[b].used = false;
	ranges->parent[b] = a;
	return true;
}

static bool is_like(const struct ts_shape *a, const struct ts_shape *b)
{
	if (!a || !b || a->dtype != b->dtype || a->rank != b->rank)
		return false;
	for (uint32_t d = 0; d < a->rank; d++)
		if (a->dims[d] != b->dims[d] || (a->has_layout && b->has_layout &&
						 a->minor_to_major[d] != b->minor_to_major[d]))
			return false;
	return true;
}

/* Not another's under a new name: who reads an element of a tuple does not read the tuple's maker. */
static bool makes_value(struct ranges *ranges, uint32_t index)
{
	return find_same(ranges, ranges->first[index]) == ranges->first[index];
}

/* Tuples in a tuple are not the result of an op that computes. */
static const struct ts_shape *capacity_share_part_of(const struct ts_shape *shape, uint32_t leaf)
{
	if (shape->dtype != TS_TUPLE)
		return shape;
	return leaf < shape->nr_parts ? &shape->parts[leaf] : NULL;
}

/* May a part of a candidate's result stand for its Kth operand? A sort's stand for those of their numbers. */
static bool may_take(const struct ranges *ranges, const struct ts_hlo_instr *instr, uint32_t leaf,
		     uint32_t k)
{
	bool by_number = instr->opcode == TS_OPCODE_SORT || instr->opcode == TS_OPCODE_ALL_REDUCE;

	return (!by_number || k == leaf) &&
	       is_like(capacity_share_part_of(&instr->shape, leaf),
		       &instr_at(ranges, instr->operands[k])->shape) &&
	       may_write_over(ranges, instr, k);
}

/* The first operand that fits gives way. */
static void share_result(struct ranges *ranges, uint32_t index, uint32_t leaf, uint32_t position)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);

	for (uint32_t k = 0; k < instr->nr_operands; k++)
		if (makes_value(ranges, instr->operands[k]) && may_take(ranges, instr, leaf, k) &&
		    capacity_share_share(ranges, ranges->first[instr->operands[k]],
					 ranges->first[index] + leaf, position))
			return;
}

/* Is one value, the operand of what makes the other, written over by it? A copy stands beside what it is of. */
bool ts_range_writes_over(struct ranges *ranges, uint32_t value, uint32_t operand)
{
	uint32_t maker = ranges->owner[value], leaf = value - ranges->first[maker];
	const struct ts_hlo_instr *instr = instr_at(ranges, maker);

	if (!capacity_share_is_candidate(instr) || instr->opcode == TS_OPCODE_COPY)
		return false;
	for (uint32_t k = 0; k < instr->nr_operands; k++)
		if (nr_leaves(ranges, instr->operands[k]) == 1 &&
		    find_same(ranges, ranges->first[instr->operands[k]]) == operand &&
		    may_take(ranges, instr, leaf, k))
			return true;
	return false;
}

void ts_ranges_share(struct ranges *ranges)
{
	for (uint32_t p = 0; p < ranges->next; p++) {
		uint32_t index = ranges->program->order[p], nr = 0;

		if (capacity_share_is_candidate(instr_at(ranges, index)))
			nr = nr_leaves(ranges, index);
		for (uint32_t leaf = 0; leaf < nr; leaf++)
			share_result(ranges, index, leaf, p);
	}
}
