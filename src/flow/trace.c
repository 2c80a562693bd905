/* Processes and rows in order, then rows -> pieces -> members -> file. */
#include "flow/trace.h"

#include "base/check.h"
#include "flow/trace_findings.h"
#include "flow/trace_tracks.h"
#include "io/gzip.h"

struct process {
	uint32_t plane, first_row, nr_rows;
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
	struct ts_arena arena; /* names */
	struct process *processes;
	struct ts_trace_row *rows;
	struct job *jobs;
	struct ts_trace_writer **writers; /* one a thread */
	uint32_t *order;		  /* of beginning: large rows first */
	size_t nr_processes, cap_processes, nr_rows, cap_rows, nr_threads;
	int64_t shift_ns;
};

static void release(struct trace *trace)
{
	for (size_t i = 0; trace->writers && i < trace->nr_threads; i++)
		ts_trace_writer_free(trace->writers[i]);
	ts_arena_release(&trace->arena);
	free(trace->processes);
	free(trace->rows);
	free(trace->jobs);
	free(trace->writers);
	free(trace->order);
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
					    .pid = (uint32_t)trace->nr_processes,
					    .tid = (number + 1) * TS_TRACE_TIDS,
					    .order = process->nr_rows++ };
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

/* The thread of a host's line: "main/4242" says so, and its id does. Other ids are made up. */
static int64_t thread_of(const struct ts_profile *profile, const struct ts_line *line)
{
	char end[32];

	if (profile->planes[line->plane].kind != TS_PLANE_HOST)
		return 0;
	if (line->id <= 0 || line->id > INT32_MAX)
		return 0;
	snprintf(end, sizeof(end), "/%lld", (long long)line->id);
	return ts_bytes_ends(line->name, end) ? line->id : 0;
}

static enum ts_status add_line(struct trace *trace, uint32_t index, struct ts_error *err)
{
	const struct ts_line *line = &trace->profile->lines[index];
	struct ts_trace_row *row = add_row(trace, trace->plan->tallies[index]->nr_events, err);

	if (!row)
		return TS_NOMEM;
	row->line = index;
	row->at.thread = thread_of(trace->profile, line);
	row->at.name = line->name;
	if (row->at.name.n == 0)
		row->at.name = ts_arena_printf(&trace->arena, "line %lld", (long long)line->id);
	return row->at.name.p ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status add_lines(struct trace *trace, const struct ts_plane *plane,
				struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < plane->nr_lines && st == TS_OK; i++)
		if (has_events(trace, plane->first_line + i))
			st = add_line(trace, plane->first_line + i, err);
	return st;
}

/* Processes */

static enum ts_status name_process(struct trace *trace, struct process *process,
				   struct ts_error *err)
{
	const struct ts_plane *plane = &trace->profile->planes[process->plane];
	struct ts_bytes host = trace->profile->hosts[plane->host].name;

	process->name = plane->name;
	if (trace->profile->nr_hosts < 2)
		return TS_OK;
	process->name =
		ts_arena_printf(&trace->arena, "%.*s %.*s", TS_ARG(host), TS_ARG(plane->name));
	return process->name.p ? TS_OK : ts_fail_nomem(err);
}

/* A plane without slices and counters does not become a process. */
static enum ts_status add_process(struct trace *trace, uint32_t index, struct ts_error *err)
{
	const struct ts_plane *plane = &trace->profile->planes[index];
	struct process *process;
	enum ts_status st;

	if (!ts_grow(&trace->processes, &trace->cap_processes, trace->nr_processes + 1,
		     sizeof(*process)))
		return ts_fail_nomem(err);
	process = &trace->processes[trace->nr_processes++];
	*process = (struct process){ .plane = index,
				     .first_row = (uint32_t)trace->nr_rows,
				     .order = (uint32_t)trace->nr_processes };
	st = name_process(trace, process, err);
	if (st == TS_OK && trace->results && plane->device != TS_NONE)
		st = add_tracks(trace, plane->device, err);
	if (st == TS_OK)
		st = add_lines(trace, plane, err);
	if (process->nr_rows == 0)
		trace->nr_processes--;
	return st;
}

static unsigned rank_of(enum ts_plane_kind kind)
{
	if (kind == TS_PLANE_TPU || kind == TS_PLANE_SPARSECORE || kind == TS_PLANE_GPU)
		return 0;
	return kind == TS_PLANE_HOST ? 2 : 1;
}

