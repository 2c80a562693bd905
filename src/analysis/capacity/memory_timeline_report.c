/* SPDX-License-Identifier: MIT */
/*
 * The report: the figures of the fullest device, then the tables of all devices, one after the other.
 * A profile without events of PyTorch has the figures that other analyses know.
 */
#include "analysis/capacity/memory_timeline.h"

#include "analysis/kit/growth.h"
#include "analysis/facts/allocators.h"
#include "analysis/facts/capacity.h"
#include "base/units.h"
#include "result/schema/memory_timeline.def"

#define ORDER 40 /* among the counters of a device */

static struct ts_value host_cell(const struct ts_context *ctx, uint32_t host)
{
	return ts_text_or_null(ctx->profile->hosts[host].name);
}

static struct ts_value step_cell(uint64_t number)
{
	return number == TS_NO_NUMBER || number > INT64_MAX ? ts_null() : ts_int((int64_t)number);
}

#define DEVICE_HEAD(X) \
	X(device, ts_text(device->name)) \
	X(host, host_cell(ctx, device->host))

/* --- devices, steps, time */

#define IF_OOM(value) (device->nr_oom == 0 ? ts_null() : (value))
#define OOM_CELLS(X) \
	X(out_of_memory, ts_int(device->nr_oom)) \
	X(out_of_memory_bytes, IF_OOM(ts_int(device->oom_bytes))) \
	X(out_of_memory_op, IF_OOM(ts_text_or_null(device->oom_owner.op))) \
	X(out_of_memory_module, IF_OOM(ts_text_or_null(device->oom_owner.module))) \
	X(out_of_memory_time_ps, IF_OOM(ts_int(device->oom_ps)))

#define DEVICE_CELLS(X) \
	DEVICE_HEAD(X) \
	X(peak_bytes, ts_int(device->peak_bytes)) \
	X(peak_time_ps, ts_int(device->peak_ps)) \
	X(peak_step, step_cell(device->peak_step)) \
	X(peak_reserved_bytes, ts_int_or_null(device->peak_reserved)) \
	X(fragmentation_pct, ts_share_pct(ts_heap_unused_at_peak(device))) \
	X(mean_fragmentation_pct, ts_share_pct(device->unused_share)) \
	X(max_reserved_bytes, ts_int_or_null(device->most_reserved)) \
	X(capacity_bytes, ts_int_or_null(device->capacity_bytes)) \
	X(first_bytes, ts_int_or_null(device->first_bytes)) \
	X(allocated_bytes, ts_int(device->allocated_bytes)) \
	X(reserved_bytes, ts_int_or_null(device->reserved_bytes)) \
	X(unknown_bytes, ts_int(device->unknown_bytes)) \
	X(allocations, ts_int(device->nr_taken)) \
	X(frees, ts_int(device->nr_given)) \
	X(taken_bytes, ts_int(device->taken_bytes)) \
	TS_GROWTH_CELLS(X, &device->growth) \
	OOM_CELLS(X)

static void memory_timeline_report_put_device(const struct ts_context *ctx,
					      const struct ts_heap_device *device,
					      struct ts_result *result, struct ts_table *table)
{
	TS_CELLS(result, table, memory_timeline_devices, DEVICE_CELLS);
}

#define STEP_CELLS(X) \
	DEVICE_HEAD(X) \
	X(step, step_cell(step->number)) \
	X(peak_bytes, ts_int(step->peak_bytes)) \
	X(end_bytes, ts_int(step->end_bytes)) \
	X(reserved_bytes, step->reserved_bytes > 0 ? ts_int(step->reserved_bytes) : ts_null()) \
	X(taken_bytes, ts_int(step->taken_bytes)) \
	X(allocations, ts_int(step->count))

static void memory_timeline_report_put_steps(const struct ts_context *ctx,
					     const struct ts_heap_device *device,
					     struct ts_result *result, struct ts_table *table)
{
	for (size_t i = 0; i < device->nr_steps; i++) {
		const struct ts_heap_step *step = &device->steps[i];

		TS_CELLS(result, table, memory_timeline_steps, STEP_CELLS);
	}
}

#define MOMENT_CELLS(X) \
	X(time_ps, ts_int(moment->at_ps)) \
	X(allocated_bytes, ts_int(moment->allocated_bytes)) \
	X(reserved_bytes, ts_int_or_null(moment->reserved_bytes)) \
	X(device, ts_text(device->name)) \
	X(host, host_cell(ctx, device->host))

