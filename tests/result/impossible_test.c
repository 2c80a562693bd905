/* SPDX-License-Identifier: MIT */
/* Figures above their peak are not shown as facts, and stand apart with their cause. */
#include "tests/test.h"
#include "result/impossible.h"
#include "result/terms.h"

static const struct ts_column columns[] = {
	{ "op", TS_MEASURED, "op", .term = &ts_term_op },
	{ "share_pct", TS_MODELLED, "share" },
};

static struct ts_results results;

static int set_up(void **state)
{
	ts_results_init(&results);
	*state = ts_results_add(&results, "view", "View");
	return 0;
}

static int tear_down(void **state)
{
	ts_results_release(&results);
	return 0;
}

TEST_WITH(what_is_above_its_peak_has_no_number, set_up, tear_down)
{
	struct ts_value value = ts_held_value(*state, 895e15, 1640e9, TS_LIT("because"));

	assert_int_equal(value.type, TS_VALUE_IMPOSSIBLE);
	assert_true(isnan(ts_value_number(value)));
	assert_int_equal(ts_value_int(value), -1);
	assert_true(value.as.impossible->value == 895e15 && value.as.impossible->peak == 1640e9);
	assert_true(ts_bytes_is(value.as.impossible->cause, "because"));
}

/* A tick of the clock is not a contradiction: the figure is the peak. */
TEST_WITH(what_is_a_little_above_is_the_peak, set_up, tear_down)
{
	assert_true(ts_value_number(ts_held_share_pct(*state, 1.019, TS_LIT("x"))) == 100);
	assert_int_equal(ts_held_share_pct(*state, 1.021, TS_LIT("x")).type, TS_VALUE_IMPOSSIBLE);
	assert_true(ts_value_number(ts_held_share_pct(*state, 0.5, TS_LIT("x"))) == 50);
}

TEST_WITH(an_unknown_peak_or_value_holds_nothing, set_up, tear_down)
{
	assert_true(ts_value_number(ts_held_value(*state, 5, NAN, TS_LIT("x"))) == 5);
	assert_int_equal(ts_held_value(*state, NAN, 5, TS_LIT("x")).type, TS_VALUE_NULL);
	assert_int_equal(ts_impossible_value(*state, NAN, 5, TS_LIT("x")).type, TS_VALUE_NULL);
}

TEST_WITH(a_share_made_of_what_cannot_be_true_is_not_known, set_up, tear_down)
{
	struct ts_held good = { .share = 0.5 }, bad = { 0.5, TS_LIT("half of it is wrong") };

	assert_true(ts_held_known(good) == 0.5 && isnan(ts_held_known(bad)));
	assert_true(ts_value_number(ts_held_pct(*state, good)) == 50);
	assert_int_equal(ts_held_pct(*state, bad).type, TS_VALUE_IMPOSSIBLE);
}

static void collect(void *arg, const struct ts_impossible_place *place)
{
	struct ts_impossible_place **next = arg;

	*(*next)++ = *place;
}

TEST_WITH(they_are_found_where_they_stand, set_up, tear_down)
{
	struct ts_impossible_place places[4], *next = places;
	struct ts_result *result = *state;
	struct ts_table *table = ts_result_table(result, "ops", "Ops", columns, TS_NELEM(columns));
	struct ts_value *row;

	ts_result_field(result, "fine_pct", ts_real(5), TS_MODELLED, NULL);
	ts_result_field(result, "mxu_pct", ts_held_share_pct(result, 7, TS_LIT("a")), TS_MODELLED,
			NULL);
	row = ts_table_row(result, table);
	row[0] = ts_text(TS_LIT("good"));
	row[1] = ts_real(4);
	row = ts_table_row(result, table);
	row[0] = ts_text(TS_LIT("copy-start.4"));
	row[1] = ts_held_share_pct(result, 546, TS_LIT("b"));
	assert_int_equal(ts_result_each_impossible(result, NULL, collect, &next), 2);
	assert_string_equal(places[0].name, "mxu_pct");
	assert_null(places[0].table);
	assert_int_equal(ts_impossible_item(&places[0]).n, 0);
	assert_string_equal(places[1].name, "share_pct");
	assert_int_equal(places[1].row, 1);
	assert_true(ts_bytes_is(ts_impossible_item(&places[1]), "copy-start.4"));
	assert_int_equal(ts_result_each_impossible(result, table, NULL, NULL), 1);
}

/* A list says which of its items it is. */
TEST_WITH(they_are_found_in_lists, set_up, tear_down)
{
	struct ts_impossible_place places[2], *next = places;
	struct ts_result *result = *state;
	struct ts_table *table = ts_result_table(result, "ops", "Ops", columns, TS_NELEM(columns));
	struct ts_value *items;
	struct ts_value list = ts_result_list(result, NULL, 0, 3, &items);
	struct ts_value *row = ts_table_row(result, table);

	items[0] = ts_real(7);
	items[1] = ts_null();
	items[2] = ts_held_share_pct(result, 13.67, TS_LIT("a"));
	row[0] = ts_text(TS_LIT("fusion.10"));
	row[1] = list;
	assert_int_equal(ts_result_each_impossible(result, table, collect, &next), 1);
	assert_true(places[0].in_list && places[0].index == 2 && places[0].row == 0);
	assert_string_equal(places[0].name, "share_pct");
	assert_true(ts_bytes_is(ts_impossible_item(&places[0]), "fusion.10"));
	assert_true(places[0].figure->value == 1367);
}

/* The origin belongs to the value; that of the field is what most values have. */
TEST_WITH(a_value_may_come_from_elsewhere_than_its_column, set_up, tear_down)
{
	struct ts_result *result = *state;
	struct ts_table *table = ts_result_table(result, "ops", "Ops", columns, TS_NELEM(columns));

	ts_result_field(result, "plain", ts_int(1), TS_MEASURED, NULL);
	ts_result_field(result, "steps", ts_value_from(ts_int(1), TS_INFERRED), TS_MEASURED, NULL);
	assert_int_equal(ts_field_origin(&result->fields[0]), TS_MEASURED);
	assert_int_equal(ts_field_origin(&result->fields[1]), TS_INFERRED);
	assert_int_equal(ts_column_origin(table, 1), TS_MODELLED);
	ts_table_row(result, table)[1] = ts_value_from(ts_int(1), TS_INFERRED);
	assert_int_equal(ts_column_origin(table, 1), TS_INFERRED);
	ts_table_row(result, table)[1] = ts_int(2);
	assert_int_equal(ts_column_origin(table, 1), TS_AS_FIELD);
	assert_string_equal(ts_origin_name(TS_AS_FIELD), "mixed");
	assert_string_equal(ts_origin_name(TS_INFERRED), "inferred");
}
