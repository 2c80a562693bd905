/* SPDX-License-Identifier: MIT */
/*
 * Arrays that are stored wider than any reader needs: a kernel writes f32 to HBM, and each of its
 * readers rounds it to a smaller type first. Stored in that type, the same values reach the same
 * arithmetic with half of the bytes.
 *
 * Only arrays whose structure leaves no doubt are listed: every reader is a kernel in which the
 * array goes through moves alone into a convert to one and the same smaller type (certain), or into
 * a product of default precision, which on a TPU rounds its operands to bf16 (likely). Arrays that
 * leave their computation (results, a loop's state), or have a reader of another kind, are not.
 */
#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "analysis/traffic/memory.h"
#include "result/schema/memory.def"

#include "base/order.h"
#include "base/units.h"
#define MAX_DEPTH 24 /* moves and fusions followed inside a reader or maker */

struct wide {
	struct ts_hlo_place made;
	bool rejected, by_product, crosses;
	enum ts_dtype narrow; /* what its readers make of it; TS_DTYPE_INVALID: not read yet */
	uint32_t consumer;    /* the first */
	size_t nr_consumers;
	int64_t read_bytes; /* sum over consumers of bytes x executions */
	double read_ps;	    /* what these would save at most, by time */
};

struct finder {
	const struct memory_walk *walk;
	struct ts_map by_place;
	struct wide *items;
	size_t nr, cap;
};

struct memory_upcast {
	const struct ts_hlo_module *module;
	struct wide wide;
	enum ts_dtype widened_from;	 /* TS_DTYPE_INVALID: it was computed wide */
	int64_t executions, total_bytes; /* saved; -1 executions: no run */
	double impact_ps;
	struct ts_bytes source;
};

/* It changes places, not values. */
static bool memory_upcast_only_moves(const struct ts_hlo_instr *instr)
{
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_BITCAST, TS_OPCODE_RESHAPE,
			    TS_OPCODE_TRANSPOSE, TS_OPCODE_COPY, TS_OPCODE_BROADCAST,
			    TS_OPCODE_SLICE, TS_OPCODE_REVERSE);
}

static bool is_wide(const struct ts_shape *shape)
{
	return shape && shape->dtype == TS_F32 && shape->memory_space == TS_SPACE_HBM &&
	       ts_shape_elements(shape) > 1;
}

static bool memory_upcast_is_kernel(const struct memory_walk *walk,
				    const struct ts_hlo_instr *instr)
{
	return !walk->inner[instr->computation] && !ts_hlo_is_name(instr) &&
	       !ts_hlo_is_control(instr) && !ts_hlo_is_done(instr);
}

/* What a reader makes of its operand: a narrower type, or TS_DTYPE_INVALID: it needs all of it. */
struct use {
	enum ts_dtype narrow;
	bool by_product;
};

static struct use use_of(const struct ts_hlo_module *module, uint32_t user, uint32_t from,
			 unsigned depth);

/* All users of an instruction inside a fusion, which must agree. */
static struct use users_of(const struct ts_hlo_module *module, uint32_t index, unsigned depth)
{
	const struct ts_hlo_instr *instr = &module->instrs[index];
	const struct use none = { TS_DTYPE_INVALID, false };
	struct use all = none;

	if (depth > MAX_DEPTH || module->comps[instr->computation].root == index)
		return none; /* it is given out as it is */
	for (uint32_t i = 0; i < instr->nr_users; i++) {
		struct use one = use_of(module, instr->users[i], index, depth + 1);

		if (one.narrow == TS_DTYPE_INVALID || (i > 0 && one.narrow != all.narrow))
			return none;
		all.narrow = one.narrow;
		all.by_product |= one.by_product;
	}
	return all;
}

