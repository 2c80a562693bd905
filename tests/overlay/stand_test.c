/* SPDX-License-Identifier: MIT */
/* The note by which an annotation is known to stand: of the files, the program and the options. */
#include "tests/test.h"

#include <math.h>

#include "folder.h"
#include "overlay/apply.h"

#define REPORT "{\n  \"schema\": \"tpusight/1\"\n}\n"

/* A session of one profile and a file of ours, whose report has a note. */
struct standing {
	struct folder folder;
	struct ts_runs runs;
	struct ts_stand before;
	struct ts_overlay_report report;
	struct ts_buf text;
	int64_t mtime_ns;
};

static const struct ts_session *session_of(const struct standing *standing)
{
	return &standing->runs.sessions[0];
}

static bool note(struct standing *standing, const char *key)
{
	const struct ts_stand_note what = { .before = &standing->before,
					    .key = ts_bytes_of(key),
					    .report = &standing->report,
					    .summary = { 71.5, 3 } };

	ts_buf_clear(&standing->text);
	ts_buf_puts(&standing->text, REPORT);
	return ts_stand_put(&standing->text, session_of(standing), &what, &standing->mtime_ns);
}

static void save(const struct standing *standing)
{
	const struct ts_newfile_use use = { .mtime_ns = standing->mtime_ns };

	assert_int_equal(ts_newfile_save_for(in_folder(&standing->folder, TS_REPORT_FILE),
					     ts_buf_bytes(&standing->text), &use, NULL),
			 TS_OK);
}

static bool holds(const struct standing *standing, const char *key)
{
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	struct ts_stand_summary summary = { NAN, -1 };
	bool good = ts_stand_holds(session_of(standing), ts_bytes_of(key), &report, &summary);

	if (good) {
		assert_true(summary.health_score == 71.5);
		assert_int_equal(summary.nr_findings, 3);
		assert_int_equal(report.nr_entries, 1);
		assert_string_equal(report.entries[0].name, TS_REPORT_FILE);
		assert_int_equal(report.entries[0].deed, TS_DEED_UNCHANGED);
	}
	ts_overlay_report_release(&report);
	return good;
}

static void begin(struct standing *standing)
{
	*standing = (struct standing){ .runs = TS_RUNS_INIT,
				       .report = TS_OVERLAY_REPORT_INIT,
				       .text = TS_BUF_INIT };
	folder_make(&standing->folder);
	put_text(&standing->folder, "h.xplane.pb", "profile");
	put_text(&standing->folder, TS_SQL_FILE, "ours");
	assert_int_equal(ts_runs_find(&standing->runs, standing->folder.path, NULL), TS_OK);
	assert_int_equal(ts_stand_look(&standing->before, session_of(standing), NULL), TS_OK);
	assert_true(standing->before.is_settled);
}

static void end(struct standing *standing)
{
	ts_buf_release(&standing->text);
	ts_stand_release(&standing->before);
	ts_overlay_report_release(&standing->report);
	ts_runs_release(&standing->runs);
	folder_remove(&standing->folder);
}

TEST(another_version_and_other_options_are_another_annotation)
{
	struct standing standing;

	begin(&standing);
	assert_true(note(&standing, "0.1.0 json"));
	save(&standing);
	assert_true(holds(&standing, "0.1.0 json"));
	assert_false(holds(&standing, "0.1.1 json"));
	assert_false(holds(&standing, "0.1.0 none"));
	assert_false(holds(&standing, ""));
	end(&standing);
}

TEST(each_change_of_a_file_is_seen)
{
	static const struct {
		const char *name, *text;
	} changes[] = { { "h.xplane.pb", "profilE" },
			{ "h.xplane.pb", "longer profile" },
			{ TS_SQL_FILE, "OURS" },
			{ TS_RANKS_FILE, "a new one" },
			{ "cache_version.txt", "9" } };
	struct standing standing;

	for (size_t i = 0; i < TS_NELEM(changes); i++) {
		begin(&standing);
		assert_true(note(&standing, "k"));
		save(&standing);
		put_text(&standing.folder, changes[i].name, changes[i].text);
		assert_false(holds(&standing, "k"));
		end(&standing);
	}
}

/* Another program at work while we were: what was read may not be what is there. */
TEST(a_change_during_the_work_is_not_noted)
{
	struct standing standing;

	begin(&standing);
	put_text(&standing.folder, "h.xplane.pb", "profilE");
	assert_false(note(&standing, "k"));
	assert_true(ts_bytes_is(ts_buf_bytes(&standing.text), REPORT));
	end(&standing);
}

/* What we wrote ourselves is as we left it; what came after it is not ours. */
TEST(what_the_work_wrote_is_noted_as_it_was_left)
{
	struct ts_overlay_touch touch = { .exists = true };
	struct standing standing;

	begin(&standing);
	put_text(&standing.folder, TS_SQL_FILE, "new");
	touch.path = in_folder(&standing.folder, TS_SQL_FILE);
	assert_true(ts_file_look(touch.path, &touch.look));
	standing.report.touched = malloc(sizeof(touch));
	assert_non_null(standing.report.touched);
	standing.report.touched[0] = touch;
	standing.report.nr_touched = standing.report.cap_touched = 1;
	assert_true(note(&standing, "k"));
	put_text(&standing.folder, TS_SQL_FILE, "new, and changed");
	assert_false(note(&standing, "k"));
	end(&standing);
}

TEST(a_note_that_is_cut_or_moved_does_not_hold)
{
	struct standing standing;
	struct ts_buf whole = TS_BUF_INIT;

	begin(&standing);
	assert_true(note(&standing, "k"));
	ts_buf_put(&whole, ts_buf_bytes(&standing.text));
	for (size_t n = 0; n < whole.n; n += 7) {
		ts_buf_clear(&standing.text);
		ts_buf_put(&standing.text, ts_bytes_cut(ts_buf_bytes(&whole), n, whole.n));
		save(&standing);
		assert_true(n == 0 || !holds(&standing, "k"));
		ts_buf_clear(&standing.text);
		ts_buf_put(&standing.text, ts_bytes_cut(ts_buf_bytes(&whole), 0, n));
		save(&standing);
		assert_false(holds(&standing, "k"));
	}
	standing.mtime_ns -= 1000;
	ts_buf_clear(&standing.text);
	ts_buf_put(&standing.text, ts_buf_bytes(&whole));
	save(&standing); /* the same bytes, of another time */
	assert_false(holds(&standing, "k"));
	ts_buf_release(&whole);
	end(&standing);
}
