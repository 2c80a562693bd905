/* SPDX-License-Identifier: MIT */
/* The trace's text up to the seam, our rows, the rest of the text: all as pieces of a pack. */
#include "run/annotated.h"

#include "base/check.h"
#include "codec/json.h"
#include "codec/strict.h"
#include "trace/trace.h"
#include "trace/findings.h"
#include "trace/story.h"
#include "trace/pack.h"
#include "trace/tracks.h"
#include "io/tracefile.h"
#include "io/window.h"
#include "read/seams.h"

enum { JOB_TEXT, JOB_PROCESSES, FIRST_ROW }; /* the text behind the seam is the last job */

struct process {
	struct ts_bytes name;
	uint32_t nr_rows;
};

struct copy {
	const struct ts_profile *profile;
	const struct ts_results *results;
	const struct ts_annotated_options *options;
	uint32_t host;
	struct ts_seams seams;
	struct ts_trace_plan plan; /* not the lines of the profile: they stand in the text */
	struct ts_arena arena;
	struct process *processes;
	struct ts_trace_row *rows;
	struct ts_trace_counts *counts;	  /* one a row */
	struct ts_trace_writer **writers; /* one a thread */
	size_t nr_processes, cap_processes, nr_rows, cap_rows, nr_threads;
};

static void annotated_release(struct copy *copy)
{
	for (size_t i = 0; copy->writers && i < copy->nr_threads; i++)
		ts_trace_writer_free(copy->writers[i]);
	ts_arena_release(&copy->arena);
	free(copy->processes);
	free(copy->rows);
	free(copy->counts);
	free(copy->writers);
}

/* Processes and rows */

static enum ts_status annotated_add_process(struct copy *copy, struct ts_bytes name,
					    struct ts_error *err)
{
	struct process process = { .name = name };

	if (!name.p || !ts_grow(&copy->processes, &copy->cap_processes, copy->nr_processes + 1,
				sizeof(process)))
		return ts_fail_nomem(err);
	copy->processes[copy->nr_processes++] = process;
	return TS_OK;
}

/* In the last process. */
static enum ts_status annotated_add_row(struct copy *copy, const struct ts_track *track,
					struct ts_error *err)
{
	struct ts_bytes name = ts_arena_printf(&copy->arena, "TPUsight: %s", track->name);
	uint32_t number = (uint32_t)copy->nr_rows, process = (uint32_t)copy->nr_processes - 1;
	struct ts_trace_row row = { .line = TS_NONE };

	if (number >= TS_FREE_IDS / TS_TRACE_TIDS - 1)
		return ts_fail(err, TS_LIMIT, "more than %u rows in a trace", number);
	row.at =
		(struct ts_perfetto_row){ .number = number,
					  .pid = copy->seams.free_id + process,
					  .tid = copy->seams.free_id + (number + 1) * TS_TRACE_TIDS,
					  .order = copy->processes[process].nr_rows++,
					  .name = name,
					  .track = track };
	if (!name.p || !ts_grow(&copy->rows, &copy->cap_rows, copy->nr_rows + 1, sizeof(row)))
		return ts_fail_nomem(err);
	copy->rows[copy->nr_rows++] = row;
	return TS_OK;
}

/* With the rank, where the trace has one: copies of several are opened together. */
static struct ts_bytes process_name(struct copy *copy, uint32_t device)
{
	struct ts_bytes name = copy->profile->devices[device].name;
	int64_t rank = copy->profile->hosts[copy->host].rank;

	if (rank == TS_UNKNOWN)
		return ts_arena_printf(&copy->arena, "TPUsight: %.*s", TS_ARG(name));
	return ts_arena_printf(&copy->arena, "TPUsight: %.*s (rank %lld)", TS_ARG(name),
			       (long long)rank);
}

static enum ts_status annotated_add_device(struct copy *copy, uint32_t device, struct ts_error *err)
{
	const struct ts_track *track = NULL;
	enum ts_status st = TS_OK;
	size_t place = 0, nr = 0;

	while (st == TS_OK && (track = ts_trace_next_track(copy->results, device, track, &place))) {
		if (nr++ == 0)
			st = annotated_add_process(copy, process_name(copy, device), err);
		if (st == TS_OK)
			st = annotated_add_row(copy, track, err);
	}
	return st;
}

