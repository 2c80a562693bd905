/* SPDX-License-Identifier: MIT */
/*
 * The sequence for one session. Caches go before the first profile changes and once more after the
 * last, for an XProf that looked in between; suggestions and trace stand on their own; then comes
 * cache_version.txt, when there is something for it to keep. The report is the last file: where it
 * stands, the annotation is whole, and a watch (live/session_files.h) leaves the session alone.
 */
#include "overlay/apply.h"

#include "base/check.h"
#include "io/file.h"
#include "overlay/cache.h"
#include "overlay/suggestions.h"
#include "overlay/work.h"
#include "overlay/xplane.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t find_host(const struct ts_profile *profile, const char *path)
{
	for (uint32_t i = 0; i < profile->nr_hosts; i++)
		if (ts_bytes_is(profile->hosts[i].file, path))
			return i;
	return TS_NONE;
}

/*
 * A file that its owner made read-only is left as it is, although the system would let us replace
 * it; and so is another user's, which would become ours.
 */
static enum ts_status may_replace(const char *path, struct ts_error *story)
{
	struct stat now;

	if (stat(path, &now) != 0)
		return ts_fail_errno(story, errno, path, "look at it");
	if ((now.st_mode & 0222) == 0)
		return ts_fail(story, TS_IO, "%s: a read-only file (allow writing: chmod u+w)",
			       path);
	if (now.st_uid != geteuid() && geteuid() != 0)
		return ts_fail(story, TS_IO,
			       "%s: a file of another user, who would lose it (let its owner do "
			       "this, or copy the profile)",
			       path);
	return TS_OK;
}

/* The native part of the input, then OVERLAY, in place of the file. */
static enum ts_status replace(struct work *work, const struct ts_input *in, const char *path,
			      size_t native_bytes, struct ts_bytes overlay, struct ts_error *story)
{
	/* Of a link that the user named, the target is what is meant. */
	const struct ts_newfile_use use = { .is_named = work->session->kind == TS_SESSION_FILE,
					    .mtime_ns = ts_look_now_ns() };
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = ts_newfile_open_for(&file, path, &use, story);

	if (st)
		goto done;
	if (in->fd >= 0)
		st = ts_newfile_copy(&file, in->fd, 0, native_bytes, story);
	else
		st = ts_newfile_put(&file, ts_bytes_cut(in->bytes, 0, native_bytes), story);
	if (!st)
		st = ts_newfile_put(&file, overlay, story);
	if (!st)
		st = ts_overlay_work_check_name(in, path, story);
	if (!st)
		st = ts_overlay_work_drop_caches(work, story);
	if (!st) {
		ts_overlay_work_expect(&file, in, true);
		st = ts_newfile_commit(&file, story);
	}
	if (!st)
		ts_overlay_work_wrote(work, &file);
done:
	ts_newfile_release(&file);
	return st;
}

static void apply_change(struct work *work, const struct ts_input *in, const char *path,
			 size_t native_bytes, struct ts_bytes overlay, struct ts_error *story)
{
	if (work->options->dry_run)
		ts_overlay_work_drop_caches(work, story);
	else
		replace(work, in, path, native_bytes, overlay, story);
}

/* What a link leads to may stand anywhere: it is changed only if the user named the link itself. */
static bool is_out_of_reach(const struct work *work, const char *path)
{
	struct stat now;

	return work->session->kind != TS_SESSION_FILE && lstat(path, &now) == 0 &&
	       S_ISLNK(now.st_mode);
}

/* Nothing is lost when ours is not put in, but a strip that leaves it has failed. */
static void leave_link(struct work *work, const struct ts_hostfile *file)
{
	struct ts_error story = TS_ERROR_INIT;

	ts_fail(&story, work->plan ? TS_OK : TS_IO,
		"%s: a symbolic link, and what it leads to is not changed (name the link itself)",
		file->path);
	ts_overlay_work_note(work, TS_THING_OVERLAY, TS_DEED_SKIPPED, file->name, 0, &story);
}

/* Hard links: the content that the others lead to is never changed. */
static bool has_other_names(const struct ts_input *in)
{
	struct stat now;

	return in->fd >= 0 && fstat(in->fd, &now) == 0 && now.st_nlink > 1;
}

