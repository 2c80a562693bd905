/* SPDX-License-Identifier: MIT */
/*
 * Each allocation fails in turn: a whole run - read, analyse, report, overlay - must give TS_NOMEM and
 * leave nothing behind (the sanitizer build looks for leaks), and nothing may crash.
 * Small profiles meet every failure; larger ones every so many.
 */
#include "compare/compare.h"
#include "tests/test.h"
#include <sys/stat.h>

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "copy/redact.h"
#include "copy/trim.h"
#include "run/annotated.h"
#include "run/outline.h"
#include "run/ranks.h"
#include "run/run.h"
#include "read/stream.h"
#include "trace/trace.h"
#include "codec/zip.h"
#include "overlay/suggestions.h"
#include "overlay/xplane.h"
#include "read/seams.h"
#include "read/reader.h"
#include "serve/latest.h"
#include "serve/news.h"
#include "tests/oom/failing.h"
#include "write/report_json.h"

/* Of a trace in JSON, and not committed. */
static enum ts_status annotated(struct ts_run *run, uint32_t host, struct ts_error *err)
{
	static const struct ts_annotated_options options = { .version = "0", .source = "a.json" };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_seams seams;
	enum ts_status st;

	if (!ts_seams_of(&run->profile, host, &seams))
		return TS_OK;
	st = ts_newfile_open(&file, "oom_test.tpusight.json.gz", err);
	if (st == TS_OK)
		st = ts_annotated_write(&file, &run->profile, host, &run->results, &options, NULL,
					err);
	ts_newfile_release(&file);
	return st;
}

/* Of a trace in JSON, in Perfetto's own form, and not committed. */
static enum ts_status pftrace(struct ts_run *run, struct ts_trace_plan *plan, struct ts_error *err)
{
	static const struct ts_trace_options options = {
		.form = &ts_perfetto_pb, .nr_threads = 1, .version = "0", .source = "a.json"
	};
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = ts_trace_plan_close(plan, 1000, err);

	if (st || run->profile.nr_hosts == 0 ||
	    ts_reader_of(&run->profile, 0)->form != TS_FORM_TRACE)
		return st;
	plan->host = 0;
	st = ts_trace_plan_close(plan, 1000, err);
	if (st == TS_OK)
		st = ts_newfile_open(&file, "oom_test.tpusight.pftrace", err);
	if (st == TS_OK)
		st = ts_trace_write(&file, &run->profile, &run->results, plan, &options, NULL, err);
	ts_newfile_release(&file);
	return st;
}

static enum ts_status outputs(struct ts_run *run, struct ts_error *err)
{
	static const struct ts_report form = { .generator = "tpusight", .version = "0" };
	struct ts_buf json = TS_BUF_INIT, planes = TS_BUF_INIT;
	const struct ts_bytes none = { NULL, 0 };
	enum ts_status st = ts_report_json(&json, &run->results, &form, err);

	if (st == TS_OK && json.failed)
		st = ts_fail_nomem(err);
	for (uint32_t host = 0; st == TS_OK && host < run->profile.nr_hosts; host++)
		st = ts_overlay_tail(&planes, run->nr_inputs > 0 ? run->inputs[0].bytes : none,
				     &run->profile, host, &run->results, err);
	for (uint32_t host = 0; st == TS_OK && host < run->profile.nr_hosts; host++)
		st = annotated(run, host, err);
	if (st == TS_OK && planes.failed)
		st = ts_fail_nomem(err);
	ts_buf_release(&json);
	ts_buf_release(&planes);
	return st;
}

/* The run against itself. */
static enum ts_status comparison(struct ts_run *run, struct ts_error *err)
{
	const struct ts_compare_run side = { TS_LIT("run"), &run->profile, &run->results };
	const struct ts_compare_run sides[2] = { side, side };
	struct ts_compare_request request = { .runs = sides, .nr_runs = 2, .nr_gates = 1 };
	struct ts_results results;
	struct ts_gate gate;
	size_t at, nr_failed;
	enum ts_status st = ts_gate_parse("wall_ms > baseline", &gate, &at, err);

	request.gates = &gate;
	ts_results_init(&results);
	if (st == TS_OK)
		st = ts_compare(&request, &results, &nr_failed, err);
	ts_results_release(&results);
	return st;
}

