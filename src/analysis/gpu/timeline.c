/* SPDX-License-Identifier: MIT */
/*
 * The timeline: when hosts and devices worked, alone and at once, and into which of eight classes
 * each step's time falls. One walk over the merged events of a host (model/sweep.h).
 *
 * Source: pytorch/kineto, tb_plugin (torch_tb_profiler 0.4.3): overall_parser.py, event_parser.py.
 * Where our meaning differs, docs/analyses/gpu/timeline.md says so.
 */
#include "analysis/gpu/timeline.h"
#include "result/schema/timeline.def"

#define STEP_PREFIX "ProfilerStep#" /* torch.profiler.profile.step() */

static const enum timeline_kind kinds_of_devices[] = {
	[TS_TRACE_KERNEL] = KIND_KERNEL,
	[TS_TRACE_MEMCPY] = KIND_MEMCPY,
	[TS_TRACE_MEMSET] = KIND_MEMSET,
	[TS_TRACE_COMMUNICATION] = KIND_DEVICE_COMMUNICATION,
};

static const enum timeline_kind kinds_of_hosts[] = {
	[TS_TRACE_COMMUNICATION] = KIND_COMMUNICATION,
	[TS_TRACE_RUNTIME] = KIND_RUNTIME,
	[TS_TRACE_DATALOADER] = KIND_DATALOADER,
	[TS_TRACE_CPU_EXEC] = KIND_CPU_EXEC,
};

static const enum ts_trace_class classes_of_kinds[NR_KINDS] = {
	[KIND_KERNEL] = TS_TRACE_KERNEL,
	[KIND_MEMCPY] = TS_TRACE_MEMCPY,
	[KIND_MEMSET] = TS_TRACE_MEMSET,
	[KIND_DEVICE_COMMUNICATION] = TS_TRACE_COMMUNICATION,
	[KIND_COMMUNICATION] = TS_TRACE_COMMUNICATION,
	[KIND_RUNTIME] = TS_TRACE_RUNTIME,
	[KIND_DATALOADER] = TS_TRACE_DATALOADER,
	[KIND_CPU_EXEC] = TS_TRACE_CPU_EXEC,
	[KIND_HOST] = TS_TRACE_OTHER,
	[KIND_PYTHON] = TS_TRACE_OTHER,
};

static bool timeline_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_trace_side_of(ctx->profile, line) != TS_SIDE_NONE;
}

static enum timeline_kind kind_on_host(const struct ts_profile *profile, const struct ts_line *line,
				       const struct ts_op *op)
{
	enum ts_trace_class class = ts_trace_class_of(profile, line, op);

	if (class < TS_NELEM(kinds_of_hosts))
		return kinds_of_hosts[class];
	if (ts_trace_is_python(op))
		return KIND_PYTHON;
	if (op->category_id == TS_KINETO_USER_ANNOTATION || op->category_id == TS_KINETO_OVERHEAD)
		return KIND_RANGE;
	return op->category.n == 0 ? KIND_CPU_EXEC : KIND_HOST; /* what XLA and JAX trace */
}

static enum timeline_kind kind_on_device(const struct ts_profile *profile,
					 const struct ts_line *line, const struct ts_op *op)
{
	enum ts_trace_class class = ts_trace_class_of(profile, line, op);

	return class < TS_NELEM(kinds_of_devices) ? kinds_of_devices[class] : KIND_RANGE;
}

static enum timeline_kind timeline_kind_of(struct timeline_state *state, uint32_t line_index,
					   uint32_t index)
{
	const struct ts_profile *profile = state->ctx->profile;
	const struct ts_line *line = &profile->lines[line_index];
	bool on_host = state->sides[line_index] == TS_SIDE_HOST;
	uint8_t *kind = on_host ? &state->host_kinds[index] : &state->device_kinds[index];

	if (*kind == KIND_NOTHING)
		*kind = on_host ? kind_on_host(profile, line, &profile->ops[index])
				: kind_on_device(profile, line, &profile->ops[index]);
	return *kind;
}

