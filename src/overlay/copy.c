/* SPDX-License-Identifier: MIT */
/*
 * Annotated copies of traces, beside them: made whole or not at all, known by their content, and
 * never in the place of anything else. The trace itself is only read.
 */
#include "io/file.h"

#include "base/check.h"
#include "io/tracefile.h"
#include "overlay/work.h"

#include <errno.h>
#include <sys/stat.h>

static const struct kind {
	const char *suffix;
	bool (*is_ours)(struct ts_bytes bytes, struct ts_error *err);
	const char *holds; /* of the trace */
} kinds[TS_NR_TRACE_KINDS] = {
	[TS_TRACE_JSON] = { TS_ANNOTATED_SUFFIX, ts_tracefile_is_annotated, "byte" },
	[TS_TRACE_PFTRACE] = { TS_ANNOTATED_PFTRACE_SUFFIX, ts_overlay_is_pftrace, "slice" },
};

struct copy {
	const struct kind *kind;
	const struct ts_hostfile *file; /* the trace */
	const char *name, *path;	/* of the copy */
	struct ts_input old;		/* what has that name now */
	bool exists, ours;
};

const char *ts_overlay_work_beside(struct work *work, const struct ts_hostfile *file,
				   const char *suffix)
{
	struct ts_bytes stem = ts_tracefile_stem(ts_bytes_of(file->name));
	struct ts_error story = TS_ERROR_INIT;
	struct ts_bytes name =
		ts_arena_printf(&work->report->arena, "%.*s%s", TS_ARG(stem), suffix);

	TS_ASSERT(work && file && suffix);
	if (!name.p) {
		ts_fail_nomem(&story);
		ts_overlay_work_note(work, TS_THING_COPY, TS_DEED_FAILED, file->name, 0, &story);
	}
	return (const char *)name.p;
}

/* What has the name of a copy now. The caller releases copy->old in any case. */
static enum ts_status overlay_copy_look_at(struct work *work, const struct kind *kind,
					   const char *name, struct copy *copy,
					   struct ts_error *story)
{
	enum ts_status st;

	*copy = (struct copy){ .kind = kind, .name = name, .old = TS_INPUT_INIT };
	copy->path = name ? ts_overlay_work_path(work, name) : NULL;
	if (!copy->path)
		return ts_fail_nomem(story);
	st = ts_overlay_work_read(work, &copy->old, name, &copy->exists, story);
	if (!st && copy->exists)
		copy->ours = kind->is_ours(copy->old.bytes, story);
	return st ? st : story->status;
}

static enum ts_status overlay_copy_look(struct work *work, const struct kind *kind,
					const struct ts_hostfile *file, struct copy *copy,
					struct ts_error *story)
{
	const char *name = ts_overlay_work_beside(work, file, kind->suffix);
	enum ts_status st = overlay_copy_look_at(work, kind, name, copy, story);

	copy->file = file;
	return st;
}

static enum ts_status overlay_copy_write_copy(struct work *work, const struct copy *copy,
					      size_t index, bool *unchanged, uint64_t *nr_bytes,
					      struct ts_error *story)
{
	const struct ts_overlay_trace *writer = &work->plan->copies[copy->kind - kinds][index];
	const struct ts_input *in = &work->plan->inputs[index];
	const struct ts_newfile_use use = ts_overlay_work_use(work);
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = ts_newfile_open_for(&file, copy->path, &use, story);

	if (!st)
		st = writer->write(writer->ctx, &file, story);
	if (!st)
		st = ts_overlay_work_check_name(in, copy->file->path, story);
	if (!st) {
		*nr_bytes = file.nr_bytes;
		*unchanged = copy->exists && ts_overlay_work_is_there(work, &file);
		ts_overlay_work_expect(&file, &copy->old, copy->exists);
		if (!*unchanged)
			st = ts_newfile_commit(&file, story);
		if (!*unchanged && !st)
			ts_overlay_work_wrote(work, &file);
	}
	ts_newfile_release(&file);
	return st;
}

bool ts_overlay_work_has_twin(struct work *work, const struct ts_hostfile *file)
{
	struct ts_bytes packed;

	TS_ASSERT(work && file);
	if (!ts_bytes_ends(ts_bytes_of(file->name), ".json"))
		return false;
	packed = ts_arena_printf(&work->report->arena, "%s.gz", file->path);
	return packed.p && ts_file_exists((const char *)packed.p);
}

static void skip_twin(struct work *work, const struct ts_hostfile *file)
{
	struct ts_error story = TS_ERROR_INIT;

	ts_fail(&story, TS_OK,
		"%s: %s.gz stands beside it, whose annotated copy would have the same name "
		"(move one of the two away)",
		file->path, file->name);
	ts_overlay_work_note(work, TS_THING_COPY, TS_DEED_SKIPPED, file->name, 0, &story);
}

