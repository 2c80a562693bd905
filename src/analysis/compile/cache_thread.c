/* SPDX-License-Identifier: MIT */
/*
 * The events of a host thread, children before parents, into requests and calls.
 *
 * What is found is a piece, and waits for the event around it: a call takes the pieces inside it. A
 * call that started something and compiled nothing is a hit of the executable cache; so the
 * calls that JAX writes twice, and those that are only traced into another, count for nothing.
 */
#include "analysis/compile/cache.h"

#include "analysis/kit/keyed.h"

#define MAX_PIECES 256 /* open at once; past it they count as without a call */

enum ts_status ts_cache_add_request(struct cache_state *state, const struct cache_request *request,
				    struct ts_error *err)
{
	TS_ASSERT(state && request && request->line != TS_NONE);
	if (state->nr_requests >= CACHE_MAX_REQUESTS)
		return TS_OK;
	if (!ts_grow(&state->requests, &state->cap_requests, state->nr_requests + 1,
		     sizeof(*state->requests)))
		return ts_fail_nomem(err);
	state->requests[state->nr_requests++] = *request;
	return TS_OK;
}

struct cache_function *ts_cache_function_get(struct cache_state *state, uint32_t op)
{
	struct cache_function fresh = { .op = op };

	TS_ASSERT(op != TS_NONE);
	return ts_keyed_row(TS_KEYED(state, functions, function_of_op), op, &fresh);
}

struct cache_program *ts_cache_program_get(struct cache_state *state, uint64_t id)
{
	struct cache_program fresh = {
		.id = id, .module = TS_NONE, .op = TS_NONE, .first_ps = INT64_MAX
	};

	return ts_keyed_row(TS_KEYED(state, programs, program_of_id), id, &fresh);
}

static bool is_request(const struct cache_piece *piece)
{
	return piece->activity == TS_HOST_COMPILE || piece->activity == TS_HOST_BACKEND ||
	       piece->is_restored;
}

/* The call around some pieces; op TS_NONE: there is not one. */
struct call {
	uint32_t op;
	int64_t start_ps;
};

static void add_counts(struct cache_counts *counts, const struct cache_piece *piece)
{
	if (piece->is_restored) {
		counts->nr_restored++;
		counts->nr_inferred += piece->is_inferred;
	} else {
		counts->nr_compiled++;
		counts->compile_ps =
			ts_i64_add(counts->compile_ps, ts_i64_sub(piece->end_ps, piece->start_ps));
	}
}

/* What lies before a request, from FROM on: how the module came about. */
static void take_phases(const struct cache_state *state, size_t from, size_t at, struct call call,
			struct cache_request *request)
{
	for (size_t i = from; i < at; i++) {
		const struct cache_piece *piece = &state->pieces[i];
		int64_t dur_ps = ts_i64_sub(piece->end_ps, piece->start_ps);

		if (piece->activity == TS_HOST_TRACE)
			request->trace_ps = dur_ps;
		if (piece->activity != TS_HOST_LOWER)
			continue;
		request->lower_ps = dur_ps;
		if (request->trace_ps < 0 && call.op != TS_NONE)
			request->trace_ps = ts_i64_sub(piece->start_ps, call.start_ps);
	}
}

static enum ts_status close_request(struct cache_state *state, size_t from, size_t at,
				    struct call call, struct ts_error *err)
{
	const struct cache_piece *piece = &state->pieces[at];
	struct cache_function *function = NULL;
	struct cache_request request = {
		.start_ps = piece->start_ps,
		.end_ps = piece->end_ps,
		.trace_ps = -1,
		.lower_ps = -1,
		.passes_ps = piece->passes_ps,
		.codegen_ps = piece->codegen_ps,
		.module = piece->module,
		.call_op = call.op,
		.line = state->line,
		.is_backend = piece->activity == TS_HOST_BACKEND,
		.is_restored = piece->is_restored,
		.is_inferred = piece->is_inferred,
	};

