/* SPDX-License-Identifier: MIT */
/* Operators by name and by shapes, of small traces that were counted by hand: times in us. */
#include "analysis/gpu/operators.h"
#include "base/units.h"
#include "tests/run/memory_run.h"
#include "tests/test.h"

#define US TS_PS_PER_US

struct event {
	const char *category, *name;
	int pid, start, dur, link; /* 0: none */
	const char *dims;
};

/* DEVICES: members of the file in front of its events. */
static const struct ts_result *given_on(struct memory_run *mem, struct ts_buf *text,
					const char *devices, const struct event *events, size_t nr)
{
	struct ts_error err = TS_ERROR_INIT;

	ts_buf_printf(text, "{%s\"traceEvents\":[", devices);
	for (size_t i = 0; i < nr; i++)
		ts_buf_printf(text,
			      "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,"
			      "\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d%s%s}}",
			      i ? "," : "", events[i].category, events[i].name, events[i].pid,
			      events[i].start, events[i].dur, events[i].link,
			      events[i].dims ? ",\"Input Dims\":" : "",
			      events[i].dims ? events[i].dims : "");
	ts_buf_puts(text, "]}");
	memory_run_init(mem);
	if (memory_run_add_as(mem, memory_run_reader("chrome"), ts_buf_bytes(text), "host", &err) ||
	    memory_run_analyse(mem, 0, &err))
		fail_msg("%s", err.text);
	return ts_results_find(&mem->run.results, "operators");
}

static const struct ts_result *given(struct memory_run *mem, struct ts_buf *text,
				     const struct event *events, size_t nr)
{
	return given_on(mem, text, "", events, nr);
}

static void done(struct memory_run *mem, struct ts_buf *text)
{
	memory_run_release(mem);
	ts_buf_release(text);
}

/* The row of this name and these shapes (NULL: any). */
static size_t row_of(const struct ts_table *table, const char *name, const char *shapes)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (ts_bytes_is(ts_cell_text(table, i, "name"), name) &&
		    (!shapes || ts_bytes_is(ts_cell_text(table, i, "input_shapes"), shapes)))
			return i;
	fail_msg("no row %s %s", name, shapes ? shapes : "");
	return 0;
}

struct expected {
	const char *name, *shapes;
	int64_t calls, self_gpu, gpu, self_cpu, cpu, kernels;
};

static void assert_rows(const struct ts_table *table, const struct expected *rows, size_t nr)
{
	assert_int_equal(table->nr_rows, nr);
	for (size_t i = 0; i < nr; i++) {
		size_t row = row_of(table, rows[i].name, rows[i].shapes);

		assert_int_equal(ts_cell_int(table, row, "calls"), rows[i].calls);
		assert_int_equal(ts_cell_int(table, row, "self_gpu_ps"), rows[i].self_gpu * US);
		assert_int_equal(ts_cell_int(table, row, "gpu_ps"), rows[i].gpu * US);
		assert_int_equal(ts_cell_int(table, row, "self_cpu_ps"), rows[i].self_cpu * US);
		assert_int_equal(ts_cell_int(table, row, "cpu_ps"), rows[i].cpu * US);
		assert_int_equal(ts_cell_int(table, row, "kernels"), rows[i].kernels);
	}
}

#define HOST   50
#define GPU    0

/*
 * linear holds addmm, around which the program named a range, and a launch of its own; addmm's launch has two
 * kernels. A second linear has another shape and launches nothing. The last kernel was launched in no operator.
 */
static const struct event events[] = {
	{ "cpu_op", "aten::linear", HOST, 0, 40, 0, "[[4, 8], [16, 8], [16]]" },
	{ "user_annotation", "mine", HOST, 4, 22, 0, NULL },
	{ "cpu_op", "aten::addmm", HOST, 5, 20, 0, "[[16],\n  [4,8], [8, 16]]" },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 10, 4, 1, NULL },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 30, 2, 2, NULL },
	{ "cpu_op", "aten::linear", HOST, 50, 10, 0, "[[2, 8], [16, 8], [16]]" },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 70, 3, 3, NULL },
	{ "kernel", "gemm", GPU, 20, 100, 1, NULL },
	{ "kernel", "split", GPU, 120, 10, 1, NULL },
	{ "kernel", "bias", GPU, 140, 7, 2, NULL },
	{ "kernel", "other", GPU, 150, 5, 3, NULL },
};

