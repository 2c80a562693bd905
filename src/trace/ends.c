/* SPDX-License-Identifier: MIT */
/* Which events launch or are launched, by the numbers that their profiler gave them. */
#include "trace/ends.h"

#include "base/check.h"
#include "read/flows.h"
#include "base/order.h"

static bool is_module_line(const struct ts_profile *profile, const struct ts_line *line)
{
	return line->kind == TS_LINE_MODULES && profile->planes[line->plane].kind == TS_PLANE_TPU;
}

static bool is_gpu_line(const struct ts_profile *profile, const struct ts_line *line)
{
	return profile->planes[line->plane].kind == TS_PLANE_GPU && ts_line_is_core(profile, line);
}

enum ts_trace_side ts_trace_end_side(const struct ts_profile *profile, uint32_t index)
{
	const struct ts_line *line = &profile->lines[index];

	TS_ASSERT(index < profile->nr_lines);
	if (profile->planes[line->plane].device == TS_NONE)
		return profile->planes[line->plane].kind == TS_PLANE_HOST ? TS_SIDE_HOST
									  : TS_SIDE_NONE;
	return is_gpu_line(profile, line) || is_module_line(profile, line) ? TS_SIDE_DEVICE
									   : TS_SIDE_NONE;
}

unsigned ts_trace_end_columns(const struct ts_profile *profile, uint32_t index)
{
	const struct ts_line *line = &profile->lines[index];

	TS_ASSERT(index < profile->nr_lines);
	switch (ts_trace_end_side(profile, index)) {
	case TS_SIDE_DEVICE: return is_gpu_line(profile, line) ? TS_COL_LINK : TS_COL_NUMBER;
	case TS_SIDE_HOST:   return TS_COL_LINK | TS_COL_NUMBER | TS_COL_STATS;
	default:	     return 0;
	}
}

/* A host's event with a number may be a step, too: it is asked whose run it is. */
static bool read_host_run(const struct ts_block *block, size_t i, struct ts_trace_end *end)
{
	struct ts_stat run, device;

	if (!block->number || block->number[i] == TS_NO_NUMBER || !block->stat)
		return false;
	if (!block->stat(block, i, "run_id", &run) || run.type != TS_STAT_INT ||
	    !block->stat(block, i, "device_ordinal", &device) || device.type != TS_STAT_INT)
		return false;
	if (device.number < 0 || device.number >= TS_END_OF_FLOW)
		return false;
	end->number = (uint64_t)run.number;
	end->device = (uint32_t)device.number;
	return true;
}

static bool read_device_run(const struct ts_block *block, size_t i, uint32_t device,
			    struct ts_trace_end *end)
{
	if (!block->number || block->number[i] == TS_NO_NUMBER)
		return false;
	end->number = block->number[i];
	end->device = block->profile->devices[device].ordinal;
	return true;
}

static bool read_flow(const struct ts_block *block, size_t i, struct ts_trace_end *end)
{
	struct ts_flow flow;

	if (!block->body || !ts_flow_find(block->profile, block->line, block->body[i], &flow))
		return false;
	end->number = flow.id;
	end->device = TS_END_OF_FLOW;
	end->side = flow.ends ? TS_SIDE_DEVICE
			      : TS_SIDE_HOST; /* of an arrow, the second and the first */
	return true;
}

/* Whose number is it, and which? */
static bool read_end(const struct ts_block *block, size_t i, struct ts_trace_end *end)
{
	const struct ts_plane *plane = &block->profile->planes[block->line->plane];

	end->side = ts_trace_end_side(block->profile, block->line_index);
	if (block->link && block->link[i] != TS_NO_LINK) {
		end->number = block->link[i];
		end->device = TS_END_OF_HOST;
		return true;
	}
	if (read_flow(block, i, end))
		return true;
	if (plane->device == TS_NONE)
		return read_host_run(block, i, end);
	return is_module_line(block->profile, block->line) &&
	       read_device_run(block, i, plane->device, end);
}

enum ts_status ts_trace_ends_add(struct ts_trace_ends *ends, const struct ts_block *block, size_t i,
				 uint32_t *number, struct ts_error *err)
{
	struct ts_trace_end end = { .slice = TS_NO_SLICE };

	TS_ASSERT_HOT(ends && block && number);
	*number = 0;
	if (!read_end(block, i, &end) || ends->nr >= UINT32_MAX - 1)
		return TS_OK;
	end.host = block->profile->planes[block->line->plane].host;
	if (!ts_grow(&ends->items, &ends->cap, ends->nr + 1, sizeof(end)))
		return ts_fail_nomem(err);
	ends->items[ends->nr++] = end;
	*number = (uint32_t)ends->nr;
	return TS_OK;
}

TS_ORDER(by_slice, struct ts_trace_end, TS_UP(slice))

void ts_trace_ends_tidy(struct ts_trace_ends *ends)
{
	bool is_sorted = true;
	size_t nr = 0;

	TS_ASSERT(ends);
	for (size_t i = 0; i < ends->nr; i++) {
		if (ends->items[i].slice == TS_NO_SLICE)
			continue;
		is_sorted &= nr == 0 || ends->items[nr - 1].slice < ends->items[i].slice;
		ends->items[nr++] = ends->items[i];
	}
	ends->nr = nr;
	if (!is_sorted)
		qsort(ends->items, nr, sizeof(*ends->items), by_slice);
}
