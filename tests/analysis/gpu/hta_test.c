/* SPDX-License-Identifier: MIT */
/* hta: a trace of five kernels, each figure worked out by hand beside it. Times are in us. */
#include "tests/analysis/given.h"

#define CHROME memory_run_reader("chrome")

/*
 * Stream 7: A 100-150 (launched 90-95), B 152-172 (launched 110-114), C 300-340 (launched 290-299).
 * Stream 20: N 160-260 (all-reduce, launched 120-126), M 400-410 (Memcpy, launched 200-260).
 * Between A and B 2 us: both were launched in time. Between B and C 128: C was launched later than
 * B ended. Between N and M 140: M was launched before N ended, longer than a launch takes.
 */
#define LAUNCH(name, ts, dur, id)                                 \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur ",\"args\":{\"correlation\":" id "}},"
#define KERNEL(cat, name, tid, ts, dur, id)                                              \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{\"stream\":" tid ",\"correlation\":" id "}},"
#define STEP(n, ts)                                                            \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" n \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":100},"
#define HEAD "{\"distributedInfo\":{\"rank\":5,\"world_size\":8},\"traceEvents\":["
#define TAIL "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}}]}"
/* clang-format off: it does not settle on a row of macros */
#define FIVE                                                                 \
	LAUNCH("cudaLaunchKernel", "90", "5", "1")                           \
	LAUNCH("cudaLaunchKernel", "110", "4", "2")                          \
	LAUNCH("cudaLaunchKernel", "120", "6", "3")                          \
	LAUNCH("cudaMemcpyAsync", "200", "60", "4")                          \
	LAUNCH("cudaLaunchKernel", "290", "9", "5")                          \
	KERNEL("kernel", "gemm", "7", "100", "50", "1")                      \
	KERNEL("kernel", "gemm", "7", "152", "20", "2")                      \
	KERNEL("kernel", "ncclDevKernel_AllReduce", "20", "160", "100", "3") \
	KERNEL("kernel", "relu", "7", "300", "40", "5")                      \
	KERNEL("gpu_memcpy", "Memcpy HtoD", "20", "400", "10", "4")
/* clang-format on */

static const struct ts_result *hta_of(struct memory_run *mem, const char *text)
{
	struct ts_error err = TS_ERROR_INIT;
	const struct ts_result *result;

	memory_run_init(mem);
	if (memory_run_add_as(mem, CHROME, ts_bytes_of(text), "trace", &err) ||
	    memory_run_analyse(mem, 500, &err))
		fail_msg("%s", err.text);
	result = ts_results_find(&mem->run.results, "hta");
	assert_non_null(result);
	return result;
}

static void assert_field(const struct ts_result *result, const char *name, double wanted)
{
	double got = ts_value_number(ts_result_get(result, name));

	if (!(fabs(got - wanted) < 1e-6))
		fail_msg("%s is %f, not %f", name, got, wanted);
}

static const struct ts_table *table_of(const struct ts_result *result, const char *name)
{
	const struct ts_table *table = ts_result_find_table(result, name);

	assert_non_null(table);
	return table;
}

static size_t row_of(const struct ts_table *table, const char *column, const char *text)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (ts_bytes_is(ts_cell_text(table, i, column), text))
			return i;
	fail_msg("no row has %s %s", column, text);
	return 0;
}

