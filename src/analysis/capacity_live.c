/*
 * What a module needs of memory, when the proto has no buffer assignment: live ranges over the
 * compiled schedule.
 *
 * A value is one part of one op's result. Values that must stand in one place are joined: names
 * (bitcast, tuple, get-tuple-element), what a loop, a branch or a call hands in and out, -start and
 * -done, in-place updates, and what the module itself says (output_to_operand_aliasing,
 * input_output_alias). A joined set is needed from its first op to its last user; the entry's
 * parameters, its results and constants always. Positions count the ops in the order of execution,
 * those of a called computation before their caller.
 *
 * Facts: openxla/xla, HloAliasAnalysis and HloLiveRange (what must share), checked against libtpu.
 * Left out: sharing that is not a must (an op's result in the place of an operand that dies there,
 * but for a sort's), the gaps a real heap leaves, and scratch inside an op.
 */
#include "analysis/capacity.h"

struct set {
	uint32_t from, to;
	uint32_t maker; /* value */
	int64_t nr_bytes, space;
	bool is_parameter, is_output, is_constant, used;
};

struct live {
	const struct ts_hlo_module *module;
	struct ts_capacity_program *program;
	uint32_t *first;  /* of each instruction: its first value; one more at the end */
	uint32_t *owner;  /* of each value: its instruction */
	uint32_t *parent; /* of each value: towards the root of its set */
	struct set *sets; /* of each root */
	bool *walked;	  /* of each computation */
	uint32_t nr_values, next;
};

static bool is(const struct ts_hlo_instr *instr, const char *opcode)
{
	return ts_bytes_is(instr->opcode, opcode);
}

static const struct ts_hlo_instr *at(const struct live *live, uint32_t instr)
{
	return &live->module->instrs[instr];
}

static uint32_t nr_leaves(const struct live *live, uint32_t instr)
{
	return live->first[instr + 1] - live->first[instr];
}

static uint32_t find(struct live *live, uint32_t value)
{
	while (live->parent[value] != value) {
		live->parent[value] = live->parent[live->parent[value]];
		value = live->parent[value];
	}
	return value;
}

static void join(struct live *live, uint32_t a, uint32_t b)
{
	a = find(live, a);
	b = find(live, b);
	live->parent[TS_MAX(a, b)] = TS_MIN(a, b);
}

/* The parts of A from FROM_A on are those of B from FROM_B on. */
static void join_parts(struct live *live, uint32_t a, uint32_t from_a, uint32_t b, uint32_t from_b,
		       uint32_t max)
{
	uint32_t nr_a = nr_leaves(live, a), nr_b = nr_leaves(live, b);

	for (uint32_t i = 0; i < max && from_a + i < nr_a && from_b + i < nr_b; i++)
		join(live, live->first[a] + from_a + i, live->first[b] + from_b + i);
}

static void join_all(struct live *live, uint32_t a, uint32_t b)
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

static void join_params(struct live *live, const struct ts_hlo_comp *comp, uint32_t number,
			uint32_t operand)
{
	if (number < comp->nr_params && comp->params[number] != TS_NONE)
		join_all(live, comp->params[number], operand);
}

static void join_tuple(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);
	uint32_t leaf = 0;

	for (uint32_t i = 0; i < instr->nr_operands; i++) {
		join_parts(live, index, leaf, instr->operands[i], 0, UINT32_MAX);
		leaf += nr_leaves(live, instr->operands[i]);
	}
}

static void join_element(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);
	const struct ts_shape *from;

	if (instr->nr_operands == 0 || instr->tuple_index < 0)
		return;
	from = &at(live, instr->operands[0])->shape;
	if (instr->tuple_index < from->nr_parts)
		join_parts(live, index, 0, instr->operands[0],
			   part(from, (uint32_t)instr->tuple_index), nr_leaves(live, index));
}

static void join_first_operand(struct live *live, uint32_t index)
{
	if (at(live, index)->nr_operands > 0)
		join_all(live, index, at(live, index)->operands[0]);
}

