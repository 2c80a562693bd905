/* SPDX-License-Identifier: MIT */
/*
 * What ran on the streams of GPUs, what the threads that launch did meanwhile, and what each waited for. The graph of a run
 * (critical_path_graph.c) is made of these moments.
 *
 *	kernel		waits for the kernel before it on its stream, for its launch, or for another stream's kernel (inferred)
 *	call		follows what its thread did before. One that waits for the device (cudaStreamSynchronize) ends with the
 *			kernel that ended last in it, a copy that returns when it is done with its own, and a launch into a full queue
 *			with a kernel of that stream (inferred)
 *	what a thread	takes what it takes. In a time in which nothing is known of it, it waits for what ended last
 *	did between	before it went on: a kernel, or another thread's launch (inferred)
 */
#include "analysis/waits/streams.h"

#include "base/check.h"
#include "base/units.h"
#include "model/step_mark.h"
#include "model/trace_class.h"
#include "result/schema/streams.def"

#define LANE_BITS 8
#define AT_MASK	  ((UINT32_C(1) << (32 - LANE_BITS)) - 1)

static bool streams_applies(const struct ts_context *ctx)
{
	for (size_t i = 0; i < ctx->profile->nr_devices; i++)
		if (ts_device_has_streams(&ctx->profile->devices[i]))
			return true;
	return false;
}

static bool streams_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_trace_side_of(ctx->profile, line) != TS_SIDE_NONE;
}

static enum ts_status streams_open(void *arg, const struct ts_context *ctx,
				   const struct ts_line *line, struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	struct streams_state *state = arg;

	(void)line;
	state->begin_ps = state->until_ps = INT64_MAX;
	state->sides = malloc(profile->nr_lines + 1);
	state->calls = malloc(profile->nr_ops + 1);
	state->lane_of = malloc((profile->nr_lines + 1) * sizeof(*state->lane_of));
	state->thread_of = malloc((profile->nr_lines + 1) * sizeof(*state->thread_of));
	if (!state->sides || !state->calls || !state->lane_of || !state->thread_of)
		return ts_fail_nomem(err);
	memset(state->calls, STREAMS_UNSEEN, profile->nr_ops + 1);
	for (size_t i = 0; i < profile->nr_lines; i++) {
		state->sides[i] = (uint8_t)ts_trace_side_of(profile, &profile->lines[i]);
		state->lane_of[i] = state->thread_of[i] = TS_NONE;
	}
	return TS_OK;
}

static enum streams_call streams_call_by_name(struct ts_bytes name)
{
	static const struct {
		const char *part;
		enum streams_call call;
	} rows[] = {
		{ "DeviceSynchronize", STREAMS_SYNC }, { "CtxSynchronize", STREAMS_SYNC },
		{ "StreamSynchronize", STREAMS_SYNC }, { "EventSynchronize", STREAMS_SYNC },
		{ "StreamWaitEvent", STREAMS_ORDER },  { "Memcpy", STREAMS_COPY },
		{ "Launch", STREAMS_LAUNCH },	       { "Memset", STREAMS_LAUNCH },
		{ "FreeAsync", STREAMS_WORK },	       { "Free", STREAMS_SYNC },
	};
	static const char *const drivers[] = { "cu", "hip", "ur", "ze" };

	for (size_t i = 0; i < TS_NELEM(drivers); i++)
		for (size_t k = 0; ts_bytes_starts(name, drivers[i]) && k < TS_NELEM(rows); k++)
			if (ts_bytes_has(name, rows[k].part))
				return rows[k].call;
	return STREAMS_WORK;
}

/* Frames of a tracer and marks of steps say where a thread is, not what it does; but a frame of the user's that feeds or compiles does. */
static bool streams_is_place(const struct ts_context *ctx, uint32_t op)
{
	const struct ts_op *of = &ctx->profile->ops[op];
	enum ts_host_activity activity = ctx->outline->host_activity[op];

	if (ts_host_feeds(activity) || ts_host_compiles(activity))
		return false;
	return activity == TS_HOST_WAIT || ts_host_owner_of_op(of) == TS_HOST_OF_TRACER ||
	       ts_bytes_starts(of->name, "ProfilerStep#") ||
	       ts_step_mark_is_sure(ts_step_mark_of(ctx->profile, of)) ||
	       ts_bytes_is(of->name, ctx->outline->host_steps.made_of);
}

