/* SPDX-License-Identifier: MIT */
/* The two reductions: outlines to the run's, states to its results. */
#include "analysis/settings_list.h"
#include "base/check.h"
#include "base/order.h"
#include "pod/join.h"
#include "picture/picture.h"
#include "pod/reduce_steps.h"
#include "pod/saved_results.h"
#include "pod/saved_tracks.h"
#include "pod/states.h"
#include "trace/story.h"

/* ---- outlines */

/* The outline of one file, loaded; of its lines, when these are asked for. */
struct opened {
	const struct ts_map_input *input;
	struct ts_profile profile;
	struct ts_saved_run saved;
	struct ts_outline_lines lines;
	int64_t *from_ps;
	struct ts_parcel parcel;
	struct ts_buf text;
};

static enum ts_status open_outline(struct opened *opened, struct ts_error *err)
{
	const struct ts_map_input *input = opened->input;
	enum ts_status st = ts_parcel_open(&opened->parcel, input->bytes, TS_PARCEL_OUTLINE, err);

	ts_profile_init(&opened->profile);
	if (st == TS_OK)
		st = ts_parcel_unpack(&opened->parcel, 0, &opened->text, err);
	if (st == TS_OK)
		st = ts_saved_load_profile(ts_buf_bytes(&opened->text), &opened->profile,
					   &opened->saved, err);
	ts_buf_release(&opened->text);
	if (st == TS_OK && opened->saved.nr_files != 1)
		st = ts_fail(err, TS_FORMAT, "it is not of one file");
	return ts_map_fail_in(err, st, input->path);
}

static enum ts_status open_lines(struct opened *opened, struct ts_error *err)
{
	enum ts_status st = ts_parcel_unpack(&opened->parcel, 1, &opened->text, err);

	if (st == TS_OK)
		st = ts_saved_load_lines(ts_buf_bytes(&opened->text), &opened->profile,
					 &opened->lines, &opened->from_ps, err);
	ts_buf_release(&opened->text);
	return ts_map_fail_in(err, st, opened->input->path);
}

static void close_outline(struct opened *opened)
{
	ts_outline_lines_release(&opened->lines);
	ts_saved_run_release(&opened->saved);
	ts_profile_release(&opened->profile);
	ts_buf_release(&opened->text);
	free(opened->from_ps);
}

/* Where a file stands among the others. */
struct place {
	const struct ts_map_input *input;
	struct ts_bytes host, name;
	bool is_extra; /* it has no hosts: a memory profile, a compiler's log */
	bool is_empty; /* it could not be read */
};

/* As one machine reads them: files with hosts by the names of these, then what is read along. */
TS_ORDER(reduce_by_place, struct place, TS_UP(is_extra) TS_UP(host) TS_UP(name))

static enum ts_status reduce_find_place(struct place *place, const struct ts_map_input *input,
					struct ts_arena *arena, struct ts_error *err)
{
	struct opened opened = { .input = input };
	enum ts_status st = open_outline(&opened, err);

	if (st == TS_OK) {
		const struct ts_saved_file *file = &opened.saved.files[0];

		*place = (struct place){ .input = input,
					 .host = ts_arena_copy(arena, file->host),
					 .name = ts_arena_copy(arena, file->name),
					 .is_extra = file->nr_hosts == 0 && file->problem.n == 0,
					 .is_empty = file->problem.n > 0 };
		if (!place->host.p || !place->name.p)
			st = ts_fail_nomem(err);
	}
	close_outline(&opened);
	return st;
}

static enum ts_status check_places(const struct place *places, size_t nr, struct ts_error *err)
{
	size_t nr_read = 0;

	for (size_t i = 0; i < nr; i++) {
		nr_read += !places[i].is_empty;
		if (i > 0 && reduce_by_place(&places[i - 1], &places[i]) == 0)
			return ts_fail(err, TS_USAGE,
				       "%s and %s are outlines of one file (name each file once)",
				       places[i - 1].input->path, places[i].input->path);
	}
	if (nr_read == 0)
		return ts_fail(err, TS_FORMAT, "none of the %zu files of the run could be read",
			       nr);
	return TS_OK;
}

