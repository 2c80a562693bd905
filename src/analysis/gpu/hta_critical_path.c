/* SPDX-License-Identifier: MIT */
/*
 * The critical path: of each step of a PyTorch trace, the longest path through what its threads and
 * streams did, as HolisticTraceAnalysis defines it. What is made longer on it makes the step longer.
 *
 * A step is the stretch of a mark of torch.profiler (ProfilerStep#n); what threads begin in it is its own,
 * and so are the kernels that these calls launch, whenever they run. A trace without marks is one step.
 */
#include "analysis/gpu/hta_critical_path.h"

#include "base/check.h"
#include "model/kernel_name.h"
#include "result/schema/hta_critical_path.def"

#define STEP_PREFIX "ProfilerStep#" /* torch.profiler.profile.step() */

enum op_kind { OP_UNSEEN, OP_OPERATOR, OP_CALL, OP_LAUNCH, OP_MARK, OP_OTHER };

#define SIDE_SYNC (TS_SIDE_HOST + 1) /* of a line with synchronization events */

static bool cp_applies(const struct ts_context *ctx)
{
	return ts_profile_is_torch(ctx->profile);
}

static bool cp_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_trace_side_of(ctx->profile, line) != TS_SIDE_NONE ||
	       ts_cp_is_sync_line(ctx->profile, line);
}

static bool is_mark(const struct ts_op *op)
{
	return ts_bytes_starts(op->name, STEP_PREFIX) &&
	       op->category_id == TS_KINETO_USER_ANNOTATION;
}

static bool hta_critical_path_has_marks(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (is_mark(&profile->ops[i]))
			return true;
	return false;
}

static enum ts_status cp_open(void *ptr, const struct ts_context *ctx, const struct ts_line *line,
			      struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	struct cp_state *state = ptr;

	state->host = profile->planes[line->plane].host;
	state->mark_line = TS_NONE;
	state->has_marks = hta_critical_path_has_marks(profile);
	state->has_syncs = ts_cp_has_syncs(profile);
	state->sides = malloc(profile->nr_lines + 1);
	state->kinds = calloc(profile->nr_ops + 1, 1);
	state->syncs = calloc(profile->nr_ops + 1, 1);
	state->kernels = calloc(profile->nr_ops + 1, 1);
	state->busy_ps = malloc((profile->nr_lines + 1) * sizeof(*state->busy_ps));
	state->streams = malloc((profile->nr_lines + 1) * sizeof(*state->streams));
	if (!state->sides || !state->kinds || !state->syncs || !state->kernels || !state->busy_ps ||
	    !state->streams)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *each = &profile->lines[i];
		bool is_sync = ts_cp_is_sync_line(profile, each);

		state->sides[i] = (uint8_t)(is_sync ? SIDE_SYNC : ts_trace_side_of(profile, each));
		state->streams[i] = is_sync ? ts_cp_stream_of(profile, each, each->id) : TS_NONE;
		state->busy_ps[i] = INT64_MIN;
	}
	return TS_OK;
}

/* --- what an event is */

