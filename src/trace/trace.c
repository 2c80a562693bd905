/* SPDX-License-Identifier: MIT */
/* Rows on threads -> pieces -> members -> file. */
#include "trace/trace.h"

#include "base/check.h"
#include "trace/facts.h"
#include "trace/layout.h"
#include "trace/links.h"
#include "io/gzip.h"

/* The head of a part, or a row of it, or all of its rows, which were made elsewhere. */
struct job {
	uint32_t part, row; /* TS_NONE: the head */
	bool is_stored;
};

enum { MAKE_HEADS = 1, MAKE_ROWS = 2 };

struct trace {
	struct ts_trace_layout layout;
	struct job *jobs; /* in the order of the file */
	size_t nr_jobs;
	unsigned makes;			/* of the jobs, now */
	struct ts_trace_counts *counts; /* one a row */
	struct ts_trace_heads heads;	/* by those, or by what is expected */
	struct ts_trace_told *told;	/* its parts */
	struct ts_perfetto_fact facts[TS_TRACE_FACTS];
	size_t nr_facts;
	const struct ts_trace_joint
		*joint;			  /* hosts' parts from elsewhere; NULL: all are made here */
	struct ts_trace_writer **writers; /* one a thread */
	struct ts_trace_links *links;	  /* one a host */
	size_t nr_threads;
};

static void free_writers(struct trace *trace)
{
	for (size_t i = 0; trace->writers && i < trace->nr_threads; i++)
		ts_trace_writer_free(trace->writers[i]);
	free(trace->writers);
	trace->writers = NULL;
}

static void trace_release(struct trace *trace)
{
	free_writers(trace);
	for (size_t i = 0; trace->links && i < trace->layout.profile->nr_hosts; i++)
		ts_trace_links_release(&trace->links[i]);
	free(trace->links);
	ts_trace_layout_release(&trace->layout);
	free(trace->counts);
	free(trace->told);
	free(trace->jobs);
}

static enum ts_status trace_make_writers(struct trace *trace, struct ts_error *err)
{
	struct ts_trace_clock clock = { .ns = trace->layout.shift_ns };

	free_writers(trace);
	trace->writers = calloc(trace->nr_threads, sizeof(struct ts_trace_writer *));
	if (!trace->writers)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < trace->nr_threads; i++) {
		trace->writers[i] =
			ts_trace_writer_new(trace->layout.plan, trace->layout.form, clock);
		if (!trace->writers[i])
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status find_links(struct trace *trace, struct ts_error *err)
{
	const struct ts_trace_layout *layout = &trace->layout;
	size_t nr = layout->profile->nr_hosts;
	enum ts_status st = TS_OK;

	trace->links = calloc(nr + 1, sizeof(*trace->links));
	if (!trace->links)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < nr && st == TS_OK; i++)
		if (layout->parts[i].nr_rows > 0)
			st = ts_trace_links_find(&trace->links[i], layout->plan, i, trace->writers,
						 trace->nr_threads,
						 layout->rows + layout->parts[i].first_row,
						 layout->parts[i].nr_rows, err);
	return st;
}

static enum ts_status list_jobs(struct trace *trace, struct ts_error *err)
{
	const struct ts_trace_layout *layout = &trace->layout;
	size_t nr_parts = layout->profile->nr_hosts + 1;

	trace->jobs = calloc(layout->nr_rows + 2 * nr_parts, sizeof(*trace->jobs));
	if (!trace->jobs)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < nr_parts; i++) {
		const struct ts_trace_part *part = &layout->parts[i];

		trace->jobs[trace->nr_jobs++] = (struct job){ i, TS_NONE, false };
		if (trace->joint && i + 1 < nr_parts)
			trace->jobs[trace->nr_jobs++] = (struct job){ i, TS_NONE, true };
		for (uint32_t k = 0; k < part->nr_rows; k++)
			trace->jobs[trace->nr_jobs++] =
				(struct job){ i, part->first_row + k, false };
	}
	return TS_OK;
}

/* A job, on a thread. */
struct route {
	struct ts_trace_pack *pack;
	size_t job, thread;
};

static enum ts_status trace_route_piece(void *ctx, struct ts_buf *text, struct ts_error *err)
{
	struct route *route = ctx;

