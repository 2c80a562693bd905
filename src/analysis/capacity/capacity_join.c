/* SPDX-License-Identifier: MIT */
/*
 * Live ranges, first half: which values must stand in one place. Names (bitcast, tuple,
 * get-tuple-element), what a loop, a branch or a call hands in and out, -start and -done, in-place
 * updates, and what the module itself says (output_to_operand_aliasing, input_output_alias).
 *
 * Facts: openxla/xla, HloAliasAnalysis (what must share), checked against libtpu. What may share:
 * capacity_share.c.
 */
#include "analysis/capacity/capacity_ranges.h"

#define MAX_NESTED 16 /* fusions inside a fusion */

static void capacity_join_join(struct ranges *ranges, uint32_t a, uint32_t b)
{
	if (ranges->naming)
		ranges->same[find_same(ranges, TS_MAX(a, b))] = find_same(ranges, TS_MIN(a, b));
	a = find_root(ranges, a);
	b = find_root(ranges, b);
	ranges->parent[TS_MAX(a, b)] = TS_MIN(a, b);
}

/* The parts of A from FROM_A on are those of B from FROM_B on. */
static void join_parts(struct ranges *ranges, uint32_t a, uint32_t from_a, uint32_t b,
		       uint32_t from_b, uint32_t max)
{
	uint32_t nr_a = nr_leaves(ranges, a), nr_b = nr_leaves(ranges, b);

	for (uint32_t i = 0; i < max && from_a + i < nr_a && from_b + i < nr_b; i++)
		capacity_join_join(ranges, ranges->first[a] + from_a + i,
				   ranges->first[b] + from_b + i);
}

static void capacity_join_join_all(struct ranges *ranges, uint32_t a, uint32_t b)
{
	join_parts(ranges, a, 0, b, 0, UINT32_MAX);
}

/* The first leaf of part K of a tuple. */
static uint32_t capacity_join_part(const struct ts_shape *shape, uint32_t k)
{
	return k < shape->nr_parts ? shape->parts[k].first_leaf : shape->nr_leaves;
}

static void join_params(struct ranges *ranges, const struct ts_hlo_comp *comp, uint32_t number,
			uint32_t operand)
{
	if (number < comp->nr_params && comp->params[number] != TS_NONE)
		capacity_join_join_all(ranges, comp->params[number], operand);
}

static void join_tuple(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);
	uint32_t leaf = 0;

	for (uint32_t i = 0; i < instr->nr_operands; i++) {
		join_parts(ranges, index, leaf, instr->operands[i], 0, UINT32_MAX);
		leaf += nr_leaves(ranges, instr->operands[i]);
	}
}

static void join_element(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);
	const struct ts_shape *from;

	if (instr->nr_operands == 0 || instr->tuple_index < 0)
		return;
	from = &instr_at(ranges, instr->operands[0])->shape;
	if (instr->tuple_index < from->nr_parts)
		join_parts(ranges, index, 0, instr->operands[0],
			   capacity_join_part(from, (uint32_t)instr->tuple_index),
			   nr_leaves(ranges, index));
}

static void join_first_operand(struct ranges *ranges, uint32_t index)
{
	if (instr_at(ranges, index)->nr_operands > 0)
		capacity_join_join_all(ranges, index, instr_at(ranges, index)->operands[0]);
}

/* Part 0 alone: an in-place update, a send. */
static void join_place(struct ranges *ranges, uint32_t index)
{
	if (instr_at(ranges, index)->nr_operands > 0)
		join_parts(ranges, index, 0, instr_at(ranges, index)->operands[0], 0, 1);
}

static void join_while(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);

	join_first_operand(ranges, index);
	for (uint32_t i = 0; i < instr->nr_called && instr->nr_operands > 0; i++) {
		const struct ts_hlo_comp *comp = &ranges->module->comps[instr->called[i]];

		join_params(ranges, comp, 0, instr->operands[0]);
		if (nr_leaves(ranges, comp->root) == nr_leaves(ranges, index) &&
		    instr_at(ranges, comp->root)->shape.dtype == instr->shape.dtype)
			capacity_join_join_all(
				ranges, index,
				comp->root); /* of the body: the condition's is a pred */
	}
}

