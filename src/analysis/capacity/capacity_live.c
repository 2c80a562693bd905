/*
 * What a module needs of memory, when the proto has no buffer assignment: live ranges over the
 * compiled schedule.
 *
 * Values that must stand in one place are joined (capacity_join.c). A joined set is needed from its
 * first op to its last user; the entry's parameters, its results and constants always. Positions
 * count the ops in the order of execution, those of a called computation before their caller.
 *
 * Facts: openxla/xla, HloLiveRange, checked against libtpu. Left out: the gaps a real heap leaves,
 * and scratch inside an op.
 */
#include "analysis/capacity/capacity_live.h"

static void touch(struct ts_live *live, uint32_t value, uint32_t position)
{
	struct ts_live_set *set = &live->sets[ts_live_find(live, value)];

	set->from = set->used ? TS_MIN(set->from, position) : position;
	set->to = set->used ? TS_MAX(set->to, position) : position;
	set->used = true;
}

static void touch_all(struct ts_live *live, uint32_t instr, uint32_t position)
{
	for (uint32_t v = live->first[instr]; v < live->first[instr + 1]; v++)
		touch(live, v, position);
}

static bool is_concat(const struct ts_hlo_instr *instr)
{
	return ts_bytes_is(instr->custom_call_target, "ConcatBitcast");
}

/* The set of a value, with the size of the largest of its names and the first that makes it. */
static void describe(struct ts_live *live, uint32_t value, const struct ts_shape *shape)
{
	const struct ts_hlo_instr *instr = ts_live_at(live, live->owner[value]);
	struct ts_live_set *set = &live->sets[ts_live_find(live, value)];
	int64_t nr_bytes = ts_shape_bytes(shape);

	if (set->maker == TS_NONE ||
	    (ts_live_is_name(ts_live_at(live, live->owner[set->maker])) &&
	     !ts_live_is(ts_live_at(live, live->owner[set->maker]), "parameter") &&
	     (!ts_live_is_name(instr) || ts_live_is(instr, "parameter")))) {
		set->maker = value;
		set->space = shape->has_layout ? shape->memory_space : TS_SPACE_HBM;
	}
	if (!is_concat(instr)) /* its operands are its pieces */
		set->nr_bytes = TS_MAX(set->nr_bytes, nr_bytes);
	set->is_constant |= ts_live_is(instr, "constant");
}

static uint32_t describe_parts(struct ts_live *live, uint32_t value, const struct ts_shape *shape)
{
	if (shape->dtype != TS_TUPLE) {
		describe(live, value, shape);
		return value + 1;
	}
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		value = describe_parts(live, value, &shape->parts[i]);
	return value;
}

static void walk_comp(struct ts_live *live, uint32_t index, bool is_entry)
{
	const struct ts_hlo_comp *comp = &live->module->comps[index];

	live->walked[index] = true;
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t instr_at = comp->first_instr + i;
		const struct ts_hlo_instr *instr = ts_live_at(live, instr_at);

		for (uint32_t k = 0; ts_live_runs_callees(instr) && k < instr->nr_called; k++)
			if (!live->walked[instr->called[k]])
				walk_comp(live, instr->called[k], false);
		describe_parts(live, live->first[instr_at], &instr->shape);
		live->program->order[live->next] = instr_at;
		for (uint32_t k = 0; !ts_live_is_name(instr) && k < instr->nr_operands; k++)
			touch_all(live, instr->operands[k], live->next);
		if (!ts_live_is_name(instr))
			touch_all(live, instr_at, live->next);
		live->next++;
	}
	if (!is_entry)
		touch_all(live, comp->root, live->next - 1);
}

/* What a bitcast of pieces names lives as long as the whole. */
static void stretch_pieces(struct ts_live *live)
{
	for (uint32_t p = live->next; p-- > 0;) {
		uint32_t index = live->program->order[p];
		const struct ts_hlo_instr *instr = ts_live_at(live, index);
		uint32_t to;

		if (!is_concat(instr) || ts_live_leaves(live, index) != 1)
			continue;
		to = live->sets[ts_live_find(live, live->first[index])].to;
		for (uint32_t k = 0; k < instr->nr_operands; k++)
			touch_all(live, instr->operands[k], to);
	}
}

