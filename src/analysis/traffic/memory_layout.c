/* SPDX-License-Identifier: MIT */
/*
 * Copies: ops that compute nothing and bring an array into another layout, memory or place. Its
 * maker and its next reader are found behind names; memory_reason.c knows why it is moved.
 */
#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "analysis/traffic/memory.h"
#include "base/order.h"
#include "result/schema/memory.def"

#define MAX_STEPS 256 /* names followed from an array to its readers */
#define MAX_DEPTH 16  /* of fusions inside fusions */

static const struct ts_hlo_instr *memory_layout_instr_of(const struct memory_copy *copy)
{
	return &copy->module->instrs[copy->instr];
}

static bool is_mover(const struct ts_hlo_instr *instr)
{
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_COPY, TS_OPCODE_TRANSPOSE, TS_OPCODE_RESHAPE,
			    TS_OPCODE_COPY_START);
}

/* A fusion with nothing but moves inside. */
static bool memory_layout_only_moves(const struct ts_hlo_module *module,
				     const struct ts_hlo_instr *fusion, unsigned depth)
{
	const struct ts_hlo_comp *comp;
	bool any = false;

	if (fusion->opcode != TS_OPCODE_FUSION || fusion->nr_called == 0 || depth > MAX_DEPTH)
		return false;
	comp = &module->comps[fusion->called[0]];
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		const struct ts_hlo_instr *inside = &module->instrs[comp->first_instr + i];

		if (ts_hlo_is_name(inside))
			continue;
		if (!is_mover(inside) && !memory_layout_only_moves(module, inside, depth + 1))
			return false;
		any = true;
	}
	return any;
}

/* Places still to be followed. */
struct queue {
	struct ts_hlo_place items[MAX_STEPS];
	size_t nr;
};

static void memory_layout_push(struct queue *queue, uint32_t instr, int64_t leaf)
{
	if (queue->nr < MAX_STEPS)
		queue->items[queue->nr++] = (struct ts_hlo_place){ instr, leaf };
}

static bool updates_in_place(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr)
{
	if (instr->opcode == TS_OPCODE_FUSION && instr->nr_called > 0)
		instr = &module->instrs[module->comps[instr->called[0]].root];
	return instr->opcode == TS_OPCODE_DYNAMIC_UPDATE_SLICE ||
	       instr->opcode == TS_OPCODE_SCATTER;
}

static void meet_user(const struct memory_walk *walk, struct ts_hlo_place place, uint32_t user,
		      struct queue *queue, struct memory_readers *readers)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[user];

	if (instr->opcode == TS_OPCODE_GET_TUPLE_ELEMENT) {
		if (place.leaf == TS_HLO_WHOLE || place.leaf == instr->tuple_index)
			memory_layout_push(queue, user, TS_HLO_WHOLE);
	} else if (instr->opcode == TS_OPCODE_TUPLE) {
		for (uint32_t i = 0; i < instr->nr_operands; i++)
			if (instr->operands[i] == place.instr)
				memory_layout_push(queue, user, i);
	} else if (ts_hlo_is_name(instr) || ts_hlo_is_done(instr)) {
		memory_layout_push(queue, user, place.leaf);
	} else if (readers->first == TS_NONE || user < readers->first) {
		readers->first = user;
	}
	readers->updates |= updates_in_place(walk->module, instr);
}

static struct memory_readers find_readers(const struct memory_walk *walk, uint32_t from)
{
	struct memory_readers readers = { .first = TS_NONE };
	struct queue queue;

	queue.nr = 0;
	memory_layout_push(&queue, from, TS_HLO_WHOLE);
	for (size_t at = 0; at < queue.nr; at++) {
		struct ts_hlo_place place = queue.items[at];
		const struct ts_hlo_instr *instr = &walk->module->instrs[place.instr];
		const struct ts_hlo_comp *comp = &walk->module->comps[instr->computation];

		if (comp->root == place.instr) {
			readers.is_output |= instr->computation == walk->module->entry;
			readers.is_carried |= instr->computation != walk->module->entry;
		}
		for (uint32_t i = 0; i < instr->nr_users; i++)
			if (i == 0 || instr->users[i] != instr->users[i - 1])
				meet_user(walk, place, instr->users[i], &queue, &readers);
	}
	return readers;
}

/* The array moved, and where it ends. */
static const struct ts_shape *memory_layout_first_array(const struct ts_shape *shape)
{
	return shape->dtype == TS_TUPLE && shape->nr_parts > 0 ? &shape->parts[0] : shape;
}

