/* SPDX-License-Identifier: MIT */
/*
 * perfetto_trace.json.gz and .pftrace: ours in the place of the user's, which keeps its content
 * under another name. At every moment the first name is there with the old content or the new; what a kill can
 * leave is a second name for the user's file, and that is recognised: the same file has both names.
 * Two files are the user's, whatever is in them. A link is moved as it is, before ours is written.
 */
#include "io/file.h"

#include "base/check.h"
#include "io/gzip.h"
#include "overlay/work.h"

#include <errno.h>
#include <sys/stat.h>

enum owner { NOBODY, OURS, USERS };

static const struct names {
	const char *file, *native_file, *mark;
	const char *older_mark; /* NULL: there is no other */
	enum ts_overlay_thing thing;
} names[TS_NR_TRACE_KINDS] = {
	[TS_TRACE_JSON] = { TS_TRACE_FILE, TS_TRACE_NATIVE_FILE, TS_TRACE_MARK, NULL,
			    TS_THING_TRACE },
	[TS_TRACE_PFTRACE] = { TS_PFTRACE_FILE, TS_PFTRACE_NATIVE_FILE, TS_PFTRACE_MARK,
			       TS_PFTRACE_OLDER_MARK, TS_THING_PFTRACE },
};

struct trace {
	const struct names *names;
	const char *path, *native_path;
	enum owner owner;  /* of the file that has the name */
	bool is_link;	   /* a symbolic one: moved as it is */
	bool is_other;	   /* neither a plain file nor a link */
	bool is_unsure;	   /* packed, and too damaged to show whose it is */
	bool native_there; /* something has the second name */
	bool native_left;  /* by a run that was killed: both names lead to one file */
};

static bool overlay_trace_has_mark(struct ts_bytes head, const struct names *kind)
{
	return ts_bytes_starts(head, kind->mark) ||
	       (kind->older_mark && ts_bytes_starts(head, kind->older_mark));
}

/* Packed, as we wrote it, or unpacked since. A damaged or empty file is the user's. */
static enum ts_status find_owner(struct ts_bytes file, struct trace *trace, struct ts_error *story)
{
	size_t enough = strlen(trace->names->mark);
	struct ts_buf head = TS_BUF_INIT;
	struct ts_error damage = TS_ERROR_INIT;
	bool ours = overlay_trace_has_mark(file, trace->names);

	if (!ours) {
		ts_gunzip_head(file, &head, enough, &damage);
		ours = overlay_trace_has_mark(ts_buf_bytes(&head), trace->names);
		trace->is_unsure = ts_gzip_probe(file) && head.n < enough && damage.status;
		ts_buf_release(&head);
	}
	trace->owner = ours ? OURS : USERS;
	return damage.status == TS_NOMEM ? ts_fail_nomem(story) : TS_OK;
}

bool ts_overlay_is_pftrace(struct ts_bytes file, struct ts_error *story)
{
	struct trace trace = { .names = &names[TS_TRACE_PFTRACE] };

	TS_ASSERT(file.p || file.n == 0);
	return find_owner(file, &trace, story) == TS_OK && trace.owner == OURS;
}

/* How the name looks, links not followed; false: it is free. One at which we cannot look is not. */
static bool overlay_trace_look_at(const char *path, struct stat *now, struct ts_error *story)
{
	if (lstat(path, now) == 0)
		return true;
	if (errno != ENOENT)
		ts_fail_errno(story, errno, path, "look at it");
	return false;
}

static enum ts_status look_at_names(struct trace *trace, struct ts_error *story)
{
	struct stat now, native;
	bool exists = overlay_trace_look_at(trace->path, &now, story);

	trace->native_there = overlay_trace_look_at(trace->native_path, &native, story);
	trace->is_link = exists && S_ISLNK(now.st_mode);
	trace->is_other = exists && !trace->is_link && !S_ISREG(now.st_mode);
	trace->native_left = exists && trace->native_there && now.st_dev == native.st_dev &&
			     now.st_ino == native.st_ino;
	return story->status;
}

/* OLD: the file that has the name; the caller releases it in any case. */
static enum ts_status overlay_trace_look(struct work *work, enum ts_trace_kind kind,
					 struct trace *trace, struct ts_input *old,
					 struct ts_error *story)
{
	bool exists;
	enum ts_status st;

	*trace = (struct trace){ .names = &names[kind],
				 .path = ts_overlay_work_path(work, names[kind].file),
				 .native_path =
					 ts_overlay_work_path(work, names[kind].native_file) };
	*old = (struct ts_input)TS_INPUT_INIT;
	if (!trace->path || !trace->native_path)
		return ts_fail_nomem(story);
	st = ts_overlay_work_read(work, old, trace->names->file, &exists, story);
	if (!st && exists) /* a link is the user's, and has no bytes here */
		st = find_owner(old->bytes, trace, story);
	if (!st)
		st = look_at_names(trace, story);
	return st;
}

/* The user's trace gets its second name. */
static enum ts_status overlay_trace_keep_native(const struct trace *trace, struct ts_error *story)
{
	if (trace->owner != USERS || trace->native_left)
		return TS_OK;
	if (trace->is_link)
		return ts_file_rename(trace->path, trace->native_path, story);
	return ts_file_link_or_copy(trace->path, trace->native_path, story);
}

