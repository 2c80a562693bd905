/* SPDX-License-Identifier: MIT */
/*
 * Texts beside the profiles: the report, and the SQL for queries of the trace. Of a session with a folder of its own they have
 * one name; of traces in a folder of the user's, where there may be any number of sessions, they have the
 * first trace's name.
 *
 * A user may well put queries of their own behind ours, so SQL is ours only as it was written: its first line
 * has the checksum of all that follows.
 */
#include "io/tracefile.h"

#include "base/check.h"
#include "overlay/work.h"

#include <inttypes.h>
#include <zlib.h>

#define NOTED_BYTES (UINT64_C(64) << 20) /* a longer report (--all) lies in a file and stays there: it has no note */
#define SQL_HEAD    (sizeof(TS_SQL_MARK) - 1 + 8 + sizeof(TS_SQL_MARK_END) - 1)

bool ts_overlay_work_owns_folder(const struct work *work)
{
	TS_ASSERT(work);
	return work->session->owns_folder || work->has_profiles ||
	       !(work->plan ? work->plan->of_traces
			    : ts_tracefile_is_named(ts_bytes_of(work->session->files[0].name)));
}

/* TEXT and its first line. */
static void put_sql(struct ts_buf *out, struct ts_bytes text)
{
	uLong check = crc32_z(0, text.p, text.n);

	ts_buf_printf(out, "%s%08" PRIx32 "%s", TS_SQL_MARK, (uint32_t)check, TS_SQL_MARK_END);
	ts_buf_put(out, text);
}

static bool is_our_sql(struct ts_bytes file)
{
	struct ts_buf made = TS_BUF_INIT;
	bool ours = false;

	if (!ts_bytes_starts(file, TS_SQL_MARK))
		return false;
	put_sql(&made, ts_bytes_cut(file, SQL_HEAD, file.n));
	ours = !made.failed && ts_bytes_eq(file, ts_buf_bytes(&made));
	ts_buf_release(&made);
	return ours;
}

static const struct text {
	enum ts_overlay_thing thing;
	const char *file;   /* in a folder of the session's own */
	const char *suffix; /* beside a trace in one of the user's */
	bool (*is_ours)(struct ts_bytes file);
} report = { TS_THING_REPORT, TS_REPORT_FILE, TS_ANNOTATED_REPORT_SUFFIX, ts_report_is_ours },
  sql = { TS_THING_SQL, TS_SQL_FILE, TS_ANNOTATED_SQL_SUFFIX, is_our_sql };

static void overlay_report_leave(struct work *work, const struct text *kind, const char *name)
{
	struct ts_error story = TS_ERROR_INIT;

	ts_fail(&story, TS_OK,
		"%s/%s: changed since TPUsight wrote it, so it stays (remove it if nothing in it "
		"is yours)",
		work->session->dir, name);
	ts_overlay_work_note(work, kind->thing, TS_DEED_SKIPPED, name, 0, &story);
}

/* Puts TEXT; without a TEXT one of ours is taken out. */
static void overlay_report_set_text(struct work *work, const struct text *kind, const char *name,
				    struct ts_bytes text)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_input old;
	bool exists, ours, is_changed;
	enum ts_status st = ts_overlay_work_read(work, &old, name, &exists, &story);

	ours = kind->is_ours(old.bytes);
	is_changed = !ours && ts_bytes_starts(old.bytes, TS_SQL_MARK);
	if (!st && text.n && exists && !ours)
		st = ts_fail(&story, TS_IO, "%s/%s: %s (move it away)", work->session->dir, name,
			     is_changed ? "changed since TPUsight wrote it"
					: "not made by TPUsight");
	if (st)
		ts_overlay_work_note(work, kind->thing, TS_DEED_FAILED, name, 0, &story);
	else if (text.n)
		ts_overlay_work_put(work, kind->thing, name, &old, exists, text);
	else if (ours)
		ts_overlay_work_remove(work, kind->thing, name);
	else if (is_changed)
		overlay_report_leave(work, kind, name);
	ts_input_release(&old);
}

void ts_overlay_work_take_out_text(struct work *work, const char *name)
{
	const struct text *kind = ts_overlay_name_kind(name) == TS_NAME_SQL ? &sql : &report;

	TS_ASSERT(work && name);
	overlay_report_set_text(work, kind, name, (struct ts_bytes){ NULL, 0 });
}

/* Ours of other names goes, the wanted one is put. */
static void do_text(struct work *work, const struct text *kind, struct ts_bytes text)
{
	const struct ts_bytes none = { NULL, 0 };
	bool owns = ts_overlay_work_owns_folder(work);

	for (size_t i = 0; i < work->session->nr_files; i++) {
		const struct ts_hostfile *file = &work->session->files[i];
		const char *name;

		if (ts_xplanefile_is(ts_bytes_of(file->name)) ||
		    ts_overlay_work_has_twin(work, file))
			continue;
		name = ts_overlay_work_beside(work, file, kind->suffix);
		if (name)
			overlay_report_set_text(work, kind, name, i == 0 && !owns ? text : none);
	}
	if (owns)
		overlay_report_set_text(work, kind, kind->file, text);
}

/* All else is done by then: the report can say how it was left. */
static void note_state(struct work *work, struct ts_buf *text)
{
	const struct ts_overlay_plan *plan = work->plan;
	const struct ts_stand_note note = { .before = plan->before,
					    .key = plan->key,
					    .report = work->report,
					    .summary = plan->summary };

	if (plan->before && !work->options->dry_run && work->status == TS_OK)
		(void)ts_stand_put(text, work->session, &note, &work->mtime_ns);
}

void ts_overlay_work_do_report(struct work *work)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_buf text = TS_BUF_INIT;

	TS_ASSERT(work);
	if (work->plan && work->plan->report_json.n > NOTED_BYTES) {
		do_text(work, &report, work->plan->report_json);
		return;
	}
	if (work->plan) {
		ts_buf_put(&text, work->plan->report_json);
		note_state(work, &text);
	}
	if (text.failed) {
		ts_fail_nomem(&story);
		ts_overlay_work_note(work, TS_THING_REPORT, TS_DEED_FAILED, TS_REPORT_FILE, 0,
				     &story);
	} else {
		do_text(work, &report, ts_buf_bytes(&text));
	}
	ts_buf_release(&text);
	work->mtime_ns = 0;
}

void ts_overlay_work_do_sql(struct work *work)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_buf text = TS_BUF_INIT;

	TS_ASSERT(work);
	if (work->plan && work->plan->sql.n > 0)
		put_sql(&text, work->plan->sql);
	if (text.failed) {
		ts_fail_nomem(&story);
		ts_overlay_work_note(work, TS_THING_SQL, TS_DEED_FAILED, TS_SQL_FILE, 0, &story);
	} else {
		do_text(work, &sql, ts_buf_bytes(&text));
	}
	ts_buf_release(&text);
}
