/* SPDX-License-Identifier: MIT */
/* The report for people against one written by hand. */
#include "tests/test.h"
#include "codec/term.h"
#include "result/schema/doctor.def"
#include "result/terms.h"
#include "write/report_text.h"
#include "write/text_table.h"

#include "sample.h"

static const struct ts_report plain = { .generator = "tpusight", .version = "0.1.0", .width = 80 };

static void assert_report(const struct ts_report *report, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(ts_report_text(&out, &results, report, NULL), TS_OK);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
	ts_results_release(&results);
}

#define DOCTOR_TEXT                                                                  \
	"Findings\n"                                                                 \
	"  health, of 100: 14\n"                                                    \
	"  1. critical 82 % of core time waits for copies to and from host memory\n" \
	"     4 copies of 5.0 GiB a step at 26 GB/s\n"                               \
	"     could save 18.8 s (82.0 % of the run); certain\n"                       \
	"     where: copy.3 in jit_f at /home/u/host-offload.py:29\n"                \
	"     do: keep the parameters in HBM\n"                                      \
	"         x = jax.device_put(x, d)\n"                                        \
	"\n"                                                                         \
	"         y = f(x)\n"                                                        \
	"  2. info a file is cut off\n"                                              \
	"     gain unknown; possible\n"

TEST(report_reads_as_written_by_hand)
{
	assert_report(&plain,
		      "Overview\n"
		      "  wall time:       92.6 s\n"
		      "  health:          14\n"
		      "  duty cycle:      86.5 %\n"
		      "  MXU utilization: -\n"
		      "  steps:           2\n"
		      "  step time, mean: 1 ps\n" /* half of one */
		      "  max:             7 ps\n"
		      "  note: steps are inferred from jit_f\n"
		      "\n"
		      "Ops by self time\n"
		      "  op                                    self time   FLOPs\n"
		      "  =cmd|' /C calc'!A0,\"</script>\xEF\xBF\xBD[2J  1.23 core-\u00b5s       -\n"
		      "  fusion.12                          1.00 core-ns  2.00 G\n"
		      "\n"
		      "Time breakdown\n"
		      "  Total Time: 125.32 ms\n"
		      "  Compute            85.20 ms   68.0%\n"
		      "  Memory Wait        25.50 ms   20.3%\n"
		      "  Compilation        10.12 ms    8.1%\n"
		      "  Rematerialization   4.50 ms    3.6%\n"
		      "  Bottleneck: Your workload is compute-bound (good for TPU!)\n"
		      "\n" DOCTOR_TEXT);
}

TEST(view_is_that_part_alone)
{
	struct ts_report report = plain;

	report.view = "doctor";
	assert_report(&report, DOCTOR_TEXT);
	report.view = "time.per_step"; /* has no title: shown all the same when asked for */
	assert_report(&report, "  step         total\n"
			       "     0  62.7 core-ms\n"
			       "     1  62.7 core-ms\n");
}

TEST(narrow_terminal_breaks_text_and_cuts_names)
{
	struct ts_report report = plain;

	report.width = 40;
	report.view = "ops";
	assert_report(&report, "  op                   self time   FLOPs\n"
			       "  =cmd|' /C         1.23 core-\u00b5s       -\n"
			       "  calc'!A0,\"</\n"
			       "  script>\xEF\xBF\xBD[2J\n"
			       "  fusion.12         1.00 core-ns  2.00 G\n");
}

TEST(nothing_of_the_profile_steers_the_terminal)
{
	struct ts_report report = plain;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(ts_report_text(&out, &results, &report, NULL), TS_OK);
	assert_null(memchr(out.p, '\x1b', out.n));
	ts_buf_clear(&out);
	report.color = true; /* now there are some, and all are ours */
	assert_int_equal(ts_report_text(&out, &results, &report, NULL), TS_OK);
	assert_non_null(memchr(out.p, '\x1b', out.n));
	assert_int_equal(ts_bytes_find(ts_buf_bytes(&out), "\x1b[2J"), out.n);
	ts_buf_release(&out);
	ts_results_release(&results);
}

