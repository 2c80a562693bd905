/* SPDX-License-Identifier: MIT */
/*
 * Memory timeline: what was allocated and reserved on each device over time, the peak and who held
 * it, out of the [memory] events of a PyTorch trace taken with profile_memory=True. Of profiles
 * without such events the report says what the compiled modules need (capacity) or what the events
 * of the runtime's allocators say (allocators).
 *
 * Left out: memory-like counters of other writers, and what is allocated on threads that the
 * profiler did not follow; the totals of the next event include it.
 */
#include "analysis/capacity/memory_timeline.h"

#include "model/nest.h"
#include "base/order.h"
#include "result/schema/memory_timeline.def"

#define MAX_WAITING 4096 /* events of one moment */

/* Host threads, and the lines of moments beside them. Of GPUs' streams nothing is needed. */
static bool memory_timeline_timeline_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	const struct ts_plane *plane = &ctx->profile->planes[line->plane];

	return ctx->has_interleaved && plane->device == TS_NONE &&
	       (plane->kind == TS_PLANE_HOST || plane->kind == TS_PLANE_OTHER) &&
	       (line->kind == TS_LINE_THREAD || line->kind == TS_LINE_OTHER);
}

struct by_id { /* a thread of a plane */
	int64_t id;
	uint32_t plane, line;
};

TS_ORDER(by_plane_and_id, struct by_id, TS_UP(plane) TS_UP(id) TS_UP(line))

/* Moments stand on a line of their own: that of their thread has the same id. */
static enum ts_status find_threads(struct heap_host *host, struct ts_error *err)
{
	const struct ts_profile *profile = host->profile;
	struct by_id *threads = calloc(profile->nr_lines + 1, sizeof(*threads));
	size_t nr = 0;

	if (!threads)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < profile->nr_lines; i++)
		if (profile->lines[i].kind == TS_LINE_THREAD)
			threads[nr++] =
				(struct by_id){ profile->lines[i].id, profile->lines[i].plane, i };
	TS_SORT(threads, nr, by_plane_and_id);
	for (uint32_t i = 0; i < profile->nr_lines; i++) {
		size_t low = 0, high = nr;

		host->thread_of[i] = i;
		while (low < high) { /* the first that is not before it */
			size_t middle = low + (high - low) / 2;
			struct by_id wanted = { profile->lines[i].id, profile->lines[i].plane, 0 };

			if (by_plane_and_id(&threads[middle], &wanted) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < nr && threads[low].id == profile->lines[i].id &&
		    threads[low].plane == profile->lines[i].plane &&
		    profile->lines[i].kind != TS_LINE_THREAD)
			host->thread_of[i] = threads[low].line;
	}
	free(threads);
	return TS_OK;
}

static enum ts_status memory_timeline_timeline_open(void *arg, const struct ts_context *ctx,
						    const struct ts_line *line,
						    struct ts_error *err)
{
	struct timeline_state *state = arg;
	struct heap_host *host;

	if (!ts_grow(&state->hosts, &state->cap, 1, sizeof(*state->hosts)))
		return ts_fail_nomem(err);
	host = &state->hosts[state->nr++];
	*host = (struct heap_host){ .host = ctx->profile->planes[line->plane].host,
				    .profile = ctx->profile,
				    .step_line = TS_NONE };
	host->roles = ts_heap_roles(ctx->profile);
	if (!host->roles)
		return ts_fail_nomem(err);
	host->has_events = memchr(host->roles, ROLE_BLOCK, ctx->profile->nr_ops) ||
			   memchr(host->roles, ROLE_OOM, ctx->profile->nr_ops);
	if (!host->has_events)
		return TS_OK;
	host->nr_threads = ctx->profile->nr_lines;
	host->threads = calloc(ctx->profile->nr_lines + 1, sizeof(*host->threads));
	host->thread_of = calloc(ctx->profile->nr_lines + 1, sizeof(*host->thread_of));
	if (!host->threads || !host->thread_of)
		return ts_fail_nomem(err);
	return find_threads(host, err);
}

