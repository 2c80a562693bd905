/*
 * Live ranges, first half: which values must stand in one place. Names (bitcast, tuple,
 * get-tuple-element), what a loop, a branch or a call hands in and out, -start and -done, in-place
 * updates, and what the module itself says (output_to_operand_aliasing, input_output_alias).
 *
 * Facts: openxla/xla, HloAliasAnalysis (what must share), checked against libtpu. Left out: sharing
 * that is not a must, but for a sort's operands.
 */
#include "analysis/capacity/capacity_live.h"

static void join(struct ts_live *live, uint32_t a, uint32_t b)
{
	a = ts_live_find(live, a);
	b = ts_live_find(live, b);
	live->parent[TS_MAX(a, b)] = TS_MIN(a, b);
}

/* The parts of A from FROM_A on are those of B from FROM_B on. */
static void join_parts(struct ts_live *live, uint32_t a, uint32_t from_a, uint32_t b,
		       uint32_t from_b, uint32_t max)
{
	uint32_t nr_a = ts_live_leaves(live, a), nr_b = ts_live_leaves(live, b);

	for (uint32_t i = 0; i < max && from_a + i < nr_a && from_b + i < nr_b; i++)
		join(live, live->first[a] + from_a + i, live->first[b] + from_b + i);
}

static void join_all(struct ts_live *live, uint32_t a, uint32_t b)
{
	join_parts(live, a, 0, b, 0, UINT32_MAX);
}

/* The first part of part K of a tuple. */
static uint32_t part(const struct ts_shape *shape, uint32_t k)
{
	uint32_t leaf = 0;

	for (uint32_t i = 0; i < k && i < shape->nr_parts; i++)
		leaf += ts_shape_leaves(&shape->parts[i]);
	return leaf;
}

static void join_params(struct ts_live *live, const struct ts_hlo_comp *comp, uint32_t number,
			uint32_t operand)
{
	if (number < comp->nr_params && comp->params[number] != TS_NONE)
		join_all(live, comp->params[number], operand);
}

static void join_tuple(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);
	uint32_t leaf = 0;

	for (uint32_t i = 0; i < instr->nr_operands; i++) {
		join_parts(live, index, leaf, instr->operands[i], 0, UINT32_MAX);
		leaf += ts_live_leaves(live, instr->operands[i]);
	}
}

static void join_element(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);
	const struct ts_shape *from;

	if (instr->nr_operands == 0 || instr->tuple_index < 0)
		return;
	from = &ts_live_at(live, instr->operands[0])->shape;
	if (instr->tuple_index < from->nr_parts)
		join_parts(live, index, 0, instr->operands[0],
			   part(from, (uint32_t)instr->tuple_index), ts_live_leaves(live, index));
}

static void join_first_operand(struct ts_live *live, uint32_t index)
{
	if (ts_live_at(live, index)->nr_operands > 0)
		join_all(live, index, ts_live_at(live, index)->operands[0]);
}

/* Part 0 alone: an in-place update, a send. */
static void join_place(struct ts_live *live, uint32_t index)
{
	if (ts_live_at(live, index)->nr_operands > 0)
		join_parts(live, index, 0, ts_live_at(live, index)->operands[0], 0, 1);
}

static void join_while(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);

	join_first_operand(live, index);
	for (uint32_t i = 0; i < instr->nr_called && instr->nr_operands > 0; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		join_params(live, comp, 0, instr->operands[0]);
		if (ts_live_leaves(live, comp->root) == ts_live_leaves(live, index) &&
		    ts_live_at(live, comp->root)->shape.dtype == instr->shape.dtype)
			join_all(live, index,
				 comp->root); /* of the body: the condition's is a pred */
	}
}

static void join_call(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);

	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		for (uint32_t k = 0; k < instr->nr_operands; k++)
			join_params(live, comp, k, instr->operands[k]);
		join_all(live, index, comp->root);
	}
}

