/* SPDX-License-Identifier: MIT */
/*
 * HloProto and HloModuleProto (openxla/xla, xla/service/hlo.proto) -> the flat module of
 * model/hlo.h. The bytes are first looked over with the cursor (scan.c), then protobuf-c unpacks
 * one computation at a time into memory that is given back at once.
 *
 * Left out: literals, shardings of tuples, control dependencies.
 */
#include "read/hlo.h"

#include "base/check.h"
#include "read/hlo/parts.h"

static void *temp_alloc(void *data, size_t n)
{
	struct ts_hlo_reader *reader = data;
	void *p = ts_arena_alloc(&reader->temp, n);

	if (!p)
		reader->nomem = true;
	return p;
}

static void temp_free(void *data, void *p)
{
}

/* What went wrong in unpacking: the bytes, unless memory ran out. */
static enum ts_status bad_message(struct ts_hlo_reader *reader, const char *what,
				  struct ts_bytes bytes)
{
	if (reader->nomem)
		return ts_fail_nomem(reader->err);
	return ts_fail(reader->err, TS_FORMAT, "%.*s: compiled module damaged: %s at byte %zu",
		       TS_ARG(reader->file), what, (size_t)(bytes.p - reader->module->proto.p));
}

/* The ids of a computation's instructions -> their places; the order is that of the schedule. */
struct places {
	struct ts_map ids; /* id -> place in the proto */
	uint32_t *at;	   /* place in the proto -> place in the module, less first_instr */
	bool scheduled;
};

static enum ts_status places_init(struct ts_hlo_reader *reader, struct places *places,
				  const Tpusight__HloComputation *from)
{
	size_t n = from->n_instructions;

	*places = (struct places){ .scheduled = false };
	places->at = ts_arena_array(&reader->temp, n, sizeof(*places->at));
	if (!places->at)
		return ts_fail_nomem(reader->err);
	for (uint32_t i = 0; i < n; i++) {
		places->at[i] = i;
		if (!ts_map_set(&places->ids, (uint64_t)from->instructions[i]->id, i))
			return ts_fail_nomem(reader->err);
	}
	return TS_OK;
}

/* Takes the order of SEQUENCE if it names each instruction once; else the proto's order stays. */
static enum ts_status places_schedule(struct ts_hlo_reader *reader, struct places *places,
				      const Tpusight__InstructionSequence *sequence, size_t n)
{
	uint32_t *order;

	if (sequence->n_instruction_ids != n)
		return TS_OK;
	order = ts_arena_alloc(&reader->temp, n * sizeof(*order));
	if (!order)
		return ts_fail_nomem(reader->err);
	memset(order, 0xff, n * sizeof(*order)); /* all TS_NONE */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = ts_map_find(&places->ids, (uint64_t)sequence->instruction_ids[i]);

		if (place == TS_NONE || order[place] != TS_NONE)
			return TS_OK;
		order[place] = i;
	}
	places->at = order;
	places->scheduled = true;
	return TS_OK;
}

/* The sequence of the computation with this id; empty when the schedule has none. */
static struct ts_bytes hlo_sequence_of(const struct ts_hlo_scan *scan, int64_t id)
{
	uint32_t at = ts_map_find(&scan->sequence_ids, (uint64_t)id);

	return at == TS_NONE ? (struct ts_bytes){ NULL, 0 } : scan->sequences[at];
}

static enum ts_status read_order(struct ts_hlo_reader *reader, struct places *places,
				 const Tpusight__HloComputation *from)
{
	struct ts_bytes bytes = { NULL, 0 };
	Tpusight__InstructionSequence *sequence;
	enum ts_status st = places_init(reader, places, from);

	if (st)
		return st;
	if (!from->is_fusion_computation)
		bytes = hlo_sequence_of(&reader->scan, from->id);
	if (bytes.n == 0)
		return TS_OK;
	sequence = tpusight__instruction_sequence__unpack(&reader->alloc, bytes.n, bytes.p);
	if (!sequence)
		return bad_message(reader, "a schedule", bytes);
	return places_schedule(reader, places, sequence, from->n_instructions);
}

