/* SPDX-License-Identifier: MIT */
/*
 * How well matrix units were used. Chips: v5e, 197e12 FLOP/s, 819e9 B/s, 1.5 GHz, a 128 x 128 unit;
 * v6e, 918e12 FLOP/s, int8 at 1836e12, a 256 x 256 unit. Expected values are worked out beside them.
 */
#include "analysis/facts/systolic.h"
#include "model/step_pairing.h"
#include "tests/analysis/feed.h"

extern const struct ts_analysis ts_analysis_ops, ts_analysis_systolic;

/* The sums over the events of each op are those of the analysis ops. */
static const struct ts_result *run_after_ops(struct feed *feed)
{
	feed_run(feed, &ts_analysis_ops);
	return feed_run(feed, &ts_analysis_systolic);
}

/* One product lhs x rhs -> out in a module of its own, with its op. */
static uint32_t add_product(struct feed *feed, const char *lhs, const char *rhs, const char *out,
			    uint32_t rank, int64_t cycles)
{
	struct ts_hlo_module *module = feed_module(feed, "jit_step", 7);
	struct ts_hlo_instr *dot;
	uint32_t op;

	feed_instr(feed, module, "a", "parameter", lhs, TS_NONE, TS_NONE)->parameter_number = 0;
	feed_instr(feed, module, "b", "parameter", rhs, TS_NONE, TS_NONE)->parameter_number = 1;
	dot = feed_instr(feed, module, "dot.1", "dot", out, 0, 1);
	feed_dot(feed, dot, rank);
	dot->backend.estimated_cycles = cycles;
	dot->source_file = TS_LIT("train.py");
	dot->source_line = 12;
	feed_op(feed, "dot.1", "convolution", 7, &op);
	return op;
}

static void finish(struct feed *feed)
{
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
}

/*
 * 2 x 8192^3 = 1.0995e12 FLOPs / 197e12 = 5.5813 ms; measured 10 ms: 55.81 %. The dims fill the
 * array, the bytes (3 x 128 MiB / 819e9 = 0.49 ms) need less than the product: all loss is "other".
 * 9 557 312 cycles at 1.5 GHz = 6 371 541 333 ps.
 */
TEST(test_a_square_product_on_v5e)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite");
	uint32_t op = add_product(feed, "bf16[8192,8192]{1,0:T(8,128)(2,1)}",
				  "bf16[8192,8192]{1,0:T(8,128)(2,1)}",
				  "bf16[8192,8192]{1,0:T(8,128)(2,1)}", 2, 9557312);
	const struct ts_result *result;
	const struct ts_table *ops;

	finish(feed);
	feed_event(feed, line, op, 0, 10000);
	result = run_after_ops(feed);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 1);
	assert_text(feed_cell(ops, 0, "op"), "dot.1");
	assert_text(feed_cell(ops, 0, "module"), "jit_step");
	assert_text(feed_cell(ops, 0, "dtype"), "bf16");
	assert_text(feed_cell(ops, 0, "source"), "train.py:12");
	assert_text(feed_cell(ops, 0, "bound_by"), "Compute");
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "m")), 8192);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "n")), 8192);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "k")), 8192);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "batch")), 1);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "flops")), INT64_C(1099511627776));
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "occurrences")), 1);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "time_ps")), INT64_C(10000000000));
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "estimated_cycles")), 9557312);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "estimated_ps")), INT64_C(6371541333));
	assert_near(feed_cell(ops, 0, "mxu_utilization_pct"), 55.8128, 0.001);
	assert_near(feed_cell(ops, 0, "fill_pct"), 100, 1e-9);
	assert_no_value(feed_cell(ops, 0, "limiting_dim"));
	assert_near(feed_cell(ops, 0, "loss_shape_pct"), 0, 1e-9);
	assert_near(feed_cell(ops, 0, "loss_memory_pct"), 0, 1e-9);
	assert_near(feed_cell(ops, 0, "loss_other_pct"), 44.1872, 0.001);
	assert_near(ts_result_get(result, "mxu_utilization_pct"), 55.8128, 0.001);
	assert_near(ts_result_get(result, "matrix_time_pct"), 100, 1e-9);
	feed_free(feed);
}

