/* SPDX-License-Identifier: MIT */
/* Kernels of small traces and profiles, counted by hand. Times are in us. */
#include "tests/analysis/given.h"

#define CHROME memory_run_reader("chrome")

static void put(struct ts_buf *text, const char *category, const char *name, const char *place,
		const char *args)
{
	ts_buf_printf(text, "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",%s,\"args\":{%s}}",
		      text->n ? "," : "{\"traceEvents\":[", category, name, place, args);
}

static void analyse_trace(struct given *given)
{
	struct ts_error err = TS_ERROR_INIT;

	ts_buf_puts(&given->bytes, "]}");
	assert_false(given->bytes.failed);
	if (memory_run_add_as(&given->mem, CHROME, ts_buf_bytes(&given->bytes), "host", &err) ||
	    memory_run_analyse(&given->mem, 0, &err))
		fail_msg("%s", err.text);
}

static struct ts_value kernel(struct given *given, size_t row, const char *column)
{
	return cell(given, "kernels", "kernels", row, column);
}

static struct given *given_launches(void)
{
	struct given *given = given_nothing();
	struct ts_buf *text = &given->bytes;

	put(text, "cpu_op", "aten::linear", "\"pid\":9,\"tid\":9,\"ts\":0,\"dur\":50", "");
	put(text, "cpu_op", "aten::addmm", "\"pid\":9,\"tid\":9,\"ts\":5,\"dur\":20", "");
	put(text, "cuda_runtime", "cudaLaunchKernel", "\"pid\":9,\"tid\":9,\"ts\":10,\"dur\":2",
	    "\"correlation\":1");
	put(text, "cuda_runtime", "cudaLaunchKernel", "\"pid\":9,\"tid\":9,\"ts\":30,\"dur\":2",
	    "\"correlation\":2");
	put(text, "cuda_runtime", "cudaLaunchKernel", "\"pid\":9,\"tid\":9,\"ts\":60,\"dur\":2",
	    "\"correlation\":3");
	put(text, "cuda_runtime", "cudaMemcpyAsync", "\"pid\":9,\"tid\":9,\"ts\":70,\"dur\":2",
	    "\"correlation\":4");
	put(text, "kernel", "ampere_s16816gemm", "\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":10",
	    "\"correlation\":1,\"grid\":[4, 1, 1],\"est. achieved occupancy %\":20");
	put(text, "kernel", "ampere_s16816gemm", "\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":30",
	    "\"correlation\":2,\"grid\":[8, 2, 1],\"block\":[128, 1, 1],"
	    "\"registers per thread\":90,\"shared memory\":49152,"
	    "\"est. achieved occupancy %\":60");
	put(text, "kernel", "ampere_s16816gemm", "\"pid\":0,\"tid\":7,\"ts\":80,\"dur\":20",
	    "\"correlation\":3");
	put(text, "gpu_memcpy", "Memcpy HtoD", "\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":10",
	    "\"correlation\":4,\"bytes\":5000");
	analyse_trace(given);
	return given;
}

TEST(times_are_summed_by_kernel)
{
	struct given *given = given_launches();

	assert_int_equal(nr_rows(given, "kernels", "kernels"), 2);
	assert_text(kernel(given, 0, "name"), "ampere_s16816gemm");
	assert_text(kernel(given, 0, "kernel_type"), "COMPUTATION");
	assert_text(kernel(given, 0, "class"), "Kernel");
	assert_int_equal(ts_value_int(kernel(given, 0, "count")), 3);
	assert_int_equal(ts_value_int(kernel(given, 0, "total_ps")), 60 * US);
	assert_int_equal(ts_value_int(kernel(given, 0, "mean_ps")), 20 * US);
	assert_int_equal(ts_value_int(kernel(given, 0, "min_ps")), 10 * US);
	assert_int_equal(ts_value_int(kernel(given, 0, "max_ps")), 30 * US);
	assert_int_equal(ts_value_int(kernel(given, 0, "stddev_ps")), 10 * US);
	assert_near(kernel(given, 0, "share_pct"), 100 * 60.0 / 70, 1e-9);
	assert_near(field(given, "kernels", "cuda_time_ms"), 0.07, 1e-12);
	done(given);
}

