/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a fusion: what its parameters are really read of, and its outputs. What lies between
 * never leaves the core. Rules: openxla/xla, HloCostAnalysis::HandleFusion and
 * FusionParameterReadBytes.
 */
#include "model/cost_parts.h"

#include "base/check.h"

/* An array inside a fusion (a parameter, or what a fusion in there makes), and what is read of it. */
struct reading {
	const struct ts_cost_walk *walk;
	uint32_t array;
	int64_t bytes;
	bool whole; /* one op reads all of it: further reads of all are shared */
};

static int64_t read_bytes(const struct ts_cost_walk *walk, uint32_t param, unsigned depth);

static void cost_fusion_add_all(struct reading *reading, int64_t bytes)
{
	if (!reading->whole)
		reading->bytes = ts_i64_add(reading->bytes, bytes);
	reading->whole = true;
}

/* Does USER take a part, or write over one in place? */
static bool read_part(struct reading *reading, const struct ts_hlo_instr *user)
{
	bool is_first = user->operands[0] == reading->array;
	bool is_slice = user->opcode == TS_OPCODE_SLICE ||
			(user->opcode == TS_OPCODE_DYNAMIC_SLICE && is_first);

	if (is_slice)
		reading->bytes = ts_i64_add(reading->bytes, ts_cost_size(&user->shape));
	return is_slice || (user->opcode == TS_OPCODE_DYNAMIC_UPDATE_SLICE && is_first);
}

static bool is_new_user(const struct ts_hlo_instr *instr, uint32_t i)
{
	return i == 0 || instr->users[i] != instr->users[i - 1]; /* one user, twice its operand */
}

/* A fusion that hands its parameter on: who slices the result, slices the parameter. */
static bool cost_fusion_hands_on(const struct ts_cost_walk *walk, const struct ts_hlo_instr *fusion,
				 uint32_t param)
{
	const struct ts_hlo_instr *root =
		&walk->module->instrs[walk->module->comps[fusion->called[0]].root];

	return root->nr_operands == 0 || root->operands[0] == param;
}

/* What a fusion in here reads of PARAM, one of its own, for those who use its result. */
static int64_t read_through(const struct ts_cost_walk *walk, const struct ts_hlo_instr *fusion,
			    uint32_t param, unsigned depth)
{
	struct reading reading = { .walk = walk,
				   .array = (uint32_t)(fusion - walk->module->instrs) };
	bool by_part = cost_fusion_hands_on(walk, fusion, param);

	if (fusion->nr_users == 0 && walk->with_roots)
		return read_bytes(walk, param, depth + 1);
	for (uint32_t i = 0; i < fusion->nr_users; i++) {
		const struct ts_hlo_instr *user = &walk->module->instrs[fusion->users[i]];

		if (is_new_user(fusion, i) && !(by_part && read_part(&reading, user)) &&
		    !reading.whole)
			cost_fusion_add_all(&reading, read_bytes(walk, param, depth + 1));
	}
	return reading.bytes;
}

/* USER is a fusion inside the fusion: what it reads of each parameter that stands for ours. */
static int64_t read_nested(const struct ts_cost_walk *walk, const struct ts_hlo_instr *user,
			   uint32_t param, unsigned depth)
{
	const struct ts_hlo_comp *comp;
	int64_t bytes = 0;

	if (user->nr_called == 0 || depth > TS_COST_MAX_DEPTH)
		return 0;
	comp = &walk->module->comps[user->called[0]];
	for (uint32_t i = 0; i < user->nr_operands && i < comp->nr_params; i++)
		if (user->operands[i] == param && comp->params[i] != TS_NONE)
			bytes = ts_i64_add(bytes, read_through(walk, user, comp->params[i], depth));
	return bytes;
}

static void read_by(struct reading *reading, const struct ts_hlo_instr *user, unsigned depth)
{
	int64_t all = ts_cost_size(&reading->walk->module->instrs[reading->array].shape);

	if (user->opcode == TS_OPCODE_FUSION)
		reading->bytes = ts_i64_add(
			reading->bytes, read_nested(reading->walk, user, reading->array, depth));
	else if (user->opcode == TS_OPCODE_BROADCAST || user->opcode == TS_OPCODE_RESHAPE)
		reading->bytes = ts_i64_add(reading->bytes, all);
	else if (!read_part(reading, user))
		cost_fusion_add_all(reading, all);
}

static int64_t read_bytes(const struct ts_cost_walk *walk, uint32_t param, unsigned depth)
{
	const struct ts_hlo_instr *self = &walk->module->instrs[param];
	struct reading reading = { .walk = walk, .array = param };

	for (uint32_t i = 0; i < self->nr_users; i++)
		if (is_new_user(self, i))
			read_by(&reading, &walk->module->instrs[self->users[i]], depth);
	return reading.bytes;
}

/* A tuple is read by the elements taken out of it, and theirs. */
static void add_param(const struct ts_cost_walk *walk, uint32_t param, unsigned depth,
		      struct ts_cost *cost)
{
	const struct ts_hlo_instr *self = &walk->module->instrs[param];