	take_phases(state, from, at, call, &request);
	add_counts(&state->counts, piece);
	if (call.op != TS_NONE) {
		function = ts_cache_function_get(state, call.op);
		if (!function)
			return ts_fail_nomem(err);
		function->nr_restored += piece->is_restored;
		function->nr_compiled += !piece->is_restored;
		if (!piece->is_restored)
			function->compile_ps = ts_i64_add(
				function->compile_ps, ts_i64_sub(piece->end_ps, piece->start_ps));
	}
	return ts_cache_add_request(state, &request, err);
}

/* Closes the requests among the pieces from FIRST on; *REST is the first piece behind them. */
static enum ts_status close_requests(struct cache_state *state, size_t first, struct call call,
				     size_t *rest, struct ts_error *err)
{
	size_t from = first;
	enum ts_status st;

	for (size_t i = first; i < state->nr_pieces; i++) {
		if (!is_request(&state->pieces[i]))
			continue;
		st = close_request(state, from, i, call, err);
		if (st)
			return st;
		from = i + 1;
	}
	*rest = from;
	return TS_OK;
}

/* No call will come for what is open. A trace and a lowering may still get their compilation. */
static enum ts_status cache_thread_flush(struct cache_state *state, struct ts_error *err)
{
	struct call no_call = { TS_NONE, 0 };
	size_t rest, nr = 0;
	enum ts_status st = close_requests(state, 0, no_call, &rest, err);

	if (st)
		return st;
	for (size_t i = rest; i < state->nr_pieces; i++)
		if (state->pieces[i].activity == TS_HOST_TRACE ||
		    state->pieces[i].activity == TS_HOST_LOWER)
			state->pieces[nr++] = state->pieces[i];
	state->nr_pieces = nr <= 2 ? nr : 0;
	return TS_OK;
}

enum ts_status ts_cache_thread_end(struct cache_state *state, struct ts_error *err)
{
	enum ts_status st = cache_thread_flush(state, err);

	state->nr_pieces = 0;
	return st;
}

static enum ts_status cache_thread_push(struct cache_state *state, const struct cache_piece *piece,
					struct ts_error *err)
{
	enum ts_status st = state->nr_pieces >= MAX_PIECES ? cache_thread_flush(state, err) : TS_OK;

	if (st)
		return st;
	if (!ts_grow(&state->pieces, &state->cap_pieces, state->nr_pieces + 1,
		     sizeof(*state->pieces)))
		return ts_fail_nomem(err);
	state->pieces[state->nr_pieces++] = *piece;
	return TS_OK;
}

static size_t cache_thread_first_inside(const struct cache_state *state, int64_t start_ps)
{
	size_t at = state->nr_pieces;

	while (at > 0 && state->pieces[at - 1].start_ps >= start_ps)
		at--;
	return at;
}

/* Leaves out what of this activity lies inside: the outermost counts. */
static void drop_inside(struct cache_state *state, size_t from, enum ts_host_activity activity)
{
	size_t nr = from;

	for (size_t i = from; i < state->nr_pieces; i++)
		if (state->pieces[i].activity != activity)
			state->pieces[nr++] = state->pieces[i];
	state->nr_pieces = nr;
}

static enum ts_status end_outermost(struct cache_state *state, struct cache_piece *piece,
				    size_t from, struct ts_error *err)
{
	drop_inside(state, from, piece->activity);
	return cache_thread_push(state, piece, err);
}

/* Of several in a row the last is enough: whatever holds one of the others has been closed. */
static enum ts_status end_execute(struct cache_state *state, struct cache_piece *piece, size_t from,
				  struct ts_error *err)
{
	drop_inside(state, from, piece->activity);
	if (state->nr_pieces > 0 && state->pieces[state->nr_pieces - 1].activity == TS_HOST_EXECUTE)
		state->nr_pieces--;
	return cache_thread_push(state, piece, err);
}