/* Not the copy: 60 us of three kernels, and not 70 of four. */
TEST(a_kernels_duration_is_the_mean_of_kernels_alone)
{
	struct given *given = given_launches();
	size_t row = 0;

	while (!ts_bytes_is(cell(given, "doctor", "kpis", row, "name").as.s, "kernel_duration"))
		row++;
	assert_near(cell(given, "doctor", "kpis", row, "value"), 0.02, 1e-12);
	done(given);
}

/* The device that the trace names, which is the first one of the run. */
TEST(a_kernel_has_its_devices_own_number)
{
	struct given *given = given_nothing();

	put(&given->bytes, "kernel", "relu", "\"pid\":3,\"tid\":7,\"ts\":20,\"dur\":10",
	    "\"device\":3,\"stream\":7,\"correlation\":1");
	analyse_trace(given);
	assert_int_equal(ts_value_int(kernel(given, 0, "device_id")), 3);
	assert_text(kernel(given, 0, "device"), "/device:GPU:3");
	done(given);
}

/* Kineto's 0 is not a measurement. */
TEST(an_occupancy_of_0_is_unknown)
{
	struct given *given = given_nothing();

	put(&given->bytes, "kernel", "gemm", "\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":30",
	    "\"correlation\":1,\"est. achieved occupancy %\":0");
	put(&given->bytes, "kernel", "relu", "\"pid\":0,\"tid\":7,\"ts\":60,\"dur\":10",
	    "\"correlation\":2,\"est. achieved occupancy %\":40");
	analyse_trace(given);
	assert_int_equal(kernel(given, 0, "occupancy_pct").type, TS_VALUE_NULL);
	assert_near(field(given, "kernels", "gpu.occupancy_pct"), 40, 1e-9);
	done(given);
}

/* One copy does not have a deviation. */
TEST(copies_have_bytes_and_a_rate)
{
	struct given *given = given_launches();

	assert_text(kernel(given, 1, "class"), "Memcpy");
	assert_text(kernel(given, 1, "kernel_type"), "MEMORY");
	assert_int_equal(ts_value_int(kernel(given, 1, "bytes")), 5000);
	assert_near(kernel(given, 1, "bytes_per_s"), 5e8, 1);
	assert_int_equal(kernel(given, 1, "stddev_ps").type, TS_VALUE_NULL);
	assert_int_equal(kernel(given, 1, "tensor_core").type, TS_VALUE_NULL);
	assert_int_equal(kernel(given, 0, "bytes").type, TS_VALUE_NULL);
	done(given);
}

/* (10 x 20 + 30 x 60) / 40: the third launch does not have it. The shape is the longest one's. */
TEST(launches_have_an_occupancy_and_a_shape)
{
	struct given *given = given_launches();

	assert_near(kernel(given, 0, "occupancy_pct"), 50, 1e-9);
	assert_near(field(given, "kernels", "gpu.occupancy_pct"), 50, 1e-9);
	assert_text(kernel(given, 0, "grid"), "8,2,1");
	assert_text(kernel(given, 0, "block"), "128,1,1");
	assert_int_equal(ts_value_int(kernel(given, 0, "registers_per_thread")), 90);
	assert_int_equal(ts_value_int(kernel(given, 0, "shared_memory_bytes")), 49152);
	assert_true(kernel(given, 0, "tensor_core").as.b);
	assert_near(field(given, "kernels", "gpu.tensor_core_pct"), 100, 1e-9);
	done(given);
}

/* The first launch is inside both operators, the second behind the inner one, the third outside
 * of both. */
TEST(a_kernel_is_launched_by_the_innermost_operator)
{
	struct given *given = given_launches();
	const struct ts_list *ops = kernel(given, 0, "ops").as.list;

	assert_text(kernel(given, 0, "op"), "aten::linear");
	assert_int_equal(ts_value_int(kernel(given, 0, "op_count")), 2);
	assert_int_equal(ops->nr, 2);
	assert_text(ops->items[0], "aten::linear");
	assert_int_equal(ops->items[1].as.i, 1);
	assert_int_equal(ops->items[2].as.i, 30 * US);
	assert_text(ops->items[3], "aten::addmm");
	assert_int_equal(kernel(given, 1, "op").type, TS_VALUE_NULL);
	done(given);
}

