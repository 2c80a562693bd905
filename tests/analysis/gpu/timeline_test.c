/* SPDX-License-Identifier: MIT */
/*
 * The timeline of traces: steps by class against what torch_tb_profiler says of real ones
 * (tests/truth/torch_steps.py recorded it), and of small ones counted by hand.
 */
#include <cjson/cJSON.h>
#include <math.h>

#include "base/units.h"
#include "tests/run/memory_run.h"
#include "tests/read/xplane_make.h"
#include "tests/read/corpus.h"
#include "tests/test.h"

#define CHROME memory_run_reader("chrome")

static const char *const classes[] = { "Kernel",  "Memcpy",	"Memset", "Communication",
				       "Runtime", "DataLoader", "CpuOp",  "Other" };
static const char *const columns[] = { "kernel_ps",	   "memcpy_ps",	 "memset_ps",
				       "communication_ps", "runtime_ps", "dataloader_ps",
				       "cpu_exec_ps",	   "other_ps" };

static const struct ts_result *timeline_of(struct memory_run *mem, struct ts_bytes bytes)
{
	struct ts_error err = TS_ERROR_INIT;
	const struct ts_result *result;

	memory_run_init(mem);
	if (memory_run_add_as(mem, CHROME, bytes, "host", &err) ||
	    memory_run_analyse(mem, 1000, &err))
		fail_msg("%s", err.text);
	result = ts_results_find(&mem->run.results, "timeline");
	assert_non_null(result);
	return result;
}

static const struct ts_table *steps_of(const struct ts_result *timeline)
{
	const struct ts_table *table = ts_result_find_table(timeline, "steps");

	assert_non_null(table);
	return table;
}

static void assert_classes_are_the_step(const struct ts_table *steps, size_t row)
{
	int64_t sum_ps = 0;

	for (size_t c = 0; c < TS_NELEM(columns); c++)
		sum_ps += ts_cell_int(steps, row, columns[c]);
	assert_int_equal(sum_ps, ts_cell_int(steps, row, "duration_ps"));
}

static bool is_counted(const struct ts_table *steps, size_t row)
{
	return ts_table_cell(steps, row, ts_table_column(steps, "counted")).as.b;
}

static double number(const cJSON *object, const char *name)
{
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_non_null(found);
	return found->valuedouble;
}

/* The tool adds doubles: the last digit it prints (1 ns) may be another. */
static void compare_step(const char *file, const struct ts_table *steps, size_t row,
			 const cJSON *truth)
{
	for (size_t c = 0; c < TS_NELEM(classes); c++) {
		double us = (double)ts_cell_int(steps, row, columns[c]) / 1e6;

		if (!(fabs(us - number(truth, classes[c])) <= 0.002))
			fail_msg("%s: %s of row %zu is %.3f us, the tool says %.3f", file,
				 classes[c], row, us, number(truth, classes[c]));
	}
	assert_int_equal(ts_cell_int(steps, row, "step"), (int64_t)number(truth, "step"));
}

static size_t compare_file(const char *file, struct ts_bytes bytes, const cJSON *truth)
{
	struct memory_run mem;
	const struct ts_table *steps = steps_of(timeline_of(&mem, bytes));
	size_t nr = 0;

	for (size_t i = 0; i < steps->nr_rows; i++) {
		assert_classes_are_the_step(steps, i);
		if (is_counted(steps, i))
			compare_step(file, steps, i, cJSON_GetArrayItem(truth, (int)nr++));
	}
	assert_int_equal(nr, cJSON_GetArraySize(truth));
	memory_run_release(&mem);
	return nr;
}

TEST(steps_by_class_are_those_of_torch_tb_profiler)
{
	struct ts_arena arena = TS_ARENA_INIT;
	FILE *recorded = fopen(TS_SRCDIR "/tests/data/torch_steps.json", "rb");
	char text[16384] = "";
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
		struct ts_bytes path = ts_arena_printf(&arena, "kineto/%s", file->string);
		struct ts_bytes bytes = corpus_file(&arena, (const char *)path.p);

		if (bytes.p)
			nr += compare_file(file->string, bytes, file);
	}
	cJSON_Delete(truth);
	ts_arena_release(&arena);
	if (nr == 0) {
		print_message("no corpus here (TS_CORPUS): skipped\n");
		skip();
	}
	assert_int_equal(nr, 23);
}

/* Traces by hand: times in us. */

struct event {
	const char *category, *name;
	int pid, tid, start, dur, correlation; /* 0: none */
};