TEST(times_are_by_name_and_by_shapes)
{
	static const struct expected names[] = {
		{ "aten::linear", NULL, 2, 7, 117, 28, 50, 3 },
		{ "aten::addmm", NULL, 1, 110, 110, 16, 20, 2 },
		{ "cudaLaunchKernel", NULL, 3, 0, 0, 9, 9, 0 },
	};
	static const struct expected shapes[] = {
		{ "aten::linear", "[[4, 8], [16, 8], [16]]", 1, 7, 117, 18, 40, 3 },
		{ "aten::linear", "[[2, 8], [16, 8], [16]]", 1, 0, 0, 10, 10, 0 },
		{ "aten::addmm", "[[16], [4, 8], [8, 16]]", 1, 110, 110, 16, 20, 2 },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *result = given(&mem, &text, events, TS_NELEM(events));

	assert_rows(ts_result_find_table(result, "by_name"), names, TS_NELEM(names));
	assert_rows(ts_result_find_table(result, "by_shape"), shapes, TS_NELEM(shapes));
	assert_int_equal(ts_value_int(ts_result_get(result, "calls")), 3);
	assert_int_equal(ts_value_int(ts_result_get(result, "gpu_ps")), 122 * US);
	assert_int_equal(ts_value_int(ts_result_get(result, "outside_gpu_ps")), 5 * US);
	assert_int_equal(ts_value_int(ts_result_get(result, "self_cpu_ps")), 53 * US);
	done(&mem, &text);
}

/* 2 x 4 x 8 x 16 of addmm, which is inside linear's and counts once; 2 x 2 x 8 x 16 of the other. addmm's took 110 us. */
TEST(flops_of_an_operator_inside_another_count_once)
{
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *result = given(&mem, &text, events, TS_NELEM(events));
	const struct ts_table *names = ts_result_find_table(result, "by_name");

	assert_true(ts_value_number(ts_result_get(result, "flops")) == 1024 + 512);
	assert_true(ts_cell_number(names, row_of(names, "aten::linear", NULL), "flops") ==
		    1024 + 512);
	assert_true(ts_cell_number(names, row_of(names, "aten::addmm", NULL), "flops") == 1024);
	assert_float_equal(ts_cell_number(names, row_of(names, "aten::addmm", NULL), "flops_per_s"),
			   1024 / 110e-6, 1);
	assert_true(isnan(
		ts_cell_number(names, row_of(names, "cudaLaunchKernel", NULL), "flops_per_s")));
	done(&mem, &text);
}

/* addmm launches gemm and split, linear itself bias alone. */
TEST(the_only_kernel_of_an_operator_is_named)
{
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *result = given(&mem, &text, events, TS_NELEM(events));
	const struct ts_table *names = ts_result_find_table(result, "by_name");
	size_t addmm = row_of(names, "aten::addmm", NULL);

	assert_true(ts_bytes_is(ts_cell_text(names, row_of(names, "aten::linear", NULL), "kernel"),
				"bias"));
	assert_int_equal(ts_table_cell(names, addmm, ts_table_column(names, "kernel")).type,
			 TS_VALUE_NULL);
	done(&mem, &text);
}

#define H100 \
	"\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100 80GB HBM3\",\"computeMajor\":9," \
	"\"computeMinor\":0,\"numSms\":132,\"totalGlobalMem\":85018279936}],"
#define OF_TYPES(type) ",\"Input type\":[\"" type "\",\"" type "\"]"

/*
 * An H100 makes 989 TFLOP/s of bf16, 494 of f32, and moves 3352 GB/s. The first product needs 2 x 4096^3 FLOPs, which
 * are 138.97 us, and 30 us for its bytes; the second 20.03 us for its bytes. The third has no types.
 */
static const struct event products[] = {
	{ "cpu_op", "aten::mm", HOST, 0, 4, 0,
	  "[[4096, 4096], [4096, 4096]]" OF_TYPES("c10::BFloat16") },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 1, 1, 1, NULL },
	{ "cpu_op", "aten::mm", HOST, 10, 4, 0, "[[1, 4096], [4096, 4096]]" OF_TYPES("float") },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 11, 1, 2, NULL },
	{ "cpu_op", "aten::bmm", HOST, 20, 4, 0, "[[2, 8, 6], [2, 6, 4]]" },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 21, 1, 3, NULL },
	{ "cpu_op", "aten::_softmax", HOST, 30, 4, 0, "[[2, 8], [], []]" },
	{ "cuda_runtime", "cudaLaunchKernel", HOST, 31, 1, 4, NULL },
	{ "kernel", "gemm", GPU, 50, 200, 1, NULL },
	{ "kernel", "gemm", GPU, 300, 40, 2, NULL },
	{ "kernel", "gemm", GPU, 400, 60, 3, NULL },
	{ "kernel", "cunn_SoftMaxForward", GPU, 500, 700, 4, NULL },
};