TEST(time_is_parted_as_hta_parts_it)
{
	struct memory_run mem;
	const struct ts_result *hta = hta_of(&mem, HEAD FIVE TAIL);

	/* 100 to 410; something runs 100-150, 152-260, 300-340, 400-410: 208 of 310 */
	assert_field(hta, "hta_0_5.kernel_time_us", 310);
	assert_field(hta, "hta_0_5.idle_time_us", 102);
	assert_field(hta, "hta_0_5.compute_time_us", 110); /* gemm 50 + 20, relu 40 */
	assert_field(hta, "hta_0_5.gpu_idle_time_pct", 100 * 102 / 310.0);
	assert_field(hta, "gpu_idle_pct", 100 * 112 / 320.0); /* of the capture, 90 to 410 */
	assert_field(hta, "gpu_idle_time_pct", 100 * 102 / 310.0);
	assert_field(hta, "compute_time_pct", 100 * 110 / 310.0);
	assert_field(hta, "non_compute_time_pct", 100 * 98 / 310.0); /* 88 of N alone, 10 of M */
	assert_field(hta, "communication_time_pct", 100 * 100 / 310.0);
	assert_field(hta, "memory_time_pct", 100 * 10 / 310.0);
	assert_field(hta, "comm_comp_overlap_pct", 12); /* N and B: 160 to 172, of 100 */
	assert_field(hta, "exact.exposed_communication_ps", 88 * US);
	assert_field(hta, "exact.idle_ps", 102 * US);
	assert_field(hta, "kernel_count", 5);
	memory_run_release(&mem);
}

TEST(types_that_run_together_share_a_row)
{
	struct memory_run mem;
	const struct ts_table *types = table_of(hta_of(&mem, HEAD FIVE TAIL), "kernel_types");

	assert_int_equal(types->nr_rows, 4);
	assert_int_equal(ts_cell_int(types, row_of(types, "kernel_type", "COMPUTATION"), "sum_ps"),
			 98 * US);
	assert_int_equal(
		ts_cell_int(types,
			    row_of(types, "kernel_type", "COMPUTATION overlapping COMMUNICATION"),
			    "sum_ps"),
		12 * US);
	memory_run_release(&mem);
}

TEST(kernels_of_one_name_are_summed)
{
	struct memory_run mem;
	const struct ts_table *kernels = table_of(hta_of(&mem, HEAD FIVE TAIL), "top_kernels");
	size_t gemm = row_of(kernels, "name", "gemm");

	assert_true(ts_bytes_is(ts_cell_text(kernels, 0, "kernel_type"), "COMMUNICATION"));
	assert_int_equal(ts_cell_int(kernels, gemm, "count"), 2);
	assert_int_equal(ts_cell_int(kernels, gemm, "sum_ps"), 70 * US);
	assert_int_equal(ts_cell_int(kernels, gemm, "min_ps"), 20 * US);
	assert_int_equal(ts_cell_int(kernels, gemm, "max_ps"), 50 * US);
	assert_true(fabs(ts_cell_number(kernels, gemm, "mean_ps") - 35e6) < 1e-3);
	/* of 50 and 20, divisor n - 1 */
	assert_true(fabs(ts_cell_number(kernels, gemm, "stddev_ps") - 30e6 / sqrt(2)) < 1);
	memory_run_release(&mem);
}

/* HEAD FIVE TAIL as another device's runtime would have it. */
static void put_runtime(struct ts_buf *text, const char *category)
{
	const char *from = HEAD FIVE TAIL, *hit;

	for (; (hit = strstr(from, "cuda_runtime")); from = hit + strlen("cuda_runtime")) {
		ts_buf_put(text, (struct ts_bytes){ (const uint8_t *)from, (size_t)(hit - from) });
		ts_buf_puts(text, category);
	}
	ts_buf_puts(text, from);
	ts_buf_putc(text, '\0');
}

TEST(launches_are_known_of_every_runtime)
{
	static const char *const categories[] = { "cuda_runtime", "cuda_driver",  "hip_runtime",
						  "xpu_runtime",  "mtia_runtime", "Runtime" };

	for (size_t i = 0; i < TS_NELEM(categories); i++) {
		struct ts_buf text = TS_BUF_INIT;
		struct memory_run mem;
		const struct ts_table *idle;

		put_runtime(&text, categories[i]);
		idle = table_of(hta_of(&mem, (const char *)text.p), "idle");
		assert_int_equal(
			ts_cell_int(idle, row_of(idle, "stream", "stream 7"), "host_wait_ps"),
			128 * US);
		memory_run_release(&mem);
		ts_buf_release(&text);
	}
}

