/* SPDX-License-Identifier: MIT */
/*
 * What a trace says of waits: the events of Kineto's category "cuda_sync" (libkineto/src/CuptiActivity.cpp), which it has
 * where the profiler was asked for them (enable_cuda_sync_events). They stand on lines beside the streams'.
 *
 *	Context Sync		the call of the same link waits for all streams
 *	Stream Sync		for the event's stream
 *	Event Sync		for what stood in the stream wait_on_stream when the call of the link
 *				wait_on_cuda_event_record_corr_id recorded the CUDA event
 *	Stream Wait Event	so does the event's stream, before what is launched on it next
 *
 * Such an event begins within the call. A call of which a trace has no such event waits as its name says.
 */
#include "analysis/gpu/hta_critical_path.h"

#include "base/check.h"

enum told { TOLD_NOTHING, TOLD_CONTEXT, TOLD_STREAM, TOLD_EVENT, TOLD_WAIT };

static enum told told_by(const struct ts_op *op)
{
	static const struct {
		const char *name;
		enum told told;
	} rows[] = {
		{ "Context Sync", TOLD_CONTEXT },
		{ "Stream Sync", TOLD_STREAM },
		{ "Event Sync", TOLD_EVENT },
		{ "Stream Wait Event", TOLD_WAIT },
	};

	if (op->category_id != TS_KINETO_CUDA_SYNC)
		return TOLD_NOTHING;
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (ts_bytes_is(op->name, rows[i].name))
			return rows[i].told;
	return TOLD_NOTHING;
}

bool ts_cp_has_syncs(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (told_by(&profile->ops[i]) != TOLD_NOTHING)
			return true;
	return false;
}

bool ts_cp_is_sync_line(const struct ts_profile *profile, const struct ts_line *line)
{
	TS_ASSERT(profile && line);
	return line->kind == TS_LINE_OTHER && !line->has_points &&
	       profile->planes[line->plane].kind == TS_PLANE_GPU;
}

uint32_t ts_cp_stream_of(const struct ts_profile *profile, const struct ts_line *line, int64_t id)
{
	TS_ASSERT(profile && line);
	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->lines[i].plane == line->plane && profile->lines[i].id == id &&
		    profile->lines[i].kind == TS_LINE_OPS)
			return (uint32_t)i;
	return TS_NONE;
}

static int64_t hta_critical_path_sync_number_of(const struct ts_interleaved *interleaved, size_t i,
						const char *name)
{
	struct ts_stat stat;

	if (!ts_interleaved_stat(interleaved, i, name, &stat) || stat.type != TS_STAT_INT)
		return -1;
	return stat.number;
}

/* What stood in a stream of GRAPH when the event was recorded that a wait is for. */
static struct cp_awaited recorded(struct cp_state *state, const struct cp_graph *graph,
				  const struct ts_interleaved *interleaved, size_t i)
{
	const struct ts_profile *profile = interleaved->profile;
	struct cp_awaited what = { .line = TS_NONE };
	int64_t record = hta_critical_path_sync_number_of(interleaved, i,
							  "wait_on_cuda_event_record_corr_id");
	uint32_t node;

	if (record < 0 || ts_cp_call(state, (uint64_t)record, &node) != graph)
		return what;
	what.line =
		ts_cp_stream_of(profile, &profile->lines[interleaved->line[i]],
				hta_critical_path_sync_number_of(interleaved, i, "wait_on_stream"));
	what.before_ps = graph->nodes[node].at_ps;
	return what;
}

static enum ts_status take_stream_wait(struct cp_state *state,
				       const struct ts_interleaved *interleaved, size_t i,
				       uint32_t stream, struct ts_error *err)
{
	struct cp_graph *graph = ts_cp_step_at(state, interleaved->start_ps[i]);
	struct cp_wait wait = { .at_ps = interleaved->start_ps[i] };

	if (!graph || graph->is_cut || stream == TS_NONE)
		return TS_OK;
	wait.what = recorded(state, graph, interleaved, i);
	if (wait.what.line == TS_NONE || wait.what.line == stream)
		return TS_OK;
	return ts_cp_stream_waits(graph, stream, wait, err);
}

enum ts_status ts_cp_take_sync(struct cp_state *state, const struct ts_interleaved *interleaved,
			       size_t i, struct ts_error *err)
{
	uint32_t stream = state->streams[interleaved->line[i]], call;
	enum told told = told_by(&interleaved->profile->ops[interleaved->op[i]]);
	struct cp_awaited what = { stream, INT64_MAX };
	struct cp_graph *graph;

	TS_ASSERT_HOT(state && interleaved);
	if (told == TOLD_NOTHING)
		return TS_OK;
	if (told == TOLD_WAIT)
		return take_stream_wait(state, interleaved, i, stream, err);
	graph = ts_cp_call(state, interleaved->link[i], &call);
	if (!graph)
		return TS_OK;
	if (told == TOLD_CONTEXT)
		ts_cp_call_waits(graph, call, CP_SYNC_DEVICE, what);
	else if (told == TOLD_STREAM)
		ts_cp_call_waits(graph, call, CP_SYNC_STREAM, what);
	else
		ts_cp_call_waits(graph, call, CP_SYNC_EVENT,
				 recorded(state, graph, interleaved, i));
	return TS_OK;
}
