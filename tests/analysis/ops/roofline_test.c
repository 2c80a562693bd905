/* SPDX-License-Identifier: MIT */
/*
 * The roofline's rows. Chip: v5e, 197e12 FLOP/s, 819e9 B/s of HBM, so its ridge is at 240.537 FLOPs a
 * byte. Expected values are worked out beside them.
 */
#include "tests/analysis/feed.h"

extern const struct ts_analysis ts_analysis_ops, ts_analysis_roofline;

/* An op with a breakdown: HBM bytes, half of them read. */
static struct ts_op *add_op(struct feed *feed, const char *name, int64_t flops, int64_t hbm_bytes,
			    uint32_t *at)
{
	struct ts_op *op = feed_op(feed, name, "loop fusion", 7, at);

	op->symbol_id = 1;
	op->flops = op->model_flops = flops;
	op->bytes_accessed = hbm_bytes;
	op->hbm_read_bytes = op->hbm_write_bytes = hbm_bytes / 2;
	return op;
}

static const struct ts_table *run(struct feed *feed)
{
	feed_run(feed, &ts_analysis_ops);
	return feed_table(feed_run(feed, &ts_analysis_roofline), "roofline");
}

/* The first row of this kind and name (NULL: any). */
static size_t row_of(const struct ts_table *table, const char *kind, const char *name)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		struct ts_value value = feed_cell(table, i, "name");

		if (ts_bytes_is(feed_cell(table, i, "kind").as.s, kind) &&
		    (!name || (value.type == TS_VALUE_TEXT && ts_bytes_is(value.as.s, name))))
			return i;
	}
	fail_msg("no row %s %s", kind, name ? name : "");
	return 0;
}

/*
 * 1.97e9 FLOPs in 100 us: 1.97e13 a second, 10 % of the peak. 16.38e6 bytes: 163.8e9 a second, 20 %.
 * So HBM bounds it, at 120.269 FLOPs a byte, and 1.97e13 / 0.2 = 9.85e13 FLOP/s is all it can reach.
 */
TEST(test_an_op_below_the_ridge_is_bound_by_hbm)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), op;
	const struct ts_table *table, *ridges;
	size_t row;

	add_op(feed, "fusion.1", 1970000000, 16380000, &op);
	feed_event(feed, line, op, 0, 100);
	table = run(feed);
	row = row_of(table, "op", "fusion.1");
	assert_near(feed_cell(table, row, "flops_per_s"), 1.97e13, 1e3);
	assert_near(feed_cell(table, row, "hbm_bytes_per_s"), 163.8e9, 10);
	assert_near(feed_cell(table, row, "operational_intensity"), 120.268620, 1e-5);
	assert_near(feed_cell(table, row, "bottleneck_operational_intensity"), 120.268620, 1e-5);
	assert_text(feed_cell(table, row, "bound_by"), "HBM");
	assert_near(feed_cell(table, row, "flops_utilization_pct"), 10, 1e-9);
	assert_near(feed_cell(table, row, "hbm_utilization_pct"), 20, 1e-9);
	assert_near(feed_cell(table, row, "memory_utilization_pct"), 20, 1e-9);
	assert_near(feed_cell(table, row, "roofline_efficiency_pct"), 20, 1e-9);
	assert_near(feed_cell(table, row, "optimal_flops_per_s"), 9.85e13, 1e4);
	assert_near(feed_cell(table, row, "self_time_pct"), 100, 1e-9);
	assert_no_value(feed_cell(table, row, "onchip_bytes_per_s"));
	ridges = feed_table(feed->result, "roofline_ridges");
	assert_int_equal(ridges->nr_rows, 1);
	assert_text(feed_cell(ridges, 0, "memory"), "HBM");
	assert_near(feed_cell(ridges, 0, "ridge_flops_per_byte"), 240.537240, 1e-5);
	feed_free(feed);
}

/* The program lasts from its first op to its last, device by device: 300 us and 50 us. */
TEST(test_the_program_takes_the_time_of_all_its_devices)
{
	struct feed *feed = feed_new();
	uint32_t first = feed_device(feed, "TPU v5 lite"),
		 second = feed_device(feed, "TPU v5 lite"), op;
	const struct ts_table *table;
	size_t row;

	add_op(feed, "fusion.1", 1000000, 2000000, &op);
	feed_event(feed, first, op, 0, 100);
	feed_event(feed, first, op, 200, 100);
	feed_event(feed, second, op, 50, 50);
	table = run(feed);
	row = row_of(table, "program", NULL);
	assert_int_equal(row, 0);
	assert_int_equal(ts_value_int(feed_cell(table, row, "total_time_ps")), INT64_C(350000000));
	/* three times a million FLOPs in 350 us */
	assert_near(feed_cell(table, row, "flops_per_s"), 3e6 / 350e-6, 1);
	assert_near(feed_cell(table, row_of(table, "op", NULL), "time_pct"), 100. * 250 / 350,
		    1e-9);
	/* no module events: the module's time is its ops' */
	row = row_of(table, "module", NULL);
	assert_int_equal(ts_value_int(feed_cell(table, row, "total_time_ps")), INT64_C(250000000));
	assert_no_value(feed_cell(table, row, "occurrences"));
	feed_free(feed);
}