TEST(a_gap_is_put_down_to_who_was_late)
{
	struct memory_run mem;
	const struct ts_table *idle = table_of(hta_of(&mem, HEAD FIVE TAIL), "idle");
	size_t s7 = row_of(idle, "stream", "stream 7"), s20 = row_of(idle, "stream", "stream 20");

	assert_int_equal(ts_cell_int(idle, s7, "kernel_wait_ps"), 2 * US);
	assert_int_equal(ts_cell_int(idle, s7, "host_wait_ps"), 128 * US);
	assert_int_equal(ts_cell_int(idle, s7, "other_wait_ps"), 0);
	assert_int_equal(ts_cell_int(idle, s20, "other_wait_ps"), 140 * US);
	assert_int_equal(ts_cell_int(idle, s7, "rank"), 5);
	memory_run_release(&mem);
}

TEST(launches_are_counted_by_call)
{
	struct memory_run mem;
	const struct ts_table *calls = table_of(hta_of(&mem, HEAD FIVE TAIL), "launches");
	size_t launch = row_of(calls, "call", "cudaLaunchKernel");
	size_t copy = row_of(calls, "call", "cudaMemcpyAsync");

	assert_int_equal(ts_cell_int(calls, launch, "count"), 4);
	assert_int_equal(ts_cell_int(calls, launch, "cpu_sum_ps"), 24 * US);
	/* 100 - 95, 152 - 114, 160 - 126, 300 - 299 */
	assert_int_equal(ts_cell_int(calls, launch, "delay_sum_ps"), 78 * US);
	assert_int_equal(ts_cell_int(calls, launch, "short_kernels"), 0);
	assert_int_equal(ts_cell_int(calls, copy, "runtime_outliers"), 1);
	assert_int_equal(ts_cell_int(calls, copy, "delay_outliers"), 1); /* 400 - 260 */
	assert_int_equal(ts_cell_int(calls, copy, "delay_max_ps"), 140 * US);
	memory_run_release(&mem);
}

TEST(a_queue_grows_with_launches_and_shrinks_with_starts)
{
	struct memory_run mem;
	const struct ts_table *queues = table_of(hta_of(&mem, HEAD FIVE TAIL), "queues");
	size_t s20 = row_of(queues, "stream", "stream 20");

	/* 120: 1, 160: 0, 200: 1, 400: 0 */
	assert_int_equal(ts_cell_int(queues, s20, "changes"), 4);
	assert_int_equal(ts_cell_int(queues, s20, "max"), 1);
	assert_true(fabs(ts_cell_number(queues, s20, "mean") - 0.5) < 1e-9);
	/* of 0, 0, 1, 1: between the two in the middle, and at 2.25 of 0 to 3 */
	assert_true(fabs(ts_cell_number(queues, s20, "median") - 0.5) < 1e-9);
	assert_true(fabs(ts_cell_number(queues, s20, "p75") - 1) < 1e-9);
	assert_int_equal(ts_cell_int(queues, s20, "queued_ps"), 240 * US);
	assert_true(fabs(ts_cell_number(queues, s20, "time_mean") - 240 / 280.0) < 1e-9);
	memory_run_release(&mem);
}

TEST(kernels_of_the_last_step_are_left_out)
{
	struct memory_run mem;
	const struct ts_result *hta = hta_of(&mem, HEAD STEP("1", "80") STEP("2", "280") FIVE TAIL);

	/* C is launched at 290: A, B, N and M remain, and M runs in the last step all the same */
	assert_field(hta, "kernel_count", 4);
	assert_field(hta, "last_step_kernel_count", 1);
	assert_field(hta, "hta_0_5.compute_time_us", 70);
	assert_field(hta, "hta_0_5.kernel_time_us", 310);
	assert_field(hta, "gpu_idle_pct", 100 * 122 / 330.0); /* from 80 on, every kernel */
	memory_run_release(&mem);
}

