/* SPDX-License-Identifier: MIT */
/* Results into a folder and out again: nothing of the user's is lost, whatever happens. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "folder.h"
#include "io/gzip.h"
#include "overlay/apply.h"
#include "overlay/suggestions.h"
#include "overlay/xplane.h"
#include "result/schema/doctor.def"
#include "sample.h"

#define NATIVE_BYTES 300000 /* of a profile: enough for a kill to fall inside */
#define NR_KILLS     150

/* A session of two hosts, each with a device, as found and read, and the results for it. */
struct run {
	struct folder folder;
	struct sample sample;
	struct ts_slice slices[4];
	struct ts_runs runs;
	struct ts_input inputs[2];
	struct ts_overlay_plan plan;
	struct ts_overlay_options options;
	struct ts_overlay_report report;
	struct ts_error err;
	const char *trace_text;
};

static void put_profile(const struct folder *folder, const char *name)
{
	struct ts_buf buf = TS_BUF_INIT;
	size_t plane = ts_pbw_begin(&buf, 1);

	ts_pbw_text(&buf, 2, TS_LIT("/device:TPU:0"));
	for (uint64_t i = 0; buf.n < NATIVE_BYTES; i++)
		ts_pbw_u64(&buf, 99, i * 0x9e3779b97f4a7c15u);
	ts_pbw_end(&buf, plane);
	ts_pbw_text(&buf, 4, ts_bytes_of(name));
	put_file(folder, name, ts_buf_bytes(&buf));
	ts_buf_release(&buf);
}

static enum ts_status write_trace(void *ctx, struct ts_newfile *file, struct ts_error *err)
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

static void make_results(struct run *run)
{
	struct ts_finding *finding;

	sample_init(&run->sample);
	for (uint32_t i = 0; i < 2; i++) {
		sample_host(&run->sample, i ? "b" : "a");
		sample_device(&run->sample, "/device:TPU:0", 2);
		run->slices[i] = (struct ts_slice){ 10, 20, 0, 1, 10 };
		sample_slices(&run->sample, i, "Classes", 0, &run->slices[i], 1);
	}
	finding = ts_result_finding(TS_ADD(&run->sample.results, doctor));
	finding->rule = "rule";
	finding->title = TS_LIT("A title");
}

/* Opens what is there now, as a new process would. */
static void look(struct run *run)
{
	for (size_t i = 0; i < 2; i++)
		ts_input_release(&run->inputs[i]);
	ts_runs_release(&run->runs);
	run->runs = (struct ts_runs)TS_RUNS_INIT;
	assert_int_equal(ts_runs_find(&run->runs, run->folder.path, &run->err), TS_OK);
	assert_int_equal(run->runs.nr_sessions, 1);
	assert_int_equal(run->runs.sessions[0].nr_files, 2);
	for (size_t i = 0; i < 2; i++) {
		const char *path = run->runs.sessions[0].files[i].path;

		assert_int_equal(ts_input_open(&run->inputs[i], path, &run->err), TS_OK);
		run->sample.profile.hosts[i].file = ts_bytes_of(path);
	}
}

static void run_init(struct run *run)
{
	*run = (struct run){ .runs = TS_RUNS_INIT,
			     .inputs = { TS_INPUT_INIT, TS_INPUT_INIT },
			     .report = TS_OVERLAY_REPORT_INIT,
			     .err = TS_ERROR_INIT };
	folder_make(&run->folder);
	make_dirs(&run->folder, "plugins/profile/s");
	snprintf(run->folder.path + strlen(run->folder.path),
		 sizeof(run->folder.path) - strlen(run->folder.path), "/plugins/profile/s");
	put_profile(&run->folder, "a.xplane.pb");
	put_profile(&run->folder, "b.xplane.pb");
	make_results(run);
	run->trace_text = TS_TRACE_MARK ",\"version\":\"1\"},\"traceEvents\":[]}";
	run->plan = (struct ts_overlay_plan){
		.profile = &run->sample.profile,
		.results = &run->sample.results,
		.inputs = run->inputs,
		.report_json = TS_LIT("{\"schema\":\"tpusight/1\"}\n"),
		.traces = { [TS_TRACE_JSON] = { write_trace, &run->trace_text } },
	};
	run->options.xprof_version = "2.24.2";
	look(run);
}

static void run_release(struct run *run)
{
	for (size_t i = 0; i < 2; i++)
		ts_input_release(&run->inputs[i]);
	ts_runs_release(&run->runs);
	ts_overlay_report_release(&run->report);
	sample_release(&run->sample);
	*strstr(run->folder.path, "/plugins") = '\0';
	folder_remove(&run->folder);
}