static const char *const names[] = { "Ev Idx", "Device Type",	  "Device Id",	   "Bytes",
				     "Addr",   "Total Allocated", "Total Reserved" };
enum { INDEX, DEVICE_TYPE, DEVICE_ID, BYTES, ADDRESS, ALLOCATED, RESERVED, NR_NAMES };

static int64_t number_or(const struct ts_stat *stat, int64_t otherwise)
{
	return stat->type == TS_STAT_INT ? stat->number : otherwise;
}

static struct heap_event memory_timeline_read_event(const struct heap_host *host,
						    const struct ts_interleaved *interleaved,
						    size_t i)
{
	struct ts_stat stats[NR_NAMES];

	for (size_t k = 0; k < NR_NAMES; k++)
		stats[k].type = TS_STAT_TEXT; /* no number: it has none */
	ts_interleaved_stats(interleaved, i, names, NR_NAMES, stats);
	return (struct heap_event){
		.at_ps = interleaved->start_ps[i],
		.index = number_or(&stats[INDEX], TS_UNKNOWN),
		.device_type = number_or(&stats[DEVICE_TYPE], 0),
		.device_id = number_or(&stats[DEVICE_ID], TS_UNKNOWN),
		/* No memory is larger: sums stay sane. */
		.nr_bytes = ts_time_bound(number_or(&stats[BYTES], 0)),
		.has_address = stats[ADDRESS].type == TS_STAT_INT,
		.address = number_or(&stats[ADDRESS], 0),
		.allocated = number_or(&stats[ALLOCATED], TS_UNKNOWN),
		.reserved = number_or(&stats[RESERVED], TS_UNKNOWN),
		.line = host->thread_of[interleaved->line[i]],
		.role = host->roles[interleaved->op[i]],
	};
}

TS_ORDER(by_index, struct heap_event, TS_UP(index))

/* Whole microseconds let many events share a moment: the profiler numbered them as they came. */
static enum ts_status memory_timeline_take_waiting(struct heap_host *host, struct ts_error *err)
{
	bool numbered = true;
	size_t nr = host->nr_waiting;
	enum ts_status st;