/* As XProf: a copy without a breakdown is HBM's in its own row, and not in the program's. */
TEST(test_bytes_without_a_breakdown_are_not_the_programs_hbm)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), fusion, copy;
	const struct ts_table *table;
	struct ts_op *op;

	add_op(feed, "fusion.1", 0, 4000000, &fusion);
	op = feed_op(feed, "copy-start.1", "copy-start", 7, &copy);
	op->symbol_id = 2;
	op->bytes_accessed = 6000000;
	feed_event(feed, line, fusion, 0, 50);
	feed_event(feed, line, copy, 50, 50);
	table = run(feed);
	assert_near(feed_cell(table, 0, "bytes_per_s"), 10e6 / 100e-6, 1);
	assert_near(feed_cell(table, 0, "hbm_bytes_per_s"), 4e6 / 100e-6, 1);
	assert_near(feed_cell(table, row_of(table, "op", "copy-start.1"), "hbm_bytes_per_s"),
		    6e6 / 50e-6, 1);
	assert_no_value(feed_cell(table, row_of(table, "op", "copy-start.1"), "flops_per_s"));
	feed_free(feed);
}

/*
 * 1e6 bytes of HBM in 10 us are 12.21 % of 819e9; 4e6 bytes written to VMEM at 1e12 are 40 %. Each
 * way of each memory is a resource of its own: 1e6 bytes read at 2e12 are 5 %.
 */
TEST(test_memories_on_the_chip_bound_too)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), at;
	const struct ts_table *table;
	struct ts_op *op;
	size_t row;

	feed->profile.devices[0].vmem_read_bytes_per_s = 2e12;
	feed->profile.devices[0].vmem_write_bytes_per_s = 1e12;
	op = add_op(feed, "fusion.1", 2000000, 1000000, &at);
	op->vmem_read_bytes = 1000000;
	op->vmem_write_bytes = 4000000;
	op->onchip_bytes = 5000000;
	op->bytes_accessed = 6000000;
	feed_event(feed, line, at, 0, 10);
	table = run(feed);
	row = row_of(table, "op", "fusion.1");
	assert_text(feed_cell(table, row, "bound_by"), "VMEM Write");
	assert_near(feed_cell(table, row, "roofline_efficiency_pct"), 40, 1e-9);
	assert_near(feed_cell(table, row, "hbm_utilization_pct"), 12.210012, 1e-5);
	assert_near(feed_cell(table, row, "vmem_read_bytes_per_s"), 1e11, 1);
	assert_near(feed_cell(table, row, "onchip_bytes_per_s"), 5e11, 1);
	assert_near(feed_cell(table, row, "bottleneck_operational_intensity"), 0.5, 1e-12);
	assert_int_equal(feed_table(feed->result, "roofline_ridges")->nr_rows, 3);
	feed_free(feed);
}

/* Two steps of 100 us; an op counts where it starts, one before the first step nowhere. */
TEST(test_a_step_has_the_work_that_starts_in_it)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), op;
	struct ts_steps *steps = &feed->outline.steps;
	const struct ts_table *table;
	size_t row;

	steps->devices = calloc(1, sizeof(*steps->devices));
	assert_non_null(steps->devices);
	steps->nr_devices = 1;
	steps->devices[0].items = calloc(2, sizeof(struct ts_step));
	assert_non_null(steps->devices[0].items);
	steps->devices[0].items[0] = (struct ts_step){ 100 * TS_PS_PER_US, 200 * TS_PS_PER_US, 5 };
	steps->devices[0].items[1] = (struct ts_step){ 200 * TS_PS_PER_US, 300 * TS_PS_PER_US, 6 };
	steps->devices[0].nr = steps->nr_steps = 2;
	add_op(feed, "fusion.1", 1000000, 2000000, &op);
	feed_event(feed, line, op, 0, 50);
	feed_event(feed, line, op, 110, 50);
	feed_event(feed, line, op, 190, 50);
	feed_event(feed, line, op, 250, 50);
	table = run(feed);
	row = row_of(table, "steps", NULL);
	assert_int_equal(ts_value_int(feed_cell(table, row, "occurrences")), 2);
	assert_near(feed_cell(table, row, "flops_per_s"), 3e6 / 200e-6, 1);
	row = row_of(table, "step", NULL);
	assert_int_equal(ts_value_int(feed_cell(table, row, "step")), 5);
	assert_near(feed_cell(table, row, "flops_per_s"), 2e6 / 100e-6, 1);
	assert_near(feed_cell(table, row, "hbm_bytes_per_s"), 4e6 / 100e-6, 1);
	assert_int_equal(ts_value_int(feed_cell(table, row + 1, "step")), 6);
	assert_near(feed_cell(table, row + 1, "flops_per_s"), 1e6 / 100e-6, 1);
	feed_free(feed);
}

