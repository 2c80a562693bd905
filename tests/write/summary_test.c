/* SPDX-License-Identifier: MIT */
/* The summary on the console. */
#include "tests/test.h"
#include "codec/term.h"
#include "result/impossible.h"
#include "result/schema/doctor.def"
#include "result/schema/overview.def"
#include "result/schema/systolic.def"
#include "write/summary.h"

#include "sample.h"

#define DOT " \xC2\xB7 "

static void assert_summary(const struct ts_results *results, size_t width, const char *expected)
{
	const struct ts_report report = { .width = width };
	struct ts_buf out = TS_BUF_INIT;

	ts_summary_text(&out, results, &report);
	ts_buf_putc(&out, '\0');
	assert_false(out.failed);
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
}

TEST(summary_fits_a_wide_terminal_in_one_line_each)
{
	struct ts_results results;

	sample_make(&results);
	assert_summary(
		&results, 140,
		"profiles/run1/2025_03_11" DOT "1 host" DOT "2 x TPU v6e" DOT "92.6 s" DOT
		"2 steps (inferred from jit_f)\n"
		"health 14/100   duty cycle 86.5 %   MXU -   HBM -   padding -\n"
		"findings, with the time of the run that each could give back at most:\n"
		"1 critical    18.8 s  82 % of core time waits for copies to and from host memory: "
		"4 copies of 5.0 GiB a step at 26 GB/s (host-offload.py:29)\n"
		"2 info             -  a file is cut off\n");
	ts_results_release(&results);
}