/* Part 0 alone: an in-place update, a send. */
static void join_place(struct live *live, uint32_t index)
{
	if (at(live, index)->nr_operands > 0)
		join_parts(live, index, 0, at(live, index)->operands[0], 0, 1);
}

static void join_while(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);

	join_first_operand(live, index);
	for (uint32_t i = 0; i < instr->nr_called && instr->nr_operands > 0; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		join_params(live, comp, 0, instr->operands[0]);
		if (nr_leaves(live, comp->root) == nr_leaves(live, index) &&
		    at(live, comp->root)->shape.dtype == instr->shape.dtype)
			join_all(live, index, comp->root); /* of the body: the condition's is a pred */
	}
}

static void join_call(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);

	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		for (uint32_t k = 0; k < instr->nr_operands; k++)
			join_params(live, comp, k, instr->operands[k]);
		join_all(live, index, comp->root);
	}
}

static void join_branches(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);

	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		if (i + 1 < instr->nr_operands)
			join_params(live, comp, 0, instr->operands[i + 1]);
		join_all(live, index, comp->root);
	}
}

/* (result, operand, context) */
static void join_copy_start(struct live *live, uint32_t index)
{
	if (at(live, index)->nr_operands > 0)
		join_parts(live, index, 1, at(live, index)->operands[0], 0, 1);
}

/* (operands, results, context ...) */
static void join_start(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);
	uint32_t leaf = 0;

	if (instr->shape.nr_parts < 2)
		return;
	for (uint32_t k = 0; k < instr->nr_operands; k++) {
		join_parts(live, index, leaf, instr->operands[k], 0, UINT32_MAX);
		leaf += nr_leaves(live, instr->operands[k]);
	}
	for (uint32_t i = 0; i < instr->nr_called; i++) {
		const struct ts_hlo_comp *comp = &live->module->comps[instr->called[i]];

		for (uint32_t k = 0; k < instr->nr_operands; k++)
			join_params(live, comp, k, instr->operands[k]);
		join_parts(live, index, part(&instr->shape, 1), comp->root, 0, UINT32_MAX);
	}
}

/* The result of what was started: its part 1 where the operands stand in front, else part 0. */
static void join_done(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index), *start;
	uint32_t leaf = 0;

	if (instr->nr_operands == 0)
		return;
	start = at(live, instr->operands[0]);
	if (start->shape.dtype != instr->shape.dtype && !is(instr, "copy-done") &&
	    !is(instr, "recv-done") && !is(instr, "send-done") && start->shape.nr_parts > 1)
		leaf = part(&start->shape, 1);
	else if (instr->shape.dtype == TS_TUPLE && !is(instr, "all-reduce-done") &&
		 !is(instr, "recv-done") && !is(instr, "async-update") &&
		 start->shape.nr_parts > 1)
		leaf = part(&start->shape, 1);
	join_parts(live, index, 0, instr->operands[0], leaf, nr_leaves(live, index));
}

/* Of a fused root: the parameter in whose place it writes, or TS_NONE. */
static uint32_t updated_param(const struct live *live, uint32_t index, uint32_t *leaf)
{
	bool updates = false;

	*leaf = 0;
	for (unsigned hop = 0; hop < 256; hop++) {
		const struct ts_hlo_instr *instr = at(live, index);

		if (is(instr, "parameter"))
			return updates ? index : TS_NONE;
		if (is(instr, "dynamic-update-slice") || is(instr, "scatter"))
			updates = true;
		else if (!is(instr, "bitcast"))
			return TS_NONE;
		if (instr->nr_operands == 0)
			return TS_NONE;
		index = instr->operands[0];
	}
	return TS_NONE;
}

static void join_update(struct live *live, uint32_t index, uint32_t leaf, uint32_t made_by)
{
	const struct ts_hlo_instr *instr = at(live, index);
	uint32_t param_leaf, param = updated_param(live, made_by, &param_leaf);
	int64_t number;

	if (param == TS_NONE)
		return;
	number = at(live, param)->parameter_number;
	if (number >= 0 && number < instr->nr_operands)
		join_parts(live, index, leaf, instr->operands[number], param_leaf, 1);
}

