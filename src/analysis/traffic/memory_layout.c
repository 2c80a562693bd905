/*
 * Copies: ops that compute nothing and bring an array into another layout, memory or place. Its maker
 * and its next reader are found behind names. Why it is moved follows from layouts, memories and
 * neighbours, as XLA's layout assignment and copy insertion put copies in
 * (xla/service/layout_assignment.cc, copy_insertion.cc). A module does not say it outright.
 */
#include "analysis/kit/cells.h"
#include "analysis/kit/table.h"
#include "analysis/traffic/memory.h"

#define MAX_STEPS 256 /* names followed from an array to its readers */
#define MAX_DEPTH 16  /* of fusions inside fusions */

/* The readers of an array, found behind names. */
struct readers {
	uint32_t first;	 /* the first kernel in the schedule; TS_NONE */
	bool is_output;	 /* the module gives it out */
	bool is_carried; /* it goes into a loop's next trip, or out of a branch or call */
	bool updates;	 /* a reader writes into it in place */
};

struct memory_copy {
	const struct ts_hlo_module *module;
	uint32_t instr, producer; /* producer TS_NONE: an argument, or it is unknown */
	const struct ts_shape *from, *to;
	bool from_argument;
	struct readers readers;
	const struct ts_reason *reason;
	int64_t executions, self_ps; /* -1: no run */
	int64_t bytes;		     /* of one execution */
	struct ts_bytes source;
};

static bool is(const struct ts_hlo_instr *instr, const char *opcode)
{
	return ts_bytes_is(instr->opcode, opcode);
}

static const struct ts_hlo_instr *instr_of(const struct memory_copy *copy)
{
	return &copy->module->instrs[copy->instr];
}

static bool is_mover(const struct ts_hlo_instr *instr)
{
	return is(instr, "copy") || is(instr, "transpose") || is(instr, "reshape") ||
	       is(instr, "copy-start");
}

/* A fusion with nothing but moves inside. */
static bool only_moves(const struct ts_hlo_module *module, const struct ts_hlo_instr *fusion,
		       unsigned depth)
{
	const struct ts_hlo_comp *comp;
	bool any = false;

	if (!is(fusion, "fusion") || fusion->nr_called == 0 || depth > MAX_DEPTH)
		return false;
	comp = &module->comps[fusion->called[0]];
	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		const struct ts_hlo_instr *inside = &module->instrs[comp->first_instr + i];

		if (ts_hlo_is_name(inside))
			continue;
		if (!is_mover(inside) && !only_moves(module, inside, depth + 1))
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

static void push(struct queue *queue, uint32_t instr, int64_t leaf)
{
	if (queue->nr < MAX_STEPS)
		queue->items[queue->nr++] = (struct ts_hlo_place){ instr, leaf };
}

static bool updates_in_place(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr)
{
	if (is(instr, "fusion") && instr->nr_called > 0)
		instr = &module->instrs[module->comps[instr->called[0]].root];
	return is(instr, "dynamic-update-slice") || is(instr, "scatter");
}

static void meet_user(const struct memory_walk *walk, struct ts_hlo_place place, uint32_t user,
		      struct queue *queue, struct readers *readers)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[user];

	if (is(instr, "get-tuple-element")) {
		if (place.leaf == TS_HLO_WHOLE || place.leaf == instr->tuple_index)
			push(queue, user, TS_HLO_WHOLE);
	} else if (is(instr, "tuple")) {
		for (uint32_t i = 0; i < instr->nr_operands; i++)
			if (instr->operands[i] == place.instr)
				push(queue, user, i);
	} else if (ts_hlo_is_name(instr) || ts_hlo_is_done(instr)) {
		push(queue, user, place.leaf);
	} else if (readers->first == TS_NONE || user < readers->first) {
		readers->first = user;
	}
	readers->updates |= updates_in_place(walk->module, instr);
}

static struct readers find_readers(const struct memory_walk *walk, uint32_t from)
{
	struct readers readers = { .first = TS_NONE };
	struct queue queue;

