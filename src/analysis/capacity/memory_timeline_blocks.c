/* SPDX-License-Identifier: MIT */
/*
 * Devices and the blocks that live on them, event by event.
 *
 * Facts: c10/core/Allocator.h (reportMemoryUsageToProfiler) and c10/cuda/CUDACachingAllocator.cpp of
 * github.com/pytorch/pytorch: an event has the block's size as it was rounded, and what the
 * allocator has given out and reserved in all after it. A CPU's allocator reserves nothing, and
 * counts only what it gave out while the profiler ran.
 */
#include "analysis/capacity/memory_timeline.h"

#define CPU 0 /* c10::DeviceType */

static uint32_t profile_device(const struct heap_host *host, int64_t type, int64_t id)
{
	const struct ts_profile *profile = host->profile;

	for (uint32_t i = 0; type != CPU && i < profile->nr_devices; i++)
		if (profile->devices[i].host == host->host &&
		    (int64_t)profile->devices[i].ordinal == id)
			return i;
	return TS_NONE;
}

static void begin_step_row(struct heap_host *host, struct heap_device *device)
{
	device->step = (struct heap_step){
		.number = host->step_number,
		.device = (uint32_t)(device - host->devices),
		.peak_bytes = device->allocated,
	};
}

/* What EVENT changed: a failed allocation changed nothing, and says where the totals stand. */
static int64_t memory_timeline_blocks_change_of(const struct heap_event *event)
{
	return event->role == ROLE_OOM ? 0 : event->nr_bytes;
}

static enum ts_status memory_timeline_blocks_add_device(struct heap_host *host,
							const struct heap_event *event,
							struct ts_error *err)
{
	struct heap_device *device;
	bool has_totals = event->allocated >= 0;
	int64_t before =
		has_totals ? ts_i64_sub(event->allocated, memory_timeline_blocks_change_of(event))
			   : 0;

	if (!ts_grow(&host->devices, &host->cap_devices, host->nr_devices + 1, sizeof(*device)))
		return ts_fail_nomem(err);
	device = &host->devices[host->nr_devices++];
	*device = (struct heap_device){
		.type = event->device_type,
		.id = event->device_id,
		.device = profile_device(host, event->device_type, event->device_id),
		.has_totals = has_totals,
		.reserved = TS_UNKNOWN,
		.peak_reserved = event->reserved > 0 ? event->reserved : TS_UNKNOWN,
		.most_reserved = TS_UNKNOWN,
		.first_ps = event->at_ps,
		.last_ps = event->at_ps,
		.peak_ps = event->at_ps,
		.peak_step = host->in_step ? host->step_number : TS_NO_NUMBER,
	};
	device->first_bytes = device->allocated = TS_MAX(before, 0);
	device->peak_bytes = device->peak_untracked = device->first_bytes;
	begin_step_row(host, device);
	return TS_OK;
}

/* The device of the event, or nr_devices when there are too many. */
static enum ts_status memory_timeline_blocks_find_device(struct heap_host *host,
							 const struct heap_event *event, size_t *at,
							 struct ts_error *err)
{
	for (*at = 0; *at < host->nr_devices; (*at)++)
		if (host->devices[*at].type == event->device_type &&
		    host->devices[*at].id == event->device_id)
			return TS_OK;
	if (host->nr_devices >= MAX_DEVICES) {
		host->nr_lost_devices++;
		return TS_OK;
	}
	return memory_timeline_blocks_add_device(host, event, err);
}

/* --- kinds */

static uint64_t memory_timeline_blocks_key_of(const struct heap_owner *owner, uint32_t device,
					      int64_t nr_bytes)
{
	const uint64_t words[] = {
		(uint64_t)owner->op << 32 | owner->outer_op,
		(uint64_t)owner->module << 32 | owner->annotation,
		(uint64_t)owner->source << 32 | owner->phase,
		device,
		(uint64_t)nr_bytes,
	};

	return ts_hash((struct ts_bytes){ (const uint8_t *)words, sizeof(words) }, 0);
}

