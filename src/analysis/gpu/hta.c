/* SPDX-License-Identifier: MIT */
/*
 * What HolisticTraceAnalysis (HTA) says of a run on GPUs, in one walk over the events of a host in
 * the order of their starts: what the GPUs did and waited for, which kernels took how long, how the
 * host launched them.
 *
 * The rules are those of HTA 0.5.0; they were found in its source and compared with its answers.
 * Kernels that were launched in the last profiler step are left out where a trace has more than one
 * step (common/trace.py). Times with fractions become whole us, starts up and ends down
 * (trace_parser.py). A kernel's type follows from its name (utils.py). HTA's own figures keep these
 * rules; all others are of the times as they are and of the types of model/kernel_name.h.
 * docs/analyses/gpu/hta.md has what the rules lose.
 */
#include "analysis/gpu/hta.h"
#include "analysis/settings_list.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/record.h"
#include "base/units.h"
#include "result/schema/hta.def"

#define SLOW_CALL_PS (50 * TS_PS_PER_US)  /* HTA's limits: of a call's own time, */
#define LATE_PS	     (100 * TS_PS_PER_US) /* and of the wait behind it */

static bool gpu_hta_is_stream(const struct ts_profile *profile, const struct ts_line *line)
{
	const struct ts_device *device = ts_line_device(profile, line);

	return device && device->is_gpu && line->kind == TS_LINE_OPS &&
	       ts_line_is_core(profile, line);
}

static bool is_thread(const struct ts_profile *profile, const struct ts_line *line)
{
	return line->kind == TS_LINE_THREAD && profile->planes[line->plane].device == TS_NONE;
}

static bool gpu_hta_has_gpus(const struct ts_profile *profile, uint32_t host)
{
	for (size_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].host == host && profile->devices[i].is_gpu)
			return true;
	return false;
}

static bool hta_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	const struct ts_profile *profile = ctx->profile;

	return gpu_hta_has_gpus(profile, profile->planes[line->plane].host) &&
	       (gpu_hta_is_stream(profile, line) || is_thread(profile, line));
}

static struct hta_rank *gpu_hta_rank_of(struct hta_state *state, uint32_t device)
{
	for (size_t i = 0; i < state->nr_ranks; i++)
		if (state->ranks[i].device == device)
			return &state->ranks[i];
	state->ranks[state->nr_ranks] = (struct hta_rank){ .host = state->host, .device = device };
	return &state->ranks[state->nr_ranks++];
}

/* Adds a stream, and the rank that it belongs to. */
static enum ts_status add_stream(struct hta_state *state, const struct ts_context *ctx,
				 uint32_t line, struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	bool is_trace = profile->hosts[state->host].trace_start_ns != TS_UNKNOWN;
	uint32_t device = profile->planes[profile->lines[line].plane].device;
	struct hta_rank *rank = gpu_hta_rank_of(state, is_trace ? TS_NONE : device);
	struct hta_stream *stream = &state->streams[state->nr_streams];

	*stream = (struct hta_stream){ .line = line, .rank = (uint32_t)(rank - state->ranks) };
	state->lines[line].stream = (uint32_t)state->nr_streams++;
	if (ctx->overlay_budget > 0 && !rank->queued) {
		rank->queued = malloc(sizeof(*rank->queued));
		if (!rank->queued)
			return ts_fail_nomem(err);
		ts_bins_init(rank->queued, 0, TS_PS_PER_US);
	}
	return TS_OK;
}

/* A device's mark of the last step begins after the host's, and HTA cuts there instead. */
static bool is_marked_on_device(const struct ts_profile *profile, uint64_t number)
{
	char name[40];

	snprintf(name, sizeof(name), "ProfilerStep#%" PRIu64, number);
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (profile->ops[i].category_id == TS_KINETO_GPU_USER_ANNOTATION &&
		    ts_bytes_is(profile->ops[i].name, name))
			return true;
	return false;
}