static enum ts_status whole_run(const char *path, struct ts_error *err)
{
	struct ts_settings settings;
	struct ts_run_options options = { .nr_threads = 1,
					  .settings = &settings,
					  .overlay_budget = 1000 };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_trace_plan plan = { .profile = NULL };
	struct ts_duration_counter counter;
	struct ts_run run;
	enum ts_status st;

	ts_settings_init(&settings);
	ts_run_init(&run);
	st = ts_runs_find(&runs, path, err);
	if (st == TS_OK)
		st = ts_run_open(&run, &runs.sessions[0], &options, err);
	if (st == TS_OK)
		st = ts_trace_plan_init(&plan, &run.profile, err);
	if (st == TS_OK) {
		plan.slices_alone = true;
		counter = ts_trace_plan_counter(&plan);
		options.counter = &counter;
		st = ts_run_analyse(&run, &options, err);
	}
	if (st == TS_OK)
		st = pftrace(&run, &plan, err);
	if (st == TS_OK)
		st = outputs(&run, err);
	if (st == TS_OK)
		st = comparison(&run, err);
	ts_trace_plan_release(&plan);
	ts_run_release(&run);
	ts_runs_release(&runs);
	return st;
}

static const struct ts_newfile_use use = { .is_named = true };

static enum ts_status trim(struct ts_run *run, struct ts_bytes bytes, struct ts_error *err)
{
	struct ts_trim_choice choice = {
		.has_steps = true, .last_step = 1000, .from_ps = INT64_MIN, .to_ps = INT64_MAX
	};
	struct ts_copy_out out = { .file = TS_NEWFILE_INIT };
	struct ts_trim trim = { .profile = NULL };
	struct ts_trim_report report;
	enum ts_status st = ts_outline_make(&run->profile, 1, &run->outline, err);

	if (st == TS_OK && run->outline.steps.nr_steps == 0)
		choice.has_steps = false;
	if (st == TS_OK)
		st = ts_trim_plan(&trim, &run->profile, &run->outline.steps, &choice, err);
	if (st == TS_OK)
		st = ts_copy_open(&out, "oom_test.copy.json.gz", &use, err);
	if (st == TS_OK)
		st = ts_reader_of(&run->profile, 0)->form == TS_FORM_TRACE
			     ? ts_trim_trace(&trim, 0, bytes, false, &out, &report, err)
			     : ts_trim_xplane(&trim, 0, bytes, &out, &report, err);
	if (st == TS_OK)
		st = ts_copy_commit(&out, err);
	ts_copy_release(&out);
	ts_trim_release(&trim);
	return st;
}

static enum ts_status redact(struct ts_run *run, struct ts_bytes bytes, struct ts_error *err)
{
	struct ts_copy_out out = { .file = TS_NEWFILE_INIT };
	struct ts_sipkey key = { { 1, 2 } };
	struct ts_redact_report report;
	struct ts_names names;
	enum ts_status st = ts_names_open(&names, &key, NULL, 0, err);

	if (st == TS_OK)
		st = ts_copy_open(&out, "oom_test.copy.json.gz", &use, err);
	if (st == TS_OK)
		st = ts_reader_of(&run->profile, 0)->form == TS_FORM_TRACE
			     ? ts_redact_trace(&names, bytes, false, &out, &report, err)
			     : ts_redact_xplane(&names, bytes, &out, &report, err);
	if (st == TS_OK)
		st = ts_copy_commit(&out, err);
	ts_copy_release(&out);
	ts_names_release(&names);
	return st;
}

static enum ts_status copies(const char *path, struct ts_error *err)
{
	struct ts_settings settings;
	struct ts_run_options options = { .nr_threads = 1, .settings = &settings };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_run run;
	enum ts_status st;

	ts_settings_init(&settings);
	ts_run_init(&run);
	st = ts_runs_find(&runs, path, err);
	if (st == TS_OK)
		st = ts_run_open(&run, &runs.sessions[0], &options, err);
	if (st == TS_OK)
		st = trim(&run, run.inputs[0].bytes, err);
	if (st == TS_OK)
		st = redact(&run, run.inputs[0].bytes, err);
	ts_run_release(&run);
	ts_runs_release(&runs);
	return st;
}

