/* SPDX-License-Identifier: MIT */
/*
 * Why two neighbours were not fused. A compiled module does not say. The reasons are those of XLA's
 * open passes (xla/service/instruction_fusion.cc, hlo_instruction.cc IsFusible) and what their
 * authors document; opcodes, users, layouts and places say which ones fit. So each is a probable
 * one. The first that fits is taken, and those that leave no choice stand first.
 */
#include "analysis/traffic/fusion.h"

#define MAX_HOPS     8	/* from a result back to what makes it */
#define MAX_OPERANDS 64 /* of a fusion, with its outputs (xla/service/gpu/gpu_fusible.h) */

/* Costly: xla/service/instruction_fusion.cc, IsExpensive. */
static const uint32_t traits_of[TS_NR_OPCODES] = {
	[TS_OPCODE_CONVOLUTION] = TS_HOLDS_MATRIX | TS_HOLDS_COSTLY,
	[TS_OPCODE_DOT] = TS_HOLDS_MATRIX | TS_HOLDS_COSTLY,
	[TS_OPCODE_ALL_REDUCE] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_ALL_GATHER] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_ALL_TO_ALL] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_RAGGED_ALL_TO_ALL] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_REDUCE_SCATTER] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_COLLECTIVE_PERMUTE] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_COLLECTIVE_BROADCAST] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_ALL_REDUCE_START] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_ALL_REDUCE_DONE] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_ALL_GATHER_START] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_ALL_GATHER_DONE] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_COLLECTIVE_PERMUTE_START] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_COLLECTIVE_PERMUTE_DONE] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_INFEED] = TS_HOLDS_HOST,
	[TS_OPCODE_OUTFEED] = TS_HOLDS_HOST,
	[TS_OPCODE_CUSTOM_CALL] = TS_HOLDS_CUSTOM,
	[TS_OPCODE_SORT] = TS_HOLDS_SORT,
	[TS_OPCODE_TOPK] = TS_HOLDS_SORT,
	[TS_OPCODE_FFT] = TS_HOLDS_WHOLE,
	[TS_OPCODE_CHOLESKY] = TS_HOLDS_WHOLE,
	[TS_OPCODE_TRIANGULAR_SOLVE] = TS_HOLDS_WHOLE,
	[TS_OPCODE_RNG_BIT_GENERATOR] = TS_HOLDS_WHOLE,
	[TS_OPCODE_RNG_GET_AND_UPDATE_STATE] = TS_HOLDS_WHOLE,
	[TS_OPCODE_RNG] = TS_HOLDS_WHOLE,
	[TS_OPCODE_SELECT_AND_SCATTER] = TS_HOLDS_WHOLE,
	[TS_OPCODE_SEND] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_SEND_DONE] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_RECV] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_RECV_DONE] = TS_HOLDS_COLLECTIVE,
	[TS_OPCODE_GATHER] = TS_HOLDS_GATHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_SCATTER] = TS_HOLDS_SCATTER | TS_HOLDS_COSTLY,
	[TS_OPCODE_DYNAMIC_UPDATE_SLICE] = TS_HOLDS_UPDATE,
	[TS_OPCODE_REDUCE] = TS_HOLDS_REDUCE | TS_HOLDS_COSTLY,
	[TS_OPCODE_REDUCE_WINDOW] = TS_HOLDS_REDUCE | TS_HOLDS_COSTLY,
	[TS_OPCODE_COPY] = TS_HOLDS_COPY,
	[TS_OPCODE_TRANSPOSE] = TS_HOLDS_TRANSPOSE,
	[TS_OPCODE_RESHAPE] = TS_HOLDS_TRANSPOSE,
	[TS_OPCODE_COPY_START] = TS_HOLDS_ASYNC,
	[TS_OPCODE_COPY_DONE] = TS_HOLDS_ASYNC,
	[TS_OPCODE_ASYNC_START] = TS_HOLDS_ASYNC,
	[TS_OPCODE_ASYNC_DONE] = TS_HOLDS_ASYNC,
	[TS_OPCODE_EXPONENTIAL] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_EXPONENTIAL_MINUS_ONE] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_LOG] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_LOG_PLUS_ONE] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_LOGISTIC] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_TANH] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_SQRT] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_RSQRT] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_CBRT] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_POWER] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_ATAN2] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_DIVIDE] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_REMAINDER] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
	[TS_OPCODE_MAP] = TS_HOLDS_OTHER | TS_HOLDS_COSTLY,
};