/*
 * Operands stand before their user in the proto. From the first one that does not, or that is
 * unknown, all are left out: each operand must stand at its own position.
 */
static void set_operands(struct ts_hlo_reader *reader, const struct places *places, uint32_t place,
			 uint32_t first, const Tpusight__HloInstruction *from,
			 struct ts_hlo_instr *to)
{
	uint32_t *operands;

	if (from->n_operand_ids == 0)
		return;
	operands = ts_hlo_array(reader, from->n_operand_ids, sizeof(*operands));
	if (!operands)
		return;
	to->operands = operands;
	for (size_t i = 0; i < from->n_operand_ids; i++) {
		uint32_t operand = ts_map_find(&places->ids, (uint64_t)from->operand_ids[i]);

		if (operand == TS_NONE || operand >= place)
			return;
		operands[to->nr_operands++] = first + places->at[operand];
	}
}

/* Called computations stand before their caller; the same rule. */
static void set_called(struct ts_hlo_reader *reader, uint32_t comp,
		       const Tpusight__HloInstruction *from, struct ts_hlo_instr *to)
{
	uint32_t *called;

	if (from->n_called_computation_ids == 0)
		return;
	called = ts_hlo_array(reader, from->n_called_computation_ids, sizeof(*called));
	if (!called)
		return;
	to->called = called;
	for (size_t i = 0; i < from->n_called_computation_ids; i++) {
		uint32_t callee =
			ts_map_find(&reader->comp_ids, (uint64_t)from->called_computation_ids[i]);

		if (callee == TS_NONE || callee >= comp)
			return;
		called[to->nr_called++] = callee;
	}
}

static void convert_comp(struct ts_hlo_reader *reader, uint32_t index, const struct places *places,
			 const Tpusight__HloComputation *from)
{
	struct ts_hlo_comp *comp = &reader->module->comps[index];
	uint32_t root = ts_map_find(&places->ids, (uint64_t)from->root_id);

	comp->name = ts_hlo_text(reader, from->name);
	comp->id = from->id;
	comp->is_fusion = from->is_fusion_computation;
	comp->first_instr = reader->module->nr_instrs;
	comp->nr_instrs = (uint32_t)from->n_instructions;
	if (root == TS_NONE)
		root = comp->nr_instrs - 1;
	comp->root = comp->first_instr + places->at[root];
	for (uint32_t i = 0; i < comp->nr_instrs && !reader->nomem; i++) {
		struct ts_hlo_instr *to =
			&reader->module->instrs[comp->first_instr + places->at[i]];

		to->computation = index;
		ts_hlo_convert_instr(reader, from->instructions[i], to);
		set_operands(reader, places, i, comp->first_instr, from->instructions[i], to);
		set_called(reader, index, from->instructions[i], to);
	}
	reader->module->nr_instrs += comp->nr_instrs;
}

static enum ts_status read_comp(struct ts_hlo_reader *reader, uint32_t index)
{
	struct ts_bytes bytes = reader->scan.comps[index];
	struct places places = { .at = NULL };
	Tpusight__HloComputation *from;
	enum ts_status st;

	from = tpusight__hlo_computation__unpack(&reader->alloc, bytes.n, bytes.p);
	if (!from)
		return bad_message(reader, "a computation", bytes);
	if (from->n_instructions == 0 ||
	    from->n_instructions > reader->scan.nr_instrs - reader->module->nr_instrs)
		return bad_message(reader, "a computation without instructions", bytes);
	st = read_order(reader, &places, from);
	if (!st) {
		convert_comp(reader, index, &places, from);
		if (reader->scan.entry_id == from->id)
			reader->module->is_scheduled = places.scheduled;
		if (!ts_map_set(&reader->comp_ids, (uint64_t)from->id, index) || reader->nomem)
			st = ts_fail_nomem(reader->err);
	}
	ts_map_release(&places.ids);
	ts_arena_release(&reader->temp);
	return st;
}

