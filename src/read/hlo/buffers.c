/* SPDX-License-Identifier: MIT */
/*
 * What stands where: input_output_alias of the module, and BufferAssignmentProto (openxla/xla,
 * xla/service/hlo.proto) read in place with the cursor.
 *
 * Places in a module are ids of instructions in newer protos, names in older ones; both are known
 * here. Left out: buffer_aliases: the ops say the same.
 */
#include "read/hlo/parts.h"

#include "base/check.h"

/* A buffer is a part of an op's shape, and is taken and freed a few times: more is not right. */

enum { ASSIGNMENT_BUFFERS = 1, ASSIGNMENT_ALLOCATIONS = 3, ASSIGNMENT_HEAPS = 4 };
enum { BUFFER_ID = 1, BUFFER_SIZE = 2, BUFFER_DEFINED_AT = 3, BUFFER_COLOR = 4 };
enum { LOCATION_NAME = 2, LOCATION_PATH = 3, LOCATION_ID = 4 };
enum {
	ALLOCATION_SIZE = 2,
	ALLOCATION_THREAD_LOCAL = 3,
	ALLOCATION_PARAMETER = 5,
	ALLOCATION_LIVE_OUT = 7,
	ALLOCATION_COLOR = 8,
	ALLOCATION_ASSIGNED = 9,
	ALLOCATION_CONSTANT = 12,
};
enum { ASSIGNED_BUFFER = 1, ASSIGNED_OFFSET = 2, ASSIGNED_SIZE = 3 };
enum { HEAP_EVENTS = 1 };
enum { EVENT_KIND = 1, EVENT_BUFFER = 2, EVENT_INSTRUCTION = 4, EVENT_SHARE_WITH = 5 };

/* Growing on the heap while it is read; what is kept is copied into the module's arena. */
struct assignment {
	struct ts_hlo_reader *reader;
	struct ts_hlo_buffers sums;
	struct ts_hlo_buffer *buffers;
	struct ts_hlo_allocation *allocations;
	struct ts_hlo_assigned *assigned;
	struct ts_hlo_heap *heaps;
	struct ts_hlo_heap_event *events;
	size_t max; /* of each kind */
	size_t cap_buffers, cap_allocations, cap_assigned, cap_heaps, cap_events;
	struct ts_map instr_ids, buffer_ids;
	struct ts_strmap instr_names;
};

void ts_hlo_read_aliases(struct ts_hlo_reader *reader)
{
	struct ts_hlo_module *module = reader->module;
	const struct ts_hlo_comp *entry = &module->comps[module->entry];
	struct ts_bytes bytes = reader->scan.aliases;
	struct ts_hlo_alias *aliases;
	Tpusight__InputOutputAlias *from = NULL;

	TS_ASSERT(reader);
	if (bytes.n > 0 && bytes.n / TS_LIMIT_HLO_ALIAS_BYTES <= reader->scan.nr_shapes)
		from = tpusight__input_output_alias__unpack(&reader->alloc, bytes.n, bytes.p);
	if (!from)
		return;
	aliases = ts_hlo_array(reader, from->n_entries, sizeof(*aliases));
	for (size_t i = 0; aliases && i < from->n_entries; i++) {
		const Tpusight__InputOutputAliasEntry *entry_of = from->entries[i];
		int64_t number = entry_of->parameter_number;
		uint32_t param =
			number >= 0 && number < entry->nr_params ? entry->params[number] : TS_NONE;
		struct ts_hlo_alias alias = { .operand = (uint32_t)number };

		if (param == TS_NONE)
			continue;
		alias.output_leaf = ts_shape_leaf_at(&module->instrs[entry->root].shape,
						     entry_of->output_shape_index,
						     entry_of->n_output_shape_index);
		alias.operand_leaf = ts_shape_leaf_at(&module->instrs[param].shape,
						      entry_of->parameter_shape_index,
						      entry_of->n_parameter_shape_index);
		if (alias.output_leaf != TS_NONE && alias.operand_leaf != TS_NONE)
			aliases[module->nr_aliases++] = alias;
	}
	module->aliases = aliases;
	ts_arena_release(&reader->temp);
}

static bool is_too_many(const struct assignment *made, struct ts_pb *pb, size_t nr)
{
	if (nr < made->max)
		return false;
	ts_pb_fail(pb, pb->p,
		   "more buffers than can be right " TS_OVER(TS_LIMIT_HLO_BUFFERS_A_SHAPE));
	return true;
}

