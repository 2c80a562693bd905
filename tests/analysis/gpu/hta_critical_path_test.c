/* SPDX-License-Identifier: MIT */
/*
 * The critical path: of small traces whose path was worked out on paper (times in us), and against what
 * HolisticTraceAnalysis says of real ones (tests/data/hta_critical_path.json).
 */
#include <cjson/cJSON.h>
#include <math.h>

#include "base/units.h"
#include "tests/run/memory_run.h"
#include "tests/read/corpus.h"
#include "tests/test.h"

#define US   TS_PS_PER_US
#define HOST 1
#define GPU  2

struct event {
	const char *category, *name;
	int pid, tid, start, dur, link; /* 0: none */
};

static const struct ts_result *path_of(struct memory_run *mem, struct ts_bytes bytes)
{
	struct ts_error err = TS_ERROR_INIT;

	memory_run_init(mem);
	if (memory_run_add_as(mem, memory_run_reader("chrome"), bytes, "host", &err) ||
	    memory_run_analyse(mem, 0, &err))
		fail_msg("%s", err.text);
	return ts_results_find(&mem->run.results, "hta_critical_path");
}

static const struct ts_result *given(struct memory_run *mem, struct ts_buf *text,
				     const struct event *events, size_t nr)
{
	ts_buf_puts(text, "{\"traceEvents\":[");
	for (size_t i = 0; i < nr; i++)
		ts_buf_printf(text,
			      "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,"
			      "\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d}}",
			      i ? "," : "", events[i].category, events[i].name, events[i].pid,
			      events[i].tid, events[i].start, events[i].dur, events[i].link);
	ts_buf_puts(text, "]}");
	return path_of(mem, ts_buf_bytes(text));
}

static void done(struct memory_run *mem, struct ts_buf *text)
{
	memory_run_release(mem);
	ts_buf_release(text);
}

static const struct ts_table *table_of(const struct ts_result *result, const char *name)
{
	const struct ts_table *table = result ? ts_result_find_table(result, name) : NULL;

	assert_non_null(table);
	return table;
}

/* COLUMN of the row whose cell KEY is TEXT, in us; -1: there is none. */
static int64_t us_of(const struct ts_table *table, const char *key, const char *text,
		     const char *column)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (ts_bytes_is(ts_cell_text(table, i, key), text))
			return ts_cell_int(table, i, column) / US;
	return -1;
}

static int64_t kind_us(const struct ts_result *result, const char *kind, const char *column)
{
	return us_of(table_of(result, "kinds"), "kind", kind, column);
}

/*
 * Step 1: 5 in aten::a until the first launch, 15 until the first kernel, 20 of it, 2 until the next one,
 * 20 of it, which the waiting call sees, and 15 of aten::b: 77. On the thread alone it were 30 and 15.
 * Step 2: the copy is there after 5, 5 and 10; aten::c needs 5 and 35 around the call, which waits: 40.
 */
static const struct event two_steps[] = {
	{ "user_annotation", "ProfilerStep#1", HOST, 7, 0, 100, 0 },
	{ "cpu_op", "aten::a", HOST, 7, 10, 30, 0 },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 7, 15, 5, 1 },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 7, 25, 5, 2 },
	{ "kernel", "k1", GPU, 1, 30, 20, 1 },
	{ "kernel", "k2", GPU, 1, 52, 20, 2 },
	{ "cuda_runtime", "cudaStreamSynchronize", HOST, 7, 45, 30, 9 },
	{ "cpu_op", "aten::b", HOST, 7, 80, 15, 0 },
	{ "user_annotation", "ProfilerStep#2", HOST, 7, 101, 60, 0 },
	{ "cpu_op", "aten::c", HOST, 7, 105, 50, 0 },
	{ "cuda_runtime", "cudaMemcpyAsync", HOST, 7, 110, 10, 3 },
	{ "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", GPU, 2, 115, 10, 3 },
};

TEST(the_longest_path_of_each_step_is_found)
{
	struct memory_run mem;
	struct ts_buf text = { 0 };
	const struct ts_result *result = given(&mem, &text, two_steps, TS_NELEM(two_steps));
	const struct ts_table *steps = table_of(result, "steps");

	assert_int_equal(steps->nr_rows, 2);
	assert_int_equal(us_of(steps, "which", "median", "path_ps"), 40);
	assert_int_equal(us_of(steps, "which", "median", "duration_ps"), 60);
	assert_int_equal(us_of(steps, "which", "slowest", "path_ps"), 77);
	assert_int_equal(us_of(steps, "which", "slowest", "duration_ps"), 100);
	assert_int_equal(ts_cell_int(steps, 1, "step"), 1);
	assert_int_equal(ts_cell_int(steps, 1, "waits"), 1);
	done(&mem, &text);
}