static bool is_shown(enum ts_plane_kind kind)
{
	return kind != TS_PLANE_OURS && kind != TS_PLANE_METADATA && kind != TS_PLANE_TASK;
}

static enum ts_status add_processes(struct trace *trace, struct ts_error *err)
{
	const struct ts_profile *profile = trace->profile;
	enum ts_status st = TS_OK;

	for (unsigned rank = 0; rank <= 2; rank++) {
		for (uint32_t i = 0; i < profile->nr_planes && st == TS_OK; i++) {
			enum ts_plane_kind kind = profile->planes[i].kind;

			if (is_shown(kind) && rank_of(kind) == rank)
				st = add_process(trace, i, err);
		}
	}
	return st;
}

/* Last, so that other pids and tids do not depend on there being findings. */
static enum ts_status add_findings(struct trace *trace, struct ts_error *err)
{
	struct ts_trace_extent extent = { trace->plan->first_ps, trace->plan->last_ps };
	size_t nr;
	const struct ts_track *tracks =
		ts_trace_findings(trace->results, extent, &trace->arena, &nr);
	enum ts_status st = TS_OK;

	if (!tracks || !ts_grow(&trace->processes, &trace->cap_processes, trace->nr_processes + 1,
				sizeof(*trace->processes)))
		return ts_fail_nomem(err);
	if (nr > 0)
		trace->processes[trace->nr_processes++] =
			(struct process){ .plane = TS_NONE,
					  .first_row = (uint32_t)trace->nr_rows,
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
		shown->has_tracks = true;
		return;
	}
	shown->has_lines |= row->thread == 0;
	shown->events_left_out -= TS_MIN(trace->jobs[index].counts.written, shown->events_left_out);
}

static void put_processes(const struct trace *trace, struct ts_buf *out)
{
	for (uint32_t i = 0; i < trace->nr_processes; i++) {
		const struct process *process = &trace->processes[i];
		uint64_t nr_events = count_events(trace, process->plane);
		struct ts_perfetto_process shown = { .pid = i + 1,
						     .order = process->order,
						     .name = process->name,
						     .events_total = nr_events,
						     .events_left_out = nr_events };

		for (uint32_t k = 0; k < process->nr_rows; k++)
			see_row(trace, process->first_row + k, &shown);
		trace->form->process(out, &shown);
	}
}

/* The head comes last: only now is it known what was written. */
static enum ts_status finish(const struct trace *trace, struct ts_trace_pack *pack,
			     struct ts_newfile *file, const struct ts_trace_options *options,
			     struct ts_error *err)
{
	struct ts_trace_counts counts = sum_counts(trace);
	struct ts_perfetto_head head = { .version = options->version,
					 .native_file = options->native_file,
					 .start_unix_ns = trace->profile->start_unix_ns,
					 .shift_ns = trace->shift_ns,
					 .events_total =
						 trace->plan->nr_events + trace->plan->nr_left_out,
					 .events_written = counts.written,
					 .own_events = counts.own };
	struct ts_buf first = TS_BUF_INIT, last = TS_BUF_INIT;
	enum ts_status st;

	trace->form->open(&first, &head);
	put_processes(trace, &first);
	trace->form->close(&last);
	st = first.failed || last.failed ? ts_fail_nomem(err)
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
	int level = options->level ? options->level : TS_TRACE_LEVEL;
	enum ts_status st = add_processes(trace, err);

	if (st == TS_OK)
		st = add_findings(trace, err);
	choose_shift(trace);
	if (st == TS_OK)
		st = order_rows(trace, err);
	if (st == TS_OK)
		st = make_writers(trace, err);
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

bool ts_trace_is_ours(struct ts_bytes bytes, const struct ts_perfetto_form *form)
{
	struct ts_buf head = TS_BUF_INIT;
	bool ours = ts_bytes_starts(bytes, form->mark);

	TS_ASSERT(form);
	TS_ASSERT(bytes.p || bytes.n == 0);
	if (!ours && ts_gzip_probe(bytes)) {
		(void)ts_gunzip_head(bytes, &head, strlen(form->mark), NULL);
		ours = ts_bytes_starts(ts_buf_bytes(&head), form->mark);
		ts_buf_release(&head);
	}
	return ours;
}