static uint32_t traits_at(const struct ts_hlo_module *module, uint32_t index, unsigned depth)
{
	const struct ts_hlo_instr *instr = &module->instrs[index];
	const struct ts_hlo_comp *comp;
	uint32_t traits = 0;

	if (instr->opcode == TS_OPCODE_ASYNC_DONE &&
	    instr->nr_operands > 0) /* what its start wraps */
		return traits_at(module, instr->operands[0], depth + 1);
	if ((instr->opcode != TS_OPCODE_FUSION && instr->opcode != TS_OPCODE_ASYNC_START) ||
	    instr->nr_called == 0 || depth > TS_FUSION_MAX_DEPTH) {
		if (instr->is_host_transfer)
			return TS_HOLDS_HOST;
		if (traits_of[instr->opcode])
			return traits_of[instr->opcode];
		return ts_hlo_is_name(instr) ? 0 : TS_HOLDS_OTHER;
	}
	comp = &module->comps[instr->called[0]];
	for (uint32_t i = 0; i < comp->nr_instrs; i++)
		traits |= traits_at(module, comp->first_instr + i, depth + 1);
	return instr->opcode == TS_OPCODE_ASYNC_START ? traits | TS_HOLDS_ASYNC : traits;
}

uint32_t ts_fusion_traits(const struct ts_hlo_module *module, uint32_t instr)
{
	return traits_at(module, instr, 0);
}

static const struct ts_hlo_instr *producer(const struct ts_fusion_case *what)
{
	return &what->walk->module->instrs[what->made.instr];
}

static const struct ts_hlo_instr *fusion_reason_consumer(const struct ts_fusion_case *what)
{
	return &what->walk->module->instrs[what->consumer];
}

static uint32_t either(const struct ts_fusion_case *what)
{
	return what->walk->traits[what->made.instr] | what->walk->traits[what->consumer];
}

static bool both(const struct ts_fusion_case *what, uint32_t traits)
{
	return (what->walk->traits[what->made.instr] & traits) &&
	       (what->walk->traits[what->consumer] & traits);
}

/* A copy's start names both ends of it, its done only the one it brings. */
static bool fusion_reason_touches_host(const struct ts_hlo_module *module,
				       const struct ts_hlo_instr *instr)
{
	if (ts_hlo_is_done(instr) && instr->nr_operands > 0 &&
	    ts_shape_in_space(&module->instrs[instr->operands[0]].shape, TS_SPACE_HOST))
		return true;
	return ts_shape_in_space(&instr->shape, TS_SPACE_HOST);
}

static bool with_host(const struct ts_fusion_case *what)
{
	return (either(what) & TS_HOLDS_HOST) ||
	       fusion_reason_touches_host(what->walk->module, producer(what)) ||
	       fusion_reason_touches_host(what->walk->module, fusion_reason_consumer(what));
}

static bool with_collective(const struct ts_fusion_case *what)
{
	return either(what) & TS_HOLDS_COLLECTIVE;
}

static bool with_async(const struct ts_fusion_case *what)
{
	return either(what) & TS_HOLDS_ASYNC;
}

static bool with_custom_call(const struct ts_fusion_case *what)
{
	return either(what) & TS_HOLDS_CUSTOM;
}

static bool with_sort(const struct ts_fusion_case *what)
{
	return either(what) & TS_HOLDS_SORT;
}

static bool with_whole_op(const struct ts_fusion_case *what)
{
	return either(what) & TS_HOLDS_WHOLE;
}

static bool is_carried(const struct ts_fusion_case *what)
{
	return what->carried;
}

static bool crosses(const struct ts_fusion_case *what)
{
	return what->crosses || ts_hlo_is_control(producer(what));
}

/* An op that copies and nothing else, in the layout that the array has. */
static bool copies_as_it_is(const struct ts_fusion_case *what, uint32_t index)
{
	const struct ts_hlo_instr *instr = &what->walk->module->instrs[index];
	const struct ts_shape *from, *to = &instr->shape;

	if (instr->opcode != TS_OPCODE_COPY || instr->nr_operands == 0)
		return false;
	from = &what->walk->module->instrs[instr->operands[0]].shape;
	if (from->rank != to->rank || !from->has_layout || !to->has_layout)
		return false;
	for (uint32_t i = 0; i < to->rank; i++)
		if (from->minor_to_major[i] != to->minor_to_major[i])
			return false;
	return true;
}

static bool with_copy(const struct ts_fusion_case *what)
{
	return copies_as_it_is(what, what->made.instr) || copies_as_it_is(what, what->consumer);
}

/* Copies, transposes and reshapes that stand alone or are all that a fusion holds. */
static bool fusion_reason_only_moves(uint32_t traits)
{
	return (traits & (TS_HOLDS_COPY | TS_HOLDS_TRANSPOSE)) &&
	       !(traits & ~(uint32_t)(TS_HOLDS_COPY | TS_HOLDS_TRANSPOSE));
}