static enum ts_status map_instrs(struct assignment *made)
{
	const struct ts_hlo_module *module = made->reader->module;

	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (!ts_map_set(&made->instr_ids, (uint64_t)module->instrs[i].id, i) ||
		    !ts_strmap_set(&made->instr_names, module->instrs[i].name, i))
			return ts_fail_nomem(made->reader->err);
	return TS_OK;
}

/* Packed or one by one. Returns how many there are now. */
static size_t buffers_read_path(struct ts_pb *pb, int64_t path[TS_LIMIT_HLO_SHAPE_DEPTH], size_t n)
{
	const uint8_t *p, *end;
	uint64_t value;

	if (pb->wire != TS_PB_BYTES) {
		if (n < TS_LIMIT_HLO_SHAPE_DEPTH)
			path[n] = ts_pb_i64(pb);
		return n + 1;
	}
	p = pb->data;
	end = p + pb->len;
	while (p < end && ts_pb_varint(&p, end, &value)) {
		if (n < TS_LIMIT_HLO_SHAPE_DEPTH)
			path[n] = (int64_t)value;
		n++;
	}
	return n;
}

static void buffers_read_location(const struct assignment *made, struct ts_pb pb,
				  struct ts_hlo_buffer *buffer)
{
	const struct ts_hlo_module *module = made->reader->module;
	struct ts_bytes name = { NULL, 0 };
	int64_t path[TS_LIMIT_HLO_SHAPE_DEPTH];
	size_t n = 0;
	bool has_id = false;

	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case LOCATION_ID:
			has_id = true;
			buffer->instr = ts_map_find(&made->instr_ids, ts_pb_u64(&pb));
			break;
		case LOCATION_NAME: name = ts_pb_bytes(&pb); break;
		case LOCATION_PATH: n = buffers_read_path(&pb, path, n); break;
		default:	    break;
		}
	}
	if (!has_id && name.n > 0)
		buffer->instr = ts_strmap_find(&made->instr_names, name);
	if (buffer->instr != TS_NONE && n <= TS_LIMIT_HLO_SHAPE_DEPTH)
		buffer->leaf = ts_shape_leaf_at(&module->instrs[buffer->instr].shape, path, n);
}

static enum ts_status read_buffer(struct assignment *made, struct ts_pb pb)
{
	struct ts_hlo_buffer buffer = { .instr = TS_NONE, .leaf = TS_NONE };
	uint32_t at = made->sums.nr_buffers;

	if (is_too_many(made, &pb, made->sums.nr_buffers))
		return TS_OK;
	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case BUFFER_ID:	   buffer.id = ts_pb_i64(&pb); break;
		case BUFFER_SIZE:  buffer.nr_bytes = TS_MAX(ts_pb_i64(&pb), 0); break;
		case BUFFER_COLOR: buffer.space = ts_pb_i64(&pb); break;
		case BUFFER_DEFINED_AT:
			if (pb.wire == TS_PB_BYTES)
				buffers_read_location(made, ts_pb_enter(&pb), &buffer);
			break;
		default: break;
		}
	}
	if (!ts_grow(&made->buffers, &made->cap_buffers, (size_t)at + 1, sizeof(buffer)) ||
	    !ts_map_set(&made->buffer_ids, (uint64_t)buffer.id, at))
		return ts_fail_nomem(made->reader->err);
	made->buffers[made->sums.nr_buffers++] = buffer;
	return TS_OK;
}

static enum ts_status read_assigned(struct assignment *made, struct ts_pb pb)
{
	struct ts_hlo_assigned assigned = { .buffer = TS_NONE };
	uint64_t id = 0;

	if (is_too_many(made, &pb, made->sums.nr_assigned))
		return TS_OK;
	while (ts_pb_next(&pb)) {
		if (pb.field == ASSIGNED_BUFFER)
			id = ts_pb_u64(&pb);
		else if (pb.field == ASSIGNED_OFFSET)
			assigned.offset = TS_MAX(ts_pb_i64(&pb), 0);
		else if (pb.field == ASSIGNED_SIZE)
			assigned.nr_bytes = TS_MAX(ts_pb_i64(&pb), 0);
	}
	assigned.buffer = ts_map_find(&made->buffer_ids, id);
	if (assigned.buffer == TS_NONE)
		return TS_OK; /* of a buffer that is not described */
	if (!ts_grow(&made->assigned, &made->cap_assigned, (size_t)made->sums.nr_assigned + 1,
		     sizeof(assigned)))
		return ts_fail_nomem(made->reader->err);
	made->assigned[made->sums.nr_assigned++] = assigned;
	return TS_OK;
}