static enum streams_call streams_call_of(struct streams_state *state, const struct ts_context *ctx,
					 uint32_t op)
{
	enum streams_call call;

	if (state->calls[op] != STREAMS_UNSEEN)
		return state->calls[op];
	call = streams_call_by_name(ctx->profile->ops[op].name);
	if (call == STREAMS_WORK && streams_is_place(ctx, op))
		call = STREAMS_PLACE;
	state->calls[op] = (uint8_t)call;
	return call;
}

/* The lane of a line; NULL: no memory, or there are too many (TS_OK). */
static struct ts_stream_lane *streams_lane(struct streams_state *state, uint32_t line,
					   bool is_thread)
{
	uint32_t *at = &state->lane_of[line];

	if (*at != TS_NONE)
		return &state->lanes[*at];
	if (state->nr_lanes >= STREAMS_LANES ||
	    !ts_grow(&state->lanes, &state->cap_lanes, state->nr_lanes + 1, sizeof(*state->lanes)))
		return NULL;
	*at = (uint32_t)state->nr_lanes++;
	state->lanes[*at] = (struct ts_stream_lane){ .line = line, .is_thread = is_thread };
	return &state->lanes[*at];
}

static struct streams_thread *streams_thread(struct streams_state *state, uint32_t line)
{
	uint32_t *at = &state->thread_of[line];

	if (*at != TS_NONE)
		return &state->threads[*at];
	if (!ts_grow(&state->threads, &state->cap_threads, state->nr_threads + 1,
		     sizeof(*state->threads)))
		return NULL;
	*at = (uint32_t)state->nr_threads++;
	state->threads[*at] = (struct streams_thread){ .lane = TS_NONE,
						       .best = { .op = TS_NONE },
						       .since_ps = state->begin_ps };
	return &state->threads[*at];
}

static enum ts_status streams_push(struct streams_state *state, struct ts_stream_lane *lane,
				   const struct ts_stream_moment *moment, struct ts_error *err)
{
	if (!ts_grow(&lane->moments, &lane->cap, lane->nr + 1, sizeof(*lane->moments)))
		return ts_fail_nomem(err);
	lane->moments[lane->nr++] = *moment;
	state->nr_moments++;
	return TS_OK;
}

