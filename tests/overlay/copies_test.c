/* SPDX-License-Identifier: MIT */
/* Annotated copies of traces beside them: the traces are never touched, and nothing else of the user's. */
#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "folder.h"
#include "io/gzip.h"
#include "io/tracefile.h"
#include "overlay/apply.h"

#define RANK0	 "rank0.1700.pt.trace.json"
#define RANK1	 "rank1.1701.pt.trace.json"
#define COPY0	 "rank0.1700.pt.trace.tpusight.json.gz"
#define COPY1	 "rank1.1701.pt.trace.tpusight.json.gz"
#define PFTRACE0 "rank0.1700.pt.trace.tpusight.pftrace"
#define PFTRACE1 "rank1.1701.pt.trace.tpusight.pftrace"
#define REPORT0	 "rank0.1700.pt.trace.tpusight.report.json"
#define SQL0   	 "rank0.1700.pt.trace.tpusight.sql"
#define REPORT1	 "rank1.1701.pt.trace.tpusight.report.json"
#define NR_KILLS 150

/* Traces of two ranks in a folder, as found, and copies of them to be put there. */
struct run {
	struct folder folder;
	const char *text; /* of a copy, unpacked */
	struct ts_runs runs;
	struct ts_input inputs[2];
	struct ts_overlay_trace copies[2];
	struct ts_overlay_plan plan;
	struct ts_overlay_options options;
	struct ts_overlay_report report;
	struct ts_error err;
};

static enum ts_status write_copy(void *ctx, struct ts_newfile *file, struct ts_error *err)
{
	struct ts_gzip gz = TS_GZIP_INIT;
	struct ts_buf packed = TS_BUF_INIT;
	enum ts_status st = ts_gzip_init(&gz, err);

	if (!st)
		st = ts_gzip_member(&gz, &packed, ts_bytes_of(*(const char **)ctx), NULL, err);
	if (!st)
		st = ts_newfile_put(file, ts_buf_bytes(&packed), err);
	ts_gzip_release(&gz);
	ts_buf_release(&packed);
	return st;
}

static void unlook(struct run *run)
{
	for (size_t i = 0; i < 2; i++)
		ts_input_release(&run->inputs[i]);
	ts_runs_release(&run->runs);
	run->runs = (struct ts_runs)TS_RUNS_INIT;
}

/* Opens what is there now, as a new process would; one session, or the first of several. */
static const struct ts_session *look(struct run *run)
{
	const struct ts_session *session;

	unlook(run);
	assert_int_equal(ts_runs_find(&run->runs, run->folder.path, &run->err), TS_OK);
	session = &run->runs.sessions[0];
	for (size_t i = 0; i < session->nr_files; i++)
		assert_int_equal(ts_input_open(&run->inputs[i], session->files[i].path, &run->err),
				 TS_OK);
	return session;
}

static void run_init(struct run *run, const char *below)
{
	*run = (struct run){ .text = "[" TS_ANNOTATED_ARRAY "}]",
			     .runs = TS_RUNS_INIT,
			     .inputs = { TS_INPUT_INIT, TS_INPUT_INIT },
			     .report = TS_OVERLAY_REPORT_INIT,
			     .err = TS_ERROR_INIT };
	folder_make(&run->folder);
	if (below[0]) {
		make_dirs(&run->folder, below);
		snprintf(run->folder.path + strlen(run->folder.path),
			 sizeof(run->folder.path) - strlen(run->folder.path), "/%s", below);
	}
	put_text(&run->folder, RANK0, "{\"distributedInfo\": {\"rank\": 0, \"world_size\": 2}}");
	put_text(&run->folder, RANK1, "{\"distributedInfo\": {\"rank\": 1, \"world_size\": 2}}");
	for (size_t i = 0; i < 2; i++)
		run->copies[i] = (struct ts_overlay_trace){ write_copy, &run->text };
	run->plan = (struct ts_overlay_plan){
		.inputs = run->inputs,
		.report_json = TS_LIT("{\"schema\":\"tpusight/1\"}\n"),
		.copies = { [TS_TRACE_JSON] = run->copies },
		.of_traces = true,
	};
}