static void take_compiler(struct cache_piece *piece, const struct cache_piece *inner)
{
	int64_t dur_ps = ts_i64_sub(inner->end_ps, inner->start_ps);

	if (inner->activity == TS_HOST_PASSES)
		piece->passes_ps = ts_i64_add(TS_MAX(piece->passes_ps, 0), dur_ps);
	else if (inner->activity == TS_HOST_CODEGEN)
		piece->codegen_ps = ts_i64_add(TS_MAX(piece->codegen_ps, 0), dur_ps);
	if (inner->passes_ps >= 0)
		piece->passes_ps = ts_i64_add(TS_MAX(piece->passes_ps, 0), inner->passes_ps);
	if (inner->codegen_ps >= 0)
		piece->codegen_ps = ts_i64_add(TS_MAX(piece->codegen_ps, 0), inner->codegen_ps);
	if (piece->module.n == 0)
		piece->module = inner->module;
}

/* Takes in what a compiler did inside; a compilation within is the same one, seen further down. */
static enum ts_status end_compile(struct cache_state *state, struct cache_piece *piece, size_t from,
				  struct ts_error *err)
{
	size_t nr = from;

	for (size_t i = from; i < state->nr_pieces; i++) {
		const struct cache_piece *inner = &state->pieces[i];

		if (ts_host_compiles(inner->activity))
			take_compiler(piece, inner);
		else if (inner->activity == TS_HOST_TRACE || inner->activity == TS_HOST_LOWER)
			state->pieces[nr++] = *inner;
	}
	state->nr_pieces = nr;
	return cache_thread_push(state, piece, err);
}

/* A phase of the compiler takes in the ones inside it. */
static enum ts_status end_phase(struct cache_state *state, struct cache_piece *piece, size_t from,
				struct ts_error *err)
{
	size_t nr = from;

	for (size_t i = from; i < state->nr_pieces; i++) {
		const struct cache_piece *inner = &state->pieces[i];

		if (inner->activity == TS_HOST_PASSES || inner->activity == TS_HOST_CODEGEN) {
			if (piece->module.n == 0)
				piece->module = inner->module;
			continue;
		}
		state->pieces[nr++] = *inner;
	}
	state->nr_pieces = nr;
	return cache_thread_push(state, piece, err);
}

/* JAX's way to an executable: read from the persistent cache, unless a compilation is inside. */
static enum ts_status end_executable(struct cache_state *state, struct cache_piece *piece,
				     size_t from, struct ts_error *err)
{
	bool compiled = false, read = false;

	for (size_t i = from; i < state->nr_pieces; i++) {
		compiled |= is_request(&state->pieces[i]);
		read |= state->pieces[i].activity == TS_HOST_CACHE_READ;
	}
	drop_inside(state, from, TS_HOST_CACHE_READ);
	if (compiled || !read)
		return TS_OK;
	piece->is_restored = true;
	return cache_thread_push(state, piece, err);
}

/* What the pieces of a call amount to. */
struct contents {
	size_t nr_requests, lower, read, execute; /* the last of each, or nr_pieces */
};

static struct contents cache_thread_look_inside(const struct cache_state *state, size_t from)
{
	size_t nr = state->nr_pieces;
	struct contents in = { 0, nr, nr, nr };

	for (size_t i = from; i < nr; i++) {
		enum ts_host_activity activity = state->pieces[i].activity;

		in.nr_requests += is_request(&state->pieces[i]);
		if (activity == TS_HOST_LOWER)
			in.lower = i;
		else if (activity == TS_HOST_CACHE_READ)
			in.read = i;
		else if (activity == TS_HOST_EXECUTE)
			in.execute = i;
	}
	return in;
}

/* Lowered, not compiled, and run: the executable was restored between the two. */
static void infer_restored(struct cache_state *state, const struct contents *in)
{
	struct cache_piece *lower = &state->pieces[in->lower];
	struct cache_piece *execute = &state->pieces[in->execute];
	struct cache_piece restored = { .activity = TS_HOST_EXECUTABLE,
					.passes_ps = -1,
					.codegen_ps = -1,
					.is_restored = true };

	restored.is_inferred = in->read == state->nr_pieces;
	restored.start_ps = restored.is_inferred ? lower->end_ps : state->pieces[in->read].start_ps;
	restored.end_ps = restored.is_inferred ? execute->start_ps : state->pieces[in->read].end_ps;
	*execute = restored; /* it stands behind the lowering, and is not needed any more */
}

