/* SPDX-License-Identifier: MIT */
/* What tests say of a value of a result. */
#ifndef TESTS_RESULT_VALUES_H
#define TESTS_RESULT_VALUES_H

#include <math.h>

#include "tests/test.h"
#include "result/result.h"

static inline void assert_no_value(struct ts_value value)
{
	assert_int_equal(value.type, TS_VALUE_NULL);
}

/* NULL: there is none. */
static inline void assert_text(struct ts_value value, const char *expected)
{
	if (!expected) {
		assert_no_value(value);
		return;
	}
	assert_int_equal(value.type, TS_VALUE_TEXT);
	if (!ts_bytes_is(value.as.s, expected))
		fail_msg("\"%.*s\" is not \"%s\"", TS_ARG(value.as.s), expected);
}

static inline void assert_near(struct ts_value value, double expected, double error)
{
	double is = ts_value_number(value);

	if (!(fabs(is - expected) <= error))
		fail_msg("%.12g is not %.12g", is, expected);
}

/* The first of a rule; NULL: there is none. */
static inline const struct ts_finding *finding_of(const struct ts_result *doctor, const char *rule)
{
	for (size_t i = 0; i < doctor->nr_findings; i++)
		if (strcmp(doctor->findings[i].rule, rule) == 0)
			return &doctor->findings[i];
	return NULL;
}

#endif