static bool same_owner(const struct heap_owner *a, const struct heap_owner *b)
{
	return a->op == b->op && a->outer_op == b->outer_op && a->module == b->module &&
	       a->annotation == b->annotation && a->source == b->source && a->phase == b->phase;
}

/* Past MAX_KINDS all new ones of a device are one kind. */
static enum ts_status memory_timeline_blocks_kind_of(struct heap_host *host,
						     struct heap_owner owner, uint32_t device,
						     int64_t nr_bytes, uint32_t *kind,
						     struct ts_error *err)
{
	uint64_t key;

	if (host->nr_kinds >= MAX_KINDS) {
		owner = (struct heap_owner){
			TS_NONE, TS_NONE, TS_NONE, TS_NONE, TS_NONE, NR_PHASES
		};
		nr_bytes = TS_UNKNOWN;
	}
	key = memory_timeline_blocks_key_of(&owner, device, nr_bytes);
	while ((*kind = ts_map_find(&host->kind_ids, key)) != TS_NONE) {
		const struct heap_kind *known = &host->kinds[*kind];

		if (known->device == device && known->block_bytes == nr_bytes &&
		    same_owner(&known->owner, &owner))
			return TS_OK;
		key++; /* another one has the same hash */
	}
	*kind = (uint32_t)host->nr_kinds;
	if (!ts_grow(&host->kinds, &host->cap_kinds, host->nr_kinds + 1, sizeof(*host->kinds)) ||
	    !ts_map_set(&host->kind_ids, key, *kind))
		return ts_fail_nomem(err);
	host->kinds[host->nr_kinds++] =
		(struct heap_kind){ .owner = owner, .device = device, .block_bytes = nr_bytes };
	return TS_OK;
}

/* BYTES more (or less) of the kind are alive. */
static enum ts_status memory_timeline_blocks_change(struct heap_host *host, uint32_t at,
						    int64_t nr_bytes, int64_t count,
						    struct ts_error *err)
{
	struct heap_kind *kind = &host->kinds[at];
	struct heap_device *device = &host->devices[kind->device];

	kind->now_bytes = ts_i64_add(kind->now_bytes, nr_bytes);
	kind->now_count += count;
	device->tracked = ts_i64_add(device->tracked, nr_bytes);
	if (kind->dirty)
		return TS_OK;
	if (!ts_grow(&device->dirty, &device->cap_dirty, device->nr_dirty + 1,
		     sizeof(*device->dirty)))
		return ts_fail_nomem(err);
	device->dirty[device->nr_dirty++] = at;
	kind->dirty = true;
	return TS_OK;
}

/* --- blocks */

static enum ts_status add_block(struct heap_host *host, struct heap_device *device,
				const struct heap_block *block, int64_t address,
				struct ts_error *err)
{
	uint32_t at = (uint32_t)host->nr_blocks;

	if (host->nr_free_blocks > 0) {
		at = host->free_blocks[--host->nr_free_blocks];
	} else {
		if (!ts_grow(&host->blocks, &host->cap_blocks, host->nr_blocks + 1,
			     sizeof(*host->blocks)))
			return ts_fail_nomem(err);
		host->nr_blocks++;
	}
	host->blocks[at] = *block;
	if (!ts_map_set(&device->by_address, (uint64_t)address, at))
		return ts_fail_nomem(err);
	return memory_timeline_blocks_change(host, block->kind, block->nr_bytes, 1, err);
}

/* The block at ADDRESS ends. */
static enum ts_status end_block(struct heap_host *host, struct heap_device *device, int64_t address,
				int64_t at_ps, bool was_given, struct ts_error *err)
{
	uint32_t at = ts_map_find(&device->by_address, (uint64_t)address);
	struct heap_block *block;
	struct heap_kind *kind;

	if (at == TS_NONE || host->blocks[at].kind == TS_NONE) {
		device->nr_unseen += was_given;
		return TS_OK;
	}
	if (!ts_grow(&host->free_blocks, &host->cap_free_blocks, host->nr_free_blocks + 1,
		     sizeof(*host->free_blocks)))
		return ts_fail_nomem(err);
	block = &host->blocks[at];
	kind = &host->kinds[block->kind];
	if (was_given) {
		kind->lived_ps = ts_i64_add(kind->lived_ps, ts_i64_sub(at_ps, block->at_ps));
		kind->nr_lived++;
	}
	ts_map_drop(&device->by_address, (uint64_t)address);
	host->free_blocks[host->nr_free_blocks++] = at;
	at = block->kind;
	block->kind = TS_NONE;
	return memory_timeline_blocks_change(host, at, -block->nr_bytes, -1, err);
}