/* The entry by its id, else by its name, else the last: callers stand behind what they call. */
static uint32_t find_entry(const struct ts_hlo_reader *reader)
{
	const struct ts_hlo_module *module = reader->module;
	uint32_t at = ts_map_find(&reader->comp_ids, (uint64_t)reader->scan.entry_id);

	if (at != TS_NONE)
		return at;
	for (uint32_t i = 0; i < module->nr_comps; i++)
		if (ts_bytes_eq(module->comps[i].name, reader->scan.entry_name))
			return i;
	return module->nr_comps - 1;
}

/* Parameters by their number; a number beyond their count, or one taken, is left out. */
static enum ts_status set_params(struct ts_hlo_reader *reader, struct ts_hlo_comp *comp)
{
	const struct ts_hlo_instr *instrs = &reader->module->instrs[comp->first_instr];
	uint32_t *params;

	for (uint32_t i = 0; i < comp->nr_instrs; i++)
		comp->nr_params += instrs[i].opcode == TS_OPCODE_PARAMETER;
	params = ts_hlo_array(reader, comp->nr_params, sizeof(*params));
	if (!params)
		return ts_fail_nomem(reader->err);
	memset(params, 0xff, comp->nr_params * sizeof(*params)); /* all TS_NONE */
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		int64_t number = instrs[i].parameter_number;

		if (instrs[i].opcode == TS_OPCODE_PARAMETER && number >= 0 &&
		    number < comp->nr_params && params[number] == TS_NONE)
			params[number] = comp->first_instr + i;
	}
	comp->params = params;
	return TS_OK;
}

/* The users of every instruction, in one array for all. */
static enum ts_status set_users(struct ts_hlo_reader *reader)
{
	struct ts_hlo_module *module = reader->module;
	size_t nr = 0;
	uint32_t *users;

	for (uint32_t i = 0; i < module->nr_instrs; i++)
		for (uint32_t k = 0; k < module->instrs[i].nr_operands; k++, nr++)
			module->instrs[module->instrs[i].operands[k]].nr_users++;
	users = ts_hlo_array(reader, nr, sizeof(*users));
	if (!users)
		return ts_fail_nomem(reader->err);
	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		module->instrs[i].users = users;
		users += module->instrs[i].nr_users;
		module->instrs[i].nr_users = 0;
	}
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		for (uint32_t k = 0; k < module->instrs[i].nr_operands; k++) {
			struct ts_hlo_instr *operand =
				&module->instrs[module->instrs[i].operands[k]];

			((uint32_t *)(uintptr_t)operand->users)[operand->nr_users++] = i;
		}
	return TS_OK;
}

/* How much there is to walk when every call is followed, and how deep. */
struct reach {
	uint64_t walk;
	unsigned depth;
};

/* Ops that hand a tuple on, or take one part of it, are walked without its parts. */
static bool hlo_hands_on(enum ts_opcode opcode)
{
	return TS_OPCODE_IN(opcode, TS_OPCODE_GET_TUPLE_ELEMENT, TS_OPCODE_TUPLE, TS_OPCODE_WHILE,
			    TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL, TS_OPCODE_BITCAST,
			    TS_OPCODE_OPT_BARRIER, TS_OPCODE_ASYNC_UPDATE);
}

/* Costs of an op are sums over the parts of its operands: very many ops may share a wide tuple. */
static uint64_t operands_walk(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr)
{
	uint64_t sum = instr->nr_operands;

	for (uint32_t i = 0; i < instr->nr_operands; i++) {
		const struct ts_shape *shape = &module->instrs[instr->operands[i]].shape;

		if (shape->dtype == TS_TUPLE && !hlo_hands_on(instr->opcode))
			sum = ts_u64_add(sum, ts_shape_leaves(shape));
	}
	return sum;
}

static struct reach reach_of(const struct ts_hlo_module *module, const struct ts_hlo_comp *comp,
			     const struct reach *reach)
{
	struct reach sum = { comp->nr_instrs, 1 };

	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[comp->first_instr + i];

		sum.walk = ts_u64_add(sum.walk, operands_walk(module, instr));
		for (uint32_t c = 0; c < instr->nr_called; c++) {
			const struct reach *callee = &reach[instr->called[c]];

			sum.walk = ts_u64_add(sum.walk, callee->walk);
			sum.depth = TS_MAX(sum.depth, callee->depth + 1);
		}
	}
	return sum;
}

