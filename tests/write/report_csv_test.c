/* SPDX-License-Identifier: MIT */
/* CSV views against tables written down by hand. */
#include "tests/test.h"
#include "write/report_csv.h"

#include "sample.h"

static void assert_view(const char *view, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(ts_report_csv(&out, &results, &(struct ts_report){ .view = view }, NULL),
			 TS_OK);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(table_of_a_top_level_result_is_a_view)
{
	assert_view("ops",
		    "program_id,name,self_time_ps,flops,is_remat\n"
		    "18446744073709551615,\"'=cmd|' /C calc'!A0,\"\"</script>\xEF\xBF\xBD[2J\","
		    "1234567,,true\n"
		    "7,fusion.12,1000,2000000000,false\n");
}

/* Its tables are views of their own. */
TEST(top_level_result_gives_its_fields)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(
		ts_report_csv(&out, &results, &(struct ts_report){ .view = "overview" }, NULL),
		TS_OK);
	assert_true(ts_bytes_starts(ts_buf_bytes(&out),
				    "run.logdir,run.run,run.session,run.duration_ps,"));
	assert_true(ts_bytes_has(ts_buf_bytes(&out), "\nprofiles,run1,2025_03_11,92600000000000,"));
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(result_gives_its_first_table)
{
	assert_view("time", "step,total_ps\n0,62660000000\n1,62660000000\n");
	assert_view("time.per_step", "step,total_ps\n0,62660000000\n1,62660000000\n");
}

/* Other names end in their unit, or are one. */
TEST(heading_without_a_unit_gets_it_behind)
{
	static const struct ts_column columns[] = { { "hbm_operational_intensity", TS_MODELLED,
						      NULL },
						    { "flops_per_s", TS_MODELLED, NULL } };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *result;
	struct ts_value *row;

	ts_results_init(&results);
	result = ts_results_add(&results, "roof", "Roof");
	row = ts_table_row(result, ts_result_table(result, "ops", NULL, columns, 2));
	row[0] = ts_real(0.5);
	row[1] = ts_int(7);
	assert_int_equal(ts_report_csv(&out, &results, &(struct ts_report){ .view = "roof" }, NULL),
			 TS_OK);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p,
			    "hbm_operational_intensity (FLOP/byte),flops_per_s\n0.5,7\n");
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(doctor_gives_its_findings)
{
	assert_view(
		"doctor",
		"id,rule,severity,severity_reason,title,evidence,gain_ps,gain_pct,gain_alone_ps,"
		"gain_low_ps,gain_high_ps,kind,impact_ps,impact_pct,ceiling,confidence,start_ps,"
		"end_ps,advice,code,op,module,source,xprof,"
		"xprof_trace,perfetto,perfetto_sql\n"
		"host_transfer:jit_f,host_transfer,critical,,82 % of core time waits for copies to "
		"and from host memory,4 copies of 5.0 GiB a step at 26 "
		"GB/s,18750000000000,82,18750000000000,,,headroom,75000000000000,82,"
		"their core time,certain,3000,8000,keep the parameters in HBM,\"x = "
		"jax.device_put(x, d)\n\ny = f(x)\n\","
		"copy.3,jit_f,/home/u/host-offload.py:29,?run=r&node_name=copy.3#profile,,,\n"
		"damage,damage,info,,a file is cut off,,,,,,,cause,,,,possible,,,,,,,,,,,\n");
}

TEST(result_without_tables_gives_its_fields_in_a_row)
{
	static const struct ts_column names[] = { { .name = "op" }, { .name = "ps" } };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_value *items, list;
	struct ts_results results;
	struct ts_result *result;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", "R");
	ts_result_field(result, "count", ts_int(3), TS_MEASURED, NULL);
	list = ts_result_list(result, names, 2, 2, &items);
	items[0] = ts_text(ts_bytes_of("-a"));
	items[1] = ts_int(-5);
	items[2] = ts_text(ts_bytes_of("b"));
	ts_result_field(result, "slow", list, TS_MEASURED, NULL);
	ts_result_field(result, "ratio_pct", ts_real(-12.5), TS_MEASURED, NULL);
	assert_int_equal(ts_report_csv(&out, &results, &(struct ts_report){ .view = "r" }, NULL),
			 TS_OK);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, "count,slow,ratio_pct\n"
					   "3,\"op=-a ps=-5; op=b ps=\",-12.5\n");
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(view_must_be_named_and_known)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_int_equal(ts_report_csv(&out, &results, &(struct ts_report){ .view = NULL }, &err),
			 TS_USAGE);
	assert_string_equal(err.text,
			    "a view must be named (there are: overview, time, doctor, and "
			    "the tables of each)");
	assert_int_equal(
		ts_report_csv(&out, &results, &(struct ts_report){ .view = "overview.ops" }, &err),
		TS_USAGE);
	assert_int_equal(
		ts_report_csv(&out, &results, &(struct ts_report){ .view = "time." }, &err),
		TS_USAGE);
	assert_int_equal(
		ts_report_csv(&out, &results, &(struct ts_report){ .view = "timeper_step" }, &err),
		TS_USAGE);
	assert_int_equal(out.n, 0);
	ts_results_release(&results);
}
