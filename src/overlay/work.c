/* SPDX-License-Identifier: MIT */
/* Files of a session looked at and replaced, and the report of it (overlay/work.h). */
#include "overlay/work.h"

#include "base/check.h"
#include "io/file.h"
#include "io/look.h"
#include "overlay/cache.h"

#include <errno.h>
#include <sys/stat.h>

void ts_overlay_report_release(struct ts_overlay_report *report)
{
	free(report->entries);
	free(report->touched);
	ts_arena_release(&report->arena);
	*report = (struct ts_overlay_report)TS_OVERLAY_REPORT_INIT;
}

static void overlay_work_fail(struct work *work, const struct ts_error *story)
{
	if (work->status)
		return;
	work->status = story->status;
	if (work->err)
		*work->err = *story;
}

const char *ts_overlay_work_path(struct work *work, const char *name)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_buf path = TS_BUF_INIT;
	const char *kept = NULL;

	TS_ASSERT(work && name);
	if (ts_session_path(work->session, name, &path) && !path.failed)
		kept = (const char *)ts_arena_copy(&work->report->arena, ts_buf_bytes(&path)).p;
	ts_buf_release(&path);
	if (!kept) {
		ts_fail_nomem(&story);
		overlay_work_fail(work, &story);
	}
	return kept;
}

static const char *overlay_work_keep_text(struct work *work, const char *text)
{
	const uint8_t *kept = ts_arena_copy(&work->report->arena, ts_bytes_of(text)).p;

	return kept ? (const char *)kept : "out of memory";
}

void ts_overlay_work_note(struct work *work, enum ts_overlay_thing thing, enum ts_overlay_deed deed,
			  const char *name, uint64_t nr_bytes, const struct ts_error *story)
{
	struct ts_overlay_report *report = work->report;
	struct ts_error nomem = TS_ERROR_INIT;

	TS_ASSERT(work && name);
	if (story->status) {
		deed = TS_DEED_FAILED;
		overlay_work_fail(work, story);
	}
	if (!ts_grow(&report->entries, &report->cap_entries, report->nr_entries + 1,
		     sizeof(*report->entries))) {
		ts_fail_nomem(&nomem);
		overlay_work_fail(work, &nomem);
		return;
	}
	report->entries[report->nr_entries++] = (struct ts_overlay_entry){
		.thing = thing,
		.deed = deed,
		.name = overlay_work_keep_text(work, name),
		.nr_bytes = nr_bytes,
		.why = story->text[0] ? overlay_work_keep_text(work, story->text) : NULL,
	};
}

enum ts_status ts_overlay_work_read(struct work *work, struct ts_input *in, const char *name,
				    bool *exists, struct ts_error *story)
{
	const char *path = ts_overlay_work_path(work, name);
	struct stat now;
	enum ts_status st;

	TS_ASSERT(work && in && name && exists);
	*in = (struct ts_input)TS_INPUT_INIT;
	*exists = false;
	if (!path)
		return ts_fail_nomem(story);
	*exists = lstat(path, &now) == 0;
	if (!*exists && errno != ENOENT)
		return ts_fail_errno(story, errno, path, "look at it");
	if (*exists && !S_ISREG(now.st_mode))
		return TS_OK;
	st = ts_input_open_plain(in, path, story);
	*exists = st == TS_OK || st == TS_FORMAT; /* that is an empty file */
	if (st && st != TS_NOTFOUND && st != TS_FORMAT)
		return st;
	*story = (struct ts_error)TS_ERROR_INIT;
	return TS_OK;
}

struct ts_newfile_use ts_overlay_work_use(const struct work *work)
{
	TS_ASSERT(work);
	return (struct ts_newfile_use){ .sources = &work->sources,
					.is_theirs = true,
					.mtime_ns = work->mtime_ns ? work->mtime_ns
								   : ts_look_now_ns() };
}

void ts_overlay_work_expect(struct ts_newfile *file, const struct ts_input *old, bool exists)
{
	struct ts_file_look look;
	bool seen = old->fd >= 0 ? ts_fd_look(old->fd, &look) : ts_file_look(file->path, &look);

	TS_ASSERT(file && old);
	if (!exists)
		ts_newfile_expect(file, NULL);
	else if (seen) /* what is not a plain file is refused in any case */
		ts_newfile_expect(file, &look);
}