static enum ts_status annotated_add_run(struct copy *copy, struct ts_error *err)
{
	struct ts_trace_extent extent = { copy->seams.first_ps, copy->seams.last_ps };
	const struct ts_track *tracks, *story;
	size_t nr, nr_story;
	enum ts_status st =
		ts_trace_findings(copy->results, extent, &copy->arena, &tracks, &nr, err);

	if (st == TS_OK)
		st = ts_trace_story(copy->results, copy->profile, copy->host, &copy->arena, &story,
				    &nr_story, err);
	if (st)
		return st;
	if (nr + nr_story > 0)
		st = annotated_add_process(copy, ts_bytes_of(TS_TRACE_RUN), err);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = annotated_add_row(copy, &tracks[i], err);
	for (size_t i = 0; i < nr_story && st == TS_OK; i++)
		st = annotated_add_row(copy, &story[i], err);
	return st;
}

static enum ts_status annotated_add_rows(struct copy *copy, struct ts_error *err)
{
	enum ts_status st = annotated_add_run(copy, err);

	for (uint32_t i = 0; i < copy->profile->nr_devices && st == TS_OK; i++)
		if (copy->profile->devices[i].host == copy->host)
			st = annotated_add_device(copy, i, err);
	return st;
}

/* The text */

struct text {
	struct copy *copy;
	struct ts_trace_pack *pack;
	size_t thread;
	struct ts_window window;
	uint64_t at;
	struct ts_buf piece;
	struct ts_strict strict; /* fills .piece, where the text is mended */
};

static bool annotated_is_mended(const struct copy *copy)
{
	return copy->seams.is_refused && !copy->options->exact;
}

static void annotated_take(struct text *text, struct ts_bytes seen)
{
	if (annotated_is_mended(text->copy))
		ts_strict_put(&text->strict, seen);
	else
		ts_buf_put(&text->piece, seen);
}

static enum ts_status annotated_put_piece(struct text *text, size_t job, struct ts_error *err)
{
	if (text->piece.failed)
		return ts_fail_nomem(err);
	ts_window_forget(&text->window);
	if (text->piece.n == 0)
		return TS_OK;
	return ts_trace_pack_piece(text->pack, job, text->thread, &text->piece, err);
}

/* The text that can be seen, UPTO and MAX bytes at most. Empty: the text has ended. */
static enum ts_status see_some(struct text *text, uint64_t upto, size_t max, struct ts_bytes *seen,
			       struct ts_error *err)
{
	struct ts_window *window = &text->window;
	enum ts_status st = TS_OK;
	bool more = text->at < upto;
	uint64_t n;

	if (more && window->p == window->end)
		st = ts_window_more(window, &more, err);
	*seen = (struct ts_bytes){ NULL, 0 };
	if (st || !more)
		return st;
	n = TS_MIN((uint64_t)(window->end - window->p), upto - text->at);
	*seen = (struct ts_bytes){ window->p, (size_t)TS_MIN(n, max) };
	window->p += seen->n;
	text->at += seen->n;
	return TS_OK;
}

/* How much is taken at a time: what is mended may become a little more. */
static size_t annotated_room(const struct text *text)
{
	return TS_TRACE_PIECE_BYTES - TS_MIN(text->piece.n, TS_TRACE_PIECE_BYTES - 1);
}

/* From where it stands up to UPTO, as pieces of one size of JOB: threads change nothing in them. */
static enum ts_status copy_text(struct text *text, uint64_t upto, size_t job, struct ts_error *err)
{
	enum ts_status st;
	struct ts_bytes seen;

	do {
		st = see_some(text, upto, annotated_room(text), &seen, err);
		annotated_take(text, seen);
		if (st == TS_OK && (text->piece.n >= TS_TRACE_PIECE_BYTES || text->piece.failed))
			st = annotated_put_piece(text, job, err);
	} while (st == TS_OK && seen.n > 0);
	if (st == TS_OK && upto != TS_NO_SEAM && text->at < upto)
		st = ts_fail(err, TS_IO, "the trace changed while it was read (run again)");
	return st ? st : annotated_put_piece(text, job, err);
}

static enum ts_status annotated_take_head(struct text *text, struct ts_error *err)
{
	struct ts_bytes head = { NULL, 1 };
	enum ts_status st = TS_OK;