/*
 * Attention scores with heads of 64: 8 products of 2048 x 64 x 2048, 4.295e9 FLOPs = 21.8019 us at
 * the peak, in 100 us: 21.80 %. K = 64 leaves half of each product's 128 empty: as much again is
 * lost to shape. 65 520 000 bytes take 80 us at 819e9 B/s, the array 43.60 us: 36.40 us of waiting.
 */
TEST(test_the_loss_is_split_into_shape_memory_and_rest)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5e");
	uint32_t op = add_product(feed, "bf16[8,2048,64]{2,1,0:T(8,128)(2,1)}",
				  "bf16[8,64,2048]{2,1,0:T(8,128)(2,1)}",
				  "bf16[8,2048,2048]{2,1,0:T(8,128)(2,1)}", 3, -1);
	const struct ts_systolic_facts *facts;
	const struct ts_table *ops;
	double sum = 0;

	feed->profile.ops[op].hbm_read_bytes = 60000000;
	feed->profile.ops[op].hbm_write_bytes = 5520000;
	finish(feed);
	feed_event(feed, line, op, 0, 100);
	feed_event(feed, line, op, 100, 100);
	ops = feed_table(run_after_ops(feed), "ops");
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "batch")), 8);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "k")), 64);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "occurrences")), 2);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "mean_ps")), 100000000);
	assert_text(feed_cell(ops, 0, "limiting_dim"), "K=64 fills 50 % of 128");
	assert_text(feed_cell(ops, 0, "bound_by"), "HBM");
	assert_near(feed_cell(ops, 0, "fill_pct"), 50, 1e-9);
	assert_near(feed_cell(ops, 0, "mxu_utilization_pct"), 21.8019, 0.001);
	assert_near(feed_cell(ops, 0, "loss_shape_pct"), 21.8019, 0.001);
	assert_near(feed_cell(ops, 0, "loss_memory_pct"), 36.3963, 0.001);
	assert_near(feed_cell(ops, 0, "loss_other_pct"), 20, 0.001);
	assert_no_value(feed_cell(ops, 0, "estimated_cycles"));
	sum += ts_value_number(feed_cell(ops, 0, "mxu_utilization_pct"));
	sum += ts_value_number(feed_cell(ops, 0, "loss_shape_pct"));
	sum += ts_value_number(feed_cell(ops, 0, "loss_memory_pct"));
	sum += ts_value_number(feed_cell(ops, 0, "loss_other_pct"));
	assert_true(fabs(sum - 100) < 1e-9);
	facts = feed->facts[ts_id_systolic];
	assert_int_equal(facts->nr, 1);
	assert_int_equal(facts->items[0].op, op);
	assert_int_equal(facts->items[0].k, 64);
	assert_int_equal(facts->items[0].time_ps, 200000000);
	assert_true(fabs(facts->items[0].fill - 0.5) < 1e-9);
	assert_true(ts_bytes_is(facts->items[0].limit, "K=64 fills 50 % of 128"));
	feed_free(feed);
}

/* The same product fills a quarter of v6e's 256. */
TEST(test_fill_is_that_of_the_devices_unit)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v6 lite");
	uint32_t op = add_product(feed, "bf16[2048,64]{1,0:T(8,128)(2,1)}",
				  "bf16[64,2048]{1,0:T(8,128)(2,1)}",
				  "bf16[2048,2048]{1,0:T(8,128)(2,1)}", 2, -1);
	const struct ts_table *ops;

	finish(feed);
	feed_event(feed, line, op, 0, 100);
	ops = feed_table(run_after_ops(feed), "ops");
	assert_text(feed_cell(ops, 0, "limiting_dim"), "K=64 fills 25 % of 256");
	assert_near(feed_cell(ops, 0, "fill_pct"), 25, 1e-9);
	feed_free(feed);
}

/* int8 on a v6e: 2 x 8192^3 at twice the bf16 peak is half of it in bf16 terms: 0.5989 ms of 1 ms.
 * Where the profile says the halved count itself it is not halved again. */