static enum ts_status join_one(struct ts_joining *joining, const struct ts_map_input *input,
			       struct ts_error *err)
{
	struct opened opened = { .input = input };
	enum ts_status st = open_outline(&opened, err);

	if (st == TS_OK)
		st = open_lines(&opened, err);
	if (st == TS_OK) {
		st = ts_join_add(joining, &opened.profile, &opened.saved, &opened.lines,
				 opened.from_ps, err);
		st = ts_map_fail_in(err, st, input->path);
	}
	close_outline(&opened);
	return st;
}

static enum ts_status reduce_join_all(struct ts_joining *joining, const struct ts_map_input *inputs,
				      size_t nr, struct ts_error *err)
{
	struct place *places = calloc(nr + 1, sizeof(*places));
	enum ts_status st = places ? TS_OK : ts_fail_nomem(err);

	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = reduce_find_place(&places[i], &inputs[i], &joining->profile->arena, err);
	if (st == TS_OK) {
		TS_SORT(places, nr, reduce_by_place);
		st = check_places(places, nr, err);
	}
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = join_one(joining, places[i].input, err);
	free(places);
	return st;
}

/* As a report of their folder names the run; files inside archives, and what has no host, have no
 * session. */
static void reduce_name_run(struct ts_profile *profile, const struct ts_saved_run *saved)
{
	const struct ts_saved_file *first = &saved->files[0];

	if (profile->nr_hosts == 0)
		return;
	for (size_t i = 0; i < saved->nr_files; i++)
		if (saved->files[i].is_archive)
			return;
	profile->logdir = first->logdir;
	profile->run = first->run;
	profile->session = first->session;
}

static void reduce_find_wall(struct ts_outline *outline, const struct ts_outline_lines *lines)
{
	outline->wall_start_ps = INT64_MAX;
	outline->wall_end_ps = INT64_MIN;
	for (size_t i = 0; i < lines->nr; i++)
		if (lines->items[i].has_hull) {
			outline->has_wall = true;
			outline->wall_start_ps =
				TS_MIN(outline->wall_start_ps, lines->items[i].first_ps);
			outline->wall_end_ps =
				TS_MAX(outline->wall_end_ps, lines->items[i].last_ps);
		}
}

static enum ts_status put_damages(struct ts_buf *out, const struct ts_outline_lines *lines,
				  struct ts_error *err)
{
	struct ts_line_damages damages = { NULL, 0, 0 };

	for (uint32_t i = 0; i < lines->nr; i++) {
		if (lines->items[i].damage.n == 0)
			continue;
		if (!ts_grow(&damages.items, &damages.cap, damages.nr + 1,
			     sizeof(*damages.items))) {
			free(damages.items);
			return ts_fail_nomem(err);
		}
		damages.items[damages.nr++] =
			(struct ts_line_damage){ .line = i, .text = lines->items[i].damage };
	}
	ts_line_damages_put(out, &damages);
	free(damages.items);
	return TS_OK;
}

#define NR_PARTS TS_MAPPED_RESULTS /* of a run's parcel, before there are results */

/* Where there is one host the outline has its steps. */
static enum ts_status reduce_join_lines(struct ts_joining *joining, struct ts_outline *outline,
					struct ts_buf *steps, struct ts_error *err)
{
	enum ts_status st;

	if (joining->profile->nr_hosts < 2)
		return ts_outline_join(joining->profile, &joining->lines, outline, err);
	st = ts_reduce_steps(joining->profile, &joining->lines, &outline->steps, steps, err);
	return st ? st : ts_outline_join_threads(joining->profile, &joining->lines, outline, err);
}

static enum ts_status reduce_make_parts(struct ts_joining *joining, struct ts_outline *outline,
					const struct ts_map_options *options, struct ts_buf *parts,
					struct ts_buf *steps, struct ts_error *err)
{
	struct ts_profile *profile = joining->profile;
	enum ts_status st;

	reduce_name_run(profile, &joining->saved);
	ts_map_options_put(&parts[TS_MAPPED_OPTIONS], options);
	ts_saved_put_profile(&parts[TS_MAPPED_PROFILE], profile, &joining->saved);
	st = put_damages(&parts[TS_MAPPED_DAMAGE], &joining->lines, err);
	if (st == TS_OK)
		st = ts_profile_finish(profile, err);
	if (st == TS_OK)
		st = ts_join_clocks(joining, err);
	if (st)
		return st;
	reduce_find_wall(outline, &joining->lines);
	st = reduce_join_lines(joining, outline, steps, err);
	if (st == TS_OK)
		ts_saved_put_outline(&parts[TS_MAPPED_OUTLINE], outline);
	return st;
}

