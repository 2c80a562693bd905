/* SPDX-License-Identifier: MIT */
/*
 * Why a copy is made. A compiled module does not say it outright: layouts, memories and neighbours
 * do, as XLA's layout assignment and copy insertion put copies in
 * (xla/service/layout_assignment.cc, copy_insertion.cc). The first reason that fits is taken.
 */
#include "analysis/traffic/memory.h"
#include "model/cost.h"

static const struct ts_hlo_instr *copied_by(const struct memory_copy *copy)
{
	return &copy->module->instrs[copy->instr];
}

static const struct ts_hlo_instr *memory_reason_consumer(const struct memory_copy *copy)
{
	return copy->readers.first == TS_NONE ? NULL : &copy->module->instrs[copy->readers.first];
}

static bool same_numbers(const uint32_t *a, const uint32_t *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static bool same_tile(const struct ts_tile *a, const struct ts_tile *b)
{
	if (a->nr_dims != b->nr_dims)
		return false;
	for (uint32_t i = 0; i < a->nr_dims; i++)
		if (a->dims[i] != b->dims[i])
			return false;
	return true;
}

static bool memory_reason_same_layout(const struct ts_shape *a, const struct ts_shape *b)
{
	if (a->has_layout != b->has_layout || a->rank != b->rank || a->nr_tiles != b->nr_tiles)
		return false;
	for (uint32_t i = 0; i < a->nr_tiles; i++)
		if (!same_tile(&a->tiles[i], &b->tiles[i]))
			return false;
	return !a->has_layout || same_numbers(a->minor_to_major, b->minor_to_major, a->rank);
}

/* The last part of jit(f)/jit(main)/transpose. */
static bool asks(const struct memory_copy *copy, const char *what)
{
	struct ts_bytes name = copied_by(copy)->op_name;
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] != '/')
		at--;
	return ts_bytes_is(ts_bytes_cut(name, at, name.n - at), what);
}

static bool inside_is(const struct memory_copy *copy, enum ts_opcode opcode)
{
	const struct ts_hlo_instr *instr = copied_by(copy);

	if (instr->opcode == TS_OPCODE_FUSION)
		instr = &copy->module->instrs[copy->module->comps[instr->called[0]].root];
	return instr->opcode == opcode;
}

static bool memory_reason_touches_host(const struct memory_copy *copy)
{
	return copy->touches_host;
}

static bool changes_memory(const struct memory_copy *copy)
{
	return copy->changes_memory;
}

static bool is_transpose(const struct memory_copy *copy)
{
	return inside_is(copy, TS_OPCODE_TRANSPOSE) || asks(copy, "transpose");
}

static bool is_reshape(const struct memory_copy *copy)
{
	return inside_is(copy, TS_OPCODE_RESHAPE) || asks(copy, "reshape") ||
	       asks(copy, "squeeze") || asks(copy, "expand_dims");
}

static bool changes_layout(const struct memory_copy *copy)
{
	return !memory_reason_same_layout(copy->from, copy->to) ||
	       !ts_shape_same_dims(copy->from, copy->to);
}

static bool changes_argument(const struct memory_copy *copy)
{
	return changes_layout(copy) && copy->from_argument;
}

static bool changes_result(const struct memory_copy *copy)
{
	return changes_layout(copy) && copy->readers.is_output && copy->readers.first == TS_NONE;
}

static bool changes_for_kernel(const struct memory_copy *copy)
{
	return changes_layout(copy) && memory_reason_consumer(copy) &&
	       memory_reason_consumer(copy)->opcode == TS_OPCODE_CUSTOM_CALL;
}

static bool changes_for_product(const struct memory_copy *copy)
{
	struct ts_matmul product;

	return changes_layout(copy) && copy->readers.first != TS_NONE &&
	       ts_hlo_matmuls(copy->module, copy->readers.first, &product, 1) > 0;
}

static bool returns_argument(const struct memory_copy *copy)
{
	return copy->from_argument && copy->readers.is_output;
}

