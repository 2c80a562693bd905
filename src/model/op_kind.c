/* SPDX-License-Identifier: MIT */
/*
 * Kinds of ops. The words are XLA's hlo_category values (openxla/xla, HloInstruction::ToCategory
 * and xla/tsl/profiler/convert/xla_op_utils.h); names of instructions are not used, as they mislead
 * (JAX calls an all-reduce psum).
 */
#include "model/op_kind.h"

#include "base/check.h"

#include <math.h>

#include "model/cost.h"
#include "model/kernel_name.h"

#define MAX_UPDATES 64 /* between a -start and its -done */
#define MAX_WRAPS   8  /* around an op: done, update, start, async computation, call */

struct kind_row {
	const char *category;
	bool prefix; /* whatever follows: -start, -done, " fusion" */
	enum ts_op_kind kind;
};

/* The first row that fits. */
static const struct kind_row rows[] = {
	{ "convolution", true, TS_OP_MATRIX },
	{ "output fusion", false, TS_OP_MATRIX },
	{ "dot", false, TS_OP_MATRIX },
	{ "copy", true, TS_OP_MOVE },
	{ "data formatting", false, TS_OP_MOVE },
	{ "transpose", false, TS_OP_MOVE },
	{ "reshape", false, TS_OP_MOVE },
	{ "slice-start", false, TS_OP_MOVE },
	{ "slice-done", false, TS_OP_MOVE },
	{ "dynamic-slice-start", false, TS_OP_MOVE },
	{ "dynamic-slice-done", false, TS_OP_MOVE },
	{ "dynamic-update-slice-start", false, TS_OP_MOVE },
	{ "dynamic-update-slice-done", false, TS_OP_MOVE },
	{ "async-start", false, TS_OP_MOVE },
	{ "async-update", false, TS_OP_MOVE },
	{ "async-done", false, TS_OP_MOVE },
	{ "all-reduce", true, TS_OP_COLLECTIVE },
	{ "all-gather", true, TS_OP_COLLECTIVE },
	{ "all-to-all", true, TS_OP_COLLECTIVE },
	{ "ragged-all-to-all", true, TS_OP_COLLECTIVE },
	{ "reduce-scatter", true, TS_OP_COLLECTIVE },
	{ "collective-", true, TS_OP_COLLECTIVE },
	{ "partition-id", false, TS_OP_COMPUTE },
	{ "infeed", true, TS_OP_HOST },
	{ "outfeed", true, TS_OP_HOST },
	{ "host send", true, TS_OP_HOST },
	{ "host recv", true, TS_OP_HOST },
	{ "send", true, TS_OP_COLLECTIVE },
	{ "recv", true, TS_OP_COLLECTIVE },
	{ "while", false, TS_OP_CONTROL },
	{ "conditional", false, TS_OP_CONTROL },
	{ "call", false, TS_OP_CONTROL },
	{ "megacore fusion", false, TS_OP_CONTROL },
};

static const struct kind_row *op_kind_row_of(struct ts_bytes category)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (rows[i].prefix ? ts_bytes_starts(category, rows[i].category)
				   : ts_bytes_is(category, rows[i].category))
			return &rows[i];
	return NULL;
}

struct ts_bytes ts_hlo_category(const struct ts_hlo_instr *instr)
{
	static const char *const fusions[] = {
		[TS_FUSION_NONE] = "fusion",	      [TS_FUSION_LOOP] = "loop fusion",
		[TS_FUSION_INPUT] = "input fusion",   [TS_FUSION_OUTPUT] = "output fusion",
		[TS_FUSION_CUSTOM] = "custom fusion",
	};
	static const enum ts_opcode hosts[TS_NR_OPCODES] = {
		[TS_OPCODE_SEND] = TS_XLA_HOST_SEND,
		[TS_OPCODE_SEND_DONE] = TS_XLA_HOST_SEND_DONE,
		[TS_OPCODE_RECV] = TS_XLA_HOST_RECV,
		[TS_OPCODE_RECV_DONE] = TS_XLA_HOST_RECV_DONE,
	};

	TS_ASSERT(instr);
	if (instr->opcode == TS_OPCODE_FUSION)
		return ts_bytes_of(fusions[instr->fusion_kind]);
	if (instr->is_host_transfer && hosts[instr->opcode])
		return ts_bytes_of(ts_opcode_text(hosts[instr->opcode]));
	return instr->opcode_text;
}

