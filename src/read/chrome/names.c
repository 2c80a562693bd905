/* SPDX-License-Identifier: MIT */
/* Tables of what the events name: interned by their bytes, copied into the profile's arena once. */
#include "model/trace_class.h"

#include "base/check.h"
#include "read/chrome/chrome.h"

struct category_row {
	const char *name;
	struct chrome_category as;
};

/*
 * libkineto/include/ActivityType.h, the categories that have no class of their own. Kineto calls hpu_op the HPU's
 * runtime, and PyTorch takes it for the device (torch/csrc/profiler/kineto_shim.cpp): the process decides.
 */
static const struct category_row rows[] = {
	{ "gpu_user_annotation", { .side = CHROME_DEVICE, .class = CHROME_ANNOTATION } },
	{ "", { .linked = true, .seen = CHROME_SEEN_OPEN } }, /* JAX's have none */
	{ "user_annotation", { .seen = CHROME_SEEN_HOST } },
	{ "python_function", { .seen = CHROME_SEEN_HOST } },
	{ "cpu_instant_event", { .seen = CHROME_SEEN_HOST } },
	{ "overhead", { .side = CHROME_HOST } },
	{ "tpusight", { .side = CHROME_HOST } }, /* an earlier annotation's: no work of a device */
	{ "external_correlation", { .side = CHROME_HOST } },
	{ "mtia_ccp_events",
	  { .side = CHROME_DEVICE,
	    .kernel = true,
	    .keeps = true,
	    .linked = true,
	    .device = "MTIA" } },
	{ "mtia_insight",
	  { .side = CHROME_DEVICE, .class = CHROME_OTHER, .is_unread = true, .device = "MTIA" } },
	{ "mtia_counters",
	  { .side = CHROME_DEVICE, .class = CHROME_OTHER, .is_unread = true, .device = "MTIA" } },
	{ "hpu_op", { .keeps = true, .linked = true, .seen = CHROME_SEEN_OPEN, .device = "HPU" } },
	/* CUPTI's and XPUPTI's counters by kernel: where a range lies is made up, all are equally long */
	{ "cuda_profiler_range",
	  { .side = CHROME_DEVICE, .class = CHROME_OTHER, .is_unread = true } },
	{ "xpu_scope_profiler",
	  { .side = CHROME_DEVICE, .class = CHROME_OTHER, .is_unread = true, .device = "XPU" } },
	{ "cuda_event", { .side = CHROME_DEVICE, .class = CHROME_OTHER } },
	{ "xpu_sync", { .side = CHROME_DEVICE, .class = CHROME_OTHER, .device = "XPU" } },
	{ "cuda_sync",
	  { .side = CHROME_DEVICE,
	    .class = CHROME_OTHER,
	    .keeps = true,
	    .varies = true,
	    .linked = true } },
	{ "Trace", { .class = CHROME_OTHER } },
};