TEST(test_int8_products_are_measured_against_their_own_rate)
{
	static const int64_t stats[] = { TS_UNKNOWN, INT64_C(549755813888) };

	for (size_t i = 0; i < TS_NELEM(stats); i++) {
		struct feed *feed = feed_new();
		uint32_t line = feed_device(feed, "TPU v6e");
		uint32_t op = add_product(feed, "s8[8192,8192]{1,0:T(8,128)(4,1)}",
					  "s8[8192,8192]{1,0:T(8,128)(4,1)}",
					  "s32[8192,8192]{1,0:T(8,128)}", 2, -1);
		const struct ts_result *result;

		feed->profile.ops[op].flops = stats[i];
		finish(feed);
		feed_event(feed, line, op, 0, 1000);
		result = run_after_ops(feed);
		assert_near(feed_cell(feed_table(result, "ops"), 0, "mxu_utilization_pct"), 59.8862,
			    0.001);
		assert_near(ts_result_get(result, "mxu_utilization_pct"), 59.8862, 0.001);
		feed_free(feed);
	}
}

/* A Pallas kernel without a cost: nothing is known of it, and 0 would be a lie. */
TEST(test_kernels_of_unknown_cost_are_unknown)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v6e"), op;
	const struct ts_result *result;
	const struct ts_table *ops;

	feed_op(feed, "my_kernel.1", "custom-call", 3, &op)->flops = 0; /* what libtpu writes */
	finish(feed);
	feed_event(feed, line, op, 0, 100);
	feed_event(feed, line, op, 200, 100);
	result = run_after_ops(feed);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 1);
	assert_no_value(feed_cell(ops, 0, "flops"));
	assert_no_value(feed_cell(ops, 0, "mxu_utilization_pct"));
	assert_no_value(feed_cell(ops, 0, "loss_other_pct"));
	assert_no_value(ts_result_get(result, "mxu_utilization_pct"));
	assert_int_equal(ts_value_int(ts_result_get(result, "unknown_kernel_count")), 1);
	assert_int_equal(ts_value_int(ts_result_get(result, "unknown_kernel_ps")), 200000000);
	assert_true(feed_has_note(result, "1 custom calls"));
	feed_free(feed);
}

/* Its events say what it did: 459e6 FLOPs in 1 us of a 918e12 chip is half of the peak. */
TEST(test_kernels_whose_events_tell_are_known)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v6e"), op;
	const struct ts_table *ops;

	feed_op(feed, "my_kernel.1", "custom-call", 3, &op);
	finish(feed);
	feed_event(feed, line, op, 0, 1);
	feed->events[line][0].flops = 459000000;
	ops = feed_table(run_after_ops(feed), "ops");
	assert_near(feed_cell(ops, 0, "mxu_utilization_pct"), 50, 1e-6);
	assert_no_value(feed_cell(ops, 0, "fill_pct"));
	assert_no_value(feed_cell(ops, 0, "loss_shape_pct"));
	feed_free(feed);
}

TEST(test_an_unknown_chip_has_no_utilization)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v99");
	uint32_t op = add_product(feed, "bf16[256,256]{1,0:T(8,128)(2,1)}",
				  "bf16[256,256]{1,0:T(8,128)(2,1)}",
				  "bf16[256,256]{1,0:T(8,128)(2,1)}", 2, 1000);
	const struct ts_result *result;
	const struct ts_table *ops;

	finish(feed);
	feed_event(feed, line, op, 0, 100);
	result = run_after_ops(feed);
	ops = feed_table(result, "ops");
	assert_no_value(feed_cell(ops, 0, "mxu_utilization_pct"));
	assert_no_value(feed_cell(ops, 0, "fill_pct"));
	assert_no_value(feed_cell(ops, 0, "estimated_ps"));
	assert_no_value(feed_cell(ops, 0, "bound_by"));
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "flops")), 2 * 256 * 256 * 256);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "estimated_cycles")), 1000);
	assert_no_value(ts_result_get(result, "mxu_utilization_pct"));
	feed_free(feed);
}

