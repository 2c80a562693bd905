/* SPDX-License-Identifier: MIT */
/* Machines, then processes with their rows, then the findings', then where time begins. */
#include "trace/layout.h"

#include "base/check.h"
#include "trace/counters.h"
#include "trace/findings.h"
#include "trace/story.h"
#include "trace/tracks.h"
#include "model/plane_kind.h"

#define MADE_UP_PIDS UINT32_C(1000000000) /* from there on, where there are real ones: above them */

/* Machines */

/* Hosts whose hashes are the same get numbers that follow each other. */
static uint32_t free_machine_id(const struct ts_trace_layout *layout, size_t host)
{
	uint32_t id = ts_perfetto_machine_id(&layout->profile->hosts[host]);

	for (size_t i = 0; i < host; i++) {
		if (layout->machines[i].id == id) {
			id = TS_MAX(id + 1, TS_MACHINE_MIN);
			i = SIZE_MAX; /* all of them again */
		}
	}
	return id;
}

static enum ts_status add_machines(struct ts_trace_layout *layout, struct ts_error *err)
{
	const struct ts_profile *profile = layout->profile;

	layout->machines = calloc(profile->nr_hosts + 1, sizeof(*layout->machines));
	if (!layout->machines)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_hosts; i++) {
		struct ts_perfetto_machine *machine = &layout->machines[i];

		machine->id = free_machine_id(layout, i);
		machine->name = ts_perfetto_machine_name(&profile->hosts[i], &layout->arena);
		if (!machine->name.p && profile->hosts[i].name.n > 0)
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* Rows */

static struct ts_trace_row *layout_add_row(struct ts_trace_layout *layout, struct ts_error *err)
{
	struct ts_trace_process *process = &layout->processes[layout->nr_processes - 1];
	uint32_t number = layout->next_row;
	struct ts_trace_row *row;

	if (number >= UINT32_MAX / TS_TRACE_TIDS - 1) {
		ts_fail(err, TS_LIMIT, "more than %u rows in a trace", number);
		return NULL;
	}
	if (!ts_grow(&layout->rows, &layout->cap_rows, layout->nr_rows + 1, sizeof(*row))) {
		ts_fail_nomem(err);
		return NULL;
	}
	row = &layout->rows[layout->nr_rows++];
	layout->next_row++;
	*row = (struct ts_trace_row){ .line = TS_NONE };
	row->at = (struct ts_perfetto_row){ .number = number,
					    .pid = process->pid,
					    .tid = (number + 1) * TS_TRACE_TIDS,
					    .order = process->nr_rows++,
					    .machine = process->machine };
	return row;
}

static enum ts_status layout_add_track(struct ts_trace_layout *layout, const struct ts_track *track,
				       struct ts_error *err)
{
	struct ts_trace_row *row = layout_add_row(layout, err);

	if (!row)
		return TS_NOMEM;
	row->at.track = track;
	row->at.name = ts_arena_printf(&layout->arena, "TPUsight: %s", track->name);
	return row->at.name.p ? TS_OK : ts_fail_nomem(err);
}

/* Has the host at work no number left? */
static bool is_full(const struct ts_trace_layout *layout)
{
	return layout->next_row >= layout->numbers_end ||
	       layout->next_process >= layout->numbers_end;
}

static enum ts_status layout_add_tracks(struct ts_trace_layout *layout, uint32_t device,
					struct ts_error *err)
{
	const struct ts_track *track = NULL;
	enum ts_status st = TS_OK;
	size_t place = 0;

	while (st == TS_OK && !is_full(layout) &&
	       (track = ts_trace_next_track(layout->results, device, track, &place)))
		st = layout_add_track(layout, track, err);
	return st;
}

/*
 * The line's thread, where its reader knows it. Of a host's line "main/4242" says so, and its id does;
 * other ids are made up. A GPU's streams are no threads: one with the number 0 would stand apart from the others.
 */
static int64_t layout_thread_of(const struct ts_profile *profile, const struct ts_line *line)
{
	enum ts_plane_kind kind = profile->planes[line->plane].kind;
	char end[32];

	if (kind == TS_PLANE_GPU)
		return 0;
	if (line->thread || kind != TS_PLANE_HOST)
		return line->thread;
	if (line->id <= 0 || line->id > INT32_MAX)
		return 0;
	snprintf(end, sizeof(end), "/%lld", (long long)line->id);
	return ts_bytes_ends(line->name, end) ? line->id : 0;
}

static const char *const abouts[] = {
	[TS_LINE_OTHER] = NULL,
	[TS_LINE_STEPS] = "steps, as the profiler marked them",
	[TS_LINE_MODULES] = "a slice for each execution of a module",
	[TS_LINE_OPS] = "what ran, one op after the other, inside the ops that hold it",
	[TS_LINE_ASYNC] = "asynchronous ops, each from its start to its done",
	[TS_LINE_TRACEME] = "what the core marked itself: barriers, waits",
	[TS_LINE_THREAD] = "what the profiler recorded on a thread of the host",
	[TS_LINE_DERIVED] = "made from the other lines",
	[TS_LINE_SC_STEPS] = "steps of a SparseCore",
	[TS_LINE_SC_MODULES] = "computations that a SparseCore took over",
	[TS_LINE_SC_OPS] = "ops of a SparseCore",
	[TS_LINE_SAMPLES] = "counters of the hardware over time, a slice for each sample",
	[TS_LINE_COUNTERS] = "counters of the hardware when the capture ended",
	[TS_LINE_THROTTLE] = "when the clock was held back",
};

static enum ts_status layout_add_line(struct ts_trace_layout *layout, uint32_t index,
				      struct ts_error *err)
{
	const struct ts_line *line = &layout->profile->lines[index];
	struct ts_trace_row *row = layout_add_row(layout, err);

	if (!row)
		return TS_NOMEM;
	row->line = index;
	row->at.thread = layout_thread_of(layout->profile, line);
	row->at.about = abouts[line->kind];
	if (layout->nr_gpus > 0 && layout->gpus[layout->nr_gpus - 1].pid == row->at.pid &&
	    ts_line_is_core(layout->profile, line))
		row->at.gpu = &layout->gpus[layout->nr_gpus - 1];
	row->at.name = line->name;
	if (row->at.name.n == 0)
		row->at.name = ts_arena_printf(&layout->arena, "line %lld", (long long)line->id);
	return row->at.name.p ? TS_OK : ts_fail_nomem(err);
}

/* Counters of the profile itself. */
static enum ts_status add_counters(struct ts_trace_layout *layout, uint32_t index,
				   struct ts_error *err)
{
	const struct ts_track *tracks;
	size_t nr;
	enum ts_status st =
		ts_trace_counters(layout->profile, index, &layout->arena, &tracks, &nr, err);

	for (size_t i = 0; i < nr && st == TS_OK && !is_full(layout); i++) {
		struct ts_trace_row *row = layout_add_row(layout, err);

		if (!row)
			return TS_NOMEM;
		row->at.track = &tracks[i];
		row->at.is_native = true;
		row->at.name = ts_bytes_of(tracks[i].name);
	}
	return st;
}

static enum ts_status layout_add_lines(struct ts_trace_layout *layout, const struct ts_plane *plane,
				       struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < plane->nr_lines && st == TS_OK && !is_full(layout); i++) {
		uint32_t line = plane->first_line + i;
		const struct ts_trace_tally *tally = layout->plan->tallies[line];

		if (ts_trace_has_points(layout->plan, &layout->profile->lines[line]))
			st = add_counters(layout, line, err);
		else if (tally && tally->nr_events > 0)
			st = layout_add_line(layout, line, err);
	}
	return st;
}

