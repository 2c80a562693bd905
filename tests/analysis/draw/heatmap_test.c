/* SPDX-License-Identifier: MIT */
/*
 * Cells of the heat map: an op's utilization over the run x its mean time over the run / its mean time
 * in the cell. The facts of systolic are written down here, so every cell follows by hand.
 */
#include "analysis/facts/systolic.h"
#include "tests/analysis/feed.h"

extern const struct ts_analysis ts_analysis_heatmap;

static void add_steps(struct feed *feed, size_t nr, int64_t each_us)
{
	struct ts_device_steps *device = calloc(1, sizeof(*device));

	assert_non_null(device);
	device->items = calloc(nr, sizeof(*device->items));
	assert_non_null(device->items);
	device->nr = device->cap = nr;
	for (size_t i = 0; i < nr; i++)
		device->items[i] =
			(struct ts_step){ (int64_t)i * each_us * TS_PS_PER_US,
					  (int64_t)(i + 1) * each_us * TS_PS_PER_US, 100 + i };
	feed->outline.steps.devices = device;
	feed->outline.steps.nr_devices = 1;
	feed->outline.steps.nr_steps = nr;
}

/* What systolic knows of one op. */
static void given_systolic(struct feed *feed, uint32_t op, double utilization)
{
	struct ts_matrix_op *item = ts_arena_zalloc(&feed->results.arena, sizeof(*item));
	struct ts_systolic_facts *facts = ts_arena_zalloc(&feed->results.arena, sizeof(*facts));

	*item = (struct ts_matrix_op){ .op = op,
				       .name = feed->profile.ops[op].name,
				       .module = TS_LIT("jit_f"),
				       .utilization = utilization };
	*facts = (struct ts_systolic_facts){ .items = item, .nr = 1, .utilization = NAN };
	feed->facts[ts_id_systolic] = facts;
}

static struct feed *given(size_t nr_steps, uint32_t *line, uint32_t *op)
{
	struct feed *feed = feed_new();

	feed->overlay_budget = 1000;
	*line = feed_device(feed, "TPU v5 lite");
	feed_module(feed, "jit_f", 7);
	feed_op(feed, "dot.1", "convolution", 7, op);
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	add_steps(feed, nr_steps, 100);
	given_systolic(feed, *op, 0.3);
	return feed;
}

static struct ts_value cell(const struct ts_result *result, size_t column)
{
	struct ts_value list = feed_cell(feed_table(result, "ops"), 0, "mxu_utilization_pct");

	assert_int_equal(list.type, TS_VALUE_LIST);
	assert_true(column < list.as.list->nr);
	return list.as.list->items[column];
}

/* 10 and 20 us in the first step, 30 in the third: mean 20 us at 30 %. Cells: 30 x 20 / 15, none, 30 x 20 / 30. */
TEST(cells_are_the_runs_utilization_by_mean_times)
{
	const struct ts_result *result;
	uint32_t line, op;
	struct feed *feed = given(3, &line, &op);

	feed_event(feed, line, op, 0, 10);
	feed_event(feed, line, op, 50, 20);
	feed_event(feed, line, op, 210, 30);
	result = feed_run(feed, &ts_analysis_heatmap);
	assert_near(cell(result, 0), 40, 1e-9);
	assert_no_value(cell(result, 1));
	assert_near(cell(result, 2), 20, 1e-9);
	assert_int_equal(ts_value_int(feed_cell(feed_table(result, "ops"), 0, "time_ps")),
			 60000000);
	assert_int_equal(ts_value_int(ts_result_get(result, "steps_per_column")), 1);
	assert_int_equal(ts_result_get(result, "steps").as.list->nr, 3);
	assert_int_equal(ts_value_int(ts_result_get(result, "steps").as.list->items[2]), 102);
	feed_free(feed);
}

/* 241 steps pass 240 columns: two a column, 121 columns. Steps 0 and 1 share one: (10 + 30) / 2 = 20 us. */
TEST(neighbouring_steps_share_a_column)
{
	const struct ts_result *result;
	uint32_t line, op;
	struct feed *feed = given(241, &line, &op);

	feed_event(feed, line, op, 0, 10);
	feed_event(feed, line, op, 100, 30);
	feed_event(feed, line, op, 24000, 20);
	result = feed_run(feed, &ts_analysis_heatmap);
	assert_int_equal(ts_value_int(ts_result_get(result, "steps_per_column")), 2);
	assert_int_equal(ts_result_get(result, "steps").as.list->nr, 121);
	assert_int_equal(ts_value_int(ts_result_get(result, "steps").as.list->items[1]), 102);
	assert_near(cell(result, 0), 30, 1e-9);
	assert_near(cell(result, 120), 30, 1e-9);
	feed_free(feed);
}

TEST(without_a_drawing_nothing_is_looked_at)
{
	uint32_t line, op;
	struct feed *feed = given(3, &line, &op);

	feed->overlay_budget = 0;
	feed_event(feed, line, op, 0, 10);
	assert_int_equal(feed_run(feed, &ts_analysis_heatmap)->nr_tables, 0);
	feed_free(feed);
}