/* Puts OVERLAY behind the native part unless it is there; an empty one takes the old one out. */
static void set_overlay(struct work *work, const struct ts_hostfile *file,
			const struct ts_input *in, size_t native_bytes, struct ts_bytes overlay)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_bytes old = ts_bytes_cut(in->bytes, native_bytes, in->bytes.n);
	bool others = has_other_names(in);
	bool same, too_big = overlay.n &&
			     !ts_overlay_fits(ts_bytes_cut(in->bytes, 0, native_bytes), overlay.n);

	if (too_big)
		overlay.n = 0;
	same = ts_bytes_eq(old, overlay);
	if (!same && is_out_of_reach(work, file->path)) {
		leave_link(work, file);
		return;
	}
	if (same && overlay.n)
		ts_overlay_work_check_name(in, file->path, &story);
	else if (!same && may_replace(file->path, &story) == TS_OK)
		apply_change(work, in, file->path, native_bytes, overlay, &story);
	if (!same && others && !story.status)
		ts_fail(&story, TS_OK,
			"%s: has other names (hard links), which keep what was in it; they are no "
			"longer one file",
			file->path);
	if (too_big && !story.status)
		ts_fail(&story, TS_OK, TS_OVERLAY_TOO_BIG, file->path);
	if (too_big)
		ts_overlay_work_note(work, TS_THING_OVERLAY, TS_DEED_SKIPPED, file->name, 0,
				     &story);
	else if (overlay.n || story.status)
		ts_overlay_work_note(work, TS_THING_OVERLAY,
				     same ? TS_DEED_UNCHANGED : TS_DEED_WRITTEN, file->name,
				     overlay.n, &story);
	else if (!same)
		ts_overlay_work_note(work, TS_THING_OVERLAY, TS_DEED_RESTORED, file->name, old.n,
				     &story);
}

/* What goes behind the profile: drawn now, or elsewhere. */
static enum ts_status make_overlay(const struct ts_overlay_plan *plan, uint32_t host,
				   struct ts_bytes native, struct ts_buf *overlay,
				   struct ts_error *story)
{
	if (!plan->tail)
		return ts_overlay_tail(overlay, native, plan->profile, host, plan->results, story);
	ts_buf_put(overlay, *plan->tail);
	return overlay->failed ? ts_fail_nomem(story) : TS_OK;
}

static void annotate_host(struct work *work, size_t index)
{
	const struct ts_overlay_plan *plan = work->plan;
	const struct ts_hostfile *file = &work->session->files[index];
	const struct ts_input *in = &plan->inputs[index];
	uint32_t host = plan->tail ? 0 : find_host(plan->profile, file->path);
	struct ts_error story = TS_ERROR_INIT;
	struct ts_buf overlay = TS_BUF_INIT;
	size_t native_bytes;
	enum ts_status st;

	if (host == TS_NONE || in->bytes.n == 0)
		return; /* it could not be read, and the reader has said so */
	/* Bytes of a file that became shorter must not be touched. */
	st = ts_input_check(in, &story);
	if (st)
		goto failed;
	st = ts_overlay_find(in->bytes, &native_bytes, &story);
	if (!st)
		st = make_overlay(plan, host, ts_bytes_cut(in->bytes, 0, native_bytes), &overlay,
				  &story);
	if (!st)
		set_overlay(work, file, in, native_bytes, ts_buf_bytes(&overlay));
	else
		ts_fail_at(&story, st, "%s", file->path);
failed:
	if (st)
		ts_overlay_work_note(work, TS_THING_OVERLAY, TS_DEED_FAILED, file->name, 0, &story);
	ts_buf_release(&overlay);
}

static void strip_host(struct work *work, size_t index)
{
	const struct ts_hostfile *file = &work->session->files[index];
	struct ts_input in = TS_INPUT_INIT;
	struct ts_error story = TS_ERROR_INIT;
	enum ts_status st = ts_input_open_plain(&in, file->path, &story);
	size_t native_bytes = 0;
	bool remains = false;

	if (st == TS_FORMAT) { /* an empty file: it holds nothing of ours */
		ts_input_release(&in);
		return;
	}
	if (!st && ts_overlay_cut(in.bytes, &native_bytes, &remains, &story))
		st = ts_fail_at(&story, TS_FORMAT, "%s", file->path);
	if (!st)
		set_overlay(work, file, &in, native_bytes, (struct ts_bytes){ NULL, 0 });
	/* Ours that cannot be told from the user's bytes stay, and that is not to be passed over. */
	if (!st && remains)
		st = ts_fail(&story, TS_FORMAT,
			     "%s: damaged planes of TPUsight are in it, or bytes behind them, so "
			     "that it is not known where the profile ends (copy the profile again)",
			     file->path);
	if (st)
		ts_overlay_work_note(work, TS_THING_OVERLAY, TS_DEED_FAILED, file->name, 0, &story);
	ts_input_release(&in);
}