static void run_release(struct run *run)
{
	char *below = strstr(run->folder.path, "/plugins");

	unlook(run);
	ts_overlay_report_release(&run->report);
	if (below)
		*below = '\0';
	folder_remove(&run->folder);
}

static enum ts_status annotate(struct run *run)
{
	ts_overlay_report_release(&run->report);
	return ts_overlay_apply(look(run), &run->plan, &run->options, &run->report, &run->err);
}

static enum ts_status strip(struct run *run)
{
	ts_overlay_report_release(&run->report);
	return ts_overlay_strip(look(run), &run->options, &run->report, &run->err);
}

/* "written NAME", a line each, in the order of the work. */
static void assert_deeds(const struct run *run, const char *expected)
{
	static const char *const words[] = { "written", "unchanged", "restored",
					     "removed", "skipped",   "failed" };
	struct ts_buf got = TS_BUF_INIT;

	for (size_t i = 0; i < run->report.nr_entries; i++)
		ts_buf_printf(&got, "%s %s\n", words[run->report.entries[i].deed],
			      run->report.entries[i].name);
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, expected);
	ts_buf_release(&got);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Names, modes, with IDENTITY inodes and times, and bytes. */
static void snapshot(const struct folder *folder, struct ts_buf *out, bool identity)
{
	struct dirent **entries;
	int nr = scandir(folder->path, &entries, NULL, by_name);

	ts_buf_clear(out);
	assert_true(nr >= 0);
	for (int i = 0; i < nr; i++) {
		struct stat st;

		assert_int_equal(lstat(in_folder(folder, entries[i]->d_name), &st), 0);
		if (S_ISREG(st.st_mode)) {
			ts_buf_printf(out, "%s %o\n", entries[i]->d_name, (unsigned)st.st_mode);
			if (identity)
				ts_buf_printf(out, "%ju %jd.%09ld\n", (uintmax_t)st.st_ino,
					      (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
			get_file(folder, entries[i]->d_name, out);
		}
		free(entries[i]);
	}
	free(entries);
}

static void assert_folder(const struct run *run, const struct ts_buf *expected, bool identity)
{
	struct ts_buf now = TS_BUF_INIT;

	snapshot(&run->folder, &now, identity);
	assert_true(ts_bytes_eq(ts_buf_bytes(&now), ts_buf_bytes(expected)));
	ts_buf_release(&now);
}

TEST(copies_and_one_report_come_and_go_and_the_traces_stay)
{
	struct ts_buf before = TS_BUF_INIT, once = TS_BUF_INIT;
	struct run run;

	run_init(&run, "");
	put_text(&run.folder, "notes.txt", "mine");
	put_text(&run.folder, TS_REPORT_FILE, "{\"schema\":\"tpusight/1\", of an xplane}");
	put_text(&run.folder, "ALL_HOSTS.smart_suggestion.pb", "XProf's");
	snapshot(&run.folder, &before, true);
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "written " COPY0 "\nwritten " COPY1 "\nwritten " REPORT0 "\n");
	snapshot(&run.folder, &once, true);
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "unchanged " COPY0 "\nunchanged " COPY1 "\nunchanged " REPORT0 "\n");
	assert_folder(&run, &once, true);
	assert_int_equal(strip(&run), TS_OK);
	assert_deeds(&run, "removed " COPY0 "\nremoved " COPY1 "\nremoved " REPORT0 "\n");
	assert_folder(&run, &before, true);
	assert_int_equal(strip(&run), TS_OK);
	assert_deeds(&run, "");
	ts_buf_release(&before);
	ts_buf_release(&once);
	run_release(&run);
}

TEST(in_a_session_of_tensorboards_layout_the_report_is_of_all_hosts)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run, "plugins/profile/s");
	snapshot(&run.folder, &before, true);
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "written " COPY0 "\nwritten " COPY1 "\nwritten " TS_REPORT_FILE "\n");
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before, true);
	ts_buf_release(&before);
	run_release(&run);
}