static struct use use_inside(const struct ts_hlo_module *module, const struct ts_hlo_instr *fusion,
			     uint32_t from, unsigned depth)
{
	struct use all = { TS_DTYPE_INVALID, false };
	const struct ts_hlo_comp *comp;

	if (fusion->nr_called == 0)
		return all;
	comp = &module->comps[fusion->called[0]];
	for (uint32_t i = 0; i < fusion->nr_operands; i++) {
		struct use one;

		if (fusion->operands[i] != from)
			continue;
		if (i >= comp->nr_params || comp->params[i] == TS_NONE)
			return (struct use){ TS_DTYPE_INVALID, false };
		one = users_of(module, comp->params[i], depth + 1);
		if (one.narrow == TS_DTYPE_INVALID ||
		    (all.narrow != TS_DTYPE_INVALID && one.narrow != all.narrow))
			return (struct use){ TS_DTYPE_INVALID, false };
		all.narrow = one.narrow;
		all.by_product |= one.by_product;
	}
	return all;
}

/* Tiles in its layout: a TPU's. There an f32 product takes bf16 operands unless asked not to. */
static bool rounds_operands(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr,
			    uint32_t from)
{
	if (instr->opcode != TS_OPCODE_CONVOLUTION && instr->opcode != TS_OPCODE_DOT)
		return false;
	return !instr->highest_precision && module->instrs[from].shape.nr_tiles > 0;
}

static struct use use_of(const struct ts_hlo_module *module, uint32_t user, uint32_t from,
			 unsigned depth)
{
	const struct ts_hlo_instr *instr = &module->instrs[user];

	if (instr->opcode == TS_OPCODE_CONVERT &&
	    (instr->shape.dtype == TS_F16 || instr->shape.dtype == TS_BF16))
		return (struct use){ instr->shape.dtype, false };
	if (rounds_operands(module, instr, from))
		return (struct use){ TS_BF16, true };
	if (instr->opcode == TS_OPCODE_FUSION && depth <= MAX_DEPTH)
		return use_inside(module, instr, from, depth);
	if (depth > 0 && memory_upcast_only_moves(instr))
		return users_of(module, user, depth);
	return (struct use){ TS_DTYPE_INVALID, false };
}

static uint64_t memory_upcast_key_of(struct ts_hlo_place place)
{
	return (uint64_t)place.instr << 32 | (uint32_t)(place.leaf + 1);
}

static enum ts_status memory_upcast_add_place(struct finder *finder, struct ts_hlo_place place,
					      struct ts_error *err)
{
	if (!is_wide(ts_hlo_place_shape(finder->walk->module, place)))
		return TS_OK;
	if (!ts_grow(&finder->items, &finder->cap, finder->nr + 1, sizeof(*finder->items)) ||
	    !ts_map_set(&finder->by_place, memory_upcast_key_of(place), (uint32_t)finder->nr))
		return ts_fail_nomem(err);
	finder->items[finder->nr++] = (struct wide){ .made = place, .consumer = TS_NONE };
	return TS_OK;
}

/* Results that f32 was computed or widened into by a kernel that could store them otherwise. */
static enum ts_status find_wide(struct finder *finder, struct ts_error *err)
{
	const struct ts_hlo_module *module = finder->walk->module;

	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];
		enum ts_status st = TS_OK;

		if (!memory_upcast_is_kernel(finder->walk, instr) ||
		    (!TS_OPCODE_IN(instr->opcode, TS_OPCODE_FUSION, TS_OPCODE_CONVERT,
				   TS_OPCODE_CONVOLUTION, TS_OPCODE_DOT)))
			continue;
		if (instr->shape.dtype != TS_TUPLE)
			st = memory_upcast_add_place(finder,
						     (struct ts_hlo_place){ i, TS_HLO_WHOLE }, err);
		for (uint32_t k = 0; k < instr->shape.nr_parts && st == TS_OK; k++)
			st = memory_upcast_add_place(finder, (struct ts_hlo_place){ i, k }, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static struct wide *wide_at(struct finder *finder, struct ts_hlo_place place, bool *crosses)
{
	struct ts_hlo_trace trace = { .module = finder->walk->module,
				      .caller = finder->walk->caller,
				      .place = place };
	uint32_t at;

	if (!ts_hlo_trace_back(&trace))
		return NULL;
	*crosses = trace.crosses || trace.carried;
	at = ts_map_find(&finder->by_place, memory_upcast_key_of(trace.place));
	return at == TS_NONE ? NULL : &finder->items[at];
}

/* A place that leaves its computation: its readers are not known here. */
static void reject(struct finder *finder, uint32_t instr, unsigned depth)
{
	const struct ts_hlo_instr *from = &finder->walk->module->instrs[instr];
	bool crosses;
	struct wide *wide = wide_at(finder, (struct ts_hlo_place){ instr, TS_HLO_WHOLE }, &crosses);

	if (wide)
		wide->rejected = true;
	if (depth > MAX_DEPTH)
		return;
	for (uint32_t i = 0; from->opcode == TS_OPCODE_TUPLE && i < from->nr_operands; i++)
		reject(finder, from->operands[i], depth + 1);
	for (uint32_t i = 0; from->opcode != TS_OPCODE_TUPLE && i < from->shape.nr_parts; i++) {
		wide = wide_at(finder, (struct ts_hlo_place){ instr, i }, &crosses);
		if (wide)
			wide->rejected = true;
	}
}

static void reject_escapes(struct finder *finder)
{
	const struct ts_hlo_module *module = finder->walk->module;

	for (uint32_t c = 0; c < module->nr_comps; c++)
		if (!finder->walk->inner[c])
			reject(finder, module->comps[c].root, 0);
	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];

		if (finder->walk->inner[instr->computation] || !ts_hlo_is_control(instr))
			continue;
		for (uint32_t k = 0; k < instr->nr_operands; k++)
			reject(finder, instr->operands[k], 0);
	}
}