static enum ts_status annotate(struct run *run)
{
	ts_overlay_report_release(&run->report);
	look(run);
	return ts_overlay_apply(&run->runs.sessions[0], &run->plan, &run->options, &run->report,
				&run->err);
}

static enum ts_status strip(struct run *run)
{
	ts_overlay_report_release(&run->report);
	look(run);
	return ts_overlay_strip(&run->runs.sessions[0], &run->options, &run->report, &run->err);
}

static const struct ts_overlay_entry *entry_of(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->report.nr_entries; i++)
		if (strcmp(run->report.entries[i].name, name) == 0)
			return &run->report.entries[i];
	return NULL;
}

static void assert_deeds(const struct run *run, size_t nr, enum ts_overlay_deed deed)
{
	assert_int_equal(run->report.nr_entries, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(run->report.entries[i].deed, deed);
}

/* The folder's whole content in one text: names, modes and bytes, in the order of the names. */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void snapshot(const struct folder *folder, struct ts_buf *out, bool identity)
{
	struct dirent **entries;
	int nr = scandir(folder->path, &entries, NULL, by_name);

	ts_buf_clear(out);
	assert_true(nr >= 0);
	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;
		struct stat st;

		assert_int_equal(lstat(in_folder(folder, name), &st), 0);
		if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) {
			ts_buf_printf(out, "%s %o\n", name, (unsigned)st.st_mode);
			if (identity)
				ts_buf_printf(out, "%ju %jd.%09ld\n", (uintmax_t)st.st_ino,
					      (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
			get_file(folder, name, out);
		}
		free(entries[i]);
	}
	free(entries);
}

static void assert_folder(const struct run *run, const struct ts_buf *expected)
{
	struct ts_buf now = TS_BUF_INIT;

	snapshot(&run->folder, &now, false);
	assert_true(ts_bytes_eq(ts_buf_bytes(&now), ts_buf_bytes(expected)));
	ts_buf_release(&now);
}

TEST(a_strip_brings_every_file_back)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	put_text(&run.folder, "notes.txt", "mine");
	put_text(&run.folder, "perfetto_trace.json.gz", "not even gzip, but mine");
	put_text(&run.folder, "cache_version.txt", "2.24.2");
	chmod(in_folder(&run.folder, "a.xplane.pb"), 0640);
	snapshot(&run.folder, &before, false);

	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, 5, TS_DEED_WRITTEN); /* two profiles, suggestions, report, trace */
	assert_true(has_file(&run.folder, TS_SUGGESTIONS_FILE));
	assert_true(has_file(&run.folder, TS_REPORT_FILE));
	assert_true(has_file(&run.folder, TS_TRACE_NATIVE_FILE));
	look(&run);
	assert_int_equal(ts_overlay_native_bytes(run.inputs[0].bytes),
			 run.inputs[0].bytes.n - entry_of(&run, "a.xplane.pb")->nr_bytes);

	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(run.report.nr_entries, 0);
	ts_buf_release(&before);
	run_release(&run);
}

TEST(twice_is_the_same_as_once)
{
	struct ts_buf once = TS_BUF_INIT, twice = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	put_text(&run.folder, "perfetto_trace.json.gz", "mine");
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, 6, TS_DEED_WRITTEN);
	put_text(&run.folder, "a.SSTABLE", "made by XProf since");
	snapshot(&run.folder, &once, true);
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, 6, TS_DEED_UNCHANGED);
	snapshot(&run.folder, &twice, true); /* inodes and times too */
	assert_true(ts_bytes_eq(ts_buf_bytes(&once), ts_buf_bytes(&twice)));
	ts_buf_release(&once);
	ts_buf_release(&twice);
	run_release(&run);
}

/* Where it stands, a watch takes the session for done and lets it be. */
TEST(the_report_is_the_last_file)
{
	struct run run;

	run_init(&run);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(run.report.nr_entries, 6);
	assert_int_equal(run.report.entries[5].thing, TS_THING_REPORT);
	run_release(&run);
}