/* Templates of C++ are hundreds of letters long: beginning and end say which it is. */
TEST(a_long_place_loses_its_middle)
{
	static const char name[] =
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"
		"(int, at::native::CUDAFunctor_add<float>)"; /* 156 */
	const struct ts_where where = { .op = ts_bytes_of(name), .op_index = UINT32_MAX };
	struct ts_report report = plain;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_finding *finding;

	ts_results_init(&results);
	finding = ts_result_finding(TS_ADD(&results, doctor));
	finding->title = TS_LIT("slow");
	finding->impact_ps = -1;
	finding->where = &where;
	finding->nr_where = 1;
	report.width = 100;
	assert_int_equal(ts_report_text(&out, &results, &report, NULL), TS_OK);
	ts_buf_putc(&out, '\0');
	assert_non_null(strstr((char *)out.p,
			       "     where: void at::native::vectorized_elementwise_kernel<4, "
			       "at::native::CUD\xE2\x80\xA6"
			       "tail::Array<char*, 3>\n"
			       "            >(int, at::native::CUDAFunctor_add<float>)\n"));
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(long_tables_say_how_many_rows_are_left_out)
{
	static const struct ts_column columns[] = { { "n", TS_MEASURED, "n" } };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", NULL);
	table = ts_result_table(result, "t", "T", columns, 1);
	table->text_rows = 2;
	for (int i = 0; i < 100; i++)
		ts_table_row(result, table)[0] = ts_int(i);
	assert_int_equal(ts_report_text(&out, &results, &plain, NULL), TS_OK);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, "T\n  n\n  0\n  1\n  ... and 98 more\n");
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(column_that_is_unknown_throughout_is_left_out)
{
	static const struct ts_column columns[] = {
		{ "n", TS_MEASURED, "n" },
		{ "x_ps", TS_MEASURED, "x" },
		{ "m", TS_MEASURED, "m" },
	};
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", NULL);
	table = ts_result_table(result, "t", "T", columns, 3);
	ts_table_row(result, table)[0] = ts_int(1);
	ts_table_row(result, table)[2] = ts_int(2);
	ts_text_table(&out, table, &(struct ts_report){ .width = 80 });
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, "  n  m\n  1  -\n  -  2\n");
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(table_without_a_label_is_shown_under_its_names)
{
	static const struct ts_column columns[] = {
		{ "step", TS_MEASURED, NULL },
		{ "duration_ps", TS_MEASURED, NULL },
	};
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *table;
	struct ts_value *row;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", NULL);
	table = ts_result_table(result, "t", NULL, columns, 2);
	ts_text_table(&out, table, &(struct ts_report){ .width = 80 });
	row = ts_table_row(result, table);
	row[0] = ts_int(7);
	row[1] = ts_int(1000);
	ts_text_table(&out, table, &(struct ts_report){ .width = 80 });
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, "  step  duration\n"
					   "  (no rows)\n"
					   "  step  duration\n"
					   "     7   1.00 ns\n");
	ts_buf_release(&out);
	ts_results_release(&results);
}

static void add_op(struct ts_result *result, struct ts_table *table, const char *module,
		   const char *op, int64_t ps)
{
	struct ts_value *row = ts_table_row(result, table);

	row[0] = ts_text(ts_bytes_of(module));
	row[1] = ts_text(ts_bytes_of(op));
	row[2] = row[3] = ts_int(ps);
	row[4] = ts_int(0);
	row[5] = ts_int(ps * 3);
	row[6] = ts_int(ps * 5);
}

static const struct ts_column op_columns[] = {
	{ "module", TS_MEASURED, NULL, .term = &ts_term_module },
	{ "op", TS_MEASURED, "op" },
	{ "total_time_ps", TS_MEASURED, "total" },
	{ "self_time_ps", TS_MEASURED, "self" },
	{ "wait_ps", TS_MEASURED, "waits" },
	{ "hbm_bytes", TS_MEASURED, "HBM" },
	{ "flops", TS_MEASURED, "FLOPs" },
};

