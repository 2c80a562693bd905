/* SPDX-License-Identifier: MIT */
/*
 * Collectives: bytes and rates, what was hidden, and who was late. Chip: v5e, whose links carry
 * 45e9 B/s one way. Expected values are worked out beside them.
 */
#include "analysis/facts/collectives.h"
#include "tests/analysis/feed.h"

extern const struct ts_analysis ts_analysis_collectives;

static const struct ts_table *run(struct feed *feed, const char *table)
{
	const struct ts_result *result;

	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	result = feed_run(feed, &ts_analysis_collectives);
	return feed_table(result, table);
}

/* An all-reduce of f32[256,1024], 1 MiB, among GROUP cores. */
static uint32_t add_all_reduce(struct feed *feed, int64_t group)
{
	struct ts_hlo_module *module = feed_module(feed, "jit_step", 7);
	struct ts_hlo_instr *instr;
	uint32_t op;

	feed_instr(feed, module, "a", "parameter", "f32[256,1024]{1,0}", TS_NONE, TS_NONE);
	instr = feed_instr(feed, module, "psum.1", "all-reduce", "f32[256,1024]{1,0}", 0, TS_NONE);
	instr->group_size = group;
	feed_op(feed, "psum.1", "all-reduce", 7, &op);
	return op;
}

/*
 * 1 MiB in 100 us: 1048576 / 100e-6 = 10.48576e9 B/s. Among 4 cores 2 x 3 / 4 of it goes over the
 * links: 15.72864e9, 34.952533 % of 45e9. Nothing hides it.
 */
TEST(test_an_all_reduce_on_four_cores)
{
	struct feed *feed = feed_new();
	uint32_t lines[4], op;
	const struct ts_collectives_facts *facts;
	const struct ts_table *table;

	for (int i = 0; i < 4; i++)
		lines[i] = feed_device(feed, "TPU v5 lite");
	op = add_all_reduce(feed, 4);
	for (int i = 0; i < 4; i++)
		feed_event(feed, lines[i], op, 1000, 100);
	table = run(feed, "collectives");
	assert_int_equal(table->nr_rows, 1);
	assert_text(feed_cell(table, 0, "kind"), "all-reduce");
	assert_text(feed_cell(table, 0, "module"), "jit_step");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "bytes")), 1048576);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "group_size")), 4);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "occurrences")), 4);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "exposed_ps")), INT64_C(400000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "hidden_ps")), 0);
	assert_near(feed_cell(table, 0, "algorithm_bytes_per_s"), 10.48576e9, 1);
	assert_near(feed_cell(table, 0, "bus_bytes_per_s"), 15.72864e9, 1);
	assert_near(feed_cell(table, 0, "link_pct"), 34.952533, 1e-5);
	facts = feed->facts[ts_id_collectives];
	assert_int_equal(facts->nr, 1);
	assert_ptr_equal(ts_collective_of(facts, op), &facts->items[0]);
	assert_true(fabs(facts->items[0].link_s - 34.952533e-6) < 1e-11);
	assert_int_equal(facts->nr_cores, 4);
	assert_int_equal(facts->cores[3].device, 3);
	/* all came at once: none was late */
	assert_int_equal(ts_value_int(feed_cell(table, 0, "mean_skew_ps")), 0);
	assert_no_value(feed_cell(table, 0, "straggler"));
	feed_free(feed);
}

/*
 * Three cores arrive at 100, 110 and 150 us, and a second time at 200, 260 and 220. The third is last
 * first: the others wait 50 + 40 = 90 us, of which (150 - 110) x 2 = 80 are its alone. The second is last
 * then: 60 + 40 = 100, (260 - 220) x 2 = 80. Skews: 50 and 60.
 */
TEST(test_the_last_one_costs_what_the_others_wait)
{
	struct feed *feed = feed_new();
	const int64_t at[3][2] = { { 100, 200 }, { 110, 260 }, { 150, 220 } };
	const struct ts_table *table;
	uint32_t lines[3], op;

	for (int i = 0; i < 3; i++)
		lines[i] = feed_device(feed, "TPU v5 lite");
	op = add_all_reduce(feed, 0);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 2; k++)
			feed_event(feed, lines[i], op, at[i][k], 30);
	table = run(feed, "collectives");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "matched_count")), 2);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "mean_skew_ps")), INT64_C(55000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "max_skew_ps")), INT64_C(60000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "wait_ps")), INT64_C(190000000));
	assert_text(feed_cell(table, 0, "straggler"), "/device:TPU:1");
	assert_text(feed_cell(table, 0, "straggler_host"), "host0");
	assert_near(feed_cell(table, 0, "straggler_last_pct"), 50, 1e-9);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "straggler_cost_ps")),
			 INT64_C(100000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "straggler_excess_ps")),
			 INT64_C(80000000));
	assert_no_value(feed_cell(table, 0, "bus_bytes_per_s")); /* among how many is unknown */
	table = feed_table(feed->result, "collective_cores");
	assert_int_equal(table->nr_rows, 3);
	assert_int_equal(ts_value_int(feed_cell(table, 2, "last_count")), 1);
	assert_int_equal(ts_value_int(feed_cell(table, 2, "cost_ps")), INT64_C(90000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "waited_ps")), INT64_C(110000000));
	feed_free(feed);
}

