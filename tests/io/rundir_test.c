/* SPDX-License-Identifier: MIT */
/* Run discovery on real folders. */
#include "tmpdir.h"

#include "io/rundir.h"
#include "io/runpath.h"

#include <sys/resource.h>

/* Sessions as text, a line each: kind dir|logdir|run|session|title: host=bytes ... */
static void describe(const struct ts_runs *runs, struct ts_buf *out)
{
	static const char *const kinds[] = { "dir", "file", "stream" };

	for (size_t i = 0; i < runs->nr_sessions; i++) {
		const struct ts_session *session = &runs->sessions[i];
		struct ts_buf title = TS_BUF_INIT;

		assert_non_null(ts_session_title(session, &title));
		ts_buf_printf(out, "%s %s|%s|%s|%s|%s:", kinds[session->kind], session->dir,
			      session->logdir, session->run, session->session, (char *)title.p);
		for (size_t f = 0; f < session->nr_files; f++)
			ts_buf_printf(out, " %s=%llu", session->files[f].host,
				      (unsigned long long)session->files[f].nr_bytes);
		ts_buf_putc(out, '\n');
		ts_buf_release(&title);
	}
	for (size_t i = 0; i < runs->nr_problems; i++)
		ts_buf_printf(out, "! %s\n", runs->problems[i]);
}

/* Each text in a row of paths, till NULL, is found; the outcome is EXPECTED. */
static void assert_found(const char *const *paths, const char *expected)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_buf got = TS_BUF_INIT;

	for (; *paths; paths++) {
		struct ts_error err = TS_ERROR_INIT;

		if (ts_runs_find(&runs, *paths, &err))
			ts_buf_printf(&got, "error %d: %s\n", err.status, err.text);
	}
	describe(&runs, &got);
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, expected);
	ts_buf_release(&got);
	ts_runs_release(&runs);
}

#define assert_finds(path, expected) assert_found((const char *const[]){ path, NULL }, expected)

#define S1			     "logs/plugins/profile/2025_01_01"
#define S2			     "logs/big/step_00000100/plugins/profile/2025_02_02"

static void make_logs(void)
{
	make_file(S1 "/host1.xplane.pb", TS_LIT("12345"));
	make_file(S1 "/host0.xplane.pb", TS_LIT("123"));
	make_file(S1 "/.host0.xplane.pb.tpusight-abcdef", TS_LIT("x"));
	make_file(S1 "/.hidden.xplane.pb", TS_LIT("x"));
	make_file(S1 "/host0.trace.json.gz", TS_LIT("x"));
	make_file(S1 "/sub/plugins/profile/not/here.xplane.pb", TS_LIT("x"));
	make_file(S2 "/t1v-n-0.xplane.pb", TS_LIT("1"));
	make_file("logs/events.out.tfevents.1", TS_LIT("x"));
	make_file("logs/.git/plugins/profile/s/h.xplane.pb", TS_LIT("x"));
	make_file("logs/plugins/other/s/h.txt", TS_LIT("x"));
}

TEST_IN_TMPDIR(a_log_directory_is_searched_at_every_depth)
{
	make_logs();
	assert_finds("logs",
		     "dir " S2
		     "|logs|big/step_00000100|2025_02_02|logs/big/step_00000100/2025_02_02: "
		     "t1v-n-0=1\n"
		     "dir " S1 "|logs|.|2025_01_01|logs/2025_01_01: host0=3 host1=5\n");
}

