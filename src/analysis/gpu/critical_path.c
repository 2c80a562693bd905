/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path: of each step of a PyTorch trace, the longest path through what its threads and
 * streams did, as HolisticTraceAnalysis defines it. What is made longer on it makes the step longer.
 *
 * A step is the stretch of a mark of torch.profiler (ProfilerStep#n); what threads begin in it is its own,
 * and so are the kernels that these calls launch, whenever they run. A trace without marks is one step.
 */
#include "analysis/gpu/critical_path.h"

#include "base/check.h"
#include "model/kernel_name.h"

#define STEP_PREFIX "ProfilerStep#" /* torch.profiler.profile.step() */

enum op_kind { OP_UNSEEN, OP_OPERATOR, OP_CALL, OP_LAUNCH, OP_MARK, OP_OTHER };

#define SIDE_SYNC (TS_SIDE_HOST + 1) /* of a line with synchronization events */

/* Of the value that is noted with a launch: which node of which step. */
#define NODE_BITS 20
#define ID_MASK	  0xFFFU
_Static_assert(CP_NODES == 1U << NODE_BITS, "a node's index has NODE_BITS");

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
	       ts_bytes_is(op->category, "user_annotation");
}

static bool has_marks(const struct ts_profile *profile)
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
	state->has_marks = has_marks(profile);
	state->has_syncs = ts_cp_has_syncs(profile);
	state->sides = malloc(profile->nr_lines + 1);
	state->kinds = calloc(profile->nr_ops + 1, 1);
	state->syncs = calloc(profile->nr_ops + 1, 1);
	state->busy_ps = malloc((profile->nr_lines + 1) * sizeof(*state->busy_ps));
	state->streams = malloc((profile->nr_lines + 1) * sizeof(*state->streams));
	if (!state->sides || !state->kinds || !state->syncs || !state->busy_ps || !state->streams)
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

static enum op_kind kind_of(struct cp_state *state, const struct ts_profile *profile,
			    uint32_t index)
{
	const struct ts_op *op = &profile->ops[index];
	uint8_t *kind = &state->kinds[index];

	if (*kind != OP_UNSEEN)
		return *kind;
	*kind = OP_OTHER;
	if (is_mark(op))
		*kind = OP_MARK;
	else if (ts_trace_class_of_category(op->category) == TS_TRACE_CPU_EXEC)
		*kind = OP_OPERATOR;
	else if (ts_trace_class_of_category(op->category) == TS_TRACE_RUNTIME)
		*kind = is_launch(op->name) ? OP_LAUNCH : OP_CALL;
	if (is_call(*kind))
		state->syncs[index] = (uint8_t)sync_of(op->name);
	return *kind;
}

static enum cp_kind kind_of_kernel(const struct ts_op *op)
{
	switch (ts_kernel_class_of(op->name).category) {
	case TS_CATEGORY_COMMUNICATION: return CP_COMMUNICATION;
	case TS_CATEGORY_HOST_COPY:
	case TS_CATEGORY_COPY:
	case TS_CATEGORY_FILL:		return CP_COPY;
	default:			return CP_KERNEL;
	}
}

/* --- steps */

static void release_graph(struct cp_graph *graph)
{
	for (size_t i = 0; i < graph->nr_lanes; i++)
		free(graph->lanes[i].open), free(graph->lanes[i].waits);
	free(graph->lanes);
	free(graph->nodes);
	*graph = (struct cp_graph){ 0 };
}

/* The oldest of the live steps is done with. */
static bool finish_oldest(struct cp_state *state)
{
	struct cp_path path = { .host = state->host };
	bool good = true;

	if (state->nr_paths < CP_STEPS) {
		good = ts_cp_end(&state->live[0]) && ts_cp_path(&state->live[0], &path) &&
		       ts_grow(&state->paths, &state->cap_paths, state->nr_paths + 1,
			       sizeof(*state->paths));
		if (good)
			state->paths[state->nr_paths++] = path;
	} else {
		state->nr_dropped++;
	}
	release_graph(&state->live[0]);
	state->nr_live--;
	memmove(&state->live[0], &state->live[1], state->nr_live * sizeof(*state->live));
	return good;
}

static bool begin_step(struct cp_state *state, uint64_t number, int64_t start_ps, int64_t until_ps)
{
	if (state->nr_live == CP_LIVE && !finish_oldest(state))
		return false;
	if (!ts_grow(&state->live, &state->cap_live, state->nr_live + 1, sizeof(*state->live)))
		return false;
	state->live[state->nr_live++] = (struct cp_graph){ .number = number,
							   .id = state->nr_ids++ & ID_MASK,
							   .start_ps = start_ps,
							   .until_ps = until_ps };
	return true;
}

/* Marks count on the thread that has the first one. */
static bool take_mark(struct cp_state *state, uint32_t line, struct ts_bytes name, int64_t start_ps,
		      int64_t end_ps)
{
	uint64_t number = 0;

	if (state->mark_line == TS_NONE)
		state->mark_line = line;
	if (state->mark_line != line)
		return true;
	ts_bytes_u64(ts_bytes_cut(name, strlen(STEP_PREFIX), name.n), &number);
	return begin_step(state, number, start_ps, end_ps);
}

struct cp_graph *ts_cp_step_at(struct cp_state *state, int64_t at_ps)
{
	for (size_t i = state->nr_live; i-- > 0;)
		if (state->live[i].start_ps <= at_ps && at_ps <= state->live[i].until_ps)
			return &state->live[i];
	return NULL;
}