/* Where the last profiler step begins, if there is more than one. */
static void find_cut(struct hta_state *state, const struct ts_context *ctx)
{
	const struct ts_steps *steps = &ctx->outline->steps;

	if (ctx->profile->hosts[state->host].trace_start_ns == TS_UNKNOWN)
		return;
	state->can_round = true;
	for (uint32_t i = 0; i < steps->nr_devices && steps->source == TS_STEPS_MARKED; i++) {
		const struct ts_device_steps *device;
		const struct ts_step *last;

		if (ctx->profile->devices[i].host != state->host)
			continue;
		device = ts_steps_of(steps, i);
		if (device->nr < 2)
			continue;
		last = &device->items[device->nr - 1];
		state->cut_ps =
			state->is_cut ? TS_MAX(state->cut_ps, last->start_ps) : last->start_ps;
		state->is_cut = true;
		state->can_round &= !is_marked_on_device(ctx->profile, last->number);
	}
}

/* A call that cannot launch a kernel need not be remembered. */
static bool never_launches(struct ts_bytes name)
{
	static const char *const parts[] = { "Synchronize", "EventQuery",  "EventRecord",
					     "WaitEvent",   "IsCapturing", "CaptureInfo",
					     "Occupancy",   "Attribute",   "LastError",
					     "GetDevice",   "Malloc",	   "Free",
					     "Priority",    "EventDestroy" };

	for (size_t i = 0; i < TS_NELEM(parts); i++)
		if (ts_bytes_has(name, parts[i]))
			return true;
	return false;
}

static uint8_t gpu_hta_kind_of(const struct ts_op *op)
{
	unsigned kind = 0;

	if (op->category_id == TS_KINETO_CPU_OP || op->category_id == TS_KINETO_FIRST_OPERATOR)
		kind |= HTA_OPERATOR;
	if (never_launches(op->name))
		kind |= HTA_NO_LAUNCH;
	return (uint8_t)kind;
}

/* Only where there are several ranks, they are compared. */
static void limit_instances(struct hta_state *state, const struct ts_profile *profile)
{
	size_t nr = TS_MAX(profile->nr_hosts, profile->nr_devices);

	for (size_t i = 0; i < state->nr_ranks; i++)
		state->ranks[i].collectives.max_instances = nr > 1 ? HTA_INSTANCES_MAX / nr : 0;
}

static enum ts_status hta_open(void *ptr, const struct ts_context *ctx, const struct ts_line *first,
			       struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	struct hta_state *state = ptr;
	enum ts_status st;

	state->host = profile->planes[first->plane].host;
	state->lag_ps = ts_i64_sub(first->start_ps, first->host_ps);
	state->lines = calloc(profile->nr_lines + 1, sizeof(*state->lines));
	state->nr_lines = profile->nr_lines;
	state->types = calloc(profile->nr_ops + 1, sizeof(*state->types));
	state->hta_types = calloc(profile->nr_ops + 1, sizeof(*state->hta_types));
	state->kinds = calloc(profile->nr_ops + 1, sizeof(*state->kinds));
	state->ranks = calloc(profile->nr_devices + 1, sizeof(*state->ranks));
	state->streams = calloc(profile->nr_lines + 1, sizeof(*state->streams));
	if (!state->lines || !state->types || !state->hta_types || !state->kinds || !state->ranks ||
	    !state->streams)
		return ts_fail_nomem(err);
	st = ts_hta_launches_init(&state->launches, err);
	for (uint32_t i = 0; i < profile->nr_lines && !st; i++) {
		const struct ts_line *line = &profile->lines[i];

		state->lines[i].stream = state->lines[i].root = TS_NONE;
		state->lines[i].end_ps = INT64_MIN;
		if (profile->planes[line->plane].host != state->host)
			continue;
		state->lines[i].is_thread = is_thread(profile, line);
		if (gpu_hta_is_stream(profile, line))
			st = add_stream(state, ctx, i, err);
	}
	for (size_t i = 0; i < profile->nr_ops; i++) {
		state->types[i] = (uint8_t)ts_kernel_type_of(&profile->ops[i]);
		state->hta_types[i] = (uint8_t)ts_hta_type_of(profile->ops[i].name);
		state->kinds[i] = gpu_hta_kind_of(&profile->ops[i]);
	}
	limit_instances(state, profile);
	find_cut(state, ctx);
	return st;
}