static void overlay_copy_put_copy(struct work *work, const struct kind *kind, size_t index)
{
	struct ts_error story = TS_ERROR_INIT;
	struct copy copy;
	bool unchanged = false;
	uint64_t nr_bytes = 0;
	enum ts_status st =
		overlay_copy_look(work, kind, &work->session->files[index], &copy, &story);

	if (!st && copy.exists && !copy.ours)
		st = ts_fail(&story, TS_IO, "%s: not made by TPUsight (move it away)", copy.path);
	if (!st && !work->options->dry_run)
		overlay_copy_write_copy(work, &copy, index, &unchanged, &nr_bytes, &story);
	ts_overlay_work_note(work, TS_THING_COPY, unchanged ? TS_DEED_UNCHANGED : TS_DEED_WRITTEN,
			     copy.name ? copy.name : copy.file->name, nr_bytes, &story);
	ts_input_release(&copy.old);
}

static void take_out_copy(struct work *work, const struct kind *kind,
			  const struct ts_hostfile *file)
{
	struct ts_error story = TS_ERROR_INIT;
	struct copy copy;

	if (overlay_copy_look(work, kind, file, &copy, &story))
		ts_overlay_work_note(work, TS_THING_COPY, TS_DEED_FAILED, file->name, 0, &story);
	else if (copy.ours)
		ts_overlay_work_remove(work, TS_THING_COPY, copy.name);
	ts_input_release(&copy.old);
}

/* Is a trace there of which NAME can be the copy? */
static enum ts_status find_trace(struct work *work, struct ts_bytes stem, bool *found,
				 struct ts_error *story)
{
	static const char *const packs[] = { ".json", ".json.gz" };

	*found = false;
	for (size_t i = 0; i < TS_NELEM(packs) && !*found; i++) {
		struct ts_bytes name =
			ts_arena_printf(&work->report->arena, "%.*s%s", TS_ARG(stem), packs[i]);
		const char *path = name.p ? ts_overlay_work_path(work, (const char *)name.p) : NULL;
		struct stat now;

		if (!path)
			return ts_fail_nomem(story);
		*found = stat(path, &now) == 0;
		if (!*found && errno != ENOENT)
			return ts_fail_errno(story, errno, path, "look at it");
	}
	return TS_OK;
}

static void skip_orphan(struct work *work, const struct copy *copy)
{
	struct ts_error story = TS_ERROR_INIT;

	ts_fail(&story, TS_OK,
		"%s: the trace that it was made of is gone, and every %s of it is in here "
		"(remove it yourself)",
		copy->path, copy->kind->holds);
	ts_overlay_work_note(work, TS_THING_COPY, TS_DEED_SKIPPED, copy->name, 0, &story);
}

void ts_overlay_work_take_out_copy(struct work *work, const char *name)
{
	struct ts_bytes stem = ts_bytes_of(name);
	const struct kind *kind = kinds;
	struct ts_error story = TS_ERROR_INIT;
	struct copy copy;
	enum ts_status st;
	bool found = false;

	TS_ASSERT(work && name);
	while (!ts_bytes_ends(stem, kind->suffix)) /* the name is one of a copy */
		kind++;
	stem.n -= strlen(kind->suffix);
	st = overlay_copy_look_at(work, kind, name, &copy, &story);
	if (st == TS_OK && copy.ours)
		st = find_trace(work, stem, &found, &story);
	if (st)
		ts_overlay_work_note(work, TS_THING_COPY, TS_DEED_FAILED, name, 0, &story);
	else if (copy.ours && found)
		ts_overlay_work_remove(work, TS_THING_COPY, name);
	else if (copy.ours)
		skip_orphan(work, &copy);
	ts_input_release(&copy.old);
}

/* A file that could not be read is not touched. */
static void do_copy(struct work *work, const struct kind *kind, size_t index)
{
	const struct ts_overlay_plan *plan = work->plan;
	const struct ts_overlay_trace *copies = plan ? plan->copies[kind - kinds] : NULL;

	if (!copies)
		take_out_copy(work, kind, &work->session->files[index]);
	else if (copies[index].write && plan->inputs[index].bytes.n > 0)
		overlay_copy_put_copy(work, kind, index);
}

void ts_overlay_work_do_copies(struct work *work)
{
	TS_ASSERT(work);
	for (size_t i = 0; i < work->session->nr_files; i++) {
		const struct ts_hostfile *file = &work->session->files[i];

		if (ts_xplanefile_is(ts_bytes_of(file->name)))
			continue;
		if (!ts_overlay_work_has_twin(work, file)) {
			for (size_t k = 0; k < TS_NELEM(kinds); k++)
				do_copy(work, &kinds[k], i);
		} else if (work->plan) {
			skip_twin(work, file);
		}
	}
}