static void do_profiles(struct work *work)
{
	struct ts_error story = TS_ERROR_INIT;

	for (size_t i = 0; i < work->session->nr_files; i++) {
		if (!ts_xplanefile_is(ts_bytes_of(work->session->files[i].name)))
			continue;
		work->has_profiles = true;
		if (!work->plan)
			strip_host(work, i);
		else if (work->plan->inputs)
			annotate_host(work, i);
	}
	if (work->plan && !work->plan->inputs)
		ts_overlay_work_drop_caches(work, &story);
	if (work->caches_gone && !work->options->dry_run)
		ts_cache_remove(work->session, false, &work->report->nr_caches, &story);
}

static void put_suggestions(struct work *work, const struct ts_input *old, bool was_there)
{
	const struct ts_results *results = work->plan ? work->plan->results : NULL;
	struct ts_error story = TS_ERROR_INIT;
	struct ts_buf text = TS_BUF_INIT;
	bool exists = was_there, ours = ts_suggestions_ours(old->bytes);
	enum ts_status st = ts_suggestions_make(&text, old->bytes, &exists, results, &story);

	if (st)
		ts_fail_at(&story, st, "%s/%s", work->session->dir, TS_SUGGESTIONS_FILE);
	if (st == TS_FORMAT && !ours && !results)
		; /* the user's, and nothing of ours is in it */
	else if (st)
		ts_overlay_work_note(work, TS_THING_SUGGESTIONS, TS_DEED_FAILED,
				     TS_SUGGESTIONS_FILE, 0, &story);
	else if (exists && (ours || ts_suggestions_ours(ts_buf_bytes(&text))))
		ts_overlay_work_put(work, TS_THING_SUGGESTIONS, TS_SUGGESTIONS_FILE, old, was_there,
				    ts_buf_bytes(&text));
	else if (ours)
		ts_overlay_work_remove(work, TS_THING_SUGGESTIONS, TS_SUGGESTIONS_FILE);
	ts_buf_release(&text);
}

static void do_suggestions(struct work *work)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_input old;
	bool exists;

	if (ts_overlay_work_read(work, &old, TS_SUGGESTIONS_FILE, &exists, &story))
		ts_overlay_work_note(work, TS_THING_SUGGESTIONS, TS_DEED_FAILED,
				     TS_SUGGESTIONS_FILE, 0, &story);
	else
		put_suggestions(work, &old, exists);
	ts_input_release(&old);
}

static void wanted_version(const struct work *work, struct ts_buf *content)
{
	struct ts_buf version = TS_BUF_INIT;

	if (work->options->xprof_version)
		ts_buf_puts(&version, work->options->xprof_version);
	else
		ts_cache_installed(getenv("PATH"), getenv("HOME"), &version);
	ts_cache_version_make(content, ts_buf_bytes(&version));
	content->failed |= version.failed;
	ts_buf_release(&version);
}

/*
 * Written where the file is missing, or is one of ours for another XProf. Caches that are there
 * already may be of any XProf, and go first.
 */
static void put_cache_version(struct work *work, const struct ts_input *old, bool exists)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_buf content = TS_BUF_INIT;
	enum ts_status st = TS_OK;

	wanted_version(work, &content);
	if (content.failed)
		st = ts_fail_nomem(&story);
	if (!st && !ts_bytes_eq(old->bytes, ts_buf_bytes(&content)))
		st = ts_overlay_work_drop_caches(work, &story);
	if (st)
		ts_overlay_work_note(work, TS_THING_CACHE_VERSION, TS_DEED_FAILED,
				     TS_CACHE_VERSION_FILE, 0, &story);
	else
		ts_overlay_work_put(work, TS_THING_CACHE_VERSION, TS_CACHE_VERSION_FILE, old,
				    exists, ts_buf_bytes(&content));
	ts_buf_release(&content);
}

static void do_cache_version(struct work *work)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_input old;
	bool exists, ours;

	if (ts_overlay_work_read(work, &old, TS_CACHE_VERSION_FILE, &exists, &story)) {
		ts_overlay_work_note(work, TS_THING_CACHE_VERSION, TS_DEED_FAILED,
				     TS_CACHE_VERSION_FILE, 0, &story);
		return;
	}
	ours = ts_cache_version_ours(old.bytes);
	if (work->plan && work->has_profiles && (!exists || ours))
		put_cache_version(work, &old, exists);
	else if (ours)
		ts_overlay_work_remove(work, TS_THING_CACHE_VERSION, TS_CACHE_VERSION_FILE);
	ts_input_release(&old);
}

/*
 * An overlay that is put behind one profile leaves the rest of the folder to the other hosts' puts:
 * for a moment a profile that they replace has the name of a temporary.
 */
static enum ts_status apply_prepare(struct work *work, struct ts_dirlock *lock)
{
	const struct ts_session *session = work->session;
	bool is_one = work->plan && work->plan->tail;
	enum ts_status st;

