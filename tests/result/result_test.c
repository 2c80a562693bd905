/* SPDX-License-Identifier: MIT */
/* Results: what goes in comes out, and nothing asked for in vain is an accident. */
#include "tests/test.h"
#include "analysis/analysis.h"
#include "result/view.h"

static const struct ts_column columns[] = {
	{ "name", TS_MEASURED, "op" },
	{ "time_ps", TS_MEASURED, "time" },
};

static int set_up(void **state)
{
	struct ts_results *results = malloc(sizeof(*results));

	ts_results_init(results);
	*state = results;
	return 0;
}

static int tear_down(void **state)
{
	ts_results_release(*state);
	free(*state);
	return 0;
}

TEST_WITH(fields_keep_their_order_and_the_newest_value, set_up, tear_down)
{
	struct ts_result *result = ts_results_add(*state, "r", "R");
	char names[100][16];

	for (int i = 0; i < 100; i++) { /* more than the first room */
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		assert_true(ts_result_field(result, names[i], ts_int(i), TS_MEASURED, NULL));
	}
	assert_true(ts_result_field(result, "f7", ts_int(-7), TS_ASSUMED, "seven"));
	assert_int_equal(result->nr_fields, 100);
	for (int i = 0; i < 100; i++)
		assert_string_equal(result->fields[i].name, names[i]);
	assert_int_equal(result->fields[7].value.as.i, -7);
	assert_int_equal(result->fields[7].origin, TS_ASSUMED);
	assert_int_equal(ts_result_get(result, "f99").as.i, 99);
}

