/* SPDX-License-Identifier: MIT */
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
#include "analysis/capacity/capacity_ranges.h"

static void capacity_ranges_touch(struct ranges *ranges, uint32_t value, uint32_t position)
{
	struct range_set *set = &ranges->sets[find_root(ranges, value)];
	struct span *span = &ranges->spans[find_same(ranges, value)];

	set->from = set->used ? TS_MIN(set->from, position) : position;
	set->to = set->used ? TS_MAX(set->to, position) : position;
	set->used = true;
	span->from = span->used ? TS_MIN(span->from, position) : position;
	span->to = span->used ? TS_MAX(span->to, position) : position;
	span->used = true;
}

static void touch_all(struct ranges *ranges, uint32_t instr, uint32_t position)
{
	for (uint32_t v = ranges->first[instr]; v < ranges->first[instr + 1]; v++)
		capacity_ranges_touch(ranges, v, position);
}

static bool is_concat(const struct ts_hlo_instr *instr)
{
	return ts_bytes_is(instr->custom_call_target, "ConcatBitcast");
}

/* A whole made of pieces has none of its own. The set of a value, with the size of the largest of its names and the first that makes it. */
static void capacity_ranges_describe(struct ranges *ranges, uint32_t value,
				     const struct ts_shape *shape)
{
	const struct ts_hlo_instr *instr = instr_at(ranges, ranges->owner[value]);
	struct range_set *set = &ranges->sets[find_root(ranges, value)];
	int64_t nr_bytes = ts_shape_bytes(shape);

	if (set->maker == TS_NONE ||
	    (ts_range_is_name(instr_at(ranges, ranges->owner[set->maker])) &&
	     instr_at(ranges, ranges->owner[set->maker])->opcode != TS_OPCODE_PARAMETER &&
	     (!ts_range_is_name(instr) || instr->opcode == TS_OPCODE_PARAMETER))) {
		set->maker = value;
		set->space = shape->has_layout ? shape->memory_space : TS_SPACE_HBM;
	}
	if (!is_concat(instr_at(ranges, ranges->owner[find_same(ranges, value)])))
		set->nr_bytes = TS_MAX(set->nr_bytes, nr_bytes);
	set->is_constant |= instr->opcode == TS_OPCODE_CONSTANT;
}

static uint32_t describe_parts(struct ranges *ranges, uint32_t value, const struct ts_shape *shape)
{
	if (shape->dtype != TS_TUPLE) {
		capacity_ranges_describe(ranges, value, shape);
		return value + 1;
	}
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		value = describe_parts(ranges, value, &shape->parts[i]);
	return value;
}

/* What a loop begins with is its body's as soon as that begins: where, from position AT on, its parameter stands. */
static uint32_t body_begin(const struct ranges *ranges, const struct ts_hlo_instr *loop,
			   uint32_t at)
{
	const struct ts_hlo_comp *body;

	if (loop->nr_called == 0)
		return ranges->next;
	body = &ranges->module->comps[loop->called[0]];
	for (; at < ranges->next; at++)
		if (body->nr_params > 0 && ranges->program->order[at] == body->params[0])
			return at;
	return ranges->next;
}

static void capacity_ranges_walk_comp(struct ranges *ranges, uint32_t index, bool is_entry)
{
	const struct ts_hlo_comp *comp = &ranges->module->comps[index];

	ranges->walked[index] = true;
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t here = comp->first_instr + i;
		const struct ts_hlo_instr *instr = instr_at(ranges, here);
		uint32_t before = ranges->next;

		for (uint32_t k = 0; ts_range_runs_callees(instr) && k < instr->nr_called; k++)
			if (!ranges->walked[instr->called[k]])
				capacity_ranges_walk_comp(ranges, instr->called[k], false);
		describe_parts(ranges, ranges->first[here], &instr->shape);
		ranges->program->order[ranges->next] = here;
		for (uint32_t k = 0; !ts_range_is_name(instr) && k < instr->nr_operands; k++)
			touch_all(ranges, instr->operands[k],
				  instr->opcode == TS_OPCODE_WHILE
					  ? body_begin(ranges, instr, before)
					  : ranges->next);
		if (!ts_range_is_name(instr) || (!is_entry && instr->opcode == TS_OPCODE_PARAMETER))
			touch_all(ranges, here, ranges->next);
		ranges->next++;
	}
	if (!is_entry)
		touch_all(ranges, comp->root, ranges->next - 1);
}

/* Pieces live as long as their whole; where a loop carries it, its place has been counted. */
static void stretch_pieces(struct ranges *ranges)
{
	for (uint32_t p = ranges->next; p-- > 0;) {
		uint32_t index = ranges->program->order[p];
		const struct ts_hlo_instr *instr = instr_at(ranges, index);
		const struct range_set *set;

		if (!is_concat(instr) || nr_leaves(ranges, index) != 1)
			continue;
		set = &ranges->sets[find_root(ranges, ranges->first[index])];
		if (set->nr_bytes > 0)
			continue;
		for (uint32_t k = 0; k < instr->nr_operands; k++)
			touch_all(ranges, instr->operands[k], set->to);
	}
}

