/* SPDX-License-Identifier: MIT */
/*
 * Compiled code by traces written by hand in the form of PyTorch's profiler; the numbers expected were
 * counted on the drawing. What PyTorch itself says of real traces is held against the report by
 * tests/truth/torch_compile.py.
 */
#include "tests/analysis/given.h"

#define HOST "\"ph\":\"X\",\"pid\":1,\"tid\":1"
#define REGION(id, ts, dur)                                                                   \
	"{" HOST ",\"cat\":\"cpu_op\",\"name\":\"Torch-Compiled Region: " id "\",\"ts\":" #ts \
	",\"dur\":" #dur "},"
#define OP(name, ts, dur) \
	"{" HOST ",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur "},"
#define NOTE(name, ts, dur)                                                                        \
	"{" HOST ",\"cat\":\"user_annotation\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
	"},"
#define FRAME(name, ts, dur)                                                                       \
	"{" HOST ",\"cat\":\"python_function\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
	"},"
#define LAUNCH(name, ts, dur, link)                                                             \
	"{" HOST ",\"cat\":\"cuda_runtime\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
	",\"args\":{\"correlation\":" #link "}},"
#define KERNEL(name, ts, dur, link)                                                              \
	"{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":" #ts \
	",\"dur\":" #dur ",\"args\":{\"device\":0,\"stream\":7,"                                 \
	"\"correlation\":" #link "}},"
#define TRACE(events)                                                                     \
	"{\"schemaVersion\":1,\"traceEvents\":[" events                                   \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":" \
	"\"python\"}}]}"

static struct given *given_trace(const char *text)
{
	struct given *given = given_nothing();
	struct ts_error err = TS_ERROR_INIT;

	ts_buf_puts(&given->bytes, text);
	if (memory_run_add_as(&given->mem, memory_run_reader("chrome"), ts_buf_bytes(&given->bytes),
			      "host", &err) ||
	    memory_run_analyse(&given->mem, 0, &err))
		fail_msg("%s", err.text);
	return given;
}

static void assert_number(struct given *given, const char *what, double number)
{
	double is = ts_value_number(field(given, "compile", what));

	if (isnan(number) ? !isnan(is) : !(fabs(is - number) <= 1e-9))
		fail_msg("%s is %g, not %g", what, is, number);
}

static struct ts_value of(struct given *given, const char *table, size_t row, const char *column)
{
	return cell(given, "compile", table, row, column);
}

static void assert_cell_us(struct given *given, const char *table, size_t row, const char *column,
			   int64_t us)
{
	int64_t is = ts_value_int(of(given, table, row, column));

	if (is != us * US)
		fail_msg("%s[%zu].%s is %lld ps, not %lld us", table, row, column, (long long)is,
			 (long long)us);
}

/* A trace of generated kernels alone has something of a compiler. */
TEST(generated_kernels_are_something_of_a_compiler)
{
	struct given *given = given_trace(TRACE(LAUNCH("cudaLaunchKernel", 5, 2, 1) KERNEL(
		"triton_poi_fused_add_relu_0", 10, 5, 1) KERNEL("gemm", 20, 5, 2)));
	const struct ts_result *compile = ts_results_find(&given->mem.run.results, "compile");

	assert_int_equal(compile->nr_notes, 1);
	assert_true(ts_bytes_has(compile->notes[0], "Inductor generated"));
	assert_false(ts_bytes_has(compile->notes[0], "nothing of a compiler"));
	done(given);
}

TEST(a_region_inside_another_is_a_graph_break)
{
	struct given *given = given_trace(TRACE(
		REGION("0/0", 0, 100) REGION("1/0", 40, 50) REGION("2/0", 60, 20)
			REGION("0/0", 200, 90) REGION("1/0", 230, 40) REGION("2/0", 240, 20)));

	assert_number(given, "graph_breaks", 2);
	assert_number(given, "region_calls", 6);
	assert_number(given, "recompilations", 0);
	assert_number(given, "compile_time_ms", NAN);
	assert_int_equal(nr_rows(given, "compile", "regions"), 3);
	assert_text(of(given, "regions", 0, "compile_id"), "0/0");
	assert_cell_us(given, "regions", 0, "time_ps", 190);
	assert_cell_us(given, "regions", 0, "self_time_ps", 100);
	assert_text(of(given, "regions", 1, "compile_id"), "1/0");
	assert_cell_us(given, "regions", 1, "self_time_ps", 50);
	assert_int_equal(nr_rows(given, "compile", "graph_break_places"), 2);
	assert_int_equal(ts_value_int(of(given, "graph_break_places", 0, "count")), 2);
	done(given);
}