static bool with_layout_change(const struct ts_fusion_case *what)
{
	return fusion_reason_only_moves(what->walk->traits[what->made.instr]) ||
	       fusion_reason_only_moves(what->walk->traits[what->consumer]);
}

static bool with_update(const struct ts_fusion_case *what)
{
	return either(what) & TS_HOLDS_UPDATE;
}

static bool is_given_out(const struct ts_fusion_case *what)
{
	return what->is_output;
}

static bool between_products(const struct ts_fusion_case *what)
{
	return both(what, TS_HOLDS_MATRIX);
}

static bool with_gather(const struct ts_fusion_case *what)
{
	return either(what) & (TS_HOLDS_GATHER | TS_HOLDS_SCATTER);
}

static bool computed_again(const struct ts_fusion_case *what)
{
	return what->nr_users > 1 && (what->walk->traits[what->made.instr] & TS_HOLDS_COSTLY);
}

static bool has_users(const struct ts_fusion_case *what)
{
	return what->nr_users > 1;
}

/* The instruction that makes an output of an op: inside a fusion, past changes of type and view. */
static const struct ts_hlo_instr *maker(const struct ts_fusion_case *what)
{
	const struct ts_hlo_module *module = what->walk->module;
	const struct ts_hlo_instr *instr = producer(what);
	int64_t leaf = what->made.leaf;

	for (int i = 0; i < MAX_HOPS; i++) {
		if (instr->opcode == TS_OPCODE_FUSION && instr->nr_called > 0)
			instr = &module->instrs[module->comps[instr->called[0]].root];
		else if (instr->opcode == TS_OPCODE_TUPLE && leaf >= 0 && leaf < instr->nr_operands)
			instr = &module->instrs[instr->operands[leaf]];
		else if ((instr->opcode == TS_OPCODE_CONVERT ||
			  instr->opcode == TS_OPCODE_BITCAST) &&
			 instr->nr_operands > 0)
			instr = &module->instrs[instr->operands[0]];
		else
			break;
	}
	return instr;
}

static bool after_reduce(const struct ts_fusion_case *what)
{
	return maker(what)->opcode == TS_OPCODE_REDUCE ||
	       maker(what)->opcode == TS_OPCODE_REDUCE_WINDOW;
}

static bool has_many_operands(const struct ts_fusion_case *what)
{
	const struct ts_hlo_instr *a = producer(what), *b = fusion_reason_consumer(what);

	return (uint64_t)a->nr_operands + b->nr_operands + a->shape.nr_parts + b->shape.nr_parts >
	       MAX_OPERANDS;
}

static bool before_product(const struct ts_fusion_case *what)
{
	return what->walk->traits[what->consumer] & TS_HOLDS_MATRIX;
}

static bool after_product(const struct ts_fusion_case *what)
{
	return what->walk->traits[what->made.instr] & TS_HOLDS_MATRIX;
}

static bool always(const struct ts_fusion_case *what)
{
	return true;
}