static void join_fusion(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index), *root;
	uint32_t root_at;

	if (instr->nr_called == 0)
		return;
	root_at = live->module->comps[instr->called[0]].root;
	root = at(live, root_at);
	if (!is(root, "tuple")) {
		join_update(live, index, 0, root_at);
		return;
	}
	for (uint32_t i = 0; i < root->nr_operands; i++)
		join_update(live, index, part(&root->shape, i), root->operands[i]);
}

static void join_aliases(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);

	for (uint32_t i = 0; i < instr->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &instr->aliases[i];

		if (alias->operand < instr->nr_operands)
			join_parts(live, index, alias->output_leaf,
				   instr->operands[alias->operand], alias->operand_leaf, 1);
	}
}

static bool is_name(const struct ts_hlo_instr *instr);

/* A sort writes over each operand that nobody else wants. */
static void join_sort(struct live *live, uint32_t index)
{
	const struct ts_hlo_instr *instr = at(live, index);

	for (uint32_t i = 0; i < instr->nr_operands; i++) {
		const struct ts_hlo_instr *operand = at(live, instr->operands[i]);

		if (operand->nr_users == 1 && !is_name(operand) && !is(operand, "constant"))
			join_parts(live, index, i, instr->operands[i], 0, 1);
	}
}

/* How an op's results stand to others. A name makes nothing and uses nothing by itself. */
static const struct {
	const char *opcode;
	void (*join)(struct live *live, uint32_t index);
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
		if (is(instr, opcodes[i].opcode))
			return i;
	return TS_NELEM(opcodes);
}

static bool is_name(const struct ts_hlo_instr *instr)
{
	size_t row = row_of(instr);

	return row < TS_NELEM(opcodes) && opcodes[row].is_name;
}

/* Computations whose ops are ops of the program: not what a fusion or a reduction holds. */
static bool runs_its_callees(const struct ts_hlo_instr *instr)
{
	return is(instr, "while") || is(instr, "call") || is(instr, "conditional") ||
	       is(instr, "async-start");
}

static void join_comp(struct live *live, uint32_t index)
{
	const struct ts_hlo_comp *comp = &live->module->comps[index];

	live->walked[index] = true;
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t instr = comp->first_instr + i;
		size_t row = row_of(at(live, instr));

		if (row < TS_NELEM(opcodes) && opcodes[row].join)
			opcodes[row].join(live, instr);
		join_aliases(live, instr);
		for (uint32_t k = 0; runs_its_callees(at(live, instr)) &&
				     k < at(live, instr)->nr_called; k++)
			if (!live->walked[at(live, instr)->called[k]])
				join_comp(live, at(live, instr)->called[k]);
	}
}

static void join_donated(struct live *live)
{
	const struct ts_hlo_module *module = live->module;
	const struct ts_hlo_comp *entry = &module->comps[module->entry];

	for (uint32_t i = 0; i < module->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &module->aliases[i];

		if (alias->operand < entry->nr_params &&
		    entry->params[alias->operand] != TS_NONE)
			join_parts(live, entry->root, alias->output_leaf,
				   entry->params[alias->operand], alias->operand_leaf, 1);
	}
}

static void touch(struct live *live, uint32_t value, uint32_t position)
{
	struct set *set = &live->sets[find(live, value)];

	set->from = set->used ? TS_MIN(set->from, position) : position;
	set->to = set->used ? TS_MAX(set->to, position) : position;
	set->used = true;
}

static void touch_all(struct live *live, uint32_t instr, uint32_t position)
{
	for (uint32_t v = live->first[instr]; v < live->first[instr + 1]; v++)
		touch(live, v, position);
}

static bool is_concat(const struct ts_hlo_instr *instr)
{
	return ts_bytes_is(instr->custom_call_target, "ConcatBitcast");
}

