/* SPDX-License-Identifier: MIT */
/* Sentences from templates and words. */
#include "tests/analysis/doctor/doctor_given.h"

#include "analysis/doctor/doctor.h"

static void assert_said(struct ts_doctor *doctor, const char *expected)
{
	ts_buf_putc(&doctor->text, '\0');
	assert_false(doctor->text.failed);
	assert_string_equal((const char *)doctor->text.p, expected);
	ts_buf_clear(&doctor->text);
}

TEST(each_word_is_written_by_its_type)
{
	struct ts_doctor doctor = { .text = TS_BUF_INIT };

	TS_PUT(&doctor, "{share} of {name} in {time}, {bytes} at {rate}", TS_SHARE(0.82),
	       TS_NAME(TS_LIT("f")), TS_TIME(1230000000), TS_BYTES(2048), TS_RATE(2e9));
	assert_said(&doctor, "82 % of f in 1.23 ms, 2.00 KiB at 2.00 GB/s");
	TS_PUT(&doctor, "{pct}, {number} us, {metric}FLOP/s, {text}", TS_PCT(14.4), TS_ROUNDED(9.7),
	       TS_METRIC(1.5e9), TS_STRING("x{y}[z]"));
	assert_said(&doctor, "14.4 %, 10 us, 1.50 GFLOP/s, x{y}[z]");
	TS_PUT(&doctor, "{name}", TS_NAME(TS_LIT("")));
	assert_said(&doctor, "(unnamed)");
	ts_buf_release(&doctor.text);
}

TEST(endings_follow_the_last_count)
{
	struct ts_doctor doctor = { .text = TS_BUF_INIT };

	TS_PUT(&doctor, "{count} step{s} wait{v}", TS_COUNT(1));
	assert_said(&doctor, "1 step waits");
	TS_PUT(&doctor, "{count} step{s} wait{v}", TS_COUNT(0));
	assert_said(&doctor, "0 steps wait");
	TS_PUT(&doctor, "{count} of {count} step{s}", TS_COUNT(1), TS_COUNT(2));
	assert_said(&doctor, "1 of 2 steps");
	ts_buf_release(&doctor.text);
}

TEST(a_part_with_a_missing_word_is_left_out)
{
	struct ts_doctor doctor = { .text = TS_BUF_INIT };

	TS_PUT(&doctor, "a[ at {name}][ in {count} gap{s}][ for {time}][, {bytes}].",
	       TS_NAME(TS_LIT("f.py")), TS_COUNT(1), TS_TIME(1000), TS_BYTES(1));
	assert_said(&doctor, "a at f.py in 1 gap for 1.00 ns, 1 B.");
	TS_PUT(&doctor, "a[ at {name}][ in {count} gap{s}][ for {time}][, {bytes}].",
	       TS_NAME(TS_LIT("")), TS_COUNT(-1), TS_TIME(-1), TS_BYTES(NAN));
	assert_said(&doctor, "a.");
	TS_PUT(&doctor, "[{count} of {count}, ]{text}", TS_COUNT(1), TS_WHEN(false, TS_COUNT(2)),
	       TS_STRING("b"));
	assert_said(&doctor, "b");
	ts_buf_release(&doctor.text);
}