static void join_call(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);

	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &ranges->module->comps[instr->called[i]];

		for (uint32_t k = 0; k < instr->nr_operands; k++)
			join_params(ranges, comp, k, instr->operands[k]);
		capacity_join_join_all(ranges, index, comp->root);
	}
}

static void join_branches(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);

	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &ranges->module->comps[instr->called[i]];

		if (i + 1 < instr->nr_operands)
			join_params(ranges, comp, 0, instr->operands[i + 1]);
		capacity_join_join_all(ranges, index, comp->root);
	}
}

/* (result, operand, context) */
static void join_copy_start(struct ranges *ranges, uint32_t index)
{
	if (instr_at(ranges, index)->nr_operands > 0)
		join_parts(ranges, index, 1, instr_at(ranges, index)->operands[0], 0, 1);
}

/* (operands, results, context ...) */
static void join_start(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);
	uint32_t leaf = 0;

	if (instr->shape.nr_parts < 2 || instr->nr_operands == 0)
		return;
	for (uint32_t k = 0; k < instr->nr_operands; k++) {
		join_parts(ranges, index, leaf, instr->operands[k], 0, UINT32_MAX);
		leaf += nr_leaves(ranges, instr->operands[k]);
	}
	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &ranges->module->comps[instr->called[i]];

		for (uint32_t k = 0; k < instr->nr_operands; k++)
			join_params(ranges, comp, k, instr->operands[k]);
		join_parts(ranges, index, capacity_join_part(&instr->shape, 1), comp->root, 0,
			   UINT32_MAX);
	}
}

/* The result of what was started: its part 1 where the operands stand in front, else part 0. */
static void capacity_join_join_done(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index), *start;
	uint32_t leaf = 0;

	if (instr->nr_operands == 0)
		return;
	start = instr_at(ranges, instr->operands[0]);
	if (start->shape.dtype != instr->shape.dtype &&
	    !TS_OPCODE_IN(instr->opcode, TS_OPCODE_COPY_DONE, TS_OPCODE_RECV_DONE,
			  TS_OPCODE_SEND_DONE) &&
	    start->shape.nr_parts > 1)
		leaf = capacity_join_part(&start->shape, 1);
	else if (instr->shape.dtype == TS_TUPLE &&
		 !TS_OPCODE_IN(instr->opcode, TS_OPCODE_ALL_REDUCE_DONE, TS_OPCODE_RECV_DONE,
			       TS_OPCODE_ASYNC_UPDATE) &&
		 start->shape.nr_parts > 1)
		leaf = capacity_join_part(&start->shape, 1);
	join_parts(ranges, index, 0, instr->operands[0], leaf, nr_leaves(ranges, index));
}

/* A way through the computation of a fusion, from what it makes to a parameter. */
struct way {
	const struct ranges *ranges;
	unsigned depth;
};

static uint32_t updated_operand(const struct way *way, const struct ts_hlo_instr *caller);

/* What the op AT names; itself where it makes something. */
static uint32_t capacity_join_named(const struct ranges *ranges, uint32_t at)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, at), *tuple;

	if (instr->nr_operands == 0)
		return at;
	if (instr->opcode == TS_OPCODE_BITCAST || instr->opcode == TS_OPCODE_ASYNC_DONE)
		return instr->operands[0];
	tuple = instr_at(ranges, instr->operands[0]);
	if (instr->opcode == TS_OPCODE_GET_TUPLE_ELEMENT && tuple->opcode == TS_OPCODE_TUPLE &&
	    instr->tuple_index >= 0 && instr->tuple_index < tuple->nr_operands)
		return tuple->operands[instr->tuple_index];
	return at;
}

/* The operand in whose place INSTR writes; UINT32_MAX: none. */
static uint32_t capacity_join_place_of(const struct way *way, const struct ts_hlo_instr *instr)
{
	if (instr->opcode == TS_OPCODE_DYNAMIC_UPDATE_SLICE || instr->opcode == TS_OPCODE_SCATTER)
		return 0;
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_FUSION, TS_OPCODE_CALL, TS_OPCODE_CUSTOM_CALL,
			    TS_OPCODE_ASYNC_START)
		       ? updated_operand(way, instr)
		       : UINT32_MAX;
}