static enum ts_status overlay_trace_write_trace(struct work *work, const struct trace *trace,
						const struct ts_input *old, bool *unchanged,
						uint64_t *nr_bytes, struct ts_error *story)
{
	const struct ts_overlay_trace *writer = &work->plan->traces[trace->names - names];
	const struct ts_newfile_use use = ts_overlay_work_use(work);
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = TS_OK;

	if (trace->is_link) /* first: the new file is not to go through it */
		st = overlay_trace_keep_native(trace, story);
	if (!st)
		st = ts_newfile_open_for(&file, trace->path, &use, story);
	if (st)
		goto done;
	st = writer->write(writer->ctx, &file, story);
	if (st)
		goto done;
	*nr_bytes = file.nr_bytes;
	*unchanged = trace->owner == OURS && ts_overlay_work_is_there(work, &file);
	if (!*unchanged && !trace->is_link)
		st = overlay_trace_keep_native(trace, story);
	if (!st && !*unchanged) {
		ts_overlay_work_expect(&file, old, trace->owner != NOBODY && !trace->is_link);
		st = ts_newfile_commit(&file, story);
		ts_overlay_work_moved(work, trace->native_path);
		if (!st)
			ts_overlay_work_wrote(work, &file);
	}
done:
	ts_newfile_release(&file);
	return st;
}

static enum ts_status overlay_trace_refuse(const struct trace *trace, struct ts_error *story)
{
	if (trace->is_other)
		return ts_fail(story, TS_IO, "%s: not a plain file (move it away)", trace->path);
	if (trace->owner == NOBODY)
		return ts_fail(story, TS_IO,
			       "%s: not made by TPUsight, and beside a trace of ours it would be "
			       "taken for the run's own (move it away)",
			       trace->native_path);
	return ts_fail(story, TS_IO,
		       "%s: not made by TPUsight, and %s holds another trace already "
		       "(move one of the two away)",
		       trace->path, trace->names->native_file);
}

void ts_overlay_work_put_trace(struct work *work, enum ts_trace_kind kind)
{
	struct ts_error story = TS_ERROR_INIT;
	struct trace trace;
	struct ts_input old;
	bool unchanged = false;
	uint64_t nr_bytes = 0;
	enum ts_status st = overlay_trace_look(work, kind, &trace, &old, &story);

	TS_ASSERT(work);
	if (!st &&
	    (trace.is_other || (trace.owner != OURS && trace.native_there && !trace.native_left)))
		st = overlay_trace_refuse(&trace, &story);
	if (!st && !work->options->dry_run)
		overlay_trace_write_trace(work, &trace, &old, &unchanged, &nr_bytes, &story);
	ts_overlay_work_note(work, names[kind].thing,
			     unchanged ? TS_DEED_UNCHANGED : TS_DEED_WRITTEN, names[kind].file,
			     nr_bytes, &story);
	ts_input_release(&old);
}

/* What stands there and is not ours, as far as we know; the user may want to know, too. */
static void overlay_trace_leave(struct work *work, const struct trace *trace)
{
	struct ts_error story = TS_ERROR_INIT;
	const char *file = trace->names->file, *native = trace->names->native_file;

	if (trace->is_unsure)
		ts_fail(&story, TS_OK,
			"%s: damaged, so it is not known whether TPUsight made it (remove it if "
			"it is not yours)",
			trace->path);
	else if (trace->native_there && trace->owner == USERS)
		ts_fail(&story, TS_OK, "%s: not made by TPUsight, so %s stays beside it",
			trace->path, native);
	else if (trace->native_there && !work->plan)
		ts_fail(&story, TS_OK,
			"%s: there is no trace of TPUsight's beside it, so it stays (rename it to "
			"%s if it is the run's own)",
			trace->native_path, file);
	if (story.text[0])
		ts_overlay_work_note(work, trace->names->thing, TS_DEED_SKIPPED,
				     trace->owner == NOBODY ? native : file, 0, &story);
}

static void take_out(struct work *work, const struct trace *trace)
{
	struct ts_error story = TS_ERROR_INIT;

	if (trace->owner == OURS && !trace->native_there) {
		ts_overlay_work_remove(work, trace->names->thing, trace->names->file);
		return;
	}
	if (trace->owner != OURS && !trace->native_left) {
		overlay_trace_leave(work, trace);
		return;
	}
	if (!work->options->dry_run) {
		/* the second name is no longer needed, or what it names comes back */
		if (trace->owner == USERS)
			ts_file_remove(trace->native_path, &story);
		else
			ts_file_rename(trace->native_path, trace->path, &story);
		ts_overlay_work_moved(work, trace->path);
		ts_overlay_work_moved(work, trace->native_path);
	}
	ts_overlay_work_note(work, trace->names->thing, TS_DEED_RESTORED, trace->names->file, 0,
			     &story);
}

void ts_overlay_work_take_out_trace(struct work *work, enum ts_trace_kind kind)
{
	struct ts_error story = TS_ERROR_INIT;
	struct trace trace;
	struct ts_input old;

	TS_ASSERT(work);
	if (overlay_trace_look(work, kind, &trace, &old, &story))
		ts_overlay_work_note(work, names[kind].thing, TS_DEED_FAILED, names[kind].file, 0,
				     &story);
	else
		take_out(work, &trace);
	ts_input_release(&old);
}