/* All times are whole us: HTA's figure differs by the kernel that it leaves out, and the note says so. */
TEST(kernels_without_a_launch_are_why_htas_figures_differ)
{
	struct memory_run mem;
	const struct ts_result *hta =
		hta_of(&mem, HEAD STEP("1", "80") STEP("2", "280")
				     FIVE KERNEL("kernel", "gemm", "7", "180", "20", "77") TAIL);

	assert_field(hta, "unlaunched_kernel_count", 1);
	assert_field(hta, "exact.compute_ps", 90 * US);
	assert_field(hta, "hta_0_5.compute_time_us", 70);
	assert_int_equal(hta->nr_notes, 2);
	assert_true(ts_bytes_has(hta->notes[1], "no launch in the trace"));
	assert_false(ts_bytes_has(hta->notes[0], "shorten") ||
		     ts_bytes_has(hta->notes[1], "shorten"));
	memory_run_release(&mem);
}

TEST(figures_are_exact_and_what_hta_rounds_stands_beside_them)
{
	struct memory_run mem;
	const struct ts_result *hta =
		hta_of(&mem, HEAD KERNEL("kernel", "a", "7", "100.250", "9.500", "1")
				     KERNEL("kernel", "b", "7", "120.000", "10.900", "2") TAIL);

	/* 9.5 + 10.9 of 30.65; HTA: 101-109 and 120-130, of 101 to 130 */
	assert_field(hta, "gpu_idle_time_pct", 100 * 10.25 / 30.65);
	assert_field(hta, "compute_time_pct", 100 * 20.4 / 30.65);
	assert_field(hta, "non_compute_time_pct", 0);
	assert_field(hta, "exact.compute_ps", 20.4 * US);
	assert_field(hta, "exact.kernel_ps", 30.65 * US);
	assert_field(hta, "hta_0_5.gpu_idle_time_pct", 100 * 11 / 29.0);
	assert_field(hta, "hta_0_5.compute_time_us", 18);
	assert_field(hta, "hta_0_5.kernel_time_us", 29);
	memory_run_release(&mem);
}

/* A copy of 0.2 us alone ends for HTA 1 us before it begins: its own assertion stops it. */
TEST(where_hta_stops_its_figures_are_unknown_and_no_share_is_negative)
{
	struct memory_run mem;
	const struct ts_result *hta = hta_of(
		&mem, HEAD KERNEL("kernel", "a", "7", "100.000", "10.000", "1")
			      KERNEL("gpu_memcpy", "Memcpy HtoD", "7", "120.300", "0.200", "2")
				      KERNEL("kernel", "b", "7", "130.000", "10.000", "3") TAIL);

	assert_field(hta, "gpu_idle_time_pct", 100 * 19.8 / 40);
	assert_field(hta, "non_compute_time_pct", 100 * 0.2 / 40);
	assert_field(hta, "memory_time_pct", 100 * 0.2 / 40);
	assert_true(isnan(ts_value_number(ts_result_get(hta, "hta_0_5.kernel_time_us"))));
	assert_true(isnan(ts_value_number(ts_result_get(hta, "hta_0_5.gpu_idle_time_pct"))));
	memory_run_release(&mem);
}

/* HTA cuts where the last mark begins, here the one on the device: its figures are not made. */
TEST(marks_on_devices_move_htas_cut_and_drop_its_figures)
{
	struct memory_run mem;
	const struct ts_result *hta = hta_of(
		&mem, HEAD STEP("1", "80") STEP("2", "280") FIVE KERNEL(
			      "gpu_user_annotation", "ProfilerStep#2", "7", "400", "5", "9") TAIL);

	assert_field(hta, "kernel_count", 4);
	assert_field(hta, "exact.compute_ps", 70 * US);
	assert_true(isnan(ts_value_number(ts_result_get(hta, "hta_0_5.compute_time_us"))));
	memory_run_release(&mem);
}