	while (st == TS_OK && head.n > 0) {
		st = see_some(text, text->copy->seams.head_at, SIZE_MAX, &head, err);
		annotated_take(text, head);
	}
	return st == TS_OK && text->piece.failed ? ts_fail_nomem(err) : st;
}

/* Both parts of the text are one job, which reads it once. */
static enum ts_status annotated_put_text(struct copy *copy, struct ts_trace_pack *pack,
					 size_t thread, struct ts_error *err)
{
	const struct ts_seams *seams = &copy->seams;
	struct text text = { .copy = copy, .pack = pack, .thread = thread };
	enum ts_status st = ts_window_open(&text.window, seams->bytes, seams->mapped, err);

	ts_strict_init(&text.strict, &text.piece);
	if (st == TS_OK)
		st = annotated_take_head(&text, err);
	ts_buf_clear(&text.piece); /* put_head() puts it */
	if (st == TS_OK)
		st = copy_text(&text, seams->events_at, JOB_TEXT, err);
	if (annotated_is_mended(copy))
		ts_strict_seam(&text.strict);
	if (st == TS_OK)
		st = copy_text(&text, seams->end_at, FIRST_ROW + copy->nr_rows, err);
	if (annotated_is_mended(copy))
		ts_strict_end(&text.strict);
	if (st == TS_OK)
		st = annotated_put_piece(&text, FIRST_ROW + copy->nr_rows, err);
	ts_window_release(&text.window);
	ts_buf_release(&text.piece);
	return st;
}

/* Every event begins with its comma; the first of ours may stand where a comma may not be. */
static enum ts_status put_processes(struct copy *copy, struct ts_trace_pack *pack, size_t thread,
				    struct ts_error *err)
{
	struct ts_buf out = TS_BUF_INIT;
	enum ts_status st;

	for (uint32_t i = 0; i < copy->nr_processes; i++) {
		struct ts_perfetto_process process = { copy->seams.free_id + i, i,
						       copy->processes[i].name };

		ts_perfetto_json.process(&out, &process);
	}
	if (!(annotated_is_mended(copy) ? copy->seams.has_items : copy->seams.needs_comma) &&
	    out.n > 0)
		out.p[0] = ' ';
	st = out.failed ? ts_fail_nomem(err)
			: ts_trace_pack_piece(pack, JOB_PROCESSES, thread, &out, err);
	ts_buf_release(&out);
	return st;
}

/* One job, on a thread. */
struct route {
	struct ts_trace_pack *pack;
	size_t job, thread;
};

static enum ts_status annotated_route_piece(void *ctx, struct ts_buf *text, struct ts_error *err)
{
	struct route *route = ctx;

	return ts_trace_pack_piece(route->pack, route->job, route->thread, text, err);
}

static enum ts_status annotated_make_job(void *ctx, size_t job, size_t thread,
					 struct ts_trace_pack *pack, struct ts_error *err)
{
	struct copy *copy = ctx;
	struct route route = { pack, job, thread };
	struct ts_trace_out out = { &route, annotated_route_piece };

	if (job == JOB_TEXT)
		return annotated_put_text(copy, pack, thread, err);
	if (job == JOB_PROCESSES)
		return put_processes(copy, pack, thread, err);
	if (job == FIRST_ROW + copy->nr_rows)
		return TS_OK; /* JOB_TEXT fills it */
	return ts_trace_row_write(copy->writers[thread], &copy->rows[job - FIRST_ROW], &out,
				  &copy->counts[job - FIRST_ROW], err);
}

/* Says that this is our copy, right behind the text's first bracket. */
static void annotated_put_mark(const struct copy *copy, struct ts_buf *out)
{
	const struct ts_seams *seams = &copy->seams;
	static const char note[] = "the events of source, as they stand there, and TPUsight's "
				   "tracks; tpusight-annotate --strip removes this file";

	if (seams->is_array)
		ts_buf_printf(out,
			      TS_ANNOTATED_ARRAY ",\"pid\":%u,\"args\":{\"generator\":\"tpusight\"",
			      seams->free_id);
	else
		ts_buf_puts(out, TS_ANNOTATED_OBJECT);
	ts_buf_puts(out, ",\"version\":");
	ts_json_quote(out, ts_bytes_of(copy->options->version));
	ts_buf_puts(out, ",\"source\":");
	ts_json_quote(out, ts_bytes_of(copy->options->source));
	ts_buf_printf(out, ",\"shift_ns\":%lld,\"first_pid\":%u,",
		      (long long)ts_i64_add(ts_trace_ns(seams->base_ps),
					    ts_i64_mul(seams->base_us, 1000)),
		      seams->free_id);
	if (seams->end_at != TS_NO_SEAM && seams->closing[0])
		ts_buf_printf(out, "\"source_ends_at\":%llu,", (unsigned long long)seams->end_at);
	ts_buf_printf(out, "\"note\":\"%s\"}", note);
	ts_buf_puts(out, seams->is_array ? "},\n" : ",\n");
}