/* The set of a value, with the size of the largest of its names and the first that makes it. */
static void describe(struct live *live, uint32_t value, const struct ts_shape *shape)
{
	const struct ts_hlo_instr *instr = at(live, live->owner[value]);
	struct set *set = &live->sets[find(live, value)];
	int64_t nr_bytes = ts_shape_bytes(shape);

	if (set->maker == TS_NONE || (is_name(at(live, live->owner[set->maker])) &&
				      !is(at(live, live->owner[set->maker]), "parameter") &&
				      (!is_name(instr) || is(instr, "parameter")))) {
		set->maker = value;
		set->space = shape->has_layout ? shape->memory_space : TS_SPACE_HBM;
	}
	if (!is_concat(instr)) /* its operands are its pieces */
		set->nr_bytes = TS_MAX(set->nr_bytes, nr_bytes);
	set->is_constant |= is(instr, "constant");
}

static uint32_t describe_parts(struct live *live, uint32_t value, const struct ts_shape *shape)
{
	if (shape->dtype != TS_TUPLE) {
		describe(live, value, shape);
		return value + 1;
	}
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		value = describe_parts(live, value, &shape->parts[i]);
	return value;
}

static void walk_comp(struct live *live, uint32_t index, bool is_entry)
{
	const struct ts_hlo_comp *comp = &live->module->comps[index];

	live->walked[index] = true;
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t instr_at = comp->first_instr + i;
		const struct ts_hlo_instr *instr = at(live, instr_at);

		for (uint32_t k = 0; runs_its_callees(instr) && k < instr->nr_called; k++)
			if (!live->walked[instr->called[k]])
				walk_comp(live, instr->called[k], false);
		describe_parts(live, live->first[instr_at], &instr->shape);
		live->program->order[live->next] = instr_at;
		for (uint32_t k = 0; !is_name(instr) && k < instr->nr_operands; k++)
			touch_all(live, instr->operands[k], live->next);
		if (!is_name(instr))
			touch_all(live, instr_at, live->next);
		live->next++;
	}
	if (!is_entry)
		touch_all(live, comp->root, live->next - 1);
}

/* What a bitcast of pieces names lives as long as the whole. */
static void stretch_pieces(struct live *live)
{
	for (uint32_t p = live->next; p-- > 0;) {
		uint32_t index = live->program->order[p];
		const struct ts_hlo_instr *instr = at(live, index);
		uint32_t to;

		if (!is_concat(instr) || nr_leaves(live, index) != 1)
			continue;
		to = live->sets[find(live, live->first[index])].to;
		for (uint32_t k = 0; k < instr->nr_operands; k++)
			touch_all(live, instr->operands[k], to);
	}
}

static void mark_ends(struct live *live)
{
	const struct ts_hlo_comp *entry = &live->module->comps[live->module->entry];
	uint32_t last = live->next > 0 ? live->next - 1 : 0;

	for (uint32_t i = 0; i < entry->nr_params; i++) {
		uint32_t param = entry->params[i];

		if (param == TS_NONE)
			continue;
		touch_all(live, param, 0);
		touch_all(live, param, last);
		for (uint32_t v = live->first[param]; v < live->first[param + 1]; v++)
			live->sets[find(live, v)].is_parameter = true;
	}
	touch_all(live, entry->root, last);
	for (uint32_t v = live->first[entry->root]; v < live->first[entry->root + 1]; v++)
		live->sets[find(live, v)].is_output = true;
}

static enum ts_buffer_kind kind_of(const struct set *set)
{
	if (set->is_parameter)
		return set->is_output ? TS_BUFFER_DONATED : TS_BUFFER_PARAMETER;
	if (set->is_output)
		return TS_BUFFER_OUTPUT;
	return set->is_constant ? TS_BUFFER_CONSTANT : TS_BUFFER_TEMP;
}

static bool keep_set(struct live *live, const struct set *set)
{
	struct ts_capacity_program *program = live->program;
	uint32_t instr = live->owner[set->maker];
	bool always = set->is_constant || set->is_output; /* a run takes its results' memory first */

	if (!ts_grow(&program->buffers, &program->cap_buffers, program->nr_buffers + 1,
		     sizeof(*program->buffers)))
		return false;
	program->buffers[program->nr_buffers++] = (struct ts_capacity_buffer){
		.instr = instr,
		.leaf = set->maker - live->first[instr],
		.nr_bytes = set->nr_bytes,
		.from = always ? 0 : set->from,
		.to = always ? live->next - 1 : set->to,
		.kind = kind_of(set),
		.space = set->space,
	};
	return true;
}