/* The last moment of a lane that ended until AT_PS and after SINCE_PS; TS_NONE. */
static uint32_t streams_ended(const struct ts_stream_lane *lane, int64_t since_ps, int64_t at_ps)
{
	size_t lo = 0, hi = lane->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (lane->moments[mid].end_ps <= at_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && lane->moments[lo - 1].end_ps > since_ps ? (uint32_t)(lo - 1) : TS_NONE;
}

struct streams_found {
	uint32_t lane, at; /* .at TS_NONE: nothing */
	int64_t end_ps;
};

/* What ended last in (.since_ps, .at_ps], on any lane but .not. */
struct streams_ask {
	uint32_t not;
	bool own_device, threads; /* kernels of the device of .not alone; calls, too */
	int64_t since_ps, at_ps;
};

static bool streams_is_asked(const struct streams_state *state, const struct ts_context *ctx,
			     const struct streams_ask *ask, uint32_t lane)
{
	const struct ts_line *lines = ctx->profile->lines;
	const struct ts_stream_lane *of = &state->lanes[lane];

	if (lane == ask->not|| (of->is_thread && !ask->threads))
		return false;
	return !ask->own_device ||
	       lines[of->line].plane == lines[state->lanes[ask->not].line].plane;
}

static struct streams_found streams_last(const struct streams_state *state,
					 const struct ts_context *ctx,
					 const struct streams_ask *ask)
{
	struct streams_found found = { .at = TS_NONE, .end_ps = ask->since_ps };

	for (uint32_t i = 0; i < state->nr_lanes; i++) {
		const struct ts_stream_lane *lane = &state->lanes[i];
		uint32_t at = streams_is_asked(state, ctx, ask, i)
				      ? streams_ended(lane, found.end_ps, ask->at_ps)
				      : TS_NONE;

		if (at != TS_NONE)
			found = (struct streams_found){ i, at, lane->moments[at].end_ps };
	}
	return found;
}

static void streams_await(struct ts_stream_moment *moment, const struct streams_found *found,
			  enum ts_stream_edge edge)
{
	if (found->at == TS_NONE)
		return;
	moment->lane = found->lane;
	moment->from = found->at;
	moment->edge = (uint8_t)edge;
}

/* What calls waited for that wait for the device: once all that ended in them is known. */
static void streams_settle(struct streams_state *state, const struct ts_context *ctx, uint32_t lane)
{
	for (size_t i = 0; i < state->lanes[lane].nr; i++) {
		struct ts_stream_moment *call = &state->lanes[lane].moments[i];
		const struct streams_ask ask = { .not= lane,
						 .since_ps = call->start_ps,
						 .at_ps = call->end_ps };
		struct streams_found found;

		if (!call->is_sync)
			continue;
		found = streams_last(state, ctx, &ask);
		streams_await(call, &found, TS_EDGE_END);
	}
}

static enum ts_status streams_add_work(struct streams_state *state, const struct ts_context *ctx,
				       struct streams_thread *thread, int64_t until_ps,
				       struct ts_error *err)
{
	struct ts_stream_moment work = { .start_ps = thread->since_ps,
					 .end_ps = until_ps,
					 .from = TS_NONE };

	if (thread->since_ps >= until_ps)
		return TS_OK;
	work.op = ts_streams_thread_work(thread, until_ps);
	if (work.op == TS_NONE) {
		const struct streams_ask ask = { .not= thread->lane,
						 .threads = true,
						 .since_ps = work.start_ps,
						 .at_ps = work.end_ps };
		struct streams_found found = streams_last(state, ctx, &ask);

		streams_await(&work, &found, TS_EDGE_LIKELY);
	}
	return streams_push(state, &state->lanes[thread->lane], &work, err);
}

/* As a launch is noted: the call that is the AT-th moment of a lane. */
static uint32_t streams_noted(uint32_t lane, size_t at)
{
	return lane << (32 - LANE_BITS) | (uint32_t)at;
}

static enum ts_status streams_add_call(struct streams_state *state, const struct ts_context *ctx,
				       struct streams_thread *thread,
				       const struct streams_event *event, enum streams_call call,
				       uint64_t link, struct ts_error *err)
{
	struct ts_stream_lane *lane = &state->lanes[thread->lane];
	struct ts_stream_moment moment = { event->start_ps, event->end_ps, event->op,
					   .from = TS_NONE, .is_call = true };
	enum ts_status st;

	if (lane->nr > 0 && event->start_ps < thread->since_ps) /* inside of one: the driver's */
		return ts_launches_note(&state->launches, link,
					streams_noted(thread->lane, lane->nr - 1), err);
	st = streams_add_work(state, ctx, thread, event->start_ps, err);
	if (st || lane->nr > AT_MASK)
		return st;
	moment.is_late = thread->orders && call != STREAMS_SYNC;
	thread->orders = call == STREAMS_SYNC && thread->orders;
	moment.is_sync = call == STREAMS_SYNC;
	thread->since_ps = event->end_ps;
	thread->best.op = TS_NONE;
	if (link != TS_NO_LINK)
		st = ts_launches_note(&state->launches, link, streams_noted(thread->lane, lane->nr),
				      err);
	return st ? st : streams_push(state, lane, &moment, err);
}

static enum ts_status streams_take_host(struct streams_state *state, const struct ts_context *ctx,
					const struct ts_interleaved *interleaved, size_t i,
					struct ts_error *err)
{
	struct streams_event event = { interleaved->start_ps[i],
				       ts_i64_add(interleaved->start_ps[i],
						  TS_MAX(interleaved->dur_ps[i], 0)),
				       interleaved->op[i] };
	enum streams_call call = streams_call_of(state, ctx, event.op);
	struct streams_thread *thread;
	struct ts_stream_lane *lane;

	if (call == STREAMS_PLACE)
		return TS_OK;
	thread = streams_thread(state, interleaved->line[i]);
	if (!thread)
		return ts_fail_nomem(err);
	if (call == STREAMS_WORK) {
		ts_streams_thread_begin(thread, &event);
		return TS_OK;
	}
	if (call == STREAMS_ORDER) {
		thread->orders = true;
		return TS_OK;
	}
	lane = streams_lane(state, interleaved->line[i], true);
	if (!lane)
		return state->nr_lanes < STREAMS_LANES ? ts_fail_nomem(err) : TS_OK;
	thread->lane = (uint32_t)(lane - state->lanes);
	return streams_add_call(state, ctx, thread, &event, call, interleaved->link[i], err);
}

/* The call that launched; NULL: it is not known. LAUNCH: as streams_add_call() noted it. */
static struct ts_stream_moment *streams_call_at(const struct streams_state *state, uint32_t launch)
{
	uint32_t lane = launch >> (32 - LANE_BITS), at = launch & AT_MASK;

	if (launch == TS_NONE || lane >= state->nr_lanes || at >= state->lanes[lane].nr)
		return NULL;
	return &state->lanes[lane].moments[at];
}

#define LONG_PS (50 * TS_PS_PER_US) /* a launch, or a kernel after it could begin: longer ones waited */
#define NEAR	10 /* a kernel begins within so small a part of its wait after what it waited for */

/* A launch into a stream that has too much to run returns when some of that is done. */
static void streams_find_full(const struct streams_state *state, struct ts_stream_moment *call,
			      uint32_t own, int64_t busy_ps)
{
	uint32_t at;

	if (call->from != TS_NONE || call->end_ps - call->start_ps < LONG_PS ||
	    busy_ps < call->end_ps)
		return;
	at = streams_ended(&state->lanes[own], call->start_ps, call->end_ps);
	streams_await(call, &(struct streams_found){ own, at, 0 }, TS_EDGE_LIKELY);
}

/* The call that launched it, which is noted as LAUNCH. Gives when it could begin. */
static int64_t streams_find_launch(const struct streams_state *state,
				   struct ts_stream_moment *kernel, uint32_t own,
				   struct ts_stream_moment *call, uint32_t launch, int64_t busy_ps)
{
	int64_t launch_ps;

	if (!call || call->start_ps > kernel->start_ps)
		return busy_ps;
	kernel->is_launched = true;
	kernel->edge = call->end_ps <= kernel->start_ps ? TS_EDGE_END : TS_EDGE_LAUNCH;
	kernel->lane = launch >> (32 - LANE_BITS);
	kernel->from = launch & AT_MASK;
	launch_ps = kernel->edge == TS_EDGE_END ? call->end_ps : call->start_ps;
	kernel->is_late = busy_ps <= launch_ps;
	streams_find_full(state, call, own, busy_ps);
	return TS_MAX(busy_ps, launch_ps);
}

/*
 * Another stream: where the thread said that it waits for one, or where the kernel could have begun long before, and began when
 * one of its device's was done. Traces leave out what orders streams.
 */
static void streams_find_other(const struct streams_state *state, const struct ts_context *ctx,
			       struct ts_stream_moment *kernel, uint32_t own, int64_t ready_ps,
			       bool is_ordered)
{
	struct streams_ask ask = { own, !is_ordered, false, ready_ps, kernel->start_ps };
	int64_t waited_ps = ts_i64_sub(kernel->start_ps, ready_ps);
	struct streams_found found;

	if (!is_ordered && waited_ps < LONG_PS)
		return;
	found = streams_last(state, ctx, &ask);
	if (is_ordered || kernel->start_ps - found.end_ps <= waited_ps / NEAR)
		streams_await(kernel, &found, TS_EDGE_LIKELY);
}

/* A copy that returned when it was done. */
static void streams_end_copy(struct streams_state *state, const struct ts_context *ctx,
			     const struct ts_stream_moment *kernel, uint32_t own,
			     struct ts_stream_moment *call)
{
	if (!call || call->op == TS_NONE || kernel->end_ps > call->end_ps ||
	    streams_call_of(state, ctx, call->op) != STREAMS_COPY)
		return;
	call->lane = own;
	call->from = (uint32_t)state->lanes[own].nr;
	call->edge = TS_EDGE_END;
}

static enum ts_status streams_take_kernel(struct streams_state *state, const struct ts_context *ctx,
					  const struct ts_interleaved *interleaved, size_t i,
					  struct ts_error *err)
{
	struct ts_stream_lane *lane = streams_lane(state, interleaved->line[i], false);
	uint32_t launch = ts_launches_find(&state->launches, interleaved->link[i]), own;
	struct ts_stream_moment kernel = { .op = interleaved->op[i], .from = TS_NONE };
	struct ts_stream_moment *call = streams_call_at(state, launch);
	int64_t busy_ps, ready_ps;

	if (!lane)
		return state->nr_lanes < STREAMS_LANES ? ts_fail_nomem(err) : TS_OK;
	own = (uint32_t)(lane - state->lanes);
	busy_ps = lane->nr > 0 ? lane->moments[lane->nr - 1].end_ps : state->begin_ps;
	kernel.start_ps = TS_MAX(interleaved->start_ps[i], busy_ps);
	kernel.end_ps =
		TS_MAX(ts_i64_add(interleaved->start_ps[i], TS_MAX(interleaved->dur_ps[i], 0)),
		       kernel.start_ps);
	ready_ps = streams_find_launch(state, &kernel, own, call, launch, busy_ps);
	streams_find_other(state, ctx, &kernel, own, ready_ps, call && call->is_late);
	streams_end_copy(state, ctx, &kernel, own, call);
	return streams_push(state, lane, &kernel, err);
}

static enum ts_status streams_interleaved(void *arg, const struct ts_context *ctx,
					  const struct ts_interleaved *interleaved,
					  struct ts_error *err)
{
	struct streams_state *state = arg;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && st == TS_OK; i++) {
		uint8_t side = state->sides[interleaved->line[i]];

		if (side == TS_SIDE_NONE)
			continue;
		if (state->nr_moments >= STREAMS_MOMENTS) {
			state->until_ps = TS_MIN(state->until_ps, interleaved->start_ps[i]);
			break;
		}
		state->begin_ps = TS_MIN(state->begin_ps, interleaved->start_ps[i]);
		if (side == TS_SIDE_DEVICE)
			st = streams_take_kernel(state, ctx, interleaved, i, err);
		else
			st = streams_take_host(state, ctx, interleaved, i, err);
	}
	return st;
}