static void timeline_take_moment(void *ctx, int64_t from_ps, int64_t to_ps, unsigned running)
{
	struct timeline_state *state = ctx;
	struct timeline_rank *rank = &state->rank;
	bool device = running & DEVICE_KINDS, cpu = running & ~DEVICE_KINDS;
	enum ts_trace_class class =
		running ? classes_of_kinds[__builtin_ctz(running)] : TS_TRACE_OTHER;

	rank->device_ps += device ? to_ps - from_ps : 0;
	rank->cpu_ps += cpu ? to_ps - from_ps : 0;
	rank->both_ps += device && cpu ? to_ps - from_ps : 0;
	ts_timeline_steps_give(&rank->steps, from_ps, to_ps, class);
	if (rank->slices.budget > 0 &&
	    !ts_slices_add(&rank->slices, from_ps, to_ps, (uint32_t)class))
		state->failed = true;
}

static bool timeline_has_marks(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (ts_bytes_starts(profile->ops[i].name, STEP_PREFIX))
			return true;
	return false;
}

/* What a program named is not activity. A trace of PyTorch says so itself. */
static void note_scopes(struct timeline_state *state)
{
	const struct ts_scopes *scopes = &state->ctx->outline->scopes;

	for (size_t i = 0; i < scopes->nr; i++)
		if (state->ctx->profile->ops[scopes->items[i].op].category.n == 0)
			state->host_kinds[scopes->items[i].op] = KIND_RANGE;
}

static enum ts_status make_tables(struct timeline_state *state, struct ts_error *err)
{
	const struct ts_profile *profile = state->ctx->profile;

	state->host_kinds = malloc(profile->nr_ops + 1);
	state->device_kinds = malloc(profile->nr_ops + 1);
	state->sides = malloc(profile->nr_lines + 1);
	state->until_ps = malloc((profile->nr_lines + 1) * sizeof(*state->until_ps));
	state->of_lines = calloc(profile->nr_lines + 1, sizeof(*state->of_lines));
	state->nr_lines = profile->nr_lines;
	if (!state->host_kinds || !state->device_kinds || !state->sides || !state->until_ps ||
	    !state->of_lines)
		return ts_fail_nomem(err);
	memset(state->host_kinds, KIND_NOTHING, profile->nr_ops + 1);
	memset(state->device_kinds, KIND_NOTHING, profile->nr_ops + 1);
	for (size_t i = 0; i < profile->nr_lines; i++) {
		state->sides[i] = (uint8_t)ts_trace_side_of(profile, &profile->lines[i]);
		state->until_ps[i] = INT64_MIN;
	}
	note_scopes(state);
	return TS_OK;
}

/* TPUs have time classes of their own. Without TPUs there is no padding to draw, whose share of the
 * slices this row gets. */
static size_t slices_of(const struct ts_context *ctx)
{
	for (size_t i = 0; i < ctx->profile->nr_devices; i++)
		if (!ts_device_has_streams(&ctx->profile->devices[i]))
			return 0;
	return ts_overlay_share(ctx, TS_SHARE_PADDING, 1);
}

static enum ts_status timeline_open(void *ptr, const struct ts_context *ctx,
				    const struct ts_line *line, struct ts_error *err)
{
	struct timeline_state *state = ptr;
	enum ts_status st;

	state->ctx = ctx;
	state->sweep = (struct ts_sweep){ .ctx = state, .moment = timeline_take_moment };
	state->rank = (struct timeline_rank){
		.host = ctx->profile->planes[line->plane].host,
		.first_ps = INT64_MAX,
		.last_ps = INT64_MIN,
		.steps = { .line = TS_NONE },
		.slices = { .budget = slices_of(ctx) },
	};
	st = make_tables(state, err);
	if (st)
		return st;
	state->ranges = ts_timeline_ranges(ctx, state->rank.host, &state->nr_ranges);
	if (!state->ranges && state->nr_ranges > 0)
		return ts_fail_nomem(err);
	if (state->nr_ranges == 0 && !timeline_has_marks(ctx->profile))
		return ts_timeline_steps_known(&state->rank.steps, ctx, state->rank.host, err);
	state->rank.steps.source = TIMELINE_MARKS;
	return TS_OK;
}