	return ts_trace_pack_piece(route->pack, route->job, route->thread, text, err);
}

/* Does a part with events stand before this one? */
static bool trace_is_behind(const struct ts_trace_heads *heads, size_t part)
{
	for (size_t i = 0; i < part; i++)
		if (heads->parts[i].nr_processes > 0)
			return true;
	return false;
}

/*
 * So that a part can be made without knowing whether another stands before it, what must stand between
 * them is a member of its own.
 */
static enum ts_status trace_make_head(const struct trace *trace, uint32_t part, struct route *route,
				      struct ts_error *err)
{
	const struct ts_perfetto_form *form = trace->layout.form;
	struct ts_buf text = TS_BUF_INIT, piece = TS_BUF_INIT;
	struct ts_bytes rest;
	enum ts_status st;

	ts_trace_part_put(&trace->heads, part, &text);
	st = text.failed ? ts_fail_nomem(err) : TS_OK;
	rest = ts_bytes_cut(ts_buf_bytes(&text), strlen(form->separator), text.n);
	if (st == TS_OK && text.n > 0 && form->separator[0] &&
	    trace_is_behind(&trace->heads, part)) {
		ts_buf_puts(&piece, form->separator);
		st = piece.failed ? ts_fail_nomem(err) : trace_route_piece(route, &piece, err);
	}
	if (st == TS_OK && rest.n > 0) {
		ts_buf_put(&piece, rest);
		st = piece.failed ? ts_fail_nomem(err) : trace_route_piece(route, &piece, err);
	}
	ts_buf_release(&text);
	ts_buf_release(&piece);
	return st;
}

static enum ts_status trace_make_job(void *ctx, size_t index, size_t thread,
				     struct ts_trace_pack *pack, struct ts_error *err)
{
	struct trace *trace = ctx;
	const struct job *job = &trace->jobs[index];
	struct route route = { pack, index, thread };
	struct ts_trace_out out = { &route, trace_route_piece };

	if (job->is_stored && trace->makes & MAKE_ROWS)
		return ts_trace_pack_ready(pack, index, trace->joint->parts[job->part].rows, err);
	if (job->is_stored)
		return TS_OK;
	if (job->row == TS_NONE)
		return trace->makes & MAKE_HEADS ? trace_make_head(trace, job->part, &route, err)
						 : TS_OK;
	if (!(trace->makes & MAKE_ROWS))
		return TS_OK;
	return ts_trace_row_write(trace->writers[thread], &trace->layout.rows[job->row], &out,
				  &trace->counts[job->row], err);
}

static enum ts_status make_jobs(struct trace *trace, struct ts_trace_pack *pack, unsigned what,
				struct ts_error *err)
{
	trace->makes = what;
	return ts_trace_pack_run(pack, trace_make_job, trace, err);
}

static enum ts_status tell_parts(struct trace *trace, const struct ts_trace_counts *counts,
				 struct ts_error *err)
{
	size_t nr = trace->layout.profile->nr_hosts;
	enum ts_status st = TS_OK;

	free(trace->told);
	trace->told = calloc(nr + 1, sizeof(*trace->told));
	if (!trace->told)
		return ts_fail_nomem(err);
	for (size_t i = 0; i <= nr && st == TS_OK; i++)
		if (trace->joint && i < nr)
			trace->told[i] = trace->joint->parts[i].told;
		else
			st = ts_trace_tell(&trace->layout, counts, i, &trace->layout.arena,
					   &trace->told[i], err);
	return st;
}

static struct ts_perfetto_gpu *gather_gpus(struct trace *trace, size_t nr_parts, size_t *nr)
{
	struct ts_perfetto_gpu *gpus;
	size_t sum = 0;

	for (size_t i = 0; i < nr_parts; i++)
		sum += trace->told[i].nr_gpus;
	gpus = ts_arena_array(&trace->layout.arena, sum + 1, sizeof(*gpus));
	*nr = 0;
	for (size_t i = 0; gpus && i < nr_parts; i++)
		for (size_t k = 0; k < trace->told[i].nr_gpus; k++)
			gpus[(*nr)++] = trace->told[i].gpus[k];
	return gpus;
}

