/* SPDX-License-Identifier: MIT */
/* Sibling sessions: which folders become one. */
#include "tmpdir.h"

#include "io/siblings.h"

/* Given these files below `logs`, a session is printed as "NAME(members): host ...". */
static void assert_joined(const char *const *files, const char *expected)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_buf got = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	for (; *files; files++) {
		char path[256];

		snprintf(path, sizeof(path), "logs/%s.xplane.pb", *files);
		make_file(path, TS_LIT("x"));
	}
	assert_int_equal(ts_runs_find(&runs, "logs", &err), TS_OK);
	assert_int_equal(ts_runs_join(&runs, &err), TS_OK);
	for (size_t i = 0; i < runs.nr_sessions; i++) {
		const struct ts_session *session = &runs.sessions[i];

		ts_buf_printf(&got, "%s(%zu):", session->session, session->nr_members);
		for (size_t f = 0; f < session->nr_files; f++)
			ts_buf_printf(&got, " %s", session->files[f].host);
		ts_buf_putc(&got, '\n');
	}
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, expected);
	ts_buf_release(&got);
	ts_runs_release(&runs);
}

TEST_IN_TMPDIR(memory_profiles_go_along)
{
	struct ts_runs runs = TS_RUNS_INIT;

	make_file("logs/plugins/profile/2026_01_01_12_00_00/h0.xplane.pb", TS_LIT("x"));
	make_file("logs/plugins/profile/2026_01_01_12_00_00/h0.prof", TS_LIT("x"));
	make_file("logs/plugins/profile/2026_01_01_12_00_01/h1.xplane.pb", TS_LIT("x"));
	make_file("logs/plugins/profile/2026_01_01_12_00_01/h1.prof", TS_LIT("x"));
	assert_int_equal(ts_runs_find(&runs, "logs", NULL), TS_OK);
	assert_int_equal(ts_runs_join(&runs, NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_int_equal(runs.sessions[0].nr_extras, 2);
	assert_string_equal(runs.sessions[0].extras[0].name, "h0.prof");
	assert_string_equal(runs.sessions[0].extras[1].name, "h1.prof");
	ts_runs_release(&runs);
}

#define assert_joins(expected, ...) \
	assert_joined((const char *const[]){ __VA_ARGS__, NULL }, expected)
#define AT(time, host) "plugins/profile/2026_01_01_" time "/" host

TEST_IN_TMPDIR(hosts_that_began_together_are_one)
{
	assert_joins("2026_01_01_11_59_58(3): h0 h1 h2\n", AT("11_59_58", "h0"),
		     AT("12_00_01", "h1"), AT("12_00_58", "h2"));
}

TEST_IN_TMPDIR(a_new_year_is_no_border)
{
	assert_joins("2025_12_31_23_59_59(2): h0 h1\n", "plugins/profile/2025_12_31_23_59_59/h0",
		     "plugins/profile/2026_01_01_00_00_00/h1");
}

TEST_IN_TMPDIR(a_minute_later_is_another_capture)
{
	assert_joins("2026_01_01_12_00_00(0): h0\n2026_01_01_12_01_01(0): h1\n",
		     AT("12_00_00", "h0"), AT("12_01_01", "h1"));
}

TEST_IN_TMPDIR(the_same_host_twice_is_two_captures)
{
	assert_joins("2026_01_01_12_00_00(2): h0 h1\n2026_01_01_12_00_10(2): h0 h1\n",
		     AT("12_00_00", "h0"), AT("12_00_01", "h1"), AT("12_00_10", "h0"),
		     AT("12_00_11", "h1"));
}

TEST_IN_TMPDIR(other_runs_and_other_names_stay_by_themselves)
{
	assert_joins("2026_01_01_12_00_00(0): h0\n2026_01_01_12_00_01(0): h1\n"
		     "2026_13_01_12_00_01(0): h4\nfirst(0): h2\nsecond(0): h3\n",
		     "a/plugins/profile/2026_01_01_12_00_00/h0",
		     "b/plugins/profile/2026_01_01_12_00_01/h1", "c/plugins/profile/first/h2",
		     "c/plugins/profile/second/h3", "c/plugins/profile/2026_13_01_12_00_01/h4");
}

TEST_IN_TMPDIR(files_named_one_by_one_may_have_any_name)
{
	static const char *const names[] = { "a/rank-0.json.gz", "a/rank-1.json.gz" };
	struct ts_runs runs = TS_RUNS_INIT;

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		make_file(names[i], TS_LIT("x"));
		assert_int_equal(ts_runs_find(&runs, names[i], NULL), TS_OK);
	}
	assert_int_equal(ts_runs_join(&runs, NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_int_equal(runs.sessions[0].nr_files, 2);
	ts_runs_release(&runs);
}

TEST_IN_TMPDIR(traces_named_one_by_one_are_ranks)
{
	static const char *const names[] = { "a/r0.pt.trace.json", "a/r1.pt.trace.json",
					     "b/r2.pt.trace.json" };
	struct ts_runs runs = TS_RUNS_INIT;

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		make_file(names[i], TS_LIT("x"));
		assert_int_equal(ts_runs_find(&runs, names[i], NULL), TS_OK);
	}
	assert_int_equal(runs.nr_sessions, 3);
	assert_int_equal(ts_runs_join(&runs, NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 2);
	assert_int_equal(runs.sessions[0].nr_files, 2);
	assert_string_equal(runs.sessions[0].files[1].host, "r1");
	ts_runs_release(&runs);
}
