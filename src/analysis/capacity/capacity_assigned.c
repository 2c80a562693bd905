/* SPDX-License-Identifier: MIT */
/*
 * What a module needs of memory, as its own buffer assignment says: allocations of parameters,
 * results and constants are there all the time; for the temporaries' allocation the heap trace says
 * when the compiler took and freed each buffer. Positions are the events of that trace.
 *
 * Facts: openxla/xla, BufferAssignmentProto and HeapSimulatorTrace; held against what XProf's
 * memory viewer makes of the same proto, and against memory_analysis() of the same programs.
 */
#include "analysis/capacity/capacity.h"

struct plan {
	const struct ts_hlo_buffers *from;
	struct program *program;
	uint32_t *allocation; /* of each buffer, or TS_NONE */
	uint32_t *place;      /* of each buffer: the one whose memory it took */
	uint32_t *open;	      /* of each buffer: program->buffers while it is alive, or TS_NONE */
	int64_t *nr_users;    /* of each buffer's memory */
	uint32_t heap, heap_allocation;
};

static bool is_temp(const struct ts_hlo_allocation *allocation)
{
	return !allocation->is_parameter && !allocation->is_output && !allocation->is_constant &&
	       !allocation->is_thread_local;
}

static enum ts_status make_plan(struct plan *plan, struct ts_error *err)
{
	const struct ts_hlo_buffers *from = plan->from;
	size_t nr = (size_t)from->nr_buffers + 1;

	plan->allocation = malloc(nr * sizeof(*plan->allocation));
	plan->place = malloc(nr * sizeof(*plan->place));
	plan->open = malloc(nr * sizeof(*plan->open));
	plan->nr_users = calloc(nr, sizeof(*plan->nr_users));
	if (!plan->allocation || !plan->place || !plan->open || !plan->nr_users)
		return ts_fail_nomem(err);
	for (uint32_t b = 0; b < from->nr_buffers; b++) {
		plan->allocation[b] = TS_NONE;
		plan->place[b] = b;
		plan->open[b] = TS_NONE;
	}
	for (uint32_t a = 0; a < from->nr_allocations; a++)
		for (uint32_t i = 0; i < from->allocations[a].nr_assigned; i++)
			plan->allocation[from->assigned[from->allocations[a].first_assigned + i]
						 .buffer] = a;
	return TS_OK;
}

/* The trace of the temporaries in HBM: of several, the longest. */
static void find_heap(struct plan *plan)
{
	const struct ts_hlo_buffers *from = plan->from;
	uint32_t most = 0;

	plan->heap = plan->heap_allocation = TS_NONE;
	for (uint32_t h = 0; h < from->nr_heaps; h++) {
		const struct ts_hlo_heap *heap = &from->heaps[h];
		uint32_t allocation;

		if (heap->nr_events <= most)
			continue;
		allocation = plan->allocation[from->events[heap->first_event].buffer];
		if (allocation == TS_NONE || !is_temp(&from->allocations[allocation]) ||
		    from->allocations[allocation].space != TS_SPACE_HBM)
			continue;
		most = heap->nr_events;
		plan->heap = h;
		plan->heap_allocation = allocation;
	}
}

static struct buffer *capacity_assigned_add(struct plan *plan, uint32_t buffer, int64_t nr_bytes,
					    enum ts_buffer_kind kind, uint32_t from)
{
	struct program *program = plan->program;
	const struct ts_hlo_buffer *about = buffer == TS_NONE ? NULL : &plan->from->buffers[buffer];
	struct buffer *made;

	if (!ts_grow(&program->buffers, &program->cap_buffers, program->nr_buffers + 1,
		     sizeof(*program->buffers)))
		return NULL;
	made = &program->buffers[program->nr_buffers++];
	*made = (struct buffer){
		.instr = about ? about->instr : TS_NONE,
		.leaf = about ? about->leaf : TS_NONE,
		.nr_bytes = nr_bytes,
		.from = from,
		.to = program->sum.nr_positions - 1,
		.kind = kind,
	};
	return made;
}

/* The memory of BUFFER is free from event AT on. */
static void capacity_assigned_end(struct plan *plan, uint32_t buffer, uint32_t at)
{
	struct buffer *open = &plan->program->buffers[plan->open[buffer]];

	open->to = TS_MAX(at, open->from + 1) - 1;
	plan->open[buffer] = TS_NONE;
}

static enum ts_status capacity_assigned_begin(struct plan *plan, uint32_t buffer, uint32_t named,
					      uint32_t at, struct ts_error *err)
{
	if (plan->nr_users[buffer]++ > 0)
		return TS_OK;
	if (!capacity_assigned_add(plan, named, plan->from->buffers[buffer].nr_bytes,
				   TS_BUFFER_TEMP, at))
		return ts_fail_nomem(err);
	plan->open[buffer] = (uint32_t)plan->program->nr_buffers - 1;
	return TS_OK;
}