/* The capture of the second core began one instance later: its first is the other's second. */
TEST(test_an_instance_that_one_core_lacks_shifts_nothing)
{
	struct feed *feed = feed_new();
	uint32_t first = feed_device(feed, "TPU v5 lite"),
		 second = feed_device(feed, "TPU v5 lite");
	const struct ts_table *table;
	uint32_t op = add_all_reduce(feed, 2);

	feed_event(feed, first, op, 100, 10);
	feed_event(feed, first, op, 200, 10);
	feed_event(feed, first, op, 300, 10);
	feed_event(feed, second, op, 203, 7);
	feed_event(feed, second, op, 303, 7);
	table = run(feed, "collectives");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "matched_count")), 2);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "max_skew_ps")), INT64_C(3000000));
	assert_text(feed_cell(table, 0, "straggler"), "/device:TPU:1");
	feed_free(feed);
}

/*
 * Groups {0,2} and {1,3}, ten times. In the first, core 2 comes 5 us after core 0; in the second core 1
 * comes 8 us after core 3; the groups' ends lie 20 us apart, those of members on top of each other.
 * Waits: 10 x 5 + 10 x 8 = 130 us over 20 instances.
 */
TEST(test_groups_are_known_by_cores_that_leave_together)
{
	struct feed *feed = feed_new();
	const int64_t at[4] = { 0, 28, 5, 20 }, until[4] = { 15, 38, 15, 38 };
	const struct ts_table *table;
	uint32_t lines[4], op;

	for (int i = 0; i < 4; i++)
		lines[i] = feed_device(feed, "TPU v5 lite");
	op = add_all_reduce(feed, 2);
	for (int k = 0; k < 10; k++)
		for (int i = 0; i < 4; i++)
			feed_event(feed, lines[i], op, 100 * k + at[i], until[i] - at[i]);
	table = run(feed, "collectives");
	assert_text(feed_cell(table, 0, "groups"), "{0,2},{1,3}");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "matched_count")), 20);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "wait_ps")), INT64_C(130000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "max_skew_ps")), INT64_C(8000000));
	assert_text(feed_cell(table, 0, "straggler"), "/device:TPU:1");
	assert_near(feed_cell(table, 0, "straggler_last_pct"), 100, 1e-9);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "straggler_cost_ps")), INT64_C(80000000));
	feed_free(feed);
}

/* The same ends on all four: which two belong together cannot be known. And where a core leaves before
 * its neighbour comes, they did not wait for each other. */
TEST(test_groups_that_the_clock_cannot_tell_stay_unknown)
{
	const int64_t until[2][4] = { { 40, 40, 40, 40 }, { 15, 38, 16, 38 } };

	for (int n = 0; n < 2; n++) {
		struct feed *feed = feed_new();
		const int64_t at[4] = { 0, n ? 1 : 28, n ? 15 : 5, n ? 39 : 20 };
		const struct ts_table *table;
		uint32_t lines[4], op;

		for (int i = 0; i < 4; i++)
			lines[i] = feed_device(feed, "TPU v5 lite");
		op = add_all_reduce(feed, 2);
		for (int k = 0; k < 10; k++)
			for (int i = 0; i < 4; i++)
				feed_event(feed, lines[i], op, 100 * k + at[i],
					   TS_MAX(until[n][i] - at[i], 0));
		table = run(feed, "collectives");
		assert_no_value(feed_cell(table, 0, "groups"));
		assert_no_value(feed_cell(table, 0, "matched_count"));
		feed_free(feed);
	}
}

/* Two groups of two, seen once: who waits for whom is unknown. */
TEST(test_groups_smaller_than_the_run_are_not_matched)
{
	struct feed *feed = feed_new();
	const struct ts_table *table;
	uint32_t lines[4], op;

	for (int i = 0; i < 4; i++)
		lines[i] = feed_device(feed, "TPU v5 lite");
	op = add_all_reduce(feed, 2);
	for (int i = 0; i < 4; i++)
		feed_event(feed, lines[i], op, 100 + i, 10);
	table = run(feed, "collectives");
	assert_no_value(feed_cell(table, 0, "mean_skew_ps"));
	assert_no_value(feed_cell(table, 0, "straggler"));
	assert_true(feed_has_note(feed->result, "some cores do not wait for the others"));
	feed_free(feed);
}

/*
 * From 100 to 300 us, of which start and done take 5 and 15 on the line: 180 are hidden, 90 %. The
 * gathered array is 4 x 1 MiB: 4194304 / 200e-6 = 20.97152e9 B/s, three quarters of it over the links.
 */
