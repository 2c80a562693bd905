/* SPDX-License-Identifier: MIT */
/*
 * The events of a host thread, children before parents, into regions and compilations.
 *
 * What is found is a piece, and waits for the event around it. A compilation takes the pieces inside
 * it: its parts, and the annotation with the id of the compilation. A region takes regions (there
 * its graph was broken) and compilations (of code it came upon). A piece that nothing will come
 * around counts by itself.
 */
#include "analysis/compile/compile.h"

#include "analysis/kit/keyed.h"

struct compile_region *ts_compile_region_get(struct compile_state *state, struct ts_compile_id id)
{
	struct compile_region fresh = { .id = id, .frame_op = TS_NONE, .first_ps = INT64_MAX };

	return ts_keyed_row(TS_KEYED(state, regions, region_of_key), ts_compile_id_key(id), &fresh);
}

struct compile_nesting *ts_compile_nesting_get(struct compile_state *state, uint64_t parent,
					       uint64_t child)
{
	struct compile_nesting fresh = { .parent = parent, .child = child };
	uint64_t both[2] = { parent, child };
	uint64_t key = ts_hash((struct ts_bytes){ (const uint8_t *)both, sizeof(both) }, 0);

	return ts_keyed_row(TS_KEYED(state, nestings, nesting_of_key), key, &fresh);
}

struct compile_phase *ts_compile_phase_get(struct compile_state *state, uint32_t op)
{
	struct compile_phase fresh = { .op = op };

	TS_ASSERT(op != TS_NONE);
	return ts_keyed_row(TS_KEYED(state, phases, phase_of_op), op, &fresh);
}

struct compile_kernel *ts_compile_kernel_get(struct compile_state *state, uint32_t op)
{
	struct compile_kernel fresh = { .op = op };

	TS_ASSERT(op != TS_NONE);
	return ts_keyed_row(TS_KEYED(state, kernels, kernel_of_op), op, &fresh);
}

static int64_t compile_thread_length(const struct compile_piece *piece)
{
	return ts_i64_sub(piece->end_ps, piece->start_ps);
}

static bool has_id(struct ts_compile_id id)
{
	return id.frame >= 0 || id.autograd >= 0;
}

/* A compilation with no other around it. */
static enum ts_status count_compile(struct compile_state *state, const struct compile_piece *piece,
				    struct ts_error *err)
{
	struct compile_region *region;

	state->counts.nr_compiles++;
	state->counts.compile_ps =
		ts_i64_add(state->counts.compile_ps, compile_thread_length(piece));
	if (!has_id(piece->id))
		return TS_OK;
	region = ts_compile_region_get(state, piece->id);
	if (!region)
		return ts_fail_nomem(err);
	region->nr_compiles++;
	region->compile_ps = ts_i64_add(region->compile_ps, compile_thread_length(piece));
	region->nr_restarts = TS_MAX(region->nr_restarts, piece->attempt);
	return TS_OK;
}

static bool is_compile(const struct compile_piece *piece)
{
	return piece->event == TS_TORCH_COMPILE || piece->event == TS_TORCH_PHASE;
}

/* Counts pieces that the event around does not take. */
static enum ts_status compile_thread_settle(struct compile_state *state, size_t from, size_t to,
					    struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = from; i < to && !st; i++)
		if (is_compile(&state->pieces[i]))
			st = count_compile(state, &state->pieces[i], err);
	return st;
}

/* Room for one more: what waited longest stands by itself. */
static enum ts_status compile_thread_push(struct compile_state *state,
					  const struct compile_piece *piece, struct ts_error *err)
{
	enum ts_status st;

	if (state->nr_pieces == COMPILE_MAX_PIECES) {
		size_t half = COMPILE_MAX_PIECES / 2;

		st = compile_thread_settle(state, 0, half, err);
		if (st)
			return st;
		memmove(state->pieces, state->pieces + half, half * sizeof(*piece));
		state->nr_pieces = half;
	}
	if (!ts_grow(&state->pieces, &state->cap_pieces, state->nr_pieces + 1, sizeof(*piece)))
		return ts_fail_nomem(err);
	state->pieces[state->nr_pieces++] = *piece;
	return TS_OK;
}