/* What is input, and what marks steps, is known when a file's outline is made: asked for here alone it would count for
 * nothing. */
static enum ts_status reduce_check_name(struct ts_bytes asked, struct ts_bytes made,
					const char *key, struct ts_error *err)
{
	if (asked.n == 0 || ts_bytes_eq(asked, made))
		return TS_OK;
	return ts_fail(err, TS_USAGE,
		       "the outlines were made with other \"%s\" (give map outline the same "
		       "--config)",
		       key);
}

static enum ts_status reduce_check_names(const struct ts_profile *profile,
					 const struct ts_map_options *options, struct ts_error *err)
{
	const struct ts_settings *settings = options->settings;
	enum ts_status st =
		reduce_check_name(settings->input_names, profile->input_names, "input_names", err);

	return st ? st
		  : reduce_check_name(settings->step_mark, profile->step_mark, "step_mark", err);
}

static enum ts_status reduce_put_run(struct ts_buf *out, const struct ts_buf *parts,
				     const struct ts_buf *steps, struct ts_error *err)
{
	const struct ts_parcel_head head = { .run = 0 };
	enum ts_status st = TS_OK;

	ts_parcel_begin(out, TS_PARCEL_RUN, &head);
	for (size_t i = 0; i < NR_PARTS && st == TS_OK; i++)
		st = parts[i].failed ? ts_fail_nomem(err)
				     : ts_parcel_put(out, ts_buf_bytes(&parts[i]), err);
	ts_buf_put(out, ts_buf_bytes(steps));
	ts_parcel_end(out);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_status ts_reduce_outline(const struct ts_map_input *outlines, size_t nr,
				 const struct ts_map_options *options, struct ts_buf *out,
				 struct ts_error *err)
{
	struct ts_profile profile;
	struct ts_joining joining = { .profile = &profile };
	struct ts_buf parts[NR_PARTS] = { TS_BUF_INIT }, steps = TS_BUF_INIT;
	struct ts_outline outline;
	enum ts_status st;

	TS_ASSERT(outlines && options && out && nr > 0);
	ts_profile_init(&profile);
	memset(&outline, 0, sizeof(outline));
	st = reduce_join_all(&joining, outlines, nr, err);
	if (st == TS_OK)
		st = reduce_check_names(&profile, options, err);
	if (st == TS_OK)
		st = reduce_make_parts(&joining, &outline, options, parts, &steps, err);
	if (st == TS_OK)
		st = reduce_put_run(out, parts, &steps, err);
	ts_buf_release(&steps);
	for (size_t i = 0; i < NR_PARTS; i++)
		ts_buf_release(&parts[i]);
	ts_outline_release(&outline);
	ts_join_release(&joining);
	ts_profile_release(&profile);
	return st;
}

/* ---- states */

struct reducing {
	struct ts_run *run;
	struct ts_mapped_run mapped;
	const struct ts_map_input *outline;
	const struct ts_map_input **files; /* the states of each file of the run; NULL: not given */
	const struct ts_map_input **tracks; /* likewise; of no file, or of all */
	size_t nr_tracks;
	enum ts_parcel_kind drawn; /* what kind they are of: an overlay's, or a page's */
	struct ts_buf *results;	   /* NULL: they are not asked for */
	struct ts_steps_bringer bringer;
	enum ts_status steps_status; /* of bringing them */
	struct ts_error steps_story;
};

static enum ts_status reduce_open_states(const struct ts_map_input *input, struct ts_parcel *parcel,
					 struct ts_error *err)
{
	enum ts_parcel_kind kind = ts_parcel_is(input->bytes, TS_PARCEL_TRACKS) ? TS_PARCEL_TRACKS
				   : ts_parcel_is(input->bytes, TS_PARCEL_PAGE) ? TS_PARCEL_PAGE
										: TS_PARCEL_STATES;
	enum ts_status st = ts_parcel_open(parcel, input->bytes, kind, err);

	return ts_map_fail_in(err, st, input->path);
}

static enum ts_status place_states(struct reducing *reducing, const struct ts_map_input *input,
				   struct ts_error *err)
{
	const struct ts_saved_run *saved = &reducing->mapped.saved;
	const struct ts_map_input **files;
	struct ts_parcel parcel;
	enum ts_status st = reduce_open_states(input, &parcel, err);

	if (st)
		return st;
	files = parcel.kind == TS_PARCEL_STATES ? reducing->files : reducing->tracks;
	if (parcel.head.run != reducing->mapped.id || parcel.head.file >= saved->nr_files)
		return ts_fail(err, TS_FORMAT,
			       "%s: these states were made with another outline than %s (run "
			       "tpusight map pass again with it)",
			       input->path, reducing->outline->path);
	if (files[parcel.head.file])
		return ts_fail(err, TS_USAGE,
			       "%s and %s are states of one file (name each file once)",
			       files[parcel.head.file]->path, input->path);
	files[parcel.head.file] = input;
	if (parcel.kind == TS_PARCEL_STATES)
		return TS_OK;
	if (reducing->nr_tracks++ > 0 && parcel.kind != reducing->drawn)
		return ts_fail(err, TS_USAGE,
			       "%s: tracks of map overlay and of map tracks do not go together "
			       "(name one kind)",
			       input->path);
	reducing->drawn = parcel.kind;
	return TS_OK;
}

static enum ts_status check_tracks(const struct reducing *reducing, struct ts_error *err)
{
	const struct ts_saved_run *saved = &reducing->mapped.saved;

	for (size_t i = 0; i < saved->nr_files && reducing->nr_tracks > 0; i++)
		if (!reducing->tracks[i] && saved->files[i].nr_hosts > 0)
			return ts_fail(err, TS_NOTFOUND,
				       "the tracks of %.*s are missing (run tpusight %s on it, "
				       "and name the tracks of all files, or of none)",
				       TS_ARG(saved->files[i].path),
				       reducing->drawn == TS_PARCEL_PAGE ? "map tracks"
									 : "map overlay --tracks");
	return TS_OK;
}

static enum ts_status check_whole(const struct reducing *reducing, struct ts_error *err)
{
	const struct ts_saved_run *saved = &reducing->mapped.saved;
	size_t nr_missing = 0, first = 0;

	for (size_t i = saved->nr_files; i-- > 0;)
		if (!reducing->files[i] && saved->files[i].nr_hosts > 0) {
			nr_missing++;
			first = i;
		}
	if (nr_missing == 0)
		return TS_OK;
	return ts_fail(
		err, TS_NOTFOUND,
		"the states of %zu of %zu files are missing, of %.*s first (run tpusight map "
		"pass on them, and name all states)",
		nr_missing, saved->nr_files, TS_ARG(saved->files[first].path));
}

static enum ts_status feed(void *ctx, enum ts_pass number, struct ts_pass_sums *sums,
			   struct ts_error *err)
{
	const struct reducing *reducing = ctx;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < reducing->mapped.saved.nr_files && st == TS_OK; i++) {
		const struct ts_map_input *input =
			number == TS_PASS_OVERLAY ? reducing->tracks[i] : reducing->files[i];
		struct ts_parcel parcel;

		if (!input)
			continue;
		st = reduce_open_states(input, &parcel, err);
		if (st)
			break;
		st = ts_states_add(&parcel, number, sums, err);
		if (st == TS_OK && number == TS_PASS_FIRST)
			st = ts_states_note_damage(&parcel, &reducing->run->profile, err);
		st = ts_map_fail_in(err, st, input->path);
	}
	return st;
}