	if (session->kind == TS_SESSION_STREAM)
		return ts_fail(work->err, TS_USAGE,
			       "standard input has no folder to write to (name a file or folder)");
	if (work->options->dry_run)
		return TS_OK;
	st = ts_dir_lock(lock, session->dir, is_one ? TS_DIRLOCK_OF_A_FILE : TS_DIRLOCK_OF_ALL,
			 work->err);
	if (st || is_one)
		return st;
	return ts_newfile_stale(session->dir, &work->report->nr_stale, work->err);
}

static void take_out_named(struct work *work)
{
	for (size_t i = 0; i < work->names.nr; i++) {
		const char *name = work->names.items[i];

		if (ts_overlay_name_kind(name) == TS_NAME_COPY)
			ts_overlay_work_take_out_copy(work, name);
		else if (ts_overlay_name_kind(name) == TS_NAME_REPORT ||
			 ts_overlay_name_kind(name) == TS_NAME_SQL)
			ts_overlay_work_take_out_text(work, name);
	}
}

static void do_all(struct work *work)
{
	bool owns;

	do_profiles(work);
	if (work->plan && work->plan->tail)
		return;
	ts_overlay_work_do_copies(work);
	ts_overlay_work_do_ranks(work);
	take_out_named(work);
	owns = ts_overlay_work_owns_folder(work);
	if (owns && (work->has_profiles || !work->plan))
		do_suggestions(work);
	if (owns) {
		for (int kind = 0; kind < TS_NR_TRACE_KINDS; kind++) {
			if (work->plan && work->plan->traces[kind].write)
				ts_overlay_work_put_trace(work, (enum ts_trace_kind)kind);
			else
				ts_overlay_work_take_out_trace(work, (enum ts_trace_kind)kind);
		}
		do_cache_version(work);
	}
	ts_overlay_work_do_sql(work);
	ts_overlay_work_do_report(work);
}

static enum ts_status apply_run(struct work *work)
{
	const struct ts_overlay_plan *plan = work->plan;
	struct ts_dirlock lock = TS_DIRLOCK_INIT;

	work->status = apply_prepare(work, &lock);
	if (!work->status && plan) /* taken out is only what was there */
		work->status = ts_sources_add_session(
			&work->sources, plan->whole ? plan->whole : work->session, work->err);
	if (!work->status && work->ranks_alone)
		ts_overlay_work_do_ranks(work);
	else if (!work->status)
		do_all(work);
	ts_sources_release(&work->sources);
	ts_dir_unlock(&lock);
	return work->status;
}

static enum ts_status apply_to_session(const struct ts_session *session,
				       const struct ts_overlay_plan *plan,
				       const struct ts_overlay_options *options,
				       struct ts_overlay_report *report, bool ranks_alone,
				       struct ts_error *err)
{
	TS_ASSERT(session && plan && options);
	return apply_run(&(struct work){ .session = session,
					 .plan = plan,
					 .options = options,
					 .report = report,
					 .sources = TS_SOURCES_INIT,
					 .err = err,
					 .ranks_alone = ranks_alone });
}

enum ts_status ts_overlay_apply(const struct ts_session *session,
				const struct ts_overlay_plan *plan,
				const struct ts_overlay_options *options,
				struct ts_overlay_report *report, struct ts_error *err)
{
	return apply_to_session(session, plan, options, report, false, err);
}

enum ts_status ts_overlay_apply_ranks(const struct ts_session *session,
				      const struct ts_overlay_plan *plan,
				      const struct ts_overlay_options *options,
				      struct ts_overlay_report *report, struct ts_error *err)
{
	return apply_to_session(session, plan, options, report, true, err);
}

enum ts_status ts_overlay_strip(const struct ts_session *session,
				const struct ts_overlay_options *options,
				struct ts_overlay_report *report, struct ts_error *err)
{
	TS_ASSERT(session && options);
	return apply_run(&(struct work){ .session = session,
					 .options = options,
					 .report = report,
					 .sources = TS_SOURCES_INIT,
					 .err = err });
}

enum ts_status ts_overlay_strip_folder(const char *dir, const struct ts_overlay_options *options,
				       struct ts_overlay_report *report, struct ts_error *err)
{
	struct ts_session session;
	struct work work = { .session = &session,
			     .options = options,
			     .report = report,
			     .sources = TS_SOURCES_INIT,
			     .err = err };
	enum ts_status st;

	TS_ASSERT(dir && options && report);
	st = ts_overlay_names(&report->arena, dir, &work.names, err);
	if (st == TS_OK && work.names.nr > 0)
		st = ts_overlay_session_of(&report->arena, dir, &work.names, &session, err);
	return st || work.names.nr == 0 ? st : apply_run(&work);
}