/* Of an op's time, as much as its bytes would take at HBM's peak. */
static double memory_upcast_saved_ps(const struct memory_walk *walk, const struct ts_memory_op *op,
				     int64_t bytes)
{
	double ps = (double)bytes * walk->memory->byte_ps;

	return op && op->self_ps >= 0 ? fmin(ps, (double)op->self_ps) : ps;
}

static int64_t memory_upcast_times(const struct ts_memory_op *op, int64_t bytes)
{
	return op && op->executions >= 0 ? ts_i64_mul(bytes, op->executions) : bytes;
}

static int64_t narrowed(int64_t bytes, enum ts_dtype from, enum ts_dtype to)
{
	int64_t wide = ts_dtype_bits(from), narrow = ts_dtype_bits(to);

	return bytes / wide * (wide - narrow);
}

static void note_use(struct finder *finder, uint32_t consumer, uint32_t operand)
{
	const struct memory_walk *walk = finder->walk;
	uint32_t from = walk->module->instrs[consumer].operands[operand];
	const struct ts_memory_op *op;
	struct ts_memory_op ran;
	bool crosses;
	struct wide *wide = wide_at(finder, (struct ts_hlo_place){ from, TS_HLO_WHOLE }, &crosses);
	struct use use;
	int64_t bytes;

	if (!wide || wide->rejected)
		return;
	use = use_of(walk->module, consumer, from, 0);
	if (crosses || use.narrow == TS_DTYPE_INVALID ||
	    (wide->narrow != TS_DTYPE_INVALID && wide->narrow != use.narrow)) {
		wide->rejected = true;
		return;
	}
	wide->narrow = use.narrow;
	wide->by_product |= use.by_product;
	if (wide->consumer == TS_NONE)
		wide->consumer = consumer;
	wide->nr_consumers++;
	op = ts_memory_op_at(walk->memory, walk->index, consumer, &ran) ? &ran : NULL;
	bytes = memory_upcast_times(op, narrowed(ts_hlo_read_bytes(walk->module, consumer, operand),
						 TS_F32, use.narrow));
	wide->read_bytes = ts_i64_add(wide->read_bytes, bytes);
	wide->read_ps += memory_upcast_saved_ps(walk, op, bytes);
}

/* All kernels, and the ends of asynchronous ones, which hand on what their starts take. */
static void note_uses(struct finder *finder)
{
	const struct ts_hlo_module *module = finder->walk->module;

	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		if (!memory_upcast_is_kernel(finder->walk, &module->instrs[i]))
			continue;
		for (uint32_t k = 0; k < module->instrs[i].nr_operands; k++)
			note_use(finder, i, k);
	}
}

