/* SPDX-License-Identifier: MIT */
/* One screen of a report, against one written by hand. */
#include "tests/test.h"
#include "result/schema/capture.def"
#include "result/schema/overview.def"
#include "write/screen.h"

#include "sample.h"

#define DOT "\xC2\xB7"
#define HEAD                                                                                 \
	"profiles/run1/2025_03_11\n"                                                         \
	"1 host " DOT " 2 x TPU v6e " DOT " 92.6 s " DOT " 2 steps (inferred from jit_f)\n"  \
	"health 14/100   device busy 86.5 %\n"                                               \
	"\n"                                                                                 \
	"Your workload is compute-bound (good for TPU!)\n"                                   \
	"device time: compute 68.0 % " DOT " memory wait 20.3 % " DOT " compilation 8.1 %\n"   \
	"rematerialization 3.6 %\n"                                                          \
	"\n"
#define WORDS "Findings, by the time they could save:\n"
#define FIRST                                                                              \
	"1 critical    18.8 s  82 % of core time waits for copies to and from host memory\n" \
	"                      (host-offload.py:29)\n"                                        \
	"   do: keep the parameters in HBM\n"
#define SECOND "2 info             -  a file is cut off\n"

static void assert_screen(size_t top, const char *expected)
{
	const struct ts_report report = { .width = 80, .top = top };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	ts_screen_text(&out, &results, &report);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(the_run_the_verdict_the_findings)
{
	assert_screen(0, HEAD WORDS FIRST "... and 1 note (tpusight report --view doctor)\n");
}

TEST(as_many_findings_as_asked_for)
{
	assert_screen(1, HEAD WORDS FIRST "... and 1 more (tpusight report --view doctor)\n");
	assert_screen(2, HEAD WORDS FIRST SECOND);
	assert_screen(3, HEAD WORDS FIRST SECOND);
}

/* The sample with a verdict on its capture; IS_HOST: and without its devices. */
static void assert_begins(const char *verdict, bool is_host, const char *says, const char *never)
{
	const struct ts_report report = { .width = 80 };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_result *capture;
	struct ts_results results;

	ts_results_init(&results);
	if (is_host) {
		struct ts_result *run = TS_ADD(&results, overview);
		struct ts_value *items;

		TS_SET(run, overview, run.devices, ts_result_list(run, NULL, 0, 0, &items));
	} else {
		sample_overview(&results);
	}
	sample_time(&results);
	capture = TS_ADD(&results, capture);
	TS_SET(capture, capture, verdict, ts_text(ts_bytes_of(verdict)));
	ts_screen_text(&out, &results, &report);
	assert_true(ts_bytes_has(ts_buf_bytes(&out), says));
	assert_false(ts_bytes_has(ts_buf_bytes(&out), never));
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(figures_that_mislead_have_no_verdict)
{
	assert_begins("misleading", false, "The capture is misleading (tpusight check says why)\n",
		      "compute-bound");
	assert_begins("usable", false, "compute-bound", "misleading");
}

TEST(a_damaged_profile_of_hosts_may_have_had_a_device)
{
	assert_begins("misleading", true, "The capture is misleading (tpusight check says why)\n",
		      "No TPU or GPU");
}

TEST(a_profile_of_hosts_is_not_called_empty)
{
	assert_begins("empty", true,
		      "No TPU or GPU is in this profile: what is known is of its hosts\n",
		      "capture is empty");
}
