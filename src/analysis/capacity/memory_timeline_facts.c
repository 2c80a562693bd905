/* SPDX-License-Identifier: MIT */
/*
 * What the walk found, as facts: GPUs first, the device with the largest peak before the others.
 */
#include "analysis/capacity/memory_timeline.h"

#include "base/order.h"
#define HOST_MEMORY 0 /* c10::DeviceType */

static struct ts_bytes memory_timeline_facts_name_of(struct ts_result *result,
						     const struct heap_device *device)
{
	static const char *const types[] = {
		/* c10/core/DeviceType.h */
		[0] = "cpu",  [1] = "cuda",  [6] = "hip",
		[9] = "xla",  [12] = "xpu",  [13] = "mps",
		[15] = "hpu", [19] = "mtia", [20] = "privateuseone",
	};
	const char *type = device->type >= 0 && (size_t)device->type < TS_NELEM(types)
				   ? types[device->type]
				   : NULL;

	if (!type)
		return ts_result_text(result, "device type %lld:%lld", (long long)device->type,
				      (long long)device->id);
	if (device->id < 0)
		return ts_bytes_of(type);
	return ts_result_text(result, "%s:%lld", type, (long long)device->id);
}

static bool memory_timeline_facts_is_host(const struct heap_view *view)
{
	return view->device->type == HOST_MEMORY;
}

TS_ORDER(by_importance, struct heap_view,
	 TS_UP_BY(memory_timeline_facts_is_host) TS_DOWN(device->peak_bytes) TS_UP(host->host)
		 TS_UP(device))

static int64_t capacity_of(const struct heap_view *view)
{
	const struct ts_profile *profile = view->ctx->profile;

	return view->device->device == TS_NONE ? TS_UNKNOWN
					       : profile->devices[view->device->device].hbm_bytes;
}

static struct ts_heap_growth memory_timeline_facts_growth_of(const struct heap_device *device)
{
	return (struct ts_heap_growth){
		.nr_steps = device->nr_steps,
		.nr_rising = device->nr_rising,
		.first_bytes = device->first_step_bytes,
		.last_bytes = device->last_step_bytes,
	};
}

/* All but the lists. */
static struct ts_heap_device memory_timeline_facts_device_of(const struct heap_view *view)
{
	const struct heap_device *of = view->device;

	return (struct ts_heap_device){
		.name = memory_timeline_facts_name_of(view->result, of),
		.host = view->host->host,
		.device = of->device,
		.capacity_bytes = capacity_of(view),
		.first_bytes = of->has_totals ? of->first_bytes : TS_UNKNOWN,
		.peak_bytes = of->peak_bytes,
		.peak_ps = of->peak_ps,
		.peak_step = of->peak_step,
		.peak_reserved = of->peak_reserved,
		.most_reserved = of->most_reserved,
		.unknown_bytes = of->peak_untracked,
		.unused_share = of->known_ps > 0 ? of->unused_ps / of->known_ps : NAN,
		.allocated_bytes = of->allocated,
		.reserved_bytes = of->reserved,
		.nr_taken = (int64_t)of->nr_taken,
		.nr_given = (int64_t)of->nr_given,
		.taken_bytes = of->taken_bytes,
		.growth = memory_timeline_facts_growth_of(of),
		.nr_oom = (int64_t)of->nr_oom,
		.oom_bytes = of->oom_bytes,
		.oom_ps = of->oom_ps,
		.oom_owner = ts_heap_owner_names(view->ctx->profile, &of->oom_owner),
	};
}

/* --- lists in the order of time */

static enum ts_status memory_timeline_facts_list_steps(const struct heap_view *view,
						       struct ts_heap_device *to,
						       struct ts_error *err)
{
	const struct heap_host *host = view->host;
	struct ts_heap_step *steps =
		ts_arena_array(&view->result->owner->arena, host->nr_rows + 1, sizeof(*steps));

	to->steps = steps;
	if (!steps)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < host->nr_rows; i++) {
		const struct heap_step *row = &host->rows[i];

		if (&host->devices[row->device] == view->device)
			steps[to->nr_steps++] = (struct ts_heap_step){
				row->number,	     row->peak_bytes,  row->end_bytes,
				row->reserved_bytes, row->taken_bytes, row->count,
			};
	}
	return TS_OK;
}

static enum ts_status memory_timeline_facts_list_moments(const struct heap_view *view,
							 struct ts_heap_device *to,
							 struct ts_error *err)
{
	const struct heap_device *of = view->device;
	struct ts_heap_moment *moments =
		ts_arena_array(&view->result->owner->arena, of->levels.nr + 1, sizeof(*moments));