/* What holds ops is not counted beside them. */
TEST(test_a_loop_adds_nothing_to_what_is_inside)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), inner, outer;
	const struct ts_table *table;
	struct ts_op *op;

	add_op(feed, "fusion.1", 1000000, 2000000, &inner);
	op = add_op(feed, "while.1", 1000000, 2000000, &outer);
	op->category = TS_LIT("while");
	op->category_id = TS_OPCODE_WHILE;
	op->kind = TS_OP_CONTROL;
	feed_event(feed, line, inner, 10, 50);
	feed_event(feed, line, outer, 0, 100);
	table = run(feed);
	assert_near(feed_cell(table, 0, "flops_per_s"), 1e6 / 100e-6, 1);
	assert_near(feed_cell(table, row_of(table, "op", "while.1"), "flops_per_s"), 1e6 / 100e-6,
		    1);
	feed_free(feed);
}

/* Each moves 163.8e9 bytes a second of HBM by its own figures, 20 % of the peak; but none is bound by it. Of the program's
 * 200 us transfers take 100: half is not most. One more execution of the copy, and the copies' 150 us are most of it. */
TEST(test_a_transfer_is_bound_by_its_link)
{
	static const struct {
		const char *name, *bound;
		enum ts_op_kind kind;
		enum ts_op_async async;
		int64_t us;
	} given[] = {
		{ "copy-done.1", "Host link", TS_OP_HOST, TS_ASYNC_DONE, 50 },
		{ "all-reduce.1", "Interconnect", TS_OP_COLLECTIVE, TS_ASYNC_NONE, 30 },
		{ "copy-done.2", "Waiting", TS_OP_MOVE, TS_ASYNC_DONE, 20 },
		{ "copy.1", "HBM", TS_OP_MOVE, TS_ASYNC_NONE, 100 },
	};
	static const char *const of_program[] = { "HBM", "Host link" };
	uint32_t ops[TS_NELEM(given)];

	for (int again = 0; again < 2; again++) {
		struct feed *feed = feed_new();
		uint32_t line = feed_device(feed, "TPU v5 lite");
		const struct ts_table *table;
		int64_t at_us = 0;

		for (size_t i = 0; i < TS_NELEM(given); i++) {
			struct ts_op *op =
				add_op(feed, given[i].name, 0, 163800 * given[i].us, &ops[i]);

			op->kind = given[i].kind;
			op->async = given[i].async;
			feed_event(feed, line, ops[i], at_us, given[i].us);
			at_us += given[i].us;
		}
		if (again)
			feed_event(feed, line, ops[0], at_us, given[0].us);
		table = run(feed);
		for (size_t i = 0; i < TS_NELEM(given); i++)
			assert_text(
				feed_cell(table, row_of(table, "op", given[i].name), "bound_by"),
				given[i].bound);
		assert_text(feed_cell(table, row_of(table, "program", NULL), "bound_by"),
			    of_program[again]);
		feed_free(feed);
	}
}

/* Nothing is known of the chip: rates, and no bound. */
TEST(test_an_unknown_chip_bounds_nothing)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v99"), op;
	const struct ts_table *table;
	size_t row;

	add_op(feed, "fusion.1", 1000000, 2000000, &op);
	feed_event(feed, line, op, 0, 10);
	table = run(feed);
	row = row_of(table, "op", NULL);
	assert_near(feed_cell(table, row, "flops_per_s"), 1e11, 1);
	assert_text(feed_cell(table, row, "bound_by"), "Unknown");
	assert_no_value(feed_cell(table, row, "roofline_efficiency_pct"));
	assert_no_value(feed_cell(table, row, "optimal_flops_per_s"));
	assert_int_equal(feed_table(feed->result, "roofline_ridges")->nr_rows, 0);
	feed_free(feed);
}