/* --- a kernel */

struct event {
	uint32_t op, stream;
	int64_t start_ps, dur_ps;
	uint64_t link;
};

struct counting { /* where a kernel is counted */
	struct hta_state *state;
	const struct ts_context *ctx;
	struct hta_rank *rank;
	struct hta_stream *stream;
	const struct hta_launch *launch; /* or NULL */
};

/* As HTA reads it: the file has a double, in us. */
struct whole {
	int64_t start_us, end_us;
};

static struct whole gpu_hta_whole_us(const struct counting *counting, const struct event *event)
{
	const struct ts_host *host = &counting->ctx->profile->hosts[counting->state->host];
	int64_t since_ps = ts_i64_sub(event->start_ps, counting->state->lag_ps);
	int64_t ns = ts_i64_add(host->trace_start_ns, since_ps / TS_PS_PER_NS);
	int64_t dur_ns = event->dur_ps / TS_PS_PER_NS;
	double start_us = (double)((long double)ns / 1000);
	double dur_us = (double)((long double)dur_ns / 1000);

	return (struct whole){ (int64_t)ceil(start_us), (int64_t)floor(start_us + dur_us) };
}

static void count_whole(const struct counting *counting, struct hta_kernel *kernel,
			const struct event *event)
{
	enum ts_kernel_type type = (enum ts_kernel_type)counting->state->hta_types[event->op];
	struct hta_rank *rank = counting->rank;
	struct whole whole = gpu_hta_whole_us(counting, event);

	ts_hta_union_add(&rank->all, whole.start_us, whole.end_us);
	if (type == TS_KERNEL_COMPUTATION)
		ts_hta_union_add(&rank->computing, whole.start_us, whole.end_us);
	else if (type == TS_KERNEL_COMMUNICATION)
		ts_hta_union_add(&rank->communicating, whole.start_us, whole.end_us);
	ts_hta_overlaps_add(&rank->us, type, whole.start_us, whole.end_us);
	kernel->sum_us = ts_i64_add(kernel->sum_us, whole.end_us - whole.start_us);
}

static struct hta_kernel *gpu_hta_kernel_of(struct hta_rank *rank, uint32_t op)
{
	uint32_t at = ts_map_find(&rank->by_op, op);

	if (at != TS_NONE)
		return &rank->kernels[at];
	if (!ts_grow(&rank->kernels, &rank->cap_ops, rank->nr_ops + 1, sizeof(*rank->kernels)) ||
	    !ts_map_set(&rank->by_op, op, (uint32_t)rank->nr_ops))
		return NULL;
	rank->kernels[rank->nr_ops] = (struct hta_kernel){ .op = op };
	return &rank->kernels[rank->nr_ops++];
}

static enum ts_status add_call(struct hta_rank *rank, uint32_t op, struct ts_error *err)
{
	struct hta_call *call;
	enum ts_status st;

	if (!ts_grow(&rank->calls, &rank->cap_calls, rank->nr_calls + 1, sizeof(*rank->calls)))
		return ts_fail_nomem(err);
	call = &rank->calls[rank->nr_calls++];
	*call = (struct hta_call){ .op = op };
	st = ts_spread_init(&call->cpu, err);
	if (st)
		return st;
	st = ts_spread_init(&call->gpu, err);
	if (st)
		return st;
	st = ts_spread_init(&call->delay, err);
	if (st)
		return st;
	return ts_map_set(&rank->by_call, op, (uint32_t)(rank->nr_calls - 1)) ? TS_OK
									      : ts_fail_nomem(err);
}

static enum ts_status gpu_hta_call_of(struct hta_rank *rank, uint32_t op, struct hta_call **call,
				      struct ts_error *err)
{
	uint32_t at = ts_map_find(&rank->by_call, op);
	enum ts_status st = TS_OK;