TEST_WITH(rows_are_null_until_filled_and_stay_when_the_table_grows, set_up, tear_down)
{
	struct ts_result *result = ts_results_add(*state, "r", "R");
	struct ts_table *table = ts_result_table(result, "t", "T", columns, 2);

	for (int i = 0; i < 1000; i++) {
		struct ts_value *row = ts_table_row(result, table);

		assert_int_equal(row[0].type, TS_VALUE_NULL);
		assert_int_equal(row[1].type, TS_VALUE_NULL);
		row[1] = ts_int(i);
	}
	assert_int_equal(table->nr_rows, 1000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(ts_table_cell(table, i, 1).as.i, i);
}

TEST_WITH(what_is_not_there_is_null, set_up, tear_down)
{
	struct ts_result *result = ts_results_add(*state, "r", "R");
	struct ts_table *table = ts_result_table(result, "t", "T", columns, 2);

	assert_null(ts_results_find(*state, "x"));
	assert_ptr_equal(ts_results_find(*state, "r"), result);
	assert_int_equal(ts_result_get(result, "x").type, TS_VALUE_NULL);
	assert_int_equal(ts_result_get(NULL, "x").type, TS_VALUE_NULL);
	assert_null(ts_result_find_table(result, "x"));
	assert_null(ts_result_find_table(NULL, "x"));
	assert_ptr_equal(ts_result_find_table(result, "t"), table);
	assert_int_equal(ts_table_column(table, "time_ps"), 1);
	assert_int_equal(ts_table_column(table, "x"), -1);
	assert_int_equal(ts_table_column(NULL, "x"), -1);
	assert_int_equal(ts_table_cell(table, 0, 0).type, TS_VALUE_NULL); /* no such row */
	assert_non_null(ts_table_row(result, table));
	assert_int_equal(ts_table_cell(table, 0, -1).type, TS_VALUE_NULL);
	assert_int_equal(ts_table_cell(table, 0, 2).type, TS_VALUE_NULL);
	assert_int_equal(ts_table_cell(NULL, 0, 0).type, TS_VALUE_NULL);
}

TEST(values_read_as_numbers_where_they_are)
{
	assert_true(ts_value_number(ts_int(-3)) == -3);
	assert_true(ts_value_number(ts_id(3)) == 3);
	assert_true(ts_value_number(ts_real(0.5)) == 0.5);
	assert_true(isnan(ts_value_number(ts_null())));
	assert_true(isnan(ts_value_number(ts_text(TS_LIT("3")))));
	assert_true(isnan(ts_value_number(ts_bool(true))));
	assert_int_equal(ts_value_int(ts_int(7)), 7);
	assert_int_equal(ts_value_int(ts_id(UINT64_MAX)), -1);
	assert_int_equal(ts_value_int(ts_real(2.5)), 3);
	assert_int_equal(ts_value_int(ts_real(1e300)), -1);
	assert_int_equal(ts_value_int(ts_null()), -1);
	assert_int_equal(ts_real(NAN).type, TS_VALUE_NULL);
	assert_int_equal(ts_real(-INFINITY).type, TS_VALUE_NULL);
	assert_int_equal(ts_int_or_null(-1).type, TS_VALUE_NULL);
	assert_int_equal(ts_text_or_null((struct ts_bytes){ NULL, 0 }).type, TS_VALUE_NULL);
}

TEST_WITH(lists_have_room_for_what_was_asked, set_up, tear_down)
{
	static const struct ts_column names[] = { { .name = "a" }, { .name = "b" } };
	struct ts_result *result = ts_results_add(*state, "r", "R");
	struct ts_value *items, list;

	list = ts_result_list(result, names, 2, 3, &items);
	for (int i = 0; i < 6; i++)
		items[i] = ts_int(i);
	assert_int_equal(list.type, TS_VALUE_LIST);
	assert_int_equal(list.as.list->nr, 3);
	assert_int_equal(list.as.list->items[5].as.i, 5);
	list = ts_result_list(result, NULL, 0, 0, &items);
	assert_int_equal(list.as.list->nr, 0);
	assert_non_null(items);
	list = ts_result_list(result, names, 2, SIZE_MAX, &items);
	assert_int_equal(list.type, TS_VALUE_NULL);
	assert_null(items);
	assert_true(((struct ts_results *)*state)->failed);
}

TEST_WITH(findings_begin_unknown_and_notes_are_kept, set_up, tear_down)
{
	struct ts_result *result = ts_results_add(*state, "r", "R");
	char expected[32];

	for (int i = 0; i < 40; i++) {
		struct ts_finding *finding = ts_result_finding(result);

		assert_int_equal(finding->impact_ps, -1);
		assert_true(isnan(finding->impact_share));
		finding->impact_ps = i;
		ts_result_note(result, "note %d", i);
	}
	for (int i = 0; i < 40; i++) {
		snprintf(expected, sizeof(expected), "note %d", i);
		assert_int_equal(result->findings[i].impact_ps, i);
		assert_true(ts_bytes_is(result->notes[i], expected));
	}
	assert_true(ts_bytes_is(ts_result_text(result, "%s-%d", "x", 1), "x-1"));
}

TEST_WITH(there_is_room_for_any_number_of_results, set_up, tear_down)
{
	struct ts_results *results = *state;
	const struct ts_result *first = ts_results_add(results, "first", "First");
	char names[1000][8];

	for (size_t i = 0; i < 1000; i++) {
		snprintf(names[i], sizeof(names[i]), "r%zu", i);
		assert_non_null(ts_results_add(results, names[i], "R"));
	}
	assert_false(results->failed);
	assert_ptr_equal(ts_results_find(results, "first"), first);
	assert_int_equal(results->nr, 1001);
}

TEST(names_are_those_of_the_report)
{
	assert_string_equal(ts_severity_name(TS_CRITICAL), "critical");
	assert_string_equal(ts_severity_name(TS_INFO), "info");
	assert_string_equal(ts_confidence_name(TS_POSSIBLE), "possible");
	assert_string_equal(ts_origin_name(TS_MEASURED), "measured");
	assert_string_equal(ts_origin_name(TS_DERIVED), "derived");
}

TEST_WITH(view_is_found_by_its_name, set_up, tear_down)
{
	struct ts_result *top = ts_results_add(*state, "ops", "Ops");
	struct ts_result *time = ts_results_add(*state, "time", "Time");
	struct ts_table *ops = ts_result_table(top, "ops", NULL, columns, 2);
	struct ts_table *modules = ts_result_table(top, "modules", NULL, columns, 2);
	struct ts_table *steps = ts_result_table(time, "per_step", NULL, columns, 2);
	struct ts_view view;

	top->top_level = true;
	assert_int_equal(ts_view_find(*state, "ops", &view, NULL), TS_OK);
	assert_ptr_equal(view.table, ops); /* the rows, and not the result of that name */
	assert_int_equal(ts_view_find(*state, "modules", &view, NULL), TS_OK);
	assert_ptr_equal(view.table, modules);
	assert_int_equal(ts_view_find(*state, "time", &view, NULL), TS_OK);
	assert_ptr_equal(view.result, time);
	assert_null(view.table);
	assert_int_equal(ts_view_find(*state, "time.per_step", &view, NULL), TS_OK);
	assert_ptr_equal(view.table, steps);
	assert_int_equal(ts_view_find(*state, "per_step", &view, NULL), TS_USAGE);
	assert_int_equal(ts_view_find(*state, "", &view, NULL), TS_USAGE);
	ts_result_track(ts_results_add(*state, "marks", NULL), TS_TRACK_SLICES, "t", 0, 0);
	assert_int_equal(ts_view_find(*state, "marks", &view, NULL), TS_USAGE); /* for viewers */
}

/* With a result of every analysis, and a name that is longer than any. */
TEST_WITH(the_list_of_views_is_never_cut, set_up, tear_down)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_view view;
	char name[600];

	for (size_t i = 0; ts_analyses[i]; i++)
		ts_result_field(ts_results_add(*state, ts_analyses[i]->schema->name, NULL), "x",
				ts_int(1), TS_MEASURED, NULL);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(ts_view_find(*state, name, &view, &err), TS_USAGE);
	assert_non_null(strstr(err.text, "doctor, "));
	assert_non_null(strstr(err.text, " of each)"));
	assert_int_equal(ts_view_find(*state, NULL, &view, &err), TS_USAGE);
	assert_non_null(strstr(err.text, " of each)"));
}

TEST_WITH(a_misspelt_view_gets_the_one_that_is_close, set_up, tear_down)
{
	static const struct ts_column cores[] = { { "core", TS_MEASURED, NULL } };
	struct ts_result *time = ts_results_add(*state, "time", NULL);
	struct ts_error err = TS_ERROR_INIT;
	struct ts_view view;

	ts_result_table(time, "per_step", NULL, cores, 1);
	assert_int_equal(ts_view_find(*state, "time.perstep", &view, &err), TS_USAGE);
	assert_string_equal(err.text,
			    "unknown view 'time.perstep' (did you mean 'time.per_step'?)");
	assert_int_equal(ts_view_find(*state, "tme", &view, &err), TS_USAGE);
	assert_string_equal(err.text, "unknown view 'tme' (did you mean 'time'?)");
}