static enum ts_status memory_timeline_blocks_take_block(struct heap_host *host,
							struct heap_device *device,
							const struct heap_event *event,
							struct ts_error *err)
{
	struct heap_owner owner = ts_heap_thread_owner(&host->threads[event->line], event->at_ps);
	struct heap_block block = { event->nr_bytes, event->at_ps, TS_NONE, host->nr_steps };
	enum ts_status st = memory_timeline_blocks_kind_of(
		host, owner, (uint32_t)(device - host->devices), event->nr_bytes, &block.kind, err);
	struct heap_kind *kind;

	if (st)
		return st;
	kind = &host->kinds[block.kind];
	kind->total_bytes = ts_i64_add(kind->total_bytes, event->nr_bytes);
	kind->count++;
	device->nr_taken++;
	device->taken_bytes = ts_i64_add(device->taken_bytes, event->nr_bytes);
	device->step.count++;
	device->step.taken_bytes = ts_i64_add(device->step.taken_bytes, event->nr_bytes);
	if (!event->has_address)
		return TS_OK;
	/* What stands there is gone: its end was not seen. */
	st = end_block(host, device, event->address, event->at_ps, false, err);
	if (st)
		return st;
	if (host->nr_blocks - host->nr_free_blocks < MAX_LIVE_BLOCKS)
		return add_block(host, device, &block, event->address, err);
	host->nr_untracked++;
	return TS_OK;
}

static enum ts_status give_block(struct heap_host *host, struct heap_device *device,
				 const struct heap_event *event, struct ts_error *err)
{
	device->nr_given++;
	return !event->has_address
		       ? TS_OK
		       : end_block(host, device, event->address, event->at_ps, true, err);
}

/* --- levels */

static void pass_time(struct heap_device *device, int64_t at_ps)
{
	double share, dur_ps = (double)TS_MAX(ts_i64_sub(at_ps, device->last_ps), 0);

	if (device->reserved > 0 && device->allocated >= 0) {
		share = 1 - (double)device->allocated / (double)device->reserved;
		device->unused_ps += TS_MAX(share, 0) * dur_ps;
		device->known_ps += dur_ps;
	}
	device->last_ps = TS_MAX(device->last_ps, at_ps);
}

static void note_peak(struct heap_host *host, struct heap_device *device, int64_t at_ps)
{
	device->peak_bytes = device->allocated;
	device->peak_ps = at_ps;
	device->peak_reserved = device->reserved;
	device->peak_step = host->in_step ? host->step_number : TS_NO_NUMBER;
	device->peak_untracked = TS_MAX(ts_i64_sub(device->allocated, device->tracked), 0);
	for (size_t i = 0; i < device->nr_dirty; i++) {
		struct heap_kind *kind = &host->kinds[device->dirty[i]];

		kind->peak_bytes = kind->now_bytes;
		kind->peak_count = kind->now_count;
		kind->dirty = false;
	}
	device->nr_dirty = 0;
}

static void set_levels(struct heap_host *host, struct heap_device *device,
		       const struct heap_event *event)
{
	int64_t expected = ts_i64_add(device->allocated, memory_timeline_blocks_change_of(event));

	pass_time(device, event->at_ps);
	device->nr_gaps += device->has_totals && event->allocated != expected;
	device->allocated = device->has_totals && event->allocated >= 0 ? event->allocated
									: TS_MAX(expected, 0);
	device->reserved = event->reserved > 0 ? event->reserved : TS_UNKNOWN;
	device->most_reserved = TS_MAX(device->most_reserved, device->reserved);
	ts_levels_set(&device->levels, event->at_ps, device->allocated);
	ts_levels_set(&device->levels_reserved, event->at_ps, device->reserved);
	device->step.peak_bytes = TS_MAX(device->step.peak_bytes, device->allocated);
	device->step.reserved_bytes = TS_MAX(device->step.reserved_bytes, device->reserved);
	if (device->allocated > device->peak_bytes)
		note_peak(host, device, event->at_ps);
}