/* Processes */

/* "HOST /device:TPU:0 (predicted for v5e:2x4)": the host where it is needed, the rest where nothing was measured. */
static enum ts_status name_process(struct ts_trace_layout *layout, struct ts_trace_process *process,
				   struct ts_error *err)
{
	const struct ts_plane *plane = &layout->profile->planes[process->plane];
	struct ts_bytes host = layout->profile->hosts[plane->host].name;
	bool has_host = layout->profile->nr_hosts > 1 && !layout->form->names_machines;
	/* the topology for which the times were predicted; empty: they were measured */
	struct ts_bytes slice = plane->device == TS_NONE
					? (struct ts_bytes){ NULL, 0 }
					: layout->profile->devices[plane->device].predicted;

	process->name = plane->name;
	if (!has_host && slice.n == 0)
		return TS_OK;
	process->name = ts_arena_printf(&layout->arena, "%.*s%s%.*s%s%.*s%s",
					TS_ARG(has_host ? host : TS_LIT("")), has_host ? " " : "",
					TS_ARG(plane->name), slice.n > 0 ? TS_PREDICTED_FOR : "",
					TS_ARG(slice), slice.n > 0 ? ")" : "");
	return process->name.p ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status name_gpu(struct ts_trace_layout *layout, const struct ts_device *device,
			       struct ts_perfetto_gpu *gpu, struct ts_error *err)
{
	gpu->vendor = device->vendor;
	gpu->model = device->kind;
	if (device->kind.n == 0)
		return TS_OK;
	gpu->name =
		ts_arena_printf(&layout->arena, "%.*s #%u", TS_ARG(device->kind), device->ordinal);
	return gpu->name.p ? TS_OK : ts_fail_nomem(err);
}

/* The process at work is a GPU's. */
static enum ts_status add_gpu(struct ts_trace_layout *layout, const struct ts_plane *plane,
			      struct ts_error *err)
{
	const struct ts_trace_process *process = &layout->processes[layout->nr_processes - 1];
	struct ts_perfetto_gpu *gpu = &layout->gpus[layout->nr_gpus];