static void mark_ends(struct ts_live *live)
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
			live->sets[ts_live_find(live, v)].is_parameter = true;
	}
	touch_all(live, entry->root, last);
	for (uint32_t v = live->first[entry->root]; v < live->first[entry->root + 1]; v++)
		live->sets[ts_live_find(live, v)].is_output = true;
}

static enum ts_buffer_kind kind_of(const struct ts_live_set *set)
{
	if (set->is_parameter)
		return set->is_output ? TS_BUFFER_DONATED : TS_BUFFER_PARAMETER;
	if (set->is_output)
		return TS_BUFFER_OUTPUT;
	return set->is_constant ? TS_BUFFER_CONSTANT : TS_BUFFER_TEMP;
}

static bool keep_set(struct ts_live *live, const struct ts_live_set *set)
{
	struct program *program = live->program;
	uint32_t instr = live->owner[set->maker];
	bool always =
		set->is_constant || set->is_output; /* a run takes its results' memory first */

	if (!ts_grow(&program->buffers, &program->cap_buffers, program->nr_buffers + 1,
		     sizeof(*program->buffers)))
		return false;
	program->buffers[program->nr_buffers++] = (struct buffer){
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

static bool keep_sets(struct ts_live *live)
{
	for (uint32_t v = 0; v < live->nr_values; v++) {
		const struct ts_live_set *set = &live->sets[v];

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
	if (shape->dtype == TS_TUPLE || (shape->has_layout && shape->memory_space != TS_SPACE_HBM))
		return sum;
	return ts_i64_add(sum, ts_shape_bytes(shape));
}

static void add_sums(struct ts_live *live)
{
	struct program *program = live->program;
	const struct ts_hlo_comp *entry = &live->module->comps[live->module->entry];

	for (uint32_t i = 0; i < entry->nr_params; i++)
		if (entry->params[i] != TS_NONE)
			program->sum.argument_bytes =
				ts_i64_add(program->sum.argument_bytes,
					   space_bytes(&ts_live_at(live, entry->params[i])->shape));
	program->sum.output_bytes = space_bytes(&ts_live_at(live, entry->root)->shape);
	for (size_t i = 0; i < program->nr_buffers; i++) {
		const struct buffer *buffer = &program->buffers[i];

		if (buffer->space != TS_SPACE_HBM)
			continue;
		if (buffer->kind == TS_BUFFER_CONSTANT)
			program->sum.constant_bytes =
				ts_i64_add(program->sum.constant_bytes, buffer->nr_bytes);
		if (buffer->kind == TS_BUFFER_DONATED)
			program->sum.alias_bytes =
				ts_i64_add(program->sum.alias_bytes, buffer->nr_bytes);
	}
}

static bool make_values(struct ts_live *live)
{
	const struct ts_hlo_module *module = live->module;
	size_t nr = 0;

	live->first = calloc((size_t)module->nr_instrs + 1, sizeof(*live->first));
	live->walked = calloc((size_t)module->nr_comps + 1, sizeof(*live->walked));
	live->program->order = calloc((size_t)module->nr_instrs + 1, sizeof(*live->program->order));
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

static bool simulate(struct ts_live *live)
{
	const struct ts_hlo_module *module = live->module;

	if (!make_values(live))
		return false;
	ts_live_join(live);
	memset(live->walked, 0, module->nr_comps * sizeof(*live->walked));
	walk_comp(live, module->entry, true);
	mark_ends(live);
	stretch_pieces(live);
	live->program->sum.nr_positions = live->next;
	if (!keep_sets(live))
		return false;
	add_sums(live);
	if (!ts_capacity_find_peaks(live->program))
		return false;
	live->program->sum.reserved_bytes = live->program->sum.peak_bytes;
	return true;
}

bool ts_capacity_simulate(struct program *program)
{
	struct ts_live live = { .module = program->sum.module, .program = program };
	bool good;

	if (program->sum.module->nr_comps == 0)
		return true;
	good = simulate(&live);
	free(live.first);
	free(live.owner);
	free(live.parent);
	free(live.sets);
	free(live.walked);
	return good;
}