/* The host behind those of file INDEX. */
static uint32_t host_behind(const struct ts_saved_run *saved, size_t index)
{
	uint32_t host = 0;

	for (size_t i = 0; i <= index; i++)
		host += saved->files[i].nr_hosts;
	return host;
}

/* What map tracks drew of the events, which are not here. */
static enum ts_status add_pictures(const struct reducing *reducing, const struct ts_parcel *parcel,
				   struct ts_error *err)
{
	struct ts_buf list = TS_BUF_INIT;
	enum ts_status st;

	if (parcel->kind != TS_PARCEL_PAGE)
		return TS_OK;
	st = ts_parcel_unpack(parcel, 2, &list, err);
	if (st == TS_OK)
		st = ts_picture_join(&reducing->run->pictures, ts_buf_bytes(&list), err);
	ts_buf_release(&list);
	return st;
}

static enum ts_status reduce_add_tracks(const struct reducing *reducing, size_t file,
					struct ts_error *err)
{
	const struct ts_saved_run *saved = &reducing->mapped.saved;
	const struct ts_map_input *input = reducing->tracks[file];
	uint32_t nr = saved->files[file].nr_hosts, past = host_behind(saved, file);
	struct ts_buf bytes = TS_BUF_INIT;
	struct ts_parcel parcel;
	enum ts_status st;