static enum cp_sync sync_of(struct ts_bytes name)
{
	static const struct {
		const char *name;
		enum cp_sync sync;
	} rows[] = {
		{ "cudaDeviceSynchronize", CP_SYNC_DEVICE },
		{ "hipDeviceSynchronize", CP_SYNC_DEVICE },
		{ "cudaStreamSynchronize", CP_SYNC_STREAM },
		{ "hipStreamSynchronize", CP_SYNC_STREAM },
		{ "cudaEventSynchronize", CP_SYNC_EVENT },
		{ "hipEventSynchronize", CP_SYNC_EVENT },
		{ "cudaStreamWaitEvent", CP_SYNC_NEXT },
		{ "hipStreamWaitEvent", CP_SYNC_NEXT },
		{ "cudaEventQuery", CP_SYNC_BLOCKS },
		{ "hipEventQuery", CP_SYNC_BLOCKS },
		{ "cudaMemcpy", CP_SYNC_BLOCKS },
		{ "hipMemcpy", CP_SYNC_BLOCKS },
		{ "cudaMemcpyAsync", CP_SYNC_BLOCKS },
		{ "hipMemcpyAsync", CP_SYNC_BLOCKS },
		{ "hipMemcpyWithStream", CP_SYNC_BLOCKS },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (ts_bytes_is(name, rows[i].name))
			return rows[i].sync;
	return CP_SYNC_NONE;
}

/* Of a call: whether a device gets something to do. */
static bool is_launch(struct ts_bytes name)
{
	return ts_bytes_has(name, "Launch") || ts_bytes_has(name, "Memcpy") ||
	       ts_bytes_has(name, "Memset");
}

static bool is_call(enum op_kind kind)
{
	return kind == OP_CALL || kind == OP_LAUNCH;
}

static enum op_kind hta_critical_path_kind_of(struct cp_state *state,
					      const struct ts_profile *profile, uint32_t index)
{
	const struct ts_op *op = &profile->ops[index];
	uint8_t *kind = &state->kinds[index];

	if (*kind != OP_UNSEEN)
		return *kind;
	*kind = OP_OTHER;
	if (is_mark(op))
		*kind = OP_MARK;
	else if (ts_trace_class_of_category(op->category_id) == TS_TRACE_CPU_EXEC)
		*kind = OP_OPERATOR;
	else if (ts_trace_class_of_category(op->category_id) == TS_TRACE_RUNTIME)
		*kind = is_launch(op->name) ? OP_LAUNCH : OP_CALL;
	if (is_call(*kind))
		state->syncs[index] = (uint8_t)sync_of(op->name);
	return *kind;
}

static enum cp_kind kind_by_name(const struct ts_op *op)
{
	switch (ts_kernel_class_of(op->name).category) {
	case TS_CATEGORY_COMMUNICATION: return CP_COMMUNICATION;
	case TS_CATEGORY_HOST_COPY:
	case TS_CATEGORY_COPY:
	case TS_CATEGORY_FILL:		return CP_COPY;
	default:			return CP_KERNEL;
	}
}

/* A kernel's name is looked through once, not at each execution. */
static enum cp_kind kind_of_kernel(struct cp_state *state, const struct ts_profile *profile,
				   uint32_t index)
{
	uint8_t *kernel = &state->kernels[index];

	if (*kernel == 0)
		*kernel = (uint8_t)(kind_by_name(&profile->ops[index]) + 1);
	return (enum cp_kind)(*kernel - 1);
}

/* Marks count on the thread that has the first one. */
static enum ts_status hta_critical_path_take_mark(struct cp_state *state, uint32_t line,
						  struct ts_bytes name, int64_t start_ps,
						  int64_t end_ps, struct ts_error *err)
{
	uint64_t number = 0;

	if (state->mark_line == TS_NONE)
		state->mark_line = line;
	if (state->mark_line != line)
		return TS_OK;
	ts_bytes_u64(ts_bytes_cut(name, strlen(STEP_PREFIX), name.n), &number);
	return ts_cp_begin_step(state, number, start_ps, end_ps, err);
}

/* What takes no time may stand before what holds it, so it has no node of its own: a call goes by the one before. */
static enum ts_status hta_critical_path_take_moment(struct cp_state *state,
						    const struct ts_interleaved *interleaved,
						    size_t i, enum op_kind kind,
						    struct ts_error *err)
{
	const struct cp_graph *graph = ts_cp_step_at(state, interleaved->start_ps[i]);
	uint32_t node = graph ? ts_cp_latest(graph, interleaved->line[i]) : TS_NONE;

	if (!is_call(kind) || node == TS_NONE)
		return TS_OK;
	return ts_cp_note_call(state, interleaved->link[i], graph, node, err);
}

static enum ts_status hta_critical_path_take_host_event(struct cp_state *state,
							const struct ts_interleaved *interleaved,
							size_t i, enum op_kind kind,
							struct ts_error *err)
{
	struct cp_open open = {
		.start_ps = interleaved->start_ps[i],
		.end_ps = ts_i64_add(interleaved->start_ps[i], interleaved->dur_ps[i]),
		.op = interleaved->op[i],
		.kind = is_call(kind) ? CP_CALL : CP_OPERATOR,
		.launches = kind == OP_LAUNCH,
		.sync = state->syncs[interleaved->op[i]],
	};
	struct cp_graph *graph;
	enum ts_status st = TS_OK;
	uint32_t node;