/* Counters of the host are what was measured; a 0 without any matrix work is not a utilization. */
TEST(test_counters_are_kept_apart_from_the_model)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v6e"), op;
	const struct ts_result *result;

	feed_op(feed, "copy.1", "copy", 3, &op)->flops = 0;
	feed->profile.hosts[0].mxu_utilization_pct = 0;
	finish(feed);
	feed_event(feed, line, op, 0, 1);
	result = run_after_ops(feed);
	assert_no_value(ts_result_get(result, "mxu_utilization_pct"));
	assert_near(ts_result_get(result, "mxu_measured_pct"), 0, 0);
	assert_int_equal(feed_table(result, "ops")->nr_rows, 0);
	feed_free(feed);

	feed = feed_new();
	line = feed_device(feed, "TPU v6e");
	feed_op(feed, "fusion.1", "convolution fusion", 3, &op)->flops = 459000000;
	feed->profile.hosts[0].mxu_utilization_pct = 61.5;
	finish(feed);
	feed_event(feed, line, op, 0, 1);
	result = run_after_ops(feed);
	assert_near(ts_result_get(result, "mxu_utilization_pct"), 61.5, 0);
	assert_near(ts_result_get(result, "mxu_modelled_pct"), 50, 1e-6);
	assert_int_equal(ts_field_origin(&result->fields[0]), TS_MEASURED);
	feed_free(feed);
}

/* f32 in highest precision takes six passes: the bytes hide behind them. 2 x 1024^3 FLOPs = 10.90 us
 * at the peak, 65.41 us in six passes; 49.14e6 bytes are 60 us: no waiting in 100 us. */
TEST(test_highest_precision_is_noted_and_takes_six_passes)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5e");
	uint32_t op =
		add_product(feed, "f32[1024,1024]{1,0:T(8,128)}", "f32[1024,1024]{1,0:T(8,128)}",
			    "f32[1024,1024]{1,0:T(8,128)}", 2, -1);
	const struct ts_result *result;
	const struct ts_table *ops;

	feed->profile.modules[0].instrs[2].highest_precision = true;
	feed->profile.ops[op].hbm_read_bytes = 49140000;
	finish(feed);
	feed_event(feed, line, op, 0, 100);
	result = run_after_ops(feed);
	ops = feed_table(result, "ops");
	assert_near(feed_cell(ops, 0, "mxu_utilization_pct"), 10.9009, 0.001);
	assert_near(feed_cell(ops, 0, "loss_memory_pct"), 0, 1e-9);
	assert_true(feed_has_note(result, "six bf16 passes"));
	feed_free(feed);
}

static void add_step(struct ts_device_steps *steps, uint64_t number, int64_t start_us,
		     int64_t end_us)
{
	assert_true(ts_grow(&steps->items, &steps->cap, steps->nr + 1, sizeof(*steps->items)));
	steps->items[steps->nr++] =
		(struct ts_step){ start_us * TS_PS_PER_US, end_us * TS_PS_PER_US, number };
}

/*
 * Two v6e cores, 918e6 FLOPs a us each. Core 0 does 459e6 FLOPs in steps 5 (0-10 us) and 6 (10-20 us),
 * core 1 only 459e6 in step 5. Wall 0-20 us (the module lines): 1377e6 / (2 x 20 us x 918e12) = 3.75 %;
 * step 5: 918e6 / (20 us x 918e12) = 5 %; step 6: 2.5 %; core 0: 5 %, core 1: 2.5 %. The module ran
 * 2 x 20 us.
 */