TEST(both_traces_come_and_go_each_with_its_native_one)
{
	const char *mark = TS_PFTRACE_MARK;
	struct ts_buf before = TS_BUF_INIT, once = TS_BUF_INIT, twice = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	put_text(&run.folder, TS_TRACE_FILE, "mine");
	put_text(&run.folder, TS_PFTRACE_FILE, "\x0a\x02\x50\x01, and mine");
	snapshot(&run.folder, &before, false);
	run.plan.traces[TS_TRACE_PFTRACE] = (struct ts_overlay_trace){ write_trace, &mark };
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_PFTRACE_FILE)->deed, TS_DEED_WRITTEN);
	assert_true(has_file(&run.folder, TS_PFTRACE_NATIVE_FILE));
	snapshot(&run.folder, &once, true);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_PFTRACE_FILE)->deed, TS_DEED_UNCHANGED);
	snapshot(&run.folder, &twice, true);
	assert_true(ts_bytes_eq(ts_buf_bytes(&once), ts_buf_bytes(&twice)));
	/* the form that is not wanted any more goes, the other stays */
	run.plan.traces[TS_TRACE_JSON].write = NULL;
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_TRACE_FILE)->deed, TS_DEED_RESTORED);
	assert_int_equal(entry_of(&run, TS_PFTRACE_FILE)->deed, TS_DEED_UNCHANGED);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	ts_buf_release(&before);
	ts_buf_release(&once);
	ts_buf_release(&twice);
	run_release(&run);
}

TEST(a_trace_of_ours_that_was_unpacked_is_still_ours)
{
	struct run run;

	run_init(&run);
	put_text(&run.folder, TS_PFTRACE_FILE, TS_PFTRACE_MARK "\x0a\x02\x50\x01");
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_PFTRACE_FILE)->deed, TS_DEED_REMOVED);
	assert_false(has_file(&run.folder, TS_PFTRACE_FILE));
	run_release(&run);
}

/* A release before wrote it, and the new one is to take it out. */
TEST(an_older_trace_of_ours_is_still_ours)
{
	struct run run;

	run_init(&run);
	put_text(&run.folder, TS_PFTRACE_FILE, TS_PFTRACE_OLDER_MARK "\x0a\x02\x50\x01");
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_PFTRACE_FILE)->deed, TS_DEED_REMOVED);
	assert_false(has_file(&run.folder, TS_PFTRACE_FILE));
	run_release(&run);
}

/* A manifest of the session whose copies stand in a.gz and b.gz. */
struct ranks {
	struct ts_buf manifest;
	struct ts_overlay_rank files[2];
	struct ts_overlay_ranks plan;
};

static void ranks_init(struct ranks *ranks, struct run *run)
{
	static const char *const copies[] = { "a.gz", "b.gz" };

	*ranks = (struct ranks){ .manifest = TS_BUF_INIT };
	for (size_t i = 0; i < 2; i++) {
		struct ts_newfile file = TS_NEWFILE_INIT;
		const char *text = "the same text for both";

		ranks->files[i].name = copies[i];
		ranks->files[i].copy = strdup(in_folder(&run->folder, copies[i]));
		assert_int_equal(ts_newfile_open(&file, ranks->files[i].copy, NULL), TS_OK);
		assert_int_equal(write_trace(&text, &file, NULL), TS_OK);
		assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
		ts_newfile_release(&file);
	}
	ts_overlay_ranks_mark(&ranks->manifest, &run->runs.sessions[0]);
	ts_buf_puts(&ranks->manifest, "}}}");
	ranks->plan = (struct ts_overlay_ranks){ .manifest = ts_buf_bytes(&ranks->manifest),
						 .ranks = ranks->files,
						 .nr_ranks = 2 };
	run->plan.ranks = &ranks->plan;
}

static void ranks_release(struct ranks *ranks)
{
	for (size_t i = 0; i < 2; i++)
		free((char *)ranks->files[i].copy);
	ts_buf_release(&ranks->manifest);
}

TEST(the_ranks_come_and_go)
{
	struct ts_buf before = TS_BUF_INIT, once = TS_BUF_INIT, twice = TS_BUF_INIT;
	struct ranks ranks;
	struct run run;

	run_init(&run);
	ranks_init(&ranks, &run);
	snapshot(&run.folder, &before, false);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_RANKS_FILE)->deed, TS_DEED_WRITTEN);
	assert_int_equal(run.report.entries[run.report.nr_entries - 1].thing, TS_THING_REPORT);
	snapshot(&run.folder, &once, true);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_RANKS_FILE)->deed, TS_DEED_UNCHANGED);
	snapshot(&run.folder, &twice, true);
	assert_true(ts_bytes_eq(ts_buf_bytes(&once), ts_buf_bytes(&twice)));
	ranks.plan.why_not = "it is a test"; /* what is in it is old now */
	assert_int_equal(annotate(&run), TS_OK);
	assert_false(has_file(&run.folder, TS_RANKS_FILE));
	ranks.plan.why_not = NULL;
	assert_int_equal(annotate(&run), TS_OK);
	run.plan.ranks = NULL;
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_RANKS_FILE)->deed, TS_DEED_REMOVED);
	run.plan.ranks = &ranks.plan;
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	ranks_release(&ranks);
	ts_buf_release(&before);
	ts_buf_release(&once);
	ts_buf_release(&twice);
	run_release(&run);
}