static struct chrome_category chrome_names_category_of(struct ts_bytes name)
{
	static const struct chrome_category kernel = {
		.side = CHROME_DEVICE, .kernel = true, .keeps = true, .linked = true
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (ts_bytes_is(name, rows[i].name))
			return rows[i].as;
	switch (ts_trace_class_of_category(ts_opcode_of(name))) {
	case TS_TRACE_KERNEL:
	case TS_TRACE_MEMCPY:
	case TS_TRACE_MEMSET: return kernel;
	case TS_TRACE_RUNTIME:
		return (struct chrome_category){ .linked = true, .seen = CHROME_SEEN_RUNTIME };
	case TS_TRACE_CPU_EXEC:
		return (struct chrome_category){ .keeps = true, .seen = CHROME_SEEN_HOST };
	default: return (struct chrome_category){ .linked = true, .seen = CHROME_SEEN_OPEN };
	}
}

static uint32_t add_category(struct chrome_names *names, struct ts_bytes name)
{
	struct chrome_category category = chrome_names_category_of(name);
	uint32_t at = (uint32_t)names->nr_categories;

	category.name = ts_arena_copy(names->arena, name);
	if (!category.name.p ||
	    !ts_grow(&names->categories, &names->cap_categories, (size_t)at + 1,
		     sizeof(category)) ||
	    !ts_strmap_set(&names->category_ids, category.name, at))
		return TS_NONE;
	names->categories[names->nr_categories++] = category;
	return at;
}

uint32_t ts_chrome_category_of(struct chrome_names *names, struct ts_bytes name)
{
	uint32_t at = names->last_category;

	TS_ASSERT_HOT(names);
	TS_ASSERT_HOT(name.p || name.n == 0);
	name.n = TS_MIN(name.n, TS_LIMIT_NAME);
	if (at < names->nr_categories && ts_bytes_eq(names->categories[at].name, name))
		return at;
	at = ts_strmap_find(&names->category_ids, name);
	if (at == TS_NONE)
		at = add_category(names, name);
	names->last_category = at;
	return at;
}

static uint32_t chrome_names_add_process(struct chrome_names *names, struct ts_bytes pid)
{
	struct chrome_process process = { .pid = ts_arena_copy(names->arena, pid) };
	uint32_t at = (uint32_t)names->nr_processes;

	if (!process.pid.p ||
	    !ts_grow(&names->processes, &names->cap_processes, (size_t)at + 1, sizeof(process)) ||
	    !ts_strmap_set(&names->process_ids, process.pid, at))
		return TS_NONE;
	names->processes[names->nr_processes++] = process;
	return at;
}

uint32_t ts_chrome_process_of(struct chrome_names *names, struct ts_bytes pid)
{
	uint32_t at = names->last_process;

	TS_ASSERT_HOT(names);
	TS_ASSERT_HOT(pid.p || pid.n == 0);
	pid.n = TS_MIN(pid.n, TS_LIMIT_NAME);
	if (at < names->nr_processes && ts_bytes_eq(names->processes[at].pid, pid))
		return at;
	at = ts_strmap_find(&names->process_ids, pid);
	if (at == TS_NONE)
		at = chrome_names_add_process(names, pid);
	names->last_process = at;
	return at;
}

static bool chrome_names_is_track(const struct chrome_track *track,
				  const struct chrome_track *wanted)
{
	return track->process == wanted->process && track->side == wanted->side &&
	       track->class == wanted->class && ts_bytes_eq(track->tid, wanted->tid);
}

static uint32_t chrome_names_add_track(struct chrome_names *names, struct chrome_track wanted,
				       uint64_t key)
{
	uint32_t at = (uint32_t)names->nr_tracks;

	wanted.tid = ts_arena_copy(names->arena, wanted.tid);
	if (!wanted.tid.p ||
	    !ts_grow(&names->tracks, &names->cap_tracks, (size_t)at + 1, sizeof(wanted)) ||
	    !ts_map_set(&names->track_ids, key, at))
		return TS_NONE;
	names->tracks[names->nr_tracks++] = wanted;
	return at;
}

uint32_t ts_chrome_track_of(struct chrome_names *names, uint32_t process, struct ts_bytes tid,
			    uint8_t side, uint8_t class)
{
	struct chrome_track wanted = { .process = process,
				       .category = TS_NONE,
				       .tid = tid,
				       .side = side,
				       .class = class,
				       .device = TS_UNKNOWN };
	uint32_t at = names->last_track;
	uint64_t key;

	TS_ASSERT_HOT(names);
	TS_ASSERT_HOT(tid.p || tid.n == 0);
	if (at < names->nr_tracks && chrome_names_is_track(&names->tracks[at], &wanted))
		return at;
	key = ts_hash(tid, names->seed + process * UINT64_C(64) + side * 8U + class);
	while ((at = ts_map_find(&names->track_ids, key)) != TS_NONE &&
	       !chrome_names_is_track(&names->tracks[at], &wanted))
		key++; /* another one has the same hash */
	if (at == TS_NONE)
		at = names->nr_tracks < TS_LIMIT_TRACE_TRACKS && process < TS_LIMIT_PLANES
			     ? chrome_names_add_track(names, wanted, key)
			     : TS_LIMIT_TRACE_TRACKS;
	names->last_track = at;
	return at;
}

static uint32_t chrome_names_add_op(struct chrome_names *names, struct chrome_op op, uint64_t key)
{
	uint32_t at = (uint32_t)names->nr_ops;

	op.raw = ts_arena_copy(names->arena, op.raw);
	if (op.track != TS_NONE && op.args.n > 0) {
		op.args = ts_arena_copy(names->arena, op.args);
		if (!op.args.p)
			return TS_NONE;
	} else {
		op.args = (struct ts_bytes){ NULL, 0 };
	}
	if (!op.raw.p || at >= TS_NONE - 1 ||
	    !ts_grow(&names->ops, &names->cap_ops, (size_t)at + 1, sizeof(op)) ||
	    !ts_map_set(&names->op_ids, key, at))
		return TS_NONE;
	names->ops[names->nr_ops++] = op;
	return at;
}

uint32_t ts_chrome_op_of(struct chrome_names *names, uint32_t category, uint32_t track,
			 struct ts_bytes raw, struct ts_bytes args)
{
	struct chrome_op op = { raw, args, category, track, TS_NONE, TS_NO_NUMBER };
	uint64_t key = ts_hash(raw, names->seed + category * UINT64_C(131) + track);
	uint32_t at;

	TS_ASSERT_HOT(names);
	TS_ASSERT_HOT(raw.p || raw.n == 0);
	TS_ASSERT_HOT(args.p || args.n == 0);
	while ((at = ts_map_find(&names->op_ids, key)) != TS_NONE) {
		const struct chrome_op *known = &names->ops[at];

		if (known->category == category && known->track == track &&
		    ts_bytes_eq(known->raw, raw))
			return at;
		key++;
	}
	return chrome_names_add_op(names, op, key);
}

void ts_chrome_names_release(struct chrome_names *names)
{
	TS_ASSERT(names);
	for (size_t i = 0; i < names->nr_tracks; i++)
		free(names->tracks[i].open);
	free(names->categories);
	free(names->processes);
	free(names->tracks);
	free(names->ops);
	ts_strmap_release(&names->category_ids);
	ts_strmap_release(&names->process_ids);
	ts_map_release(&names->track_ids);
	ts_map_release(&names->op_ids);
	memset(names, 0, sizeof(*names));
}