static void assert_roof(const struct ts_table *table, size_t row, const char *dtype,
			const char *bound_by, double efficiency)
{
	double found = ts_cell_number(table, row, "roofline_efficiency_pct");

	assert_true(ts_bytes_is(ts_cell_text(table, row, "dtype"), dtype));
	assert_true(ts_bytes_is(ts_cell_text(table, row, "bound_by"), bound_by));
	if (efficiency < 0)
		assert_true(isnan(found));
	else
		assert_float_equal(found, efficiency, 0.05);
}

TEST(products_have_a_place_under_the_roof_of_their_type)
{
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *result = given_on(&mem, &text, H100, products, TS_NELEM(products));
	const struct ts_table *shapes = ts_result_find_table(result, "by_shape");
	const struct ts_table *names = ts_result_find_table(result, "by_name");
	size_t large = row_of(shapes, "aten::mm", "[[4096, 4096], [4096, 4096]]");
	size_t mm = row_of(names, "aten::mm", NULL);

	assert_roof(shapes, large, "bf16", "Compute", 100 * 138.97 / 200);
	assert_true(ts_cell_number(shapes, large, "bytes") == 3 * 2.0 * 4096 * 4096);
	assert_float_equal(ts_cell_number(shapes, large, "operational_intensity"), 4096 / 3.0, 0.1);
	assert_roof(shapes, row_of(shapes, "aten::mm", "[[1, 4096], [4096, 4096]]"), "f32", "HBM",
		    100 * 20.03 / 40);
	assert_roof(shapes, row_of(shapes, "aten::bmm", NULL), "", "", -1);
	/* each shape by its own roof */
	assert_float_equal(ts_cell_number(names, mm, "roofline_efficiency_pct"),
			   100 * (138.97 + 20.03) / 240, 0.05);
	assert_true(ts_bytes_is(ts_cell_text(names, mm, "dtype"), "mixed"));
	done(&mem, &text);
}

TEST(operators_are_summed_by_what_they_are_for)
{
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *result = given_on(&mem, &text, H100, products, TS_NELEM(products));
	const struct ts_table *table = ts_result_find_table(result, "categories");

	assert_int_equal(table->nr_rows, 2); /* the longest first */
	assert_true(ts_bytes_is(ts_cell_text(table, 0, "category"), "Softmax"));
	assert_int_equal(ts_cell_int(table, 0, "self_gpu_ps"), 700 * US);
	assert_true(isnan(ts_cell_number(table, 0, "flops_per_s")));
	assert_true(ts_bytes_is(ts_cell_text(table, 1, "category"), "GEMM"));
	assert_int_equal(ts_cell_int(table, 1, "calls"), 3);
	assert_int_equal(ts_cell_int(table, 1, "self_gpu_ps"), 300 * US);
	assert_float_equal(ts_cell_number(table, 1, "self_gpu_pct"), 30, 1e-9);
	assert_float_equal(ts_cell_number(table, 1, "modelled_pct"), 80, 1e-9); /* not bmm */
	assert_float_equal(ts_cell_number(table, 1, "roofline_efficiency_pct"),
			   100 * (138.97 + 20.03) / 240, 0.05);
	done(&mem, &text);
}

/* A product makes scores of 8 x 6 (30 us of 200), a softmax takes them (40), a product takes what it makes (20), and
 * one has another shape. The kernels run a different number of times each. */