TEST(test_steps_cores_and_modules_add_up)
{
	struct feed *feed = feed_new();
	const struct ts_result *result;
	const struct ts_table *table;
	uint32_t op, module;

	feed->outline.steps.devices = calloc(2, sizeof(struct ts_device_steps));
	feed->outline.steps.nr_devices = 2;
	feed_op(feed, "jit_step(9)", "", 9, &module)->kind = TS_OP_MODULE;
	feed_op(feed, "fusion.1", "convolution fusion", 9, &op)->flops = 459000000;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t line = feed_device(feed, "TPU v6e"), modules;

		feed_event(feed, line, op, 2, 4);
		if (i == 0)
			feed_event(feed, line, op, 12, 4);
		modules = feed_line(feed, TS_LINE_MODULES);
		feed_event(feed, modules, module, 0, 20);
		add_step(&feed->outline.steps.devices[i], 5, 0, 10);
		add_step(&feed->outline.steps.devices[i], 6, 10, 20);
	}
	assert_int_equal(ts_steps_pair(&feed->outline.steps, NULL), TS_OK);
	finish(feed);
	result = run_after_ops(feed);
	assert_near(ts_result_get(result, "mxu_utilization_pct"), 3.75, 1e-9);
	table = feed_table(result, "steps");
	assert_int_equal(table->nr_rows, 2);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "step")), 5);
	assert_near(feed_cell(table, 0, "mxu_utilization_pct"), 5, 1e-9);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "flops")), 918000000);
	assert_near(feed_cell(table, 1, "mxu_utilization_pct"), 2.5, 1e-9);
	table = feed_table(result, "devices");
	assert_int_equal(table->nr_rows, 2);
	assert_near(feed_cell(table, 0, "mxu_utilization_pct"), 5, 1e-9);
	assert_near(feed_cell(table, 1, "mxu_utilization_pct"), 2.5, 1e-9);
	table = feed_table(result, "modules");
	assert_int_equal(table->nr_rows, 1);
	assert_text(feed_cell(table, 0, "module"), "jit_step");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "executions")), 2);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "time_ps")), 40 * TS_PS_PER_US);
	assert_near(feed_cell(table, 0, "mxu_utilization_pct"), 3.75, 1e-9);
	feed_free(feed);
}

/* What a while holds is counted once, as the ops inside. */
TEST(test_ops_that_hold_others_do_not_count_twice)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v6e"), inner, loop;
	const struct ts_result *result;

	feed_op(feed, "while.1", "while", 9, &loop)->flops = 459000000;
	feed_op(feed, "fusion.1", "convolution fusion", 9, &inner)->flops = 459000000;
	finish(feed);
	feed_event(feed, line, inner, 1, 1);
	feed_event(feed, line, loop, 0, 10);
	feed->events[line][1].self_us = 9;
	result = run_after_ops(feed);
	assert_near(ts_result_get(result, "mxu_utilization_pct"), 5, 1e-9);
	assert_int_equal(feed_table(result, "ops")->nr_rows, 1);
	feed_free(feed);
}

/* [500,100] x [100,130] on a 128 unit: M 500/504 x N 130/256 x K 100/128 = 0.3936, operands swapped
 * M 500/512 x N 130/136 x K 100/128 = 0.7293: the better one counts, and there K is the worst. */
TEST(test_a_module_alone_gives_the_static_part)
{
	struct feed *feed = feed_new();
	const struct ts_result *result;
	const struct ts_table *ops;

	add_product(feed, "bf16[500,100]{1,0:T(8,128)(2,1)}", "bf16[100,130]{1,0:T(8,128)(2,1)}",
		    "bf16[500,130]{1,0:T(8,128)(2,1)}", 2, 4242);
	finish(feed);
	result = run_after_ops(feed);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 1);
	assert_text(feed_cell(ops, 0, "op"), "dot.1");
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "n")), 130);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "flops")), 2 * 500 * 130 * 100);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "estimated_cycles")), 4242);
	assert_near(feed_cell(ops, 0, "fill_pct"), 72.93, 0.01);
	assert_text(feed_cell(ops, 0, "limiting_dim"), "K=100 fills 78.1 % of 128");
	assert_no_value(feed_cell(ops, 0, "time_ps"));
	assert_no_value(feed_cell(ops, 0, "mxu_utilization_pct"));
	assert_no_value(feed_cell(ops, 0, "estimated_ps"));
	assert_no_value(ts_result_get(result, "mxu_utilization_pct"));
	assert_no_value(ts_result_get(result, "matrix_time_pct"));
	assert_true(feed_has_note(result, "128 x 128"));
	feed_free(feed);
}

TEST(test_an_empty_profile_says_nothing)
{
	struct feed *feed = feed_new();
	const struct ts_result *result = run_after_ops(feed);

	assert_no_value(ts_result_get(result, "mxu_utilization_pct"));
	assert_int_equal(feed_table(result, "ops")->nr_rows, 0);
	assert_int_equal(result->nr_notes, 0);
	feed_free(feed);
}
