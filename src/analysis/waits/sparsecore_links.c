/* SPDX-License-Identifier: MIT */
/* Offloads of TensorCores and the work of SparseCores: which belongs to which. */
#include "analysis/kit/keyed.h"
#include "analysis/waits/sparsecore.h"
#include "base/record.h"

/* Marks of one hash stand behind each other. */
static uint64_t sparsecore_links_key_of(uint32_t host, int64_t core, int64_t id)
{
	uint64_t key = (uint64_t)id * 0x9e3779b97f4a7c15u;

	return (key ^ (uint64_t)core) * 0x9e3779b97f4a7c15u + host;
}

struct sparsecore_mark *ts_sparsecore_mark_of(struct sparsecore_marks *marks, uint32_t host,
					      int64_t core, int64_t id)
{
	uint64_t key = sparsecore_links_key_of(host, core, id);
	struct sparsecore_mark *mark;
	uint32_t at;

	for (; (at = ts_map_find(&marks->by_key, key)) != TS_NONE; key++) {
		mark = &marks->items[at];
		if (mark->host == host && mark->core == core && mark->id == id)
			return mark;
	}
	if (marks->nr >= TS_NONE - 1 ||
	    !ts_grow(&marks->items, &marks->cap, marks->nr + 1, sizeof(*mark)) ||
	    !ts_map_set(&marks->by_key, key, (uint32_t)marks->nr))
		return NULL;
	mark = &marks->items[marks->nr++];
	*mark = (struct sparsecore_mark){ .host = host, .core = core, .id = id, .slot = TS_NONE };
	return mark;
}

enum ts_status ts_sparsecore_marks_merge(struct sparsecore_marks *into,
					 const struct sparsecore_marks *from, struct ts_error *err)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct sparsecore_mark *mark = &from->items[i];
		struct sparsecore_mark *sum =
			ts_sparsecore_mark_of(into, mark->host, mark->core, mark->id);

		if (!sum)
			return ts_fail_nomem(err);
		if (sum->slot == TS_NONE)
			sum->slot = mark->slot;
		sum->executions = ts_i64_add(sum->executions, mark->executions);
		sum->busy_ps = ts_i64_add(sum->busy_ps, mark->busy_ps);
	}
	return TS_OK;
}