TEST(a_users_zip_is_never_in_the_way_of_the_ranks)
{
	struct ts_buf before = TS_BUF_INIT;
	struct ranks ranks;
	struct run run;

	run_init(&run);
	ranks_init(&ranks, &run);
	put_text(&run.folder, TS_RANKS_FILE, "PK\003\004 and mine");
	snapshot(&run.folder, &before, false);
	assert_int_equal(annotate(&run), TS_IO);
	assert_int_equal(entry_of(&run, TS_RANKS_FILE)->deed, TS_DEED_FAILED);
	assert_non_null(strstr(run.err.text, "not made by TPUsight"));
	run.plan.ranks = NULL;
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	ranks_release(&ranks);
	ts_buf_release(&before);
	run_release(&run);
}

/* Several runs may have their traces in one folder, which has one file of all ranks. */
TEST(the_ranks_of_another_run_are_left)
{
	struct ts_session other;
	struct ranks ranks;
	struct run run;

	run_init(&run);
	ranks_init(&ranks, &run);
	assert_int_equal(annotate(&run), TS_OK);
	ts_overlay_report_release(&run.report);
	look(&run);
	other = run.runs.sessions[0];
	other.files++;
	other.nr_files--;
	ts_buf_clear(&ranks.manifest);
	ts_overlay_ranks_mark(&ranks.manifest, &other);
	ts_buf_puts(&ranks.manifest, "}}}");
	ranks.plan.manifest = ts_buf_bytes(&ranks.manifest);
	run.plan.inputs++;
	assert_int_equal(ts_overlay_apply(&other, &run.plan, &run.options, &run.report, &run.err),
			 TS_OK);
	assert_int_equal(entry_of(&run, TS_RANKS_FILE)->deed, TS_DEED_SKIPPED);
	assert_int_equal(ts_overlay_strip(&other, &run.options, &run.report, &run.err), TS_OK);
	assert_true(has_file(&run.folder, TS_RANKS_FILE));
	assert_int_equal(strip(&run), TS_OK);
	assert_false(has_file(&run.folder, TS_RANKS_FILE));
	ranks_release(&ranks);
	run_release(&run);
}

TEST(ranks_without_a_copy_are_not_put_together)
{
	struct ranks ranks;
	struct run run;

	run_init(&run);
	ranks_init(&ranks, &run);
	unlink(ranks.files[1].copy);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_RANKS_FILE)->deed, TS_DEED_SKIPPED);
	assert_false(has_file(&run.folder, TS_RANKS_FILE));
	put_text(&run.folder, "b.gz", "\x1f\x8b not gzip");
	assert_int_equal(annotate(&run), TS_FORMAT);
	assert_int_equal(entry_of(&run, TS_RANKS_FILE)->deed, TS_DEED_FAILED);
	assert_false(has_file(&run.folder, TS_RANKS_FILE));
	ranks_release(&ranks);
	run_release(&run);
}

TEST(other_results_replace_the_old)
{
	struct ts_buf before = TS_BUF_INIT, direct = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	snapshot(&run.folder, &before, false);
	assert_int_equal(annotate(&run), TS_OK);
	run.slices[0].end_ps = 12345678;
	run.trace_text = TS_TRACE_MARK ",\"version\":\"2\"},\"traceEvents\":[]}";
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, "a.xplane.pb")->deed, TS_DEED_WRITTEN);
	assert_int_equal(entry_of(&run, "b.xplane.pb")->deed, TS_DEED_UNCHANGED);
	assert_int_equal(entry_of(&run, TS_TRACE_FILE)->deed, TS_DEED_WRITTEN);
	snapshot(&run.folder, &direct, false);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	assert_int_equal(annotate(&run), TS_OK); /* the way there does not matter */
	assert_folder(&run, &direct);
	ts_buf_release(&before);
	ts_buf_release(&direct);
	run_release(&run);
}