static enum ts_status streams_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				    struct ts_error *err)
{
	struct streams_state *into = arg_into, *from = arg_from;
	size_t first = into->nr_lanes;

	for (uint32_t i = 0; i < from->nr_lanes; i++)
		streams_settle(from, ctx, i);
	if (!ts_grow(&into->lanes, &into->cap_lanes, first + from->nr_lanes, sizeof(*into->lanes)))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < from->nr_lanes; i++) {
		into->lanes[first + i] = from->lanes[i];
		into->lanes[first + i].first = (uint32_t)first;
		from->lanes[i] = (struct ts_stream_lane){ .nr = 0 };
	}
	into->nr_lanes += from->nr_lanes;
	into->until_ps = first == 0 ? from->until_ps : TS_MIN(into->until_ps, from->until_ps);
	return TS_OK;
}

struct streams_count {
	int64_t kernels, kernels_launched, kernels_ordered, calls, calls_waited, waits_inferred;
};

static void streams_count_moment(struct streams_count *count, const struct ts_stream_lane *lane,
				 const struct ts_stream_moment *moment)
{
	bool is_inferred = moment->edge == TS_EDGE_LIKELY;

	if (!lane->is_thread) {
		count->kernels++;
		count->kernels_launched += moment->is_launched;
		count->kernels_ordered += is_inferred;
		return;
	}
	count->calls += moment->is_call;
	count->calls_waited += moment->edge == TS_EDGE_END;
	count->waits_inferred += is_inferred;
}