	queue.nr = 0;
	push(&queue, from, TS_HLO_WHOLE);
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
static const struct ts_shape *first_array(const struct ts_shape *shape)
{
	return shape->dtype == TS_TUPLE && shape->nr_parts > 0 ? &shape->parts[0] : shape;
}

static void find_producer(const struct memory_walk *walk, struct memory_copy *copy)
{
	const struct ts_hlo_instr *instr = instr_of(copy);
	struct ts_hlo_trace trace = { .module = walk->module, .caller = walk->caller };

	trace.place = (struct ts_hlo_place){ instr->operands[0], TS_HLO_WHOLE };
	if (ts_hlo_trace_back(&trace))
		copy->producer = trace.place.instr;
	else
		copy->from_argument =
			is(&walk->module->instrs[trace.place.instr], "parameter") &&
			walk->module->instrs[trace.place.instr].computation == walk->module->entry;
}

static const struct ts_hlo_instr *consumer(const struct memory_copy *copy)
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

static bool same_layout(const struct ts_shape *a, const struct ts_shape *b)
{
	if (a->has_layout != b->has_layout || a->rank != b->rank || a->nr_tiles != b->nr_tiles)
		return false;
	for (uint32_t i = 0; i < a->nr_tiles; i++)
		if (!same_tile(&a->tiles[i], &b->tiles[i]))
			return false;
	return !a->has_layout || same_numbers(a->minor_to_major, b->minor_to_major, a->rank);
}

static bool same_dims(const struct ts_shape *a, const struct ts_shape *b)
{
	if (a->rank != b->rank)
		return false;
	for (uint32_t i = 0; i < a->rank; i++)
		if (a->dims[i] != b->dims[i])
			return false;
	return true;
}

/* The last part of jit(f)/jit(main)/transpose. */
static bool asks(const struct memory_copy *copy, const char *what)
{
	struct ts_bytes name = instr_of(copy)->op_name;
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] != '/')
		at--;
	return ts_bytes_is(ts_bytes_cut(name, at, name.n - at), what);
}

static bool inside_is(const struct memory_copy *copy, const char *opcode)
{
	const struct ts_hlo_instr *instr = instr_of(copy);

	if (is(instr, "fusion"))
		instr = &copy->module->instrs[copy->module->comps[instr->called[0]].root];
	return is(instr, opcode);
}

static bool touches_host(const struct memory_copy *copy)
{
	return copy->from->memory_space == TS_SPACE_HOST || copy->to->memory_space == TS_SPACE_HOST;
}

static bool changes_memory(const struct memory_copy *copy)
{
	return copy->from->memory_space != copy->to->memory_space;
}

static bool is_transpose(const struct memory_copy *copy)
{
	return inside_is(copy, "transpose") || asks(copy, "transpose");
}

static bool is_reshape(const struct memory_copy *copy)
{
	return inside_is(copy, "reshape") || asks(copy, "reshape") || asks(copy, "squeeze") ||
	       asks(copy, "expand_dims");
}

static bool changes_layout(const struct memory_copy *copy)
{
	return !same_layout(copy->from, copy->to) || !same_dims(copy->from, copy->to);
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
	return changes_layout(copy) && consumer(copy) && is(consumer(copy), "custom-call");
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
	return copy->from_argument && (copy->readers.updates || copy->readers.is_carried ||
				       (consumer(copy) && ts_hlo_is_control(consumer(copy))));
}

static bool keeps_for_loop(const struct memory_copy *copy)
{
	return copy->readers.is_carried || (consumer(copy) && ts_hlo_is_control(consumer(copy)));
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
	  touches_host },
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

static const struct ts_reason *reason_of(const struct memory_copy *copy)
{
	size_t i = 0;

	while (!reasons[i].fits(copy))
		i++;
	return &reasons[i].reason;
}

static int64_t sum_of(const int64_t *bytes)
{
	int64_t sum = 0;

	for (int i = 0; i < TS_NR_MEMORIES; i++)
		if (i != TS_MEMORY_OTHER)
			sum = ts_i64_add(sum, bytes[i]);
	return sum;
}

static int64_t moved_bytes(const struct ts_memory_op *op)
{
	return ts_i64_add(op->all.unsplit_bytes,
			  ts_i64_add(sum_of(op->all.read_bytes), sum_of(op->all.written_bytes)));
}

static bool add_copy(const struct memory_walk *walk, const struct ts_memory_op *op, uint32_t index,
		     struct memory_copies *copies)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[index];
	struct memory_copy copy = { .module = walk->module,
				    .instr = index,
				    .producer = TS_NONE,
				    .executions = op->executions,
				    .self_ps = op->self_ps,
				    .source = op->source };

	copy.from = first_array(&walk->module->instrs[instr->operands[0]].shape);
	copy.to = first_array(&instr->shape);
	if (copy.from->dtype == TS_TUPLE || ts_shape_elements(copy.to) <= 1)
		return true;
	copy.readers = find_readers(walk, index);
	find_producer(walk, &copy);
	copy.reason = reason_of(&copy);
	copy.bytes = moved_bytes(op) / TS_MAX(op->executions, 1);
	if (!ts_grow(&copies->items, &copies->cap, copies->nr + 1, sizeof(*copies->items)))
		return false;
	copies->items[copies->nr++] = copy;
	return true;
}

bool ts_memory_find_copies(const struct memory_walk *walk, struct memory_copies *copies)
{
	const struct ts_hlo_module *module = walk->module;

	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];
		const struct ts_memory_op *op;

		if (walk->inner[instr->computation] || instr->nr_operands == 0 ||
		    (!is_mover(instr) && !only_moves(module, instr, 0)))
			continue;
		op = ts_memory_op_at(walk->memory, walk->index, i);
		if (op && !add_copy(walk, op, i, copies))
			return false;
	}
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct memory_copy *x = a, *y = b;

	if (x->self_ps != y->self_ps)
		return x->self_ps > y->self_ps ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->instr > y->instr) - (x->instr < y->instr);
}

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