	if (!moments)
		return ts_fail_nomem(err);
	to->moments = moments;
	/* A level that does not change has one moment. */
	for (size_t i = 0; i < of->levels.nr; i++)
		if (i == 0 || of->levels.high[i] != of->levels.high[i - 1] ||
		    of->levels_reserved.high[i] != of->levels_reserved.high[i - 1])
			moments[to->nr_moments++] = (struct ts_heap_moment){
				ts_levels_time(&of->levels, i),
				of->levels.high[i],
				of->levels_reserved.high[i],
			};
	moments[to->nr_moments++] =
		(struct ts_heap_moment){ of->last_ps, of->allocated, of->reserved };
	return TS_OK;
}

static enum ts_status list_devices(struct heap_view *views, size_t nr, struct ts_arena *arena,
				   struct ts_memory_timeline_facts *facts, struct ts_error *err)
{
	struct ts_heap_device *devices = ts_arena_array(arena, nr + 1, sizeof(*devices));
	enum ts_status st;

	if (!devices)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		devices[i] = memory_timeline_facts_device_of(&views[i]);
		st = ts_heap_list_holders(&views[i], &devices[i], err);
		if (st)
			return st;
		st = memory_timeline_facts_list_steps(&views[i], &devices[i], err);
		if (st)
			return st;
		st = memory_timeline_facts_list_moments(&views[i], &devices[i], err);
		if (st)
			return st;
	}
	facts->devices = devices;
	facts->nr_devices = nr;
	return TS_OK;
}

static struct ts_heap_call memory_timeline_facts_call_of(const struct heap_host *host,
							 const struct heap_call *call)
{
	return (struct ts_heap_call){
		.name = host->profile->ops[call->op].name,
		.host = host->host,
		.count = call->count,
		.total_ps = call->total_ps,
		.max_ps = call->max_ps,
		.in_steps = call->in_steps,
		.in_steps_ps = call->in_steps_ps,
		.in_steps_start_ps = call->first_ps,
		.in_steps_end_ps = call->last_ps,
	};
}

static enum ts_status memory_timeline_facts_list_calls(const struct heap_host *hosts,
						       size_t nr_hosts, struct ts_arena *arena,
						       struct ts_memory_timeline_facts *facts,
						       struct ts_error *err)
{
	struct ts_heap_call *calls =
		ts_arena_array(arena, nr_hosts * MAX_CALLS + 1, sizeof(*calls));

	facts->calls = calls;
	if (!calls)
		return ts_fail_nomem(err);
	for (size_t h = 0; h < nr_hosts; h++)
		for (size_t i = 0; i < hosts[h].nr_calls; i++)
			calls[facts->nr_calls++] =
				memory_timeline_facts_call_of(&hosts[h], &hosts[h].calls[i]);
	return TS_OK;
}

static struct ts_heap_losses losses_of(const struct heap_host *hosts, size_t nr_hosts)
{
	struct ts_heap_losses losses = { .without_totals = false };

	for (size_t h = 0; h < nr_hosts; h++) {
		const struct heap_host *host = &hosts[h];

		for (size_t d = 0; d < host->nr_devices; d++) {
			losses.nr_gaps += host->devices[d].nr_gaps;
			losses.nr_unseen += host->devices[d].nr_unseen;
			losses.without_totals |= !host->devices[d].has_totals;
		}
		losses.nr_untracked += host->nr_untracked;
		losses.nr_rows += host->nr_lost_rows;
		losses.nr_devices += host->nr_lost_devices;
	}
	return losses;
}

/* The devices in the order of the report, *NR of them; NULL: no memory. Free with free(). */
static struct heap_view *sort_devices(const struct ts_context *ctx, const struct heap_host *hosts,
				      size_t nr_hosts, struct ts_result *result, size_t *nr)
{
	struct heap_view *views;
	size_t all = 0;

	*nr = 0;
	for (size_t h = 0; h < nr_hosts; h++)
		all += hosts[h].nr_devices;
	views = calloc(all + 1, sizeof(*views));
	for (size_t h = 0; views && h < nr_hosts; h++)
		for (size_t d = 0; d < hosts[h].nr_devices; d++)
			views[(*nr)++] =
				(struct heap_view){ ctx, &hosts[h], &hosts[h].devices[d], result };
	TS_SORT(views, *nr, by_importance);
	return views;
}

enum ts_status ts_heap_make_facts(const struct ts_context *ctx, const struct heap_host *hosts,
				  size_t nr_hosts, struct ts_result *result,
				  struct ts_memory_timeline_facts *facts, struct ts_error *err)
{
	struct ts_arena *arena = &result->owner->arena;
	size_t nr;
	struct heap_view *views = sort_devices(ctx, hosts, nr_hosts, result, &nr);
	enum ts_status st;

	if (!views)
		return ts_fail_nomem(err);
	facts->losses = losses_of(hosts, nr_hosts);
	st = list_devices(views, nr, arena, facts, err);
	free(views);
	return st ? st : memory_timeline_facts_list_calls(hosts, nr_hosts, arena, facts, err);
}