	*gpu = (struct ts_perfetto_gpu){ .pid = process->pid,
					 .machine = process->machine,
					 .name = process->name };
	for (size_t i = 0; i < layout->nr_gpus; i++)
		gpu->number += layout->gpus[i].machine == gpu->machine;
	layout->nr_gpus++;
	return name_gpu(layout, &layout->profile->devices[plane->device], gpu, err);
}

/* For the process that comes next. */
static uint32_t made_up_pid(const struct ts_trace_layout *layout)
{
	return layout->next_process + (layout->plan->host == TS_NONE ? 1 : MADE_UP_PIDS);
}

/* The process's own, in a file of one host, where it has one and none before it has the same. */
static uint32_t pid_of(const struct ts_trace_layout *layout, const struct ts_plane *plane)
{
	if (layout->plan->host == TS_NONE || plane->pid <= 0 || plane->pid >= MADE_UP_PIDS)
		return made_up_pid(layout);
	for (uint32_t i = 0; i < layout->nr_processes; i++)
		if (layout->processes[i].pid == (uint32_t)plane->pid)
			return made_up_pid(layout);
	return (uint32_t)plane->pid;
}

/* A plane without slices and counters does not become a process. */
static enum ts_status layout_add_process(struct ts_trace_layout *layout, uint32_t index,
					 struct ts_error *err)
{
	const struct ts_plane *plane = &layout->profile->planes[index];
	uint32_t pid = pid_of(layout, plane);
	struct ts_trace_process *process;
	enum ts_status st;