static bool keeps_argument(const struct memory_copy *copy)
{
	return copy->from_argument &&
	       (copy->readers.updates || copy->readers.is_carried ||
		(memory_reason_consumer(copy) && ts_hlo_is_control(memory_reason_consumer(copy))));
}

static bool keeps_for_loop(const struct memory_copy *copy)
{
	return copy->readers.is_carried ||
	       (memory_reason_consumer(copy) && ts_hlo_is_control(memory_reason_consumer(copy)));
}

static bool keeps_for_update(const struct memory_copy *copy)
{
	return copy->readers.updates;
}

static bool fits_all(const struct memory_copy *copy)
{
	return true;
}

/* The first that fits. */
static const struct {
	struct ts_reason reason;
	bool (*fits)(const struct memory_copy *copy);
} reasons[] = {
	{ { "host", "it is moved between device and host memory", NULL, TS_CERTAIN },
	  memory_reason_touches_host },
	{ { "memory_space", "it is moved to another memory of the device, ahead of its use", NULL,
	    TS_CERTAIN },
	  changes_memory },
	{ { "transpose", "the program asks for a transpose",
	    "Let the next op take the array as it is: einsum and lax.dot_general contract any "
	    "dimensions; keep weights stored the way that their product reads them.",
	    TS_LIKELY },
	  is_transpose },
	{ { "reshape", "a reshape changes which elements share a tile",
	    "Keep the last two dimensions through the reshape, or split and join others; where "
	    "heads are split off, let einsum do it (bsd,dhk->bhsk).",
	    TS_LIKELY },
	  is_reshape },
	{ { "argument_layout", "the argument comes in another layout than its first reader wants",
	    "Keep the argument in the layout that the compiled program prefers: compile with "
	    "Layout.AUTO (jax.experimental.layout) and put the arrays there once.",
	    TS_CERTAIN },
	  changes_argument },
	{ { "result_layout", "the result is given out in another layout than it was made in",
	    "Let the compiler choose the result's layout (out_shardings with Layout.AUTO of "
	    "jax.experimental.layout), above all where the result is the next call's argument.",
	    TS_CERTAIN },
	  changes_result },
	{ { "kernel_layout", "the kernel that reads it takes row-major arrays only",
	    "Make the array in the kernel's layout: let the op before it give the dimensions in "
	    "that order, or have the kernel read the other order through its index maps.",
	    TS_LIKELY },
	  changes_for_kernel },
	{ { "product_layout", "the matrix product that reads it wants another dimension innermost",
	    "Make the array in the order that the product contracts: swap the operands' dimensions "
	    "in the einsum that makes it, or store the weight transposed.",
	    TS_LIKELY },
	  changes_for_product },
	{ { "layout", "its maker and its reader want different layouts",
	    "Bring maker and reader to one order of dimensions: the same innermost dimension in "
	    "both, a multiple of 128.",
	    TS_LIKELY },
	  changes_layout },
	{ { "argument_returned",
	    "an argument is given out as it came: without donation it is copied",
	    "Donate the argument (donate_argnums), or do not return what did not change.",
	    TS_CERTAIN },
	  returns_argument },
	{ { "argument_kept",
	    "an argument is overwritten in place, and may not be: it is not donated",
	    "Donate the argument: jax.jit(f, donate_argnums=...).", TS_LIKELY },
	  keeps_argument },
	{ { "loop", "a loop writes over it while its old value is still read",
	    "In the loop, read the old value before the update, or carry what is read and what is "
	    "written as two arrays.",
	    TS_LIKELY },
	  keeps_for_loop },
	{ { "in_place", "an update in place would destroy what others still read",
	    "Read the old value before the update (x.at[i].set) in the program's order, so that "
	    "the update comes last.",
	    TS_LIKELY },
	  keeps_for_update },
	{ { "alias", "two values may not share a buffer", NULL, TS_POSSIBLE }, fits_all },
};

const struct ts_reason *ts_memory_reason_of(const struct memory_copy *copy)
{
	size_t i = 0;

	TS_ASSERT(copy->from && copy->to && copy->instr < copy->module->nr_instrs);
	while (!reasons[i].fits(copy))
		i++;
	return &reasons[i].reason;
}