TEST(xprofs_stale_caches_go_and_its_suggestions_stay)
{
	struct ts_buf xprof = TS_BUF_INIT, now = TS_BUF_INIT;
	struct run run;
	size_t mark;

	run_init(&run);
	put_text(&run.folder, "a.SSTABLE", "old");
	put_text(&run.folder, "b.trie.SSTABLE", "old");
	put_text(&run.folder, "ALL_HOSTS.op_stats_v2.pb", "old");
	put_text(&run.folder, ".cached_tools.json", "old");
	put_text(&run.folder, "cache_version.txt", "2.21.0");
	mark = ts_pbw_begin(&xprof, 1);
	ts_pbw_text(&xprof, 1, TS_LIT("MemoryBoundRule"));
	ts_pbw_end(&xprof, mark);
	put_file(&run.folder, TS_SUGGESTIONS_FILE, ts_buf_bytes(&xprof));

	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(run.report.nr_caches, 4);
	assert_false(has_file(&run.folder, "a.SSTABLE") || has_file(&run.folder, "b.trie.SSTABLE"));
	assert_null(entry_of(&run, "cache_version.txt"));
	put_text(&run.folder, "a.SSTABLE", "with the overlay in it");
	assert_int_equal(strip(&run), TS_OK);
	assert_false(has_file(&run.folder, "a.SSTABLE"));
	get_file(&run.folder, TS_SUGGESTIONS_FILE, &now);
	assert_true(ts_bytes_eq(ts_buf_bytes(&now), ts_buf_bytes(&xprof)));
	ts_buf_clear(&now);
	get_file(&run.folder, "cache_version.txt", &now);
	assert_true(ts_bytes_is(ts_buf_bytes(&now), "2.21.0"));
	ts_buf_release(&now);
	ts_buf_release(&xprof);
	run_release(&run);
}

TEST(our_cache_version_follows_the_installed_xprof)
{
	struct ts_buf now = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	assert_int_equal(annotate(&run), TS_OK);
	put_text(&run.folder, "a.SSTABLE", "of that XProf");
	run.options.xprof_version = "2.25.0";
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, "cache_version.txt")->deed, TS_DEED_WRITTEN);
	assert_false(has_file(&run.folder, "a.SSTABLE"));
	get_file(&run.folder, "cache_version.txt", &now);
	assert_true(ts_bytes_starts(ts_buf_bytes(&now), "2.25.0\n"));
	assert_int_equal(strip(&run), TS_OK);
	assert_false(has_file(&run.folder, "cache_version.txt"));
	ts_buf_release(&now);
	run_release(&run);
}

TEST(a_dry_run_writes_nothing_and_says_all)
{
	struct ts_buf before = TS_BUF_INIT, after = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	put_text(&run.folder, "a.SSTABLE", "old");
	put_text(&run.folder, "perfetto_trace.json.gz", "mine");
	snapshot(&run.folder, &before, true);
	run.options.dry_run = true;
	assert_int_equal(annotate(&run), TS_OK);
	assert_deeds(&run, 6, TS_DEED_WRITTEN);
	assert_int_equal(run.report.nr_caches, 1);
	snapshot(&run.folder, &after, true);
	assert_true(ts_bytes_eq(ts_buf_bytes(&before), ts_buf_bytes(&after)));

	run.options.dry_run = false;
	assert_int_equal(annotate(&run), TS_OK);
	snapshot(&run.folder, &before, true);
	run.options.dry_run = true;
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(run.report.nr_entries, 6);
	snapshot(&run.folder, &after, true);
	assert_true(ts_bytes_eq(ts_buf_bytes(&before), ts_buf_bytes(&after)));
	ts_buf_release(&before);
	ts_buf_release(&after);
	run_release(&run);
}

TEST(what_is_not_ours_is_not_replaced)
{
	struct ts_buf before = TS_BUF_INIT, now = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	put_text(&run.folder, TS_REPORT_FILE, "{\"mine\": true}");
	put_text(&run.folder, TS_TRACE_FILE, "mine, new");
	put_text(&run.folder, TS_TRACE_NATIVE_FILE, "mine, old");
	snapshot(&run.folder, &before, false);
	assert_int_equal(annotate(&run), TS_IO);
	assert_int_equal(entry_of(&run, TS_REPORT_FILE)->deed, TS_DEED_FAILED);
	assert_int_equal(entry_of(&run, TS_TRACE_FILE)->deed, TS_DEED_FAILED);
	assert_non_null(strstr(entry_of(&run, TS_TRACE_FILE)->why, "not made by TPUsight"));
	assert_int_equal(entry_of(&run, "b.xplane.pb")->deed, TS_DEED_WRITTEN);
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_TRACE_FILE)->deed, TS_DEED_SKIPPED);
	assert_folder(&run, &before);
	ts_buf_release(&before);
	ts_buf_release(&now);
	run_release(&run);
}