static void put_timeline(const struct ts_context *ctx, const struct ts_heap_device *device,
			 struct ts_result *result, struct ts_table *table)
{
	for (size_t i = 0; i < device->nr_moments; i++) {
		const struct ts_heap_moment *moment = &device->moments[i];

		TS_CELLS(result, table, memory_timeline_timeline, MOMENT_CELLS);
	}
}

/* --- who held what */

#define OWNER_CELLS(X, owner) \
	X(op, ts_text_or_null((owner)->op)) \
	X(outer_op, ts_text_or_null((owner)->outer_op)) \
	X(module, ts_text_or_null((owner)->module)) \
	X(annotation, ts_text_or_null((owner)->annotation)) \
	X(source, ts_text_or_null((owner)->source)) \
	X(phase, ts_text_or_null((owner)->phase))

static struct ts_value memory_timeline_report_share_cell(const struct ts_heap_device *device,
							 int64_t nr_bytes)
{
	int64_t peak = device->peak_bytes;

	return peak > 0 ? ts_share_pct((double)nr_bytes / (double)peak) : ts_null();
}

#define HELD_CELLS(X) \
	DEVICE_HEAD(X) \
	X(bytes, ts_int(holder->nr_bytes)) \
	X(peak_pct, memory_timeline_report_share_cell(device, holder->nr_bytes)) \
	X(count, ts_int_or_null(holder->nr_blocks))

#define HOLDER_CELLS(X) HELD_CELLS(X) OWNER_CELLS(X, &holder->owner)

static void memory_timeline_report_put_holders(const struct ts_context *ctx,
					       const struct ts_heap_device *device,
					       struct ts_result *result, struct ts_table *table)
{
	for (size_t i = 0; i < device->nr_holders; i++) {
		const struct ts_heap_holder *holder = &device->holders[i];

		TS_CELLS(result, table, memory_timeline_holders, HOLDER_CELLS);
	}
}

#define MODULE_CELLS(X) \
	HELD_CELLS(X) \
	X(module, ts_text_or_null(holder->owner.module)) \
	X(phase, ts_text_or_null(holder->owner.phase))

static void memory_timeline_report_put_modules(const struct ts_context *ctx,
					       const struct ts_heap_device *device,
					       struct ts_result *result, struct ts_table *table)
{
	for (size_t i = 0; i < device->nr_modules; i++) {
		const struct ts_heap_holder *holder = &device->modules[i];

		TS_CELLS(result, table, memory_timeline_modules, MODULE_CELLS);
	}
}

#define BLOCK_CELLS(X) \
	DEVICE_HEAD(X) \
	X(bytes, ts_int(blocks->block_bytes)) \
	X(count, ts_int(blocks->peak_count)) \
	OWNER_CELLS(X, &blocks->owner)

static void memory_timeline_report_put_blocks(const struct ts_context *ctx,
					      const struct ts_heap_device *device,
					      struct ts_result *result, struct ts_table *table)
{
	for (size_t i = 0; i < device->nr_blocks; i++) {
		const struct ts_heap_blocks *blocks = &device->blocks[i];

		TS_CELLS(result, table, memory_timeline_blocks, BLOCK_CELLS);
	}
}

#define ALLOCATION_CELLS(X) \
	DEVICE_HEAD(X) \
	X(bytes, ts_int(blocks->block_bytes)) \
	X(allocations, ts_int(blocks->count)) \
	X(total_bytes, ts_int(blocks->total_bytes)) \
	X(mean_lifetime_ps, ts_int_or_null(blocks->mean_lifetime_ps)) \
	OWNER_CELLS(X, &blocks->owner)

static void put_allocations(const struct ts_context *ctx, const struct ts_heap_device *device,
			    struct ts_result *result, struct ts_table *table)
{
	for (size_t i = 0; i < device->nr_allocations; i++) {
		const struct ts_heap_blocks *blocks = &device->allocations[i];

		TS_CELLS(result, table, memory_timeline_allocations, ALLOCATION_CELLS);
	}
}

#define UNFREED_CELLS(X) \
	DEVICE_HEAD(X) \
	X(bytes, ts_int(blocks->unfreed_bytes)) \
	X(count, ts_int(blocks->unfreed_count)) \
	X(steps, ts_int(blocks->unfreed_steps)) \
	OWNER_CELLS(X, &blocks->owner)