static void join_branches(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);

	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		if (i + 1 < instr->nr_operands)
			join_params(live, comp, 0, instr->operands[i + 1]);
		join_all(live, index, comp->root);
	}
}

/* (result, operand, context) */
static void join_copy_start(struct ts_live *live, uint32_t index)
{
	if (ts_live_at(live, index)->nr_operands > 0)
		join_parts(live, index, 1, ts_live_at(live, index)->operands[0], 0, 1);
}

/* (operands, results, context ...) */
static void join_start(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);
	uint32_t leaf = 0;

	if (instr->shape.nr_parts < 2)
		return;
	for (uint32_t k = 0; k < instr->nr_operands; k++) {
		join_parts(live, index, leaf, instr->operands[k], 0, UINT32_MAX);
		leaf += ts_live_leaves(live, instr->operands[k]);
	}
	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		for (uint32_t k = 0; k < instr->nr_operands; k++)
			join_params(live, comp, k, instr->operands[k]);
		join_parts(live, index, part(&instr->shape, 1), comp->root, 0, UINT32_MAX);
	}
}

/* The result of what was started: its part 1 where the operands stand in front, else part 0. */
static void join_done(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index), *start;
	uint32_t leaf = 0;

	if (instr->nr_operands == 0)
		return;
	start = ts_live_at(live, instr->operands[0]);
	if (start->shape.dtype != instr->shape.dtype && !ts_live_is(instr, "copy-done") &&
	    !ts_live_is(instr, "recv-done") && !ts_live_is(instr, "send-done") &&
	    start->shape.nr_parts > 1)
		leaf = part(&start->shape, 1);
	else if (instr->shape.dtype == TS_TUPLE && !ts_live_is(instr, "all-reduce-done") &&
		 !ts_live_is(instr, "recv-done") && !ts_live_is(instr, "async-update") &&
		 start->shape.nr_parts > 1)
		leaf = part(&start->shape, 1);
	join_parts(live, index, 0, instr->operands[0], leaf, ts_live_leaves(live, index));
}

/* Of a fused root: the parameter in whose place it writes, or TS_NONE. */
static uint32_t updated_param(const struct ts_live *live, uint32_t index, uint32_t *leaf)
{
	bool updates = false;

	*leaf = 0;
	for (unsigned hop = 0; hop < 256; hop++) {
		const struct ts_hlo_instr *instr = ts_live_at(live, index);

		if (ts_live_is(instr, "parameter"))
			return updates ? index : TS_NONE;
		if (ts_live_is(instr, "dynamic-update-slice") || ts_live_is(instr, "scatter"))
			updates = true;
		else if (!ts_live_is(instr, "bitcast"))
			return TS_NONE;
		if (instr->nr_operands == 0)
			return TS_NONE;
		index = instr->operands[0];
	}
	return TS_NONE;
}

static void join_update(struct ts_live *live, uint32_t index, uint32_t leaf, uint32_t made_by)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);
	uint32_t param_leaf, param = updated_param(live, made_by, &param_leaf);
	int64_t number;

	if (param == TS_NONE)
		return;
	number = ts_live_at(live, param)->parameter_number;
	if (number >= 0 && number < instr->nr_operands)
		join_parts(live, index, leaf, instr->operands[number], param_leaf, 1);
}

static void join_fusion(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index), *root;
	uint32_t root_at;

	if (instr->nr_called == 0)
		return;
	root_at = live->module->comps[instr->called[0]].root;
	root = ts_live_at(live, root_at);
	if (!ts_live_is(root, "tuple")) {
		join_update(live, index, 0, root_at);
		return;
	}
	for (uint32_t i = 0; i < root->nr_operands; i++)
		join_update(live, index, part(&root->shape, i), root->operands[i]);
}

static void join_aliases(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);

	for (uint32_t i = 0; i < instr->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &instr->aliases[i];

		if (alias->operand < instr->nr_operands)
			join_parts(live, index, alias->output_leaf, instr->operands[alias->operand],
				   alias->operand_leaf, 1);
	}
}