static void find_producer(const struct memory_walk *walk, struct memory_copy *copy)
{
	const struct ts_hlo_instr *instr = memory_layout_instr_of(copy);
	struct ts_hlo_trace trace = { .module = walk->module, .caller = walk->caller };

	trace.place = (struct ts_hlo_place){ instr->operands[0], TS_HLO_WHOLE };
	if (ts_hlo_trace_back(&trace))
		copy->producer = trace.place.instr;
	else
		copy->from_argument =
			walk->module->instrs[trace.place.instr].opcode == TS_OPCODE_PARAMETER &&
			walk->module->instrs[trace.place.instr].computation == walk->module->entry;
}

static int64_t memory_layout_sum_of(const int64_t *bytes)
{
	int64_t sum = 0;

	for (int i = 0; i < TS_NR_MEMORIES; i++)
		if (i != TS_MEMORY_OTHER)
			sum = ts_i64_add(sum, bytes[i]);
	return sum;
}

static enum ts_status add_copy(const struct memory_walk *walk, const struct ts_memory_op *op,
			       uint32_t index, struct memory_copies *copies, struct ts_error *err)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[index];
	struct memory_copy copy = { .module = walk->module,
				    .instr = index,
				    .producer = TS_NONE,
				    .executions = op->executions,
				    .self_ps = op->self_ps,
				    .source = op->source };

	copy.from = memory_layout_first_array(&walk->module->instrs[instr->operands[0]].shape);
	copy.to = memory_layout_first_array(&instr->shape);
	if (copy.from->dtype == TS_TUPLE || ts_shape_elements(copy.to) <= 1)
		return TS_OK;
	copy.touches_host =
		copy.from->memory_space == TS_SPACE_HOST || copy.to->memory_space == TS_SPACE_HOST;
	copy.changes_memory = copy.from->memory_space != copy.to->memory_space;
	copy.readers = find_readers(walk, index);
	find_producer(walk, &copy);
	copy.reason = ts_memory_reason_of(&copy);
	copy.bytes = ts_i64_add(op->all.unsplit_bytes,
				ts_i64_add(memory_layout_sum_of(op->all.read_bytes),
					   memory_layout_sum_of(op->all.written_bytes))) /
		     TS_MAX(op->executions, 1);
	if (!ts_grow(&copies->items, &copies->cap, copies->nr + 1, sizeof(*copies->items)))
		return ts_fail_nomem(err);
	copies->items[copies->nr++] = copy;
	return TS_OK;
}

enum ts_status ts_memory_find_copies(const struct memory_walk *walk, struct memory_copies *copies,
				     struct ts_error *err)
{
	const struct ts_hlo_module *module = walk->module;
	enum ts_status st;

	TS_ASSERT(walk->inner && walk->caller);
	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];
		struct ts_memory_op op;

		if (walk->inner[instr->computation] || instr->nr_operands == 0 ||
		    (!is_mover(instr) && !memory_layout_only_moves(module, instr, 0)) ||
		    !ts_memory_op_at(walk->memory, walk->index, i, &op))
			continue;
		st = add_copy(walk, &op, i, copies, err);
		if (st)
			return st;
	}
	return TS_OK;
}

TS_ORDER(memory_layout_by_time, struct memory_copy,
	 TS_DOWN(self_ps) TS_DOWN(bytes) TS_UP(module) TS_UP(instr))

static const char *consumer_words(const struct memory_copy *copy)
{
	if (copy->readers.is_output)
		return "(result)";
	return copy->readers.is_carried ? "(next trip)" : NULL;
}

static struct ts_bytes name_or(const struct memory_copy *copy, uint32_t instr, const char *words)
{
	return instr != TS_NONE ? copy->module->instrs[instr].name : ts_bytes_of(words);
}

static struct ts_memory_copy memory_layout_make_fact(struct ts_result *result,
						     const struct memory_copy *copy)
{
	return (struct ts_memory_copy){
		.module = copy->module,
		.instr = copy->instr,
		.producer =
			name_or(copy, copy->producer, copy->from_argument ? "(argument)" : NULL),
		.consumer = name_or(copy, copy->readers.first, consumer_words(copy)),
		.from = ts_result_shape(result, copy->from),
		.to = ts_result_shape(result, copy->to),
		.reason = copy->reason,
		.is_transfer = copy->touches_host || copy->changes_memory,
		.executions = copy->executions,
		.self_ps = copy->self_ps,
		.bytes = copy->bytes,
		.source = copy->source.n > 0
				  ? copy->source
				  : ts_instr_source(result, memory_layout_instr_of(copy)),
	};
}

