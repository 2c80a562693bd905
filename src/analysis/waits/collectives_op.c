/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an op is as a collective: its kind, its bytes, and how many work together. The compiled
 * module says it: libtpu makes a reduce-scatter a fusion around an all-reduce, and wraps what has
 * no start and done of its own in an async-start.
 */
#include "analysis/waits/collectives.h"

#include "model/op_kind.h"

static bool is_wanted(const struct ts_op *op)
{
	return op->kind == TS_OP_COLLECTIVE;
}

enum ts_status ts_collective_slots_make(struct ts_async_slots *slots,
					const struct ts_profile *profile, struct ts_error *err)
{
	return ts_async_slots_make(slots, profile, is_wanted, err);
}

static bool is_collective(struct ts_bytes opcode)
{
	static const char *const starts[] = { "all-reduce",	"all-gather",
					      "all-to-all",	"ragged-all-to-all",
					      "reduce-scatter", "collective-",
					      "send",		"recv" };

	for (size_t i = 0; i < TS_NELEM(starts); i++)
		if (ts_bytes_starts(opcode, starts[i]))
			return true;
	return false;
}

/* The first collective inside; INSTR itself when there is none. */
static const struct ts_hlo_instr *look_inside(const struct ts_hlo_module *module,
					      const struct ts_hlo_instr *instr)
{
	for (uint32_t c = 0; c < instr->nr_called; c++) {
		const struct ts_hlo_comp *comp = &module->comps[instr->called[c]];

		for (uint32_t i = 0; i < comp->nr_instrs; i++)
			if (is_collective(module->instrs[comp->first_instr + i].opcode))
				return &module->instrs[comp->first_instr + i];
	}
	return instr;
}

static const struct ts_hlo_instr *unwrap(const struct ts_hlo_module *module, uint32_t index)
{
	const struct ts_hlo_instr *instr = &module->instrs[ts_hlo_wrapped(module, index)];

	return is_collective(instr->opcode) ? instr : look_inside(module, instr);
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
static int64_t bytes_of(const struct ts_shape *shape)
{
	int64_t bytes = ts_shape_bytes(shape);

	return bytes > 0 ? bytes : ts_shape_logical_bytes(shape);
}

static int64_t operand_bytes(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr)
{
	int64_t bytes = 0;

	for (uint32_t i = 0; i < instr->nr_operands; i++)
		bytes = ts_i64_add(bytes, bytes_of(&module->instrs[instr->operands[i]].shape));
	return bytes;
}

/* A start's own shape holds its operands and flags beside its result: the done's is the result. */
static int64_t output_bytes(const struct ts_profile *profile, const struct ts_op *op,
			    const struct ts_hlo_instr *inner, bool is_wrapped)
{
	const struct ts_hlo_instr *done =
		op->partner == TS_NONE ? NULL : ts_op_instr(profile, &profile->ops[op->partner]);

	if (op->async == TS_ASYNC_START && !is_wrapped)
		return done ? bytes_of(&done->shape) : -1;
	return bytes_of(&inner->shape);
}

/* As nccl-tests reckon: what each core has to send, of the bytes that a user sees. */
static double bus_factor(struct ts_bytes kind, int64_t n)
{
	static const struct {
		const char *kind;
		double passes;
	} rows[] = {
		{ "all-reduce", 2 },
		{ "all-gather", 1 },
		{ "reduce-scatter", 1 },
		{ "all-to-all", 1 },
	};

	if (ts_bytes_starts(kind, "collective-permute") || ts_bytes_is(kind, "send"))
		return 1;
	for (size_t i = 0; n > 0 && i < TS_NELEM(rows); i++)
		if (ts_bytes_is(kind, rows[i].kind))
			return rows[i].passes * (double)(n - 1) / (double)n;
	return NAN;
}

struct collective_op ts_collective_op_of(const struct ts_profile *profile, const struct ts_op *op)
{
	struct collective_op found = { without_phase(op->category), -1, -1, -1, -1, NAN };
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op), *inner;
	const struct ts_hlo_module *module;

	TS_ASSERT(op->kind == TS_OP_COLLECTIVE);
	if (!instr)
		return found;
	module = &profile->modules[op->module];
	inner = unwrap(module, op->instr);
	found.kind = without_phase(inner->opcode);
	if (ts_bytes_is(instr->opcode, "fusion") && ts_bytes_is(found.kind, "all-reduce"))
		found.kind = TS_LIT("reduce-scatter");
	found.operand_bytes = operand_bytes(module, inner);
	found.output_bytes = inner != instr && ts_bytes_is(instr->opcode, "fusion")
				     ? bytes_of(&instr->shape)
				     : output_bytes(profile, op, inner, inner != instr);
	found.bytes =
		ts_bytes_is(found.kind, "all-gather") ? found.output_bytes : found.operand_bytes;
	found.group_size = inner->group_size > 0 ? inner->group_size : -1;
	found.bus_factor = bus_factor(found.kind, found.group_size);
	return found;
}