/* Of the op AT inside a fusion: the number of the parameter in whose place it writes. */
static uint32_t updated_number(const struct way *way, uint32_t at)
{
	bool updates = false;

	for (unsigned hop = 0; hop < 256; hop++) {
		const struct ts_hlo_instr *instr = instr_at(way->ranges, at);
		uint32_t name = capacity_join_named(way->ranges, at), operand;

		if (instr->opcode == TS_OPCODE_PARAMETER)
			return updates && instr->parameter_number >= 0
				       ? (uint32_t)TS_MIN(instr->parameter_number, UINT32_MAX)
				       : UINT32_MAX;
		if (name != at) {
			at = name;
			continue;
		}
		operand = capacity_join_place_of(way, instr);
		if (operand >= instr->nr_operands)
			return UINT32_MAX;
		updates = true;
		at = instr->operands[operand];
	}
	return UINT32_MAX;
}

/* Of an op that calls a computation which makes its result. */
static uint32_t updated_operand(const struct way *way, const struct ts_hlo_instr *caller)
{
	struct way inside = *way;

	if (caller->nr_called == 0 || ++inside.depth > MAX_NESTED)
		return UINT32_MAX;
	return updated_number(&inside, way->ranges->module->comps[caller->called[0]].root);
}

static void join_update(struct ranges *ranges, uint32_t index, uint32_t leaf, uint32_t made_by)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);
	const struct way way = { .ranges = ranges };
	uint32_t number = updated_number(&way, made_by);

	if (number < instr->nr_operands)
		join_parts(ranges, index, leaf, instr->operands[number], 0, 1);
}

/*
 * (operands, results, context ...). What waits on a SparseCore is started without operands: the
 * update brings them, and the results begin there.
 */
static void join_async_update(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index), *start;
	const struct way way = { .ranges = ranges };
	uint32_t leaf = 0, number;

	if (instr->nr_operands < 2) {
		capacity_join_join_done(ranges, index);
		return;
	}
	start = instr_at(ranges, instr->operands[0]);
	for (uint32_t k = 1; k < instr->nr_operands; k++) {
		join_parts(ranges, index, leaf, instr->operands[k], 0, UINT32_MAX);
		leaf += nr_leaves(ranges, instr->operands[k]);
	}
	join_parts(ranges, index, capacity_join_part(&instr->shape, 2), instr->operands[0],
		   capacity_join_part(&start->shape, 2), UINT32_MAX);
	number = updated_operand(&way, start);
	if (instr->nr_operands - 1 > number)
		join_parts(ranges, index, capacity_join_part(&instr->shape, 1),
			   instr->operands[number + 1], 0, 1);
}

static void join_fusion(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index), *root;
	uint32_t root_at;

	if (instr->nr_called == 0)
		return;
	root_at = ranges->module->comps[instr->called[0]].root;
	root = instr_at(ranges, root_at);
	if (root->opcode != TS_OPCODE_TUPLE) {
		join_update(ranges, index, 0, root_at);
		return;
	}
	for (uint32_t i = 0; i < root->nr_operands; i++)
		join_update(ranges, index, capacity_join_part(&root->shape, i), root->operands[i]);
}

static void join_aliases(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, index);

	for (uint32_t i = 0; i < instr->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &instr->aliases[i];

		if (alias->operand < instr->nr_operands)
			join_parts(ranges, index, alias->output_leaf,
				   instr->operands[alias->operand], alias->operand_leaf, 1);
	}
}

/*
 * How an op's results stand to others. A name makes nothing and uses nothing by itself. What hands on
 * gives the values that it was given; the others make new ones in their places.
 */