TEST_IN_TMPDIR(memory_profiles_of_a_session_stand_apart)
{
	struct ts_runs runs = TS_RUNS_INIT;

	make_logs();
	make_file(S1 "/memory_profile.prof", TS_LIT("12"));
	make_file(S1 "/before.prof", TS_LIT("1"));
	make_file(S1 "/.hidden.prof", TS_LIT("1"));
	make_file("logs/elsewhere.prof", TS_LIT("1"));
	assert_int_equal(ts_runs_find(&runs, S1, NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_int_equal(runs.sessions[0].nr_files, 2);
	assert_int_equal(runs.sessions[0].nr_extras, 2);
	assert_string_equal(runs.sessions[0].extras[0].path, S1 "/before.prof");
	assert_string_equal(runs.sessions[0].extras[1].name, "memory_profile.prof");
	assert_int_equal(runs.sessions[0].extras[1].nr_bytes, 2);
	ts_runs_release(&runs);
}

TEST_IN_TMPDIR(slashes_and_dots_do_not_matter)
{
	static const char *const same[] = { "logs/", "./logs", ".//logs///", "./logs/." };

	make_logs();
	for (size_t i = 0; i < TS_NELEM(same); i++)
		assert_finds(same[i],
			     "dir " S2 "|logs|big/step_00000100|2025_02_02|"
			     "logs/big/step_00000100/2025_02_02: t1v-n-0=1\n"
			     "dir " S1 "|logs|.|2025_01_01|logs/2025_01_01: host0=3 host1=5\n");
}

TEST_IN_TMPDIR(the_layout_is_known_wherever_the_path_begins)
{
	static const char *const inside[] = { S1, "logs/plugins/profile" };

	make_logs();
	for (size_t i = 0; i < TS_NELEM(inside); i++)
		assert_finds(inside[i],
			     "dir " S1 "|logs|.|2025_01_01|logs/2025_01_01: host0=3 host1=5\n");
	assert_finds("logs/plugins",
		     "dir " S1 "|logs|.|2025_01_01|logs/2025_01_01: host0=3 host1=5\n");
	assert_finds("logs/big", "dir " S2 "|logs/big|step_00000100|2025_02_02|"
				 "logs/big/step_00000100/2025_02_02: t1v-n-0=1\n");
}

TEST_IN_TMPDIR(relative_paths_inside_the_layout)
{
	make_logs();
	assert_int_equal(chdir("logs"), 0);
	assert_finds("plugins/profile", "dir plugins/profile/2025_01_01|.|.|2025_01_01|2025_01_01: "
					"host0=3 host1=5\n");
	assert_finds(".", "dir big/step_00000100/plugins/profile/2025_02_02|.|big/step_00000100|"
			  "2025_02_02|big/step_00000100/2025_02_02: t1v-n-0=1\n"
			  "dir plugins/profile/2025_01_01|.|.|2025_01_01|2025_01_01: "
			  "host0=3 host1=5\n");
}

TEST_IN_TMPDIR(from_inside_a_session_its_name_is_known)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_buf path = TS_BUF_INIT;
	char *logdir;

	make_logs();
	logdir = realpath("logs", NULL);
	assert_int_equal(chdir(S1), 0);
	assert_int_equal(ts_runs_find(&runs, ".", NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_string_equal(runs.sessions[0].session, "2025_01_01");
	assert_string_equal(runs.sessions[0].logdir, logdir);
	assert_string_equal(runs.sessions[0].run, ".");
	assert_string_equal(runs.sessions[0].dir, ".");
	assert_string_equal(ts_session_path(&runs.sessions[0], "report.json", &path),
			    "report.json");
	ts_buf_release(&path);
	ts_runs_release(&runs);
	free(logdir);
}

TEST_IN_TMPDIR(a_plain_folder_of_profiles_is_a_session)
{
	make_file("dump/a.xplane.pb", TS_LIT("1"));
	make_file("dump/xplane.pb", TS_LIT("12"));
	assert_finds("dump", "dir dump|dump|.|dump|dump: a=1 xplane=2\n");
}

TEST_IN_TMPDIR(one_file_is_a_session_of_its_own)
{
	make_logs();
	make_file("here/alone.tar.gz", TS_LIT("1234"));
	assert_finds(S1 "/host1.xplane.pb",
		     "file " S1 "|logs|.|2025_01_01|logs/2025_01_01/host1.xplane.pb: host1=5\n");
	assert_finds("./here/alone.tar.gz",
		     "file here|here|.|here|here/alone.tar.gz: alone.tar.gz=4\n");
	assert_int_equal(chdir("here"), 0);
	assert_finds("alone.tar.gz", "file .|.|.|here|here/alone.tar.gz: alone.tar.gz=4\n");
}

TEST_IN_TMPDIR(a_dash_is_standard_input)
{
	assert_finds("-", "stream .|.|.|standard input|standard input: standard input=0\n");
}

TEST_IN_TMPDIR(a_file_named_like_standard_input_is_a_file)
{
	struct ts_runs runs = TS_RUNS_INIT;

	make_file("-", TS_LIT("x"));
	assert_int_equal(ts_runs_find(&runs, "./-", NULL), TS_OK);
	assert_string_equal(runs.sessions[0].files[0].path, "./-");
	assert_int_equal(runs.sessions[0].kind, TS_SESSION_FILE);
	ts_runs_release(&runs);
}

TEST_IN_TMPDIR(what_is_wrong_is_one_line_and_the_rest_goes_on)
{
	make_file("l/a/plugins/profile/s/h.xplane.pb", TS_LIT("1"));
	make_dirs("l/a/plugins/profile/s/odd.xplane.pb");
	make_dirs("l/b/plugins/profile/empty");
	assert_int_equal(symlink("..", "l/a/up"), 0);
	assert_int_equal(symlink("loop", "l/loop"), 0);
	assert_int_equal(symlink("nowhere", "l/dangling"), 0);
	assert_int_equal(symlink("nowhere", "l/a/plugins/profile/s/gone.xplane.pb"), 0);
	assert_int_equal(mkfifo("l/a/plugins/profile/s/pipe.xplane.pb", 0600), 0);
	assert_finds(
		"l",
		"dir l/a/plugins/profile/s|l|a|s|l/a/s: h=1\n"
		"! l/a/plugins/profile/s/gone.xplane.pb: a link that leads nowhere "
		"(remove or correct it)\n"
		"! l/a/plugins/profile/s/pipe.xplane.pb: no plain file, passed over (remove it)\n"
		"! l/a/up: a link that leads back to a folder above it (remove it)\n"
		"! l/b/plugins/profile/empty: a session without profiles: no *.xplane.pb and no "
		"trace in it (profile again, and wait for the step before the profiler stops; "
		"create_perfetto_trace=True of jax.profiler.trace writes a trace, too)\n"
		"! l/dangling: a link that leads nowhere (remove or correct it)\n"
		"! l/loop: cannot follow it: its symbolic links go round in a circle "
		"(remove or correct the link)\n");
}

TEST_IN_TMPDIR(a_link_to_a_folder_above_ends_there)
{
	make_file("l/a/plugins/profile/s/h.xplane.pb", TS_LIT("1"));
	assert_int_equal(symlink("../..", "l/a/plugins/back"), 0);
	assert_int_equal(symlink(".", "l/here"), 0);
	assert_finds("l",
		     "dir l/a/plugins/profile/s|l|a|s|l/a/s: h=1\n"
		     "! l/a/plugins/back: a link that leads back to a folder above it (remove it)\n"
		     "! l/here: a link that leads back to a folder above it (remove it)\n");
}

TEST_IN_TMPDIR(a_second_name_of_a_run_adds_nothing)
{
	make_file("l/z_run/plugins/profile/s/h.xplane.pb", TS_LIT("1"));
	make_file("other/plugins/profile/t/h.xplane.pb", TS_LIT("12"));
	assert_int_equal(symlink("z_run", "l/latest"), 0);
	assert_int_equal(symlink("../other", "l/linked"), 0);
	assert_finds("l", "dir l/linked/plugins/profile/t|l|linked|t|l/linked/t: h=2\n"
			  "dir l/z_run/plugins/profile/s|l|z_run|s|l/z_run/s: h=1\n");
}

/* 2^20 paths lead through 20 folders with two links each to the next. */
TEST_IN_TMPDIR(links_cannot_multiply_the_work)
{
	char from[64], to[64];

	make_dirs("l");
	for (int i = 0; i < 20; i++) {
		snprintf(to, sizeof(to), "l/%d", i);
		make_dirs(to);
		snprintf(to, sizeof(to), "../%d", i + 1);
		snprintf(from, sizeof(from), "l/%d/a", i);
		assert_int_equal(symlink(to, from), 0);
		snprintf(from, sizeof(from), "l/%d/b", i);
		assert_int_equal(symlink(to, from), 0);
	}
	make_file("l/20/plugins/profile/s/h.xplane.pb", TS_LIT("1"));
	assert_finds("l", "dir l/20/plugins/profile/s|l|20|s|l/20/s: h=1\n");
}

TEST_IN_TMPDIR(linked_profiles_count_with_their_size)
{
	make_file("store/blob", TS_LIT("12345"));
	make_dirs("l/plugins/profile/s");
	assert_int_equal(symlink("../../../../store/blob", "l/plugins/profile/s/h.xplane.pb"), 0);
	assert_finds("l", "dir l/plugins/profile/s|l|.|s|l/s: h=5\n");
}

TEST_IN_TMPDIR(paths_that_overlap_find_each_session_once)
{
	static const char *const paths[] = {
		"l/a", "l", "l/a/plugins/profile/s", "l/a/plugins/profile/s/h.xplane.pb", "l/", NULL
	};

	make_file("l/a/plugins/profile/s/h.xplane.pb", TS_LIT("1"));
	assert_found(paths, "dir l/a/plugins/profile/s|l/a|.|s|l/a/s: h=1\n");
}

TEST_IN_TMPDIR(nothing_found_is_an_error_with_advice)
{
	make_dirs("none/deep");
	make_dirs("p/plugins/profile/s");
	make_file("stray/x/h.xplane.pb", TS_LIT("1"));
	assert_finds(
		"none",
		"error -6: none: no profile found (a log directory has them in "
		"plugins/profile/SESSION/HOST.xplane.pb; traces of PyTorch are NAME.pt.trace.json "
		"or rank0.json, packed or not; any other name must be given itself)\n");
	assert_finds("stray",
		     "error -6: stray: no session found, but 1 *.xplane.pb elsewhere below it "
		     "(name their folders)\n");
	make_file("events/events.out.tfevents.1", TS_LIT("x"));
	make_file("events/events.out.tfevents.2", TS_LIT("x"));
	make_file("traces/a/b/c/h.trace.json.gz", TS_LIT("x"));
	assert_finds("events",
		     "error -6: events: no profile found, only 2 event files with TensorBoard's "
		     "scalars (take a profile with jax.profiler.trace)\n");
	assert_finds("traces",
		     "error -6: traces: no profile found, only 1 trace further down, made "
		     "for a viewer (name them, or copy the whole session folder, with its "
		     "*.xplane.pb)\n");
	assert_finds(
		"p/plugins/profile/s",
		"error -6: p/plugins/profile/s: a session without profiles: no *.xplane.pb and no "
		"trace in it (profile again, and wait for the step before the profiler stops; "
		"create_perfetto_trace=True of jax.profiler.trace writes a trace, too)\n");
	assert_finds("missing",
		     "error -6: missing: cannot open it: no such file or folder (check the "
		     "path)\n");
	assert_finds("gs://bucket/logs",
		     "error -6: gs://bucket/logs: cannot open it: no such file or folder (check "
		     "the path)\n");
}

/* As TensorBoard was given the log directory, whatever path the sessions were found by. */
TEST_IN_TMPDIR(sessions_are_named_as_seen_from_a_log_directory)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_buf got = TS_BUF_INIT;

	make_logs();
	assert_int_equal(ts_runs_find(&runs, "logs/big", NULL), TS_OK);
	assert_int_equal(ts_runs_name(&runs, "./logs/", NULL), TS_OK);
	assert_int_equal(ts_runs_name(&runs, "elsewhere", NULL), TS_OK);
	describe(&runs, &got);
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, "dir " S2 "|logs|big/step_00000100|2025_02_02|"
					   "logs/big/step_00000100/2025_02_02: t1v-n-0=1\n");
	ts_buf_release(&got);
	ts_runs_release(&runs);
}

static void find_beside_a_closed_folder(void)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;

	make_file("l/a/plugins/profile/s/h.xplane.pb", TS_LIT("1"));
	make_dirs("l/closed");
	CHECK(chmod("l/closed", 0000) == 0);
	CHECK(ts_runs_find(&runs, "l", NULL) == TS_OK);
	CHECK(runs.nr_sessions == 1);
	CHECK(runs.nr_problems == 1);
	CHECK(strcmp(runs.problems[0],
		     "l/closed: cannot read the folder: permission denied (check who "
		     "owns it, and the folder's permissions)") == 0);
	CHECK(ts_runs_find(&runs, "l/closed", &err) == TS_NOTFOUND);
	CHECK(strstr(err.text, "l/closed: cannot read the folder: permission denied"));
	CHECK(runs.nr_problems == 1);
	CHECK(chmod("l/closed", 0700) == 0);
	ts_runs_release(&runs);
}