static const struct {
	struct ts_reason reason;
	bool (*fits)(const struct ts_fusion_case *what);
} reasons[] = {
	{ { "host_transfer", "an end of it is the host's memory or a transfer with the host",
	    "Move the array to or from the host outside the hot path, or keep it on the device.",
	    TS_CERTAIN, "to and from the host" },
	  with_host },
	{ { "collective", "a collective sends or receives whole arrays in HBM",
	    "Send what takes fewer bytes: convert to bf16 before the collective, reduce or scale "
	    "after it, and join small collectives into one.",
	    TS_CERTAIN, "around collectives" },
	  with_collective },
	{ { "async", "an asynchronous copy moves it between memories on its own", NULL, TS_CERTAIN,
	    "asynchronous copies" },
	  with_async },
	{ { "custom_call", "a custom call is a kernel of its own, which XLA cannot look into",
	    "Do the neighbour's work inside the Pallas kernel (an epilogue on the block it holds), "
	    "or write the kernel's work in jnp where XLA does as well.",
	    TS_CERTAIN, "around custom calls" },
	  with_custom_call },
	{ { "sort", "a sort runs as a kernel of its own",
	    "Sort less: keys alone with the indices beside them, jax.lax.top_k or approx_max_k "
	    "instead of a whole sort.",
	    TS_CERTAIN, "around sorts" },
	  with_sort },
	{ { "whole_op", "an op of this kind (FFT, solver, random bits) runs as a kernel of its own",
	    "Make fewer and larger calls of it (vmap); for random bits, draw once in the type that "
	    "is needed, or use the rbg generator.",
	    TS_CERTAIN, "around FFTs, solvers and random bits" },
	  with_whole_op },
	{ { "loop_carried", "a loop carries it from one trip to the next",
	    "Carry less: a smaller type, or only what the next trip needs; unroll the scan "
	    "(unroll=2 and more) so that trips share a schedule.",
	    TS_LIKELY, "carried by loops" },
	  is_carried },
	{ { "control",
	    "it passes the edge of a loop, a branch or a call, where each side is compiled alone",
	    "Move the op to the other side: compute inside the scan body what is used there alone, "
	    "or take out of it what does not change; jnp.where instead of lax.cond for little "
	    "work.",
	    TS_CERTAIN, "across the edges of loops and branches" },
	  crosses },
	{ { "copy",
	    "it is copied as it is: probably its buffer is still needed, or must not be shared",
	    "Donate the argument (donate_argnums), and do not use an array again after it was "
	    "updated.",
	    TS_LIKELY, "copied as they are" },
	  with_copy },
	{ { "layout",
	    "its layout is changed on the way: probably producer and consumer want different ones",
	    "Write products as einsum over the dimensions as they are, without transposes and "
	    "reshapes between; keep parameters in the order in which they are used.",
	    TS_LIKELY, "layout changed on the way" },
	  with_layout_change },
	{ { "in_place",
	    "part of an array is updated in place: probably fusing it would cost a copy of the "
	    "whole",
	    "Update once with all the values instead of piece by piece, and read the values before "
	    "they are put into the large array.",
	    TS_LIKELY, "updated in place" },
	  with_update },
	{ { "output",
	    "the module gives it out, so it is written in any case: probably reading it again was "
	    "not more expensive",
	    "If no code outside the module needs it, do not return it.", TS_LIKELY,
	    "also results of the module" },
	  is_given_out },
	{ { "two_products",
	    "both hold a matrix product: probably because each fills the matrix unit by itself",
	    "Work in pieces whose intermediate fits on the chip (lax.map with batch_size), keep it "
	    "in bf16, or use a kernel that does both products (flash attention, a fused MLP in "
	    "Pallas).",
	    TS_LIKELY, "between two matrix products" },
	  between_products },
	{ { "gather",
	    "a gather or scatter picks rows by index: probably its neighbour cannot follow",
	    "Gather after the elementwise work where the table is smaller than what is gathered, "
	    "or before it where it is larger; a one-hot product for small tables.",
	    TS_LIKELY, "around gathers and scatters" },
	  with_gather },
	{ { "recompute", "several ops read it, and probably it is too expensive to compute in each",
	    "Let one op do what its users do (compute them in one expression), or give each its "
	    "own copy of the cheap part: divide and exp after the shared product, not before.",
	    TS_LIKELY, "too costly to compute twice" },
	  computed_again },
	{ { "several_users",
	    "several ops read it: probably storing it was cheaper than computing it in each",
	    "Bring its users together, so that one fusion reads it once; store it in bf16.",
	    TS_LIKELY, "read by several ops" },
	  has_users },
	{ { "reduce",
	    "it is the result of a reduction: probably its consumer needs all of it first",
	    "Use a form with one pass (sum and sum of squares together, an online softmax), or "
	    "reduce over the minor dimension.",
	    TS_LIKELY, "behind reductions" },
	  after_reduce },
	{ { "operands", "together they would have more operands than a fusion may have",
	    "Join small arrays into one (ravel_pytree, stack) before the work on them.",
	    TS_POSSIBLE, "too many operands" },
	  has_many_operands },
	{ { "before_product",
	    "it feeds a matrix product, whose operands are read again for each tile: probably it "
	    "was cheaper to compute it once",
	    "Convert to bf16 before it is stored, or do the elementwise work after the product.",
	    TS_POSSIBLE, "in front of matrix products" },
	  before_product },
	{ { "after_product",
	    "it leaves a matrix product: probably on-chip memory is full with the product's own "
	    "windows",
	    "Write the product's result in bf16 (preferred_element_type), and keep its epilogue "
	    "elementwise over the same shape.",
	    TS_POSSIBLE, "behind matrix products" },
	  after_product },
	{ { "unknown",
	    "nothing in the module forbids it: probably on-chip memory, code size or the "
	    "compiler's cost model",
	    "Compute both in one expression over one shape, without reshapes between.", TS_POSSIBLE,
	    "reason unknown" },
	  always },
};

const struct ts_reason *ts_fusion_reason_of(const struct ts_fusion_case *what)
{
	size_t i = 0;

	TS_ASSERT(what->made.instr < what->walk->module->nr_instrs);
	TS_ASSERT(what->consumer < what->walk->module->nr_instrs);
	while (i + 1 < TS_NELEM(reasons) && !reasons[i].fits(what))
		i++;
	return &reasons[i].reason;
}