TEST(sql_comes_and_goes_with_a_trace)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	snapshot(&run.folder, &before, false);
	run.plan.sql = TS_LIT("SELECT 1;\n");
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_SQL_FILE)->deed, TS_DEED_WRITTEN);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_SQL_FILE)->deed, TS_DEED_UNCHANGED);
	run.plan.sql = TS_LIT("SELECT 2;\n"); /* of a later version */
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_SQL_FILE)->deed, TS_DEED_WRITTEN);
	run.plan.sql = (struct ts_bytes){ NULL, 0 };
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_SQL_FILE)->deed, TS_DEED_REMOVED);
	run.plan.sql = TS_LIT("SELECT 1;\n");
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	ts_buf_release(&before);
	run_release(&run);
}

/* A user put a query of their own behind ours. */
TEST(sql_that_was_changed_stays)
{
	struct run run;
	FILE *file;

	run_init(&run);
	run.plan.sql = TS_LIT("SELECT 1;\n");
	assert_int_equal(annotate(&run), TS_OK);
	file = fopen(in_folder(&run.folder, TS_SQL_FILE), "a");
	assert_non_null(file);
	assert_true(fputs("SELECT 'mine';\n", file) >= 0);
	fclose(file);
	assert_int_equal(annotate(&run), TS_IO);
	assert_int_equal(entry_of(&run, TS_SQL_FILE)->deed, TS_DEED_FAILED);
	assert_non_null(
		strstr(entry_of(&run, TS_SQL_FILE)->why, "changed since TPUsight wrote it"));
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_SQL_FILE)->deed, TS_DEED_SKIPPED);
	assert_true(has_file(&run.folder, TS_SQL_FILE));
	put_text(&run.folder, TS_SQL_FILE, "SELECT 'all mine';\n");
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(run.report.nr_entries, 0);
	assert_true(has_file(&run.folder, TS_SQL_FILE));
	run_release(&run);
}

TEST(a_linked_trace_is_moved_as_a_link)
{
	struct ts_buf target = TS_BUF_INIT;
	struct run run;
	char link[64] = "";

	run_init(&run);
	put_text(&run.folder, "elsewhere.gz", "mine");
	assert_int_equal(symlink("elsewhere.gz", in_folder(&run.folder, TS_TRACE_FILE)), 0);
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(readlink(in_folder(&run.folder, TS_TRACE_FILE), link, sizeof(link)), -1);
	get_file(&run.folder, "elsewhere.gz", &target);
	assert_true(ts_bytes_is(ts_buf_bytes(&target), "mine"));
	assert_int_equal(strip(&run), TS_OK);
	assert_int_equal(readlink(in_folder(&run.folder, TS_TRACE_FILE), link, sizeof(link)), 12);
	assert_string_equal(link, "elsewhere.gz");
	assert_false(has_file(&run.folder, TS_TRACE_NATIVE_FILE));
	ts_buf_release(&target);
	run_release(&run);
}

TEST(without_a_trace_an_older_one_of_ours_is_taken_out)
{
	struct ts_buf now = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	put_text(&run.folder, TS_TRACE_FILE, "mine");
	assert_int_equal(annotate(&run), TS_OK);
	run.plan.traces[TS_TRACE_JSON].write = NULL;
	assert_int_equal(annotate(&run), TS_OK);
	assert_int_equal(entry_of(&run, TS_TRACE_FILE)->deed, TS_DEED_RESTORED);
	get_file(&run.folder, TS_TRACE_FILE, &now);
	assert_true(ts_bytes_is(ts_buf_bytes(&now), "mine"));
	ts_buf_release(&now);
	run_release(&run);
}

TEST(a_damaged_profile_is_left_and_the_others_go_on)
{
	struct ts_buf cut = TS_BUF_INIT, now = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	get_file(&run.folder, "a.xplane.pb", &cut);
	put_file(&run.folder, "a.xplane.pb", ts_bytes_cut(ts_buf_bytes(&cut), 0, 1000));
	assert_int_equal(annotate(&run), TS_FORMAT);
	assert_non_null(strstr(run.err.text, "a.xplane.pb: "));
	assert_non_null(strstr(run.err.text, "at byte"));
	assert_int_equal(entry_of(&run, "a.xplane.pb")->deed, TS_DEED_FAILED);
	assert_int_equal(entry_of(&run, "b.xplane.pb")->deed, TS_DEED_WRITTEN);
	get_file(&run.folder, "a.xplane.pb", &now);
	assert_int_equal(now.n, 1000);
	ts_buf_release(&cut);
	ts_buf_release(&now);
	run_release(&run);
}