static void put_unfreed(const struct ts_context *ctx, const struct ts_heap_device *device,
			struct ts_result *result, struct ts_table *table)
{
	for (size_t i = 0; i < device->nr_unfreed; i++) {
		const struct ts_heap_blocks *blocks = &device->unfreed[i];

		TS_CELLS(result, table, memory_timeline_unfreed, UNFREED_CELLS);
	}
}

/* Tables with rows of every device. */
static const struct sheet {
	const struct ts_sheet *table;
	void (*put)(const struct ts_context *ctx, const struct ts_heap_device *device,
		    struct ts_result *result, struct ts_table *table);
} sheets[] = {
	{ &ts_sheet_memory_timeline_devices, memory_timeline_report_put_device },
	{ &ts_sheet_memory_timeline_holders, memory_timeline_report_put_holders },
	{ &ts_sheet_memory_timeline_modules, memory_timeline_report_put_modules },
	{ &ts_sheet_memory_timeline_blocks, memory_timeline_report_put_blocks },
	{ &ts_sheet_memory_timeline_allocations, put_allocations },
	{ &ts_sheet_memory_timeline_unfreed, put_unfreed },
	{ &ts_sheet_memory_timeline_steps, memory_timeline_report_put_steps },
	{ &ts_sheet_memory_timeline_timeline, put_timeline },
};

/* --- calls of the driver's allocator */

#define IF_IN_STEPS(value) (call->in_steps > 0 ? ts_int(value) : ts_null())
#define CALL_CELLS(X) \
	X(call, ts_text(call->name)) \
	X(host, host_cell(ctx, call->host)) \
	X(count, ts_int(call->count)) \
	X(total_time_ps, ts_int(call->total_ps)) \
	X(max_time_ps, ts_int(call->max_ps)) \
	X(in_steps_count, ts_int(call->in_steps)) \
	X(in_steps_time_ps, ts_int(call->in_steps_ps)) \
	X(in_steps_start_ps, IF_IN_STEPS(call->in_steps_start_ps)) \
	X(in_steps_end_ps, IF_IN_STEPS(call->in_steps_end_ps))

static void memory_timeline_report_put_calls(const struct ts_context *ctx,
					     const struct ts_memory_timeline_facts *facts,
					     struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, memory_timeline_allocator_calls);

	for (size_t i = 0; i < facts->nr_calls; i++) {
		const struct ts_heap_call *call = &facts->calls[i];

		TS_CELLS(result, table, memory_timeline_allocator_calls, CALL_CELLS);
	}
}

/* --- counters in the viewers */

static double gib_of(int64_t bytes)
{
	return (double)TS_MAX(bytes, 0) / (double)(INT64_C(1) << 30);
}

static int64_t allocated_of(const struct ts_heap_moment *moment)
{
	return moment->allocated_bytes;
}

static int64_t reserved_of(const struct ts_heap_moment *moment)
{
	return moment->reserved_bytes;
}

static const struct counter {
	const char *name, *description;
	int64_t (*level)(const struct ts_heap_moment *moment);
} counters[] = {
	{ "Allocated memory (GiB)",
	  "what PyTorch's allocator has given out, the most of each stretch of time",
	  allocated_of },
	{ "Reserved memory (GiB)", "what PyTorch's allocator has taken from the device",
	  reserved_of },
};

/* A point where the level changes. */
static void memory_timeline_report_put_points(const struct ts_heap_device *device,
					      const struct counter *counter, struct ts_track *track)
{
	int64_t at_ps = INT64_MIN;

	for (size_t i = 0; i < device->nr_moments; i++) {
		const struct ts_heap_moment *moment = &device->moments[i];
		int64_t level = counter->level(moment);

		if (i > 0 && level == counter->level(moment - 1))
			continue;
		at_ps = TS_MAX(at_ps, moment->at_ps); /* the last stretch may begin after the end */
		track->points[track->nr_points++] = (struct ts_point){ at_ps, gib_of(level) };
	}
}

static enum ts_status memory_timeline_report_put_counter(const struct ts_heap_device *device,
							 const struct counter *counter,
							 struct ts_result *result,
							 struct ts_error *err)
{
	struct ts_track *track = ts_result_track(result, TS_TRACK_COUNTER, counter->name,
						 device->device, ORDER + (int)(counter - counters));
	struct ts_point *points =
		ts_arena_array(&result->owner->arena, device->nr_moments, sizeof(*points));

