/* SPDX-License-Identifier: MIT */
/* The two maps: a file's outline, and the states of its lines. */
#include "pod/map.h"

#include "analysis/settings_list.h"
#include "base/check.h"
#include "pod/placed.h"
#include "pod/states.h"
#include "run/launched.h"

/* Says which file it is, as the search for sessions has it. */
static struct ts_saved_file pod_map_file_of(const struct ts_session *session,
					    const struct ts_run *run)
{
	const struct ts_hostfile *file = &session->files[0];
	struct ts_bytes native = ts_placed_native(run->inputs[0].bytes);

	return (struct ts_saved_file){
		.host = ts_bytes_of(file->host),
		.name = ts_bytes_of(file->name),
		.path = ts_bytes_of(file->path),
		.logdir = ts_bytes_of(session->logdir),
		.run = ts_bytes_of(session->run),
		.session = ts_bytes_of(session->session),
		.nr_bytes = native.n,
		.print = ts_fingerprint(native),
		.nr_hosts = (uint32_t)run->profile.nr_hosts,
		.is_archive = run->nr_unpacked > 0,
	};
}

static enum ts_status pod_map_read_lines(struct ts_run *run, size_t nr_threads, struct ts_buf *out,
					 struct ts_error *err)
{
	struct ts_outline_lines lines = { .nr = 0 };
	uint8_t *activity = NULL;
	enum ts_status st = ts_profile_finish(&run->profile, err);

	if (st == TS_OK)
		st = ts_outline_lines_make(&run->profile, nr_threads, &lines, &activity, err);
	if (st == TS_OK)
		st = ts_outline_hulls(&run->profile, nr_threads, &lines, err);
	if (st == TS_OK)
		ts_saved_put_lines(out, &run->profile, &lines);
	ts_outline_lines_release(&lines);
	free(activity);
	return st;
}

static enum ts_status put_outline(struct ts_run *run, const struct ts_saved_file *file,
				  size_t nr_threads, struct ts_buf *out, struct ts_error *err)
{
	const struct ts_parcel_head head = { .run = 0 };
	struct ts_saved_file own = *file;
	struct ts_saved_run saved = { .files = &own, .nr_files = 1 };
	struct ts_buf profile = TS_BUF_INIT, lines = TS_BUF_INIT;
	enum ts_status st;

	ts_saved_put_profile(&profile, &run->profile, &saved);
	st = pod_map_read_lines(run, nr_threads, &lines, err);
	ts_parcel_begin(out, TS_PARCEL_OUTLINE, &head);
	if (st == TS_OK && (profile.failed || lines.failed))
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = ts_parcel_put(out, ts_buf_bytes(&profile), err);
	if (st == TS_OK)
		st = ts_parcel_put(out, ts_buf_bytes(&lines), err);
	ts_parcel_end(out);
	ts_buf_release(&profile);
	ts_buf_release(&lines);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_status ts_map_outline(struct ts_run *run, const struct ts_session *session,
			      const struct ts_settings *settings, size_t nr_threads,
			      struct ts_buf *out, const char **problem, struct ts_error *err)
{
	const struct ts_run_options options = { .nr_threads = nr_threads };
	struct ts_error story = TS_ERROR_INIT;
	struct ts_saved_file file;
	enum ts_status st = ts_run_read(run, session, &options, &story);

	TS_ASSERT(run && session && settings && out && problem && session->nr_files == 1);
	*problem = NULL;
	/* What is wrong with the bytes is wrong on every machine; all else is worth another try. */
	if (st && st != TS_FORMAT && st != TS_UNSUPPORTED && st != TS_LIMIT) {
		if (err)
			*err = story;
		return st;
	}
	if (st) {
		ts_profile_release(&run->profile);
		*problem =
			(const char *)ts_arena_copy(&run->profile.arena, ts_bytes_of(story.text)).p;
		if (!*problem)
			return ts_fail_nomem(err);
	}
	run->profile.input_names = settings->input_names;
	run->profile.step_mark = settings->step_mark;
	file = pod_map_file_of(session, run);
	file.problem = ts_bytes_of(*problem ? *problem : "");
	return put_outline(run, &file, nr_threads, out, err);
}

/* ---- the states of a file's lines */

/* All passes that need not know what other hosts found. */
static enum ts_status run_passes(const struct ts_placed *placed, struct ts_states *states,
				 struct ts_error *err)
{
	const struct ts_run_options options =
		ts_mapped_run_options(&placed->mapped, placed->nr_threads);
	struct ts_run *run = placed->run;
	struct ts_wanting wanting = { .lines = NULL };
	const struct ts_duration_counter counter = ts_wanting_counter(&wanting);
	const struct ts_pass_part part = { .first_host = placed->first_host,
					   .nr_hosts = placed->nr_hosts,
					   .counter = &counter,
					   .ctx = states,
					   .take = ts_states_take,
					   .take_damage = ts_states_take_damage };
	struct ts_passes shared = { .results = &run->results };
	struct ts_context ctx;
	enum ts_status st = ts_run_context(run, &options, &ctx, err);

	if (st == TS_OK)
		st = ts_launched_make(&run->profile, part.first_host, part.nr_hosts,
				      options.nr_threads, err);
	if (st == TS_OK)
		st = ts_wanting_init(&wanting, &run->profile, err);
	for (enum ts_pass pass = TS_PASS_FIRST; pass <= TS_PASS_SECOND && st == TS_OK; pass++) {
		states->pass = pass;
		st = ts_pass_run_part(&run->profile, &ctx, pass, &part, &shared, options.nr_threads,
				      err);
	}
	if (st == TS_OK)
		st = ts_wanting_sum(&wanting, &run->profile, part.first_host, part.nr_hosts,
				    &states->wants, err);
	ts_wanting_release(&wanting);
	ts_passes_release(&shared);
	return st;
}

static enum ts_status pod_map_map_file(struct ts_placed *placed, struct ts_buf *out,
				       struct ts_error *err)
{
	struct ts_states states = { .pass = TS_PASS_FIRST };
	struct ts_parcel_head head;
	enum ts_status st = ts_placed_find(placed, err);

	if (st == TS_OK && placed->nr_hosts > 0) {
		st = ts_placed_read(placed, err);
		if (st == TS_OK)
			st = run_passes(placed, &states, err);
	}
	head = ts_placed_head(placed);
	if (st == TS_OK)
		st = ts_states_put(out, &states, &head, err);
	ts_states_release(&states);
	return st;
}

enum ts_status ts_map_pass(struct ts_run *run, const struct ts_session *session,
			   const struct ts_map_input *outline, size_t nr_threads,
			   struct ts_buf *out, struct ts_error *err)
{
	struct ts_placed placed = { .run = run, .session = session, .nr_threads = nr_threads };
	enum ts_status st;

	TS_ASSERT(run && session && outline && out && session->nr_files == 1);
	placed.outline = outline->path;
	st = ts_mapped_run_open(&placed.mapped, run, outline, err);
	if (st == TS_OK)
		st = pod_map_map_file(&placed, out, err);
	ts_mapped_run_release(&placed.mapped);
	return st;
}
