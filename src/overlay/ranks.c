/* SPDX-License-Identifier: MIT */
/*
 * ALL_RANKS.perfetto.zip: a manifest that says which trace is which machine's and how their clocks
 * stand to each other, then the annotated copies of a session's traces. Perfetto opens it as one
 * trace. Members are not gzip, as the manifest cannot speak of an archive inside an archive.
 */
#include "base/check.h"
#include "codec/json.h"
#include "io/gzip.h"
#include "io/tracefile.h"
#include "codec/zip.h"
#include "overlay/work.h"

#include <errno.h>
#include <sys/stat.h>

#define OUR_MANIFEST "{\"perfetto_manifest\":{\"version\":1,\"attributes\":{\"generator\":\"tpusight\","
#define HEAD_BYTES   4096 /* of the manifest, in which it says whose it is */
#define PART_BYTES   (size_t)65536

struct ranks {
	const char *path;
	struct ts_input old; /* what has the name now */
	bool exists, ours;
	bool of_session; /* and not of another one in the folder */
};

void ts_overlay_ranks_mark(struct ts_buf *out, const struct ts_session *session)
{
	TS_ASSERT(out && session);
	ts_buf_puts(out, OUR_MANIFEST "\"tpusight.first_trace\":");
	ts_json_quote(out, ts_bytes_of(session->files[0].name));
}

/* A folder's strip takes out the file of any session. */
static bool is_of_session(const struct work *work, struct ts_bytes manifest)
{
	struct ts_buf mark = TS_BUF_INIT;
	bool is_of = work->session->nr_files == 0;

	if (!is_of) {
		ts_overlay_ranks_mark(&mark, work->session);
		ts_buf_putc(&mark, '\0');
		is_of = !mark.failed && ts_bytes_starts(manifest, (const char *)mark.p);
		ts_buf_release(&mark);
	}
	return is_of || work->names.nr > 0;
}

/* The caller releases ranks->old in any case. */
static enum ts_status overlay_ranks_look(struct work *work, struct ranks *ranks,
					 struct ts_error *story)
{
	struct ts_buf head = TS_BUF_INIT;
	enum ts_status st;

	*ranks = (struct ranks){ .path = ts_overlay_work_path(work, TS_RANKS_FILE),
				 .old = TS_INPUT_INIT };
	if (!ranks->path)
		return ts_fail_nomem(story);
	st = ts_overlay_work_read(work, &ranks->old, TS_RANKS_FILE, &ranks->exists, story);
	ts_zip_head(ranks->old.bytes, TS_RANKS_MANIFEST, HEAD_BYTES, &head);
	ranks->ours = ts_bytes_starts(ts_buf_bytes(&head), OUR_MANIFEST);
	ranks->of_session = ranks->ours && is_of_session(work, ts_buf_bytes(&head));
	if (!st && head.failed)
		st = ts_fail_nomem(story);
	ts_buf_release(&head);
	return st;
}

/* Writing */

static enum ts_status overlay_ranks_put_text(struct ts_zip *zip, struct ts_gunzip *gz,
					     struct ts_error *err)
{
	uint8_t *part = malloc(PART_BYTES);
	enum ts_status st = part ? TS_OK : ts_fail_nomem(err);
	size_t got = 1;

	while (st == TS_OK && got > 0) {
		st = ts_gunzip_read(gz, part, PART_BYTES, &got, err);
		if (st == TS_OK)
			st = ts_zip_put(zip, (struct ts_bytes){ part, got }, err);
	}
	free(part);
	return st;
}

static enum ts_status put_rank(struct ts_zip *zip, const struct ts_overlay_rank *rank,
			       struct ts_error *err)
{
	struct ts_input copy = TS_INPUT_INIT;
	struct ts_gunzip gz = TS_GUNZIP_INIT;
	enum ts_status st = ts_input_open_plain(&copy, rank->copy, err);

	if (st)
		goto done;
	st = ts_gunzip_open(&gz, copy.bytes, err);
	if (!st)
		st = ts_zip_begin(zip, rank->name, TS_ZIP_ANY, err);
	if (!st)
		st = overlay_ranks_put_text(zip, &gz, err);
	if (!st)
		st = ts_input_check(&copy, err);
done:
	ts_gunzip_release(&gz);
	ts_input_release(&copy);
	return st;
}

static enum ts_status overlay_ranks_put_all(struct ts_newfile *file,
					    const struct ts_overlay_ranks *plan,
					    struct ts_error *err)
{
	struct ts_zip zip = TS_ZIP_INIT;
	enum ts_status st = ts_zip_open(&zip, ts_newfile_take, file, err);

