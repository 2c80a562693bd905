/* SPDX-License-Identifier: MIT */
/* The members of the walk's state, for its sum and its saved form, and whether loaded ones fit
 * together. */
#include "analysis/capacity/memory_timeline.h"

#include "base/record.h"

#define TS_SELF struct heap_owner
static bool is_owner(const void *self)
{
	return ((const struct heap_owner *)self)->phase <= NR_PHASES;
}
static TS_RECORD_WITH(owner, TS_VALID_IF(is_owner), TS_INDEX(1, op, TS_BY_OP, TS_BY_HAND),
		      TS_INDEX(2, outer_op, TS_BY_OP, TS_BY_HAND),
		      TS_INDEX(3, module, TS_BY_OP, TS_BY_HAND),
		      TS_INDEX(4, annotation, TS_BY_OP, TS_BY_HAND),
		      TS_INDEX(5, source, TS_BY_OP, TS_BY_HAND), TS_NUMBER(6, phase, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_open
static TS_RECORD(open, TS_NUMBER(1, end_ps, TS_BY_HAND), TS_STRUCT(2, owner, owner_record));
#undef TS_SELF

#define TS_SELF struct heap_thread
static TS_RECORD_WITH(thread, TS_EMPTY(nr),
		      TS_RECORDS_CAP(1, open, nr, cap, open_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_kind
static TS_RECORD(kind, TS_STRUCT(1, owner, owner_record), TS_NUMBER(2, device, TS_BY_HAND),
		 TS_NUMBER(3, dirty, TS_BY_HAND), TS_NUMBER(4, block_bytes, TS_BY_HAND),
		 TS_NUMBER(5, now_bytes, TS_BY_HAND), TS_NUMBER(6, now_count, TS_BY_HAND),
		 TS_NUMBER(7, peak_bytes, TS_BY_HAND), TS_NUMBER(8, peak_count, TS_BY_HAND),
		 TS_NUMBER(9, total_bytes, TS_BY_HAND), TS_NUMBER(10, count, TS_BY_HAND),
		 TS_NUMBER(11, lived_ps, TS_BY_HAND), TS_NUMBER(12, nr_lived, TS_BY_HAND),
		 TS_NUMBER(13, unfreed_bytes, TS_BY_HAND), TS_NUMBER(14, unfreed_count, TS_BY_HAND),
		 TS_NUMBER(15, unfreed_steps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_block
static TS_RECORD(block, TS_NUMBER(1, nr_bytes, TS_BY_HAND), TS_NUMBER(2, at_ps, TS_BY_HAND),
		 TS_NUMBER(3, kind, TS_BY_HAND), TS_NUMBER(4, step, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_event
static TS_RECORD(event, TS_NUMBER(1, at_ps, TS_BY_HAND), TS_NUMBER(2, index, TS_BY_HAND),
		 TS_NUMBER(3, device_type, TS_BY_HAND), TS_NUMBER(4, device_id, TS_BY_HAND),
		 TS_NUMBER(5, address, TS_BY_HAND), TS_NUMBER(6, nr_bytes, TS_BY_HAND),
		 TS_NUMBER(7, allocated, TS_BY_HAND), TS_NUMBER(8, reserved, TS_BY_HAND),
		 TS_NUMBER(9, has_address, TS_BY_HAND), TS_NUMBER(10, line, TS_BY_HAND),
		 TS_NUMBER(11, role, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_step
static TS_RECORD(step, TS_NUMBER(1, number, TS_BY_HAND), TS_NUMBER(2, device, TS_BY_HAND),
		 TS_NUMBER(3, peak_bytes, TS_BY_HAND), TS_NUMBER(4, end_bytes, TS_BY_HAND),
		 TS_NUMBER(5, reserved_bytes, TS_BY_HAND), TS_NUMBER(6, taken_bytes, TS_BY_HAND),
		 TS_NUMBER(7, count, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_device
static TS_RECORD(device, TS_NUMBER(1, type, TS_BY_HAND), TS_NUMBER(2, id, TS_BY_HAND),
		 TS_INDEX(3, device, TS_BY_DEVICE, TS_BY_HAND), TS_MAP(4, by_address),
		 TS_NUMBER_LIST(5, dirty, TS_BY_HAND), TS_NUMBER(6, has_totals, TS_BY_HAND),
		 TS_NUMBER(7, allocated, TS_BY_HAND), TS_NUMBER(8, reserved, TS_BY_HAND),
		 TS_NUMBER(9, first_bytes, TS_BY_HAND), TS_NUMBER(10, tracked, TS_BY_HAND),
		 TS_NUMBER(11, first_ps, TS_BY_HAND), TS_NUMBER(12, last_ps, TS_BY_HAND),
		 TS_NUMBER(13, peak_ps, TS_BY_HAND), TS_NUMBER(14, peak_bytes, TS_BY_HAND),
		 TS_NUMBER(15, peak_reserved, TS_BY_HAND),
		 TS_NUMBER(16, peak_untracked, TS_BY_HAND),
		 TS_NUMBER(17, most_reserved, TS_BY_HAND), TS_NUMBER(18, peak_step, TS_BY_HAND),
		 TS_NUMBER(19, nr_taken, TS_BY_HAND), TS_NUMBER(20, nr_given, TS_BY_HAND),
		 TS_NUMBER(21, nr_unseen, TS_BY_HAND), TS_NUMBER(22, nr_gaps, TS_BY_HAND),
		 TS_NUMBER(23, nr_oom, TS_BY_HAND), TS_NUMBER(24, taken_bytes, TS_BY_HAND),
		 TS_NUMBER(25, oom_bytes, TS_BY_HAND), TS_NUMBER(26, oom_ps, TS_BY_HAND),
		 TS_STRUCT(27, oom_owner, owner_record), TS_NUMBER(28, unused_ps, TS_BY_HAND),
		 TS_NUMBER(29, known_ps, TS_BY_HAND), TS_STRUCT(30, levels, ts_levels_record),
		 TS_STRUCT(31, levels_reserved, ts_levels_record), TS_STRUCT(32, step, step_record),
		 TS_NUMBER(33, first_step_bytes, TS_BY_HAND),
		 TS_NUMBER(34, last_step_bytes, TS_BY_HAND), TS_NUMBER(35, nr_steps, TS_BY_HAND),
		 TS_NUMBER(36, nr_rising, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_call
static TS_RECORD(call, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(2, count, TS_BY_HAND),
		 TS_NUMBER(3, total_ps, TS_BY_HAND), TS_NUMBER(4, max_ps, TS_BY_HAND),
		 TS_NUMBER(5, in_steps, TS_BY_HAND), TS_NUMBER(6, in_steps_ps, TS_BY_HAND),
		 TS_NUMBER(7, first_ps, TS_BY_HAND), TS_NUMBER(8, last_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct heap_host
static bool are_below(const uint32_t *items, size_t nr, size_t limit)
{
	for (size_t i = 0; i < nr; i++)
		if (items[i] >= limit)
			return false;
	return true;
}

static bool is_map_below(const struct ts_map *map, size_t limit)
{
	uint64_t key;

	for (size_t at = 0; ts_map_walk(map, &at, &key);)
		if (ts_map_find(map, key) >= limit)
			return false;
	return true;
}

static bool are_devices(const struct heap_host *host)
{
	for (size_t i = 0; i < host->nr_devices; i++) {
		const struct heap_device *device = &host->devices[i];

		if (!is_map_below(&device->by_address, host->nr_blocks) ||
		    !are_below(device->dirty, device->nr_dirty, host->nr_kinds) ||
		    device->step.device != i)
			return false;
	}
	return true;
}

static bool are_kinds(const struct heap_host *host)
{
	for (size_t i = 0; i < host->nr_kinds; i++)
		if (host->kinds[i].device >= host->nr_devices)
			return false;
	for (size_t i = 0; i < host->nr_blocks; i++)
		if (host->blocks[i].kind != TS_NONE && host->blocks[i].kind >= host->nr_kinds)
			return false;
	return true;
}

static bool are_rows(const struct heap_host *host)
{
	for (size_t i = 0; i < host->nr_rows; i++)
		if (host->rows[i].device >= host->nr_devices)
			return false;
	for (size_t i = 0; i < host->nr_waiting; i++)
		if (host->waiting[i].line >= host->nr_threads)
			return false;
	return true;
}

static bool memory_timeline_state_is_host(const void *self)
{
	const struct heap_host *host = self;

	return host->host != TS_NONE && host->nr_devices <= MAX_DEVICES &&
	       host->nr_calls <= MAX_CALLS && host->nr_free_blocks <= host->nr_blocks &&
	       are_below(host->free_blocks, host->nr_free_blocks, host->nr_blocks) &&
	       is_map_below(&host->kind_ids, host->nr_kinds) && are_devices(host) &&
	       are_kinds(host) && are_rows(host);
}
static TS_RECORD_WITH(
	host, TS_VALID_IF(memory_timeline_state_is_host), TS_INDEX(1, host, TS_BY_HOST, TS_BY_HAND),
	TS_NUMBER(2, has_events, TS_BY_HAND), TS_SCRATCH(roles), TS_SCRATCH(thread_of),
	TS_RECORDS(3, threads, nr_threads, thread_record, TS_BY_LINE, TS_BY_HAND),
	TS_LIST(4, kinds, kind_record, TS_BY_HAND), TS_MAP(5, kind_ids),
	TS_LIST(6, blocks, block_record, TS_BY_HAND), TS_NUMBER_LIST(7, free_blocks, TS_BY_HAND),
	TS_NUMBER(8, nr_untracked, TS_BY_HAND), TS_LIST(9, devices, device_record, TS_BY_HAND),
	TS_NUMBER(10, nr_lost_devices, TS_BY_HAND), TS_STRUCT(11, calls, call_record),
	TS_NUMBER(12, nr_calls, TS_BY_HAND), TS_INDEX(13, step_line, TS_BY_LINE, TS_BY_HAND),
	TS_NUMBER(14, step_number, TS_BY_HAND), TS_NUMBER(15, step_end_ps, TS_BY_HAND),
	TS_NUMBER(16, in_step, TS_BY_HAND), TS_NUMBER(17, nr_steps, TS_BY_HAND),
	TS_LIST(18, rows, step_record, TS_BY_HAND), TS_NUMBER(19, nr_lost_rows, TS_BY_HAND),
	TS_LIST(20, waiting, event_record, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct timeline_state
TS_RECORD_AS(ts_memory_timeline_record, timeline, ,
	     TS_RECORDS_CAP(1, hosts, nr, cap, host_record, TS_BY_NOTHING, TS_APPEND));
#undef TS_SELF