/* HTA knows names that begin with nccl alone; here it communicates, and in HTA's figures it computes. */
TEST(collectives_of_other_libraries_communicate)
{
	static const char *const names[] = { "multimem_all_reduce_kernel",
					     "vllm::cross_device_reduce_1stage",
					     "nvshmem_put",
					     "rccl_main_kernel",
					     "mscclpp::allreduce6",
					     "two_shot_all_reduce_kernel_inplace" };
	char text[1024];

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		struct memory_run mem;
		const struct ts_result *hta;

		snprintf(text, sizeof(text),
			 HEAD
			 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,"
			 "\"ts\":10,\"dur\":30,\"args\":{\"stream\":7,\"correlation\":1}}," TAIL,
			 names[i]);
		hta = hta_of(&mem, text);
		assert_field(hta, "communication_time_pct", 100);
		assert_field(hta, "compute_time_pct", 0);
		assert_field(hta, "hta_0_5.compute_time_pct", 100);
		assert_true(ts_bytes_is(ts_cell_text(table_of(hta, "top_kernels"), 0, "category"),
					"Communication"));
		assert_true(ts_cell_text(table_of(hta, "top_kernels"), 0, "category_rule").n > 0);
		assert_int_equal(ts_cell_int(table_of(hta, "kernel_categories"), 0, "sum_ps"),
				 30 * US);
		hta = ts_results_find(&mem.run.results, "timeline");
		assert_int_equal(ts_cell_int(table_of(hta, "classes"), 3, "total_ps"), 30 * US);
		memory_run_release(&mem);
	}
}

TEST(a_trace_without_gpus_gets_an_answer)
{
	struct memory_run mem;
	const struct ts_result *hta = hta_of(&mem, HEAD STEP("1", "80") TAIL);

	assert_field(hta, "kernel_count", 0);
	assert_true(isnan(ts_value_number(ts_result_get(hta, "gpu_idle_time_pct"))));
	memory_run_release(&mem);
}

/* --- collectives, ranks, graphs, sequences */

#define NCCL(name, ts, dur, id, args)                                                            \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":20,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{\"stream\":20,\"correlation\":" id args "}},"
#define REDUCES(nelems)                                                          \
	",\"Collective name\":\"allreduce\",\"In msg nelems\":" nelems           \
	",\"Out msg nelems\":" nelems                                            \
	",\"Group size\":4,\"dtype\":\"BFloat16\",\"Process Group Name\":\"0\"," \
	"\"Process Group Ranks\":\"[0, 1, 2, 3]\""

TEST(collectives_say_what_they_send)
{
	struct memory_run mem;
	const struct ts_table *table = table_of(
		hta_of(&mem, HEAD NCCL("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", "100", "40",
				       "1", REDUCES("1000000"))
				     NCCL("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", "200",
					  "60", "2", REDUCES("1000000"))
					     NCCL("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
						  "300", "5", "3", "") TAIL),
		"collectives");
	size_t row = row_of(table, "collective", "allreduce");

	assert_int_equal(table->nr_rows, 2);
	assert_int_equal(ts_cell_int(table, row, "message_bytes"), 2000000);
	assert_int_equal(ts_cell_int(table, row, "count"), 2);
	/* 2 MB in 50 us on average: 40 GB/s; 3/4 of it twice over the links of each of 4 ranks */
	assert_true(fabs(ts_cell_number(table, row, "algorithm_bytes_per_s") - 40e9) < 1e3);
	assert_true(fabs(ts_cell_number(table, row, "bus_bytes_per_s") - 60e9) < 1e3);
	assert_true(fabs(ts_cell_number(table, row, "best_bus_bytes_per_s") - 75e9) < 1e3);
	/* the name stands in for the args of the event; its bytes are unknown */
	row = row_of(table, "collective", "AllReduce");
	assert_true(ts_bytes_is(ts_cell_text(table, row, "dtype"), "Float"));
	assert_int_equal(ts_cell_int(table, row, "message_bytes"), -1);
	memory_run_release(&mem);
}