TEST(test_a_start_and_its_done_are_one_collective)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), start, done;
	struct ts_hlo_module *module = feed_module(feed, "jit_step", 7);
	const struct ts_table *table;

	feed_instr(feed, module, "a", "parameter", "f32[256,1024]{1,0}", TS_NONE, TS_NONE);
	feed_instr(feed, module, "all-gather-start.1", "all-gather-start",
		   "(f32[256,1024]{1,0}, f32[1024,1024]{1,0})", 0, TS_NONE)
		->group_size = 4;
	feed_instr(feed, module, "all-gather-done.1", "all-gather-done", "f32[1024,1024]{1,0}", 1,
		   TS_NONE);
	feed_op(feed, "all-gather-start.1", "all-gather-start", 7, &start);
	feed_op(feed, "all-gather-done.1", "all-gather-done", 7, &done);
	feed_event(feed, line, start, 100, 5);
	feed_event(feed, line, done, 285, 15);
	table = run(feed, "collectives");
	assert_int_equal(table->nr_rows, 1);
	assert_text(feed_cell(table, 0, "kind"), "all-gather");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "operand_bytes")), 1048576);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "bytes")), 4194304);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "occurrences")), 1);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "total_time_ps")), INT64_C(200000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "exposed_ps")), INT64_C(20000000));
	assert_int_equal(ts_value_int(feed_cell(table, 0, "hidden_ps")), INT64_C(180000000));
	assert_near(feed_cell(table, 0, "hidden_pct"), 90, 1e-9);
	assert_near(feed_cell(table, 0, "algorithm_bytes_per_s"), 20.97152e9, 1);
	assert_near(feed_cell(table, 0, "bus_bytes_per_s"), 15.72864e9, 1);
	assert_no_value(feed_cell(table, 0, "mean_skew_ps")); /* one core alone */
	feed_free(feed);
}

/* libtpu's reduce-scatter is a fusion that calls an all-reduce. */
TEST(test_a_fusion_around_an_all_reduce_is_a_reduce_scatter)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), op;
	struct ts_hlo_module *module = feed_module(feed, "jit_step", 7);
	static const uint32_t called[] = { 0 };
	const struct ts_table *table;
	struct ts_hlo_instr *fusion;

	feed_instr(feed, module, "p", "parameter", "f32[1024,1024]{1,0}", TS_NONE, TS_NONE);
	feed_instr(feed, module, "all-reduce.2", "all-reduce", "f32[1024,1024]{1,0}", 0, TS_NONE)
		->group_size = 4;
	feed_next_comp(module);
	feed_instr(feed, module, "a", "parameter", "f32[1024,1024]{1,0}", TS_NONE, TS_NONE);
	fusion = feed_instr(feed, module, "fusion.1", "fusion", "f32[256,1024]{1,0}", 2, TS_NONE);
	fusion->fusion_kind = TS_FUSION_CUSTOM;
	fusion->called = called;
	fusion->nr_called = 1;
	feed_op(feed, "fusion.1", "custom fusion", 7, &op);
	feed_event(feed, line, op, 0, 100);
	table = run(feed, "collectives");
	assert_int_equal(table->nr_rows, 1);
	assert_text(feed_cell(table, 0, "kind"), "reduce-scatter");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "bytes")), 4194304);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "output_bytes")), 1048576);
	assert_near(feed_cell(table, 0, "bus_bytes_per_s"), 4194304 / 100e-6 * 3 / 4, 1);
	feed_free(feed);
}

/* Two ranks of a trace: it does not say who meets, so 7 us between their ends are not a matter of their
 * clocks, and who comes last is the one that is later by the time that stands there. */
TEST(test_times_of_traces_stay_as_they_are)
{
	struct feed *feed = feed_new();
	uint32_t lines[2] = { feed_device(feed, "TPU v5 lite"), feed_device(feed, "TPU v5 lite") };
	const struct ts_table *table;
	uint32_t op;

	assert_non_null(ts_profile_add_host(&feed->profile));
	feed->profile.hosts[1].name = TS_LIT("host1");
	feed->profile.devices[1].host = feed->profile.planes[1].host = 1;
	feed_op(feed, "ncclDevKernel_AllReduce", "all-reduce", 7, &op)->is_traced = true;
	for (int k = 0; k < 10; k++) {
		feed_event(feed, lines[0], op, 100 * k, 20);
		feed_event(feed, lines[1], op, 100 * k + 5, 22);
	}
	table = run(feed, "collectives");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "matched_count")), 10);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "wait_ps")), INT64_C(50000000));
	assert_text(feed_cell(table, 0, "straggler_host"), "host1");
	assert_null(((const struct ts_collectives_facts *)feed->facts[ts_id_collectives])->clocks);
	feed_free(feed);
}