static enum ts_status annotated_put_head(struct copy *copy, struct ts_buf *out,
					 struct ts_error *err)
{
	struct text text = { .copy = copy };
	enum ts_status st =
		ts_window_open(&text.window, copy->seams.bytes, copy->seams.mapped, err);

	ts_strict_init(&text.strict, &text.piece);
	if (st == TS_OK)
		st = annotated_take_head(&text, err);
	ts_buf_put(out, ts_buf_bytes(&text.piece));
	out->failed |= text.piece.failed;
	annotated_put_mark(copy, out);
	ts_buf_release(&text.piece);
	ts_window_release(&text.window);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

static enum ts_status annotated_make_writers(struct copy *copy, struct ts_error *err)
{
	struct ts_trace_clock clock = { .ps = copy->seams.base_ps,
					.ns = ts_i64_mul(copy->seams.base_us, 1000) };

	copy->plan.profile = copy->profile;
	copy->plan.first_ps = copy->seams.first_ps;
	copy->plan.last_ps = copy->seams.last_ps;
	copy->counts = calloc(copy->nr_rows + 1, sizeof(*copy->counts));
	copy->writers = calloc(copy->nr_threads, sizeof(struct ts_trace_writer *));
	if (!copy->counts || !copy->writers)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < copy->nr_threads; i++) {
		copy->writers[i] = ts_trace_writer_new(&copy->plan, &ts_perfetto_json, clock);
		if (!copy->writers[i])
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status put_together(struct copy *copy, struct ts_newfile *file, struct ts_error *err)
{
	size_t nr_jobs = FIRST_ROW + copy->nr_rows + 1;
	struct ts_trace_pack *pack = NULL;
	struct ts_buf head = TS_BUF_INIT;
	enum ts_status st = ts_trace_pack_new(&pack, file, nr_jobs, copy->nr_threads, false, err);

	if (st == TS_OK)
		st = ts_trace_pack_run(pack, annotated_make_job, copy, err);
	if (st == TS_OK)
		st = annotated_put_head(copy, &head, err);
	if (st == TS_OK)
		st = ts_trace_pack_begin(pack, file, ts_buf_bytes(&head), err);
	if (st == TS_OK)
		st = ts_trace_pack_end(
			pack, ts_bytes_of(annotated_is_mended(copy) ? "" : copy->seams.closing),
			err);
	ts_buf_release(&head);
	ts_trace_pack_free(pack);
	return st;
}

enum ts_status ts_annotated_write(struct ts_newfile *file, const struct ts_profile *profile,
				  uint32_t host, const struct ts_results *results,
				  const struct ts_annotated_options *options,
				  struct ts_annotated_report *report, struct ts_error *err)
{
	struct copy copy = { .profile = profile,
			     .results = results,
			     .options = options,
			     .host = host,
			     .arena = TS_ARENA_INIT,
			     .nr_threads = TS_MAX(options->nr_threads, 1) };
	uint64_t before = file->nr_bytes;
	enum ts_status st;

	TS_ASSERT(file && profile && options);
	TS_ASSERT(host < profile->nr_hosts);
	if (!ts_seams_of(profile, host, &copy.seams))
		return ts_fail(err, TS_UNSUPPORTED, "%s: no trace that can be annotated",
			       options->source);
	st = annotated_add_rows(&copy, err);
	if (st == TS_OK)
		st = annotated_make_writers(&copy, err);
	if (st == TS_OK)
		st = put_together(&copy, file, err);
	if (st == TS_OK && report) {
		report->own_events = 0;
		for (size_t i = 0; i < copy.nr_rows; i++)
			report->own_events += copy.counts[i].own;
		report->bytes = file->nr_bytes - before;
	}
	annotated_release(&copy);
	return st;
}