/* More different args than the reader keeps: the rest is found in the text. */
/* The memory view has what the copies say: bytes from the host, and none to it, which is not 0. */
TEST(copies_between_device_and_host_are_summed_by_their_way)
{
	static const struct {
		const char *name;
		int bytes;
	} copies[] = { { "Memcpy HtoD (Pinned -> Device)", 5000 },
		       { "MemcpyH2D", 700 },
		       { "Memcpy DtoD (Device -> Device)", 90 } };
	struct given *given = given_nothing();
	struct ts_value to_host;

	for (size_t i = 0; i < TS_NELEM(copies); i++) {
		char place[96], args[64];

		snprintf(place, sizeof(place), "\"pid\":0,\"tid\":7,\"ts\":%zu,\"dur\":1", 2 * i);
		snprintf(args, sizeof(args), "\"bytes\":%d", copies[i].bytes);
		put(&given->bytes, "gpu_memcpy", copies[i].name, place, args);
	}
	analyse_trace(given);
	assert_near(field(given, "memory", "from_host_bytes"), 5700, 1e-9);
	to_host = ts_result_get(view(given, "memory"), "to_host_bytes");
	assert_int_equal(to_host.type, TS_VALUE_NULL);
	done(given);
}

TEST(bytes_are_whole_however_many_sizes_there_are)
{
	enum { NR = 20000 };
	struct given *given = given_nothing();
	char place[96], args[64];

	for (int i = 0; i < NR; i++) {
		snprintf(place, sizeof(place), "\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":1", 2 * i);
		snprintf(args, sizeof(args), "\"bytes\":%d", i + 1);
		put(&given->bytes, "gpu_memcpy", "Memcpy DtoD", place, args);
	}
	analyse_trace(given);
	assert_int_equal(ts_value_int(kernel(given, 0, "bytes")), (int64_t)NR * (NR + 1) / 2);
	done(given);
}

/* XLA's ops launch two kernels for one op: each has its row, and both the op. */
TEST(kernels_of_one_op_have_a_row_each)
{
	static const char details[] = "regs:32 static_shared:1000 dynamic_shared:24 grid:16,2,1 "
				      "block:512,1,1 occ_pct:50.5";
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/device:GPU:0");

	xp_name(&xp, 1, "im2col.kd");
	xp_name(&xp, 2, "gemm.kd");
	xp_line(&xp, "Stream #1(Compute)", 0);
	for (int i = 0; i < 4; i++) {
		size_t mark = xp_begin_event(&xp, 1 + i % 2, i * 100 * US, (1 + i) * US);

		xp_stat_text(&xp, XP_EVENT_STATS, "hlo_op", "conv.1");
		xp_stat_text(&xp, XP_EVENT_STATS, "hlo_module", "jit_f");
		xp_stat_int(&xp, XP_EVENT_STATS, "program_id", 5);
		xp_stat_text(&xp, XP_EVENT_STATS, "kernel_details", details);
		ts_pbw_end(xp.out, mark);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "kernels", "kernels"), 2);
	assert_text(kernel(given, 0, "name"), "gemm.kd");
	assert_int_equal(ts_value_int(kernel(given, 0, "total_ps")), 6 * US);
	assert_text(kernel(given, 1, "name"), "im2col.kd");
	assert_int_equal(ts_value_int(kernel(given, 1, "total_ps")), 4 * US);
	assert_text(kernel(given, 0, "grid"), "16,2,1");
	assert_int_equal(ts_value_int(kernel(given, 0, "shared_memory_bytes")), 1024);
	assert_int_equal(ts_value_int(kernel(given, 0, "registers_per_thread")), 32);
	assert_near(kernel(given, 0, "occupancy_pct"), 50, 0.6);
	done(given);
}