static const struct ts_result *given(struct memory_run *mem, struct ts_buf *text,
				     const struct event *events, size_t nr)
{
	ts_buf_puts(text, "{\"traceEvents\":[");
	for (size_t i = 0; i < nr; i++)
		ts_buf_printf(text,
			      "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,"
			      "\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d}}",
			      i ? "," : "", events[i].category, events[i].name, events[i].pid,
			      events[i].tid, events[i].start, events[i].dur, events[i].correlation);
	ts_buf_puts(text, "]}");
	return timeline_of(mem, ts_buf_bytes(text));
}

static void done(struct memory_run *mem, struct ts_buf *text)
{
	memory_run_release(mem);
	ts_buf_release(text);
}

#define US   TS_PS_PER_US
#define HOST 50, 50
#define GPU  0, 7
#define GPU2 0, 8

static void assert_step(const struct ts_table *steps, size_t row, int64_t start, int64_t end)
{
	assert_classes_are_the_step(steps, row);
	assert_int_equal(ts_cell_int(steps, row, "start_ps"), start * TS_PS_PER_US);
	assert_int_equal(ts_cell_int(steps, row, "duration_ps"), (end - start) * TS_PS_PER_US);
}

static void assert_us(const struct ts_table *steps, size_t row, const char *column, int64_t us)
{
	assert_int_equal(ts_cell_int(steps, row, column), us * TS_PS_PER_US);
}