static void add_sizes(struct ts_hlo_buffers *sums, const struct ts_hlo_allocation *allocation)
{
	int64_t size = allocation->nr_bytes;

	if (allocation->is_thread_local)
		return;
	if (allocation->is_parameter)
		sums->argument_bytes = ts_i64_add(sums->argument_bytes, size);
	if (allocation->is_output)
		sums->output_bytes = ts_i64_add(sums->output_bytes, size);
	if (allocation->is_constant)
		sums->constant_bytes = ts_i64_add(sums->constant_bytes, size);
	if (!allocation->is_parameter && !allocation->is_output && !allocation->is_constant)
		sums->temp_bytes = ts_i64_add(sums->temp_bytes, size);
}

static enum ts_status read_allocation(struct assignment *made, struct ts_pb pb)
{
	struct ts_hlo_allocation allocation = { .first_assigned = made->sums.nr_assigned };
	enum ts_status st = TS_OK;

	if (is_too_many(made, &pb, made->sums.nr_allocations))
		return TS_OK;
	while (st == TS_OK && ts_pb_next(&pb)) {
		switch (pb.field) {
		case ALLOCATION_SIZE: allocation.nr_bytes = TS_MAX(ts_pb_i64(&pb), 0); break;
		case ALLOCATION_THREAD_LOCAL:
			allocation.is_thread_local = ts_pb_u64(&pb) != 0;
			break;
		case ALLOCATION_PARAMETER: allocation.is_parameter = ts_pb_u64(&pb) != 0; break;
		case ALLOCATION_LIVE_OUT:  allocation.is_output = ts_pb_u64(&pb) != 0; break;
		case ALLOCATION_CONSTANT:  allocation.is_constant = ts_pb_u64(&pb) != 0; break;
		case ALLOCATION_COLOR:	   allocation.space = ts_pb_i64(&pb); break;
		case ALLOCATION_ASSIGNED:
			if (pb.wire == TS_PB_BYTES)
				st = read_assigned(made, ts_pb_enter(&pb));
			break;
		default: break;
		}
	}
	if (st)
		return st;
	allocation.nr_assigned = made->sums.nr_assigned - allocation.first_assigned;
	if (!ts_grow(&made->allocations, &made->cap_allocations,
		     (size_t)made->sums.nr_allocations + 1, sizeof(allocation)))
		return ts_fail_nomem(made->reader->err);
	made->allocations[made->sums.nr_allocations++] = allocation;
	add_sizes(&made->sums, &allocation);
	return TS_OK;
}

static enum ts_status buffers_read_event(struct assignment *made, struct ts_pb pb)
{
	struct ts_hlo_heap_event event = { .kind = TS_HEAP_ALLOC, .with = TS_NONE };
	uint64_t kind = 0, id = 0, with = 0;
	struct ts_bytes name = { NULL, 0 };

	if (is_too_many(made, &pb, made->sums.nr_events))
		return TS_OK;
	while (ts_pb_next(&pb)) {
		if (pb.field == EVENT_KIND)
			kind = ts_pb_u64(&pb);
		else if (pb.field == EVENT_BUFFER)
			id = ts_pb_u64(&pb);
		else if (pb.field == EVENT_SHARE_WITH)
			with = ts_pb_u64(&pb);
		else if (pb.field == EVENT_INSTRUCTION)
			name = ts_pb_bytes(&pb);
	}
	event.buffer = ts_map_find(&made->buffer_ids, id);
	event.instr = ts_strmap_find(&made->instr_names, name);
	if (kind == TS_HEAP_SHARE)
		event.with = ts_map_find(&made->buffer_ids, with);
	if (kind > TS_HEAP_SHARE || event.buffer == TS_NONE ||
	    (kind == TS_HEAP_SHARE && event.with == TS_NONE))
		return TS_OK;
	event.kind = (enum ts_heap_kind)kind;
	if (!ts_grow(&made->events, &made->cap_events, (size_t)made->sums.nr_events + 1,
		     sizeof(event)))
		return ts_fail_nomem(made->reader->err);
	made->events[made->sums.nr_events++] = event;
	return TS_OK;
}