static void add_rank(struct memory_run *mem, const char *name, const char *text)
{
	struct ts_error err = TS_ERROR_INIT;

	if (memory_run_add_as(mem, CHROME, ts_bytes_of(text), name, &err))
		fail_msg("%s", err.text);
}

#define RANK(n)		"{\"distributedInfo\":{\"rank\":" n ",\"world_size\":3},\"traceEvents\":["
#define REDUCE(ts, dur) NCCL("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", ts, dur, "9", "")

/* The clocks do not agree: only the durations of kernels show which rank came last. */
TEST(the_rank_with_the_shortest_collective_came_last)
{
	struct ts_error err = TS_ERROR_INIT;
	const struct ts_table *late;
	struct memory_run mem;

	memory_run_init(&mem);
	add_rank(&mem, "a", RANK("0") REDUCE("100", "50") REDUCE("300", "30") TAIL);
	add_rank(&mem, "b", RANK("1") REDUCE("700", "10") REDUCE("900", "20") TAIL);
	add_rank(&mem, "c", RANK("2") REDUCE("100", "40") REDUCE("300", "90") TAIL);
	if (memory_run_analyse(&mem, 0, &err))
		fail_msg("%s", err.text);
	late = table_of(ts_results_find(&mem.run.results, "hta"), "stragglers");
	assert_int_equal(late->nr_rows, 3);
	assert_int_equal(ts_cell_int(late, 1, "rank"), 1);
	assert_int_equal(ts_cell_int(late, 1, "last_count"), 2);
	/* the others waited 40 and 30, 10 and 70: 35 and 40 on average; without it 30 and 10
	 * less */
	assert_int_equal(ts_cell_int(late, 1, "caused_ps"), 75 * US);
	assert_int_equal(ts_cell_int(late, 1, "excess_ps"), 40 * US);
	assert_int_equal(ts_cell_int(late, 0, "waited_ps"), 50 * US);
	assert_int_equal(ts_cell_int(late, 2, "waited_ps"), 100 * US);
	memory_run_release(&mem);
}

TEST(ranks_with_other_numbers_of_collectives_are_not_compared)
{
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	add_rank(&mem, "a", RANK("0") REDUCE("100", "50") REDUCE("300", "30") TAIL);
	add_rank(&mem, "b", RANK("1") REDUCE("700", "10") TAIL);
	if (memory_run_analyse(&mem, 0, &err))
		fail_msg("%s", err.text);
	assert_null(ts_result_find_table(ts_results_find(&mem.run.results, "hta"), "stragglers"));
	memory_run_release(&mem);
}

#define OP(name, ts, dur)                                                                       \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur "},"
/* An operator inside another, three launches, the kernels in another order than the launches. */
/* clang-format off */
#define LAYER(a, b, c, i, j, k)                   \
	OP("aten::layer", a "0", "9")             \
	OP("aten::inner", a "1", "7")             \
	LAUNCH("cudaLaunchKernel", a "2", "1", i) \
	LAUNCH("cudaLaunchKernel", a "3", "1", j) \
	LAUNCH("cudaLaunchKernel", a "4", "1", k) \
	KERNEL("kernel", "x", "7", b "0", "5", i) \
	KERNEL("kernel", "y", "7", b "8", "1", k) \
	KERNEL("kernel", "z", "7", c "0", "2", j)
/* clang-format on */