TEST(each_part_of_a_path_has_a_kind_and_a_name)
{
	struct memory_run mem;
	struct ts_buf text = { 0 };
	const struct ts_result *result = given(&mem, &text, two_steps, TS_NELEM(two_steps));
	const struct ts_table *slowest = table_of(result, "slowest_rows");

	assert_int_equal(kind_us(result, "host operator", "slowest_path_ps"), 20);
	assert_int_equal(kind_us(result, "runtime call", "slowest_path_ps"), 0);
	assert_int_equal(kind_us(result, "launch delay", "slowest_path_ps"), 15);
	assert_int_equal(kind_us(result, "kernel", "slowest_path_ps"), 40);
	assert_int_equal(kind_us(result, "kernel queue delay", "slowest_path_ps"), 2);
	assert_int_equal(kind_us(result, "copy", "slowest_path_ps"), 0);
	assert_int_equal(kind_us(result, "host operator", "path_ps"), 40);
	assert_int_equal(us_of(slowest, "name", "aten::a", "path_ps"), 5);
	assert_int_equal(us_of(slowest, "name", "aten::b", "path_ps"), 15);
	assert_int_equal(us_of(slowest, "kind", "kernel queue delay", "path_ps"), 2);
	assert_int_equal(us_of(table_of(result, "rows"), "name", "aten::c", "path_ps"), 40);
	done(&mem, &text);
}

/* The second step's kernel waits for that of the first: 31 from its launch to its start are not the launch's. */
TEST(a_stream_that_is_busy_for_another_step_is_no_launch_delay)
{
	static const struct event events[] = {
		{ "user_annotation", "ProfilerStep#1", HOST, 7, 0, 50, 0 },
		{ "cpu_op", "aten::x", HOST, 7, 0, 10, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 7, 1, 1, 1 },
		{ "kernel", "k1", GPU, 1, 5, 85, 1 },
		{ "user_annotation", "ProfilerStep#2", HOST, 7, 51, 49, 0 },
		{ "cpu_op", "aten::y", HOST, 7, 52, 10, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 7, 60, 1, 2 },
		{ "kernel", "k2", GPU, 1, 91, 4, 2 },
	};
	struct memory_run mem;
	struct ts_buf text = { 0 };
	const struct ts_result *result = given(&mem, &text, events, TS_NELEM(events));

	assert_int_equal(us_of(table_of(result, "steps"), "which", "median", "path_ps"), 10);
	assert_int_equal(kind_us(result, "launch delay", "path_ps"), 0);
	assert_int_equal(us_of(table_of(result, "steps"), "which", "slowest", "path_ps"), 90);
	assert_int_equal(kind_us(result, "launch delay", "slowest_path_ps"), 4);
	done(&mem, &text);
}

TEST(a_trace_without_marks_is_one_step)
{
	struct memory_run mem;
	struct ts_buf text = { 0 };
	const struct ts_result *result = given(&mem, &text, two_steps + 1, 7);
	const struct ts_table *steps = table_of(result, "steps");

	assert_int_equal(steps->nr_rows, 1);
	assert_int_equal(us_of(steps, "which", "only", "path_ps"), 77);
	assert_int_equal(us_of(steps, "which", "only", "duration_ps"), 85);
	assert_true(ts_table_cell(steps, 0, ts_table_column(steps, "step")).type == TS_VALUE_NULL);
	done(&mem, &text);
}

/* 5 until k0's launch, 5 until it starts, its 50, and k1's 20, which was launched behind a wait: 80. */
static const struct event one_wait[] = {
	{ "user_annotation", "ProfilerStep#1", HOST, 7, 0, 200, 0 },
	{ "cpu_op", "aten::x", HOST, 7, 0, 30, 0 },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 7, 5, 1, 1 },
	{ "kernel", "k0", GPU, 1, 10, 50, 1 },
	{ "cuda_runtime", "cudaStreamWaitEvent", HOST, 7, 12, 1, 9 },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 7, 15, 1, 2 },
	{ "kernel", "k1", GPU, 2, 61, 20, 2 },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 7, 20, 1, 3 },
	{ "kernel", "k2", GPU, 3, 62, 30, 3 },
};

TEST(a_stream_waits_for_what_ended_last_on_another_one)
{
	struct memory_run mem;
	struct ts_buf text = { 0 };
	const struct ts_result *result = given(&mem, &text, one_wait, TS_NELEM(one_wait) - 2);

	assert_int_equal(us_of(table_of(result, "steps"), "which", "only", "path_ps"), 80);
	assert_int_equal(ts_cell_int(table_of(result, "steps"), 0, "waits"), 1);
	assert_int_equal(kind_us(result, "launch delay", "path_ps"), 5);
	assert_int_equal(us_of(table_of(result, "rows"), "name", "k0", "path_ps"), 50);
	assert_int_equal(us_of(table_of(result, "rows"), "name", "k1", "path_ps"), 20);
	done(&mem, &text);
}