static enum ts_status replay_event(struct plan *plan, const struct ts_hlo_heap_event *event,
				   uint32_t at, struct ts_error *err)
{
	uint32_t place = plan->place[event->buffer];

	switch (event->kind) {
	case TS_HEAP_ALLOC: return capacity_assigned_begin(plan, place, event->buffer, at, err);
	case TS_HEAP_SHARE:
		plan->place[event->buffer] = plan->place[event->with];
		return capacity_assigned_begin(plan, plan->place[event->buffer], event->buffer, at,
					       err);
	case TS_HEAP_FREE:
		if (plan->nr_users[place] > 0 && --plan->nr_users[place] == 0)
			capacity_assigned_end(plan, place, at);
		return TS_OK;
	}
	return TS_OK;
}

static enum ts_status replay(struct plan *plan, struct ts_error *err)
{
	const struct ts_hlo_heap *heap;
	enum ts_status st;

	if (plan->heap == TS_NONE)
		return TS_OK;
	heap = &plan->from->heaps[plan->heap];
	for (uint32_t i = 0; i < heap->nr_events; i++) {
		const struct ts_hlo_heap_event *event = &plan->from->events[heap->first_event + i];

		plan->program->order[i] = event->instr;
		st = replay_event(plan, event, i, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_buffer_kind capacity_assigned_kind_of(const struct ts_hlo_allocation *allocation)
{
	if (allocation->is_parameter)
		return allocation->is_output ? TS_BUFFER_DONATED : TS_BUFFER_PARAMETER;
	if (allocation->is_output)
		return TS_BUFFER_OUTPUT;
	return is_temp(allocation) ? TS_BUFFER_TEMP : TS_BUFFER_CONSTANT;
}

/* An allocation has the name of the largest buffer in it. */
static uint32_t largest_buffer(const struct plan *plan, const struct ts_hlo_allocation *allocation)
{
	uint32_t best = TS_NONE;

	for (uint32_t i = 0; i < allocation->nr_assigned; i++) {
		uint32_t buffer = plan->from->assigned[allocation->first_assigned + i].buffer;

		if (best == TS_NONE ||
		    plan->from->buffers[buffer].nr_bytes > plan->from->buffers[best].nr_bytes)
			best = buffer;
	}
	return best;
}

static enum ts_status keep_allocation(struct plan *plan, uint32_t index, struct ts_error *err)
{
	const struct ts_hlo_allocation *allocation = &plan->from->allocations[index];
	struct program *program = plan->program;
	int64_t size = allocation->nr_bytes;

	if (allocation->space != TS_SPACE_HBM || allocation->is_thread_local)
		return TS_OK; /* the latter are of the op that runs, not of the program */
	program->sum.reserved_bytes = ts_i64_add(program->sum.reserved_bytes, size);
	if (allocation->is_parameter)
		program->sum.argument_bytes = ts_i64_add(program->sum.argument_bytes, size);
	if (allocation->is_output)
		program->sum.output_bytes = ts_i64_add(program->sum.output_bytes, size);
	if (allocation->is_parameter && allocation->is_output)
		program->sum.alias_bytes = ts_i64_add(program->sum.alias_bytes, size);
	if (allocation->is_constant)
		program->sum.constant_bytes = ts_i64_add(program->sum.constant_bytes, size);
	if (index == plan->heap_allocation || size == 0)
		return TS_OK; /* its buffers come and go */
	return capacity_assigned_add(plan, largest_buffer(plan, allocation), size,
				     capacity_assigned_kind_of(allocation), 0) != NULL
		       ? TS_OK
		       : ts_fail_nomem(err);
}

static int64_t temp_sizes(const struct ts_hlo_buffers *from)
{
	int64_t sum = 0;

	for (uint32_t a = 0; a < from->nr_allocations; a++)
		if (is_temp(&from->allocations[a]) && from->allocations[a].space == TS_SPACE_HBM)
			sum = ts_i64_add(sum, from->allocations[a].nr_bytes);
	return sum;
}

static enum ts_status carry_out(struct plan *plan, struct ts_error *err)
{
	struct program *program = plan->program;
	enum ts_status st = make_plan(plan, err);

	if (st)
		return st;
	find_heap(plan);
	program->sum.nr_positions = 1;
	if (plan->heap != TS_NONE)
		program->sum.nr_positions = plan->from->heaps[plan->heap].nr_events;
	program->order = malloc(program->sum.nr_positions * sizeof(*program->order));
	if (!program->order)
		return ts_fail_nomem(err);
	memset(program->order, 0xff, program->sum.nr_positions * sizeof(*program->order));
	for (uint32_t a = 0; a < plan->from->nr_allocations; a++) {
		st = keep_allocation(plan, a, err);
		if (st)
			return st;
	}
	st = replay(plan, err);
	if (st)
		return st;
	st = ts_capacity_find_peaks(program, err);
	if (st)
		return st;
	program->sum.temp_bytes = temp_sizes(plan->from); /* the gaps between them too */
	return TS_OK;
}

enum ts_status ts_capacity_assigned(struct program *program, struct ts_error *err)
{
	struct plan plan = { .from = &program->sum.module->buffers, .program = program };
	enum ts_status st;

	program->sum.is_assigned = true;
	st = carry_out(&plan, err);
	free(plan.allocation);
	free(plan.place);
	free(plan.open);
	free(plan.nr_users);
	return st;
}