static void take_oom(struct heap_host *host, struct heap_device *device,
		     const struct heap_event *event)
{
	if (device->nr_oom++ > 0)
		return;
	device->oom_ps = event->at_ps;
	device->oom_bytes = event->nr_bytes;
	device->oom_owner = ts_heap_thread_owner(&host->threads[event->line], event->at_ps);
}

enum ts_status ts_heap_take_event(struct heap_host *host, const struct heap_event *event,
				  struct ts_error *err)
{
	struct heap_device *device;
	enum ts_status st;
	size_t at;

	TS_ASSERT_HOT(event->line < host->nr_threads);
	st = memory_timeline_blocks_find_device(host, event, &at, err);
	if (st)
		return st;
	if (at == host->nr_devices)
		return TS_OK;
	device = &host->devices[at];
	if (event->role == ROLE_OOM)
		take_oom(host, device, event);
	else if (event->nr_bytes > 0)
		st = memory_timeline_blocks_take_block(host, device, event, err);
	else
		st = give_block(host, device, event, err);
	set_levels(host, device, event);
	return st;
}

/* --- steps */

static enum ts_status memory_timeline_blocks_end_step(struct heap_host *host, struct ts_error *err)
{
	host->in_step = false;
	for (size_t i = 0; i < host->nr_devices; i++) {
		struct heap_device *device = &host->devices[i];

		device->step.end_bytes = device->allocated;
		if (device->nr_steps++ == 0)
			device->first_step_bytes = device->allocated;
		else
			device->nr_rising += device->allocated > device->last_step_bytes;
		device->last_step_bytes = device->allocated;
		if (host->nr_rows >= MAX_STEP_ROWS) {
			host->nr_lost_rows++;
			continue;
		}
		if (!ts_grow(&host->rows, &host->cap_rows, host->nr_rows + 1, sizeof(*host->rows)))
			return ts_fail_nomem(err);
		host->rows[host->nr_rows++] = device->step;
	}
	return TS_OK;
}

enum ts_status ts_heap_step_until(struct heap_host *host, int64_t at_ps, struct ts_error *err)
{
	return !host->in_step || at_ps < host->step_end_ps
		       ? TS_OK
		       : memory_timeline_blocks_end_step(host, err);
}

enum ts_status ts_heap_step_begin(struct heap_host *host, uint64_t number, int64_t end_ps,
				  struct ts_error *err)
{
	enum ts_status st = host->in_step ? memory_timeline_blocks_end_step(host, err) : TS_OK;

	if (st)
		return st;
	host->in_step = true;
	host->step_number = number;
	host->step_end_ps = end_ps;
	host->nr_steps++;
	for (size_t i = 0; i < host->nr_devices; i++)
		begin_step_row(host, &host->devices[i]);
	return TS_OK;
}

/* --- the end */

/*
 * Blocks that were taken in a step and outlived it. What was taken before the first step is the
 * model; what the first step takes may be an optimizer's state; what every step takes is a leak.
 */
static void count_unfreed(struct heap_host *host)
{
	for (size_t i = 0; i < host->nr_blocks; i++) {
		const struct heap_block *block = &host->blocks[i];
		struct heap_kind *kind;

		if (block->kind == TS_NONE || block->step == 0 || block->step >= host->nr_steps)
			continue;
		kind = &host->kinds[block->kind];
		kind->unfreed_bytes = ts_i64_add(kind->unfreed_bytes, block->nr_bytes);
		kind->unfreed_count++;
		kind->unfreed_steps |= UINT64_C(1) << block->step % 64;
	}
}

enum ts_status ts_heap_finish(struct heap_host *host, struct ts_error *err)
{
	count_unfreed(host);
	return ts_heap_step_until(host, INT64_MAX, err);
}