static bool is_wrapper(const struct ts_hlo_instr *instr)
{
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_ASYNC_START, TS_OPCODE_ASYNC_UPDATE,
			    TS_OPCODE_ASYNC_DONE);
}

uint32_t ts_hlo_wrapped(const struct ts_hlo_module *module, uint32_t index)
{
	bool is_within = false;

	TS_ASSERT(module);
	TS_ASSERT(index < module->nr_instrs);
	for (int depth = 0; depth < MAX_WRAPS; depth++) {
		const struct ts_hlo_instr *instr = &module->instrs[index];
		bool is_async = is_wrapper(instr);

		if (!is_async && !(is_within && instr->opcode == TS_OPCODE_CALL))
			break;
		if (instr->nr_called > 0)
			index = module->comps[instr->called[0]].root;
		else if (is_async && instr->nr_operands > 0)
			index = instr->operands[0];
		else
			break;
		is_within = is_within || instr->nr_called > 0;
	}
	return index;
}

/* What stands inside a fusion decides, not its category: an output fusion may hold no product. */
static enum ts_op_kind kind_inside(const struct ts_hlo_module *module, uint32_t instr)
{
	const struct ts_hlo_instr *op = &module->instrs[instr];
	struct ts_matmul product;

	if (ts_hlo_matmuls(module, instr, &product, 1) > 0)
		return TS_OP_MATRIX;
	for (uint32_t c = 0; c < op->nr_called; c++) {
		const struct ts_hlo_comp *comp = &module->comps[op->called[c]];

		for (uint32_t i = 0; i < comp->nr_instrs; i++)
			if (ts_opcode_is_collective(module->instrs[comp->first_instr + i].opcode))
				return TS_OP_COLLECTIVE; /* all-reduce-scatter */
	}
	return TS_OP_COMPUTE;
}

static bool has_inside(const struct ts_hlo_instr *instr)
{
	return instr->opcode == TS_OPCODE_FUSION && instr->nr_called > 0;
}

/* copies and slices only: does any shape of it lie in the host's memory, S(5)? */
static bool touches_host_memory(const struct ts_profile *profile, const struct ts_op *op)
{
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);

	if (ts_bytes_has(op->text, "S(5)") || ts_bytes_has(op->shape, "S(5)"))
		return true;
	if (!instr)
		return false;
	if (ts_shape_in_space(&instr->shape, TS_SPACE_HOST))
		return true;
	for (uint32_t i = 0; i < instr->nr_operands; i++)
		if (ts_shape_in_space(
			    &profile->modules[op->module].instrs[instr->operands[i]].shape,
			    TS_SPACE_HOST))
			return true;
	return false;
}

static bool is_copy_or_slice(const struct ts_op *op)
{
	return ts_bytes_starts(op->category, "copy") || ts_bytes_has(op->category, "slice") ||
	       ts_bytes_starts(op->category, "async-") || op->category_id == TS_XLA_DATA_FORMATTING;
}

static enum ts_op_async async_of(struct ts_bytes category)
{
	if (ts_bytes_ends(category, "-start"))
		return TS_ASYNC_START;
	if (ts_bytes_ends(category, "-done"))
		return TS_ASYNC_DONE;
	return TS_ASYNC_NONE;
}

bool ts_op_looks_remat(struct ts_bytes name, struct ts_bytes text, struct ts_bytes framework_op)
{
	struct ts_bytes left = ts_bytes_cut(text, 0, ts_bytes_find(text, "="));

	TS_ASSERT(name.p || name.n == 0);
	TS_ASSERT(text.p || text.n == 0);
	TS_ASSERT(framework_op.p || framework_op.n == 0);
	return ts_bytes_has(left.n ? left : name, ".remat") ||
	       ts_bytes_has(framework_op, "rematted_computation");
}