/* The type that the stored values had before they were widened. */
static enum ts_dtype widened_from(const struct ts_hlo_module *module, struct ts_hlo_place made)
{
	const struct ts_hlo_instr *instr = &module->instrs[made.instr];

	for (unsigned i = 0; i < MAX_DEPTH; i++) {
		if (instr->opcode == TS_OPCODE_FUSION && instr->nr_called > 0)
			instr = &module->instrs[module->comps[instr->called[0]].root];
		else if (instr->opcode == TS_OPCODE_TUPLE && made.leaf >= 0 &&
			 made.leaf < instr->nr_operands)
			instr = &module->instrs[instr->operands[made.leaf]];
		else if (memory_upcast_only_moves(instr) && instr->nr_operands > 0)
			instr = &module->instrs[instr->operands[0]];
		else
			break;
	}
	if (instr->opcode != TS_OPCODE_CONVERT || instr->nr_operands == 0)
		return TS_DTYPE_INVALID;
	return module->instrs[instr->operands[0]].shape.dtype;
}

static enum ts_status memory_upcast_take(struct finder *finder, const struct wide *wide,
					 struct memory_upcasts *upcasts, struct ts_error *err)
{
	const struct memory_walk *walk = finder->walk;
	struct memory_upcast *upcast;
	struct ts_memory_op op;
	int64_t bytes;

	if (wide->rejected || wide->nr_consumers == 0 ||
	    !ts_memory_op_at(walk->memory, walk->index, wide->made.instr, &op))
		return TS_OK;
	if (!ts_grow(&upcasts->items, &upcasts->cap, upcasts->nr + 1, sizeof(*upcasts->items)))
		return ts_fail_nomem(err);
	bytes = memory_upcast_times(
		&op, narrowed(ts_shape_bytes(ts_hlo_place_shape(walk->module, wide->made)), TS_F32,
			      wide->narrow));
	upcast = &upcasts->items[upcasts->nr++];
	*upcast = (struct memory_upcast){ .module = walk->module,
					  .wide = *wide,
					  .executions = op.executions,
					  .source = op.source };
	upcast->widened_from = widened_from(walk->module, wide->made);
	upcast->total_bytes = ts_i64_add(bytes, wide->read_bytes);
	upcast->impact_ps = memory_upcast_saved_ps(walk, &op, bytes) + wide->read_ps;
	return TS_OK;
}

enum ts_status ts_memory_find_upcasts(const struct memory_walk *walk,
				      struct memory_upcasts *upcasts, struct ts_error *err)
{
	struct finder finder = { .walk = walk };
	enum ts_status st;

	TS_ASSERT(walk->inner && walk->caller);
	st = find_wide(&finder, err);
	if (st)
		goto done;
	if (finder.nr > 0) {
		reject_escapes(&finder);
		note_uses(&finder);
	}
	for (size_t i = 0; i < finder.nr && st == TS_OK; i++)
		st = memory_upcast_take(&finder, &finder.items[i], upcasts, err);
done:
	ts_map_release(&finder.by_place);
	free(finder.items);
	return st;
}

TS_ORDER(memory_upcast_by_impact, struct memory_upcast,
	 TS_DOWN_OF(ts_or_zero, impact_ps) TS_DOWN(total_bytes) TS_UP(module) TS_UP(wide.made.instr)
		 TS_UP(wide.made.leaf))

static struct ts_value dtype_text(enum ts_dtype dtype)
{
	return dtype == TS_DTYPE_INVALID ? ts_null() : ts_text(ts_bytes_of(ts_dtype_name(dtype)));
}

static const char *memory_upcast_reason_of(const struct memory_upcast *upcast)
{
	if (upcast->wide.by_product)
		return "every reader rounds it, or is a product of default precision, which takes "
		       "bf16 operands";
	return "every reader converts it to the smaller type before anything else";
}

