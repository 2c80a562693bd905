/* SPDX-License-Identifier: MIT */
/* Gates: what is read from an expression, where a bad one is wrong, and when one fails. */
#include "tests/test.h"
#include "compare/gate.h"

static const struct {
	const char *text;
	double value, baseline;
	enum ts_gate_state state;
	double limit;
} good[] = {
	{ "step_time_ms.mean > 150", 151, NAN, TS_GATE_FAILED, 150 },
	{ "step_time_ms.mean > 150", 150, NAN, TS_GATE_HOLDS, 150 },
	{ "a>=1.5e2", 150, NAN, TS_GATE_FAILED, 150 },
	{ "a < -3", -4, NAN, TS_GATE_FAILED, -3 },
	{ "a<=.5", 0.5, NAN, TS_GATE_FAILED, 0.5 },
	{ "\t a  == 2 ", 2, NAN, TS_GATE_FAILED, 2 },
	{ "a != 2", 2, NAN, TS_GATE_HOLDS, 2 },
	{ "a > baseline", 11, 10, TS_GATE_FAILED, 10 },
	{ "a > baseline * 1.5", 14, 10, TS_GATE_HOLDS, 15 },
	{ "a > baseline*150%", 16, 10, TS_GATE_FAILED, 15 },
	{ "a > baseline + 50 %", 16, 10, TS_GATE_FAILED, 15 },
	{ "a < baseline - 50%", 6, 10, TS_GATE_HOLDS, 5 },
	{ "a > baseline + 5", 16, 10, TS_GATE_FAILED, 15 },
	{ "a > baseline + 50%", -6, -10, TS_GATE_HOLDS, -5 }, /* more of a negative is more */
	/* what is not known does not pass */
	{ "a > 1", NAN, NAN, TS_GATE_UNKNOWN, 1 },
	{ "a > baseline", 1, NAN, TS_GATE_UNKNOWN, NAN },
};

TEST(a_gate_fails_when_what_it_says_is_so)
{
	for (size_t i = 0; i < TS_NELEM(good); i++) {
		struct ts_gate_verdict verdict;
		struct ts_gate gate;
		size_t at;

		assert_int_equal(ts_gate_parse(good[i].text, &gate, &at, NULL), TS_OK);
		verdict = ts_gate_judge(&gate, true, good[i].value, good[i].baseline);
		if (verdict.state != good[i].state)
			fail_msg("%s is %s", good[i].text, ts_gate_state_name(verdict.state));
		if (!isnan(good[i].limit))
			assert_true(verdict.limit == good[i].limit);
	}
}

TEST(a_name_that_no_report_has_does_not_pass)
{
	struct ts_gate gate;
	size_t at;

	assert_int_equal(ts_gate_parse("typo > 1", &gate, &at, NULL), TS_OK);
	assert_int_equal(ts_gate_judge(&gate, false, NAN, NAN).state, TS_GATE_NO_NAME);
}

TEST(a_bad_gate_is_wrong_where_it_is_wrong)
{
	static const struct {
		const char *text;
		size_t at;
	} bad[] = {
		{ "", 0 },
		{ "   ", 3 },
		{ "> 3", 0 },
		{ "9lives > 3", 0 },
		{ "a", 1 },
		{ "a = 3", 2 },
		{ "a ~ 3", 2 },
		{ "a >", 3 },
		{ "a > b", 4 },
		{ "a > baselines", 4 },
		{ "a > baseline / 2", 13 },
		{ "a > baseline 2", 13 },
		{ "a > baseline *", 14 },
		{ "a > baseline * x", 15 },
		{ "a > 3 %", 6 },
		{ "a > 3 and b > 4", 6 },
		{ "a > 0x10", 4 },
		{ "a > 1e999", 4 },
		{ "a > nan", 4 },
		{ "a > -inf", 4 },
		{ "a > - 3", 4 },
		{ "a-b > 3", 1 },
	};

	for (size_t i = 0; i < TS_NELEM(bad); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_gate gate;
		size_t at = 99;

		if (ts_gate_parse(bad[i].text, &gate, &at, &err) != TS_USAGE || at != bad[i].at)
			fail_msg("\"%s\": wrong at %zu: %s", bad[i].text, at, err.text);
		assert_true(err.text[0] != '\0');
	}
}
