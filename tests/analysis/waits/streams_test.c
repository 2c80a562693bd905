/* SPDX-License-Identifier: MIT */
/* What streams and the threads that launch wait for, in traces of a few kernels; paths and gains are worked out beside them. */
#include "tests/analysis/given.h"

/* A trace of one thread and one GPU, event by event. Times are in us. */
struct trace {
	struct given *given;
	int nr_links;
};

static struct trace trace_begin(void)
{
	struct trace trace = { given_nothing(), 0 };

	ts_buf_puts(&trace.given->bytes, "{\"traceEvents\":[");
	return trace;
}

static void host(struct trace *trace, const char *name, int64_t at, int64_t us)
{
	ts_buf_printf(&trace->given->bytes,
		      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":1,"
		      "\"ts\":%lld,\"dur\":%lld},",
		      name, (long long)at, (long long)us);
}

static int call(struct trace *trace, const char *name, int64_t at, int64_t us)
{
	ts_buf_printf(&trace->given->bytes,
		      "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":1,\"tid\":1,"
		      "\"ts\":%lld,\"dur\":%lld,\"args\":{\"correlation\":%d}},",
		      name, (long long)at, (long long)us, ++trace->nr_links);
	return trace->nr_links;
}

static void kernel(struct trace *trace, int stream, int link, int64_t at, int64_t us)
{
	ts_buf_printf(
		&trace->given->bytes,
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel_%d\",\"pid\":0,\"tid\":%d,"
		"\"ts\":%lld,\"dur\":%lld,\"args\":{\"stream\":%d,\"correlation\":%d}},",
		stream, stream, (long long)at, (long long)us, stream, link);
}

static void launch(struct trace *trace, int64_t at, int64_t us, int stream, int64_t kernel_at,
		   int64_t kernel_us)
{
	kernel(trace, stream, call(trace, "cudaLaunchKernel", at, us), kernel_at, kernel_us);
}

static struct given *trace_end(struct trace *trace)
{
	struct given *given = trace->given;
	struct ts_error err = TS_ERROR_INIT;
	static const struct ts_state_sink sink = { NULL, not_kept };

	ts_buf_puts(&given->bytes, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,"
				   "\"args\":{\"name\":\"python\"}}]}");
	given->mem.states = &sink; /* saved and loaded on its way */
	assert_false(given->bytes.failed);
	if (memory_run_add_as(&given->mem, memory_run_reader("chrome"), ts_buf_bytes(&given->bytes),
			      "trace", &err) ||
	    memory_run_analyse(&given->mem, 0, &err))
		fail_msg("%s", err.text);
	return given;
}

static void assert_count(struct given *given, const char *what, int64_t nr)
{
	assert_int_equal(ts_value_int(field(given, "streams", what)), nr);
}

static void assert_path(struct given *given, int64_t ops_us, int64_t host_us, int64_t launch_us,
			int64_t idle_us)
{
	int64_t input_us = ts_value_int(field(given, "critical_path", "run.input_ps")) / US;

	assert_us(given, "critical_path", "run.total_ps",
		  ops_us + host_us + launch_us + input_us + idle_us);
	assert_us(given, "critical_path", "run.ops_ps", ops_us);
	assert_us(given, "critical_path", "run.host_ps", host_us);
	assert_us(given, "critical_path", "run.launch_ps", launch_us);
	assert_us(given, "critical_path", "run.idle_ps", idle_us);
}

#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

/*
 *	thread  [loader 300][launch 10]  [synchronize 110    ] [loader 300] ...	430 us a round
 *	stream                         ..[kernel 100       ]			10 us after the launch
 * Between the first kernel and the end of the last one: three kernels; twice 10 us up to the return of the wait, 300 of input,
 * 10 of launching and 10 up to the kernel.
 */
static struct given *given_input(void)
{
	struct trace trace = trace_begin();

	for (int64_t at = 0; at < 3 * 430; at += 430) {
		host(&trace, LOADER, at, 300);
		launch(&trace, at + 300, 10, 7, at + 320, 100);
		call(&trace, "cudaStreamSynchronize", at + 320, 110);
	}
	return trace_end(&trace);
}

TEST(the_path_goes_from_a_kernel_through_the_thread_to_what_it_loads)
{
	struct given *given = given_input();

	assert_path(given, 300, 20, 20, 20);
	assert_us(given, "critical_path", "run.input_ps", 600);
	assert_count(given, "kernels", 3);
	assert_count(given, "kernels_launched", 3);
	assert_count(given, "calls_waited", 3);
	assert_count(given, "waits_inferred", 0);
	assert_int_equal(field(given, "streams", "until_ps").type, TS_VALUE_NULL);
	done(given);
}