TEST_IN_TMPDIR(an_unreadable_folder_is_one_line)
{
	run_unprivileged(find_beside_a_closed_folder);
}

TEST_IN_TMPDIR(depth_has_a_bound)
{
	char dir[512] = "l";
	struct ts_runs runs = TS_RUNS_INIT;

	for (size_t n = 1; n < 1 + 2 * (TS_LIMIT_FOLDER_DEPTH + 10); n += 2)
		memcpy(dir + n, "/d", 3);
	make_dirs(dir);
	make_file("l/plugins/profile/s/h.xplane.pb", TS_LIT("1"));
	assert_int_equal(ts_runs_find(&runs, "l", NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_int_equal(runs.nr_problems, 1);
	assert_has(runs.problems[0],
		   "/d/d: folders nested too deep; name a folder further down " TS_OVER(
			   TS_LIMIT_FOLDER_DEPTH));
	ts_runs_release(&runs);
}

static void many_runs_and_files_are_found_with_few_descriptors(void)
{
	struct rlimit few;
	struct ts_runs runs = TS_RUNS_INIT;
	char path[128];

	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "l/run%03d/plugins/profile/s/h.xplane.pb", i);
		make_file(path, TS_LIT("1"));
		snprintf(path, sizeof(path), "l/run000/plugins/profile/s/host%03d.xplane.pb",
			 299 - i);
		make_file(path, TS_LIT("1"));
	}
	CHECK(getrlimit(RLIMIT_NOFILE, &few) == 0);
	few.rlim_cur = 16;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK(ts_runs_find(&runs, "l", NULL) == TS_OK);
	CHECK(runs.nr_sessions == 300);
	CHECK(runs.nr_problems == 0);
	CHECK(runs.sessions[0].nr_files == 301);
	for (size_t i = 1; i < runs.nr_sessions; i++)
		CHECK(strcmp(runs.sessions[i - 1].dir, runs.sessions[i].dir) < 0);
	for (size_t i = 1; i < runs.sessions[0].nr_files; i++)
		CHECK(strcmp(runs.sessions[0].files[i - 1].host, runs.sessions[0].files[i].host) <
		      0);
	ts_runs_release(&runs);
}