#define STREAMS_CELLS(X) \
	X(kernels) X(kernels_launched) X(kernels_ordered) X(calls) X(calls_waited) X(waits_inferred)

static void streams_put(const struct ts_streams_facts *facts, struct ts_result *result)
{
	struct streams_count count = { .kernels = 0 };

	for (size_t i = 0; i < facts->nr_lanes; i++)
		for (size_t k = 0; k < facts->lanes[i].nr; k++)
			streams_count_moment(&count, &facts->lanes[i], &facts->lanes[i].moments[k]);
#define X(name) TS_SET(result, streams, name, ts_int(count.name));
	STREAMS_CELLS(X)
#undef X
	TS_SET(result, streams, until_ps,
	       facts->until_ps < INT64_MAX ? ts_int(facts->until_ps) : ts_null());
}

/* The sum is gone when the facts are read: its moments move to where these are, lane by lane. */
static enum ts_status streams_close(void *arg, const struct ts_context *ctx, void *arg_facts,
				    struct ts_result *result, struct ts_error *err)
{
	struct streams_state *sum = arg;
	struct ts_streams_facts *facts = arg_facts;
	struct ts_arena *arena = &result->owner->arena;
	struct ts_stream_lane *lanes = ts_arena_array(arena, sum->nr_lanes + 1, sizeof(*lanes));

	(void)ctx;
	for (size_t i = 0; lanes && i < sum->nr_lanes; i++) {
		struct ts_stream_lane *from = &sum->lanes[i];

		lanes[i] = *from;
		lanes[i].moments =
			ts_arena_dup(arena, from->moments, from->nr, sizeof(*from->moments));
		if (from->nr > 0 && !lanes[i].moments)
			return ts_fail_nomem(err);
		free(from->moments);
		from->moments = NULL;
		from->nr = from->cap = 0;
	}
	*facts = (struct ts_streams_facts){ lanes, sum->nr_lanes, sum->until_ps };
	if (!lanes)
		return ts_fail_nomem(err);
	if (sum->nr_lanes > 0)
		streams_put(facts, result);
	return TS_OK;
}

const struct ts_analysis ts_analysis_streams = {
	.schema = &ts_schema_streams,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK,
	.state = &ts_streams_record,
	.facts_size = sizeof(struct ts_streams_facts),
	.applies = streams_applies,
	.wants = streams_wants,
	.open = streams_open,
	.interleaved = streams_interleaved,
	.merge = streams_merge,
	.close = streams_close,
};