TEST(another_compilation_of_a_frame_is_no_further_break)
{
	struct given *given = given_trace(TRACE(REGION("0/0", 0, 100) REGION("1/0", 40, 50) REGION(
		"0/1", 200, 90) REGION("1/1", 230, 40)));

	assert_number(given, "graph_breaks", 1);
	assert_number(given, "recompilations", 2);
	assert_int_equal(nr_rows(given, "compile", "recompiles"), 2);
	assert_text(of(given, "recompiles", 0, "compile_id"), "0/1");
	done(given);
}

TEST(regions_one_after_the_other_are_no_break)
{
	struct given *given =
		given_trace(TRACE(REGION("0/0", 0, 10) REGION("1/0", 10, 10) REGION("2/0", 30, 5)));

	assert_number(given, "graph_breaks", 0);
	assert_int_equal(nr_rows(given, "compile", "graph_break_places"), 0);
	done(given);
}

TEST(without_ids_the_regions_of_one_call_are_counted)
{
	struct given *given = given_trace(TRACE(
		OP("Torch-Compiled Region", 0, 100) OP("Torch-Compiled Region", 10, 50)
			OP("Torch-Compiled Region", 20, 10) OP("Torch-Compiled Region", 70, 10)
				OP("Torch-Compiled Region", 200, 10)));

	assert_number(given, "graph_breaks", 3);
	assert_number(given, "recompilations", NAN);
	done(given);
}

TEST(the_frame_inside_a_region_names_it)
{
	struct given *given = given_trace(
		TRACE(REGION("0/0", 0, 100) FRAME("train.py(12): forward", 1, 98) FRAME(
			"torch/_dynamo/utils.py(6122): record_pregraph_bytecode_enter", 2,
			5) REGION("1/0", 40, 50)
			      FRAME("train.py(12): torch_dynamo_resume_in_forward_at_17", 41, 48)));

	assert_text(of(given, "regions", 0, "function"), "forward");
	assert_text(of(given, "regions", 0, "source"), "train.py:12");
	assert_text(of(given, "graph_break_places", 0, "source"), "train.py:17");
	assert_text(of(given, "graph_break_places", 0, "function"), "forward");
	done(given);
}

/* dynamo > entire_frame_compile > compile_inner > ..., each with its annotation. */
TEST(time_in_the_compiler_is_counted_once)
{
	struct given *given = given_trace(TRACE(
		OP("dynamo", 0, 1000) NOTE("dynamo_data: compile_id=0/0", 1, 1) OP(
			"entire_frame_compile", 10,
			900) OP("_compile.compile_inner (dynamo_timed)", 11,
				890) OP("compile_attempt_0 (dynamo_timed)", 20,
					100) OP("compile_attempt_1 (dynamo_timed)", 130,
						700) OP("compile_fx_inner (dynamo_timed)", 200, 500)
			REGION("0/0", 1010, 2000) OP("dynamo", 1100, 800) NOTE(
				"dynamo_data: compile_id=1/0", 1101, 1) REGION("1/0", 2000, 500)
				OP("compile_fx.<locals>.bw_compiler (dynamo_timed)", 4000, 300)
					NOTE("backward_data: compile_id=0/0, is_backward=True",
					     4001, 1)));

	assert_number(given, "compile_time_ms", 2.1);
	assert_number(given, "compiled_graphs", 2);
	assert_text(of(given, "regions", 0, "compile_id"), "0/0");
	assert_cell_us(given, "regions", 0, "compile_ps", 1300);
	assert_int_equal(ts_value_int(of(given, "regions", 0, "restarts")), 1);
	assert_cell_us(given, "regions", 0, "self_time_ps", 2000 - 800 - 500);
	assert_cell_us(given, "regions", 1, "compile_ps", 800);
	assert_text(of(given, "phases", 0, "phase"), "compile_fx_inner");
	assert_cell_us(given, "phases", 0, "self_time_ps", 500);
	done(given);
}