/* What heads say, by the counts of all rows. */
static enum ts_status count_all(struct trace *trace, const struct ts_trace_options *options,
				const struct ts_trace_counts *counts, struct ts_error *err)
{
	const struct ts_trace_layout *layout = &trace->layout;
	const struct ts_trace_plan *plan = layout->plan;
	size_t nr_parts = layout->profile->nr_hosts + 1;
	struct ts_perfetto_head head = { .version = options->version,
					 .native_file = options->native_file,
					 .source = options->source,
					 .start_unix_ns = layout->profile->start_unix_ns,
					 .shift_ns = layout->shift_ns,
					 .events_total = plan->nr_events + plan->nr_left_out,
					 .facts = trace->facts,
					 .nr_facts = trace->nr_facts,
					 .machines = ts_trace_first_machine(layout),
					 .nr_machines = plan->host == TS_NONE
								? layout->profile->nr_hosts
								: 1 };
	enum ts_status st = tell_parts(trace, counts, err);

	if (st)
		return st;
	head.gpus = gather_gpus(trace, nr_parts, &head.nr_gpus);
	for (size_t i = 0; i < nr_parts; i++) {
		head.events_written += trace->told[i].written;
		head.own_events += trace->told[i].own;
	}
	trace->heads = (struct ts_trace_heads){
		.form = layout->form,
		.head = head,
		.parts = trace->told,
		.nr = nr_parts,
		.first_ns = ts_trace_ns(plan->first_ps) + layout->shift_ns,
		.last_ns = ts_trace_ns(plan->last_ps) + layout->shift_ns,
	};
	return head.gpus ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status trace_put_head(struct trace *trace, struct ts_trace_pack *pack,
				     struct ts_newfile *file, struct ts_error *err)
{
	struct ts_buf text = TS_BUF_INIT;
	enum ts_status st;

	ts_trace_head_put(&trace->heads, &text);
	st = text.failed ? ts_fail_nomem(err)
			 : ts_trace_pack_begin(pack, file, ts_buf_bytes(&text), err);
	ts_buf_release(&text);
	return st;
}

static enum ts_status trace_put_tail(const struct trace *trace, struct ts_trace_pack *pack,
				     struct ts_error *err)
{
	struct ts_buf text = TS_BUF_INIT;
	enum ts_status st;

	trace->layout.form->close(&text);
	st = text.failed ? ts_fail_nomem(err) : ts_trace_pack_end(pack, ts_buf_bytes(&text), err);
	ts_buf_release(&text);
	return st;
}

static void fill_report(const struct trace *trace, uint64_t bytes, struct ts_trace_report *report)
{
	const struct ts_perfetto_head *head = &trace->heads.head;

	*report = (struct ts_trace_report){ .events_total = head->events_total,
					    .events_written = head->events_written,
					    .events_left_out = ts_trace_left_out(&trace->heads),
					    .own_events = head->own_events,
					    .bytes = bytes };
	for (size_t i = 0; i < trace->layout.nr_rows; i++)
		report->flows += trace->counts[i].flows;
}

/* What will be written of each row, unless a slice finds no lane; NULL: out of memory. */
static struct ts_trace_counts *expect(const struct trace *trace)
{
	const struct ts_trace_layout *layout = &trace->layout;
	struct ts_trace_counts *counts = calloc(layout->nr_rows + 1, sizeof(*counts));
	bool good = counts;

	for (size_t i = 0; good && i < layout->nr_rows; i++) {
		const struct ts_trace_row *row = &layout->rows[i];
		const struct ts_track *track = row->at.track;

		if (!track)
			counts[i].written = layout->plan->tallies[row->line]->nr_chosen;
		else if (track->kind == TS_TRACK_SLICES)
			good = ts_trace_drawn_slices(track, &counts[i].own);
		else if (!row->at.is_native)
			counts[i].own = track->nr_points;
	}
	if (good)
		return counts;
	free(counts);
	return NULL;
}

static bool is_as_expected(const struct trace *trace, const struct ts_trace_counts *expected)
{
	for (size_t i = 0; i < trace->layout.nr_rows; i++)
		if (trace->counts[i].written != expected[i].written ||
		    trace->counts[i].own != expected[i].own)
			return false;
	return true;
}

static enum ts_status make_pack(struct trace *trace, struct ts_trace_pack **pack,
				const struct ts_newfile *file,
				const struct ts_trace_options *options, struct ts_error *err)
{
	free(trace->counts);
	trace->counts = calloc(trace->layout.nr_rows + 1, sizeof(*trace->counts));
	if (!trace->counts)
		return ts_fail_nomem(err);
	return ts_trace_pack_new(pack, file, trace->nr_jobs, trace->nr_threads, options->is_plain,
				 err);
}

/* Heads come first, with what is expected: *RIGHT says whether it was that. */
static enum ts_status write_straight(struct trace *trace, struct ts_newfile *file,
				     const struct ts_trace_options *options, bool *right,
				     struct ts_error *err)
{
	struct ts_trace_counts *expected = expect(trace);
	struct ts_trace_pack *pack = NULL;
	enum ts_status st =
		expected ? make_pack(trace, &pack, file, options, err) : ts_fail_nomem(err);

	if (st == TS_OK)
		st = count_all(trace, options, expected, err);
	if (st == TS_OK)
		st = trace_put_head(trace, pack, file, err);
	if (st == TS_OK)
		st = make_jobs(trace, pack, MAKE_HEADS | MAKE_ROWS, err);
	*right = st == TS_OK && is_as_expected(trace, expected);
	if (st == TS_OK)
		st = trace_put_tail(trace, pack, err);
	ts_trace_pack_free(pack);
	free(expected);
	return st;
}

/* Heads are made when all is known. */
static enum ts_status write_counted(struct trace *trace, struct ts_newfile *file,
				    const struct ts_trace_options *options, struct ts_error *err)
{
	struct ts_trace_pack *pack = NULL;
	enum ts_status st = make_pack(trace, &pack, file, options, err);

	if (st == TS_OK)
		st = make_jobs(trace, pack, MAKE_ROWS, err);
	if (st == TS_OK)
		st = count_all(trace, options, trace->counts, err);
	if (st == TS_OK)
		st = make_jobs(trace, pack, MAKE_HEADS, err);
	if (st == TS_OK)
		st = trace_put_head(trace, pack, file, err);
	if (st == TS_OK)
		st = trace_put_tail(trace, pack, err);
	ts_trace_pack_free(pack);
	return st;
}

/* What cannot be cut again, a pipe, gets its head when all is known; so does what was not as expected. */
static enum ts_status write_rows(struct trace *trace, struct ts_newfile *file,
				 const struct ts_trace_options *options, struct ts_error *err)
{
	uint64_t before = file->nr_bytes;
	bool right = false;
	enum ts_status st = TS_OK;

	if (!file->straight)
		st = write_straight(trace, file, options, &right, err);
	if (st || right)
		return st;
	if (!file->straight)
		st = ts_newfile_cut(file, before, err);
	if (st == TS_OK) /* those that were there know ops from the rows that they wrote */
		st = trace_make_writers(trace, err);
	return st ? st : write_counted(trace, file, options, err);
}

static enum ts_status find_facts(struct trace *trace, struct ts_error *err)
{
	const struct ts_trace_layout *layout = &trace->layout;

	if (trace->joint) {
		trace->nr_facts = TS_MIN(trace->joint->nr_facts, TS_TRACE_FACTS);
		memcpy(trace->facts, trace->joint->facts, trace->nr_facts * sizeof(*trace->facts));
		return TS_OK;
	}
	if (!layout->results)
		return TS_OK;
	return ts_trace_facts(layout->results, &trace->layout.arena, trace->facts, &trace->nr_facts,
			      err);
}

/* All but the writing. */
static enum ts_status trace_prepare(struct trace *trace, struct ts_error *err)
{
	enum ts_status st = ts_trace_layout_make(&trace->layout, err);

	if (st == TS_OK)
		st = find_facts(trace, err);
	if (st == TS_OK)
		st = list_jobs(trace, err);
	if (st == TS_OK)
		st = trace_make_writers(trace, err);
	return st == TS_OK ? find_links(trace, err) : st;
}

static struct trace trace_begin(const struct ts_profile *profile, const struct ts_results *results,
				const struct ts_trace_plan *plan,
				const struct ts_trace_options *options)
{
	TS_ASSERT(profile && plan);
	TS_ASSERT(options);
	return (struct trace){ .layout = { .profile = profile,
					   .results = results,
					   .plan = plan,
					   .form = options->form,
					   .arena = TS_ARENA_INIT },
			       .nr_threads = TS_MAX(options->nr_threads, 1) };
}

static enum ts_status trace_finish(struct trace *trace, struct ts_newfile *file,
				   const struct ts_trace_options *options,
				   struct ts_trace_report *report, struct ts_error *err)
{
	uint64_t before = file->nr_bytes;
	enum ts_status st = trace_prepare(trace, err);

	if (st == TS_OK)
		st = write_rows(trace, file, options, err);
	if (st == TS_OK && report)
		fill_report(trace, file->nr_bytes - before, report);
	trace_release(trace);
	return st;
}

enum ts_status ts_trace_write(struct ts_newfile *file, const struct ts_profile *profile,
			      const struct ts_results *results, const struct ts_trace_plan *plan,
			      const struct ts_trace_options *options,
			      struct ts_trace_report *report, struct ts_error *err)
{
	struct trace trace = trace_begin(profile, results, plan, options);

	TS_ASSERT(file);
	return trace_finish(&trace, file, options, report, err);
}

/* Rows alone; no other machine's row has the same number. */
static enum ts_status write_part(struct trace *trace, struct ts_newfile *file,
				 const struct ts_trace_options *options, struct ts_arena *arena,
				 struct ts_trace_told *told, struct ts_error *err)
{
	const struct ts_bytes nothing = { NULL, 0 };
	struct ts_trace_pack *pack = NULL;
	enum ts_status st = make_pack(trace, &pack, file, options, err);

	if (st == TS_OK)
		st = ts_trace_pack_begin(pack, file, nothing, err);
	if (st == TS_OK)
		st = make_jobs(trace, pack, MAKE_ROWS, err);
	if (st == TS_OK)
		st = ts_trace_pack_end(pack, nothing, err);
	if (st == TS_OK)
		st = ts_trace_tell(&trace->layout, trace->counts, trace->layout.host, arena, told,
				   err);
	ts_trace_pack_free(pack);
	return st;
}

enum ts_status ts_trace_write_part(struct ts_newfile *file, const struct ts_profile *profile,
				   uint32_t host, const struct ts_results *results,
				   const struct ts_trace_plan *plan,
				   const struct ts_trace_options *options, struct ts_arena *arena,
				   struct ts_trace_told *told, struct ts_error *err)
{
	struct trace trace = trace_begin(profile, results, plan, options);
	enum ts_status st;

	TS_ASSERT(file && host < profile->nr_hosts);
	TS_ASSERT(arena && told);
	trace.layout.is_part = true;
	trace.layout.host = host;
	st = trace_prepare(&trace, err);
	if (st == TS_OK && trace.layout.shift_ns != ts_trace_shift_ns(plan->first_ps))
		st = ts_fail(err, TS_LIMIT,
			     "a track begins before the run's first event (tpusight annotate, with "
			     "all files of the run, makes this trace)");
	if (st == TS_OK)
		st = write_part(&trace, file, options, arena, told, err);
	trace_release(&trace);
	return st;
}

enum ts_status ts_trace_join(struct ts_newfile *file, const struct ts_profile *profile,
			     const struct ts_results *results, const struct ts_trace_plan *plan,
			     const struct ts_trace_joint *joint,
			     const struct ts_trace_options *options, struct ts_trace_report *report,
			     struct ts_error *err)
{
	struct trace trace = trace_begin(profile, results, plan, options);

	TS_ASSERT(file && joint);
	trace.joint = joint;
	trace.layout.story = joint->story;
	trace.layout.nr_story = joint->nr_story;
	if (profile->nr_hosts == 1) { /* the findings' numbers follow those of the host */
		trace.layout.next_process = joint->parts[0].told.next_process;
		trace.layout.next_row = joint->parts[0].told.next_row;
	}
	return trace_finish(&trace, file, options, report, err);
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