TEST_IN_TMPDIR(large_log_directories)
{
	run_in_child(many_runs_and_files_are_found_with_few_descriptors);
}

TEST_IN_TMPDIR(names_of_files_in_a_session)
{
	struct ts_session session = { .dir = "/logs/s" };
	struct ts_buf out = TS_BUF_INIT;

	ts_buf_puts(&out, "kept ");
	assert_string_equal(ts_session_path(&session, "a.json", &out), "/logs/s/a.json");
	assert_true(ts_bytes_is(ts_buf_bytes(&out), "kept /logs/s/a.json"));
	ts_buf_clear(&out);
	session.dir = "/";
	assert_string_equal(ts_session_path(&session, "a.json", &out), "/a.json");
	ts_buf_release(&out);
}

TEST_IN_TMPDIR(places_by_name)
{
	static const struct {
		const char *path;
		enum ts_place place;
		size_t n;
	} cases[] = {
		{ "a/plugins/profile/s", TS_PLACE_SESSION, 1 },
		{ "plugins/profile/s", TS_PLACE_SESSION, 0 },
		{ "/plugins/profile/s", TS_PLACE_SESSION, 1 },
		{ "/a/plugins/profile", TS_PLACE_PROFILE, 2 },
		{ "plugins/profile", TS_PLACE_PROFILE, 0 },
		{ "plugins", TS_PLACE_PLUGINS, 0 },
		{ "/", TS_PLACE_ANY, 1 },
		{ "", TS_PLACE_ANY, 0 },
		{ "profile/s", TS_PLACE_ANY, 9 },
		{ "a/plugins/profile/s/deeper", TS_PLACE_ANY, 26 },
	};

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		size_t n;

		assert_int_equal(ts_place_of(cases[i].path, &n), cases[i].place);
		assert_int_equal(n, cases[i].n);
	}
}