static enum ts_status read_heap(struct assignment *made, struct ts_pb pb)
{
	struct ts_hlo_heap heap = { .first_event = made->sums.nr_events };
	enum ts_status st = TS_OK;

	if (is_too_many(made, &pb, made->sums.nr_heaps))
		return TS_OK;
	while (st == TS_OK && ts_pb_next(&pb))
		if (pb.field == HEAP_EVENTS && pb.wire == TS_PB_BYTES)
			st = buffers_read_event(made, ts_pb_enter(&pb));
	if (st)
		return st;
	heap.nr_events = made->sums.nr_events - heap.first_event;
	if (!ts_grow(&made->heaps, &made->cap_heaps, (size_t)made->sums.nr_heaps + 1, sizeof(heap)))
		return ts_fail_nomem(made->reader->err);
	made->heaps[made->sums.nr_heaps++] = heap;
	return TS_OK;
}

/* Once for each kind of part: allocations name buffers, which may stand behind them. */
static enum ts_status buffers_read_parts(struct assignment *made, struct ts_pb_error *damage,
					 uint32_t field,
					 enum ts_status (*read)(struct assignment *made,
								struct ts_pb pb))
{
	struct ts_pb pb = ts_pb_of(made->reader->scan.buffers, damage);
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb))
		if (pb.field == field && pb.wire == TS_PB_BYTES)
			st = read(made, ts_pb_enter(&pb));
	return st;
}

static const void *buffers_keep(struct ts_hlo_reader *reader, const void *items, size_t nr,
				size_t size)
{
	void *copy = ts_hlo_array(reader, nr, size);

	if (copy && nr > 0)
		memcpy(copy, items, nr * size);
	return copy;
}

static enum ts_status buffers_keep_all(struct assignment *made)
{
	struct ts_hlo_reader *reader = made->reader;
	struct ts_hlo_buffers *to = &made->sums;

	to->present = true;
	to->buffers = buffers_keep(reader, made->buffers, to->nr_buffers, sizeof(*made->buffers));
	to->allocations = buffers_keep(reader, made->allocations, to->nr_allocations,
				       sizeof(*made->allocations));
	to->assigned =
		buffers_keep(reader, made->assigned, to->nr_assigned, sizeof(*made->assigned));
	to->heaps = buffers_keep(reader, made->heaps, to->nr_heaps, sizeof(*made->heaps));
	to->events = buffers_keep(reader, made->events, to->nr_events, sizeof(*made->events));
	if (!to->buffers || !to->allocations || !to->assigned || !to->heaps || !to->events)
		return ts_fail_nomem(reader->err);
	reader->module->buffers = *to;
	return TS_OK;
}

static enum ts_status buffers_read_all(struct assignment *made)
{
	static const struct {
		uint32_t field;
		enum ts_status (*read)(struct assignment *made, struct ts_pb pb);
	} parts[] = {
		{ ASSIGNMENT_BUFFERS, read_buffer },
		{ ASSIGNMENT_ALLOCATIONS, read_allocation },
		{ ASSIGNMENT_HEAPS, read_heap },
	};
	struct ts_pb_error damage = { NULL, NULL };
	enum ts_status st = map_instrs(made);

	for (size_t i = 0; i < TS_NELEM(parts) && st == TS_OK; i++)
		st = buffers_read_parts(made, &damage, parts[i].field, parts[i].read);
	return st || damage.cause ? st : buffers_keep_all(made);
}

enum ts_status ts_hlo_read_buffers(struct ts_hlo_reader *reader)
{
	struct assignment made = {
		.reader = reader,
		.max = (size_t)reader->scan.nr_shapes * TS_LIMIT_HLO_BUFFERS_A_SHAPE +
		       TS_LIMIT_HLO_BUFFERS_A_SHAPE,
	};
	enum ts_status st;

	TS_ASSERT(reader);
	if (reader->scan.buffers.n == 0)
		return TS_OK;
	st = buffers_read_all(&made);
	free(made.buffers);
	free(made.allocations);
	free(made.assigned);
	free(made.heaps);
	free(made.events);
	ts_map_release(&made.instr_ids);
	ts_map_release(&made.buffer_ids);
	ts_strmap_release(&made.instr_names);
	return st;
}