/* The first of the pieces inside an event that began then. */
static size_t compile_thread_first_inside(const struct compile_state *state, int64_t start_ps)
{
	size_t at = state->nr_pieces;

	while (at > 0 && state->pieces[at - 1].start_ps >= start_ps)
		at--;
	return at;
}

/* compile_attempt_2: 2. */
static int64_t attempt_of(struct ts_bytes phase)
{
	static const char prefix[] = "compile_attempt_";
	int64_t attempt = 0;

	if (ts_bytes_starts(phase, prefix))
		ts_bytes_i64(ts_bytes_cut(phase, strlen(prefix), phase.n), &attempt);
	return attempt;
}

static enum ts_status close_compile(struct compile_state *state, struct compile_piece piece,
				    uint32_t op, struct ts_bytes name, struct ts_error *err)
{
	size_t from = compile_thread_first_inside(state, piece.start_ps);
	int64_t inside_ps = 0;

	piece.attempt = piece.event == TS_TORCH_PHASE ? attempt_of(ts_torch_phase(name)) : 0;
	for (size_t i = from; i < state->nr_pieces; i++) {
		const struct compile_piece *part = &state->pieces[i];

		piece.attempt = TS_MAX(piece.attempt, part->attempt);
		if (!has_id(piece.id))
			piece.id = part->id;
		if (is_compile(part))
			inside_ps = ts_i64_add(inside_ps, compile_thread_length(part));
	}
	state->nr_pieces = from;
	if (piece.event == TS_TORCH_PHASE) {
		struct compile_phase *phase = ts_compile_phase_get(state, op);

		if (!phase)
			return ts_fail_nomem(err);
		phase->nr++;
		phase->time_ps = ts_i64_add(phase->time_ps, compile_thread_length(&piece));
		phase->self_ps =
			ts_i64_add(phase->self_ps,
				   TS_MAX(ts_i64_sub(compile_thread_length(&piece), inside_ps), 0));
	}
	return compile_thread_push(state, &piece, err);
}

static enum ts_status add_nesting(struct compile_state *state, const struct compile_piece *outer,
				  const struct compile_piece *inner, struct ts_error *err)
{
	struct compile_nesting *nesting = ts_compile_nesting_get(
		state, ts_compile_id_key(outer->id), ts_compile_id_key(inner->id));

	if (!nesting)
		return ts_fail_nomem(err);
	nesting->nr++;
	nesting->time_ps = ts_i64_add(nesting->time_ps, compile_thread_length(inner));
	return TS_OK;
}

/* Nested regions are counted on the way up: a piece of a region has in .attempt how many it holds. */
static enum ts_status close_region(struct compile_state *state, struct compile_piece piece,
				   uint32_t frame_op, struct ts_error *err)
{
	size_t from = compile_thread_first_inside(state, piece.start_ps);
	struct compile_region *region = ts_compile_region_get(state, piece.id);
	int64_t inside_ps = 0;
	enum ts_status st;

	for (size_t i = from; i < state->nr_pieces; i++) {
		const struct compile_piece *part = &state->pieces[i];

		if (part->event == TS_TORCH_REGION || is_compile(part))
			inside_ps = ts_i64_add(inside_ps, compile_thread_length(part));
		if (part->event != TS_TORCH_REGION)
			continue;
		piece.attempt += 1 + part->attempt;
		st = add_nesting(state, &piece, part, err);
		if (st)
			return st;
	}
	if (!region)
		return ts_fail_nomem(err);
	st = compile_thread_settle(state, from, state->nr_pieces, err);
	if (st)
		return st;
	region = ts_compile_region_get(state, piece.id); /* settling may have moved the rows */
	if (!region)
		return ts_fail_nomem(err);
	region->nr_calls++;
	region->time_ps = ts_i64_add(region->time_ps, compile_thread_length(&piece));
	region->self_ps = ts_i64_add(
		region->self_ps, TS_MAX(ts_i64_sub(compile_thread_length(&piece), inside_ps), 0));
	region->first_ps = TS_MIN(region->first_ps, piece.start_ps);
	region->frame_op = region->frame_op == TS_NONE ? frame_op : region->frame_op;
	state->counts.nr_regions++;
	state->counts.max_nested = TS_MAX(state->counts.max_nested, piece.attempt);
	state->nr_pieces = from;
	return compile_thread_push(state, &piece, err);
}

/* Ops that compute inside the event of this depth that closes now: each counts where it is
 * outermost. Gives how many. */
