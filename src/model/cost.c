/* SPDX-License-Identifier: MIT */
/*
 * Costs of ops and modules. The counting rules are those of XLA's HloCostAnalysis (openxla/xla,
 * xla/service/hlo_cost_analysis.cc), read as facts and held against what libtpu reports.
 *
 * Where this means something else: docs/analyses/cost-model.md. Left out: the pointer tables of tuples (32 to
 * 1024 bytes a tuple, by chip).
 */
#include "model/cost.h"

#include "base/check.h"
#include "model/cost_parts.h"

int64_t ts_cost_size(const struct ts_shape *shape)
{
	TS_ASSERT_HOT(shape);
	return shape->has_layout ? ts_shape_bytes(shape) : 0;
}

const char *ts_memory_name(enum ts_memory memory)
{
	static const char *const names[] = { "HBM", "VMEM", "CMEM", "host", "other" };

	return names[memory];
}

enum ts_memory ts_shape_memory(const struct ts_shape *shape)
{
	TS_ASSERT(shape);
	switch (shape->memory_space) {
	case TS_SPACE_HBM:  return TS_MEMORY_HBM;
	case TS_SPACE_VMEM: return TS_MEMORY_VMEM;
	case TS_SPACE_HOST: return TS_MEMORY_HOST;
	default:	    return TS_MEMORY_OTHER;
	}
}

static void cost_add_bytes(struct ts_cost *cost, int64_t *way, enum ts_memory memory, int64_t bytes)
{
	cost->bytes_accessed = ts_i64_add(cost->bytes_accessed, bytes);
	way[memory] = ts_i64_add(way[memory], bytes);
	if (memory == TS_MEMORY_HBM)
		cost->hbm_bytes = ts_i64_add(cost->hbm_bytes, bytes);
}

void ts_cost_read_bytes(struct ts_cost *cost, const struct ts_shape *shape, int64_t bytes)
{
	TS_ASSERT(cost && shape);
	cost_add_bytes(cost, cost->read_bytes, ts_shape_memory(shape), bytes);
}

void ts_cost_write_bytes(struct ts_cost *cost, const struct ts_shape *shape, int64_t bytes)
{
	TS_ASSERT(cost && shape);
	cost_add_bytes(cost, cost->written_bytes, ts_shape_memory(shape), bytes);
}

static void add_shape(struct ts_cost *cost, int64_t *way, const struct ts_shape *shape)
{
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		add_shape(cost, way, &shape->parts[i]);
	if (shape->nr_parts == 0)
		cost_add_bytes(cost, way, ts_shape_memory(shape), ts_cost_size(shape));
}

void ts_cost_read(struct ts_cost *cost, const struct ts_shape *shape)
{
	TS_ASSERT(cost && shape);
	add_shape(cost, cost->read_bytes, shape);
}

void ts_cost_write(struct ts_cost *cost, const struct ts_shape *shape)
{
	TS_ASSERT(cost && shape);
	add_shape(cost, cost->written_bytes, shape);
}

struct ts_cost ts_cost_comp(const struct ts_cost_walk *walk, uint32_t comp)
{
	const struct ts_hlo_comp *called = &walk->module->comps[comp];
	struct ts_cost_walk inside = *walk;
	struct ts_cost sum = { .flops = 0 };

	TS_ASSERT(walk);
	if (++inside.depth > TS_COST_MAX_DEPTH) {
		sum.has_unknown = true;
		return sum;
	}
	for (uint32_t i = 0; i < called->nr_instrs; i++)
		ts_cost_instr(&inside, &walk->module->instrs[called->first_instr + i], &sum);
	return sum;
}

/* A sum that holds nothing but the unknown is unknown. */
static struct ts_cost cost_settle(struct ts_cost cost)
{
	const int64_t none = TS_HLO_UNKNOWN;

	if (cost.has_unknown && cost.flops == 0 && cost.transcendentals == 0 &&
	    cost.bytes_accessed == 0)
		return (struct ts_cost){ .flops = none,
					 .transcendentals = none,
					 .bytes_accessed = none,
					 .hbm_bytes = none,
					 .has_unknown = true };
	return cost;
}