static struct ts_memory_upcast memory_upcast_make_fact(struct ts_result *result,
						       const struct memory_upcast *upcast)
{
	const struct ts_hlo_module *module = upcast->module;
	const struct wide *wide = &upcast->wide;

	return (struct ts_memory_upcast){
		.module = module,
		.instr = wide->made.instr,
		.consumer = wide->consumer,
		.nr_consumers = (int64_t)wide->nr_consumers,
		.stored = ts_result_shape(result, ts_hlo_place_shape(module, wide->made)),
		.widened_from = upcast->widened_from,
		.enough = wide->narrow,
		.executions = upcast->executions,
		.saved_bytes = upcast->total_bytes,
		.impact_ps = upcast->impact_ps,
		.confidence = wide->by_product ? TS_LIKELY : TS_CERTAIN,
		.reason = memory_upcast_reason_of(upcast),
		.source = upcast->source.n > 0
				  ? upcast->source
				  : ts_instr_source(result, &module->instrs[wide->made.instr]),
	};
}

/* The first ones become facts. */
static enum ts_status list_upcasts(struct memory *memory, const struct memory_upcasts *upcasts,
				   struct ts_error *err)
{
	size_t nr = TS_MIN(upcasts->nr, TS_MEMORY_MAX_ROWS);
	struct ts_memory_upcast *facts =
		ts_arena_array(&memory->result->owner->arena, nr + 1, sizeof(*facts));

	for (size_t i = 0; i < nr && facts; i++)
		facts[i] = memory_upcast_make_fact(memory->result, &upcasts->items[i]);
	memory->facts->upcasts = facts;
	memory->facts->nr_upcasts = facts ? nr : 0;
	return facts ? TS_OK : ts_fail_nomem(err);
}

#define UPCAST_CELLS(X) \
	X(op, ts_text(instrs[upcast->instr].name)) \
	X(module, ts_text_or_null(upcast->module->name)) \
	X(consumer, ts_text(instrs[upcast->consumer].name)) \
	X(consumers, ts_int(upcast->nr_consumers)) \
	X(stored, ts_text_or_null(upcast->stored)) \
	X(widened_from, dtype_text(upcast->widened_from)) \
	X(enough, dtype_text(upcast->enough)) \
	X(executions, ts_int_or_null(upcast->executions)) \
	X(total_bytes, ts_int(upcast->saved_bytes)) \
	X(impact_ps, ts_int_or_null(ts_whole(upcast->impact_ps))) \
	X(confidence, ts_string_cell(ts_confidence_name(upcast->confidence))) \
	X(source, ts_text_or_null(upcast->source)) \
	X(reason, ts_string_cell(upcast->reason))

static void memory_upcast_put_table(const struct memory *memory)
{
	struct ts_table *table = TS_TABLE(memory->result, memory_upcasts);

	for (size_t i = 0; i < memory->facts->nr_upcasts; i++) {
		const struct ts_memory_upcast *upcast = &memory->facts->upcasts[i];
		const struct ts_hlo_instr *instrs = upcast->module->instrs;

		TS_CELLS(memory->result, table, memory_upcasts, UPCAST_CELLS);
	}
}

static void memory_upcast_put_fields(struct memory *memory, const struct memory_upcasts *upcasts)
{
	int64_t bytes = 0;
	double ps = 0;

	for (size_t i = 0; i < upcasts->nr; i++) {
		bytes = ts_i64_add(bytes, upcasts->items[i].total_bytes);
		ps += upcasts->items[i].impact_ps;
	}
	if (memory->ctx->profile->nr_modules == 0)
		return;
	TS_SET(memory->result, memory, upcast_count, ts_int((int64_t)upcasts->nr));
	TS_SET(memory->result, memory, upcast_bytes, ts_int(bytes))->label =
		upcasts->nr > 0 ? "bytes to save there" : NULL;
	TS_SET(memory->result, memory, upcast_ps, ts_int_or_null(ts_whole(ps)))->label =
		upcasts->nr > 0 ? "time of those at most" : NULL;
}

enum ts_status ts_memory_put_upcasts(struct memory *memory, struct memory_upcasts *upcasts,
				     struct ts_error *err)
{
	enum ts_status st;

	if (memory->nr_ops == 0)
		return TS_OK;
	memory_upcast_put_fields(memory, upcasts);
	TS_SORT(upcasts->items, upcasts->nr, memory_upcast_by_impact);
	st = list_upcasts(memory, upcasts, err);
	if (st)
		return st;
	memory_upcast_put_table(memory);
	return TS_OK;
}
