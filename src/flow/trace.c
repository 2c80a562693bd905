/* Processes and rows in order, then rows -> pieces -> members -> file. */
#include "flow/trace.h"

#include "base/check.h"
#include "flow/trace_counters.h"
#include "flow/trace_facts.h"
#include "flow/trace_findings.h"
#include "flow/trace_links.h"
#include "flow/trace_tracks.h"
#include "io/gzip.h"

#include <inttypes.h>
#define MADE_UP_PIDS UINT32_C(1000000000) /* from there on, where there are real ones: above them */

struct process {
	uint32_t plane, first_row, nr_rows, pid, machine;
	uint32_t order; /* of display: the findings' is above all others */
	struct ts_bytes name;
};

struct job { /* what a row's thread needs and says */
	struct ts_trace_counts counts;
};

struct trace {
	const struct ts_profile *profile;
	const struct ts_results *results;
	const struct ts_trace_plan *plan;
	const struct ts_perfetto_form *form;
	struct ts_arena arena;		      /* names */
	struct ts_perfetto_machine *machines; /* one a host */
	struct process *processes;
	struct ts_trace_row *rows;
	struct job *jobs;
	struct ts_trace_writer **writers; /* one a thread */
	uint32_t *order;		  /* of beginning: large rows first */
	struct ts_trace_links links;
	struct ts_perfetto_gpu *gpus;
	size_t nr_gpus;
	size_t nr_processes, cap_processes, nr_rows, cap_rows, nr_threads;
	int64_t shift_ns;
};

static void release(struct trace *trace)
{
	for (size_t i = 0; trace->writers && i < trace->nr_threads; i++)
		ts_trace_writer_free(trace->writers[i]);
	ts_trace_links_release(&trace->links);
	ts_arena_release(&trace->arena);
	free(trace->machines);
	free(trace->processes);
	free(trace->rows);
	free(trace->jobs);
	free(trace->writers);
	free(trace->order);
	free(trace->gpus);
}

/* Machines */

/* Hosts whose hashes are the same get numbers that follow each other. */
static uint32_t free_machine_id(const struct trace *trace, size_t host)
{
	uint32_t id = ts_perfetto_machine_id(&trace->profile->hosts[host]);

	for (size_t i = 0; i < host; i++) {
		if (trace->machines[i].id == id) {
			id = TS_MAX(id + 1, TS_MACHINE_MIN);
			i = SIZE_MAX; /* all of them again */
		}
	}
	return id;
}

static enum ts_status add_machines(struct trace *trace, struct ts_error *err)
{
	const struct ts_profile *profile = trace->profile;