/* The first ones become facts. */
static enum ts_status list_copies(struct memory *memory, const struct memory_copies *copies,
				  struct ts_error *err)
{
	size_t nr = TS_MIN(copies->nr, TS_MEMORY_MAX_ROWS);
	struct ts_memory_copy *facts =
		ts_arena_array(&memory->result->owner->arena, nr + 1, sizeof(*facts));

	for (size_t i = 0; i < nr && facts; i++)
		facts[i] = memory_layout_make_fact(memory->result, &copies->items[i]);
	memory->facts->copies = facts;
	memory->facts->nr_copies = facts ? nr : 0;
	return facts ? TS_OK : ts_fail_nomem(err);
}

static struct ts_value total_bytes(const struct ts_memory_copy *copy)
{
	return copy->executions < 0 ? ts_null() : ts_int(ts_i64_mul(copy->bytes, copy->executions));
}

#define COPY_CELLS(X) \
	X(op, ts_text(instr->name)) \
	X(module, ts_text_or_null(copy->module->name)) \
	X(producer, ts_text_or_null(copy->producer)) \
	X(consumer, ts_text_or_null(copy->consumer)) \
	X(from, ts_text_or_null(copy->from)) \
	X(to, ts_text_or_null(copy->to)) \
	X(reason_code, ts_string_cell(copy->reason->code)) \
	X(executions, ts_int_or_null(copy->executions)) \
	X(bytes, ts_int(copy->bytes)) \
	X(total_bytes, total_bytes(copy)) \
	X(time_ps, ts_int_or_null(copy->self_ps)) \
	X(source, ts_text_or_null(copy->source)) \
	X(reason, ts_string_cell(copy->reason->words)) \
	X(advice, ts_string_cell(copy->reason->advice)) \
	X(confidence, ts_string_cell(ts_confidence_name(copy->reason->confidence))) \
	X(opcode, ts_text(instr->opcode_text))

static void memory_layout_put_table(const struct memory *memory)
{
	struct ts_table *table = TS_TABLE(memory->result, memory_layout_copies);

	for (size_t i = 0; i < memory->facts->nr_copies; i++) {
		const struct ts_memory_copy *copy = &memory->facts->copies[i];
		const struct ts_hlo_instr *instr = &copy->module->instrs[copy->instr];

		TS_CELLS(memory->result, table, memory_layout_copies, COPY_CELLS);
	}
}

/* Of all that change a layout or make room, not of moves between memories. */
static void memory_layout_put_fields(struct memory *memory, const struct memory_copies *copies)
{
	int64_t nr = 0, ps = 0, bytes = 0;

	for (size_t i = 0; i < copies->nr; i++) {
		const struct memory_copy *copy = &copies->items[i];

		if (copy->changes_memory)
			continue;
		nr++;
		ps = ts_i64_add(ps, TS_MAX(copy->self_ps, 0));
		bytes = ts_i64_add(bytes, ts_i64_mul(copy->bytes, TS_MAX(copy->executions, 1)));
	}
	if (memory->ctx->profile->nr_modules == 0)
		return; /* they are found in compiled modules: without one they are unknown */
	TS_SET(memory->result, memory, layout_copy_count, ts_int(nr));
	TS_SET(memory->result, memory, layout_copy_bytes, ts_int(bytes))->label =
		nr > 0 ? "bytes of those" : NULL;
	TS_SET(memory->result, memory, layout_copy_ps, memory->measured ? ts_int(ps) : ts_null())
		->label = nr > 0 ? "time of those" : NULL;
}

enum ts_status ts_memory_put_copies(struct memory *memory, struct memory_copies *copies,
				    struct ts_error *err)
{
	enum ts_status st;

	if (memory->nr_ops == 0)
		return TS_OK;
	memory_layout_put_fields(memory, copies);
	TS_SORT(copies->items, copies->nr, memory_layout_by_time);
	st = list_copies(memory, copies, err);
	if (st)
		return st;
	memory_layout_put_table(memory);
	if (copies->nr > TS_MEMORY_MAX_ROWS)
		ts_result_note(memory->result, "%zu more copies take less time and are not listed.",
			       copies->nr - TS_MEMORY_MAX_ROWS);
	return TS_OK;
}