	if (!st)
		st = ts_zip_begin(&zip, TS_RANKS_MANIFEST, TS_ZIP_ANY, err);
	if (!st)
		st = ts_zip_put(&zip, plan->manifest, err);
	for (size_t i = 0; i < plan->nr_ranks && !st; i++)
		st = put_rank(&zip, &plan->ranks[i], err);
	if (!st)
		st = ts_zip_close(&zip, err);
	ts_zip_release(&zip);
	return st;
}

static enum ts_status write_ranks(struct work *work, const struct ranks *ranks, bool *unchanged,
				  uint64_t *nr_bytes, struct ts_error *story)
{
	const struct ts_newfile_use use = ts_overlay_work_use(work);
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = ts_newfile_open_for(&file, ranks->path, &use, story);

	if (!st)
		st = overlay_ranks_put_all(&file, work->plan->ranks, story);
	if (!st) {
		*nr_bytes = file.nr_bytes;
		*unchanged = ranks->exists && ts_overlay_work_is_there(work, &file);
		ts_overlay_work_expect(&file, &ranks->old, ranks->exists);
		if (!*unchanged)
			st = ts_newfile_commit(&file, story);
		if (!*unchanged && !st)
			ts_overlay_work_wrote(work, &file);
	}
	ts_newfile_release(&file);
	return st;
}

/* What else is wrong with it is found when it is read. */
static bool overlay_ranks_is_missing(const char *path)
{
	struct stat now;

	return stat(path, &now) != 0 && errno == ENOENT;
}

/* Why the file is not made, although nothing went wrong; empty: it is made. */
static void overlay_ranks_explain(struct work *work, const struct ranks *ranks,
				  struct ts_error *story)
{
	const struct ts_overlay_ranks *plan = work->plan->ranks;

	if (plan->why_not)
		ts_fail(story, TS_OK, "%s: not made, as %s", ranks->path, plan->why_not);
	else if (ranks->ours && !ranks->of_session)
		ts_fail(story, TS_OK,
			"%s: has the ranks of another run in the folder (move it away, or give "
			"each run a folder)",
			ranks->path);
	for (size_t i = 0; i < plan->nr_ranks && !work->options->dry_run && !story->text[0]; i++)
		if (overlay_ranks_is_missing(plan->ranks[i].copy))
			ts_fail(story, TS_OK, "%s: not made, as there is no %s", ranks->path,
				plan->ranks[i].copy);
}

static void overlay_ranks_put_ranks(struct work *work, const struct ranks *ranks)
{
	struct ts_error story = TS_ERROR_INIT;
	enum ts_overlay_deed deed = TS_DEED_WRITTEN;
	bool unchanged = false;
	uint64_t nr_bytes = 0;

	overlay_ranks_explain(work, ranks, &story);
	if (story.text[0] && ranks->of_session) /* what is in it was made before */
		ts_overlay_work_remove(work, TS_THING_RANKS, TS_RANKS_FILE);
	if (story.text[0])
		deed = TS_DEED_SKIPPED;
	else if (ranks->exists && !ranks->ours)
		ts_fail(&story, TS_IO, "%s: not made by TPUsight (move it away)", ranks->path);
	else if (!work->options->dry_run)
		write_ranks(work, ranks, &unchanged, &nr_bytes, &story);
	ts_overlay_work_note(work, TS_THING_RANKS, unchanged ? TS_DEED_UNCHANGED : deed,
			     TS_RANKS_FILE, nr_bytes, &story);
}

void ts_overlay_work_do_ranks(struct work *work)
{
	struct ts_error story = TS_ERROR_INIT;
	const struct ts_overlay_plan *plan = work->plan;
	struct ranks ranks;

	TS_ASSERT(work);
	/* ranks in several folders, not all of which have their copies yet */
	if (plan && plan->ranks && plan->whole && plan->whole->members && !work->ranks_alone)
		return;
	if (overlay_ranks_look(work, &ranks, &story))
		ts_overlay_work_note(work, TS_THING_RANKS, TS_DEED_FAILED, TS_RANKS_FILE, 0,
				     &story);
	else if (plan && plan->ranks)
		overlay_ranks_put_ranks(work, &ranks);
	else if (ranks.of_session)
		ts_overlay_work_remove(work, TS_THING_RANKS, TS_RANKS_FILE);
	ts_input_release(&ranks.old);
}
