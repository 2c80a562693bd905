/* SPDX-License-Identifier: MIT */
/* What analyses need of one another: no circles, and nothing of a later pass. */
#include "tests/test.h"
#include "analysis/analysis.h"
#include "analysis/list.h"

#define DECLARE_ID(name) extern const size_t ts_id_##name;
TS_ANALYSES(DECLARE_ID)

TEST(each_analysis_stands_at_its_id)
{
#define AT_ITS_ID(id) assert_string_equal(ts_analyses[ts_id_##id]->schema->name, #id);
#define COUNT(name) +1
	TS_ANALYSES(AT_ITS_ID)
	assert_null(ts_analyses[TS_ANALYSES(COUNT)]);
}

TEST(no_need_is_of_a_later_pass)
{
	for (size_t i = 0; ts_analyses[i]; i++) {
		const size_t *const *need = ts_analyses[i]->needs;

		for (; need && *need; need++)
			if (ts_analyses[**need]->pass > ts_analyses[i]->pass)
				fail_msg("%s needs %s, which a later pass closes",
					 ts_analyses[i]->schema->name,
					 ts_analyses[**need]->schema->name);
	}
}

/* Rules are checked when their analysis is closed. */
TEST(no_rule_is_of_a_later_pass)
{
	for (size_t i = 0; ts_analyses[i]; i++)
		for (size_t k = 0; ts_analyses[i]->runs_rules && ts_analyses[k]; k++)
			if (ts_analyses[k]->rules && ts_analyses[k]->pass > ts_analyses[i]->pass)
				fail_msg("%s has rules, and a later pass than %s closes it",
					 ts_analyses[k]->schema->name,
					 ts_analyses[i]->schema->name);
}

/* DEPTH needs behind one another; more than there are analyses are a circle. */
static void visit(const struct ts_analysis *analysis, size_t depth)
{
	if (depth > TS_MAX_ANALYSES)
		fail_msg("%s needs itself, by way of others", analysis->schema->name);
	for (const size_t *const *need = analysis->needs; need && *need; need++)
		visit(ts_analyses[**need], depth + 1);
}

TEST(needs_do_not_stand_in_a_circle)
{
	for (size_t i = 0; ts_analyses[i]; i++)
		visit(ts_analyses[i], 0);
}