static void assert_ops(const char *module, size_t width, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", NULL);
	table = ts_result_table(result, "t", NULL, op_columns, TS_NELEM(op_columns));
	add_op(result, table, "jit_f", "add", 1000);
	add_op(result, table, module, "mul", 2000);
	ts_text_table(&out, table, &(struct ts_report){ .width = width });
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(module_is_told_where_rows_differ_in_it)
{
	assert_ops("jit_f", 80,
		   "  op     total     self  waits       HBM   FLOPs\n"
		   "  add  1.00 ns  1.00 ns      0  2.93 KiB    5000\n"
		   "  mul  2.00 ns  2.00 ns      0  5.86 KiB  10.0 k\n");
	assert_ops("jit_g", 80,
		   "  module  op     total     self  waits       HBM   FLOPs\n"
		   "  jit_f   add  1.00 ns  1.00 ns      0  2.93 KiB    5000\n"
		   "  jit_g   mul  2.00 ns  2.00 ns      0  5.86 KiB  10.0 k\n");
}

/* Nothing but zeros, then what the column beside it says too; a width of 0 is no limit. */
TEST(narrow_table_leaves_out_what_says_least)
{
	assert_ops("jit_f", 44,
		   "  op     total     self       HBM   FLOPs\n"
		   "  add  1.00 ns  1.00 ns  2.93 KiB    5000\n"
		   "  mul  2.00 ns  2.00 ns  5.86 KiB  10.0 k\n"
		   "  (no room for: waits)\n");
	assert_ops("jit_f", 36,
		   "  op      self       HBM   FLOPs\n"
		   "  add  1.00 ns  2.93 KiB    5000\n"
		   "  mul  2.00 ns  5.86 KiB  10.0 k\n"
		   "  (no room for: total, waits)\n");
	assert_ops("jit_f", 0,
		   "  op     total     self  waits       HBM   FLOPs\n"
		   "  add  1.00 ns  1.00 ns      0  2.93 KiB    5000\n"
		   "  mul  2.00 ns  2.00 ns      0  5.86 KiB  10.0 k\n");
}

static const struct ts_column step_columns[] = {
	{ "step", TS_MEASURED, "step" },	  { "start_ps", TS_MEASURED, "start", -1 },
	{ "compute_ps", TS_MEASURED, "compute" }, { "wait_ps", TS_MEASURED, "memory wait" },
	{ "input_ps", TS_MEASURED, "input" },	  { "flops", TS_MEASURED, "FLOPs" },
	{ "mxu_pct", TS_MEASURED, "MXU", 1 },	  { "why", TS_MEASURED, "why" },
};

static void assert_steps(const struct ts_report *report, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", NULL);
	table = ts_result_table(result, "t", NULL, step_columns, TS_NELEM(step_columns));
	for (int i = 0; i < 3; i++) {
		struct ts_value *row = ts_table_row(result, table);

		row[0] = ts_int(1008 + i);
		row[1] = ts_int(i * 100000);
		row[2] = ts_int(9000);
		row[3] = ts_int(1000 + 100 * i);
		row[4] = ts_int(5000 + 1000 * i);
		row[5] = ts_int(7 * i);
		row[6] = ts_real(10 * i);
		row[7] = i ? ts_text(TS_LIT("f32[16,16,500,500] is a multiple of 128 and more"))
			   : ts_text(TS_LIT("-"));
	}
	ts_text_table(&out, table, report);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
	ts_results_release(&results);
}

/* First what is marked so, then of times the shortest; never what the table is about. */
TEST(narrow_table_keeps_what_it_is_about)
{
	const struct ts_report narrow = { .width = 52 };

	assert_steps(&narrow, "  step  compute    input     MXU  why\n"
			      "  1008  9.00 ns  5.00 ns   0.0 %  -\n"
			      "  1009  9.00 ns  6.00 ns  10.0 %  f32[16,16,500,500]\n"
			      "                                  is a multiple of\n"
			      "                                  128 and more\n"
			      "  1010  9.00 ns  7.00 ns  20.0 %  f32[16,16,500,500]\n"
			      "                                  is a multiple of\n"
			      "                                  128 and more\n"
			      "  (no room for: memory wait, FLOPs, start)\n");
}

TEST(rows_are_chosen_and_sorted)
{
	const struct ts_report two = { .width = 24, .top = 2, .sort = "input_ps" };

	assert_steps(&two, "  step    input     MXU\n"
			   "  1010  7.00 ns  20.0 %\n"
			   "  1009  6.00 ns  10.0 %\n"
			   "  ... and 1 more\n"
			   "  (no room for: compute,\n"
			   "  memory wait, FLOPs,\n"
			   "  start, why)\n");
}

/* Ten rows of one kernel on eight devices say as much as one. */
TEST(devices_that_are_alike_are_one_row)
{
	static const struct ts_column columns[] = {
		{ "name", TS_MEASURED, "kernel" },
		{ "device_id", TS_MEASURED, "device", .term = &ts_term_device_id },
		{ "total_ps", TS_MEASURED, "total" },
	};
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", NULL);
	table = ts_result_table(result, "t", NULL, columns, TS_NELEM(columns));
	table->text_rows = 2;
	for (int i = 0; i < 6; i++) {
		struct ts_value *row = ts_table_row(result, table);

		row[0] = ts_text(i < 3 ? TS_LIT("a") : i < 5 ? TS_LIT("b") : TS_LIT("c"));
		row[1] = ts_int(7 - i);
		row[2] = ts_int(600 - i);
	}
	ts_text_table(&out, table, &(struct ts_report){ .width = 80 });
	ts_text_table(&out, table, &(struct ts_report){ .top = 6 });
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p,
			    "  kernel  device   total\n"
			    "  a         7 +2  600 ps\n"
			    "  b         4 +1  597 ps\n"
			    "  ... and 1 more\n"
			    "  (+N: on so many more devices; --all has a row for each)\n"
			    "  kernel  device   total\n"
			    "  a            7  600 ps\n"
			    "  a            6  599 ps\n"
			    "  a            5  598 ps\n"
			    "  b            4  597 ps\n"
			    "  b            3  596 ps\n"
			    "  c            2  595 ps\n");
	ts_buf_release(&out);
	ts_results_release(&results);
}