struct cp_graph *ts_cp_call(struct cp_state *state, uint64_t link, uint32_t *node)
{
	uint32_t call = TS_NONE;

	if (link != TS_NO_LINK)
		call = ts_launches_find(&state->launches, link);
	*node = call & (CP_NODES - 1);
	for (size_t i = state->nr_live; call != TS_NONE && i-- > 0;)
		if (state->live[i].id == call >> NODE_BITS)
			return state->live[i].is_cut ? NULL : &state->live[i];
	return NULL;
}

/* --- */

static bool note_call(struct cp_state *state, uint64_t link, const struct cp_graph *graph,
		      uint32_t node)
{
	return link == TS_NO_LINK ||
	       ts_launches_note(&state->launches, link, graph->id << NODE_BITS | node);
}

/* What takes no time may stand before what holds it, so it has no node of its own: a call goes by the one before. */
static bool take_moment(struct cp_state *state, const struct ts_interleaved *interleaved, size_t i,
			enum op_kind kind)
{
	const struct cp_graph *graph = ts_cp_step_at(state, interleaved->start_ps[i]);
	uint32_t node = graph ? ts_cp_latest(graph, interleaved->line[i]) : TS_NONE;

	return !is_call(kind) || node == TS_NONE ||
	       note_call(state, interleaved->link[i], graph, node);
}

static bool take_host_event(struct cp_state *state, const struct ts_interleaved *interleaved,
			    size_t i, enum op_kind kind)
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
	uint32_t node;

	if (interleaved->dur_ps[i] <= 0)
		return take_moment(state, interleaved, i, kind);
	if (!state->has_marks && state->nr_live == 0 &&
	    !begin_step(state, TS_NO_NUMBER, open.start_ps, INT64_MAX))
		return false;
	graph = ts_cp_step_at(state, open.start_ps);
	if (!graph || graph->is_cut)
		return true;
	node = ts_cp_begin(graph, interleaved->line[i], &open);
	if (node == TS_NONE)
		return graph->is_cut;
	return !is_call(kind) || note_call(state, interleaved->link[i], graph, node);
}

static void note_wait(struct cp_state *state, uint32_t line, int64_t at_ps)
{
	struct cp_graph *graph = ts_cp_step_at(state, at_ps);

	if (graph && !graph->is_cut)
		ts_cp_next_waits(graph, line);
}

static bool take_kernel(struct cp_state *state, const struct ts_interleaved *interleaved, size_t i)
{
	const struct ts_op *op = &interleaved->profile->ops[interleaved->op[i]];
	int64_t *until_ps = &state->busy_ps[interleaved->line[i]], busy_ps = *until_ps;
	int64_t start_ps = interleaved->start_ps[i];
	int64_t end_ps = ts_i64_add(start_ps, TS_MAX(interleaved->dur_ps[i], 0));
	struct cp_graph *graph;
	uint32_t launch;

	if (ts_trace_class_of_category(op->category) == TS_TRACE_NONE)
		return true;
	*until_ps = TS_MAX(busy_ps, end_ps);
	graph = ts_cp_call(state, interleaved->link[i], &launch);
	return !graph || ts_cp_kernel(graph, interleaved->line[i], launch, interleaved->op[i],
				      kind_of_kernel(op), start_ps, end_ps, busy_ps);
}

static bool take_event(struct cp_state *state, const struct ts_interleaved *interleaved, size_t i)
{
	const struct ts_profile *profile = interleaved->profile;
	uint8_t side = state->sides[interleaved->line[i]];
	enum op_kind kind;

	if (side == TS_SIDE_DEVICE)
		return take_kernel(state, interleaved, i);
	if (side == SIDE_SYNC)
		return ts_cp_take_sync(state, interleaved, i);
	if (side != TS_SIDE_HOST)
		return true;
	kind = kind_of(state, profile, interleaved->op[i]);
	if (kind == OP_MARK)
		return take_mark(state, interleaved->line[i], profile->ops[interleaved->op[i]].name,
				 interleaved->start_ps[i],
				 ts_i64_add(interleaved->start_ps[i], interleaved->dur_ps[i]));
	if (state->syncs[interleaved->op[i]] == CP_SYNC_NEXT && !state->has_syncs)
		note_wait(state, interleaved->line[i], interleaved->start_ps[i]);
	return kind == OP_OTHER || take_host_event(state, interleaved, i, kind);
}

static enum ts_status cp_interleaved(void *ptr, const struct ts_context *ctx,
				     const struct ts_interleaved *interleaved, struct ts_error *err)
{
	for (size_t i = 0; i < interleaved->nr_events; i++)
		if (!take_event(ptr, interleaved, i))
			return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status cp_merge(void *ptr_into, void *ptr_from, const struct ts_context *ctx,
			       struct ts_error *err)
{
	struct cp_state *into = ptr_into, *from = ptr_from;

	while (from->nr_live > 0)
		if (!finish_oldest(from))
			return ts_fail_nomem(err);
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

const struct ts_analysis ts_analysis_critical_path = {
	.name = "critical_path",
	.title = "Critical path",
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK,
	.state = &ts_critical_path_record,
	.applies = cp_applies,
	.wants = cp_wants,
	.open = cp_open,
	.interleaved = cp_interleaved,
	.merge = cp_merge,
	.close = cp_close,
};
