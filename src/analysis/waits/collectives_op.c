/* SPDX-License-Identifier: MIT */
/*
 * What an op is as a collective: its kind, its bytes, and how many work together. The compiled
 * module says it (of the groups the op's own text, too): libtpu makes a reduce-scatter a fusion around an all-reduce, and wraps what has
 * no start and done of its own in an async-start.
 */
#include "analysis/waits/collectives.h"

#include "model/op_kind.h"

static bool collectives_op_is_wanted(const struct ts_op *op)
{
	return op->kind == TS_OP_COLLECTIVE;
}

enum ts_status ts_collective_slots_make(struct ts_async_slots *slots,
					const struct ts_profile *profile, struct ts_error *err)
{
	return ts_async_slots_make(slots, profile, collectives_op_is_wanted, err);
}

/* The first collective inside; INSTR itself when there is none. */
static const struct ts_hlo_instr *collectives_op_look_inside(const struct ts_hlo_module *module,
							     const struct ts_hlo_instr *instr)
{
	for (uint32_t c = 0; c < instr->nr_called; c++) {
		const struct ts_hlo_comp *comp = &module->comps[instr->called[c]];

		for (uint32_t i = 0; i < comp->nr_instrs; i++)
			if (ts_opcode_is_collective(module->instrs[comp->first_instr + i].opcode))
				return &module->instrs[comp->first_instr + i];
	}
	return instr;
}

static const struct ts_hlo_instr *unwrap(const struct ts_hlo_module *module, uint32_t index)
{
	const struct ts_hlo_instr *instr = &module->instrs[ts_hlo_wrapped(module, index)];

	return ts_opcode_is_collective(instr->opcode) ? instr
						      : collectives_op_look_inside(module, instr);
}

static struct ts_bytes without_phase(struct ts_bytes name)
{
	if (ts_bytes_ends(name, "-start"))
		return ts_bytes_cut(name, 0, name.n - strlen("-start"));
	if (ts_bytes_ends(name, "-done"))
		return ts_bytes_cut(name, 0, name.n - strlen("-done"));
	return name;
}

/* As laid out; inside fusions there are no layouts. */
static int64_t collectives_op_bytes_of(const struct ts_shape *shape)
{
	int64_t bytes = ts_shape_bytes(shape);

	return bytes > 0 ? bytes : ts_shape_logical_bytes(shape);
}

static int64_t collectives_op_operand_bytes(const struct ts_hlo_module *module,
					    const struct ts_hlo_instr *instr)
{
	int64_t bytes = 0;

	for (uint32_t i = 0; i < instr->nr_operands; i++)
		bytes = ts_i64_add(
			bytes, collectives_op_bytes_of(&module->instrs[instr->operands[i]].shape));
	return bytes;
}

/* A start's own shape holds its operands and flags beside its result: the done's is the result. */
static int64_t output_bytes(const struct ts_profile *profile, const struct ts_op *op,
			    const struct ts_hlo_instr *inner, bool is_wrapped)
{
	const struct ts_hlo_instr *done =
		op->partner == TS_NONE ? NULL : ts_op_instr(profile, &profile->ops[op->partner]);

	if (op->async == TS_ASYNC_START && !is_wrapped)
		return done ? collectives_op_bytes_of(&done->shape) : -1;
	return collectives_op_bytes_of(&inner->shape);
}

/* As nccl-tests reckon: what each core has to send, of the bytes that a user sees. */
static double bus_factor(enum ts_opcode kind, int64_t n)
{
	static const double passes[TS_NR_OPCODES] = {
		[TS_OPCODE_ALL_REDUCE] = 2,
		[TS_OPCODE_ALL_GATHER] = 1,
		[TS_OPCODE_REDUCE_SCATTER] = 1,
		[TS_OPCODE_ALL_TO_ALL] = 1,
	};

	if (kind == TS_OPCODE_COLLECTIVE_PERMUTE || kind == TS_OPCODE_SEND)
		return 1;
	return n > 0 && passes[kind] > 0 ? passes[kind] * (double)(n - 1) / (double)n : NAN;
}

static int64_t collectives_op_number(struct ts_bytes text, size_t *at)
{
	int64_t number = 0;

	for (; *at < text.n && text.p[*at] >= '0' && text.p[*at] <= '9'; (*at)++)
		number = ts_i64_add(ts_i64_mul(number, 10), text.p[*at] - '0');
	return number;
}

/* "{{0,1},{2,3}}": the length of the first one; "[2,4]<=[8]": the second number. -1: it says nothing. */
static int64_t collectives_op_group_in(struct ts_bytes text)
{
	static const char list[] = "replica_groups={{", iota[] = "replica_groups=[";
	size_t at = ts_bytes_find(text, list), end;
	int64_t nr = 1;

	if (at < text.n) {
		text = ts_bytes_cut(text, at + sizeof(list) - 1, text.n);
		end = ts_bytes_find(text, "}");
		for (size_t i = 0; i < end; i++)
			nr += text.p[i] == ',';
		return end < text.n && end > 0 ? nr : -1;
	}
	at = ts_bytes_find(text, iota);
	if (at == text.n)
		return -1;
	at += sizeof(iota) - 1;
	collectives_op_number(text, &at);
	if (at >= text.n || text.p[at++] != ',')
		return -1;
	nr = collectives_op_number(text, &at);
	return nr > 0 && at < text.n && text.p[at] == ']' ? nr : -1;
}

struct collective_op ts_collective_op_of(const struct ts_profile *profile, const struct ts_op *op)
{
	struct collective_op found = { without_phase(op->category), -1, -1, -1, -1, -1, NAN };
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op), *inner;
	const struct ts_hlo_module *module;
	enum ts_opcode kind;

	TS_ASSERT(op->kind == TS_OP_COLLECTIVE);
	if (!instr) {
		found.group_size = collectives_op_group_in(op->text);
		return found;
	}
	module = &profile->modules[op->module];
	inner = unwrap(module, op->instr);
	kind = ts_opcode_whole(inner->opcode);
	if (instr->opcode == TS_OPCODE_FUSION && kind == TS_OPCODE_ALL_REDUCE)
		kind = TS_OPCODE_REDUCE_SCATTER;
	found.kind = kind == TS_OPCODE_OTHER ? without_phase(inner->opcode_text)
					     : ts_bytes_of(ts_opcode_text(kind));
	found.operand_bytes = collectives_op_operand_bytes(module, inner);
	found.output_bytes = inner != instr && instr->opcode == TS_OPCODE_FUSION
				     ? collectives_op_bytes_of(&instr->shape)
				     : output_bytes(profile, op, inner, inner != instr);
	found.bytes = kind == TS_OPCODE_ALL_GATHER ? found.output_bytes : found.operand_bytes;
	found.group_size = inner->group_size > 0 ? inner->group_size : -1;
	found.nr_devices = inner->nr_devices > 0 ? inner->nr_devices : -1;
	found.bus_factor = bus_factor(kind, found.group_size);
	return found;
}