	for (size_t i = 0; i < nr; i++)
		numbered &= host->waiting[i].index >= 0;
	if (numbered)
		TS_SORT(host->waiting, nr, by_index);
	host->nr_waiting = 0;
	for (size_t i = 0; i < nr; i++) {
		st = ts_heap_step_until(host, host->waiting[i].at_ps, err);
		if (st)
			return st;
		st = ts_heap_take_event(host, &host->waiting[i], err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status wait_for_its_turn(struct heap_host *host, const struct heap_event *event,
					struct ts_error *err)
{
	enum ts_status st =
		host->nr_waiting >= MAX_WAITING ? memory_timeline_take_waiting(host, err) : TS_OK;

	if (st)
		return st;
	if (!ts_grow(&host->waiting, &host->cap_waiting, host->nr_waiting + 1,
		     sizeof(*host->waiting)))
		return ts_fail_nomem(err);
	host->waiting[host->nr_waiting++] = *event;
	return TS_OK;
}

/* The steps of the thread that has the first one. */
static enum ts_status memory_timeline_take_step(struct heap_host *host, uint32_t line,
						struct ts_bytes name, int64_t start_ps,
						int64_t end_ps, struct ts_error *err)
{
	uint64_t number = 0;
	enum ts_status st;

	if (host->step_line == TS_NONE)
		host->step_line = line;
	if (line != host->step_line)
		return TS_OK;
	ts_bytes_u64(ts_bytes_cut(name, ts_bytes_find(name, "#") + 1, name.n), &number);
	st = ts_heap_step_until(host, start_ps, err);
	return st ? st : ts_heap_step_begin(host, number, end_ps, err);
}

static void memory_timeline_take_call(struct heap_host *host, uint32_t op, int64_t start_ps,
				      int64_t dur_ps)
{
	struct heap_call *call = host->calls;

	while (call < host->calls + host->nr_calls && call->op != op)
		call++;
	if (call == host->calls + MAX_CALLS)
		return; /* there are fewer names than that */
	if (call == host->calls + host->nr_calls)
		host->calls[host->nr_calls++] = (struct heap_call){ .op = op };
	call->count++;
	call->total_ps = ts_i64_add(call->total_ps, dur_ps);
	call->max_ps = TS_MAX(call->max_ps, dur_ps);
	if (!host->in_step || host->nr_steps < 2)
		return;
	if (call->in_steps++ == 0)
		call->first_ps = start_ps;
	call->in_steps_ps = ts_i64_add(call->in_steps_ps, dur_ps);
	call->last_ps = ts_i64_add(start_ps, dur_ps);
}

static enum ts_status memory_timeline_take(struct heap_host *host,
					   const struct ts_interleaved *interleaved, size_t i,
					   struct ts_error *err)
{
	int64_t start_ps = interleaved->start_ps[i],
		end_ps = ts_i64_add(start_ps, interleaved->dur_ps[i]);
	enum heap_role role = host->roles[interleaved->op[i]];
	struct heap_event event;
	enum ts_status st;

	if (host->nr_waiting > 0 && host->waiting[0].at_ps != start_ps) {
		st = memory_timeline_take_waiting(host, err);
		if (st)
			return st;
	}
	switch (role) {
	case ROLE_NOTHING: return TS_OK;
	case ROLE_BLOCK:
	case ROLE_OOM:
		event = memory_timeline_read_event(host, interleaved, i);
		return wait_for_its_turn(host, &event, err);
	case ROLE_STEP:
		return memory_timeline_take_step(host, interleaved->line[i],
						 interleaved->profile->ops[interleaved->op[i]].name,
						 start_ps, end_ps, err);
	case ROLE_CALL:
		st = ts_heap_step_until(host, start_ps, err);
		if (st)
			return st;
		memory_timeline_take_call(host, interleaved->op[i], start_ps,
					  interleaved->dur_ps[i]);
		return TS_OK;
	default:
		if (interleaved->dur_ps[i] == 0)
			return TS_OK;
		return ts_heap_thread_enter(&host->threads[interleaved->line[i]],
					    interleaved->op[i], role, start_ps, end_ps, err);
	}
}

static enum ts_status memory_timeline_timeline_interleaved(void *arg, const struct ts_context *ctx,
							   const struct ts_interleaved *interleaved,
							   struct ts_error *err)
{
	struct timeline_state *state = arg;
	enum ts_status st;

	for (size_t i = 0; i < interleaved->nr_events && state->hosts[0].has_events; i++) {
		st = memory_timeline_take(&state->hosts[0], interleaved, i, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status memory_timeline_timeline_close(void *arg, const struct ts_context *ctx,
						     void *facts, struct ts_result *result,
						     struct ts_error *err)
{
	struct timeline_state *sum = arg;
	enum ts_status st;

	TS_ASSERT(sum && facts && result);
	for (size_t i = 0; i < sum->nr; i++) {
		sum->hosts[i].profile = ctx->profile;
		st = memory_timeline_take_waiting(&sum->hosts[i], err);
		if (st)
			return st;
		st = ts_heap_finish(&sum->hosts[i], err);
		if (st)
			return st;
	}
	return ts_heap_make_facts(ctx, sum->hosts, sum->nr, result, facts, err);
}

static enum ts_status timeline_report(void *arg, const struct ts_context *ctx,
				      struct ts_result *result, struct ts_error *err)
{
	return ts_heap_report(ctx, result, err);
}

const struct ts_analysis ts_analysis_memory_timeline = {
	.schema = &ts_schema_memory_timeline,
	.needs = TS_NEEDED,
	.shows = TS_SHOWN,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_STATS,
	.state = &ts_memory_timeline_record,
	.facts_size = sizeof(struct ts_memory_timeline_facts),
	.wants = memory_timeline_timeline_wants,
	.open = memory_timeline_timeline_open,
	.interleaved = memory_timeline_timeline_interleaved,
	.close = memory_timeline_timeline_close,
	.report = timeline_report,
};