static uint32_t take_inside(struct compile_state *state, uint16_t depth, bool computes)
{
	uint32_t nr;

	if (depth >= COMPILE_MAX_DEPTH)
		return 0;
	nr = state->inside[depth + 1];
	state->inside[depth + 1] = 0;
	state->inside[depth] += computes ? 1 : nr;
	return nr;
}

/* The Python frame that closed last inside an event of this depth. */
static uint32_t frame_inside(const struct compile_state *state, const struct ts_block *block,
			     uint16_t depth)
{
	uint32_t op = depth < COMPILE_MAX_DEPTH ? state->last_op[depth + 1] : TS_NONE;

	if (op == TS_NONE || block->profile->ops[op].category_id != TS_KINETO_PYTHON_FUNCTION)
		return TS_NONE;
	return op;
}

static enum ts_status compile_thread_count_kernel(struct compile_state *state, uint32_t op,
						  int64_t dur_ps, struct ts_error *err)
{
	struct compile_kernel *kernel = ts_compile_kernel_get(state, op);

	if (!kernel)
		return ts_fail_nomem(err);
	kernel->nr++;
	kernel->time_ps = ts_i64_add(kernel->time_ps, dur_ps);
	return TS_OK;
}

/* Events that are counted and wait for nothing. */
static void compile_thread_count_event(struct compile_counts *counts, enum ts_torch_event event,
				       int64_t dur_ps)
{
	counts->nr_functions += event == TS_TORCH_FUNCTION;
	counts->nr_graph_launches += event == TS_TORCH_GRAPH_LAUNCH;
	counts->nr_kernel_launches += event == TS_TORCH_KERNEL_LAUNCH;
	if (event == TS_TORCH_LOOKUP) {
		counts->nr_lookups++;
		counts->lookup_ps = ts_i64_add(counts->lookup_ps, dur_ps);
	} else if (event == TS_TORCH_OVERHEAD) {
		counts->overhead_ps = ts_i64_add(counts->overhead_ps, dur_ps);
	} else if (event == TS_TORCH_BACKWARD) {
		counts->nr_backwards++;
		counts->backward_ps = ts_i64_add(counts->backward_ps, dur_ps);
	} else if (event == TS_TORCH_GRAPH) {
		counts->nr_graph_calls++;
		counts->graph_ps = ts_i64_add(counts->graph_ps, dur_ps);
	}
}

enum ts_status ts_compile_thread_event(struct compile_state *state, const struct ts_block *block,
				       size_t i, struct ts_error *err)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	enum ts_torch_event event = ts_torch_event_once(&state->events[block->op[i]], op);
	uint16_t depth = TS_MIN(block->depth[i], COMPILE_MAX_DEPTH);
	uint32_t inside = take_inside(state, depth, event == TS_TORCH_OP);
	struct compile_piece piece = { event, TS_COMPILE_ID_NONE, block->start_ps[i],
				       ts_i64_add(block->start_ps[i], block->dur_ps[i]), 0 };
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(state->events && i < block->nr_events);
	compile_thread_count_event(&state->counts, event, block->dur_ps[i]);
	if (event == TS_TORCH_GRAPH)
		state->counts.nr_library_ops += inside;
	if (event == TS_TORCH_REGION || event == TS_TORCH_ABOUT)
		ts_compile_id_of(op->name, &piece.id);
	if (event == TS_TORCH_REGION)
		st = close_region(state, piece, frame_inside(state, block, depth), err);
	else if (event == TS_TORCH_ABOUT)
		st = compile_thread_push(state, &piece, err);
	else if (event == TS_TORCH_COMPILE || event == TS_TORCH_PHASE)
		st = close_compile(state, piece, block->op[i], op->name, err);
	else if (event == TS_TORCH_KERNEL)
		st = compile_thread_count_kernel(state, block->op[i], block->dur_ps[i], err);
	state->last_op[depth] = block->op[i];
	if (depth < COMPILE_MAX_DEPTH)
		state->last_op[depth + 1] = TS_NONE;
	return st;
}

enum ts_status ts_compile_thread_end(struct compile_state *state, struct ts_error *err)
{
	enum ts_status st = compile_thread_settle(state, 0, state->nr_pieces, err);

	state->nr_pieces = 0;
	return st;
}
