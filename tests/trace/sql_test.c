/* SPDX-License-Identifier: MIT */
/* The SQL package as one text. */
#include "tests/test.h"
#include "trace/perfetto/sql.h"

static bool has(const struct ts_buf *text, const char *word)
{
	return ts_bytes_has(ts_buf_bytes(text), word);
}

TEST(one_text_has_every_view_after_what_it_needs)
{
	static const char *const views[] = { "tpusight_ops",	     "tpusight_steps",
					     "tpusight_findings",    "tpusight_classes",
					     "tpusight_collectives", "tpusight_transfers",
					     "tpusight_counters",    "tpusight_padding" };
	struct ts_buf all = TS_BUF_INIT, create = TS_BUF_INIT;
	size_t rows;

	ts_sql_all(&all);

	rows = ts_bytes_find(ts_buf_bytes(&all), "CREATE PERFETTO TABLE _tpusight_rows AS");
	for (size_t i = 0; i < TS_NELEM(views); i++) {
		ts_buf_clear(&create);
		ts_buf_printf(&create, "CREATE PERFETTO VIEW %s AS", views[i]);
		ts_buf_putc(&create, '\0');
		assert_true(has(&all, (const char *)create.p));
		assert_true(ts_bytes_find(ts_buf_bytes(&all), (const char *)create.p) > rows);
	}
	assert_false(has(&all, "INCLUDE PERFETTO MODULE tpusight."));
	ts_buf_release(&all);
	ts_buf_release(&create);
}

/* trace_processor calls a module by the path of its file, and passes over paths with a dot. */
TEST(a_module_has_a_name_that_can_be_included)
{
	for (size_t i = 0; i < ts_nr_sql_modules; i++) {
		const char *name = ts_sql_modules[i].name;

		assert_int_equal(name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")], '\0');
		assert_true(ts_bytes_starts(ts_sql_modules[i].text, "-- TPUsight: "));
	}
	assert_string_equal(ts_sql_modules[0].name, "rows");
}