	if (!track || !points)
		return ts_fail_nomem(err);
	track->unit = "GiB";
	track->description = counter->description;
	track->points = points;
	memory_timeline_report_put_points(device, counter, track);
	return TS_OK;
}

/* Of the device's memory; what a CPU's allocator has is not the memory of a device. */
static enum ts_status memory_timeline_report_put_counters(const struct ts_context *ctx,
							  const struct ts_heap_device *device,
							  struct ts_result *result,
							  struct ts_error *err)
{
	enum ts_status st;

	if (ctx->overlay_budget == 0 || device->device == TS_NONE)
		return TS_OK;
	st = memory_timeline_report_put_counter(device, &counters[0], result, err);
	if (st || device->most_reserved < 0)
		return st;
	return memory_timeline_report_put_counter(device, &counters[1], result, err);
}

/* --- the single figures */

#define IN_MB(bytes) ((bytes) < 0 ? ts_null() : ts_real((double)(bytes) / (1 << 20)))

/* Peak, allocated and reserved; -1: unknown. */
static void memory_timeline_report_put_bytes(struct ts_result *result, int64_t peak,
					     int64_t allocated, int64_t reserved,
					     enum ts_origin origin)
{
#define FROM(value) ts_value_from(value, origin)
	TS_SET(result, memory_timeline, peak_memory_mb, FROM(IN_MB(peak)));
	TS_SET(result, memory_timeline, peak_bytes, FROM(ts_int_or_null(peak)));
	TS_SET(result, memory_timeline, allocated_memory_mb, FROM(IN_MB(allocated)));
	TS_SET(result, memory_timeline, allocated_bytes, FROM(ts_int_or_null(allocated)));
	TS_SET(result, memory_timeline, reserved_memory_mb, FROM(IN_MB(reserved)));
	TS_SET(result, memory_timeline, reserved_bytes, FROM(ts_int_or_null(reserved)));
#undef FROM
}

/* Behind its host where there are several, as a profile's device has it. */
static struct ts_bytes device_label(const struct ts_context *ctx,
				    const struct ts_heap_device *device, struct ts_result *result)
{
	if (ctx->profile->nr_hosts < 2)
		return device->name;
	return ts_result_text(result, "%.*s %.*s", TS_ARG(ctx->profile->hosts[device->host].name),
			      TS_ARG(device->name));
}

static void memory_timeline_report_put_fields(const struct ts_context *ctx,
					      struct ts_result *result,
					      const struct ts_heap_device *device)
{
	TS_SET(result, memory_timeline, source, ts_text(TS_LIT("allocator events of the trace")));
	TS_SET(result, memory_timeline, device, ts_text(device_label(ctx, device, result)));
	memory_timeline_report_put_bytes(result, device->peak_bytes, device->allocated_bytes,
					 device->reserved_bytes, TS_MEASURED);
	TS_SET(result, memory_timeline, peak_time_ps, ts_int(device->peak_ps));
	TS_SET(result, memory_timeline, peak_step, step_cell(device->peak_step));
	TS_SET(result, memory_timeline, fragmentation_pct,
	       ts_share_pct(ts_heap_unused_at_peak(device)));
}

#define RUNTIME_CELLS(X) \
	X(time_ps, ts_int(moment->at_ps)) \
	X(allocated_bytes, ts_int(moment->in_use_bytes)) \
	X(reserved_bytes, ts_null()) \
	X(device, ts_text(ctx->profile->devices[of->device].name)) \
	X(host, host_cell(ctx, of->host))

/* The curves of the runtime's allocators that serve devices. */
static void put_runtime_timeline(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_allocators_facts *allocators = ts_allocators_facts(ctx);
	struct ts_table *table = TS_TABLE(result, memory_timeline_runtime_timeline);

	for (size_t i = 0; i < allocators->nr; i++) {
		const struct ts_allocator *of = &allocators->items[i];

		for (size_t k = 0; of->device != TS_NONE && k < of->nr_moments; k++) {
			const struct ts_allocator_moment *moment = &of->moments[k];

			TS_CELLS(result, table, memory_timeline_runtime_timeline, RUNTIME_CELLS);
		}
	}
}

/* Without events of PyTorch: the fullest allocator of the runtime. */
static void put_runtime(const struct ts_context *ctx, struct ts_result *result,
			const struct ts_allocator *most)
{
	TS_SET(result, memory_timeline, source,
	       ts_text(TS_LIT("events of the runtime's allocators")));
	TS_SET(result, memory_timeline, device, ts_text(ctx->profile->devices[most->device].label));
	memory_timeline_report_put_bytes(result, most->peak_bytes,
					 most->moments[most->nr_moments - 1].in_use_bytes,
					 TS_UNKNOWN, TS_MEASURED);
	TS_SET(result, memory_timeline, peak_time_ps, ts_int(most->peak_ps));
	put_runtime_timeline(ctx, result);
}