	if (at == TS_NONE) {
		at = (uint32_t)rank->nr_calls;
		st = add_call(rank, op, err);
	}
	*call = st == TS_OK ? &rank->calls[at] : NULL;
	return st;
}

static enum ts_status count_call(const struct counting *counting, const struct event *event,
				 struct ts_error *err)
{
	const struct hta_launch *launch = counting->launch;
	int64_t delay_ps = event->start_ps - launch->start_ps - launch->dur_ps;
	struct hta_call *call;
	enum ts_status st = gpu_hta_call_of(counting->rank, launch->op, &call, err);

	if (st)
		return st;
	delay_ps = TS_MAX(delay_ps, 0);
	ts_spread_add(&call->cpu, launch->dur_ps);
	ts_spread_add(&call->gpu, event->dur_ps);
	ts_spread_add(&call->delay, delay_ps);
	call->nr_short += launch->dur_ps <= SLOW_CALL_PS && event->dur_ps < launch->dur_ps;
	call->nr_slow += launch->dur_ps > SLOW_CALL_PS;
	call->nr_late += delay_ps > LATE_PS;
	return TS_OK;
}

static void count_idle(const struct counting *counting, const struct event *event)
{
	struct hta_stream *stream = counting->stream;
	double short_ps = counting->ctx->settings->kernel_gap_short * 1e6;
	int64_t gap_ps = event->start_ps - stream->end_ps;
	enum ts_hta_wait cause = TS_HTA_OTHER_WAIT;

	if (counting->launch && counting->launch->start_ps > stream->end_ps)
		cause = TS_HTA_HOST_WAIT;
	else if ((double)gap_ps < short_ps)
		cause = TS_HTA_KERNEL_WAIT;
	if (stream->begun && gap_ps > 0) {
		stream->wait_ps[cause] = ts_i64_add(stream->wait_ps[cause], gap_ps);
		stream->nr_waits[cause]++;
	}
	stream->end_ps = stream->begun ? TS_MAX(stream->end_ps, event->start_ps + event->dur_ps)
				       : event->start_ps + event->dur_ps;
	stream->begun = true;
}

/* FIRST: it is the first kernel of its launch. */
static enum ts_status gpu_hta_count_kernel(const struct counting *counting,
					   const struct event *event, bool first,
					   struct ts_error *err)
{
	const struct hta_state *state = counting->state;
	enum ts_kernel_type type = (enum ts_kernel_type)state->types[event->op];
	struct hta_rank *rank = counting->rank;
	struct hta_kernel *kernel = gpu_hta_kernel_of(rank, event->op);

	if (!kernel)
		return ts_fail_nomem(err);
	rank->nr_kernels++;
	rank->nr_unlaunched += !counting->launch;
	if ((double)event->dur_ps < counting->ctx->settings->kernel_short * 1e6) {
		rank->nr_short++;
		rank->short_ps = ts_i64_add(rank->short_ps, event->dur_ps);
	}
	ts_spread_add(&kernel->spread, event->dur_ps);
	ts_hta_overlaps_add(&rank->ps, type, event->start_ps, event->start_ps + event->dur_ps);
	if (state->can_round && (counting->launch || !state->is_cut))
		count_whole(counting, kernel, event);
	count_idle(counting, event);
	return first ? count_call(counting, event, err) : TS_OK;
}

/* No more kernels of this call are expected: if it had one, that waited in the queue of its
 * stream. */
static enum ts_status gpu_hta_settle(struct hta_state *state, const struct ts_context *ctx,
				     const struct hta_launch *launch, struct ts_error *err)
{
	int64_t full = (int64_t)ctx->settings->launch_queue_full;
	struct hta_stream *stream;
	struct ts_bins *bins;
	enum ts_status st = TS_OK;

	if (launch->root != TS_NONE)
		st = ts_hta_roots_drop(&state->roots, launch->root, &state->patterns, err);
	if (st)
		return st;
	if (launch->stream == TS_NONE || (state->is_cut && launch->start_ps >= state->cut_ps))
		return TS_OK;
	stream = &state->streams[launch->stream];
	bins = state->ranks[stream->rank].queued;
	if (bins && launch->kernel_ps > launch->start_ps)
		ts_bins_add(bins, launch->start_ps, launch->kernel_ps,
			    (double)(launch->kernel_ps - launch->start_ps) * 1e-12);
	return ts_hta_queue_add(&stream->queue, launch->start_ps,
				TS_MAX(launch->kernel_ps, launch->start_ps), full, err);
}