/* The manifest of the ranks in a folder, and a file that begins with it; not committed. */
static enum ts_status put_ranks(const struct ts_ranks *ranks, struct ts_error *err)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_zip zip = TS_ZIP_INIT;
	struct ts_buf head = TS_BUF_INIT;
	enum ts_status st = ts_newfile_open(&file, "oom_test.perfetto.zip", err);

	if (st == TS_OK)
		st = ts_zip_open(&zip, ts_newfile_take, &file, err);
	if (st == TS_OK)
		st = ts_zip_begin(&zip, TS_RANKS_MANIFEST, TS_ZIP_ANY, err);
	if (st == TS_OK)
		st = ts_zip_put(&zip, ranks->plan.manifest, err);
	if (st == TS_OK)
		st = ts_zip_close(&zip, err);
	ts_zip_release(&zip);
	ts_newfile_release(&file);
	if (st == TS_OK)
		ts_zip_head(TS_LIT("PK\003\004\024\0\010\0\010\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\001\0\0\0m\xcb\xc8\x04\0"),
			    "m", 10, &head);
	if (head.failed)
		st = ts_fail_nomem(err);
	ts_buf_release(&head);
	return st;
}

static enum ts_status ranks_of(const char *path, struct ts_error *err)
{
	struct ts_settings settings;
	struct ts_run_options options = { .nr_threads = 1, .settings = &settings };
	struct ts_ranks ranks = TS_RANKS_INIT;
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_run run;
	enum ts_status st;

	ts_settings_init(&settings);
	ts_run_init(&run);
	st = ts_runs_find(&runs, path, err);
	if (st == TS_OK)
		st = ts_run_open(&run, &runs.sessions[0], &options, err);
	if (st == TS_OK)
		st = ts_ranks_make(&ranks, &runs.sessions[0], &run, TS_TRACE_JSON, "0", err);
	if (st == TS_OK &&
	    ranks.plan.why_not) /* a trace whose head was not seen is a run by itself */
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = put_ranks(&ranks, err);
	ts_ranks_release(&ranks);
	ts_run_release(&run);
	ts_runs_release(&runs);
	return st;
}

static const char *says_nothing(const struct ts_request *request, const char *name)
{
	return NULL;
}

/* Events are told and read again; what was told before one failed is there. */
static enum ts_status tell_and_read(struct ts_news *news)
{
	const struct ts_request request = { "/api/live", says_nothing, says_nothing, NULL };
	struct ts_answer answer;
	char text[4096];
	size_t n = 0;

	for (int i = 0; i < 40; i++)
		if (ts_news_add(news, 0, TS_LIT("{}"), NULL) != TS_OK)
			return TS_NOMEM;
	answer = ts_news_answer(news, &request);
	if (!answer.source.read)
		return TS_NOMEM;
	assert_int_equal(answer.source.read(answer.source.ctx, text, sizeof(text), &n),
			 TS_SOURCE_MORE);
	assert_true(n > 40);
	answer.source.drop(answer.source.ctx);
	return TS_OK;
}

static enum ts_status give_and_get(struct ts_latest *latest)
{
	struct ts_answer list = ts_latest_list(latest), none = ts_latest_get(latest, TS_LATEST_ID),
			 one;
	struct ts_buf text = TS_BUF_INIT;
	bool good = list.body && none.body;

	ts_buf_puts(&text, "{}");
	ts_latest_give(latest, &text);
	ts_buf_release(&text);
	one = ts_latest_get(latest, TS_LATEST_ID);
	good = good && one.body && one.status == 200;
	ts_body_drop(list.body);
	ts_body_drop(none.body);
	ts_body_drop(one.body);
	return good ? TS_OK : TS_NOMEM;
}

static enum ts_status what_goes_on(const char *name, struct ts_error *err)
{
	const struct ts_news_kind kind = { name, 8 };
	const struct ts_news_options options = { &kind, 1, 1 << 16, 2, 1000 };
	struct ts_news *news = ts_news_new(&options);
	struct ts_latest *latest = ts_latest_new(name, 0);
	enum ts_status st = news && latest ? tell_and_read(news) : TS_NOMEM;

	if (st == TS_OK)
		st = give_and_get(latest);
	ts_latest_free(latest);
	ts_news_free(news);
	return st;
}

typedef enum ts_status whole_fn(const char *path, struct ts_error *err);