	if (!ts_grow(&layout->processes, &layout->cap_processes, layout->nr_processes + 1,
		     sizeof(*process)))
		return ts_fail_nomem(err);
	process = &layout->processes[layout->nr_processes++];
	*process = (struct ts_trace_process){ .plane = index,
					      .first_row = (uint32_t)layout->nr_rows,
					      .pid = pid,
					      .order = ++layout->next_process,
					      .machine = layout->machines[plane->host].id };
	st = name_process(layout, process, err);
	if (st == TS_OK && plane->kind == TS_PLANE_GPU && plane->device != TS_NONE &&
	    !layout->profile->devices[plane->device].is_cpu)
		st = add_gpu(layout, plane, err);
	if (st == TS_OK && layout->results && plane->device != TS_NONE)
		st = layout_add_tracks(layout, plane->device, err);
	if (st == TS_OK)
		st = layout_add_lines(layout, plane, err);
	if (process->nr_rows == 0) {
		layout->nr_gpus -= layout->nr_gpus > 0 &&
				   layout->gpus[layout->nr_gpus - 1].pid == process->pid;
		layout->nr_processes--;
		layout->next_process--;
	}
	return st;
}

enum place { DEVICES, OTHERS, HOSTS, NR_PLACES };

static enum place layout_place_of(enum ts_plane_kind kind)
{
	if (kind == TS_PLANE_TPU || kind == TS_PLANE_SPARSECORE || kind == TS_PLANE_GPU)
		return DEVICES;
	return kind == TS_PLANE_HOST ? HOSTS : OTHERS;
}

/* Users of GPUs look for the CPU above its streams, as in other viewers; those of TPUs for the cores. */
static const enum place *layout_places_of(const struct ts_profile *profile, uint32_t host)
{
	static const enum place tpu[] = { DEVICES, OTHERS, HOSTS },
				gpu[] = { HOSTS, DEVICES, OTHERS };
	bool has_gpu = false;

	for (size_t i = 0; i < profile->nr_devices; i++) {
		if (profile->planes[profile->devices[i].plane].host != host)
			continue;
		if (!profile->devices[i].is_gpu)
			return tpu;
		has_gpu = true;
	}
	return has_gpu ? gpu : tpu;
}

static bool layout_is_shown(const struct ts_plane *plane)
{
	return plane->kind != TS_PLANE_OURS && plane->kind != TS_PLANE_METADATA &&
	       plane->kind != TS_PLANE_TASK;
}

static void begin_part(struct ts_trace_layout *layout, size_t part)
{
	layout->parts[part].first_process = (uint32_t)layout->nr_processes;
	layout->parts[part].first_row = (uint32_t)layout->nr_rows;
}

static void end_part(struct ts_trace_layout *layout, size_t index)
{
	struct ts_trace_part *part = &layout->parts[index];

	part->nr_processes = (uint32_t)layout->nr_processes - part->first_process;
	part->nr_rows = (uint32_t)layout->nr_rows - part->first_row;
}

static enum ts_status layout_add_host(struct ts_trace_layout *layout, uint32_t host,
				      struct ts_error *err)
{
	const struct ts_profile *profile = layout->profile;
	const enum place *places = layout_places_of(profile, host);
	enum ts_status st = TS_OK;

	begin_part(layout, host);
	for (unsigned at = 0; at < NR_PLACES; at++) {
		for (uint32_t i = 0; i < profile->nr_planes && st == TS_OK; i++) {
			const struct ts_plane *plane = &profile->planes[i];

			if (plane->host == host && layout_is_shown(plane) && !is_full(layout) &&
			    layout_place_of(plane->kind) == places[at])
				st = layout_add_process(layout, i, err);
		}
	}
	end_part(layout, host);
	return st;
}

/* The numbers of the host that comes next; of what is the run's, after the last host. */
static enum ts_status begin_numbers(struct ts_trace_layout *layout, size_t host,
				    struct ts_error *err)
{
	if (host >= UINT32_MAX / TS_TRACE_TIDS / TS_TRACE_HOST_NUMBERS)
		return ts_fail(err, TS_LIMIT, "more than %zu hosts in a trace", host);
	layout->next_row = layout->next_process = (uint32_t)host * TS_TRACE_HOST_NUMBERS;
	layout->numbers_end = layout->next_row + TS_TRACE_HOST_NUMBERS - 1;
	return TS_OK;
}

static enum ts_status layout_add_hosts(struct ts_trace_layout *layout, struct ts_error *err)
{
	size_t nr = layout->profile->nr_hosts;
	enum ts_status st = TS_OK;