static struct ts_memory_copy make_fact(struct ts_result *result, const struct memory_copy *copy)
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
		.is_transfer = touches_host(copy) || changes_memory(copy),
		.executions = copy->executions,
		.self_ps = copy->self_ps,
		.bytes = copy->bytes,
		.source = copy->source.n > 0 ? copy->source
					     : ts_result_source(result, instr_of(copy)),
	};
}

/* The first ones become facts. */
static bool list_copies(struct memory *memory, const struct memory_copies *copies)
{
	size_t nr = TS_MIN(copies->nr, TS_MEMORY_MAX_ROWS);
	struct ts_memory_copy *facts =
		ts_arena_array(&memory->result->owner->arena, nr + 1, sizeof(*facts));

	for (size_t i = 0; i < nr && facts; i++)
		facts[i] = make_fact(memory->result, &copies->items[i]);
	memory->facts->copies = facts;
	memory->facts->nr_copies = facts ? nr : 0;
	return facts != NULL;
}

static struct ts_value total_bytes(const struct ts_memory_copy *copy)
{
	return copy->executions < 0 ? ts_null() : ts_int(ts_i64_mul(copy->bytes, copy->executions));
}

#define COPY_COLUMNS(X) \
	X(op, TS_COMPILED, "op", ts_text(instr->name)) \
	X(module, TS_COMPILED, NULL, ts_text_or_null(copy->module->name)) \
	X(producer, TS_COMPILED, "made by", ts_text_or_null(copy->producer)) \
	X(consumer, TS_COMPILED, "read by", ts_text_or_null(copy->consumer)) \
	X(from, TS_COMPILED, "from", ts_text_or_null(copy->from)) \
	X(to, TS_COMPILED, "to", ts_text_or_null(copy->to)) \
	X(reason_code, TS_DERIVED, "why", ts_string_cell(copy->reason->code)) \
	X(executions, TS_MEASURED, "times", ts_int_or_null(copy->executions)) \
	X(bytes, TS_COMPILED, NULL, ts_int(copy->bytes)) \
	X(total_bytes, TS_COMPILED, "bytes", total_bytes(copy)) \
	X(time_ps, TS_MEASURED, "time", ts_int_or_null(copy->self_ps)) \
	X(source, TS_COMPILED, "source", ts_text_or_null(copy->source)) \
	X(reason, TS_DERIVED, NULL, ts_string_cell(copy->reason->words)) \
	X(advice, TS_DERIVED, NULL, ts_string_cell(copy->reason->advice)) \
	X(confidence, TS_DERIVED, NULL, ts_string_cell(ts_confidence_name(copy->reason->confidence))) \
	X(opcode, TS_COMPILED, NULL, ts_text(instr->opcode))

static const struct ts_column copy_columns[] = { COPY_COLUMNS(TS_COLUMN) };

static void put_table(const struct memory *memory)
{
	struct ts_table *table =
		ts_result_table(memory->result, "layout_copies", "Copies, transposes, reshapes",
				copy_columns, TS_NELEM(copy_columns));

	for (size_t i = 0; i < memory->facts->nr_copies; i++) {
		const struct ts_memory_copy *copy = &memory->facts->copies[i];
		const struct ts_hlo_instr *instr = &copy->module->instrs[copy->instr];

		TS_CELLS(memory->result, table, COPY_COLUMNS);
	}
}

/* Of all that change a layout or make room, not of moves between memories. */
static void put_fields(struct memory *memory, const struct memory_copies *copies)
{
	int64_t nr = 0, ps = 0, bytes = 0;

	for (size_t i = 0; i < copies->nr; i++) {
		const struct memory_copy *copy = &copies->items[i];

		if (changes_memory(copy))
			continue;
		nr++;
		ps = ts_i64_add(ps, TS_MAX(copy->self_ps, 0));
		bytes = ts_i64_add(bytes, ts_i64_mul(copy->bytes, TS_MAX(copy->executions, 1)));
	}
	ts_result_field(memory->result, "layout_copy_count", ts_int(nr), TS_COMPILED,
			"copies and transposes");
	ts_result_field(memory->result, "layout_copy_bytes", ts_int(bytes), TS_COMPILED,
			nr > 0 ? "bytes of those" : NULL);
	ts_result_field(memory->result, "layout_copy_ps", memory->measured ? ts_int(ps) : ts_null(),
			TS_MEASURED, nr > 0 ? "time of those" : NULL);
}

bool ts_memory_put_copies(struct memory *memory, struct memory_copies *copies)
{
	if (memory->nr_ops == 0)
		return true;
	put_fields(memory, copies);
	if (copies->nr > 1)
		qsort(copies->items, copies->nr, sizeof(*copies->items), by_time);
	if (!list_copies(memory, copies))
		return false;
	put_table(memory);
	if (copies->nr > TS_MEMORY_MAX_ROWS)
		ts_result_note(memory->result, "%zu more copies take less time and are not listed.",
			       copies->nr - TS_MEMORY_MAX_ROWS);
	return true;
}