struct ts_cost ts_hlo_cost(const struct ts_hlo_module *module, uint32_t instr)
{
	const struct ts_cost_walk walk = { .module = module };
	struct ts_cost cost = { .flops = 0 };

	TS_ASSERT(module);
	TS_ASSERT(instr < module->nr_instrs);
	ts_cost_instr(&walk, &module->instrs[instr], &cost);
	return cost_settle(cost);
}

struct ts_cost ts_hlo_module_cost(const struct ts_hlo_module *module)
{
	const struct ts_cost_walk walk = { .module = module, .whole = true };

	TS_ASSERT(module);
	if (module->nr_comps == 0)
		return (struct ts_cost){ .flops = 0 };
	return cost_settle(ts_cost_comp(&walk, module->entry));
}

struct ts_module_bytes ts_hlo_module_bytes(const struct ts_hlo_module *module)
{
	struct ts_module_bytes sum = { .parameter_bytes = 0 };
	const struct ts_hlo_comp *entry;
	const struct ts_shape *root;

	TS_ASSERT(module);
	if (module->nr_comps == 0)
		return sum;
	entry = &module->comps[module->entry];
	root = &module->instrs[entry->root].shape;
	for (uint32_t i = 0; i < entry->nr_params; i++) {
		const struct ts_shape *shape;

		if (entry->params[i] == TS_NONE)
			continue;
		shape = &module->instrs[entry->params[i]].shape;
		sum.parameter_bytes = ts_i64_add(sum.parameter_bytes, ts_shape_bytes(shape));
		sum.parameter_logical_bytes =
			ts_i64_add(sum.parameter_logical_bytes, ts_shape_logical_bytes(shape));
	}
	sum.output_bytes = ts_shape_bytes(root);
	sum.output_logical_bytes = ts_shape_logical_bytes(root);
	return sum;
}

static void add_padding(struct ts_padding *sum, const struct ts_shape *shape)
{
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		add_padding(sum, &shape->parts[i]);
	if (shape->nr_parts > 0 || !shape->has_layout || shape->memory_space != TS_SPACE_HBM)
		return;
	sum->logical_bytes = ts_i64_add(sum->logical_bytes, ts_shape_logical_bytes(shape));
	sum->allocated_bytes = ts_i64_add(sum->allocated_bytes, ts_shape_bytes(shape));
}

/* How an op touches the arrays it names. */
enum access { ACCESS_ALL, ACCESS_NONE, ACCESS_OPERANDS, ACCESS_RESULT };

static enum access access_of(enum ts_opcode opcode)
{
	/* They name arrays that others read and write, or hold other ops that do. */
	if (TS_OPCODE_IN(opcode, TS_OPCODE_PARAMETER, TS_OPCODE_CONSTANT, TS_OPCODE_BITCAST,
			 TS_OPCODE_TUPLE, TS_OPCODE_GET_TUPLE_ELEMENT, TS_OPCODE_AFTER_ALL,
			 TS_OPCODE_ADD_DEPENDENCY, TS_OPCODE_OPT_BARRIER, TS_OPCODE_DOMAIN,
			 TS_OPCODE_WHILE, TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL))
		return ACCESS_NONE;
	if (ts_opcode_phase(opcode) == TS_PHASE_START) /* its result holds its operand again */
		return ACCESS_OPERANDS;
	if (ts_opcode_phase(opcode) == TS_PHASE_DONE)
		return ACCESS_RESULT;
	return opcode == TS_OPCODE_ASYNC_UPDATE ? ACCESS_NONE : ACCESS_ALL;
}

struct ts_padding ts_hlo_padding(const struct ts_hlo_module *module, uint32_t instr)
{
	const struct ts_hlo_instr *op = &module->instrs[instr];
	enum access access = access_of(op->opcode);
	struct ts_padding sum = { 0, 0 };

	TS_ASSERT(module);
	TS_ASSERT(instr < module->nr_instrs);
	if (access == ACCESS_ALL || access == ACCESS_OPERANDS)
		for (uint32_t i = 0; i < op->nr_operands; i++)
			add_padding(&sum, &module->instrs[op->operands[i]].shape);
	if (access == ACCESS_ALL || access == ACCESS_RESULT)
		add_padding(&sum, &op->shape);
	return sum;
}