/*
 * Computations that call one another twice each double the work of a walk at every level: thirty
 * of them, a few hundred bytes, would never end. Compilers share only reducers of a few ops.
 */
static enum ts_status check_calls(struct ts_hlo_reader *reader)
{
	const struct ts_hlo_module *module = reader->module;
	uint64_t max = TS_LIMIT_HLO_WALK_RATIO * (uint64_t)module->nr_instrs +
		       TS_LIMIT_HLO_WALK_FLOOR,
		 total = 0;
	struct reach *reach = ts_arena_array(&reader->keep, module->nr_comps, sizeof(*reach));

	if (!reach)
		return ts_fail_nomem(reader->err);
	for (uint32_t i = 0; i < module->nr_comps; i++) {
		reach[i] = reach_of(module, &module->comps[i], reach);
		total = ts_u64_add(total, reach[i].walk);
		if (reach[i].depth > TS_LIMIT_HLO_CALL_DEPTH)
			return ts_fail(reader->err, TS_LIMIT,
				       "%.*s: computations call one another too deep " TS_OVER(
					       TS_LIMIT_HLO_CALL_DEPTH),
				       TS_ARG(reader->file));
	}
	if (total > max)
		return ts_fail(
			reader->err, TS_LIMIT,
			"%.*s: computations or tuples are shared too much to be walked " TS_OVER(
				TS_LIMIT_HLO_WALK_RATIO),
			TS_ARG(reader->file));
	return TS_OK;
}

static enum ts_status read_module(struct ts_hlo_reader *reader, struct ts_bytes proto)
{
	struct ts_hlo_module *module = reader->module;
	enum ts_status st = ts_hlo_scan(reader, proto);

	if (st)
		return st;
	module->name =
		ts_arena_copy(reader->arena, ts_bytes_cut(reader->scan.name, 0, TS_LIMIT_NAME));
	reader->nomem |= !module->name.p;
	module->nr_comps = (uint32_t)reader->scan.nr_comps;
	module->comps = ts_hlo_array(reader, module->nr_comps, sizeof(*module->comps));
	module->instrs = ts_hlo_array(reader, reader->scan.nr_instrs, sizeof(*module->instrs));
	if (reader->nomem)
		return ts_fail_nomem(reader->err);
	st = ts_hlo_read_frames(reader);
	for (uint32_t i = 0; !st && i < module->nr_comps; i++)
		st = read_comp(reader, i);
	if (st)
		return st;
	module->entry = find_entry(reader);
	for (uint32_t i = 0; !st && i < module->nr_comps; i++)
		st = set_params(reader, &module->comps[i]);
	if (!st)
		st = set_users(reader);
	if (st)
		return st;
	ts_hlo_read_aliases(reader);
	if (reader->nomem)
		return ts_fail_nomem(reader->err);
	st = ts_hlo_read_buffers(reader);
	return st ? st : check_calls(reader);
}

enum ts_status ts_hlo_read(struct ts_arena *arena, struct ts_bytes proto, struct ts_bytes file,
			   struct ts_hlo_module *module, struct ts_error *err)
{
	struct ts_hlo_reader reader = {
		.arena = arena,
		.file = file,
		.module = module,
		.err = err,
		.alloc = { temp_alloc, temp_free, &reader },
	};
	enum ts_status st;

	TS_ASSERT(arena && module);
	TS_ASSERT(proto.p || proto.n == 0);
	TS_ASSERT(file.p || file.n == 0);
	*module = (struct ts_hlo_module){ .file = file, .proto = proto };
	st = read_module(&reader, proto);
	ts_hlo_scan_release(&reader.scan);
	ts_map_release(&reader.comp_ids);
	ts_strmap_release(&reader.strings);
	free(reader.texts);
	ts_arena_release(&reader.temp);
	ts_arena_release(&reader.keep);
	if (st)
		*module = (struct ts_hlo_module){ .nr_instrs = 0 };
	return st;
}
