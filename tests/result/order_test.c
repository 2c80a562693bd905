/* SPDX-License-Identifier: MIT */
/* The order of rows that a user asks for. */
#include "tests/test.h"
#include "result/order.h"

static const struct ts_column columns[] = {
	{ "name", TS_MEASURED, "op" },
	{ "self_time_ps", TS_MEASURED, "self time" },
};

static struct ts_table *given(struct ts_results *results)
{
	static const struct {
		const char *name;
		int64_t ps; /* -1: unknown */
	} rows[] = { { "b", 5 }, { "a", -1 }, { "d", 70 }, { "c", 5 }, { "", 6 } };
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(results);
	result = ts_results_add(results, "r", NULL);
	table = ts_result_table(result, "t", NULL, columns, TS_NELEM(columns));
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_value *row = ts_table_row(result, table);

		row[0] = ts_text_or_null(ts_bytes_of(rows[i].name));
		row[1] = ts_int_or_null(rows[i].ps);
	}
	return table;
}

static void assert_order(const char *column, const size_t expected[5])
{
	struct ts_results results;
	struct ts_table *table = given(&results);
	size_t rows[5];

	assert_int_equal(ts_table_order(table, column ? ts_table_find_column(table, column) : -1,
					rows, NULL),
			 TS_OK);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(rows[i], expected[i]);
	ts_results_release(&results);
}

TEST(numbers_fall_and_the_unknown_are_last)
{
	assert_order("self_time_ps",
		     (const size_t[]){ 2, 4, 0, 3, 1 }); /* b before c: as they were */
	assert_order("Self Time", (const size_t[]){ 2, 4, 0, 3, 1 });
}

TEST(texts_rise)
{
	assert_order("op", (const size_t[]){ 1, 0, 3, 2, 4 });
}

TEST(without_a_column_rows_stay)
{
	assert_order(NULL, (const size_t[]){ 0, 1, 2, 3, 4 });
}

TEST(a_column_that_is_not_there_is_named)
{
	static const struct {
		const char *name, *message;
	} rows[] = {
		{ "self_tme_ps", "unknown column 'self_tme_ps' (did you mean 'self_time_ps'?)" },
		{ "slf time", "unknown column 'slf time' (did you mean 'self time'?)" },
		{ "nothing", "unknown column 'nothing' (there are: name, self_time_ps)" },
	};
	struct ts_results results;
	struct ts_table *table = given(&results);

	assert_int_equal(ts_tables_need_column(table, 1, "op", NULL), TS_OK);
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_error err = TS_ERROR_INIT;

		assert_int_equal(ts_tables_need_column(table, 1, rows[i].name, &err), TS_USAGE);
		assert_string_equal(err.text, rows[i].message);
	}
	ts_results_release(&results);
}