TEST(kernels_of_an_outermost_operator_are_a_sequence)
{
	struct memory_run mem;
	const struct ts_table *table =
		table_of(hta_of(&mem, HEAD LAYER("10", "30", "31", "1", "2", "3")
					      LAYER("12", "40", "41", "4", "5", "6") TAIL),
			 "kernel_sequences");
	const struct ts_list *kernels = ts_cell(table, 0, "kernels").as.list;

	assert_int_equal(table->nr_rows, 1);
	assert_true(ts_bytes_is(ts_cell_text(table, 0, "operator"), "aten::layer"));
	assert_int_equal(ts_cell_int(table, 0, "count"), 2);
	assert_int_equal(ts_cell_int(table, 0, "missed"), 0);
	assert_int_equal(ts_cell_int(table, 0, "gpu_ps"), 16 * US);
	assert_int_equal(ts_cell_int(table, 0, "cpu_ps"), 18 * US);
	assert_int_equal(kernels->nr, 3);
	assert_true(ts_bytes_is(kernels->items[1].as.s, "y"));
	memory_run_release(&mem);
}

TEST(a_graphs_launch_has_all_its_kernels)
{
	struct memory_run mem;
	const struct ts_result *hta = hta_of(
		&mem,
		HEAD STEP("1", "80") STEP("2", "500") LAUNCH("cudaGraphLaunch", "90", "5", "1")
			KERNEL("kernel", "x", "7", "100", "5", "1")
				KERNEL("kernel", "y", "7", "106", "5", "1")
					KERNEL("kernel", "z", "7", "112", "5", "1") TAIL);

	assert_field(hta, "kernel_count", 3);
	assert_field(hta, "unlaunched_kernel_count", 0);
	assert_field(hta, "hta_0_5.compute_time_us", 15);
	memory_run_release(&mem);
}

/* --- the doctor */

static const struct ts_finding *finding_in(struct memory_run *mem, const char *rule)
{
	return finding_of(ts_results_find(&mem->run.results, "doctor"), rule);
}

/* Two gaps of 5 us between short kernels that were launched before: 10 of 34 us, and 24 in them. */
TEST(gaps_between_launched_kernels_and_short_ones_are_findings)
{
	struct memory_run mem;
	const struct ts_finding *gaps, *brief;

	hta_of(&mem, HEAD OP("aten::x", "10", "50") LAUNCH("cudaLaunchKernel", "11", "2", "1")
			     LAUNCH("cudaLaunchKernel", "14", "2",
				    "2") LAUNCH("cudaLaunchKernel", "17", "9",
						"3") KERNEL("kernel", "x", "7", "100", "8", "1")
				     KERNEL("kernel", "y", "7", "113", "8", "2")
					     KERNEL("kernel", "z", "7", "126", "8", "3") TAIL);
	gaps = finding_in(&mem, "kernel_gaps");
	brief = finding_in(&mem, "short_kernels");
	assert_non_null(gaps);
	assert_int_equal(gaps->impact_ps, 10 * US);
	assert_true(ts_bytes_has(gaps->code, "torch"));
	assert_non_null(brief);
	assert_int_equal(brief->impact_ps, 24 * US);
	assert_true(ts_bytes_has(brief->evidence, "1 were over sooner"));
	assert_null(finding_in(&mem, "launch_queue"));
	memory_run_release(&mem);
}

/* A queue of two is full when the limit says so; one that passes the limit by far is not bounded
 * by it. */
TEST(a_queue_at_its_limit_is_a_finding)
{
	static const char text[] = HEAD LAUNCH("cudaLaunchKernel", "10", "1", "1")
		LAUNCH("cudaLaunchKernel", "12", "1", "2")
			LAUNCH("cudaLaunchKernel", "60", "1", "3")
				KERNEL("kernel", "x", "7", "50", "40", "1")
					KERNEL("kernel", "x", "7", "90", "40", "2")
						KERNEL("kernel", "x", "7", "130", "40", "3") TAIL;
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	mem.settings.launch_queue_full = 2;
	if (memory_run_add_as(&mem, CHROME, ts_bytes_of(text), "trace", &err) ||
	    memory_run_analyse(&mem, 0, &err))
		fail_msg("%s", err.text);
	/* 12 to 50 and 60 to 90, of 10 to 130 */
	assert_non_null(finding_in(&mem, "launch_queue"));
	assert_int_equal(finding_in(&mem, "launch_queue")->impact_ps, -1);
	assert_int_equal(ts_cell_int(table_of(ts_results_find(&mem.run.results, "hta"), "queues"),
				     0, "full_ps"),
			 68 * US);
	memory_run_release(&mem);
}