/* Marks count on the thread that has the first one. */
static enum ts_status timeline_take_mark(struct timeline_state *state, uint32_t line,
					 struct ts_bytes name, int64_t start_ps, int64_t dur_ps,
					 struct ts_error *err)
{
	struct timeline_steps *steps = &state->rank.steps;
	uint64_t number = TS_NO_NUMBER;

	if (steps->fixed || state->nr_ranges > 0 || !ts_bytes_starts(name, STEP_PREFIX))
		return TS_OK;
	if (steps->line == TS_NONE)
		steps->line = line;
	if (steps->line != line)
		return TS_OK;
	ts_bytes_u64(ts_bytes_cut(name, strlen(STEP_PREFIX), name.n), &number);
	return ts_timeline_steps_begin(steps, start_ps, start_ps + dur_ps, number, err);
}

/* The part of the event in which the line was not busy before. */
static int64_t new_part(struct timeline_state *state, uint32_t line, int64_t start_ps,
			int64_t end_ps)
{
	int64_t from_ps = TS_MAX(start_ps, state->until_ps[line]);

	state->until_ps[line] = TS_MAX(state->until_ps[line], end_ps);
	return TS_MAX(end_ps - from_ps, 0);
}

static bool launches_kernel(const struct timeline_state *state, uint32_t op)
{
	return ts_host_launch_of((enum ts_host_activity)state->ctx->outline->host_activity[op]) >
	       TS_LAUNCH_COPY;
}

static enum ts_status timeline_take_host_event(struct timeline_state *state,
					       const struct ts_interleaved *interleaved, size_t i,
					       enum timeline_kind kind, struct ts_error *err)
{
	struct timeline_rank *rank = &state->rank;
	int64_t start_ps = interleaved->start_ps[i], dur_ps = TS_MAX(interleaved->dur_ps[i], 0);
	uint32_t step;

	if (kind == KIND_RANGE)
		return timeline_take_mark(state, interleaved->line[i],
					  state->ctx->profile->ops[interleaved->op[i]].name,
					  start_ps, dur_ps, err);
	if (kind == KIND_PYTHON) {
		if (!state->ctx->no_python)
			ts_sweep_add(&state->sweep, kind, start_ps, dur_ps);
		return TS_OK;
	}
	ts_sweep_add(&state->sweep, kind, start_ps, dur_ps);
	rank->cpu_time_ps = ts_i64_add(rank->cpu_time_ps, new_part(state, interleaved->line[i],
								   start_ps, start_ps + dur_ps));
	if (kind != KIND_RUNTIME || interleaved->link[i] == TS_NO_LINK)
		return TS_OK;
	step = ts_timeline_steps_of_call(&rank->steps, start_ps, start_ps + dur_ps);
	if (launches_kernel(state, interleaved->op[i]))
		ts_timeline_steps_launch(&rank->steps, step);
	return ts_launches_note(&state->launches, interleaved->link[i], step, err);
}

static void timeline_take_device_event(struct timeline_state *state,
				       const struct ts_interleaved *interleaved, size_t i,
				       enum timeline_kind kind)
{
	struct timeline_rank *rank = &state->rank;
	int64_t start_ps = interleaved->start_ps[i],
		end_ps = start_ps + TS_MAX(interleaved->dur_ps[i], 0);
	const struct ts_line *line = &state->ctx->profile->lines[interleaved->line[i]];
	const struct ts_device *device = ts_line_device(state->ctx->profile, line);
	int64_t new_ps;

	if (kind == KIND_RANGE)
		return;
	new_ps = new_part(state, interleaved->line[i], start_ps, end_ps);
	state->of_lines[interleaved->line[i]].nr_events++;
	state->of_lines[interleaved->line[i]].busy_ps += new_ps;
	ts_sweep_add(&state->sweep, kind, start_ps, end_ps - start_ps);
	rank->device_time_ps =
		ts_i64_add(rank->device_time_ps,
			   device && ts_device_has_streams(device) ? end_ps - start_ps : new_ps);
	ts_timeline_steps_kernel(&rank->steps,
				 ts_launches_find(&state->launches, interleaved->link[i]), start_ps,
				 end_ps);
}

