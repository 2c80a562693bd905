/* SPDX-License-Identifier: MIT */
/* The work of one op. Facts: what 8-bit and f32 products cost on the matrix unit was measured with
 * libtpu's ahead-of-time compiler (docs/analyses/cost-model.md). */
#include "model/op_work.h"

#include "base/check.h"

#include <math.h>

#define MAX_PRODUCTS   32  /* of one op, the largest; the rest is taken to be like them */
#define HIGHEST_PASSES 6.0 /* bf16 passes of an f32 product in highest precision */

static bool is_small_int(enum ts_dtype dtype)
{
	return ts_dtype_bits(dtype) <= 8 && (dtype == TS_S8 || dtype == TS_U8 || dtype == TS_S4 ||
					     dtype == TS_U4 || dtype == TS_S2 || dtype == TS_U2);
}

static bool is_fp8(enum ts_dtype dtype)
{
	switch (dtype) {
	case TS_F8E5M2:
	case TS_F8E4M3FN:
	case TS_F8E4M3B11FNUZ:
	case TS_F8E5M2FNUZ:
	case TS_F8E4M3FNUZ:
	case TS_F8E4M3:
	case TS_F8E3M4:	       return true;
	default:	       return false;
	}
}

static void add_product(struct ts_op_work *work, const struct ts_matmul *product, int dim)
{
	double flops = (double)TS_MAX(product->flops, 0);
	double filled = dim > 0 ? flops / ts_matmul_fill(product, dim).share : NAN;

	work->flops += flops;
	work->filled_flops += filled;
	work->passes_flops += product->highest_precision ? filled * HIGHEST_PASSES : filled;
	work->highest_precision |= product->highest_precision;
	if (is_small_int(product->lhs) && is_small_int(product->rhs))
		work->int8_flops += flops;
	else if (is_fp8(product->lhs) && is_fp8(product->rhs))
		work->fp8_flops += flops;
}

struct ts_op_work ts_op_work_of(const struct ts_hlo_module *module, uint32_t instr, int dim)
{
	struct ts_op_work work = { .nr_products = 0, .fill = { NAN, NAN, NAN, NAN } };
	struct ts_matmul products[MAX_PRODUCTS];

	TS_ASSERT(module);
	TS_ASSERT(instr < module->nr_instrs);
	work.nr_products = ts_hlo_matmuls(module, instr, products, MAX_PRODUCTS);
	if (work.nr_products == 0)
		return work;
	work.main = products[0];
	if (dim > 0)
		work.fill = ts_matmul_fill(&products[0], dim);
	for (size_t i = 0; i < TS_MIN(work.nr_products, MAX_PRODUCTS); i++)
		add_product(&work, &products[i], dim);
	return work;
}

/* Custom calls that do no arithmetic (xla/service/memory_annotations.h, libtpu's modules). */
static bool is_bookkeeping(struct ts_bytes target)
{
	static const char *const targets[] = {
		"ConcatBitcast",
		"AssumeGatherIndicesInBound",
		"AllocateBuffer",
		"MoveToHost",
		"MoveToDevice",
		"PinToDevice",
		"PinToDeviceSram",
		"annotate_device_placement",
		"Sharding",
		"SPMDFullToShardShape",
		"SPMDShardToFullShape",
	};

	for (size_t i = 0; i < TS_NELEM(targets); i++)
		if (ts_bytes_is(target, targets[i]))
			return true;
	return false;
}

bool ts_instr_is_kernel(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	return instr->opcode == TS_OPCODE_CUSTOM_CALL && !is_bookkeeping(instr->custom_call_target);
}

bool ts_instr_is_opaque(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	return ts_instr_is_kernel(instr) && instr->backend.cost_flops < 0 && !instr->dot &&
	       !instr->conv;
}

/* libtpu writes 0 FLOPs for a kernel that it does not know: that is not a number. */
bool ts_op_is_opaque(const struct ts_profile *profile, const struct ts_op *op)
{
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);

	TS_ASSERT(profile && op);
	if (op->category_id != TS_OPCODE_CUSTOM_CALL || op->flops > 0)
		return false;
	return !instr || ts_instr_is_opaque(instr);
}

/* Ops whose called computations run as ops of their own, with events. What async-start wraps is
 * one op with it. */
static bool calls_ops(enum ts_opcode opcode)
{
	return TS_OPCODE_IN(opcode, TS_OPCODE_WHILE, TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL);
}

bool *ts_hlo_inner_comps(const struct ts_hlo_module *module)
{
	bool *inner = calloc((size_t)module->nr_comps + 1, sizeof(*inner));

	TS_ASSERT(module);
	if (!inner)
		return NULL;
	for (uint32_t c = 0; c < module->nr_comps; c++)
		inner[c] = c != module->entry; /* until an op of a real computation runs it */
	for (uint32_t c = module->nr_comps; c-- > 0;) { /* callers stand behind what they call */
		const struct ts_hlo_comp *comp = &module->comps[c];

		for (uint32_t i = 0; !inner[c] && i < comp->nr_instrs; i++) {
			const struct ts_hlo_instr *instr = &module->instrs[comp->first_instr + i];

			for (uint32_t j = 0; calls_ops(instr->opcode) && j < instr->nr_called; j++)
				inner[instr->called[j]] = false;
		}
	}
	return inner;
}