/* k2's launch is late without a reason: 20 until the call, 42 until it starts, its 30. */
TEST(a_wait_is_of_the_next_launch_alone)
{
	struct memory_run mem;
	struct ts_buf text = { 0 };
	const struct ts_result *result = given(&mem, &text, one_wait, TS_NELEM(one_wait));

	assert_int_equal(us_of(table_of(result, "steps"), "which", "only", "path_ps"), 92);
	assert_int_equal(ts_cell_int(table_of(result, "steps"), 0, "waits"), 0);
	assert_int_equal(kind_us(result, "launch delay", "path_ps"), 42);
	done(&mem, &text);
}

/* Made here or of the corpus. */
static struct ts_bytes bytes_of(struct ts_arena *arena, const char *name)
{
	struct ts_bytes bytes = whole_file(
		(const char *)ts_arena_printf(arena, TS_SRCDIR "/tests/data/%s", name).p, arena);

	return bytes.p ? bytes
		       : corpus_file(arena,
				     (const char *)ts_arena_printf(arena, "kineto/%s", name).p);
}

/*
 * Worked out on paper. Step 1: 5, 10 until k1, its 100, k2 behind an event that is recorded between k1 and k3: 100, aten::c 20
 * behind an event that is recorded behind k2. Step 2: 5, 5, k4's 100, aten::e 10 behind the whole device. Step 3: 15,
 * 4, k7's 46, aten::h 20 behind k7's stream and not behind k6, which ended last.
 */
TEST(synchronization_events_say_what_waits_for_what)
{
	static const int expected[] = { 235, 120, 85, 10 };
	struct ts_arena arena = TS_ARENA_INIT;
	struct memory_run mem;
	const struct ts_result *result =
		path_of(&mem, bytes_of(&arena, "hand_made_sync.pt.trace.json"));
	const struct ts_table *steps = table_of(result, "each_step");

	assert_int_equal(steps->nr_rows, TS_NELEM(expected));
	for (size_t i = 0; i < TS_NELEM(expected); i++)
		assert_int_equal(ts_cell_int(steps, i, "path_ps") / US, expected[i]);
	assert_int_equal(ts_cell_int(steps, 0, "waits"), 2);
	assert_int_equal(us_of(table_of(result, "slowest_rows"), "name", "k2", "path_ps"), 100);
	assert_int_equal(us_of(table_of(result, "slowest_rows"), "name", "k3", "path_ps"), -1);
	memory_run_release(&mem);
	ts_arena_release(&arena);
}

/* HTA reads whole us: each part of a path may be 1 us off. */
static size_t compare_step(const struct ts_table *steps, size_t row, const cJSON *truth)
{
	char number[24];
	const cJSON *total;
	double us = (double)ts_cell_int(steps, row, "path_ps") / (double)US;

	snprintf(number, sizeof(number), "%lld", (long long)ts_cell_int(steps, row, "step"));
	truth = cJSON_GetObjectItemCaseSensitive(truth, number);
	if (!truth)
		return 0; /* HTA leaves out the last step */
	total = cJSON_GetObjectItemCaseSensitive(truth, "total");
	assert_non_null(total);
	if (!(fabs(us - total->valuedouble) <= 0.005 * total->valuedouble))
		fail_msg("step %s: the path is %.3f us, HTA says %.3f", number, us,
			 total->valuedouble);
	return 1;
}

TEST(paths_are_those_of_hta)
{
	struct ts_arena arena = TS_ARENA_INIT;
	FILE *recorded = fopen(TS_SRCDIR "/tests/data/hta_critical_path.json", "rb");
	char text[8192] = "";
	size_t nr = 0;
	const cJSON *file;
	cJSON *truth;

	assert_non_null(recorded);
	assert_true(fread(text, 1, sizeof(text) - 1, recorded) > 0);
	fclose(recorded);
	truth = cJSON_Parse(text);
	assert_non_null(truth);
	cJSON_ArrayForEach(file, truth)
	{
		struct ts_bytes bytes = bytes_of(&arena, file->string);
		struct memory_run mem;
		const struct ts_result *result;
		const struct ts_table *steps;

		if (!bytes.p)
			continue;
		result = path_of(&mem, bytes);
		steps = ts_result_find_table(result, "each_step");
		if (!steps)
			steps = table_of(result, "steps");
		for (size_t i = 0; i < steps->nr_rows; i++)
			nr += compare_step(steps, i, file);
		memory_run_release(&mem);
	}
	cJSON_Delete(truth);
	ts_arena_release(&arena);
	if (nr == 0)
		skip();
	print_message("%zu paths are those of HTA\n", nr);
}