/* PATH is kept; NULL: there was no memory for it. */
static void overlay_work_touch(struct work *work, const char *path, bool exists,
			       const struct ts_file_look *look)
{
	struct ts_overlay_report *report = work->report;
	struct ts_error nomem = TS_ERROR_INIT;

	if (path && ts_grow(&report->touched, &report->cap_touched, report->nr_touched + 1,
			    sizeof(*report->touched))) {
		report->touched[report->nr_touched++] =
			(struct ts_overlay_touch){ path, exists, *look };
		return;
	}
	ts_fail_nomem(&nomem);
	overlay_work_fail(work, &nomem);
}

void ts_overlay_work_wrote(struct work *work, const struct ts_newfile *file)
{
	struct ts_file_look look = { 0 };
	const uint8_t *path;
	bool exists;

	TS_ASSERT(work && file && file->path);
	exists = ts_fd_look(file->fd, &look);
	path = ts_arena_copy(&work->report->arena, ts_bytes_of(file->path)).p;
	overlay_work_touch(work, (const char *)path, exists, &look);
}

void ts_overlay_work_moved(struct work *work, const char *path)
{
	struct ts_file_look look = { 0 };
	bool exists;

	TS_ASSERT(work && path);
	exists = ts_file_look(path, &look);
	overlay_work_touch(work, path, exists, &look);
}

static enum ts_status overlay_work_save(struct work *work, const char *path,
					const struct ts_input *old, bool exists,
					struct ts_bytes content, struct ts_error *story)
{
	const struct ts_newfile_use use = ts_overlay_work_use(work);
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = ts_newfile_open_for(&file, path, &use, story);

	if (!st)
		st = ts_newfile_put(&file, content, story);
	if (!st) {
		ts_overlay_work_expect(&file, old, exists);
		st = ts_newfile_commit(&file, story);
	}
	if (!st)
		ts_overlay_work_wrote(work, &file);
	ts_newfile_release(&file);
	return st;
}

void ts_overlay_work_put(struct work *work, enum ts_overlay_thing thing, const char *name,
			 const struct ts_input *old, bool exists, struct ts_bytes content)
{
	struct ts_error story = TS_ERROR_INIT;
	const char *path = ts_overlay_work_path(work, name);
	bool same = exists && ts_bytes_eq(old->bytes, content);

	TS_ASSERT(work && name);
	TS_ASSERT(content.p || content.n == 0);
	if (!path)
		return;
	if (!same && !work->options->dry_run)
		overlay_work_save(work, path, old, exists, content, &story);
	ts_overlay_work_note(work, thing,
			     same	  ? TS_DEED_UNCHANGED
			     : work->plan ? TS_DEED_WRITTEN
					  : TS_DEED_RESTORED,
			     name, content.n, &story);
}

void ts_overlay_work_remove(struct work *work, enum ts_overlay_thing thing, const char *name)
{
	struct ts_error story = TS_ERROR_INIT;
	const char *path = ts_overlay_work_path(work, name);

	TS_ASSERT(work && name);
	if (!path)
		return;
	if (!work->options->dry_run) {
		ts_file_remove(path, &story);
		ts_overlay_work_moved(work, path);
	}
	ts_overlay_work_note(work, thing, TS_DEED_REMOVED, name, 0, &story);
}

enum ts_status ts_overlay_work_drop_caches(struct work *work, struct ts_error *story)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(work);
	if (!work->caches_gone)
		st = ts_cache_remove(work->session, work->options->dry_run,
				     &work->report->nr_caches, story);
	work->caches_gone = st == TS_OK;
	return st;
}

bool ts_overlay_work_is_there(struct work *work, const struct ts_newfile *file)
{
	const char *temp;
	bool same = false;

	TS_ASSERT(work && file);
	if (!file->temp)
		return false;
	temp = (const char *)ts_arena_printf(&work->report->arena, "%.*s%s",
					     (int)(file->name - file->path), file->path, file->temp)
		       .p;
	return temp && !ts_file_same(temp, file->path, &same, NULL) && same;
}

enum ts_status ts_overlay_work_check_name(const struct ts_input *in, const char *path,
					  struct ts_error *story)
{
	struct stat opened, named;

	TS_ASSERT(in && path);
	if (in->fd < 0)
		return TS_OK;
	if (fstat(in->fd, &opened) != 0 || stat(path, &named) != 0)
		return ts_fail_errno(story, errno, path, "look at it");
	if (opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
		return ts_input_check(in, story);
	return ts_fail(story, TS_IO, "%s: replaced while it was read (run again)", path);
}