	if (self->shape.dtype != TS_TUPLE) {
		ts_cost_read_bytes(cost, &self->shape, read_bytes(walk, param, depth));
		return;
	}
	for (uint32_t i = 0; i < self->nr_users && depth <= TS_COST_MAX_DEPTH; i++)
		if (walk->module->instrs[self->users[i]].opcode == TS_OPCODE_GET_TUPLE_ELEMENT)
			add_param(walk, self->users[i], depth + 1, cost);
}

/* An update in place writes the update alone. */
static void add_output(const struct ts_cost_walk *walk, const struct ts_hlo_instr *from,
		       const struct ts_shape *shape, struct ts_cost *cost)
{
	const struct ts_hlo_instr *update = NULL;

	if (from && from->opcode == TS_OPCODE_DYNAMIC_UPDATE_SLICE)
		update = ts_operand(walk, from, 1);
	if (update)
		ts_cost_write_bytes(cost, shape, ts_cost_size(&update->shape));
	else
		ts_cost_write(cost, shape);
}

static void add_outputs(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			const struct ts_hlo_instr *root, struct ts_cost *cost)
{
	bool is_tuple = root->opcode == TS_OPCODE_TUPLE;

	if (instr->shape.nr_parts == 0) {
		add_output(walk, root, &instr->shape, cost);
		return;
	}
	for (uint32_t i = 0; i < instr->shape.nr_parts; i++)
		add_output(walk, is_tuple ? ts_operand(walk, root, i) : NULL,
			   &instr->shape.parts[i], cost);
}

/* A custom fusion made round a gather or scatter is that gather or scatter. */
static const struct ts_hlo_instr *core_of(const struct ts_cost_walk *walk,
					  const struct ts_hlo_instr *instr,
					  const struct ts_hlo_comp *comp)
{
	if (instr->fusion_kind != TS_FUSION_CUSTOM)
		return NULL;
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		const struct ts_hlo_instr *inside = &walk->module->instrs[comp->first_instr + i];

		if (inside->opcode == TS_OPCODE_GATHER || inside->opcode == TS_OPCODE_SCATTER)
			return inside;
	}
	return NULL;
}

static void add_constants(const struct ts_cost_walk *walk, const struct ts_hlo_comp *comp,
			  struct ts_cost *cost)
{
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		const struct ts_hlo_instr *inside = &walk->module->instrs[comp->first_instr + i];

		if (inside->opcode == TS_OPCODE_CONSTANT && ts_shape_elements(&inside->shape) > 1)
			ts_cost_read(cost, &inside->shape);
	}
}

void ts_cost_fusion(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		    struct ts_cost *cost)
{
	const struct ts_hlo_comp *comp;
	const struct ts_hlo_instr *core;
	struct ts_cost inside;

	TS_ASSERT(walk && instr && cost);
	if (instr->nr_called == 0) {
		cost->has_unknown = true;
		return;
	}
	comp = &walk->module->comps[instr->called[0]];
	core = core_of(walk, instr, comp);
	if (core) {
		struct ts_cost_walk inside_walk = *walk;

		inside_walk.fusion = instr;
		ts_cost_instr(&inside_walk, core, cost);
		return;
	}
	inside = ts_cost_comp(walk, instr->called[0]);
	cost->flops = ts_i64_add(cost->flops, inside.flops);
	cost->transcendentals = ts_i64_add(cost->transcendentals, inside.transcendentals);
	cost->has_unknown |= inside.has_unknown;
	add_outputs(walk, instr, &walk->module->instrs[comp->root], cost);
	add_constants(walk, comp, cost);
	for (uint32_t i = 0; i < comp->nr_params; i++)
		if (comp->params[i] != TS_NONE)
			add_param(walk, comp->params[i], 0, cost);
}

int64_t ts_hlo_read_bytes(const struct ts_hlo_module *module, uint32_t instr, uint32_t operand)
{
	const struct ts_cost_walk walk = { .module = module, .with_roots = true };
	const struct ts_hlo_instr *op = &module->instrs[instr];
	const struct ts_hlo_comp *comp;
	int64_t all;

	TS_ASSERT(module);
	TS_ASSERT(instr < module->nr_instrs);
	if (operand >= op->nr_operands)
		return 0;
	all = ts_shape_bytes(&module->instrs[op->operands[operand]].shape);
	if (operand == 0 &&
	    TS_OPCODE_IN(op->opcode, TS_OPCODE_SLICE, TS_OPCODE_DYNAMIC_SLICE, TS_OPCODE_GATHER))
		return TS_MIN(ts_shape_bytes(&op->shape), all);
	if (operand == 0 &&
	    (op->opcode == TS_OPCODE_DYNAMIC_UPDATE_SLICE || op->opcode == TS_OPCODE_SCATTER))
		return 0;
	if (op->opcode != TS_OPCODE_FUSION || op->nr_called == 0)
		return all;
	comp = &module->comps[op->called[0]];
	if (operand >= comp->nr_params || comp->params[operand] == TS_NONE)
		return 0;
	return TS_MIN(read_bytes(&walk, comp->params[operand], 0), all);
}