static enum ts_status begin_ranges(struct timeline_state *state, int64_t now_ps,
				   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (st == TS_OK && state->nr_begun < state->nr_ranges &&
	       state->ranges[state->nr_begun].start_ps <= now_ps) {
		const struct ts_step *step = &state->ranges[state->nr_begun++];

		st = ts_timeline_steps_begin(&state->rank.steps, step->start_ps, step->end_ps,
					     step->number, err);
	}
	return st;
}

static enum ts_status timeline_interleaved(void *ptr, const struct ts_context *ctx,
					   const struct ts_interleaved *interleaved,
					   struct ts_error *err)
{
	struct timeline_state *state = ptr;
	struct timeline_rank *rank = &state->rank;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && !st; i++) {
		uint8_t side = state->sides[interleaved->line[i]];
		int64_t start_ps = interleaved->start_ps[i];
		enum timeline_kind kind;

		if (side == TS_SIDE_NONE)
			continue;
		kind = timeline_kind_of(state, interleaved->line[i], interleaved->op[i]);
		rank->first_ps = TS_MIN(rank->first_ps, start_ps);
		rank->last_ps = TS_MAX(rank->last_ps, start_ps + TS_MAX(interleaved->dur_ps[i], 0));
		ts_sweep_to(&state->sweep, start_ps);
		st = begin_ranges(state, start_ps, err);
		if (st)
			break;
		if (side == TS_SIDE_DEVICE)
			timeline_take_device_event(state, interleaved, i, kind);
		else
			st = timeline_take_host_event(state, interleaved, i, kind, err);
		if (state->failed)
			st = ts_fail_nomem(err);
	}
	return st;
}

static enum ts_status take_streams(struct timeline_state *into, const struct timeline_state *from,
				   struct ts_error *err)
{
	for (uint32_t line = 0; line < from->nr_lines; line++) {
		struct timeline_stream stream = from->of_lines[line];

		if (stream.nr_events == 0)
			continue;
		if (!ts_grow(&into->streams, &into->cap_streams, into->nr_streams + 1,
			     sizeof(*into->streams)))
			return ts_fail_nomem(err);
		stream.line = line;
		into->streams[into->nr_streams++] = stream;
	}
	return TS_OK;
}

/* FROM may come out of its saved form, which does not have the sweep's caller. */
static enum ts_status timeline_merge(void *ptr_into, void *ptr_from, const struct ts_context *ctx,
				     struct ts_error *err)
{
	struct timeline_state *into = ptr_into, *from = ptr_from;
	enum ts_status st;

	if (!ts_grow(&into->ranks, &into->cap_ranks, into->nr_ranks + 1, sizeof(*into->ranks)))
		return ts_fail_nomem(err);
	st = take_streams(into, from, err);
	if (st)
		return st;
	from->ctx = ctx;
	from->sweep.ctx = from;
	from->sweep.moment = timeline_take_moment;
	ts_sweep_to(&from->sweep, from->rank.last_ps);
	ts_timeline_steps_finish(&from->rank.steps);
	into->ranks[into->nr_ranks++] = from->rank;
	memset(&from->rank, 0, sizeof(from->rank));
	return from->failed ? ts_fail_nomem(err) : TS_OK;
}

static enum ts_status timeline_close(void *state, const struct ts_context *ctx, void *facts,
				     struct ts_result *result, struct ts_error *err)
{
	return ts_timeline_report(state, ctx, facts, result, err);
}

const struct ts_analysis ts_analysis_timeline = {
	.schema = &ts_schema_timeline,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK,
	.state = &ts_timeline_record,
	.facts_size = sizeof(struct ts_timeline_facts),
	.wants = timeline_wants,
	.open = timeline_open,
	.interleaved = timeline_interleaved,
	.merge = timeline_merge,
	.close = timeline_close,
};