static enum ts_status gpu_hta_take_kernel(struct hta_state *state, const struct ts_context *ctx,
					  const struct event *event,
					  const struct ts_interleaved *interleaved, size_t i,
					  struct ts_error *err)
{
	struct hta_stream *stream = &state->streams[event->stream];
	struct hta_launch *launch = event->link == TS_NO_LINK
					    ? NULL
					    : ts_hta_launches_find(&state->launches, event->link);
	struct counting counting = { state, ctx, &state->ranks[stream->rank], stream, launch };
	int64_t since_ps = launch ? launch->start_ps : event->start_ps;
	bool first = launch && launch->stream == TS_NONE;
	enum ts_status st = TS_OK;

	if (first) {
		launch->stream = event->stream;
		launch->kernel_ps = event->start_ps;
	}
	if (state->is_cut && since_ps >= state->cut_ps) {
		counting.rank->nr_late++;
		return TS_OK;
	}
	if (!launch && event->link != TS_NO_LINK)
		st = ts_launches_note(&state->early, event->link, stream->rank, err);
	if (st)
		return st;
	if (launch && launch->root != TS_NONE)
		ts_hta_root_kernel(&state->roots.items[launch->root], event->op, event->dur_ps);
	if (state->types[event->op] == TS_KERNEL_COMMUNICATION)
		st = ts_hta_collectives_add(&counting.rank->collectives, interleaved, i, err);
	return st ? st : gpu_hta_count_kernel(&counting, event, first, err);
}

/* --- a call of the host */

static enum ts_status leave_operator(struct hta_state *state, struct hta_line *line,
				     struct ts_error *err)
{
	uint32_t root = line->root;

	line->root = TS_NONE;
	if (root == TS_NONE)
		return TS_OK;
	return ts_hta_roots_drop(&state->roots, root, &state->patterns, err);
}

static enum ts_status enter_operator(struct hta_state *state, struct hta_line *line,
				     const struct event *event, struct ts_error *err)
{
	enum ts_status st;

	if (event->start_ps < line->end_ps)
		return TS_OK; /* it stands inside the one that runs */
	st = leave_operator(state, line, err);
	if (st)
		return st;
	line->op = event->op;
	line->cpu_ps = event->dur_ps;
	line->end_ps = event->start_ps + event->dur_ps;
	return TS_OK;
}

/* A call whose kernel came before it: the clocks of host and device differ. */
static void hta_find_early(struct hta_state *state, uint64_t link)
{
	uint32_t rank = ts_launches_take(&state->early, link);

	if (rank == TS_NONE)
		return;
	state->ranks[rank].nr_unlaunched--;
	state->ranks[rank].nr_early++;
}

/* The operator that a call stands in waits for it; TS_NONE in *ROOT: it stands in no operator. */
static enum ts_status find_root(struct hta_state *state, struct hta_line *line,
				const struct event *event, uint32_t *root, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	*root = TS_NONE;
	if (event->start_ps >= line->end_ps)
		return TS_OK;
	if (line->root == TS_NONE)
		st = ts_hta_roots_add(&state->roots, line->op, line->cpu_ps, &line->root, err);
	if (st)
		return st;
	state->roots.items[line->root].nr_waiting++;
	*root = line->root;
	return TS_OK;
}

static enum ts_status gpu_hta_take_call(struct hta_state *state, const struct ts_context *ctx,
					struct hta_line *line, const struct event *event,
					struct ts_error *err)
{
	struct hta_launch launch = { .link = event->link,
				     .start_ps = event->start_ps,
				     .dur_ps = event->dur_ps,
				     .op = event->op,
				     .stream = TS_NONE };
	struct hta_launch oldest;
	enum ts_status st = TS_OK;