static enum ts_status end_call(struct cache_state *state, uint32_t op, int64_t start_ps,
			       struct ts_error *err)
{
	struct call call = { op, start_ps };
	size_t from = cache_thread_first_inside(state, start_ps), rest;
	struct contents in = cache_thread_look_inside(state, from);
	enum ts_status st;

	state->counts.nr_calls++;
	if (in.nr_requests == 0 && in.execute < state->nr_pieces) {
		struct cache_function *function = ts_cache_function_get(state, op);

		if (!function)
			return ts_fail_nomem(err);
		if (in.lower < in.execute)
			infer_restored(state, &in);
		else
			function->nr_hits++;
	}
	st = close_requests(state, from, call, &rest, err);
	state->nr_pieces = from;
	return st;
}

/* A pipeline of passes has its module twice, in its name and in a stat. */
static bool is_pipeline(const struct ts_block *block, size_t i, struct ts_bytes *module)
{
	struct ts_stat stat;

	if (!block->stat || !block->stat(block, i, "module", &stat) || stat.type != TS_STAT_TEXT)
		return false;
	*module = stat.text;
	return true;
}

static void cache_thread_find_module(const struct ts_block *block, size_t i,
				     struct cache_piece *piece)
{
	static const char *const names[] = { "module", "name" };
	struct ts_stat stat;

	for (size_t n = 0; block->stat && piece->module.n == 0 && n < TS_NELEM(names); n++)
		if (block->stat(block, i, names[n], &stat) && stat.type == TS_STAT_TEXT)
			piece->module = stat.text;
}

typedef enum ts_status end_piece(struct cache_state *state, struct cache_piece *piece, size_t from,
				 struct ts_error *err);

static end_piece *const ends[] = {
	[TS_HOST_EXECUTE] = end_execute,      [TS_HOST_TRACE] = end_outermost,
	[TS_HOST_LOWER] = end_outermost,      [TS_HOST_COMPILE] = end_compile,
	[TS_HOST_BACKEND] = end_compile,      [TS_HOST_PASSES] = end_phase,
	[TS_HOST_CODEGEN] = end_phase,	      [TS_HOST_EXECUTABLE] = end_executable,
	[TS_HOST_CACHE_READ] = end_outermost,
};

/* Is the persistent cache asked, and does that touch its files? */
static void note_cache(struct cache_state *state, const struct cache_piece *piece)
{
	if (piece->activity == TS_HOST_CACHE_FILE)
		state->file_ps = piece->start_ps;
	if (piece->activity != TS_HOST_CACHE_READ && piece->activity != TS_HOST_CACHE_WRITE)
		return;
	state->counts.nr_asked++;
	state->counts.nr_files += state->file_ps >= piece->start_ps;
}

static enum ts_status cache_thread_end_event(struct cache_state *state,
					     const struct ts_block *block, size_t i,
					     enum ts_host_activity activity, struct ts_error *err)
{
	struct cache_piece piece = {
		.activity = activity,
		.start_ps = block->start_ps[i],
		.end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]),
		.passes_ps = -1,
		.codegen_ps = -1,
	};

	if (activity == TS_HOST_CALL)
		return end_call(state, block->op[i], piece.start_ps, err);
	note_cache(state, &piece);
	if (activity == TS_HOST_PIPELINE) {
		if (!is_pipeline(block, i, &piece.module))
			return TS_OK;
		piece.activity = TS_HOST_PASSES;
	} else if (ts_host_compiles(activity)) {
		cache_thread_find_module(block, i, &piece);
	}
	if (piece.activity >= TS_NELEM(ends) || !ends[piece.activity])
		return TS_OK;
	return ends[piece.activity](state, &piece, cache_thread_first_inside(state, piece.start_ps),
				    err);
}

enum ts_status ts_cache_thread_event(struct cache_state *state, const struct ts_block *block,
				     size_t i, enum ts_host_activity activity, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(state->is_thread && i < block->nr_events);
	if (activity != TS_HOST_OTHER)
		st = cache_thread_end_event(state, block, i, activity, err);
	if (!st && block->depth[i] == 0 && state->nr_pieces > 0)
		st = cache_thread_flush(state, err);
	return st;
}
