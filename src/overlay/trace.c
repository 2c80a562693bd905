/*
 * perfetto_trace.json.gz and .pftrace: ours in the place of the user's, which keeps its content
 * under another name. At every moment the first name is there with the old content or the new; what a kill can
 * leave is a second name for the user's file (the same content under both), and that is recognised.
 */
#include "io/file.h"

#include "base/check.h"
#include "io/gzip.h"
#include "overlay/work.h"

#include <sys/stat.h>

enum owner { NOBODY, OURS, USERS };

static const struct names {
	const char *file, *native_file, *mark;
	enum ts_overlay_thing thing;
} names[TS_NR_TRACE_KINDS] = {
	[TS_TRACE_JSON] = { TS_TRACE_FILE, TS_TRACE_NATIVE_FILE, TS_TRACE_MARK, TS_THING_TRACE },
	[TS_TRACE_PFTRACE] = { TS_PFTRACE_FILE, TS_PFTRACE_NATIVE_FILE, TS_PFTRACE_MARK,
			       TS_THING_PFTRACE },
};

struct trace {
	const struct names *names;
	const char *path, *native_path;
	enum owner owner;  /* of the file that has the name */
	bool is_link;	   /* a symbolic one: moved as it is */
	bool native_there; /* something has the second name */
	bool native_same;  /* and the same content */
};

/* Packed, as we wrote it, or unpacked since. A damaged or empty file is the user's. */
static enum ts_status find_owner(struct ts_bytes file, const char *mark, enum owner *owner,
				 struct ts_error *story)
{
	struct ts_buf head = TS_BUF_INIT;
	struct ts_error damage = TS_ERROR_INIT;
	bool ours = ts_bytes_starts(file, mark);

	if (!ours) {
		ts_gunzip_head(file, &head, strlen(mark), &damage);
		ours = ts_bytes_starts(ts_buf_bytes(&head), mark);
		ts_buf_release(&head);
	}
	*owner = ours ? OURS : USERS;
	return damage.status == TS_NOMEM ? ts_fail_nomem(story) : TS_OK;
}

static enum ts_status look(struct work *work, enum ts_trace_kind kind, struct trace *trace,
			   struct ts_error *story)
{
	struct ts_input in;
	struct stat now;
	bool exists;
	enum ts_status st;

	*trace = (struct trace){ .names = &names[kind],
				 .path = ts_overlay_work_path(work, names[kind].file),
				 .native_path =
					 ts_overlay_work_path(work, names[kind].native_file) };
	if (!trace->path || !trace->native_path)
		return ts_fail_nomem(story);
	st = ts_overlay_work_read(work, &in, trace->names->file, &exists, story);
	if (!st && exists) /* a link is the user's, and has no bytes here */
		st = find_owner(in.bytes, trace->names->mark, &trace->owner, story);
	ts_input_release(&in);
	trace->is_link = lstat(trace->path, &now) == 0 && S_ISLNK(now.st_mode);
	trace->native_there = lstat(trace->native_path, &now) == 0;
	if (!st && trace->owner == USERS && trace->native_there)
		st = ts_file_same(trace->path, trace->native_path, &trace->native_same, story);
	return st;
}

/* The user's trace gets its second name. */
static enum ts_status keep_native(const struct trace *trace, struct ts_error *story)
{
	if (trace->owner != USERS || trace->native_same)
		return TS_OK;
	if (trace->is_link)
		return ts_file_rename(trace->path, trace->native_path, story);
	return ts_file_link_or_copy(trace->path, trace->native_path, story);
}

static enum ts_status write_trace(struct work *work, const struct trace *trace, bool *unchanged,
				  uint64_t *nr_bytes, struct ts_error *story)
{
	const struct ts_overlay_trace *writer = &work->plan->traces[trace->names - names];
	const struct ts_newfile_use use = ts_overlay_work_use(work);
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = TS_OK;

	if (trace->is_link) /* first: the new file is not to go through it */
		st = keep_native(trace, story);
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
		st = keep_native(trace, story);
	if (!st && !*unchanged)
		st = ts_newfile_commit(&file, story);
done:
	ts_newfile_release(&file);
	return st;
}

static enum ts_status refuse(const struct trace *trace, struct ts_error *story)
{
	return ts_fail(story, TS_IO,
		       "%s: not made by TPUsight, and %s holds another trace already "
		       "(move one of the two away)",
		       trace->path, trace->names->native_file);
}

void ts_overlay_work_put_trace(struct work *work, enum ts_trace_kind kind)
{
	struct ts_error story = TS_ERROR_INIT;
	struct trace trace;
	bool unchanged = false;
	uint64_t nr_bytes = 0;
	enum ts_status st = look(work, kind, &trace, &story);

	TS_ASSERT(work);
	if (!st && trace.owner == USERS && trace.native_there && !trace.native_same)
		st = refuse(&trace, &story);
	if (!st && !work->options->dry_run)
		write_trace(work, &trace, &unchanged, &nr_bytes, &story);
	ts_overlay_work_note(work, names[kind].thing,
			     unchanged ? TS_DEED_UNCHANGED : TS_DEED_WRITTEN, names[kind].file,
			     nr_bytes, &story);
}

/* The second name is no longer needed, or what it names comes back. */
static enum ts_status bring_back(const struct trace *trace, struct ts_error *story)
{
	if (trace->owner == USERS)
		return ts_file_remove(trace->native_path, story);
	return ts_file_rename(trace->native_path, trace->path, story);
}

void ts_overlay_work_take_out_trace(struct work *work, enum ts_trace_kind kind)
{
	struct ts_error story = TS_ERROR_INIT;
	struct trace trace;
	enum ts_status st = look(work, kind, &trace, &story);
	enum ts_overlay_deed deed = TS_DEED_RESTORED;

	TS_ASSERT(work);
	if (!st && !trace.native_there) {
		if (trace.owner == OURS)
			ts_overlay_work_remove(work, names[kind].thing, names[kind].file);
		return;
	}
	if (!st && trace.owner == USERS && !trace.native_same) {
		refuse(&trace, &story);
		story.status = TS_OK; /* both are the user's: nothing to take out */
		deed = TS_DEED_SKIPPED;
	} else if (!st && !work->options->dry_run) {
		bring_back(&trace, &story);
	}
	ts_overlay_work_note(work, names[kind].thing, deed, names[kind].file, 0, &story);
}