#define T "t/plugins/profile/now"

TEST_IN_TMPDIR(traces_stand_for_a_session_without_xplanes)
{
	make_file(T "/perfetto_trace.json.gz", TS_LIT("1"));
	make_file(T "/h1.trace.json.gz", TS_LIT("12"));
	make_file(T "/perfetto_trace.json", TS_LIT("1"));
	make_file(T "/ALL_HOSTS.tpusight.json", TS_LIT("1"));
	assert_finds("t", "dir " T "|t|.|now|t/now: h1=2\n");
	make_file(T "/h0.xplane.pb", TS_LIT("123"));
	assert_finds("t", "dir " T "|t|.|now|t/now: h0=3\n");
}

TEST_IN_TMPDIR(the_trace_for_perfetto_is_better_than_nothing)
{
	make_file(T "/perfetto_trace.json.gz", TS_LIT("1"));
	make_file(T "/perfetto_trace.native.json.gz", TS_LIT("1"));
	assert_finds("t", "dir " T "|t|.|now|t/now: perfetto_trace.json.gz=1\n");
}

/* What PyTorch writes at the head of a rank's trace. */
#define RANK(n, of)                                                                   \
	TS_LIT("{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", " \
	       "\"rank\": " #n ", \"world_size\": " #of ", \"pg_count\": 1}, \"traceEvents\": [")

/* Sessions of folder log/net as their files, a line each. */
static void assert_captures(const char *expected)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_buf got = TS_BUF_INIT;

	assert_int_equal(ts_runs_find(&runs, "log", NULL), TS_OK);
	for (size_t i = 0; i < runs.nr_sessions; i++) {
		assert_false(runs.sessions[i].owns_folder);
		for (size_t k = 0; k < runs.sessions[i].nr_files; k++)
			ts_buf_printf(&got, "%s%s", k ? " " : "", runs.sessions[i].files[k].host);
		ts_buf_putc(&got, '\n');
	}
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, expected);
	ts_buf_release(&got);
	ts_runs_release(&runs);
}