/* Without events of any allocator: what the modules need, when there are any. */
static void put_modelled(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_capacity_program *top = ts_capacity_top(ts_capacity_facts(ctx));

	TS_SET(result, memory_timeline, source,
	       ts_value_from(top ? ts_text(TS_LIT("compiled modules")) : ts_null(), TS_MODELLED));
	TS_SET(result, memory_timeline, device, ts_value_from(ts_null(), TS_MODELLED))->label =
		NULL;
	memory_timeline_report_put_bytes(result, top ? top->peak_bytes : TS_UNKNOWN, TS_UNKNOWN,
					 top ? top->reserved_bytes : TS_UNKNOWN, TS_MODELLED);
	TS_FIELD_OF(result, memory_timeline, peak_bytes)->label = "peak of the largest program";
	TS_FIELD_OF(result, memory_timeline, reserved_bytes)->label = "reserved for it";
	if (top && ctx->profile->nr_planes > 0)
		ts_result_note(result, "Memory over time is not known: no allocator wrote events "
				       "into this profile.");
}

/* Of a trace whose host ran PyTorch's operators: another run of it could have the
 * events. */
static bool is_of_torch(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (profile->ops[i].is_event &&
		    (profile->ops[i].category_id == TS_KINETO_CPU_OP ||
		     profile->ops[i].category_id == TS_KINETO_FIRST_OPERATOR))
			return true;
	return false;
}

static void report_others(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_allocator *most = ts_allocator_fullest(ts_allocators_facts(ctx));

	if (most)
		put_runtime(ctx, result, most);
	else
		put_modelled(ctx, result);
	if (is_of_torch(ctx->profile))
		ts_result_note(result, "The trace has no events of PyTorch's allocators: "
				       "profile(..., profile_memory=True) writes them.");
}

static void memory_timeline_report_put_notes(const struct ts_heap_losses *losses,
					     struct ts_result *result)
{
	if (losses->without_totals)
		ts_result_note(result, "The events do not say what is allocated in all (PyTorch "
				       "before 1.10): counted from 0 where the capture begins.");
	if (losses->nr_unseen > 0)
		ts_result_note(result,
			       "%llu blocks were given back that were taken before the "
			       "capture.",
			       (unsigned long long)losses->nr_unseen);
	if (losses->nr_gaps > 0)
		ts_result_note(result,
			       "%llu times the totals moved without an event: other threads, which "
			       "the profiler did not follow, took or gave back memory.",
			       (unsigned long long)losses->nr_gaps);
	if (losses->nr_untracked > 0)
		ts_result_note(result,
			       "%llu blocks were too many to be followed: they count as "
			       "allocated before the capture.",
			       (unsigned long long)losses->nr_untracked);
	if (losses->nr_rows + losses->nr_devices > 0)
		ts_result_note(result,
			       "%llu rows of steps, and the events of %llu blocks on further "
			       "devices, were left out.",
			       (unsigned long long)losses->nr_rows,
			       (unsigned long long)losses->nr_devices);
}

enum ts_status ts_heap_report(const struct ts_context *ctx, struct ts_result *result,
			      struct ts_error *err)
{
	const struct ts_memory_timeline_facts *facts = ts_memory_timeline_facts(ctx);
	enum ts_status st;

	if (facts->nr_devices == 0) {
		report_others(ctx, result);
		return TS_OK;
	}
	memory_timeline_report_put_fields(ctx, result, &facts->devices[0]);
	for (size_t i = 0; i < TS_NELEM(sheets); i++) {
		struct ts_table *table = ts_result_sheet(result, sheets[i].table);

		for (size_t d = 0; d < facts->nr_devices; d++)
			sheets[i].put(ctx, &facts->devices[d], result, table);
	}
	memory_timeline_report_put_calls(ctx, facts, result);
	for (size_t i = 0; i < facts->nr_devices; i++) {
		st = memory_timeline_report_put_counters(ctx, &facts->devices[i], result, err);
		if (st)
			return st;
	}
	memory_timeline_report_put_notes(&facts->losses, result);
	return TS_OK;
}