TEST(without_its_input_the_run_is_as_much_shorter)
{
	struct given *given = given_input();
	const struct ts_finding *finding = finding_by(given, "input_bound");

	assert_non_null(finding);
	assert_int_equal(finding->gain_ps, 600 * US);
	assert_int_equal(finding->gain_low_ps, 600 * US);
	assert_text(cell(given, "critical_path", "parts", 0, "name"), LOADER);
	done(given);
}

/*
 *	stream  [1     ][2     ][3     ][4     ]	100 us each, the first at 10
 *	thread  [1][2][3       ][4       ]		3 and 4 return when 1 and 2 are done
 * The thread is 100 us each because the kernels are.
 */
TEST(a_launch_into_a_full_queue_waits_for_kernels)
{
	struct trace trace = trace_begin();
	struct given *given;

	launch(&trace, 0, 5, 7, 10, 100);
	launch(&trace, 5, 5, 7, 110, 100);
	launch(&trace, 10, 105, 7, 210, 100);
	launch(&trace, 115, 100, 7, 310, 100);
	given = trace_end(&trace);
	assert_path(given, 400, 0, 0, 0);
	assert_count(given, "waits_inferred", 2);
	done(given);
}

/* The kernel of stream 20 could begin at 10 us; it begins BEHIND that of stream 7, which ends at 110. */
static int64_t count_ordered(int64_t behind)
{
	struct trace trace = trace_begin();
	struct given *given;
	int64_t nr;

	launch(&trace, 0, 5, 7, 10, 100);
	launch(&trace, 5, 5, 20, 110 + behind, 100);
	given = trace_end(&trace);
	nr = ts_value_int(field(given, "streams", "kernels_ordered"));
	if (nr > 0)
		assert_path(given, 200, 0, 0, behind);
	done(given);
	return nr;
}

TEST(a_kernel_that_begins_when_another_stream_is_done_waited_for_it)
{
	assert_int_equal(count_ordered(2), 1);
	assert_int_equal(count_ordered(60), 0);
}

TEST(a_thread_that_said_so_waits_for_another_stream)
{
	struct trace trace = trace_begin();
	struct given *given;

	launch(&trace, 0, 5, 7, 10, 30);
	call(&trace, "cudaStreamWaitEvent", 6, 1);
	launch(&trace, 8, 5, 20, 42, 30); /* 29 us after it was launched: too soon to be inferred */
	given = trace_end(&trace);
	assert_count(given, "kernels_ordered", 1);
	assert_path(given, 60, 0, 0, 2);
	done(given);
}

/* Nothing says what the thread does for 200 us, in which a kernel of 150 ends: it may have waited, or not. */
TEST(a_time_without_a_name_ends_what_ended_in_it)
{
	struct trace trace = trace_begin();
	struct given *given;

	launch(&trace, 0, 5, 7, 10, 150);
	launch(&trace, 205, 5, 7, 220, 100);
	given = trace_end(&trace);
	assert_count(given, "waits_inferred", 1);
	assert_path(given, 250, 0, 5, 55); /* 160 to 205, and 210 to 220 */
	done(given);
}

/* A kernel of 20 us beside one of 100 on another stream: nothing waits for it. */
TEST(a_kernel_that_nothing_waits_for_is_not_on_the_path)
{
	struct trace trace = trace_begin();
	struct given *given;

	launch(&trace, 0, 5, 7, 10, 100);
	launch(&trace, 5, 5, 20, 15, 20);
	given = trace_end(&trace);
	assert_path(given, 100, 0, 0, 0);
	done(given);
}

/* A copy that is not asynchronous returns when it is done: 10 to 75, and the thread goes on at 80. */
TEST(a_copy_that_blocks_ends_with_its_own)
{
	struct trace trace = trace_begin();
	struct given *given;

	launch(&trace, 0, 5, 7, 10, 20);
	kernel(&trace, 7, call(&trace, "cudaMemcpyAsync", 8, 72), 30, 45);
	launch(&trace, 80, 5, 7, 95, 100);
	given = trace_end(&trace);
	assert_count(given, "calls_waited", 1);
	assert_path(given, 165, 5, 5, 10); /* 75 to 80, 80 to 85, and up to 95 */
	done(given);
}