/* Two ranks, captured twice; the second rank began a little later. Other files are none. */
TEST_IN_TMPDIR(captures_of_a_job_are_told_apart)
{
	make_file("log/net/w1_77.1700000000000000000.pt.trace.json", RANK(0, 2));
	make_file("log/net/w2_78.1700000003000000000.pt.trace.json", RANK(1, 2));
	make_file("log/net/w1_77.1700000050000000000.pt.trace.json", RANK(0, 2));
	make_file("log/net/w2_78.1700000050000000000.pt.trace.json", RANK(1, 2));
	make_file("log/net/w1_77.1700000000000000000.pt.trace.tpusight.json.gz", TS_LIT("1"));
	make_file("log/net/w1_77.1700000000000000000.pt.trace.tpusight.report.json", TS_LIT("1"));
	make_file("log/net/notes.json", TS_LIT("1"));
	make_file("log/other/h.trace.json.gz", TS_LIT("1"));
	assert_captures("w1_77.1700000000000000000 w2_78.1700000003000000000\n"
			"w1_77.1700000050000000000 w2_78.1700000050000000000\n");
	assert_finds("log/net/w2_78.1700000003000000000.pt.trace.json",
		     "file log/net|log/net|.|net|log/net/w2_78.1700000003000000000.pt.trace.json: "
		     "w2_78.1700000003000000000=120\n");
}

/* Each run of a script is a process, and so a worker, of its own. */
TEST_IN_TMPDIR(runs_of_one_script_are_no_job)
{
	make_file("log/net/h_77.1700000000000000000.pt.trace.json",
		  TS_LIT("{\"schemaVersion\": 1}"));
	make_file("log/net/h_78.1700000020000000000.pt.trace.json",
		  TS_LIT("{\"schemaVersion\": 1}"));
	assert_captures("h_77.1700000000000000000\nh_78.1700000020000000000\n");
}

TEST_IN_TMPDIR(ranks_of_other_jobs_stay_apart)
{
	make_file("log/net/a.1700000000000.pt.trace.json",
		  RANK(0, 2)); /* ms, of an older PyTorch */
	make_file("log/net/b.1700000001000.pt.trace.json", RANK(0, 2)); /* that rank again */
	make_file("log/net/c.1700000002000.pt.trace.json", RANK(1, 4)); /* another size */
	make_file("log/net/d.1700000061000.pt.trace.json", RANK(1, 2)); /* too late for a */
	make_file("log/net/e.1700000100000.pt.trace.json", RANK(0, 1)); /* alone */
	make_file("log/net/r0.pt.trace.json", RANK(0, 2));		/* no times */
	make_file("log/net/r1.pt.trace.json", RANK(1, 2));
	assert_captures("a.1700000000000\n"
			"b.1700000001000 d.1700000061000\n"
			"c.1700000002000\n"
			"e.1700000100000\n"
			"r0 r1\n");
}

/* The size and the ranks fit, and the devices do not: a trace that names none may be of either. */
#define RANK_ON(device, n)                                                             \
	TS_LIT("{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"" device \
	       "\", \"numSms\": 1}], \"distributedInfo\": {\"rank\": " #n                 \
	       ", \"world_size\": 8}, \"traceEvents\": [")