/* Step 1 ends with its last kernel at 130, under the mark of step 2, whose own ends at 190. */
TEST(a_step_lasts_to_the_end_of_its_last_kernel)
{
	static const struct event events[] = {
		{ "user_annotation", "ProfilerStep#1", HOST, 0, 50, 0 },
		{ "cpu_op", "aten::mm", HOST, 5, 20, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 10, 5, 11 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 20, 5, 12 },
		{ "user_annotation", "ProfilerStep#2", HOST, 60, 50, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 70, 5, 13 },
		{ "kernel", "first", GPU, 30, 30, 11 },
		{ "kernel", "second", GPU, 80, 50, 12 },
		{ "kernel", "third", GPU, 140, 50, 13 },
		{ "cpu_op", "aten::late", HOST, 200, 10, 0 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_table *steps = steps_of(given(&mem, &text, events, TS_NELEM(events)));

	assert_int_equal(steps->nr_rows, 2);
	assert_step(steps, 0, 0, 130);
	assert_us(steps, 0, "kernel_ps", 80);
	assert_us(steps, 0, "runtime_ps", 15);
	assert_us(steps, 0, "cpu_exec_ps", 10);
	assert_us(steps, 0, "other_ps", 25);
	assert_step(steps, 1, 130, 190);
	assert_us(steps, 1, "kernel_ps", 50);
	assert_us(steps, 1, "other_ps", 10);
	done(&mem, &text);
}

static void assert_overview_us(const struct memory_run *mem, const char *what, int64_t us)
{
	const struct ts_result *overview = ts_results_find(&mem->run.results, "overview");

	assert_int_equal(ts_value_int(ts_result_get(overview, what)), us * TS_PS_PER_US);
}

/* The host runs ahead: its mark of step 2 is the longest, and the work of step 2 the shortest. Marks: 20, 90, 40, 50;
 * work: 0-110, 110-160, 160-230, 230-310. */
TEST(step_times_are_those_of_the_work)
{
	static const struct event events[] = {
		{ "user_annotation", "ProfilerStep#1", HOST, 0, 20, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 5, 5, 11 },
		{ "user_annotation", "ProfilerStep#2", HOST, 20, 90, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 25, 5, 12 },
		{ "user_annotation", "ProfilerStep#3", HOST, 110, 40, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 115, 5, 13 },
		{ "user_annotation", "ProfilerStep#4", HOST, 150, 50, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 155, 5, 14 },
		{ "kernel", "a", GPU, 10, 100, 11 },
		{ "kernel", "a", GPU, 110, 50, 12 },
		{ "kernel", "a", GPU, 160, 70, 13 },
		{ "kernel", "a", GPU, 230, 80, 14 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *overview;
	const struct ts_table *steps;

	given(&mem, &text, events, TS_NELEM(events));
	overview = ts_results_find(&mem.run.results, "overview");
	assert_overview_us(&mem, "overview.step_time_ps.median", 75);
	assert_overview_us(&mem, "overview.step_time_ps.max", 110);
	assert_overview_us(&mem, "overview.host_step_time_ps.median", 45);
	steps = ts_result_find_table(overview, "steps");
	assert_int_equal(steps->nr_rows, 4);
	assert_int_equal(ts_cell_int(steps, 1, "step"), 2);
	assert_us(steps, 1, "start_ps", 110);
	assert_us(steps, 1, "duration_ps", 50);
	assert_us(steps, 1, "host_duration_ps", 90);
	assert_int_equal(ts_cell_int(steps, 1, "cores"), 1);
	assert_true(ts_bytes_is(ts_cell_text(steps, 1, "source"), "launched"));
	steps = ts_result_find_table(ts_results_find(&mem.run.results, "time"), "per_step");
	assert_us(steps, 1, "duration_ps", 90); /* its buckets are shared out by the marks */
	done(&mem, &text);
}

#define RANK_STEP(rank, kernel) \
	"{\"distributedInfo\":{\"rank\":" rank "},\"traceEvents\":[" \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#7\",\"pid\":1,\"tid\":1," \
	"\"ts\":0,\"dur\":20}," \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1," \
	"\"ts\":1,\"dur\":2,\"args\":{\"correlation\":5}}," \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":" kernel "," \
	"\"args\":{\"correlation\":5}}]}"

/* The ranks' work in step 7 ends after 50 and after 30 us. */
TEST(a_step_of_several_ranks_takes_their_mean)
{
	static const char *const texts[] = { RANK_STEP("0", "40"), RANK_STEP("1", "20") };
	struct memory_run mem;

	memory_run_init(&mem);
	for (size_t i = 0; i < TS_NELEM(texts); i++)
		assert_int_equal(
			memory_run_add_as(&mem, CHROME, ts_bytes_of(texts[i]), "host", NULL),
			TS_OK);
	assert_int_equal(memory_run_analyse(&mem, 0, NULL), TS_OK);
	assert_overview_us(&mem, "overview.step_time_ps.median", 40);
	assert_overview_us(&mem, "overview.host_step_time_ps.median", 20);
	memory_run_release(&mem);
}

/* A kernel from before the capture runs until 40; another one, which no step launched either, still
 * runs when the step's first kernel begins and holds nothing up. */
TEST(the_first_step_begins_when_older_kernels_have_ended)
{
	static const struct event events[] = {
		{ "kernel", "older", GPU, 0, 40, 1 },
		{ "kernel", "long", GPU2, 20, 100, 2 },
		{ "user_annotation", "ProfilerStep#1", HOST, 10, 90, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 15, 5, 11 },
		{ "kernel", "own", GPU, 60, 20, 11 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_table *steps = steps_of(given(&mem, &text, events, TS_NELEM(events)));

	assert_int_equal(steps->nr_rows, 1);
	assert_step(steps, 0, 40, 100);
	assert_us(steps, 0, "kernel_ps", 60);
	done(&mem, &text);
}

TEST(without_kernels_of_its_own_the_first_step_is_as_marked)
{
	static const struct event events[] = {
		{ "user_annotation", "ProfilerStep#1", HOST, 0, 50, 0 },
		{ "kernel", "older", GPU, 5, 20, 1 },
		{ "user_annotation", "ProfilerStep#2", HOST, 60, 40, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 61, 5, 11 },
		{ "kernel", "own", GPU, 90, 30, 11 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_table *steps = steps_of(given(&mem, &text, events, TS_NELEM(events)));

	assert_step(steps, 0, 0, 50);
	assert_us(steps, 0, "kernel_ps", 20);
	assert_us(steps, 0, "other_ps", 30);
	assert_step(steps, 1, 60, 120);
	done(&mem, &text);
}

/* A moment of many counts once: kernel, copy, fill, communication, call, operator in this order. */
TEST(a_moment_belongs_to_the_first_class_that_runs)
{
	static const struct event events[] = {
		{ "user_annotation", "ProfilerStep#1", HOST, 0, 100, 0 },
		{ "cpu_op", "aten::mm", HOST, 0, 90, 0 },
		{ "cuda_runtime", "cudaMemcpy", HOST, 0, 80, 0 },
		{ "kernel", "ncclDevKernel_AllReduce", GPU2, 0, 70, 0 },
		{ "gpu_memset", "Memset (Device)", GPU, 0, 60, 0 },
		{ "gpu_memcpy", "Memcpy HtoD", 0, 9, 0, 50, 0 },
		{ "kernel", "gemm", 0, 10, 10, 30, 0 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_table *steps = steps_of(given(&mem, &text, events, TS_NELEM(events)));

	assert_step(steps, 0, 0, 100);
	for (size_t c = 0; c < TS_NELEM(columns); c++)
		if (c != 5)
			assert_us(steps, 0, columns[c], c == 0 ? 30 : c == 1 ? 20 : 10);
	assert_us(steps, 0, "dataloader_ps", 0);
	done(&mem, &text);
}

TEST(a_trace_without_steps_is_one)
{
	static const struct event events[] = {
		{ "cpu_op", "aten::mm", HOST, 10, 20, 0 },
		{ "cpu_op", "aten::mm", HOST, 50, 10, 0 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_table *steps = steps_of(given(&mem, &text, events, TS_NELEM(events)));

	assert_int_equal(steps->nr_rows, 1);
	assert_step(steps, 0, 0, 50);
	assert_us(steps, 0, "cpu_exec_ps", 30);
	assert_us(steps, 0, "other_ps", 20);
	assert_int_equal(ts_table_cell(steps, 0, ts_table_column(steps, "step")).type,
			 TS_VALUE_NULL);
	done(&mem, &text);
}

/* Steps at the end whose launches have no kernels, or far fewer than the step before, do not count. */
TEST(steps_whose_kernels_are_missing_do_not_count)
{
	static const struct event events[] = {
		{ "user_annotation", "ProfilerStep#1", HOST, 0, 50, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 10, 5, 11 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 20, 5, 12 },
		{ "kernel", "a", GPU, 20, 5, 11 },
		{ "kernel", "a", GPU, 30, 5, 12 },
		{ "user_annotation", "ProfilerStep#2", HOST, 50, 50, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 60, 5, 13 },
		{ "kernel", "a", GPU, 70, 5, 13 },
		{ "user_annotation", "ProfilerStep#3", HOST, 100, 50, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 110, 5, 14 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *timeline = given(&mem, &text, events, TS_NELEM(events));
	const struct ts_table *steps = steps_of(timeline);

	assert_int_equal(steps->nr_rows, 3);
	assert_true(is_counted(steps, 0));
	assert_false(is_counted(steps, 1) || is_counted(steps, 2));
	assert_int_equal(ts_value_int(ts_result_get(timeline, "step_count")), 1);
	assert_int_equal(timeline->nr_notes, 1);
	done(&mem, &text);
}

/* The host alone works in the last two: they last as long as their marks, and nothing of the second is missing. */
TEST(steps_that_launch_nothing_count)
{
	static const struct event events[] = {
		{ "user_annotation", "ProfilerStep#1", HOST, 0, 50, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 10, 5, 11 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 20, 5, 12 },
		{ "kernel", "a", GPU, 20, 5, 11 },
		{ "kernel", "a", GPU, 30, 5, 12 },
		{ "user_annotation", "ProfilerStep#2", HOST, 50, 50, 0 },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 60, 5, 13 },
		{ "kernel", "a", GPU, 70, 5, 13 },
		{ "user_annotation", "ProfilerStep#3", HOST, 100, 40, 0 },
		{ "cuda_runtime", "cudaDeviceSynchronize", HOST, 110, 5, 14 },
		{ "user_annotation", "ProfilerStep#4", HOST, 150, 30, 0 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *timeline = given(&mem, &text, events, TS_NELEM(events));
	const struct ts_table *steps = steps_of(timeline);

	assert_int_equal(ts_value_int(ts_result_get(timeline, "step_count")), 4);
	assert_us(steps, 2, "duration_ps", 40);
	assert_us(steps, 3, "duration_ps", 30);
	done(&mem, &text);
}

static int64_t us(const struct ts_result *timeline, const char *field)
{
	return ts_value_int(ts_result_get(timeline, field)) / TS_PS_PER_US;
}

/* Threads 0..30 and 20..60, frames of Python 0..100, streams 50..90 and 70..80: of 100 us. */
TEST(activity_is_the_time_in_which_something_runs)
{
	static const struct event events[] = {
		{ "python_function", "train.py(1): main", HOST, 0, 100, 0 },
		{ "cpu_op", "aten::mm", HOST, 0, 30, 0 },
		{ "cpu_op", "aten::bmm", HOST, 5, 10, 0 },
		{ "cpu_op", "aten::mul", 50, 51, 20, 40, 0 },
		{ "kernel", "gemm", GPU, 50, 40, 0 },
		{ "gpu_memcpy", "Memcpy DtoD", GPU2, 70, 10, 0 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *timeline = given(&mem, &text, events, TS_NELEM(events));

	assert_int_equal(us(timeline, "total_time_ps"), 100);
	assert_int_equal(us(timeline, "cpu_active_ps"), 100);
	assert_int_equal(us(timeline, "gpu_active_ps"), 40);
	assert_int_equal(us(timeline, "overlap_ps"), 40);
	assert_int_equal(us(timeline, "cpu_time_ps"), 70);
	assert_int_equal(us(timeline, "cuda_time_ps"), 50);
	assert_true(ts_value_number(ts_result_get(timeline, "total_time_ms")) == 0.1);
	done(&mem, &text);
}

TEST(frames_of_python_need_not_count)
{
	static const struct event events[] = {
		{ "python_function", "train.py(1): main", HOST, 0, 100, 0 },
		{ "cpu_op", "aten::mm", HOST, 0, 60, 0 },
		{ "kernel", "gemm", GPU, 50, 40, 0 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	struct ts_run_options options = { .nr_threads = 1, .no_python = true };
	const struct ts_result *timeline;

	given(&mem, &text, events, TS_NELEM(events));
	memory_run_release(&mem);
	memory_run_init(&mem);
	options.settings = &mem.settings;
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_buf_bytes(&text), "host", NULL), 0);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	assert_int_equal(ts_run_analyse(&mem.run, &options, NULL), TS_OK);
	timeline = ts_results_find(&mem.run.results, "timeline");
	assert_int_equal(us(timeline, "total_time_ps"), 100);
	assert_int_equal(us(timeline, "cpu_active_ps"), 60);
	assert_int_equal(us(timeline, "overlap_ps"), 10);
	done(&mem, &text);
}

/* Two ranks: 40 and 20 us of 100 on the device. Active time is a rank's, time of streams all of
 * it. */
TEST(ranks_are_averaged_and_their_streams_summed)
{
	static const char *const texts[] = {
		"{\"distributedInfo\":{\"rank\":0},\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
		"\"ts\":0,\"dur\":100},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
		"\"ts\":10,\"dur\":40}]}",
		"{\"distributedInfo\":{\"rank\":1},\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
		"\"ts\":0,\"dur\":100},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
		"\"ts\":10,\"dur\":20}]}",
	};
	const struct ts_result *timeline;
	const struct ts_table *ranks, *streams;
	struct memory_run mem;

	memory_run_init(&mem);
	for (size_t i = 0; i < TS_NELEM(texts); i++)
		assert_int_equal(
			memory_run_add_as(&mem, CHROME, ts_bytes_of(texts[i]), "host", NULL),
			TS_OK);
	assert_int_equal(memory_run_analyse(&mem, 0, NULL), TS_OK);
	timeline = ts_results_find(&mem.run.results, "timeline");
	assert_int_equal(us(timeline, "total_time_ps"), 100);
	assert_int_equal(us(timeline, "gpu_active_ps"), 30);
	assert_int_equal(us(timeline, "cpu_active_ps"), 100);
	assert_int_equal(us(timeline, "cuda_time_ps"), 60);
	assert_int_equal(us(timeline, "cpu_time_ps"), 200);
	ranks = ts_result_find_table(timeline, "ranks");
	assert_int_equal(ranks->nr_rows, 2);
	assert_us(ranks, 0, "gpu_active_ps", 40);
	assert_us(ranks, 1, "gpu_active_ps", 20);
	assert_int_equal(ts_cell_int(ranks, 1, "rank"), 1);
	streams = ts_result_find_table(timeline, "streams");
	assert_int_equal(streams->nr_rows, 2);
	assert_int_equal(ts_cell_int(streams, 1, "rank"), 1);
	assert_us(streams, 1, "busy_ps", 20);
	assert_int_equal(steps_of(timeline)->nr_rows, 2);
	memory_run_release(&mem);
}

/* Stream 7 has two kernels that overlap, 40 us together; stream 20 a copy of 5 us. The thread is
 * not a stream. */
TEST(a_stream_is_busy_while_something_runs_on_it)
{
	static const char text[] = "{\"traceEvents\":["
				   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,"
				   "\"tid\":1,\"ts\":0,\"dur\":100},"
				   "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
				   "\"tid\":7,\"ts\":10,\"dur\":30},"
				   "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\","
				   "\"pid\":0,\"tid\":20,\"ts\":15,\"dur\":5},"
				   "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
				   "\"tid\":7,\"ts\":30,\"dur\":20}]}";
	struct memory_run mem;
	const struct ts_table *streams;

	streams = ts_result_find_table(timeline_of(&mem, ts_bytes_of(text)), "streams");
	assert_non_null(streams);
	assert_int_equal(streams->nr_rows, 2);
	assert_int_equal(ts_cell_int(streams, 0, "events"), 2);
	assert_us(streams, 0, "busy_ps", 40);
	assert_int_equal(ts_cell_int(streams, 1, "events"), 1);
	assert_us(streams, 1, "busy_ps", 5);
	memory_run_release(&mem);
}

static void put_core(struct ts_buf *out, const char *name, const int64_t starts_us[2],
		     int64_t end_us)
{
	struct xp xp = xp_plane(out, name);

	xp_name(&xp, 1, "4");
	xp_name(&xp, 2, "5");
	xp_op(&xp, 3, "f", "loop fusion", 7, 1);
	xp_line(&xp, "Steps", 0);
	xp_event(&xp, 1, starts_us[0] * US, (starts_us[1] - starts_us[0]) * US);
	xp_event(&xp, 2, starts_us[1] * US, (end_us - starts_us[1]) * US);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	xp_event(&xp, 3, starts_us[0] * US, (end_us - starts_us[0]) * US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static void put_marks(struct ts_buf *out)
{
	struct xp xp = xp_plane(out, "/host:CPU");

	xp_name(&xp, 1, "train");
	xp_name(&xp, 2, "PjitFunction(f)");
	xp_line(&xp, "python", 0);
	for (int64_t i = 0; i < 2; i++) {
		size_t event = xp_begin_event(&xp, 1, 100 * i * US, 40 * US);

		xp_stat_int(&xp, XP_EVENT_STATS, "step_num", i);
		ts_pbw_end(out, event);
		xp_event(&xp, 2, 100 * i * US, 10 * US);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static const struct ts_result *timeline_of_xplane(struct memory_run *mem, struct ts_buf *bytes)
{
	struct ts_error err = TS_ERROR_INIT;

	memory_run_init(mem);
	mem->interleave = true;
	if (memory_run_add(mem, ts_buf_bytes(bytes), "host", &err) ||
	    memory_run_analyse(mem, 0, &err))
		fail_msg("%s", err.text);
	return ts_results_find(&mem->run.results, "timeline");
}

/*
 * Step 4 takes 10 and 20 us on the two cores, step 5 takes 30 and 10: 15 and 20 as in the report. They
 * begin it at 0 and 4, at 10 and 24 us: the first of them is the start.
 */
TEST(steps_of_several_cores_begin_and_last_as_in_the_report)
{
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *timeline;
	const struct ts_table *steps, *reported;

	put_core(&bytes, "/device:TPU:0", (const int64_t[]){ 0, 10 }, 40);
	put_core(&bytes, "/device:TPU:1", (const int64_t[]){ 4, 24 }, 34);
	put_marks(&bytes);
	timeline = timeline_of_xplane(&mem, &bytes);
	steps = steps_of(timeline);
	reported = ts_result_find_table(ts_results_find(&mem.run.results, "overview"), "steps");
	assert_int_equal(steps->nr_rows, 2);
	assert_step(steps, 0, 0, 15);
	assert_step(steps, 1, 10, 30);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ts_cell_int(steps, i, "start_ps"),
				 ts_cell_int(reported, i, "start_ps"));
		assert_int_equal(ts_cell_int(steps, i, "duration_ps"),
				 ts_cell_int(reported, i, "duration_ps"));
	}
	assert_true(ts_bytes_starts(ts_result_get(timeline, "step_source").as.s, "the devices'"));
	done(&mem, &bytes);
}

/* Each step is 40 us, of which 10 are a call: its own name is not activity. */
TEST(without_devices_steps_are_those_the_host_marks)
{
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *timeline;

	put_marks(&bytes);
	timeline = timeline_of_xplane(&mem, &bytes);
	assert_int_equal(steps_of(timeline)->nr_rows, 2);
	assert_step(steps_of(timeline), 1, 100, 140);
	assert_us(steps_of(timeline), 1, "cpu_exec_ps", 10);
	assert_us(steps_of(timeline), 1, "other_ps", 30);
	assert_int_equal(ts_cell_int(steps_of(timeline), 1, "kernels"), -1); /* unknown */
	assert_true(ts_bytes_is(ts_result_get(timeline, "step_source").as.s, "the host's marks"));
	done(&mem, &bytes);
}
