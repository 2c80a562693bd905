/* SPDX-License-Identifier: MIT */
/* The two maps that draw: what is put behind a file and into the trace of its run, and what the page shows of it. */
#include "base/check.h"
#include "picture/picture.h"
#include "pod/placed.h"
#include "pod/saved_trace.h"
#include "pod/saved_tracks.h"
#include "pod/states.h"
#include "io/scratch.h"
#include "overlay/xplane.h"
#include "read/reader.h"
#include "run/launched.h"

/* What is drawn of a file, as it comes to be. */
struct drawing {
	struct ts_placed placed;
	struct ts_states states;
	struct ts_trace_plan plan; /* where a trace is asked for */
	struct ts_saved_known known;
};

static void map_draw_release(struct drawing *drawing)
{
	ts_trace_plan_release(&drawing->plan);
	ts_states_release(&drawing->states);
	ts_saved_known_release(&drawing->known);
	ts_mapped_run_release(&drawing->placed.mapped);
}

/* All passes over this file alone, and the overlay's with what is known of the whole run. COUNTER: of a trace, or NULL. */
static enum ts_status draw_tracks(struct drawing *drawing, const struct ts_run_options *options,
				  const struct ts_duration_counter *counter, struct ts_error *err)
{
	const struct ts_placed *placed = &drawing->placed;
	struct ts_run *run = placed->run;
	struct ts_pass_part part = { .first_host = placed->first_host,
				     .nr_hosts = placed->nr_hosts,
				     .closes = true,
				     .counter = counter,
				     .ctx = &drawing->states };
	struct ts_passes shared = { .results = &run->results };
	struct ts_context ctx;
	enum ts_status st = ts_run_context(run, options, &ctx, err);

	if (st == TS_OK)
		st = ts_launched_make(&run->profile, part.first_host, part.nr_hosts,
				      options->nr_threads, err);
	for (enum ts_pass pass = TS_PASS_FIRST; pass <= TS_PASS_SECOND && st == TS_OK; pass++)
		st = ts_pass_run_part(&run->profile, &ctx, pass, &part, &shared,
				      options->nr_threads, err);
	if (st == TS_OK)
		st = ts_saved_load_results(ts_buf_bytes(&placed->mapped.results), &run->profile,
					   ctx.facts, &drawing->known, err);
	part.take = ts_states_take;
	drawing->states.pass = TS_PASS_OVERLAY;
	if (st == TS_OK && ctx.overlay_budget > 0)
		st = ts_pass_run_part(&run->profile, &ctx, TS_PASS_OVERLAY, &part, &shared,
				      options->nr_threads, err);
	ts_passes_release(&shared);
	return st ? st : ts_run_settle(run, err);
}

static enum ts_status map_draw_put_tracks(const struct drawing *drawing, enum ts_parcel_kind kind,
					  struct ts_bytes pictures, struct ts_buf *out,
					  struct ts_error *err)
{
	const struct ts_placed *placed = &drawing->placed;
	const struct ts_parcel_head head = ts_placed_head(placed);
	struct ts_buf tracks = TS_BUF_INIT;
	enum ts_status st;

	ts_saved_put_tracks(&tracks, &placed->run->profile, placed->first_host, placed->nr_hosts,
			    &placed->run->results);
	st = tracks.failed ? ts_fail_nomem(err)
			   : ts_states_put_tracks(out, kind, &drawing->states,
						  ts_buf_bytes(&tracks), pictures, &head, err);
	ts_buf_release(&tracks);
	return st;
}

/* ---- behind the file, and in the trace */

static enum ts_status check_kind(const struct ts_placed *placed, struct ts_error *err)
{
	if (placed->nr_hosts == 1 && !placed->mapped.saved.files[placed->file].is_archive &&
	    ts_reader_of(&placed->run->profile, placed->first_host)->annotate == TS_ANNOTATE_BEHIND)
		return TS_OK;
	return ts_fail(err, TS_UNSUPPORTED,
		       "%s: an overlay is only put behind an xplane (tpusight annotate on one "
		       "machine writes copies of traces)",
		       placed->session->files[0].path);
}

static enum ts_status put_planes(const struct ts_placed *placed, struct ts_buf *out,
				 const char **problem, struct ts_error *err)
{
	struct ts_run *run = placed->run;
	const struct ts_input *input = &run->inputs[0];
	size_t before = out->n, native_bytes = 0;
	struct ts_bytes native;
	enum ts_status st = ts_input_check(input, err);

	if (st == TS_OK)
		st = ts_overlay_find(input->bytes, &native_bytes, err);
	native = ts_bytes_cut(input->bytes, 0, native_bytes);
	if (st == TS_OK)
		st = ts_overlay_tail(out, native, &run->profile, placed->first_host, &run->results,
				     err);
	if (st || ts_overlay_fits(native, out->n - before))
		return st;
	out->n = before;
	*problem = (const char *)ts_arena_printf(&run->profile.arena, TS_OVERLAY_TOO_BIG,
						 placed->session->files[0].path)
			   .p;
	return *problem ? TS_OK : ts_fail_nomem(err);
}

/* Rows go through a temporary file: they may be more than memory. */
static enum ts_status map_draw_put_trace(struct drawing *drawing, enum ts_trace_kind kind,
					 struct ts_buf *out, struct ts_error *err)
{
	const struct ts_placed *placed = &drawing->placed;
	const struct ts_map_options *from = &placed->mapped.options;
	const struct ts_parcel_head head = ts_placed_head(placed);
	struct ts_run *run = placed->run;
	struct ts_saved_trace saved = { .results = placed->mapped.results_id, .kind = kind };
	struct ts_trace_options options = { .form = ts_trace_form(kind),
					    .nr_threads = placed->nr_threads };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_scratch rows = TS_SCRATCH_INIT;
	struct ts_bytes bytes = { NULL, 0 };
	enum ts_status st = ts_scratch_open(&rows, err);