TEST(a_profile_that_changed_since_it_was_read_is_left)
{
	struct ts_buf now = TS_BUF_INIT;
	struct run run;

	run_init(&run); /* has looked */
	put_text(&run.folder, "a.xplane.pb", "\x22\x01z");
	put_text(&run.folder, "new", "\x22\x01y");
	assert_int_equal(
		rename(in_folder(&run.folder, "new"), in_folder(&run.folder, "b.xplane.pb")), 0);
	assert_int_equal(ts_overlay_apply(&run.runs.sessions[0], &run.plan, &run.options,
					  &run.report, &run.err),
			 TS_IO);
	get_file(&run.folder, "a.xplane.pb", &now);
	assert_true(ts_bytes_is(ts_buf_bytes(&now), "\x22\x01z"));
	ts_buf_clear(&now);
	get_file(&run.folder, "b.xplane.pb", &now);
	assert_true(ts_bytes_is(ts_buf_bytes(&now), "\x22\x01y"));
	ts_buf_release(&now);
	run_release(&run);
}

/* In a child, so that limits and rights do not stay. Gives the status. */
static int in_child(struct run *run, void (*prepare)(const struct run *))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		prepare(run);
		_exit(-annotate(run));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void small_files_only(const struct run *run)
{
	struct rlimit limit = { NATIVE_BYTES / 2, NATIVE_BYTES / 2 };

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(a_full_disk_leaves_every_profile_as_it_was)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	snapshot(&run.folder, &before, false);
	assert_int_equal(in_child(&run, small_files_only), TS_IO);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	ts_buf_release(&before);
	run_release(&run);
}

static void no_right_to_write(const struct run *run)
{
	chmod(run->folder.path, 0555);
	if (geteuid() == 0 && setuid(65534) != 0) /* root may write anywhere */
		_exit(1);
}

TEST(a_read_only_folder_is_left_as_it_was)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;
	char base[sizeof(run.folder.path)];

	run_init(&run);
	memcpy(base, run.folder.path, sizeof(base));
	*strstr(base, "/plugins") = '\0';
	chmod(base, 0755);
	snapshot(&run.folder, &before, false);
	assert_int_equal(in_child(&run, no_right_to_write), TS_IO);
	chmod(run.folder.path, 0755);
	assert_folder(&run, &before);
	ts_buf_release(&before);
	run_release(&run);
}

TEST(a_read_only_profile_is_refused_with_its_name)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;

	run_init(&run);
	assert_int_equal(chmod(in_folder(&run.folder, "a.xplane.pb"), 0444), 0);
	put_text(&run.folder, "a.SSTABLE", "of XProf");
	snapshot(&run.folder, &before, false);
	run.options.dry_run = true;
	assert_int_equal(annotate(&run), TS_IO);
	assert_folder(&run, &before);
	run.options.dry_run = false;
	assert_int_equal(annotate(&run), TS_IO);
	assert_int_equal(entry_of(&run, "a.xplane.pb")->deed, TS_DEED_FAILED);
	assert_non_null(strstr(entry_of(&run, "a.xplane.pb")->why, "a read-only file"));
	assert_int_equal(entry_of(&run, "b.xplane.pb")->deed, TS_DEED_WRITTEN);
	assert_int_equal(strip(&run), TS_OK);
	put_text(&run.folder, "a.SSTABLE", "of XProf"); /* a cache went when b changed */
	assert_folder(&run, &before);
	ts_buf_release(&before);
	run_release(&run);
}

/* False: not on this system, not on this file system, or not for us. */
static bool set_immutable(const char *path, bool on)
{
	bool done = false;
#ifdef FS_IOC_SETFLAGS
	int fd = open(path, O_RDONLY), flags = 0;

	if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
		done = ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
	}
	if (fd >= 0)
		close(fd);
#else
	(void)path, (void)on;
#endif
	return done;
}

TEST(an_immutable_profile_is_refused_with_its_name)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;
	enum ts_status st;

	run_init(&run);
	snapshot(&run.folder, &before, false);
	if (!set_immutable(in_folder(&run.folder, "a.xplane.pb"), true)) {
		ts_buf_release(&before);
		run_release(&run);
		skip();
	}
	st = annotate(&run);
	assert_true(set_immutable(in_folder(&run.folder, "a.xplane.pb"), false));
	assert_int_equal(st, TS_IO);
	assert_int_equal(entry_of(&run, "a.xplane.pb")->deed, TS_DEED_FAILED);
	assert_int_equal(entry_of(&run, "b.xplane.pb")->deed, TS_DEED_WRITTEN);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	ts_buf_release(&before);
	run_release(&run);
}