/* An argument stays, but one that is donated is gone behind its last use. */
static void keep_arguments(struct ranges *ranges, const struct ts_hlo_comp *entry, uint32_t last)
{
	for (uint32_t i = 0; i < entry->nr_params; i++) {
		uint32_t param = entry->params[i];

		if (param == TS_NONE)
			continue;
		for (uint32_t v = ranges->first[param]; v < ranges->first[param + 1]; v++)
			if (!ranges->sets[find_root(ranges, v)].is_output)
				capacity_ranges_touch(ranges, v, last);
	}
}

static void mark_ends(struct ranges *ranges)
{
	const struct ts_hlo_comp *entry = &ranges->module->comps[ranges->module->entry];
	uint32_t last = ranges->next > 0 ? ranges->next - 1 : 0;

	for (uint32_t i = 0; i < entry->nr_params; i++) {
		uint32_t param = entry->params[i];

		if (param == TS_NONE)
			continue;
		touch_all(ranges, param, 0);
		for (uint32_t v = ranges->first[param]; v < ranges->first[param + 1]; v++)
			ranges->sets[find_root(ranges, v)].is_parameter = true;
	}
	touch_all(ranges, entry->root, last);
	for (uint32_t v = ranges->first[entry->root]; v < ranges->first[entry->root + 1]; v++)
		ranges->sets[find_root(ranges, v)].is_output = true;
	keep_arguments(ranges, entry, last);
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

static void capacity_ranges_add_sums(struct ranges *ranges)
{
	struct program *program = ranges->program;
	const struct ts_hlo_comp *entry = &ranges->module->comps[ranges->module->entry];

	for (uint32_t i = 0; i < entry->nr_params; i++)
		if (entry->params[i] != TS_NONE)
			program->sum.argument_bytes =
				ts_i64_add(program->sum.argument_bytes,
					   space_bytes(&instr_at(ranges, entry->params[i])->shape));
	program->sum.output_bytes = space_bytes(&instr_at(ranges, entry->root)->shape);
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

static enum ts_status make_values(struct ranges *ranges, struct ts_error *err)
{
	const struct ts_hlo_module *module = ranges->module;
	size_t nr = 0;

	ranges->first = calloc((size_t)module->nr_instrs + 1, sizeof(*ranges->first));
	ranges->walked = calloc((size_t)module->nr_comps + 1, sizeof(*ranges->walked));
	ranges->program->order =
		calloc((size_t)module->nr_instrs + 1, sizeof(*ranges->program->order));
	ranges->elementwise = calloc((size_t)module->nr_instrs + 1, sizeof(*ranges->elementwise));
	if (!ranges->first || !ranges->walked || !ranges->program->order || !ranges->elementwise)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		ranges->first[i] = (uint32_t)nr;
		nr += ts_shape_leaves(&module->instrs[i].shape);
	}
	ranges->first[module->nr_instrs] = (uint32_t)nr;
	ranges->nr_values = (uint32_t)nr;
	ranges->owner = malloc((nr + 1) * sizeof(*ranges->owner));
	ranges->parent = malloc((nr + 1) * sizeof(*ranges->parent));
	ranges->sets = calloc(nr + 1, sizeof(*ranges->sets));
	ranges->same = malloc((nr + 1) * sizeof(*ranges->same));
	ranges->spans = calloc(nr + 1, sizeof(*ranges->spans));
	if (!ranges->owner || !ranges->parent || !ranges->sets || !ranges->same || !ranges->spans)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		for (uint32_t v = ranges->first[i]; v < ranges->first[i + 1]; v++)
			ranges->owner[v] = i;
	for (uint32_t v = 0; v < nr; v++) {
		ranges->parent[v] = ranges->same[v] = v;
		ranges->sets[v].maker = TS_NONE;
	}
	return TS_OK;
}

static enum ts_status simulate(struct ranges *ranges, struct ts_error *err)
{
	const struct ts_hlo_module *module = ranges->module;
	enum ts_status st = make_values(ranges, err);

	if (st)
		return st;
	ts_ranges_join(ranges);
	memset(ranges->walked, 0, module->nr_comps * sizeof(*ranges->walked));
	capacity_ranges_walk_comp(ranges, module->entry, true);
	mark_ends(ranges);
	stretch_pieces(ranges);
	ts_ranges_mark_elementwise(ranges);
	st = ranges->reuses ? ts_ranges_reuse(ranges, err) : TS_OK;
	if (st)
		return st;
	ts_ranges_share(ranges);
	ranges->program->sum.nr_positions = ranges->next;
	st = ts_ranges_keep(ranges, err);
	if (st)
		return st;
	capacity_ranges_add_sums(ranges);
	st = ts_capacity_find_peaks(ranges->program, err);
	if (st)
		return st;
	ranges->program->sum.reserved_bytes = ranges->program->sum.peak_bytes;
	return TS_OK;
}

enum ts_status ts_capacity_simulate(struct program *program, bool reuses, struct ts_error *err)
{
	struct ranges ranges = {
		.module = program->sum.module,
		.program = program,
		.reuses = reuses,
	};
	enum ts_status st;

	if (program->sum.module->nr_comps == 0)
		return TS_OK;
	st = simulate(&ranges, err);
	free(ranges.first);
	free(ranges.owner);
	free(ranges.parent);
	free(ranges.sets);
	free(ranges.same);
	free(ranges.spans);
	free(ranges.walked);
	free(ranges.elementwise);
	return st;
}
