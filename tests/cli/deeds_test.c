/* SPDX-License-Identifier: MIT */
/* What was done, in words for the console. */
#include "tests/test.h"
#include "cli/deeds.h"

static void assert_undo(char *const *paths, size_t nr, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;

	ts_deeds_undo(&out, paths, nr);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
}

#define UNDO "Undo: tpusight-annotate --strip"

TEST(undo_can_be_pasted_into_a_shell)
{
	static char plain[] = "./profiles/run_1", spaces[] = "my runs", quote[] = "it's",
		    dollar[] = "$HOME/x", empty[] = "";
	char *const paths[] = { plain, spaces, quote };
	char *const others[] = { dollar, empty };

	assert_undo(paths, 1, UNDO " ./profiles/run_1\n");
	assert_undo(paths, 3, UNDO " ./profiles/run_1 'my runs' 'it'\\''s'\n");
	assert_undo(others, 2, UNDO " '$HOME/x' ''\n");
}

TEST(undo_of_a_path_with_a_dash_ends_the_options)
{
	static char dash[] = "--strip", plain[] = "a";
	char *const paths[] = { plain, dash };

	assert_undo(paths, 2, UNDO " -- a --strip\n");
}

TEST(undo_of_many_paths_does_not_repeat_them)
{
	static char plain[] = "a";
	char *const paths[] = { plain, plain, plain, plain, plain };

	assert_undo(paths, 5, UNDO " with the same paths\n");
}

TEST(undo_does_not_steer_the_terminal)
{
	static char evil[] = "a\033[31m\nb";
	char *const paths[] = { evil };

	assert_undo(paths, 1, UNDO " 'a\xEF\xBF\xBD[31m b'\n");
}

static void assert_line(struct ts_overlay_entry *entries, size_t nr, bool dry_run,
			const char *expected)
{
	struct ts_overlay_report report = { .entries = entries, .nr_entries = nr };
	struct ts_buf out = TS_BUF_INIT;

	ts_deeds_line(&out, &report, dry_run);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
}

TEST(line_sums_what_was_done)
{
	struct ts_overlay_entry entries[] = {
		{ TS_THING_OVERLAY, TS_DEED_WRITTEN, "a.xplane.pb", 1024, NULL },
		{ TS_THING_OVERLAY, TS_DEED_WRITTEN, "b.xplane.pb", 1024, NULL },
		{ TS_THING_SUGGESTIONS, TS_DEED_WRITTEN, "s", 5, NULL },
		{ TS_THING_REPORT, TS_DEED_UNCHANGED, "r", 5, NULL },
		{ TS_THING_TRACE, TS_DEED_FAILED, "t", 0, "t: no" },
		{ TS_THING_CACHE_VERSION, TS_DEED_WRITTEN, "cache_version.txt", 9, NULL },
	};

	assert_line(entries, 6, false,
		    "Wrote 2 xplane overlays (2.00 KiB), suggestions; unchanged: report\n");
	assert_line(entries, 1, true, "would write 1 xplane overlay (1.00 KiB)\n");
	assert_line(&entries[4], 1, false, "");
}

TEST(what_stands_can_be_undone)
{
	struct ts_overlay_entry entries[] = {
		{ TS_THING_OVERLAY, TS_DEED_FAILED, "a.xplane.pb", 0, "a.xplane.pb: no" },
		{ TS_THING_REPORT, TS_DEED_UNCHANGED, "r", 5, NULL },
	};
	struct ts_overlay_report report = { .entries = entries, .nr_entries = 1 };

	assert_false(ts_deeds_stand(&report));
	assert_int_equal(ts_deeds_failures(&report), 1);
	report.nr_entries = 2;
	assert_true(ts_deeds_stand(&report));
	assert_int_equal(ts_deeds_failures(&report), 1);
}