static enum ts_op_kind kernel_kind(const struct ts_op *op)
{
	static const enum ts_op_kind kinds[TS_NR_KERNEL_CATEGORIES] = {
		[TS_CATEGORY_COMMUNICATION] = TS_OP_COLLECTIVE,
		[TS_CATEGORY_HOST_COPY] = TS_OP_HOST,
		[TS_CATEGORY_COPY] = TS_OP_MOVE,
		[TS_CATEGORY_FILL] = TS_OP_MOVE,
		[TS_CATEGORY_ATTENTION] = TS_OP_MATRIX,
		[TS_CATEGORY_CONVOLUTION] = TS_OP_MATRIX,
		[TS_CATEGORY_GEMM] = TS_OP_MATRIX,
	};
	enum ts_op_kind kind = kinds[ts_kernel_class_of(op->name).category];

	return kind ? kind : TS_OP_COMPUTE;
}

/* Kineto's categories of what runs on a device, as of now and of its first years. */
static bool op_kind_is_kernel(const struct ts_op *op)
{
	return op->is_traced &&
	       TS_OPCODE_IN(op->category_id, TS_KINETO_KERNEL, TS_KINETO_GPU_MEMCPY,
			    TS_KINETO_GPU_MEMSET, TS_KINETO_CONCURRENT_KERNEL,
			    TS_KINETO_FIRST_KERNEL, TS_KINETO_FIRST_MEMCPY, TS_KINETO_FIRST_MEMSET);
}

void ts_op_classify(const struct ts_profile *profile, struct ts_op *op)
{
	const struct ts_hlo_module *module;
	const struct kind_row *row;

	TS_ASSERT(profile && op);
	op->category_id = ts_opcode_of(op->category);
	if (op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP || op->category.n == 0 ||
	    op->is_event)
		return;
	if (op_kind_is_kernel(op)) {
		op->kind = kernel_kind(op);
		return;
	}
	module = op->instr == TS_NONE ? NULL : &profile->modules[op->module];
	op->is_remat = ts_op_looks_remat(op->name, op->text, op->framework_op);
	op->async = async_of(op->category);
	row = op_kind_row_of(
		op->category); /* an async wrapper moves bytes, unless it wraps something else */
	if (module && is_wrapper(&module->instrs[op->instr])) {
		uint32_t inner = ts_hlo_wrapped(module, op->instr);
		const struct kind_row *wrapped = op_kind_row_of(module->instrs[inner].opcode_text);

		row = wrapped ? wrapped : row;
	}
	op->kind = row ? row->kind : TS_OP_COMPUTE;
	if (module && (op->kind == TS_OP_COMPUTE ||
		       (op->kind == TS_OP_MATRIX && has_inside(&module->instrs[op->instr]))))
		op->kind = kind_inside(module, op->instr);
	if (op->kind != TS_OP_CONTROL && is_copy_or_slice(op) && touches_host_memory(profile, op))
		op->kind = TS_OP_HOST;
}

/* "... copy-done((f32[2], f32[2], u32[]) %copy-start.4), ..." names its operand last. */
static struct ts_bytes operand_in_text(struct ts_bytes text)
{
	size_t open = ts_bytes_find(text, "-done("), at, end;
	struct ts_bytes args = ts_bytes_cut(text, open, text.n);

	at = ts_bytes_find(args, "%");
	for (end = at + 1; end < args.n && !strchr("), ", args.p[end]); end++)
		;
	return at < args.n ? ts_bytes_cut(args, at + 1, end - at - 1)
			   : (struct ts_bytes){ NULL, 0 };
}

struct ts_bytes ts_op_start_name(const struct ts_profile *profile, const struct ts_op *op)
{
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);

	TS_ASSERT(profile && op);
	if (!instr || instr->nr_operands == 0)
		return operand_in_text(op->text);
	instr = &profile->modules[op->module].instrs[instr->operands[0]];
	for (int i = 0; i < MAX_UPDATES && instr->opcode == TS_OPCODE_ASYNC_UPDATE; i++) {
		if (instr->nr_operands == 0)
			break;
		instr = &profile->modules[op->module].instrs[instr->operands[0]];
	}
	return instr->name;
}

double ts_op_vmem_bytes(const struct ts_op *op)
{
	TS_ASSERT_HOT(op);
	return op->onchip_bytes == TS_UNKNOWN ? NAN : (double)op->onchip_bytes;
}

double ts_op_flops(const struct ts_op *op)
{
	TS_ASSERT_HOT(op);
	return op->flops == TS_UNKNOWN ? NAN : (double)op->flops;
}