static void become_another_user(const struct run *run)
{
	chmod(run->folder.path, 0777);
	if (setuid(65534) != 0)
		_exit(1);
}

TEST(another_users_profile_stays_his)
{
	struct ts_buf before = TS_BUF_INIT;
	struct run run;
	char base[sizeof(run.folder.path)];
	struct stat now;

	if (geteuid() != 0)
		skip(); /* only root can be two users */
	run_init(&run);
	memcpy(base, run.folder.path, sizeof(base));
	*strstr(base, "/plugins") = '\0';
	chmod(base, 0755);
	snapshot(&run.folder, &before, false);
	assert_int_equal(in_child(&run, become_another_user), TS_IO);
	assert_int_equal(stat(in_folder(&run.folder, "a.xplane.pb"), &now), 0);
	assert_int_equal(now.st_uid, 0);
	assert_int_equal(strip(&run), TS_OK);
	assert_folder(&run, &before);
	ts_buf_release(&before);
	run_release(&run);
}

/* A child opens a new file, says so, and waits to be killed. */
static pid_t start_writer(const char *path)
{
	int ends[2];
	char c;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct ts_newfile file;

		if (ts_newfile_open(&file, path, NULL) == TS_OK && write(ends[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 1);
	close(ends[0]);
	return child;
}

static size_t nr_hidden(const struct folder *folder)
{
	DIR *dir = opendir(folder->path);
	const struct dirent *entry;
	size_t nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		nr += entry->d_name[0] == '.' && strstr(entry->d_name, ".tpusight-");
	closedir(dir);
	return nr;
}

TEST(leftovers_go_where_no_session_is_and_a_running_ones_stay)
{
	struct ts_overlay_options options = { .dry_run = false };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	struct folder folder;
	pid_t killed, running;

	folder_make(&folder);
	put_text(&folder, ".notes.tpusight-backup", "mine");
	killed = start_writer(in_folder(&folder, "a"));
	running = start_writer(in_folder(&folder, "b"));
	kill(killed, SIGKILL);
	assert_int_equal(waitpid(killed, NULL, 0), killed);
	assert_int_equal(nr_hidden(&folder), 3);
	assert_int_equal(ts_overlay_strip_folder(folder.path, &options, &report, NULL), TS_OK);
	assert_int_equal(report.nr_stale, 1);
	assert_int_equal(report.nr_entries, 0);
	assert_int_equal(nr_hidden(&folder), 2);
	assert_true(has_file(&folder, ".notes.tpusight-backup"));
	kill(running, SIGKILL);
	assert_int_equal(waitpid(running, NULL, 0), running);
	ts_overlay_report_release(&report);
	folder_remove(&folder);
}

static void annotate_and_strip(void *run)
{
	annotate(run);
	strip(run);
}

TEST(a_kill_at_any_moment_is_mended_by_the_next_run)
{
	struct ts_buf before = TS_BUF_INIT, annotated = TS_BUF_INIT;
	struct run run;
	uint32_t random = 12345;

	run_init(&run);
	put_text(&run.folder, TS_TRACE_FILE, "mine");
	snapshot(&run.folder, &before, false);
	assert_int_equal(annotate(&run), TS_OK);
	snapshot(&run.folder, &annotated, false);
	assert_int_equal(strip(&run), TS_OK);
	for (int i = 0; i < NR_KILLS; i++) {
		random = random * 1664525 + 1013904223;
		kill_at(annotate_and_strip, &run, (long)(random >> 8) % 12000000);
		assert_true(has_file(&run.folder, TS_TRACE_FILE));
		if (i % 2) {
			assert_int_equal(annotate(&run), TS_OK);
			assert_folder(&run, &annotated);
		}
		assert_int_equal(strip(&run), TS_OK);
		assert_folder(&run, &before);
	}
	ts_buf_release(&before);
	ts_buf_release(&annotated);
	run_release(&run);
}

TEST(standard_input_has_no_folder)
{
	struct ts_session session = { .kind = TS_SESSION_STREAM, .dir = "." };
	struct ts_overlay_options options = { .dry_run = true };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;

	assert_int_equal(ts_overlay_strip(&session, &options, &report, NULL), TS_USAGE);
	ts_overlay_report_release(&report);
}