/* Fails the allocations of the sample. NR_SPARED of them at most may cost nothing: a peek that could not be
 * had, and was not needed. */
static void fail_each(whole_fn *whole, const char *path, long nr_spared)
{
	struct failing_sample sample = failing_sample();
	struct ts_error err = TS_ERROR_INIT;
	long total;

	failing_begin(0);
	assert_int_equal(whole(path, &err), TS_OK);
	total = failing_allocations;
	assert_true(total > 50);
	for (long at = sample.first; at <= total; at += sample.step) {
		enum ts_status st;

		failing_begin(at);
		st = whole(path, &err);
		failing_end();
		if (st == TS_OK && nr_spared-- > 0)
			continue;
		if (st != TS_NOMEM)
			fail_msg("%s: allocation %ld of %ld failed and the run said %d (%s)", path,
				 at, total, (int)st, err.text);
	}
	print_message("%s: %ld allocations\n", path, total);
}

static void test_path(char *path, size_t n, const char *folder, const char *name)
{
	const char *top = getenv("srcdir");

	snprintf(path, n, "%s/tests/%s/%s", top ? top : ".", folder, name);
}

static void data_path(char *path, size_t n, const char *name)
{
	test_path(path, n, "data", name);
}

TEST(every_allocation_of_the_sample_run_may_fail)
{
	char path[512];

	data_path(path, sizeof(path), "sample");
	fail_each(whole_run, path, 0);
}

/*
 * Of two hosts, whose clocks are held against each other. Slices that cannot be put into a temporary file, because its list of
 * pieces does not grow, stay in memory.
 */
TEST(every_allocation_of_two_hosts_may_fail)
{
	char path[512];

	data_path(path, sizeof(path), "planted/two_hosts.tar.gz");
	fail_each(whole_run, path, 1);
}

/* In pieces, and packed: three readers peek into gzip. */
TEST(every_allocation_of_records_may_fail)
{
	static const char *const names[] = { "steps", "found-crate-brotli", "found-crate-zstd" };
	char path[512];

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		test_path(path, sizeof(path), "fuzz/seeds/riegeli", names[i]);
		fail_each(whole_run, path, 6);
	}
}

TEST(every_allocation_of_a_memory_profile_may_fail)
{
	char path[512];

	data_path(path, sizeof(path), "memory_profile.prof");
	fail_each(whole_run, path, 6); /* three readers peek into gzip */
}

TEST(every_allocation_of_a_compilers_log_may_fail)
{
	char path[512];

	data_path(path, sizeof(path), "torch/dedicated_log_torch_trace_breaks.log.gz");
	fail_each(whole_run, path, 6);
}

TEST(every_allocation_of_a_trace_may_fail)
{
	char path[512];

	data_path(path, sizeof(path), "hand_made.pt.trace.json");
	fail_each(whole_run, path, 0);
}

TEST(every_allocation_of_copies_may_fail)
{
	static const char *const names[] = { "hand_made.pt.trace.json", "cpu_steps.xplane.pb" };
	char path[512];

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		data_path(path, sizeof(path), names[i]);
		fail_each(copies, path, 0);
	}
	remove("oom_test.copy.json.gz");
}

TEST(every_allocation_of_ranks_may_fail)
{
	static const char *const names[] = { "oom_test.ranks/rank_0.json",
					     "oom_test.ranks/rank_1.json" };

	mkdir("oom_test.ranks", 0755);
	for (int i = 0; i < 2; i++) {
		FILE *out = fopen(names[i], "w");

		assert_non_null(out);
		fprintf(out,
			"{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},\"traceEvents\":["
			"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"n\","
			"\"cat\":\"cpu_op\"}]}",
			i);
		assert_int_equal(fclose(out), 0);
	}
	fail_each(ranks_of, "oom_test.ranks", 0);
	for (int i = 0; i < 2; i++)
		remove(names[i]);
	remove("oom_test.ranks");
}

/* Memory events of a GPU and the host, with owners, steps, and one that failed. */
TEST(every_allocation_of_a_trace_of_memory_may_fail)
{
	char path[512];

	data_path(path, sizeof(path), "../fuzz/seeds/trace/memory");
	fail_each(whole_run, path, 0);
}

TEST(every_allocation_of_what_goes_on_may_fail)
{
	fail_each(what_goes_on, "sample", 0);
}