	trace->machines = calloc(profile->nr_hosts + 1, sizeof(*trace->machines));
	if (!trace->machines)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_hosts; i++) {
		struct ts_perfetto_machine *machine = &trace->machines[i];

		machine->id = free_machine_id(trace, i);
		machine->name = ts_perfetto_machine_name(&profile->hosts[i], &trace->arena);
		if (!machine->name.p && profile->hosts[i].name.n > 0)
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* Rows */

static struct ts_trace_row *add_row(struct trace *trace, uint64_t weight, struct ts_error *err)
{
	struct process *process = &trace->processes[trace->nr_processes - 1];
	uint32_t number = (uint32_t)trace->nr_rows;
	struct ts_trace_row *row;

	if (trace->nr_rows >= UINT32_MAX / TS_TRACE_TIDS - 1) {
		ts_fail(err, TS_LIMIT, "more than %zu rows in a trace", trace->nr_rows);
		return NULL;
	}
	if (!ts_grow(&trace->rows, &trace->cap_rows, trace->nr_rows + 1, sizeof(*row))) {
		ts_fail_nomem(err);
		return NULL;
	}
	row = &trace->rows[trace->nr_rows++];
	*row = (struct ts_trace_row){ .line = TS_NONE, .weight = weight };
	row->at = (struct ts_perfetto_row){ .number = number,
					    .pid = process->pid,
					    .tid = (number + 1) * TS_TRACE_TIDS,
					    .order = process->nr_rows++,
					    .machine = process->machine };
	return row;
}

static enum ts_status add_track(struct trace *trace, const struct ts_track *track,
				struct ts_error *err)
{
	struct ts_trace_row *row = add_row(trace, track->nr_slices + track->nr_points, err);

	if (!row)
		return TS_NOMEM;
	row->at.track = track;
	row->at.name = ts_arena_printf(&trace->arena, "TPUsight: %s", track->name);
	return row->at.name.p ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status add_tracks(struct trace *trace, uint32_t device, struct ts_error *err)
{
	const struct ts_track *track = NULL;
	enum ts_status st = TS_OK;
	size_t place = 0;

	while (st == TS_OK && (track = ts_trace_next_track(trace->results, device, track, &place)))
		st = add_track(trace, track, err);
	return st;
}

static bool has_events(const struct trace *trace, uint32_t line)
{
	const struct ts_trace_tally *tally = trace->plan->tallies[line];

	return tally && tally->nr_events > 0;
}

/* The line's thread, where its reader knows it. Of a host's line "main/4242" says so, and its id does;
 * other ids are made up. */
static int64_t thread_of(const struct ts_profile *profile, const struct ts_line *line)
{
	char end[32];

	if (line->thread || profile->planes[line->plane].kind != TS_PLANE_HOST)
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
};

static enum ts_status add_line(struct trace *trace, uint32_t index, struct ts_error *err)
{
	const struct ts_line *line = &trace->profile->lines[index];
	struct ts_trace_row *row = add_row(trace, trace->plan->tallies[index]->nr_events, err);

	if (!row)
		return TS_NOMEM;
	row->line = index;
	row->at.thread = thread_of(trace->profile, line);
	row->at.about = abouts[line->kind];
	if (trace->nr_gpus > 0 && trace->gpus[trace->nr_gpus - 1].pid == row->at.pid &&
	    ts_line_is_core(trace->profile, line))
		row->at.gpu = &trace->gpus[trace->nr_gpus - 1];
	row->at.name = line->name;
	if (row->at.name.n == 0)
		row->at.name = ts_arena_printf(&trace->arena, "line %lld", (long long)line->id);
	return row->at.name.p ? TS_OK : ts_fail_nomem(err);
}

/* Counters of the profile itself. */
static enum ts_status add_counters(struct trace *trace, uint32_t index, struct ts_error *err)
{
	const struct ts_track *tracks;
	size_t nr;
	enum ts_status st =
		ts_trace_counters(trace->profile, index, &trace->arena, &tracks, &nr, err);

	for (size_t i = 0; i < nr && st == TS_OK; i++) {
		struct ts_trace_row *row = add_row(trace, tracks[i].nr_points, err);

		if (!row)
			return TS_NOMEM;
		row->at.track = &tracks[i];
		row->at.is_native = true;
		row->at.name = ts_bytes_of(tracks[i].name);
	}
	return st;
}

static enum ts_status add_lines(struct trace *trace, const struct ts_plane *plane,
				struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < plane->nr_lines && st == TS_OK; i++) {
		uint32_t line = plane->first_line + i;

		if (trace->plan->slices_alone && trace->profile->lines[line].has_points)
			st = add_counters(trace, line, err);
		else if (has_events(trace, line))
			st = add_line(trace, line, err);
	}
	return st;
}

/* Processes */

static enum ts_status name_process(struct trace *trace, struct process *process,
				   struct ts_error *err)
{
	const struct ts_plane *plane = &trace->profile->planes[process->plane];
	struct ts_bytes host = trace->profile->hosts[plane->host].name;

	process->name = plane->name;
	if (trace->profile->nr_hosts < 2 || trace->form->names_machines)
		return TS_OK;
	process->name =
		ts_arena_printf(&trace->arena, "%.*s %.*s", TS_ARG(host), TS_ARG(plane->name));
	return process->name.p ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status name_gpu(struct trace *trace, const struct ts_device *device,
			       struct ts_perfetto_gpu *gpu, struct ts_error *err)
{
	gpu->vendor = device->vendor;
	gpu->model = device->kind;
	if (device->kind.n == 0)
		return TS_OK;
	gpu->name =
		ts_arena_printf(&trace->arena, "%.*s #%u", TS_ARG(device->kind), device->ordinal);
	return gpu->name.p ? TS_OK : ts_fail_nomem(err);
}

/* The process at work is a GPU's. */
static enum ts_status add_gpu(struct trace *trace, const struct ts_plane *plane,
			      struct ts_error *err)
{
	const struct process *process = &trace->processes[trace->nr_processes - 1];
	struct ts_perfetto_gpu *gpu = &trace->gpus[trace->nr_gpus];

	*gpu = (struct ts_perfetto_gpu){ .pid = process->pid,
					 .machine = process->machine,
					 .name = process->name };
	for (size_t i = 0; i < trace->nr_gpus; i++)
		gpu->number += trace->gpus[i].machine == gpu->machine;
	trace->nr_gpus++;
	return name_gpu(trace, &trace->profile->devices[plane->device], gpu, err);
}

/* For the process that comes next. */
static uint32_t made_up_pid(const struct trace *trace)
{
	return (uint32_t)trace->nr_processes + (trace->plan->host == TS_NONE ? 1 : MADE_UP_PIDS);
}

/* The process's own, in a file of one host, where it has one and none before it has the same. */
static uint32_t pid_of(const struct trace *trace, const struct ts_plane *plane)
{
	if (trace->plan->host == TS_NONE || plane->pid <= 0 || plane->pid >= MADE_UP_PIDS)
		return made_up_pid(trace);
	for (uint32_t i = 0; i < trace->nr_processes; i++)
		if (trace->processes[i].pid == (uint32_t)plane->pid)
			return made_up_pid(trace);
	return (uint32_t)plane->pid;
}

/* A plane without slices and counters does not become a process. */
static enum ts_status add_process(struct trace *trace, uint32_t index, struct ts_error *err)
{
	const struct ts_plane *plane = &trace->profile->planes[index];
	uint32_t pid = pid_of(trace, plane);
	struct process *process;
	enum ts_status st;

	if (!ts_grow(&trace->processes, &trace->cap_processes, trace->nr_processes + 1,
		     sizeof(*process)))
		return ts_fail_nomem(err);
	process = &trace->processes[trace->nr_processes++];
	*process = (struct process){ .plane = index,
				     .first_row = (uint32_t)trace->nr_rows,
				     .pid = pid,
				     .order = (uint32_t)trace->nr_processes,
				     .machine = trace->machines[plane->host].id };
	st = name_process(trace, process, err);
	if (st == TS_OK && plane->kind == TS_PLANE_GPU && plane->device != TS_NONE)
		st = add_gpu(trace, plane, err);
	if (st == TS_OK && trace->results && plane->device != TS_NONE)
		st = add_tracks(trace, plane->device, err);
	if (st == TS_OK)
		st = add_lines(trace, plane, err);
	if (process->nr_rows == 0) {
		trace->nr_gpus -=
			trace->nr_gpus > 0 && trace->gpus[trace->nr_gpus - 1].pid == process->pid;
		trace->nr_processes--;
	}
	return st;
}

enum place { DEVICES, OTHERS, HOSTS, NR_PLACES };

static enum place place_of(enum ts_plane_kind kind)
{
	if (kind == TS_PLANE_TPU || kind == TS_PLANE_SPARSECORE || kind == TS_PLANE_GPU)
		return DEVICES;
	return kind == TS_PLANE_HOST ? HOSTS : OTHERS;
}

/* Users of GPUs look for the CPU above its streams, as in other viewers; those of TPUs for the cores. */
static const enum place *places_of(const struct ts_profile *profile)
{
	static const enum place tpu[] = { DEVICES, OTHERS, HOSTS },
				gpu[] = { HOSTS, DEVICES, OTHERS };
	bool has_gpu = false;

	for (size_t i = 0; i < profile->nr_devices; i++) {
		if (!profile->devices[i].is_gpu)
			return tpu;
		has_gpu = true;
	}
	return has_gpu ? gpu : tpu;
}

static bool is_shown(const struct trace *trace, const struct ts_plane *plane)
{
	enum ts_plane_kind kind = plane->kind;

	if (trace->plan->host != TS_NONE && plane->host != trace->plan->host)
		return false;
	return kind != TS_PLANE_OURS && kind != TS_PLANE_METADATA && kind != TS_PLANE_TASK;
}

static enum ts_status add_processes(struct trace *trace, struct ts_error *err)
{
	const struct ts_profile *profile = trace->profile;
	const enum place *places = places_of(profile);
	enum ts_status st = TS_OK;

	trace->gpus = calloc(profile->nr_planes + 1, sizeof(*trace->gpus));
	if (!trace->gpus)
		return ts_fail_nomem(err);
	for (unsigned at = 0; at < NR_PLACES; at++) {
		for (uint32_t i = 0; i < profile->nr_planes && st == TS_OK; i++) {
			const struct ts_plane *plane = &profile->planes[i];

			if (is_shown(trace, plane) && place_of(plane->kind) == places[at])
				st = add_process(trace, i, err);
		}
	}
	return st;
}

/* Of a file of one host the only one. */
static const struct ts_perfetto_machine *first_machine(const struct trace *trace)
{
	return &trace->machines[trace->plan->host == TS_NONE ? 0 : trace->plan->host];
}

/* Last, so that other pids and tids do not depend on there being findings. */
static enum ts_status add_findings(struct trace *trace, struct ts_error *err)
{
	struct ts_trace_extent extent = { trace->plan->first_ps, trace->plan->last_ps };
	size_t nr;
	const struct ts_track *tracks =
		ts_trace_findings(trace->results, extent, &trace->arena, &nr);
	uint32_t pid = made_up_pid(trace);
	enum ts_status st = TS_OK;

	if (!tracks || !ts_grow(&trace->processes, &trace->cap_processes, trace->nr_processes + 1,
				sizeof(*trace->processes)))
		return ts_fail_nomem(err);
	if (nr > 0)
		trace->processes[trace->nr_processes++] =
			(struct process){ .plane = TS_NONE,
					  .first_row = (uint32_t)trace->nr_rows,
					  .pid = pid,
					  .machine = first_machine(trace)->id,
					  .name = ts_bytes_of(TS_TRACE_FINDINGS) };
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = add_track(trace, &tracks[i], err);
	return st;
}

/* Importers drop what is before time 0: where something is, all moves. */
static void choose_shift(struct trace *trace)
{
	int64_t first_ps = TS_MIN(trace->plan->first_ps, 0);

	for (size_t i = 0; i < trace->nr_rows; i++) {
		const struct ts_track *track = trace->rows[i].at.track;

		if (track && track->nr_slices > 0)
			first_ps = TS_MIN(first_ps, track->slices[0].start_ps);
		if (track && track->nr_points > 0)
			first_ps = TS_MIN(first_ps, track->points[0].at_ps);
	}
	trace->shift_ns = -ts_trace_ns(first_ps);
}

struct weighted {
	uint64_t weight;
	uint32_t row;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static enum ts_status order_rows(struct trace *trace, struct ts_error *err)
{
	struct weighted *items = calloc(trace->nr_rows + 1, sizeof(*items));

	trace->order = calloc(trace->nr_rows + 1, sizeof(*trace->order));
	if (!items || !trace->order) {
		free(items);
		return ts_fail_nomem(err);
	}
	for (size_t i = 0; i < trace->nr_rows; i++)
		items[i] = (struct weighted){ trace->rows[i].weight, (uint32_t)i };
	qsort(items, trace->nr_rows, sizeof(*items), by_weight);
	for (size_t i = 0; i < trace->nr_rows; i++)
		trace->order[i] = items[i].row;
	free(items);
	return TS_OK;
}

static enum ts_status make_writers(struct trace *trace, struct ts_error *err)
{
	struct ts_trace_clock clock = { .ns = trace->shift_ns };

	trace->jobs = calloc(trace->nr_rows + 1, sizeof(*trace->jobs));
	trace->writers = calloc(trace->nr_threads, sizeof(struct ts_trace_writer *));
	if (!trace->jobs || !trace->writers)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < trace->nr_threads; i++) {
		trace->writers[i] = ts_trace_writer_new(trace->plan, trace->form, clock);
		if (!trace->writers[i])
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* One row, on a thread. */
struct route {
	struct ts_trace_pack *pack;
	size_t row, thread;
};

static enum ts_status route_piece(void *ctx, struct ts_buf *text, struct ts_error *err)
{
	struct route *route = ctx;

	return ts_trace_pack_piece(route->pack, route->row, route->thread, text, err);
}

static enum ts_status make_row(void *ctx, size_t row, size_t thread, struct ts_trace_pack *pack,
			       struct ts_error *err)
{
	struct trace *trace = ctx;
	struct route route = { pack, row, thread };
	struct ts_trace_out out = { &route, route_piece };

	return ts_trace_row_write(trace->writers[thread], &trace->rows[row], &out,
				  &trace->jobs[row].counts, err);
}

static struct ts_trace_counts sum_counts(const struct trace *trace)
{
	struct ts_trace_counts sum = { 0 };

	for (size_t i = 0; i < trace->nr_rows; i++) {
		const struct ts_trace_counts *counts = &trace->jobs[i].counts;

		sum.written += counts->written;
		sum.own += counts->own;
		sum.flows += counts->flows;
		sum.no_lane += counts->no_lane;
	}
	return sum;
}

/* Of a plane's lines; the findings' process has no plane. */
static uint64_t count_events(const struct trace *trace, uint32_t index)
{
	const struct ts_plane *plane;
	uint64_t nr = 0;

	if (index == TS_NONE)
		return 0;
	plane = &trace->profile->planes[index];
	for (uint32_t i = 0; i < plane->nr_lines; i++) {
		const struct ts_trace_tally *tally = trace->plan->tallies[plane->first_line + i];

		if (tally)
			nr += tally->nr_events + tally->nr_left_out;
	}
	return nr;
}

static void see_row(const struct trace *trace, uint32_t index, struct ts_perfetto_process *shown)
{
	const struct ts_perfetto_row *row = &trace->rows[index].at;

	if (row->track) {
		shown->has_tracks |= !row->is_native;
		shown->has_lines |= row->is_native;
		return;
	}
	shown->has_lines |= row->thread == 0;
	shown->events_left_out -= TS_MIN(trace->jobs[index].counts.written, shown->events_left_out);
}

/* Process MORE has one more row of ours; TS_NONE: none has. */
static void put_processes(const struct trace *trace, uint32_t more, struct ts_buf *out)
{
	for (uint32_t i = 0; i < trace->nr_processes; i++) {
		const struct process *process = &trace->processes[i];
		uint64_t nr_events = count_events(trace, process->plane);
		struct ts_perfetto_process shown = { .pid = process->pid,
						     .order = process->order,
						     .name = process->name,
						     .has_tracks = i == more,
						     .machine = process->machine,
						     .events_total = nr_events,
						     .events_left_out = nr_events };

		for (uint32_t k = 0; k < process->nr_rows; k++)
			see_row(trace, process->first_row + k, &shown);
		trace->form->process(out, &shown);
	}
}

/* The process that viewers show on top. */
static uint32_t top_of(const struct trace *trace)
{
	uint32_t top = 0;

	for (uint32_t i = 1; i < trace->nr_processes; i++)
		if (trace->processes[i].order < trace->processes[top].order)
			top = i;
	return top;
}

/* There stands how many events are not in the file: a head is seldom read. */
static void put_left_out(const struct trace *trace, uint64_t nr, uint64_t of, struct ts_buf *out)
{
	int64_t first_ns = ts_trace_ns(trace->plan->first_ps) + trace->shift_ns;
	int64_t end_ns = TS_MAX(ts_trace_ns(trace->plan->last_ps) + trace->shift_ns, first_ns);
	char name[96];
	struct ts_label label = { .name = TS_LIT("left out") };
	struct ts_track track = { .kind = TS_TRACK_SLICES,
				  .description = "the file holds the longest events of the run",
				  .labels = &label,
				  .nr_labels = 1 };
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = (uint32_t)trace->nr_rows,
				       .pid = top_of(trace) + 1,
				       .tid = ((uint32_t)trace->nr_rows + 1) * TS_TRACE_TIDS,
				       .name = { (const uint8_t *)name, 0 },
				       .track = &track,
				       .last_ns = &last_ns };
	struct ts_perfetto_lane lane = { .row = &row };
	struct ts_perfetto_slice slice = { .start_ns = first_ns,
					   .dur_ns = end_ns - first_ns,
					   .nr_events = (uint32_t)TS_MIN(nr, UINT32_MAX) };
	struct ts_buf tail = TS_BUF_INIT;

	row.name.n = (size_t)snprintf(name, sizeof(name),
				      "TPUsight: %" PRIu64 " of %" PRIu64 " events are left out",
				      nr, of);
	trace->form->row(out, &row);
	trace->form->lane(out, &lane);
	trace->form->label_tail(out, &tail, &lane, 0);
	slice.tail = ts_buf_bytes(&tail);
	trace->form->label_slice(out, &lane, &slice);
	trace->form->end(out, &lane, end_ns, false);
	out->failed |= tail.failed;
	ts_buf_release(&tail);
}

static bool put_head(struct trace *trace, struct ts_perfetto_head *head, struct ts_buf *out)
{
	uint64_t left_out = head->events_total - TS_MIN(head->events_written, head->events_total);
	bool is_told = left_out > 0 && trace->nr_processes > 0;
	struct ts_perfetto_fact facts[TS_TRACE_FACTS];

	head->own_events += is_told;
	head->facts = facts;
	if (trace->results &&
	    !ts_trace_facts(trace->results, &trace->arena, facts, &head->nr_facts))
		return false;
	trace->form->open(out, head);
	put_processes(trace, is_told ? top_of(trace) : TS_NONE, out);
	if (is_told)
		put_left_out(trace, left_out, head->events_total, out);
	return !out->failed;
}

/* The head comes last: only now is it known what was written. */
static enum ts_status finish(struct trace *trace, struct ts_trace_pack *pack,
			     struct ts_newfile *file, const struct ts_trace_options *options,
			     struct ts_error *err)
{
	struct ts_trace_counts counts = sum_counts(trace);
	struct ts_perfetto_head head = {
		.version = options->version,
		.native_file = options->native_file,
		.source = options->source,
		.start_unix_ns = trace->profile->start_unix_ns,
		.shift_ns = trace->shift_ns,
		.events_total = trace->plan->nr_events + trace->plan->nr_left_out,
		.events_written = counts.written,
		.own_events = counts.own,
		.gpus = trace->gpus,
		.nr_gpus = trace->nr_gpus,
		.machines = first_machine(trace),
		.nr_machines = trace->plan->host == TS_NONE ? trace->profile->nr_hosts : 1
	};
	struct ts_buf first = TS_BUF_INIT, last = TS_BUF_INIT;
	bool good = put_head(trace, &head, &first);
	enum ts_status st;

	trace->form->close(&last);
	st = !good || last.failed ? ts_fail_nomem(err)
				  : ts_trace_pack_write(pack, file, ts_buf_bytes(&first),
							ts_buf_bytes(&last), err);
	ts_buf_release(&first);
	ts_buf_release(&last);
	return st;
}

static void fill_report(const struct trace *trace, uint64_t bytes, struct ts_trace_report *report)
{
	struct ts_trace_counts counts = sum_counts(trace);
	uint64_t total = trace->plan->nr_events + trace->plan->nr_left_out;

	*report =
		(struct ts_trace_report){ .events_total = total,
					  .events_written = counts.written,
					  .events_left_out = total - TS_MIN(counts.written, total),
					  .own_events = counts.own,
					  .flows = counts.flows,
					  .bytes = bytes };
}

static enum ts_status run(struct trace *trace, struct ts_newfile *file,
			  const struct ts_trace_options *options, struct ts_error *err)
{
	struct ts_trace_pack *pack = NULL;
	int level = options->level ? options->level : trace->form->level;
	enum ts_status st = add_machines(trace, err);

	if (st == TS_OK)
		st = add_processes(trace, err);
	if (st == TS_OK)
		st = add_findings(trace, err);
	choose_shift(trace);
	if (st == TS_OK)
		st = order_rows(trace, err);
	if (st == TS_OK)
		st = make_writers(trace, err);
	if (st == TS_OK)
		st = ts_trace_links_find(&trace->links, trace->plan, trace->writers,
					 trace->nr_threads, trace->rows, trace->nr_rows, err);
	if (st == TS_OK)
		st = ts_trace_pack_new(&pack, file, trace->nr_rows, trace->nr_threads, level, err);
	if (st == TS_OK)
		st = ts_trace_pack_run(pack, trace->order, make_row, trace, err);
	if (st == TS_OK)
		st = finish(trace, pack, file, options, err);
	ts_trace_pack_free(pack);
	return st;
}

enum ts_status ts_trace_write(struct ts_newfile *file, const struct ts_profile *profile,
			      const struct ts_results *results, const struct ts_trace_plan *plan,
			      const struct ts_trace_options *options,
			      struct ts_trace_report *report, struct ts_error *err)
{
	struct trace trace = { .profile = profile,
			       .results = results,
			       .plan = plan,
			       .form = options->form,
			       .arena = TS_ARENA_INIT,
			       .nr_threads = TS_MAX(options->nr_threads, 1) };
	uint64_t before = file->nr_bytes;
	enum ts_status st = run(&trace, file, options, err);

	TS_ASSERT(file && profile && plan);
	TS_ASSERT(options);
	if (st == TS_OK && report)
		fill_report(&trace, file->nr_bytes - before, report);
	release(&trace);
	return st;
}

static bool begins_as(struct ts_bytes bytes, const struct ts_perfetto_form *form)
{
	return ts_bytes_starts(bytes, form->mark) ||
	       (form->older_mark && ts_bytes_starts(bytes, form->older_mark));
}

bool ts_trace_is_ours(struct ts_bytes bytes, const struct ts_perfetto_form *form)
{
	struct ts_buf head = TS_BUF_INIT;
	bool ours = begins_as(bytes, form);

	TS_ASSERT(form);
	TS_ASSERT(bytes.p || bytes.n == 0);
	if (!ours && ts_gzip_probe(bytes)) {
		(void)ts_gunzip_head(bytes, &head, TS_MARK_MAX, NULL);
		ours = begins_as(ts_buf_bytes(&head), form);
		ts_buf_release(&head);
	}
	return ours;
}