	if (!input)
		return TS_OK;
	st = reduce_open_states(input, &parcel, err);
	if (st)
		return st;
	st = ts_parcel_unpack(&parcel, 1, &bytes, err);
	if (st == TS_OK)
		st = ts_saved_add_tracks(ts_buf_bytes(&bytes), &reducing->run->profile, past - nr,
					 nr, &reducing->run->results, err);
	if (st == TS_OK)
		st = add_pictures(reducing, &parcel, err);
	ts_buf_release(&bytes);
	return ts_map_fail_in(err, st, input->path);
}

/* What the overlays show: tracks of the analyses before their pass, and what the states of this one give. */
static enum ts_status sum_up_tracks(struct reducing *reducing, struct ts_context *ctx,
				    struct ts_passes *shared, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (reducing->nr_tracks == 0)
		return TS_OK;
	for (size_t i = 0; i < reducing->mapped.saved.nr_files && st == TS_OK; i++)
		st = reduce_add_tracks(reducing, i, err);
	ctx->overlay_budget = reducing->drawn == TS_PARCEL_PAGE
				      ? ts_run_budget(&reducing->run->profile,
						      &(struct ts_run_options){
							      .track_items = TS_MAX_TRACK_ITEMS })
				      : reducing->mapped.options.overlay_budget;
	if (st == TS_OK && ctx->overlay_budget > 0)
		st = ts_pass_run_saved(&reducing->run->profile, ctx, TS_PASS_OVERLAY, feed,
				       reducing, shared, err);
	return st;
}

static enum ts_status add_wants(const struct reducing *reducing, struct ts_trace_wants *wants,
				struct ts_error *err)
{
	const struct ts_saved_run *saved = &reducing->mapped.saved;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < saved->nr_files && st == TS_OK; i++) {
		struct ts_parcel parcel;

		if (saved->files[i].nr_hosts == 0)
			continue;
		st = reduce_open_states(reducing->files[i], &parcel, err);
		if (st)
			break;
		st = ts_states_add_wants(&parcel, saved->files[i].nr_hosts, wants, err);
		st = ts_map_fail_in(err, st, reducing->files[i]->path);
	}
	return st;
}

static enum ts_status know(const struct reducing *reducing, struct ts_saved_known *known,
			   struct ts_error *err)
{
	struct ts_run *run = reducing->run;
	enum ts_status st;

	known->is_damaged = ts_profile_is_damaged(&run->profile);
	st = ts_trace_facts(&run->results, &run->profile.arena, known->facts, &known->nr_facts,
			    err);
	if (st == TS_OK)
		st = ts_trace_story(&run->results, &run->profile, TS_NONE, &run->profile.arena,
				    &known->story, &known->nr_story, err);
	if (st)
		return st;
	return add_wants(reducing, &known->wants, err);
}

static enum ts_status put_results(const struct reducing *reducing, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct ts_saved_known known = { .is_damaged = false };
	struct ts_buf facts = TS_BUF_INIT;
	enum ts_status st;

	if (!reducing->results)
		return TS_OK;
	st = know(reducing, &known, err);
	if (st == TS_OK)
		ts_saved_put_results(&facts, &known, ctx->facts);
	if (st == TS_OK)
		st = facts.failed ? ts_fail_nomem(err)
				  : ts_mapped_run_put_results(reducing->results, reducing->outline,
							      ts_buf_bytes(&facts), err);
	ts_saved_known_release(&known);
	ts_buf_release(&facts);
	return st;
}