	if (ts_hta_launches_full(&state->launches) &&
	    ts_hta_launches_pop(&state->launches, &oldest))
		st = gpu_hta_settle(state, ctx, &oldest, err);
	if (st)
		return st;
	st = find_root(state, line, event, &launch.root, err);
	if (st)
		return st;
	hta_find_early(state, event->link);
	ts_hta_launches_add(&state->launches, &launch);
	return TS_OK;
}

static enum ts_status gpu_hta_take_host_event(struct hta_state *state, const struct ts_context *ctx,
					      struct hta_line *line, const struct event *event,
					      struct ts_error *err)
{
	uint8_t kind = state->kinds[event->op];
	enum ts_status st = TS_OK;

	if (kind & HTA_OPERATOR)
		st = enter_operator(state, line, event, err);
	if (st || event->link == TS_NO_LINK || (kind & HTA_NO_LAUNCH))
		return st;
	return gpu_hta_take_call(state, ctx, line, event, err);
}

static enum ts_status hta_interleaved(void *ptr, const struct ts_context *ctx,
				      const struct ts_interleaved *interleaved,
				      struct ts_error *err)
{
	struct hta_state *state = ptr;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && !st; i++) {
		struct hta_line *line = &state->lines[interleaved->line[i]];
		struct event event = { interleaved->op[i], line->stream, interleaved->start_ps[i],
				       interleaved->dur_ps[i], interleaved->link[i] };

		if (line->stream != TS_NONE)
			st = gpu_hta_take_kernel(state, ctx, &event, interleaved, i, err);
		else if (line->is_thread)
			st = gpu_hta_take_host_event(state, ctx, line, &event, err);
	}
	return st;
}

/* --- the sum over hosts */

/* Calls that still wait get no more kernels. */
static enum ts_status finish_host(struct hta_state *state, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct hta_launch launch;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < state->nr_lines && !st; i++)
		st = leave_operator(state, &state->lines[i], err);
	while (!st && ts_hta_launches_pop(&state->launches, &launch))
		st = gpu_hta_settle(state, ctx, &launch, err);
	return st;
}

/* Ranks and streams move to INTO; the rest of FROM is released without them. */
static enum ts_status hta_merge(void *ptr_into, void *ptr_from, const struct ts_context *ctx,
				struct ts_error *err)
{
	struct hta_state *into = ptr_into, *from = ptr_from;
	enum ts_status st = finish_host(from, ctx, err);

	if (st)
		return st;
	st = ts_hta_patterns_merge(&into->patterns, &from->patterns, err);
	if (st)
		return st;
	for (size_t i = 0; i < from->nr_streams; i++) {
		ts_hta_queue_finish(&from->streams[i].queue,
				    (int64_t)ctx->settings->launch_queue_full);
		from->streams[i].rank += (uint32_t)into->nr_ranks;
	}
	for (size_t i = 0; i < from->nr_ranks; i++) {
		ts_hta_overlaps_finish(&from->ranks[i].ps);
		ts_hta_overlaps_finish(&from->ranks[i].us);
		ts_hta_union_finish(&from->ranks[i].all);
		ts_hta_union_finish(&from->ranks[i].computing);
		ts_hta_union_finish(&from->ranks[i].communicating);
	}
	return ts_record_merge(&ts_hta_record, into, from, err);
}

static enum ts_status hta_close(void *ptr, const struct ts_context *ctx, void *facts,
				struct ts_result *result, struct ts_error *err)
{
	return ts_hta_report(ptr, ctx, facts, result, err);
}

const struct ts_analysis ts_analysis_hta = {
	.schema = &ts_schema_hta,
	.needs = TS_NEEDED,
	.pass = TS_PASS_INTERLEAVED,
	.state = &ts_hta_record,
	.facts_size = sizeof(struct ts_hta_facts),
	.wants = hta_wants,
	.open = hta_open,
	.interleaved = hta_interleaved,
	.merge = hta_merge,
	.close = hta_close,
};