TEST(sql_has_the_first_traces_name_in_a_folder_of_the_users)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run, "");
	snapshot(&run.folder, &before, true);
	run.plan.sql = TS_LIT("SELECT 1;\n");
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "written " COPY0 "\nwritten " COPY1 "\nwritten " SQL0
			   "\nwritten " REPORT0 "\n");
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before, true);
	ts_buf_release(&before);
	run_release(&run);
}

TEST(other_results_replace_the_old_and_the_report_follows_the_first_trace)
{
	struct run run;

	run_init(&run, "");
	put_text(&run.folder, REPORT1,
		 "{\"schema\":\"tpusight/1\"}"); /* of that rank alone, once */
	run.copies[1].write = NULL;		 /* it could not be read */
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "written " COPY0 "\nwritten " REPORT0 "\nremoved " REPORT1 "\n");
	run.text = "[" TS_ANNOTATED_ARRAY ",\"other\":1}]";
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "written " COPY0 "\nunchanged " REPORT0 "\n");
	run.plan.copies[TS_TRACE_JSON] = NULL; /* --perfetto=none */
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "removed " COPY0 "\nunchanged " REPORT0 "\n");
	run_release(&run);
}

TEST(what_is_not_ours_is_neither_replaced_nor_removed)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run, "");
	put_text(&run.folder, COPY0, "[{\"mine\":\"tpusight_annotation\"}]");
	put_text(&run.folder, REPORT0, "{\"mine\": true}");
	snapshot(&run.folder, &before, true);
	assert_int_equal(annotate(&run), TS_IO);
	assert_deeds(&run, "failed " COPY0 "\nwritten " COPY1 "\nfailed " REPORT0 "\n");
	assert_non_null(strstr(run.err.text, "not made by TPUsight"));
	assert_int_equal(strip(&run), TS_OK);
	assert_deeds(&run, "removed " COPY1 "\n");
	assert_folder(&run, &before, true);
	ts_buf_release(&before);
	run_release(&run);
}

TEST(a_copy_that_was_unpacked_is_still_ours)
{
	struct run run;

	run_init(&run, "");
	put_text(&run.folder, COPY0, "{" TS_ANNOTATED_OBJECT "},\"traceEvents\":[]}");
	assert_int_equal(strip(&run), TS_OK);
	assert_deeds(&run, "removed " COPY0 "\n");
	run_release(&run);
}

static const char *pftrace = TS_PFTRACE_MARK "and what is in it";

/* Copies in Perfetto's own form beside those in JSON, or in their place. */
static void want_pftraces(struct run *run, struct ts_overlay_trace *pftraces, bool beside)
{
	for (size_t i = 0; i < 2; i++)
		pftraces[i] = (struct ts_overlay_trace){ write_copy, &pftrace };
	run->plan.copies[TS_TRACE_PFTRACE] = pftraces;
	if (!beside)
		run->plan.copies[TS_TRACE_JSON] = NULL;
}

TEST(copies_of_both_forms_come_and_go)
{
	struct ts_overlay_trace pftraces[2];
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run, "");
	snapshot(&run.folder, &before, true);
	want_pftraces(&run, pftraces, true);
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "written " COPY0 "\nwritten " PFTRACE0 "\nwritten " COPY1
			   "\nwritten " PFTRACE1 "\nwritten " REPORT0 "\n");
	want_pftraces(&run, pftraces, false);
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "removed " COPY0 "\nunchanged " PFTRACE0 "\nremoved " COPY1
			   "\nunchanged " PFTRACE1 "\nunchanged " REPORT0 "\n");
	assert_int_equal(strip(&run), TS_OK);
	assert_deeds(&run, "removed " PFTRACE0 "\nremoved " PFTRACE1 "\nremoved " REPORT0 "\n");
	assert_folder(&run, &before, true);
	ts_buf_release(&before);
	run_release(&run);
}