TEST(attention_that_is_not_fused_is_known_by_its_shapes)
{
	static const struct event attention[] = {
		{ "cpu_op", "aten::bmm", HOST, 0, 4, 0, "[[2, 8, 4], [2, 4, 6]]" },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 1, 1, 1, NULL },
		{ "cpu_op", "aten::_softmax", HOST, 10, 4, 0, "[[2, 8, 6], [], []]" },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 11, 1, 2, NULL },
		{ "cpu_op", "aten::bmm", HOST, 20, 4, 0, "[[2, 8, 6], [2, 6, 4]]" },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 21, 1, 3, NULL },
		{ "cpu_op", "aten::bmm", HOST, 30, 4, 0, "[[2, 9, 4], [2, 4, 6]]" },
		{ "cuda_runtime", "cudaLaunchKernel", HOST, 31, 1, 4, NULL },
		{ "kernel", "gemm", GPU, 50, 20, 1, NULL },
		{ "kernel", "gemm", GPU, 70, 10, 1, NULL },
		{ "kernel", "cunn_SoftMaxForward", GPU, 80, 40, 2, NULL },
		{ "kernel", "gemm", GPU, 120, 20, 3, NULL },
		{ "kernel", "gemm", GPU, 140, 110, 4, NULL },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *doctor;
	size_t at = 0;

	given(&mem, &text, attention, TS_NELEM(attention));
	doctor = ts_results_find(&mem.run.results, "doctor");
	while (at < doctor->nr_findings &&
	       strcmp(doctor->findings[at].rule, "unfused_attention") != 0)
		at++;
	assert_true(at < doctor->nr_findings);
	assert_true(ts_bytes_has(doctor->findings[at].title, "45 % of device time"));
	assert_true(ts_bytes_has(doctor->findings[at].evidence,
				 "a softmax over 8 queries and 6 keys (1 of them) take 40.0 "));
	assert_true(ts_bytes_has(doctor->findings[at].evidence,
				 "the products that make its input and take its output 50.0 "));
	assert_int_equal(doctor->findings[at].impact_ps, 90 * US);
	done(&mem, &text);
}

TEST(without_shapes_flops_are_unknown)
{
	static const struct event bare[] = { { "cpu_op", "aten::mm", HOST, 0, 40, 0, NULL } };
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *result = given(&mem, &text, bare, 1);
	const struct ts_table *names = ts_result_find_table(result, "by_name");

	assert_int_equal(ts_result_get(result, "flops").type, TS_VALUE_NULL);
	assert_int_equal(ts_result_get(result, "gpu_ps").type, TS_VALUE_NULL); /* no GPU */
	assert_int_equal(ts_table_cell(names, 0, ts_table_column(names, "gpu_ps")).type,
			 TS_VALUE_NULL);
	assert_int_equal(ts_result_find_table(result, "by_shape")->nr_rows, 0);
	assert_int_equal(result->nr_notes, 1);
	done(&mem, &text);
}

TEST(a_trace_without_operators_says_so)
{
	static const struct event range[] = {
		{ "python_function", "train.py(1): main", HOST, 0, 40, 0, NULL },
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_result *result = given(&mem, &text, range, 1);

	assert_int_equal(ts_value_int(ts_result_get(result, "calls")), 0);
	assert_int_equal(result->nr_notes, 1);
	assert_int_equal(result->nr_tables, 0);
	done(&mem, &text);
}

/* 5,000 shapes of one operator, 4,096 rows: the rest are one row, and nothing is lost. */
TEST(rows_are_bounded)
{
	static struct event many[5000];
	static char dims[TS_NELEM(many)][32];
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_table *shapes;

	for (size_t i = 0; i < TS_NELEM(many); i++) {
		snprintf(dims[i], sizeof(dims[i]), "[[%zu, 8], [8, 2]]", i + 1);
		many[i] = (struct event){ "cpu_op", "aten::mm", HOST, (int)i * 10, 4, 0, dims[i] };
	}
	shapes = ts_result_find_table(given(&mem, &text, many, TS_NELEM(many)), "by_shape");
	assert_int_equal(shapes->nr_rows, OPERATORS_ROWS + 1);
	assert_int_equal(ts_cell_int(shapes, row_of(shapes, "aten::mm", "others"), "calls"),
			 TS_NELEM(many) - OPERATORS_ROWS);
	done(&mem, &text);
}
