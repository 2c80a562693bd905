/* SPDX-License-Identifier: Apache-2.0 */
/* What analyses need of one another: no circles, and nothing of a later pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/analysis.h"

static void each_analysis_stands_at_its_id(void **state)
{
#define AT_ITS_ID(id) assert_string_equal(ts_analyses[TS_ANALYSIS_##id]->schema->name, #id);
	TS_ANALYSES(AT_ITS_ID)
#undef AT_ITS_ID
	assert_null(ts_analyses[TS_NR_ANALYSES]);
}

static void no_need_is_of_a_later_pass(void **state)
{
	for (size_t i = 0; i < TS_NR_ANALYSES; i++) {
		const enum ts_analysis_id *need = ts_analyses[i]->needs;

		for (; need && *need != TS_NR_ANALYSES; need++)
			if (ts_analyses[*need]->pass > ts_analyses[i]->pass)
				fail_msg("%s needs %s, which a later pass closes",
					 ts_analyses[i]->schema->name,
					 ts_analyses[*need]->schema->name);
	}
}

/* Rules are checked when their analysis is closed. */
static void no_rule_is_of_a_later_pass(void **state)
{
	for (size_t i = 0; i < TS_NR_ANALYSES; i++)
		for (size_t k = 0; ts_analyses[i]->runs_rules && k < TS_NR_ANALYSES; k++)
			if (ts_analyses[k]->rules && ts_analyses[k]->pass > ts_analyses[i]->pass)
				fail_msg("%s has rules, and a later pass than %s closes it",
					 ts_analyses[k]->schema->name,
					 ts_analyses[i]->schema->name);
}

static void visit(size_t at, int *seen)
{
	const enum ts_analysis_id *need = ts_analyses[at]->needs;

	if (seen[at] == 1)
		fail_msg("%s needs itself, by way of others", ts_analyses[at]->schema->name);
	if (seen[at])
		return;
	seen[at] = 1;
	for (; need && *need != TS_NR_ANALYSES; need++)
		visit(*need, seen);
	seen[at] = 2;
}

static void needs_do_not_stand_in_a_circle(void **state)
{
	int seen[TS_NR_ANALYSES] = { 0 };

	for (size_t i = 0; i < TS_NR_ANALYSES; i++)
		visit(i, seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_analysis_stands_at_its_id),
		cmocka_unit_test(no_need_is_of_a_later_pass),
		cmocka_unit_test(no_rule_is_of_a_later_pass),
		cmocka_unit_test(needs_do_not_stand_in_a_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