static bool keep_sets(struct live *live)
{
	for (uint32_t v = 0; v < live->nr_values; v++) {
		const struct set *set = &live->sets[v];

		if (live->parent[v] == v && set->used && set->nr_bytes > 0 &&
		    set->maker != TS_NONE && !keep_set(live, set))
			return false;
	}
	return true;
}

static int64_t space_bytes(const struct ts_shape *shape)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < shape->nr_parts; i++)
		sum = ts_i64_add(sum, space_bytes(&shape->parts[i]));
	if (shape->dtype == TS_TUPLE ||
	    (shape->has_layout && shape->memory_space != TS_SPACE_HBM))
		return sum;
	return ts_i64_add(sum, ts_shape_bytes(shape));
}

static void add_sums(struct live *live)
{
	struct ts_capacity_program *program = live->program;
	const struct ts_hlo_comp *entry = &live->module->comps[live->module->entry];

	for (uint32_t i = 0; i < entry->nr_params; i++)
		if (entry->params[i] != TS_NONE)
			program->argument_bytes =
				ts_i64_add(program->argument_bytes,
					   space_bytes(&at(live, entry->params[i])->shape));
	program->output_bytes = space_bytes(&at(live, entry->root)->shape);
	for (size_t i = 0; i < program->nr_buffers; i++) {
		const struct ts_capacity_buffer *buffer = &program->buffers[i];

		if (buffer->space != TS_SPACE_HBM)
			continue;
		if (buffer->kind == TS_BUFFER_CONSTANT)
			program->constant_bytes =
				ts_i64_add(program->constant_bytes, buffer->nr_bytes);
		if (buffer->kind == TS_BUFFER_DONATED)
			program->alias_bytes = ts_i64_add(program->alias_bytes, buffer->nr_bytes);
	}
}

static bool make_values(struct live *live)
{
	const struct ts_hlo_module *module = live->module;
	size_t nr = 0;

	live->first = calloc((size_t)module->nr_instrs + 1, sizeof(*live->first));
	live->walked = calloc((size_t)module->nr_comps + 1, sizeof(*live->walked));
	live->program->order =
		calloc((size_t)module->nr_instrs + 1, sizeof(*live->program->order));
	if (!live->first || !live->walked || !live->program->order)
		return false;
	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		live->first[i] = (uint32_t)nr;
		nr += ts_shape_leaves(&module->instrs[i].shape);
	}
	live->first[module->nr_instrs] = (uint32_t)nr;
	live->nr_values = (uint32_t)nr;
	live->owner = malloc((nr + 1) * sizeof(*live->owner));
	live->parent = malloc((nr + 1) * sizeof(*live->parent));
	live->sets = calloc(nr + 1, sizeof(*live->sets));
	if (!live->owner || !live->parent || !live->sets)
		return false;
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		for (uint32_t v = live->first[i]; v < live->first[i + 1]; v++)
			live->owner[v] = i;
	for (uint32_t v = 0; v < nr; v++) {
		live->parent[v] = v;
		live->sets[v].maker = TS_NONE;
	}
	return true;
}

static bool simulate(struct live *live)
{
	const struct ts_hlo_module *module = live->module;

	if (!make_values(live))
		return false;
	join_comp(live, module->entry);
	join_donated(live);
	memset(live->walked, 0, module->nr_comps * sizeof(*live->walked));
	walk_comp(live, module->entry, true);
	mark_ends(live);
	stretch_pieces(live);
	live->program->nr_positions = live->next;
	if (!keep_sets(live))
		return false;
	add_sums(live);
	if (!ts_capacity_find_peaks(live->program))
		return false;
	live->program->reserved_bytes = live->program->peak_bytes;
	return true;
}

bool ts_capacity_simulate(struct ts_capacity_program *program)
{
	struct live live = { .module = program->module, .program = program };
	bool good;

	if (program->module->nr_comps == 0)
		return true;
	good = simulate(&live);
	free(live.first);
	free(live.owner);
	free(live.parent);
	free(live.sets);
	free(live.walked);
	return good;
}