struct value_case {
	const char *name;
	struct ts_value value;
	const char *text;
};

TEST(units_follow_the_ending_of_the_name)
{
	const struct value_case cases[] = {
		{ "x_ps", ts_int(1500000), "1.50 \u00b5s" },
		{ "hbm_bytes", ts_int(1024), "1.00 KiB" },
		{ "hbm_bytes_per_s", ts_real(26e9), "26.0 GB/s" },
		{ "peak_flops_per_s", ts_real(918e12), "918 T/s" },
		{ "waste_pct", ts_real(12.34), "12.3 %" },
		{ "flops", ts_int(2000000), "2.00 M" },
		{ "bytes_accessed", ts_int(2048), "2.00 KiB" },
		{ "m", ts_int(-12345678), "-12345678" },
		{ "ratio", ts_real(0.123456), "0.1235" },
		{ "program_id", ts_id(UINT64_MAX), "18446744073709551615" },
		{ "x_ps", ts_null(), "-" },
		{ "flag", ts_bool(false), "no" },
		{ "step_time_ps.mean", ts_real(2500), "2.50 ns" },
		{ "a_ps.waste_pct", ts_real(5), "5.0 %" },
		{ "sops.count", ts_int(2500), "2500" },
	};
	struct ts_buf out = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		ts_buf_clear(&out);
		ts_text_value(&out, cases[i].name, cases[i].value);
		ts_buf_putc(&out, '\0');
		assert_string_equal((char *)out.p, cases[i].text);
	}
	ts_buf_release(&out);
}