	if (interleaved->dur_ps[i] <= 0)
		return hta_critical_path_take_moment(state, interleaved, i, kind, err);
	if (!state->has_marks && state->nr_live == 0)
		st = ts_cp_begin_step(state, TS_NO_NUMBER, open.start_ps, INT64_MAX, err);
	if (st)
		return st;
	graph = ts_cp_step_at(state, open.start_ps);
	if (!graph || graph->is_cut)
		return TS_OK;
	st = ts_cp_begin(graph, interleaved->line[i], &open, &node, err);
	if (st || node == TS_NONE || !is_call(kind))
		return st;
	return ts_cp_note_call(state, interleaved->link[i], graph, node, err);
}

static enum ts_status hta_critical_path_take_kernel(struct cp_state *state,
						    const struct ts_interleaved *interleaved,
						    size_t i, struct ts_error *err)
{
	const struct ts_op *op = &interleaved->profile->ops[interleaved->op[i]];
	int64_t *until_ps = &state->busy_ps[interleaved->line[i]], busy_ps = *until_ps;
	int64_t start_ps = interleaved->start_ps[i];
	int64_t end_ps = ts_i64_add(start_ps, TS_MAX(interleaved->dur_ps[i], 0));
	struct cp_graph *graph;
	uint32_t launch;

	if (ts_trace_class_of_category(op->category_id) == TS_TRACE_NONE)
		return TS_OK;
	*until_ps = TS_MAX(busy_ps, end_ps);
	graph = ts_cp_call(state, interleaved->link[i], &launch);
	if (!graph)
		return TS_OK;
	return ts_cp_kernel(graph, interleaved->line[i], launch, interleaved->op[i],
			    kind_of_kernel(state, interleaved->profile, interleaved->op[i]),
			    start_ps, end_ps, busy_ps, err);
}

static enum ts_status hta_critical_path_take_event(struct cp_state *state,
						   const struct ts_interleaved *interleaved,
						   size_t i, struct ts_error *err)
{
	const struct ts_profile *profile = interleaved->profile;
	uint8_t side = state->sides[interleaved->line[i]];
	enum op_kind kind;

	if (side == TS_SIDE_DEVICE)
		return hta_critical_path_take_kernel(state, interleaved, i, err);
	if (side == SIDE_SYNC)
		return ts_cp_take_sync(state, interleaved, i, err);
	if (side != TS_SIDE_HOST)
		return TS_OK;
	kind = hta_critical_path_kind_of(state, profile, interleaved->op[i]);
	if (kind == OP_MARK)
		return hta_critical_path_take_mark(
			state, interleaved->line[i], profile->ops[interleaved->op[i]].name,
			interleaved->start_ps[i],
			ts_i64_add(interleaved->start_ps[i], interleaved->dur_ps[i]), err);
	if (state->syncs[interleaved->op[i]] == CP_SYNC_NEXT && !state->has_syncs) {
		struct cp_graph *graph = ts_cp_step_at(state, interleaved->start_ps[i]);

		if (graph && !graph->is_cut)
			ts_cp_next_waits(graph, interleaved->line[i]);
	}
	return kind == OP_OTHER
		       ? TS_OK
		       : hta_critical_path_take_host_event(state, interleaved, i, kind, err);
}

static enum ts_status cp_interleaved(void *ptr, const struct ts_context *ctx,
				     const struct ts_interleaved *interleaved, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && !st; i++)
		st = hta_critical_path_take_event(ptr, interleaved, i, err);
	return st;
}

static enum ts_status cp_merge(void *ptr_into, void *ptr_from, const struct ts_context *ctx,
			       struct ts_error *err)
{
	struct cp_state *into = ptr_into, *from = ptr_from;
	enum ts_status st;

	while (from->nr_live > 0) {
		st = ts_cp_finish_oldest(from, err);
		if (st)
			return st;
	}
	if (!ts_grow(&into->paths, &into->cap_paths, into->nr_paths + from->nr_paths,
		     sizeof(*into->paths)))
		return ts_fail_nomem(err);
	if (from->nr_paths > 0)
		memcpy(&into->paths[into->nr_paths], from->paths,
		       from->nr_paths * sizeof(*from->paths));
	into->nr_paths += from->nr_paths;
	into->nr_dropped += from->nr_dropped;
	return TS_OK;
}

static enum ts_status cp_close(void *state, const struct ts_context *ctx, void *facts,
			       struct ts_result *result, struct ts_error *err)
{
	return ts_cp_report(state, ctx, result, err);
}

const struct ts_analysis ts_analysis_hta_critical_path = {
	.schema = &ts_schema_hta_critical_path,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK,
	.state = &ts_hta_critical_path_record,
	.applies = cp_applies,
	.wants = cp_wants,
	.open = cp_open,
	.interleaved = cp_interleaved,
	.merge = cp_merge,
	.close = cp_close,
};