/* A sort writes over each operand that nobody else wants. */
static void join_sort(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, index);

	for (uint32_t i = 0; i < instr->nr_operands; i++) {
		const struct ts_hlo_instr *operand = ts_live_at(live, instr->operands[i]);

		if (operand->nr_users == 1 && !ts_live_is_name(operand) &&
		    !ts_live_is(operand, "constant"))
			join_parts(live, index, i, instr->operands[i], 0, 1);
	}
}

/* How an op's results stand to others. A name makes nothing and uses nothing by itself. */
static const struct {
	const char *opcode;
	void (*join)(struct ts_live *live, uint32_t index);
	bool is_name;
} opcodes[] = {
	{ "tuple", join_tuple, true },
	{ "get-tuple-element", join_element, true },
	{ "bitcast", join_first_operand, true },
	{ "opt-barrier", join_first_operand, true },
	{ "add-dependency", join_place, true },
	{ "parameter", NULL, true },
	{ "while", join_while, false },
	{ "call", join_call, false },
	{ "conditional", join_branches, false },
	{ "fusion", join_fusion, false },
	{ "dynamic-update-slice", join_place, false },
	{ "scatter", join_place, false },
	{ "sort", join_sort, false },
	{ "copy-start", join_copy_start, false },
	{ "send", join_place, false },
	{ "all-gather-start", join_start, false },
	{ "collective-permute-start", join_start, false },
	{ "async-start", join_start, false },
	{ "copy-done", join_done, false },
	{ "recv-done", join_done, false },
	{ "all-gather-done", join_done, false },
	{ "all-reduce-done", join_done, false },
	{ "collective-permute-done", join_done, false },
	{ "async-update", join_done, false },
	{ "async-done", join_done, false },
};

static size_t row_of(const struct ts_hlo_instr *instr)
{
	for (size_t i = 0; i < TS_NELEM(opcodes); i++)
		if (ts_live_is(instr, opcodes[i].opcode))
			return i;
	return TS_NELEM(opcodes);
}

bool ts_live_is_name(const struct ts_hlo_instr *instr)
{
	size_t row = row_of(instr);

	return row < TS_NELEM(opcodes) && opcodes[row].is_name;
}

/* Computations whose ops are ops of the program: not what a fusion or a reduction holds. */
bool ts_live_runs_callees(const struct ts_hlo_instr *instr)
{
	return ts_live_is(instr, "while") || ts_live_is(instr, "call") ||
	       ts_live_is(instr, "conditional") || ts_live_is(instr, "async-start");
}

static void join_comp(struct ts_live *live, uint32_t index)
{
	const struct ts_hlo_comp *comp = &live->module->comps[index];

	live->walked[index] = true;
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t instr = comp->first_instr + i;
		size_t row = row_of(ts_live_at(live, instr));

		if (row < TS_NELEM(opcodes) && opcodes[row].join)
			opcodes[row].join(live, instr);
		join_aliases(live, instr);
		for (uint32_t k = 0; ts_live_runs_callees(ts_live_at(live, instr)) &&
				     k < ts_live_at(live, instr)->nr_called;
		     k++)
			if (!live->walked[ts_live_at(live, instr)->called[k]])
				join_comp(live, ts_live_at(live, instr)->called[k]);
	}
}

static void join_donated(struct ts_live *live)
{
	const struct ts_hlo_module *module = live->module;
	const struct ts_hlo_comp *entry = &module->comps[module->entry];

	for (uint32_t i = 0; i < module->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &module->aliases[i];

		if (alias->operand < entry->nr_params && entry->params[alias->operand] != TS_NONE)
			join_parts(live, entry->root, alias->output_leaf,
				   entry->params[alias->operand], alias->operand_leaf, 1);
	}
}

void ts_live_join(struct ts_live *live)
{
	join_comp(live, live->module->entry);
	join_donated(live);
}