/* For a host at a time: its states come one after the other. */
static void bring_steps(void *ctx, uint32_t host)
{
	struct reducing *reducing = ctx;
	struct ts_run *run = reducing->run;

	ts_saved_forget_steps(&run->outline.steps, reducing->bringer.host);
	reducing->bringer.host = host;
	if (reducing->steps_status == TS_OK)
		reducing->steps_status = ts_mapped_run_bring_steps(&reducing->mapped, run, host,
								   &reducing->steps_story);
}

/* Without its steps a host's states do not fit, so what came of them does not tell the cause. */
static enum ts_status reduce_end_steps(struct reducing *reducing, enum ts_status st,
				       struct ts_error *err)
{
	reducing->run->outline.steps.bringer = NULL;
	if (reducing->steps_status == TS_OK)
		return st;
	return ts_fail(err, reducing->steps_status, "%s: %s", reducing->outline->path,
		       reducing->steps_story.text);
}

static enum ts_status reduce_sum_up(struct reducing *reducing, struct ts_error *err)
{
	struct ts_run_options options = ts_mapped_run_options(&reducing->mapped, 1);
	struct ts_run *run = reducing->run;
	struct ts_passes shared = { .results = &run->results };
	struct ts_context ctx;
	enum ts_status st = ts_run_context(run, &options, &ctx, err);

	reducing->bringer = (struct ts_steps_bringer){ reducing, bring_steps, TS_NONE };
	if (reducing->run->outline.steps.rows)
		reducing->run->outline.steps.bringer = &reducing->bringer;
	for (enum ts_pass pass = TS_PASS_FIRST; pass <= TS_PASS_SECOND && st == TS_OK; pass++)
		st = ts_pass_run_saved(&run->profile, &ctx, pass, feed, reducing, &shared, err);
	if (st == TS_OK)
		st = put_results(reducing, &ctx, err);
	if (st == TS_OK)
		st = sum_up_tracks(reducing, &ctx, &shared, err);
	ts_passes_release(&shared);
	st = reduce_end_steps(reducing, st, err);
	return st ? st : ts_run_settle(run, err);
}

static enum ts_status note_problems(struct ts_run *run, const struct ts_saved_run *saved,
				    struct ts_error *err)
{
	for (size_t i = 0; i < saved->nr_files; i++) {
		char *text = saved->files[i].problem.n > 0
				     ? strdup((const char *)saved->files[i].problem.p)
				     : NULL;

		if (saved->files[i].problem.n == 0)
			continue;
		if (!text || !ts_grow(&run->problems, &run->cap_problems, run->nr_problems + 1,
				      sizeof(text))) {
			free(text);
			return ts_fail_nomem(err);
		}
		run->problems[run->nr_problems++] = text;
	}
	return TS_OK;
}

enum ts_status ts_reduce_report(struct ts_run *run, const struct ts_map_input *outline,
				const struct ts_map_input *states, size_t nr,
				struct ts_buf *results, struct ts_error *err)
{
	struct reducing reducing = { .run = run, .outline = outline, .results = results };
	enum ts_status st;

	TS_ASSERT(run && outline && (states || nr == 0));
	st = ts_mapped_run_open(&reducing.mapped, run, outline, err);
	if (st == TS_OK) /* none are made of lines without events */
		st = ts_picture_join(&run->pictures, TS_LIT("[]"), err);
	if (st == TS_OK) {
		size_t nr_files = reducing.mapped.saved.nr_files;

		reducing.files = calloc(2 * nr_files + 1, sizeof(struct ts_map_input *));
		reducing.tracks = reducing.files + nr_files;
		st = reducing.files ? note_problems(run, &reducing.mapped.saved, err)
				    : ts_fail_nomem(err);
	}
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = place_states(&reducing, &states[i], err);
	if (st == TS_OK)
		st = check_whole(&reducing, err);
	if (st == TS_OK)
		st = check_tracks(&reducing, err);
	if (st == TS_OK)
		st = ts_mapped_run_finish(&reducing.mapped, run, err);
	if (st == TS_OK)
		st = reduce_sum_up(&reducing, err);
	free(reducing.files);
	ts_mapped_run_release(&reducing.mapped);
	return st;
}