#define TS_SELF struct sparsecore_mark
static TS_RECORD(mark, TS_INDEX(1, host, TS_BY_HOST, TS_BY_HAND), TS_NUMBER(2, core, TS_BY_HAND),
		 TS_NUMBER(3, id, TS_BY_HAND), TS_NUMBER(4, slot, TS_BY_HAND),
		 TS_NUMBER(5, executions, TS_BY_HAND), TS_NUMBER(6, busy_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct sparsecore_marks
static bool are_marks(const void *self)
{
	const struct sparsecore_marks *marks = self;

	return ts_keyed_is_valid(&marks->by_key, marks->nr);
}
TS_RECORD_AS(ts_sparsecore_marks_record, marks, TS_VALID_IF(are_marks),
	     TS_RECORDS_CAP(1, items, nr, cap, mark_record, TS_BY_NOTHING, TS_BY_HAND),
	     TS_MAP(2, by_key));
#undef TS_SELF

bool ts_sparsecore_is_named(const struct ts_op *op)
{
	return ts_bytes_has(op->text, "async_execution_thread=\"sparsecore\"");
}

/* When the SparseCores of a device worked on what has no mark. */
static enum ts_status sparsecore_links_work_of(const struct sparsecore_state *sum,
					       const struct ts_profile *profile, uint32_t device,
					       struct ts_spans *work, struct ts_error *err)
{
	for (size_t i = 0; i < profile->nr_planes; i++) {
		const struct sparsecore_core *core = &sum->cores[i];

		if (profile->planes[i].tensor_core == device &&
		    !ts_spans_union(work, core->has_modules ? &core->unmarked : &core->ops))
			return ts_fail_nomem(err);
	}
	return ts_spans_seal(work) ? TS_OK : ts_fail_nomem(err);
}

/* What of a slot's instances a SparseCore was busy in. */
struct covered {
	int64_t wait_ps, covered_wait_ps, work_ps, interval_ps, executions;
};

static void cover(struct covered *covered, const struct ts_spans *work,
		  const struct sparsecore_time *time, size_t *hint)
{
	size_t inside = 0;

	covered->executions++;
	covered->wait_ps = ts_i64_add(covered->wait_ps, ts_i64_sub(time->end_ps, time->done_ps));
	covered->interval_ps =
		ts_i64_add(covered->interval_ps, ts_i64_sub(time->end_ps, time->start_ps));
	covered->covered_wait_ps =
		ts_i64_add(covered->covered_wait_ps,
			   ts_spans_covered(work, time->done_ps, time->end_ps, hint));
	covered->work_ps = ts_i64_add(
		covered->work_ps, ts_spans_covered(work, time->start_ps, time->end_ps, &inside));
}

/* Fills .covered, by device and slot. */
static enum ts_status sparsecore_links_cover_all(const struct sparsecore_state *sum,
						 const struct ts_profile *profile,
						 struct covered *covered, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t at = 0; at < sum->nr_times && !st;) {
		uint32_t device = sum->times[at].device;
		struct ts_spans work = { .max = 0 };
		size_t hint = 0;

		st = sparsecore_links_work_of(sum, profile, device, &work, err);
		for (; !st && at < sum->nr_times && sum->times[at].device == device; at++)
			cover(&covered[device * sum->slots.nr + sum->times[at].slot], &work,
			      &sum->times[at], &hint);
		ts_spans_release(&work);
	}
	return st;
}

static void sparsecore_links_add_to(struct sparsecore_offload *into, int64_t executions,
				    int64_t exposed_ps, int64_t interval_ps)
{
	into->executions = ts_i64_add(into->executions, executions);
	into->exposed_ps = ts_i64_add(into->exposed_ps, exposed_ps);
	into->hidden_ps = ts_i64_add(into->hidden_ps, ts_i64_sub(interval_ps, exposed_ps));
}

/* All of what the TensorCores saw of a slot is the offload. */
static void sparsecore_links_take_seen(const struct sparsecore_state *sum, uint32_t slot,
				       size_t nr_devices, struct sparsecore_offload *offload,
				       struct sparsecore_offload *devices)
{
	for (size_t d = 0; d < nr_devices; d++) {
		const struct ts_async_seen *seen = &sum->seen[d * sum->slots.nr + slot];

		sparsecore_links_add_to(offload, seen->occurrences, seen->exposed_ps,
					seen->interval_ps);
		sparsecore_links_add_to(&devices[d], seen->occurrences, seen->exposed_ps,
					seen->interval_ps);
	}
}

static void take_covered(const struct sparsecore_state *sum, uint32_t slot, size_t nr_devices,
			 const struct covered *covered, struct sparsecore_offload *offload,
			 struct sparsecore_offload *devices)
{
	for (size_t d = 0; d < nr_devices; d++) {
		const struct covered *seen = &covered[d * sum->slots.nr + slot];

		sparsecore_links_add_to(offload, seen->executions, seen->covered_wait_ps,
					seen->interval_ps);
		sparsecore_links_add_to(&devices[d], seen->executions, seen->covered_wait_ps,
					seen->interval_ps);
	}
}

static void link_by_clock(const struct sparsecore_state *sum, const struct ts_profile *profile,
			  uint32_t slot, const struct covered *covered,
			  struct sparsecore_offload *offload, struct sparsecore_offload *devices)
{
	const struct ts_op *op = &profile->ops[sum->slots.op[slot]];
	struct covered all = { 0 };

	for (size_t d = 0; d < profile->nr_devices; d++) {
		const struct covered *seen = &covered[d * sum->slots.nr + slot];

		all.wait_ps = ts_i64_add(all.wait_ps, seen->wait_ps);
		all.covered_wait_ps = ts_i64_add(all.covered_wait_ps, seen->covered_wait_ps);
		all.work_ps = ts_i64_add(all.work_ps, seen->work_ps);
	}
	if (ts_sparsecore_is_named(op)) {
		offload->link = SPARSECORE_HLO;
		sparsecore_links_take_seen(sum, slot, profile->nr_devices, offload, devices);
	} else if (all.covered_wait_ps > 0 && all.covered_wait_ps >= all.wait_ps / 2) {
		offload->link = SPARSECORE_OVERLAP;
		take_covered(sum, slot, profile->nr_devices, covered, offload, devices);
	}
	offload->work_ps = all.work_ps > 0 ? all.work_ps : TS_UNKNOWN;
}

enum ts_status ts_sparsecore_link_all(const struct sparsecore_state *sum,
				      const struct ts_profile *profile,
				      struct sparsecore_offload *offloads,
				      struct sparsecore_offload *devices, struct ts_error *err)
{
	struct covered *covered = calloc(profile->nr_devices * sum->slots.nr + 1, sizeof(*covered));
	enum ts_status st = covered ? sparsecore_links_cover_all(sum, profile, covered, err)
				    : ts_fail_nomem(err);

	for (size_t i = 0; !st && i < sum->marks.nr; i++) {
		const struct sparsecore_mark *mark = &sum->marks.items[i];
		struct sparsecore_offload *offload;

		if (mark->slot == TS_NONE)
			continue;
		offload = &offloads[mark->slot];
		if (offload->link == SPARSECORE_NO_LINK) {
			offload->work_ps = TS_UNKNOWN;
			sparsecore_links_take_seen(sum, mark->slot, profile->nr_devices, offload,
						   devices);
		}
		offload->link = SPARSECORE_STATS;
		if (mark->executions > 0)
			offload->work_ps = ts_i64_add(TS_MAX(offload->work_ps, 0), mark->busy_ps);
	}
	for (uint32_t slot = 0; !st && slot < sum->slots.nr; slot++)
		if (offloads[slot].link == SPARSECORE_NO_LINK)
			link_by_clock(sum, profile, slot, covered, &offloads[slot], devices);
	free(covered);
	return st;
}