TEST_IN_TMPDIR(ranks_on_other_devices_stay_apart)
{
	make_file("log/net/r0.pt.trace.json", RANK_ON("NVIDIA A100", 0));
	make_file("log/net/r1.pt.trace.json", RANK_ON("AMD Instinct MI300X", 1));
	make_file("log/net/r2.pt.trace.json", RANK_ON("NVIDIA A100", 2));
	make_file("log/net/r3.pt.trace.json", RANK(3, 8));
	assert_captures("r0 r2 r3\nr1\n");
}

/* As HTA's users name them; beside them what is not a trace. */
TEST_IN_TMPDIR(ranks_may_have_any_name)
{
	make_file("log/net/rank_1.json", RANK(1, 3));
	make_file("log/net/rank-0.json", RANK(0, 3));
	make_file("log/net/trace_rank_2.json", RANK(2, 3));
	make_file("log/net/rank3.json", RANK(3, 3));
	make_file("log/net/rank4_trace.json", RANK(4, 3));
	make_file("log/net/trace_rank5_step20.json", RANK(5, 3));
	make_file("log/net/rank_7.json", TS_LIT("{\"loss\": [1, 2]}"));
	make_file("log/net/rank_0.tpusight.report.json", RANK(0, 3));
	make_file("log/net/rank_0.tpusight.json.gz", RANK(0, 3));
	assert_captures(
		"rank-0.json rank3.json rank4_trace.json rank_1.json trace_rank5_step20.json "
		"trace_rank_2.json\n");
}

/* In the folder that is named and in a run's, the head alone says it; deeper the name has to. */
TEST_IN_TMPDIR(a_run_s_ranks_are_known_by_their_heads)
{
	make_file("log/net/alpha.json", RANK(0, 2));
	make_file("log/net/weights.json", RANK(1, 2));
	make_file("log/net/notes.json", TS_LIT("{\"traceEvents\": []}"));
	make_file("log/net/more/alpha.json", RANK(0, 2));
	make_file("log/net/more/weights.json", RANK(1, 2));
	make_file("log/net/deep/rank0.json", RANK(0, 2));
	make_file("log/net/deep/rank1.json", RANK(1, 2));
	assert_captures("alpha.json weights.json\n"
			"rank0.json rank1.json\n");
}

/* In the folder that is named, the head alone says it. */
TEST_IN_TMPDIR(a_head_with_a_job_makes_a_trace_of_any_file)
{
	make_file("log/first.json", RANK(0, 2));
	make_file("log/second.json", RANK(1, 2));
	make_file("log/notes.json", TS_LIT("{\"traceEvents\": []}"));
	assert_captures("first.json second.json\n");
}

/* Members in front of the job and of the events, longer than what is looked at. */
TEST_IN_TMPDIR(a_rank_with_a_long_head_is_known_by_its_name)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_puts(&text, "{\"schemaVersion\": 1, \"notes\": \"");
	for (size_t i = 0; i < 70000; i++)
		ts_buf_putc(&text, 'x');
	ts_buf_puts(&text, "\", \"distributedInfo\": {}, \"traceEvents\": []}");
	make_file("log/rank0.json", ts_buf_bytes(&text));
	make_file("log/rank1.json", ts_buf_bytes(&text));
	make_file("log/notes.json", ts_buf_bytes(&text));
	assert_captures("rank0.json rank1.json\n");
	ts_buf_release(&text);
}

/* A trace of one GPU has no job in its head. */
TEST_IN_TMPDIR(a_head_of_kineto_makes_a_trace_of_any_file)
{
	make_file("log/mine.json", TS_LIT("{\"schemaVersion\": 1, \"deviceProperties\": ["));
	make_file("log/manifest.json", TS_LIT("{\"schemaVersion\": 2, \"layers\": []}"));
	assert_captures("mine.json\n");
}

/* Who writes a trace anew, with notes in front, leaves what Kineto says of itself behind the events. */
TEST_IN_TMPDIR(events_of_kineto_make_a_trace_of_any_file)
{
#define EVENTS(kind) \
	TS_LIT("{\"metadata\": {\"host\": 1}, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"" kind "\",")
	make_file("log/anew.json", EVENTS("cpu_op"));
	make_file("log/compact.json",
		  TS_LIT("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cuda_runtime\""));
	make_file("log/browser.json", EVENTS("toplevel"));
	make_file("log/build.json", EVENTS("cpu_op_of_another"));
	make_file("log/cut.json", TS_LIT("{\"traceEvents\": [{\"ph\": \"X\", \"cat\""));
	make_file("log/list.json", TS_LIT("{\"cat\": \"cpu_op\"}"));
	make_file("log/net/more/anew.json", EVENTS("cpu_op"));
#undef EVENTS
	assert_captures("anew.json\ncompact.json\n");
}