/* What was merged into a finding; NULL: it was not. */
static const struct ts_merged *merged_in(const struct ts_finding *finding, const char *rule)
{
	for (size_t i = 0; finding && i < finding->nr_merged; i++)
		if (strcmp(finding->merged[i].rule, rule) == 0)
			return &finding->merged[i];
	return NULL;
}

/* Why it comes late nothing says but that it had nothing to run: it shows in that finding. */
TEST(a_rank_that_comes_late_is_a_finding)
{
	struct ts_error err = TS_ERROR_INIT;
	const struct ts_merged *late;
	struct memory_run mem;

	memory_run_init(&mem);
	add_rank(&mem, "a", RANK("0") REDUCE("100", "50") REDUCE("300", "50") TAIL);
	add_rank(&mem, "b", RANK("1") REDUCE("700", "10") REDUCE("900", "10") TAIL);
	add_rank(&mem, "c", RANK("2") REDUCE("100", "40") REDUCE("300", "60") TAIL);
	if (memory_run_analyse(&mem, 0, &err))
		fail_msg("%s", err.text);
	late = merged_in(finding_in(&mem, "idle"), "late_rank");
	assert_non_null(late);
	assert_true(ts_bytes_starts(late->title, "Rank 1 is a straggler"));
	assert_int_equal(late->impact_ps, 2 * (30 + 40) * US); /* of two others */
	memory_run_release(&mem);
}

#define MARK(n, ts, dur)                                                                           \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" n                       \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur "},"
/* clang-format off: it does not settle on a row of macros */
#define FOUR_STEPS(third_dur, fourth_ts)                                                   \
	HEAD MARK("1", "0", "100") MARK("2", "100", "100") MARK("3", "200", "300")         \
	MARK("4", "500", "100")                                                            \
	LAUNCH("cudaLaunchKernel", "10", "5", "1") LAUNCH("cudaLaunchKernel", "110", "5", "2") \
	LAUNCH("cudaLaunchKernel", "210", "5", "3") LAUNCH("cudaLaunchKernel", "510", "5", "4") \
	KERNEL("kernel", "gemm", "7", "20", "280", "1")                                    \
	KERNEL("kernel", "gemm", "7", "300", "300", "2")                                   \
	KERNEL("kernel", "gemm", "7", "600", third_dur, "3")                               \
	KERNEL("kernel", "gemm", "7", fourth_ts, "300", "4") TAIL
/* clang-format on */

/* The host waits in the third step, whose mark is three times as long; all steps have 300 us of work. */
TEST(a_step_in_which_only_the_host_waits_is_not_slow)
{
	struct memory_run mem;

	hta_of(&mem, FOUR_STEPS("300", "900"));
	assert_null(finding_in(&mem, "slow_steps"));
	memory_run_release(&mem);
}

/* 300, 300, 500 and 300 us of work; of the marks' 100, 100, 300 and 100 the median is 100. */
TEST(a_step_with_more_work_is_slow)
{
	const struct ts_finding *finding;
	struct memory_run mem;

	hta_of(&mem, FOUR_STEPS("500", "1100"));
	finding = finding_in(&mem, "slow_steps");
	assert_non_null(finding);
	assert_true(ts_bytes_starts(finding->title, "1 of 4 steps takes"));
	assert_true(ts_bytes_has(finding->evidence,
				 "is 300 \u00b5s; of the host's marks it is 100 \u00b5s"));
	assert_true(ts_bytes_has(finding->evidence, "Step 3 takes 200 \u00b5s more"));
	assert_int_equal(finding->impact_ps, 200 * US);
	memory_run_release(&mem);
}