	layout->gpus = calloc(layout->profile->nr_planes + 1, sizeof(*layout->gpus));
	layout->parts = calloc(nr + 1, sizeof(*layout->parts));
	if (!layout->gpus || !layout->parts)
		return ts_fail_nomem(err);
	layout->numbers_end = UINT32_MAX;
	if (layout->plan->host != TS_NONE)
		return layout_add_host(layout, layout->plan->host, err);
	for (uint32_t i = 0; i < nr && st == TS_OK; i++) {
		if (nr > 1)
			st = begin_numbers(layout, i, err);
		if (st == TS_OK && (!layout->is_part || i == layout->host))
			st = layout_add_host(layout, i, err);
	}
	return st == TS_OK && nr > 1 ? begin_numbers(layout, nr, err) : st;
}

static enum ts_status layout_find_story(struct ts_trace_layout *layout, struct ts_error *err)
{
	if (layout->story)
		return TS_OK;
	return ts_trace_story(layout->results, layout->profile, layout->plan->host, &layout->arena,
			      &layout->story, &layout->nr_story, err);
}

/* Last, so that other pids and tids do not depend on there being findings. */
static enum ts_status layout_add_run(struct ts_trace_layout *layout, struct ts_error *err)
{
	struct ts_trace_extent extent = { layout->plan->first_ps, layout->plan->last_ps };
	const struct ts_track *tracks;
	uint32_t pid = made_up_pid(layout);
	enum ts_status st;
	size_t nr;

	begin_part(layout, layout->profile->nr_hosts);
	if (layout->is_part)
		return TS_OK;
	st = ts_trace_findings(layout->results, extent, &layout->arena, &tracks, &nr, err);
	if (st == TS_OK)
		st = layout_find_story(layout, err);
	if (st)
		return st;
	if (!ts_grow(&layout->processes, &layout->cap_processes, layout->nr_processes + 1,
		     sizeof(*layout->processes)))
		return ts_fail_nomem(err);
	if (nr + layout->nr_story > 0)
		layout->processes[layout->nr_processes++] =
			(struct ts_trace_process){ .plane = TS_NONE,
						   .first_row = (uint32_t)layout->nr_rows,
						   .pid = pid,
						   .machine = ts_trace_first_machine(layout)->id,
						   .name = ts_bytes_of(TS_TRACE_RUN) };
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = layout_add_track(layout, &tracks[i], err);
	for (size_t i = 0; i < layout->nr_story && st == TS_OK; i++)
		st = layout_add_track(layout, &layout->story[i], err);
	end_part(layout, layout->profile->nr_hosts);
	return st;
}

int64_t ts_trace_shift_ns(int64_t first_ps)
{
	return -ts_trace_ns(TS_MIN(first_ps, 0));
}

/* Importers drop what is before time 0: where something is, all moves. */
static void choose_shift(struct ts_trace_layout *layout)
{
	int64_t first_ps = TS_MIN(layout->plan->first_ps, 0);

	for (size_t i = 0; i < layout->nr_rows; i++) {
		const struct ts_track *track = layout->rows[i].at.track;

		/* what is told of the run begins with the trace at the earliest (row.c) */
		if (track && track->nr_slices > 0 && track->device != TS_NONE)
			first_ps = TS_MIN(first_ps, track->slices[0].start_ps);
		if (track && track->nr_points > 0)
			first_ps = TS_MIN(first_ps, track->points[0].at_ps);
	}
	layout->shift_ns = ts_trace_shift_ns(first_ps);
}

enum ts_status ts_trace_layout_make(struct ts_trace_layout *layout, struct ts_error *err)
{
	enum ts_status st = add_machines(layout, err);

	TS_ASSERT(layout->profile && layout->plan && layout->form);
	if (st == TS_OK)
		st = layout_add_hosts(layout, err);
	if (st == TS_OK)
		st = layout_add_run(layout, err);
	choose_shift(layout);
	return st;
}

void ts_trace_layout_release(struct ts_trace_layout *layout)
{
	TS_ASSERT(layout);
	ts_arena_release(&layout->arena);
	free(layout->machines);
	free(layout->processes);
	free(layout->rows);
	free(layout->parts);
	free(layout->gpus);
}