TEST(kernels_of_a_gpu_tell_what_was_fused)
{
	struct given *given = given_trace(TRACE(
		REGION("0/0", 0, 100) LAUNCH("cuLaunchKernel", 10, 5, 1) LAUNCH(
			"cudaLaunchKernel", 20, 5, 2) LAUNCH("cudaLaunchKernel", 30, 5, 3)
			LAUNCH("cudaMemcpyAsync", 40, 5, 4) LAUNCH("cudaLaunchKernel", 50, 5, 5)
				KERNEL("triton_poi_fused_add_mul_relu_0", 20, 10,
				       1) KERNEL("triton_poi_fused_add_mul_relu_0", 40, 10,
						 2) KERNEL("ampere_sgemm_128x64_tn", 60, 20, 3)
					KERNEL("ncclKernel_AllReduce_RING", 90, 20,
					       5) "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"cat\":\"gpu_"
						  "memcpy\",\"name\":\"Memcpy HtoD\","
						  "\"ts\":80,\"dur\":5,\"args\":{\"device\":0,"
						  "\"stream\":7,\"correlation\":4}},"));

	assert_number(given, "ops_before_fusion", 7);
	assert_number(given, "ops_after_fusion", 3);
	assert_number(given, "fusion_ratio", 7.0 / 3);
	assert_number(given, "cuda_graph_launches", 0);
	assert_number(given, "kernel_launches", 4);
	assert_int_equal(nr_rows(given, "compile", "fused_kernels"), 1);
	assert_text(of(given, "fused_kernels", 0, "kind"), "pointwise");
	assert_cell_us(given, "fused_kernels", 0, "time_ps", 20);
	done(given);
}

#define CALL(name, ts, dur, sequence)                                                     \
	"{" HOST ",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
	",\"args\":{\"Sequence number\":" #sequence "}},"

/* Kernels run long after their launches, and the backward graph on its own. */
TEST(a_region_has_the_device_time_of_its_kernels)
{
	struct given *given = given_trace(TRACE(
		REGION("0/0", 0, 100) CALL("CompiledFunction", 5, 80, 41) LAUNCH("cudaLaunchKernel",
										 10, 5, 1)
			REGION("1/0", 60, 20) LAUNCH("cudaGraphLaunch", 65, 5, 2) LAUNCH(
				"cudaLaunchKernel", 85, 5, 3) LAUNCH("cudaLaunchKernel", 120, 5, 4)
				CALL("CompiledFunctionBackward", 200,
				     50, 41) LAUNCH("cudaLaunchKernel", 210, 5,
						    5) CALL("CompiledFunctionBackward", 300, 50, 99)
					LAUNCH("cudaLaunchKernel", 310,
					       5, 6) KERNEL("a", 500, 10, 1) KERNEL("b", 510, 20, 2)
						KERNEL("b", 530, 20, 2) KERNEL("c", 550, 40, 3)
							KERNEL("d", 590, 80, 4)
								KERNEL("e", 670, 160, 5)
									KERNEL("f", 830, 320, 6)));

	assert_text(of(given, "regions", 0, "compile_id"), "0/0");
	assert_cell_us(given, "regions", 0, "device_time_ps", 10 + 40 + 160);
	assert_cell_us(given, "regions", 0, "backward_device_time_ps", 160);
	assert_int_equal(ts_value_int(of(given, "regions", 0, "kernels")), 3);
	assert_cell_us(given, "regions", 1, "device_time_ps", 40);
	assert_number(given, "compiled_device_time_ps", 250.0 * (double)US);
	assert_number(given, "compiled_device_time_pct", 100.0 * 250 / 650);
	done(given);
}

TEST(the_doctor_tells_of_breaks_and_recompilations)
{
	struct given *given = given_trace(
		TRACE(REGION("0/0", 0, 100) REGION("1/0", 40, 50) REGION("0/2", 200, 90)));
	const struct ts_finding *breaks = finding_by(given, "torch_graph_breaks");
	const struct ts_finding *again = finding_by(given, "torch_recompilations");

	assert_non_null(breaks);
	assert_true(ts_bytes_starts(breaks->title, "1 graph break in"));
	assert_int_equal(breaks->impact_ps, -1);
	assert_non_null(again);
	assert_true(ts_bytes_has(again->title, "2 times"));
	done(given);
}

/* N kernels of 2 us, 10 us apart. */
static struct given *given_short_kernels(int nr, const char *name, const char *call)
{
	struct ts_buf text = TS_BUF_INIT;
	struct given *given;

	ts_buf_puts(&text, "{\"traceEvents\":[");
	for (int i = 0; i < nr; i++)
		ts_buf_printf(&text,
			      "{" HOST ",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"ts\":%d,"
			      "\"dur\":3,\"args\":{\"correlation\":%d}},{\"ph\":\"X\",\"pid\":0,"
			      "\"tid\":7,\"cat\":\"kernel\",\"name\":\"%s\",\"ts\":%d,\"dur\":2,"
			      "\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}},",
			      call, 10 * i, i + 1, name, 10 * i + 5, i + 1);
	ts_buf_puts(&text, "{}]}");
	ts_buf_putc(&text, '\0');
	given = given_trace((const char *)text.p);
	ts_buf_release(&text);
	return given;
}