TEST(a_gain_that_others_count_is_not_a_time)
{
	const struct ts_report report = { .width = 80 };
	static const struct {
		int64_t gain_ps, impact_ps;
		const char *line;
	} rows[] = {
		{ 0, 1000, "3 info             -  a title\n" },
		{ -1, -1, "3 info             -  a title\n" },
		{ 0, 0, "3 info          0 ps  a title\n" },
		{ 2000000, 3000000, "3 info       2.00 \u00b5s  a title\n" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_finding finding = { .severity = TS_INFO,
					      .title = TS_LIT("a title"),
					      .gain_ps = rows[i].gain_ps,
					      .impact_ps = rows[i].impact_ps };
		struct ts_buf out = TS_BUF_INIT;

		ts_summary_finding(&out, &finding, 3, &report);
		ts_buf_putc(&out, '\0');
		assert_string_equal((char *)out.p, rows[i].line);
		ts_buf_release(&out);
	}
}

TEST(summary_breaks_lines_on_a_narrow_one)
{
	struct ts_results results;

	sample_make(&results);
	assert_summary(&results, 64,
		       "profiles/run1/2025_03_11\n"
		       "  1 host" DOT "2 x TPU v6e" DOT "92.6 s" DOT
		       "2 steps (inferred from jit_f)\n"
		       "health 14/100   duty cycle 86.5 %   MXU -   HBM -   padding -\n"
		       "findings, with the time of the run that each could give back at\n"
		       "  most:\n"
		       "1 critical    18.8 s  82 % of core time waits for copies to and\n"
		       "                      from \xE2\x80\xA6 (host-offload.py:29)\n"
		       "2 info             -  a file is cut off\n");
	ts_results_release(&results);
}

TEST(no_line_is_wider_than_the_terminal)
{
	struct ts_results results;

	sample_make(&results);
	for (size_t width = 48; width < 160; width++) {
		const struct ts_report report = { .width = width };
		struct ts_buf out = TS_BUF_INIT;
		struct ts_bytes rest;

		ts_summary_text(&out, &results, &report);
		for (rest = ts_buf_bytes(&out); rest.n > 0;) {
			size_t n = ts_bytes_find(rest, "\n");
			size_t columns = ts_term_width(ts_bytes_cut(rest, 0, n));

			if (columns > width && !ts_bytes_starts(rest, "  1 host")) /* one piece */
				fail_msg("%zu columns of %zu: %.*s", columns, width,
					 TS_ARG(ts_bytes_cut(rest, 0, n)));
			rest = ts_bytes_cut(rest, n + 1, rest.n);
		}
		assert_true(ts_bytes_has(ts_buf_bytes(&out), "(host-offload.py:29)"));
		ts_buf_release(&out);
	}
	ts_results_release(&results);
}

TEST(what_is_missing_is_a_dash)
{
	struct ts_results results;

	ts_results_init(&results);
	assert_summary(&results, 80,
		       "-" DOT "-\n"
		       "health -   duty cycle -   MXU -   HBM -   padding -\n");
	TS_ADD(&results, doctor);
	assert_summary(&results, 0,
		       "-" DOT "-\n"
		       "health -   duty cycle -   MXU -   HBM -   padding -\n"
		       "no findings\n");
	ts_results_release(&results);
}

TEST(missing_utilization_says_why)
{
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *ops;

	ts_results_init(&results);
	result = TS_ADD(&results, systolic);
	ops = TS_TABLE(result, systolic_ops);
	assert_summary(&results, 0,
		       "-" DOT "-\nhealth -   duty cycle -   MXU -  (no matrix work in "
		       "this profile)   HBM -   padding -\n");
	TS_PUT_ROW(result, ops, systolic_ops, .op = ts_text(TS_LIT("dot")));
	assert_summary(&results, 0,
		       "-" DOT "-\nhealth -   duty cycle -   MXU -  (no op has a known "
		       "cost)   HBM -   padding -\n");
	result = TS_ADD(&results, overview);
	TS_SET(result, overview, overview.mxu_utilization_pct,
	       ts_held_share_pct(result, 2.5, TS_LIT("work and time")));
	assert_summary(&results, 0,
		       "-" DOT "-\nhealth -   duty cycle -   MXU impossible   HBM -   padding -\n");
	ts_results_release(&results);
}

TEST(share_above_its_peak_is_impossible)
{
	struct ts_results results;
	struct ts_result *result;

	ts_results_init(&results);
	result = TS_ADD(&results, overview);
	TS_SET(result, overview, overview.mxu_utilization_pct,
	       ts_held_share_pct(result, 5.1, TS_LIT("FLOPs and time")));
	assert_summary(&results, 0,
		       "-" DOT "-\nhealth -   duty cycle -   MXU impossible   HBM -   padding -\n");
	ts_results_release(&results);
}

TEST(colors_are_there_only_when_asked_for)
{
	struct ts_report report = { .width = 80, .color = true };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	ts_summary_text(&out, &results, &report);
	assert_true(ts_bytes_has(ts_buf_bytes(&out), "\x1b[1;31mcritical\x1b[0m    18.8 s  82 %"));
	assert_true(ts_bytes_has(ts_buf_bytes(&out), "\x1b[1;31mhealth 14/100\x1b[0m"));
	ts_buf_clear(&out);
	report.color = false;
	ts_summary_text(&out, &results, &report);
	assert_false(ts_bytes_has(ts_buf_bytes(&out), "\x1b"));
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(unknown_chip_is_shown_as_the_profile_names_it)
{
	struct ts_overview_device_row *devices;
	struct ts_results results;
	struct ts_result *result;
	struct ts_value list;

	ts_results_init(&results);
	result = TS_ADD(&results, overview);
	list = TS_ITEMS(result, overview_device, 3);
	devices = TS_ITEM_ROWS(list, overview_device);
	devices[0].kind = devices[1].kind = ts_text(ts_bytes_of("TPU v99"));
	TS_SET(result, overview, run.devices, list); /* the third says nothing */
	assert_summary(&results, 0,
		       "-" DOT "2 x TPU v99 + 1 x unknown device" DOT "-\n"
		       "health -   duty cycle -   MXU -   HBM -   padding -\n");
	ts_results_release(&results);
}

TEST(evidence_without_room_goes_without_a_trace)
{
	struct ts_results results;
	struct ts_finding *finding;

	ts_results_init(&results);
	finding = ts_result_finding(TS_ADD(&results, doctor));
	finding->title = TS_LIT("a title that takes most of two such lines");
	finding->evidence = TS_LIT("incomprehensibilities");
	assert_summary(&results, 40,
		       "-" DOT "-\n"
		       "health -   duty cycle -   MXU -   HBM -\n"
		       "padding -\n"
		       "1 critical  a title that takes most of\n"
		       "            two such lines\n");
	ts_results_release(&results);
}

TEST(evidence_is_its_first_sentence)
{
	struct ts_results results;
	struct ts_finding *finding;

	ts_results_init(&results);
	finding = ts_result_finding(TS_ADD(&results, doctor));
	finding->title = TS_LIT("slow");
	finding->evidence = TS_LIT("It takes 1.5 s in a.py. The rest. And more.");
	finding = ts_result_finding(results.items[0]);
	finding->title = TS_LIT("slower");
	finding->evidence = TS_LIT("All of it.");
	assert_summary(&results, 0,
		       "-" DOT "-\n"
		       "health -   duty cycle -   MXU -   HBM -   padding -\n"
		       "findings, with the time of the run that each could give back at most:\n"
		       "1 critical         -  slow: It takes 1.5 s in a.py\n"
		       "2 critical         -  slower: All of it\n");
	ts_results_release(&results);
}

TEST(profile_without_a_device_shows_no_rates)
{
	struct ts_results results;
	struct ts_result *result;
	struct ts_value list;

	ts_results_init(&results);
	result = TS_ADD(&results, overview);
	list = TS_ITEMS(result, overview_host, 1);
	TS_ITEM_ROWS(list, overview_host)->name = ts_text(ts_bytes_of("h"));
	TS_ITEM_ROWS(list, overview_host)->file =
		ts_text(ts_bytes_of("dir/h.xplane.pb")); /* named itself: there is no logdir */
	TS_SET(result, overview, run.hosts, list);
	TS_SET(result, overview, run.devices, TS_ITEMS(result, overview_device, 0));
	assert_summary(&results, 0, "dir/h.xplane.pb" DOT "1 host" DOT "no device\n");
	ts_results_release(&results);
}

TEST(many_findings_are_counted)
{
	struct ts_report report = { .width = 80 };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *doctor;

	ts_results_init(&results);
	doctor = TS_ADD(&results, doctor);
	for (int i = 0; i < 13; i++)
		ts_result_finding(doctor)->title = TS_LIT("t");
	ts_summary_text(&out, &results, &report);
	assert_true(ts_bytes_ends(ts_buf_bytes(&out),
				  "10 critical         -  t\n... and 3 more (tpusight report "
				  "--view doctor)\n"));
	ts_buf_release(&out);
	ts_results_release(&results);
}