static void assert_problem(const char *path, const char *words)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_runs_find(&runs, path, &err), TS_NOTFOUND);
	if (!strstr(runs.nr_problems ? runs.problems[0] : err.text, words))
		fail_msg("%s", err.text);
	ts_runs_release(&runs);
}

TEST_IN_TMPDIR(what_is_not_found_is_named_for_traces_too)
{
	make_file("log/notes.json", TS_LIT("{\"traceEvents\": []}"));
	assert_problem("log", "traces of PyTorch are NAME.pt.trace.json or rank0.json");
}

/* Of a host that has its profile as records, the empty xplane is what the profiler left. */
TEST_IN_TMPDIR(records_stand_for_the_empty_xplane_beside_them)
{
	struct ts_runs runs = TS_RUNS_INIT;

	make_file(T "/h0.xplane.riegeli", TS_LIT("1"));
	make_file(T "/h0.xplane.pb", TS_LIT(""));
	make_file(T "/h1.xplane.pb", TS_LIT(""));
	assert_int_equal(ts_runs_find(&runs, "t", NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_int_equal(runs.sessions[0].nr_files, 2);
	assert_string_equal(runs.sessions[0].files[0].name, "h0.xplane.riegeli");
	assert_string_equal(runs.sessions[0].files[1].name, "h1.xplane.pb");
	ts_runs_release(&runs);
}

/* The trace of the same host is whole where its xplane was given up. */
TEST_IN_TMPDIR(a_trace_stands_for_the_empty_xplane_beside_it)
{
	static const char message[] =
		"\x12\x03oom\x22\x01h"; /* an error and a host's name: no plane */
	struct ts_runs runs = TS_RUNS_INIT;

	make_file(T "/h0.xplane.pb", TS_LIT(""));
	make_file(T "/h0.trace.json.gz", TS_LIT("1"));
	make_file(T "/h1.xplane.pb", ts_bytes_of(message));
	make_file(T "/h1.trace.json", TS_LIT("12"));
	make_file(T "/h2.xplane.pb", TS_LIT("\x0a\x02\x08\x01"));
	make_file(T "/h2.trace.json", TS_LIT("123"));
	make_file(T "/h3.xplane.pb", TS_LIT(""));
	make_file(T "/h3.trace.json", TS_LIT(""));
	assert_int_equal(ts_runs_find(&runs, "t", NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_int_equal(runs.sessions[0].nr_files, 4);
	assert_string_equal(runs.sessions[0].files[0].name, "h0.trace.json.gz");
	assert_string_equal(runs.sessions[0].files[0].stands_for, T "/h0.xplane.pb");
	assert_string_equal(runs.sessions[0].files[1].name, "h1.trace.json");
	assert_string_equal(runs.sessions[0].files[2].name, "h2.xplane.pb");
	assert_null(runs.sessions[0].files[2].stands_for);
	assert_string_equal(runs.sessions[0].files[3].name, "h3.xplane.pb");
	ts_runs_release(&runs);
}

/* Traces that say nothing of a job: their names number the ranks. */
TEST_IN_TMPDIR(names_number_the_ranks_where_heads_do_not)
{
	make_file("log/net/rank_0.json", TS_LIT("{\"traceEvents\": ["));
	make_file("log/net/rank_1.json", TS_LIT("{\"traceEvents\": ["));
	assert_captures("rank_0.json rank_1.json\n");
}

/* There the folder says that they are one run: JAX's traces tell of no job. */
TEST_IN_TMPDIR(traces_of_a_session_are_of_one_run)
{
	struct ts_runs runs = TS_RUNS_INIT;

	make_file(T "/h0.trace.json.gz", TS_LIT("1"));
	make_file(T "/h1.trace.json.gz", TS_LIT("1"));
	assert_int_equal(ts_runs_find(&runs, "t", NULL), TS_OK);
	assert_int_equal(runs.nr_sessions, 1);
	assert_int_equal(runs.sessions[0].nr_files, 2);
	assert_true(runs.sessions[0].owns_folder);
	ts_runs_release(&runs);
}