TEST(many_short_kernels_without_a_cuda_graph_are_told)
{
	struct given *many = given_short_kernels(1200, "ampere_sgemm", "cudaLaunchKernel");
	struct given *few = given_short_kernels(800, "ampere_sgemm", "cudaLaunchKernel");
	struct given *graphs = given_short_kernels(1200, "ampere_sgemm", "cudaGraphLaunch");
	const struct ts_finding *finding = finding_by(many, "torch_cuda_graphs");

	assert_non_null(finding);
	assert_int_equal(finding->impact_ps,
			 ts_value_int(field(many, "time", "buckets.idle_ps")) +
				 ts_value_int(field(many, "time", "buckets.launch_ps")));
	assert_null(finding_by(many, "torch_unfused"));
	assert_null(finding_by(few, "torch_cuda_graphs"));
	assert_null(finding_by(graphs, "torch_cuda_graphs"));
	done(many);
	done(few);
	done(graphs);
}

TEST(kernels_of_one_op_each_are_told_with_their_time)
{
	struct given *given = given_short_kernels(
		50, "void at::native::vectorized_elementwise_kernel<4, relu>", "cudaLaunchKernel");
	const struct ts_finding *finding = finding_by(given, "torch_unfused");

	assert_non_null(finding);
	assert_true(finding->impact_ps == 100 * US);
	assert_number(given, "fusion_ratio", 1);
	assert_int_equal(field(given, "compile", "compiler").type, TS_VALUE_NULL);
	done(given);
}

/* Its compiler is no wait for an executable of JAX's. */
TEST(pytorchs_compiler_is_compilation_to_the_time_but_not_to_the_cache)
{
	struct given *given = given_trace(TRACE(
		OP("dynamo", 100, 800) OP("backend_compile", 200, 500)
			NOTE("backend_compile_data: fn_name=f, compile_id=0/0", 201, 1) LAUNCH(
				"cudaLaunchKernel", 10, 5, 1) LAUNCH("cudaLaunchKernel", 950, 5, 2)
				KERNEL("a", 20, 80, 1) KERNEL("b", 1000, 100, 2)));

	assert_us(given, "time", "buckets.compilation_ps", 800);
	assert_int_equal(ts_value_int(field(given, "cache", "compilation_count")), 0);
	done(given);
}

TEST(on_a_cpu_generated_code_and_library_calls_are_kernels)
{
	struct given *given = given_trace(TRACE(NOTE("## Call CompiledFxGraph f1 ##", 0, 100) OP(
		"aten::addmm", 10, 20) OP("aten::copy_", 12, 5) OP("aten::empty_strided", 35, 2)
							OP("graph_0_cpp_fused_add_relu_0", 40, 10)
								OP("aten::sum", 200, 10)));

	assert_number(given, "ops_before_fusion", 3);
	assert_number(given, "ops_after_fusion", 2);
	done(given);
}

TEST(a_cpu_that_was_not_asked_for_its_kernels_leaves_fusion_unknown)
{
	struct given *given = given_trace(TRACE(REGION("0/0", 0, 100)));

	assert_number(given, "fusion_ratio", NAN);
	assert_number(given, "ops_after_fusion", NAN);
	assert_number(given, "cuda_graph_launches", NAN);
	done(given);
}

TEST(a_trace_without_a_compiler_says_nothing_of_one)
{
	struct given *given = given_trace(TRACE(OP("aten::add", 0, 10)));

	assert_int_equal(field(given, "compile", "compiler").type, TS_VALUE_NULL);
	assert_int_equal(field(given, "compile", "graph_breaks").type, TS_VALUE_NULL);
	done(given);
}

/* More pieces than are kept wait inside one event that is no region: nothing is lost but nesting. */
TEST(many_regions_in_one_step_are_all_counted)
{
	struct ts_buf text = TS_BUF_INIT;
	struct given *given;

	ts_buf_puts(&text, "{\"traceEvents\":[" OP("step", 0, 1000000));
	for (int i = 0; i < 5000; i++)
		ts_buf_printf(&text,
			      "{" HOST ",\"cat\":\"cpu_op\",\"name\":\"Torch-Compiled Region: "
			      "0/0\",\"ts\":%d,\"dur\":10},",
			      10 + 20 * i);
	ts_buf_puts(&text, OP("dynamo", 900000, 5) "{}]}");
	ts_buf_putc(&text, '\0');
	given = given_trace((const char *)text.p);
	assert_number(given, "region_calls", 5000);
	assert_number(given, "graph_breaks", 0);
	assert_cell_us(given, "regions", 0, "time_ps", 50000);
	assert_number(given, "compile_time_ms", 0.005);
	done(given);
	ts_buf_release(&text);
}
