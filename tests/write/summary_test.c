/* SPDX-License-Identifier: MIT */
/* The summary on the console. */
#include "tests/test.h"
#include "codec/term.h"
#include "result/impossible.h"
#include "result/schema/doctor.def"
#include "result/schema/overview.def"
#include "write/summary.h"

#include "sample.h"

#define DOT " \xC2\xB7 "

static void print_all(struct ts_buf *out, const struct ts_results *results,
		      const struct ts_report *report)
{
	const struct ts_result *doctor = TS_FIND(results, doctor);

	ts_summary_head(out, results, report->width);
	ts_summary_numbers(out, results, report);
	if (doctor)
		ts_summary_findings(out, doctor, report);
}

static void assert_summary(const struct ts_results *results, size_t width, const char *expected)
{
	const struct ts_report report = { .width = width };
	struct ts_buf out = TS_BUF_INIT;

	print_all(&out, results, &report);
	ts_buf_putc(&out, '\0');
	assert_false(out.failed);
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
}

TEST(summary_fits_a_wide_terminal_in_one_line_each)
{
	struct ts_results results;

	sample_make(&results);
	assert_summary(&results, 140,
		       "profiles/run1/2025_03_11" DOT "1 host" DOT "2 x TPU v6e" DOT "92.6 s" DOT
		       "2 steps (inferred from jit_f)\n"
		       "health 14/100   device busy 86.5 %\n"
		       "Findings, by the time they could save:\n"
		       "1 critical    18.8 s  82 % of core time waits for copies to and from host "
		       "memory (host-offload.py:29)\n"
		       "   do: keep the parameters in HBM\n"
		       "... and 1 note (tpusight report --view doctor)\n");
	ts_results_release(&results);
}

TEST(a_figure_has_its_band)
{
	struct ts_results results;
	struct ts_result *doctor;
	struct ts_table *kpis;

	ts_results_init(&results);
	sample_overview(&results);
	doctor = TS_ADD(&results, doctor);
	kpis = TS_TABLE(doctor, doctor_kpis);
	TS_PUT_ROW(doctor, kpis, doctor_kpis, .name = ts_text(TS_LIT("device_utilization")),
		   .band = ts_text(TS_LIT("good")));
	TS_PUT_ROW(doctor, kpis, doctor_kpis, .name = ts_text(TS_LIT("mxu_utilization")),
		   .band = ts_text(TS_LIT("unknown")));
	assert_summary(&results, 0,
		       "profiles/run1/2025_03_11" DOT "1 host" DOT "2 x TPU v6e" DOT "92.6 s" DOT
		       "2 steps (inferred from jit_f)\n"
		       "health 14/100   device busy 86.5 % (good)\nno findings\n");
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
		       "health 14/100   device busy 86.5 %\n"
		       "Findings, by the time they could save:\n"
		       "1 critical    18.8 s  82 % of core time waits for copies to and\n"
		       "                      from host memory (host-offload.py:29)\n"
		       "   do: keep the parameters in HBM\n"
		       "... and 1 note (tpusight report --view doctor)\n");
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

		print_all(&out, &results, &report);
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

TEST(what_is_unknown_is_left_out)
{
	struct ts_results results;

	ts_results_init(&results);
	assert_summary(&results, 80, "-" DOT "-\n");
	TS_ADD(&results, doctor);
	assert_summary(&results, 0, "-" DOT "-\nno findings\n");
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
	assert_summary(&results, 0, "-" DOT "-\nMXU impossible\n");
	ts_results_release(&results);
}

TEST(colors_are_there_only_when_asked_for)
{
	struct ts_report report = { .width = 80, .color = true };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	print_all(&out, &results, &report);
	assert_true(ts_bytes_has(ts_buf_bytes(&out), "\x1b[1;31mcritical\x1b[0m    18.8 s  82 %"));
	assert_true(ts_bytes_has(ts_buf_bytes(&out), "\x1b[1;31mhealth 14/100\x1b[0m"));
	ts_buf_clear(&out);
	report.color = false;
	print_all(&out, &results, &report);
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
	assert_summary(&results, 0, "-" DOT "2 x TPU v99 + 1 x unknown device" DOT "-\n");
	ts_results_release(&results);
}

TEST(advice_is_its_first_clause)
{
	static const struct {
		struct ts_bytes advice;
		const char *line;
	} rows[] = {
		{ TS_LIT("Send fewer bytes (in bf16; or later), or shard. More."),
		  "   do: send fewer bytes\n" },
		{ TS_LIT("HBM is full: keep less"), "   do: HBM is full\n" },
		{ TS_LIT("A step of 1.5 s waits"), "   do: a step of 1.5 s waits\n" },
		{ TS_LIT(""), "" },
	};
	const struct ts_report report = { .width = 0 };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_finding finding = { .title = TS_LIT("slow"), .advice = rows[i].advice };
		struct ts_buf out = TS_BUF_INIT;

		ts_summary_finding(&out, &finding, 1, &report);
		ts_buf_putc(&out, '\0');
		assert_string_equal(strchr((char *)out.p, '\n') + 1, rows[i].line);
		ts_buf_release(&out);
	}
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
	struct ts_results results;
	struct ts_result *doctor;

	ts_results_init(&results);
	doctor = TS_ADD(&results, doctor);
	for (int i = 0; i < 13; i++)
		*ts_result_finding(doctor) = (struct ts_finding){
			.title = TS_LIT("t"),
			.severity = i < 5 ? TS_WARNING : TS_INFO,
			.gain_ps = i < 8 ? 1000 : 0,
		};
	assert_summary(&results, 80,
		       "-" DOT "-\n"
		       "Findings, by the time they could save:\n"
		       "1 warning    1.00 ns  t\n"
		       "2 warning    1.00 ns  t\n"
		       "3 warning    1.00 ns  t\n"
		       "... and 5 more, 5 notes (tpusight report --view doctor)\n");
	ts_results_release(&results);
}

TEST(a_session_among_several_has_three_lines)
{
	const struct ts_report report = { .width = 76 };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	ts_summary_row(&out, &results, &report);
	ts_buf_putc(&out, '\0');
	assert_string_equal(
		(char *)out.p,
		"profiles/run1/2025_03_11\n"
		"  1 host" DOT "2 x TPU v6e" DOT "92.6 s" DOT "2 steps (inferred from jit_f)\n"
		"    18.8 s  82 % of core time waits for copies to and from host memory\n");
	ts_buf_release(&out);
	ts_results_release(&results);
}