TEST(a_pftrace_that_is_not_ours_stays)
{
	struct ts_overlay_trace pftraces[2];
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run, "");
	put_text(&run.folder, PFTRACE0, "\x0a\x02\x50\x01 of the user's");
	put_text(&run.folder, "gone.tpusight.pftrace", pftrace);
	snapshot(&run.folder, &before, true);
	want_pftraces(&run, pftraces, false);
	assert_int_equal(annotate(&run), TS_IO);
	assert_deeds(&run, "failed " PFTRACE0 "\nwritten " PFTRACE1 "\nwritten " REPORT0 "\n");
	assert_non_null(strstr(run.err.text, "not made by TPUsight"));
	ts_overlay_report_release(&run.report);
	assert_int_equal(
		ts_overlay_strip_folder(run.folder.path, &run.options, &run.report, &run.err),
		TS_OK);
	assert_deeds(&run,
		     "skipped gone.tpusight.pftrace\nremoved " REPORT0 "\nremoved " PFTRACE1 "\n");
	assert_folder(&run, &before, true);
	ts_buf_release(&before);
	run_release(&run);
}

TEST(a_packed_twin_keeps_the_name)
{
	struct run run;

	run_init(&run, "");
	unlink(in_folder(&run.folder, RANK1));
	put_text(&run.folder, RANK0 ".gz", "[2]");
	assert_int_equal(annotate(&run), TS_OK); /* the plain one is found first */
	assert_deeds(&run, "skipped " RANK0 "\n");
	assert_non_null(strstr(run.report.entries[0].why, RANK0 ".gz stands beside it"));
	run_release(&run);
}

TEST(only_users_who_may_read_the_trace_may_read_its_copy)
{
	struct stat st;
	struct run run;

	run_init(&run, "");
	chmod(in_folder(&run.folder, RANK0), 0600);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(lstat(in_folder(&run.folder, COPY0), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	run_release(&run);
}

TEST(a_trace_that_changed_while_it_was_read_gets_no_copy)
{
	const struct ts_session *session;
	struct run run;

	run_init(&run, "");
	session = look(&run);
	put_text(&run.folder, RANK0, "[0] and more");
	assert_int_equal(ts_overlay_apply(session, &run.plan, &run.options, &run.report, &run.err),
			 TS_IO);
	assert_false(has_file(&run.folder, COPY0));
	run_release(&run);
}

TEST(a_dry_run_writes_nothing_and_says_all)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run, "");
	snapshot(&run.folder, &before, true);
	run.options.dry_run = true;
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, "written " COPY0 "\nwritten " COPY1 "\nwritten " REPORT0 "\n");
	assert_folder(&run, &before, true);
	run.options.dry_run = false;
	assert_int_equal(annotate(&run), TS_OK);
	snapshot(&run.folder, &before, true);
	run.options.dry_run = true;
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(run.report.nr_entries, 3);
	assert_folder(&run, &before, true);
	ts_buf_release(&before);
	run_release(&run);
}

static void annotate_and_strip(void *run)
{
	annotate(run);
	strip(run);
}

TEST(a_kill_at_any_moment_leaves_the_old_or_the_new)
{
	struct ts_buf before = TS_BUF_INIT, annotated = TS_BUF_INIT;
	struct run run;
	uint32_t random = 12345;

	run_init(&run, "");
	snapshot(&run.folder, &before, true);
	assert_int_equal(annotate(&run), TS_OK);
	snapshot(&run.folder, &annotated, false);
	assert_int_equal(strip(&run), TS_OK);
	for (int i = 0; i < NR_KILLS; i++) {
		random = random * 1664525 + 1013904223;
		kill_at(annotate_and_strip, &run, (long)(random >> 8) % 8000000);
		if (i % 2) {
			assert_int_equal(annotate(&run), TS_OK);
			assert_folder(&run, &annotated, false);
		}
		assert_int_equal(strip(&run), TS_OK);
		assert_folder(&run, &before, true);
	}
	ts_buf_release(&before);
	ts_buf_release(&annotated);
	run_release(&run);
}