	if (st)
		return st;
	file.fd = rows.fd;
	file.straight = true;
	file.path = (char *)(uintptr_t)"temporary file";
	drawing->plan.wants = &drawing->known.wants;
	st = ts_trace_plan_close(
		&drawing->plan,
		ts_trace_budget(kind, from->has_max_trace_events, from->max_trace_events), err);
	if (st == TS_OK)
		st = ts_trace_write_part(&file, &run->profile, placed->first_host, &run->results,
					 &drawing->plan, &options, &run->profile.arena, &saved.told,
					 err);
	rows.nr_bytes = file.nr_bytes;
	if (st == TS_OK && rows.nr_bytes > 0)
		st = ts_scratch_map(&rows, &bytes, err);
	if (st == TS_OK)
		st = ts_saved_trace_put(out, &saved, bytes, &head, err);
	ts_scratch_release(&rows);
	return st;
}

static enum ts_status map_draw_put_all(struct drawing *drawing, struct ts_map_drawing *out,
				       struct ts_error *err)
{
	enum ts_status st = put_planes(&drawing->placed, out->tail, &out->problem, err);

	if (st == TS_OK && out->tracks)
		st = map_draw_put_tracks(drawing, TS_PARCEL_TRACKS, (struct ts_bytes){ NULL, 0 },
					 out->tracks, err);
	if (st == TS_OK && out->trace)
		st = map_draw_put_trace(drawing, out->kind, out->trace, err);
	return st;
}

static enum ts_status draw_file(struct drawing *drawing, struct ts_map_drawing *out,
				struct ts_error *err)
{
	struct ts_placed *placed = &drawing->placed;
	const struct ts_duration_counter counter = ts_trace_plan_counter(&drawing->plan);
	struct ts_run_options options = ts_mapped_run_options(&placed->mapped, placed->nr_threads);
	enum ts_status st = ts_placed_find(placed, err);

	if (st == TS_OK)
		st = check_kind(placed, err);
	if (st == TS_OK)
		st = ts_placed_read(placed, err);
	if (st == TS_OK && out->trace)
		st = ts_trace_plan_init(&drawing->plan, &placed->run->profile, err);
	options.overlay_budget = placed->mapped.options.overlay_budget;
	if (st == TS_OK)
		st = draw_tracks(drawing, &options, out->trace ? &counter : NULL, err);
	if (st == TS_OK)
		st = ts_saved_check_damage(&drawing->known, placed->session->files[0].path, err);
	return st == TS_OK ? map_draw_put_all(drawing, out, err) : st;
}

static enum ts_status open_drawing(struct drawing *drawing, struct ts_run *run,
				   const struct ts_session *session,
				   const struct ts_map_input *results, size_t nr_threads,
				   struct ts_error *err)
{
	TS_ASSERT(run && session && results && session->nr_files == 1);
	drawing->placed.run = run;
	drawing->placed.session = session;
	drawing->placed.nr_threads = nr_threads;
	drawing->placed.outline = results->path;
	return ts_mapped_run_open_results(&drawing->placed.mapped, run, results, err);
}

enum ts_status ts_map_overlay(struct ts_run *run, const struct ts_session *session,
			      const struct ts_map_input *results, size_t nr_threads,
			      struct ts_map_drawing *out, struct ts_error *err)
{
	struct drawing drawing = { .placed = { .run = NULL } };
	enum ts_status st;

	TS_ASSERT(out && out->tail);
	out->problem = NULL;
	st = open_drawing(&drawing, run, session, results, nr_threads, err);
	if (st == TS_OK)
		st = draw_file(&drawing, out, err);
	map_draw_release(&drawing);
	return st;
}

/* ---- on the page */

static enum ts_status map_draw_put_page(const struct drawing *drawing, struct ts_buf *out,
					struct ts_error *err)
{
	const struct ts_placed *placed = &drawing->placed;
	const struct ts_run *run = placed->run;
	struct ts_buf pictures = TS_BUF_INIT;
	enum ts_status st =
		ts_picture_steps(&pictures, &run->profile, &run->outline, placed->first_host,
				 placed->nr_hosts, placed->nr_threads, err);

	if (st == TS_OK)
		st = map_draw_put_tracks(drawing, TS_PARCEL_PAGE, ts_buf_bytes(&pictures), out,
					 err);
	ts_buf_release(&pictures);
	return st;
}

static enum ts_status draw_page(struct drawing *drawing, struct ts_buf *out, struct ts_error *err)
{
	struct ts_placed *placed = &drawing->placed;
	struct ts_run_options options = ts_mapped_run_options(&placed->mapped, placed->nr_threads);
	enum ts_status st = ts_placed_find(placed, err);

	options.track_items = TS_MAX_TRACK_ITEMS;
	if (st == TS_OK && placed->nr_hosts > 0) {
		st = ts_placed_read(placed, err);
		if (st == TS_OK)
			st = draw_tracks(drawing, &options, NULL, err);
	}
	return st == TS_OK ? map_draw_put_page(drawing, out, err) : st;
}

enum ts_status ts_map_tracks(struct ts_run *run, const struct ts_session *session,
			     const struct ts_map_input *results, size_t nr_threads,
			     struct ts_buf *out, struct ts_error *err)
{
	struct drawing drawing = { .placed = { .run = NULL } };
	enum ts_status st;

	TS_ASSERT(out);
	st = open_drawing(&drawing, run, session, results, nr_threads, err);
	if (st == TS_OK)
		st = draw_page(&drawing, out, err);
	map_draw_release(&drawing);
	return st;
}