static const struct {
	void (*join)(struct ranges *ranges, uint32_t index);
	bool is_name, hands_on;
} opcodes[TS_NR_OPCODES] = {
	[TS_OPCODE_TUPLE] = { join_tuple, true, true },
	[TS_OPCODE_GET_TUPLE_ELEMENT] = { join_element, true, true },
	[TS_OPCODE_BITCAST] = { join_first_operand, true, true },
	[TS_OPCODE_OPT_BARRIER] = { join_first_operand, true, true },
	[TS_OPCODE_ADD_DEPENDENCY] = { join_place, true, true },
	[TS_OPCODE_PARAMETER] = { NULL, true, false },
	[TS_OPCODE_WHILE] = { join_while, false, false },
	[TS_OPCODE_CALL] = { join_call, false, true },
	[TS_OPCODE_CONDITIONAL] = { join_branches, false, false },
	[TS_OPCODE_FUSION] = { join_fusion, false, false },
	[TS_OPCODE_DYNAMIC_UPDATE_SLICE] = { join_place, false, false },
	[TS_OPCODE_SCATTER] = { join_place, false, false },
	[TS_OPCODE_COPY_START] = { join_copy_start, false, true },
	[TS_OPCODE_SEND] = { join_place, false, true },
	[TS_OPCODE_ALL_GATHER_START] = { join_start, false, true },
	[TS_OPCODE_COLLECTIVE_PERMUTE_START] = { join_start, false, true },
	[TS_OPCODE_ASYNC_START] = { join_start, false, true },
	[TS_OPCODE_COPY_DONE] = { capacity_join_join_done, false, true },
	[TS_OPCODE_RECV_DONE] = { capacity_join_join_done, false, true },
	[TS_OPCODE_ALL_GATHER_DONE] = { capacity_join_join_done, false, true },
	[TS_OPCODE_ALL_REDUCE_DONE] = { capacity_join_join_done, false, true },
	[TS_OPCODE_COLLECTIVE_PERMUTE_DONE] = { capacity_join_join_done, false, true },
	[TS_OPCODE_ASYNC_UPDATE] = { join_async_update, false, false },
	[TS_OPCODE_ASYNC_DONE] = { capacity_join_join_done, false, true },
};

bool ts_range_is_name(const struct ts_hlo_instr *instr)
{
	return opcodes[instr->opcode].is_name;
}

/*
 * Computations whose ops are ops of the program: not what a fusion or a reduction holds, nor what
 * waits on a SparseCore.
 */
bool ts_range_runs_callees(const struct ts_hlo_instr *instr)
{
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_WHILE, TS_OPCODE_CALL,
			    TS_OPCODE_CONDITIONAL) ||
	       (instr->opcode == TS_OPCODE_ASYNC_START && instr->nr_operands > 0);
}

static void join_comp(struct ranges *ranges, uint32_t index)
{
	const struct ts_hlo_comp *comp = &ranges->module->comps[index];

	ranges->walked[index] = true;
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t instr = comp->first_instr + i;
		enum ts_opcode opcode = instr_at(ranges, instr)->opcode;

		ranges->naming = opcodes[opcode].hands_on;
		if (opcodes[opcode].join)
			opcodes[opcode].join(ranges, instr);
		ranges->naming = false;
		join_aliases(ranges, instr);
		for (uint32_t k = 0; ts_range_runs_callees(instr_at(ranges, instr)) &&
				     k < instr_at(ranges, instr)->nr_called;
		     k++)
			if (!ranges->walked[instr_at(ranges, instr)->called[k]])
				join_comp(ranges, instr_at(ranges, instr)->called[k]);
	}
}

static void join_donated(struct ranges *ranges)
{
	const struct ts_hlo_module *module = ranges->module;
	const struct ts_hlo_comp *entry = &module->comps[module->entry];

	for (uint32_t i = 0; i < module->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &module->aliases[i];

		if (alias->operand < entry->nr_params && entry->params[alias->operand] != TS_NONE)
			join_parts(ranges, entry->root, alias->output_leaf,
				   entry->params[alias->operand], alias->operand_leaf, 1);
	}
}

void ts_ranges_join(struct ranges *ranges)
{
	join_comp(ranges, ranges->module->entry);
	join_donated(ranges);
}
