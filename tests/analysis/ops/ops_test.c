/* SPDX-License-Identifier: MIT */
/* The op table, as XProf's hlo_stats has it: sums over devices, costs of one execution. */
#include "tests/analysis/given.h"

static void assert_cell(struct given *given, size_t row, const char *column, int64_t expected)
{
	int64_t is = ts_value_int(cell(given, "ops", "ops", row, column));

	if (is != expected)
		fail_msg("row %zu, %s: %lld, not %lld", row, column, (long long)is,
			 (long long)expected);
}

static void assert_name(struct given *given, size_t row, const char *name)
{
	struct ts_value value = cell(given, "ops", "ops", row, "name");

	if (!ts_bytes_is(value.as.s, name))
		fail_msg("row %zu is %.*s, not %s", row, TS_ARG(value.as.s), name);
}

static void costly_op(struct xp *xp, int64_t key, const char *name, int64_t flops, int64_t bytes)
{
	struct xp_meta meta = xp_meta(xp, key, name, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", "convolution fusion");
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)key);
	xp_stat_int(xp, XP_META_STATS, "flops", flops);
	xp_stat_int(xp, XP_META_STATS, "bytes_accessed", bytes);
	xp_stat_text(xp, XP_META_STATS, "source", "a.py:3");
	xp_meta_end(xp, meta);
}

/*
 * matmul: 3 runs of 10 us on two cores, 985e6 FLOPs each: 985e6 / 10 us = 98.5 TFLOP/s of 197.
 * 4e6 bytes / 10 us = 400 GB/s of 819, a little less than half: compute bounds it.
 */
TEST(sums_over_devices_and_rates_of_one_run)
{
	struct given *given = given_nothing();

	for (int64_t i = 0; i < 2; i++) {
		struct xp xp = given_core(given, i ? "/device:TPU:1" : "/device:TPU:0");

		costly_op(&xp, 1 + i, "matmul.1", 985000000, 4000000);
		xp_op(&xp, 9, "copy.9", "copy", PROGRAM, 9);
		xp_line(&xp, "XLA Ops", 0);
		given_event(&xp, 1 + i, 0, 10);
		if (i == 0)
			given_event(&xp, 1, 20, 10);
		given_event(&xp, 9, 50, 4);
		xp_line_end(&xp);
		xp_plane_end(&xp);
	}
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "ops", "ops"), 2);
	assert_name(given, 0, "matmul.1");
	assert_cell(given, 0, "occurrences", 3);
	assert_cell(given, 0, "total_time_ps", 30 * US);
	assert_cell(given, 0, "self_time_ps", 30 * US);
	assert_cell(given, 0, "exclusive_ps", 30 * US);
	assert_cell(given, 0, "flops", 985000000);
	assert_cell(given, 0, "bytes_accessed", 4000000);
	assert_near(cell(given, "ops", "ops", 0, "mxu_utilization_pct"), 50, 1e-9);
	assert_near(cell(given, "ops", "ops", 0, "hbm_bytes_per_s"), 400e9, 1);
	assert_true(ts_bytes_is(cell(given, "ops", "ops", 0, "bound_by").as.s, "Compute"));
	assert_true(ts_bytes_is(cell(given, "ops", "ops", 0, "source").as.s, "a.py:3"));
	assert_name(given, 1, "copy.9");
	assert_cell(given, 1, "occurrences", 2);
	assert_cell(given, 1, "total_time_ps", 8 * US);
	done(given);
}

TEST(self_time_is_without_the_ops_inside)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "while.1", "while", PROGRAM, 1);
	xp_op(&xp, 2, "a", "loop fusion", PROGRAM, 2);
	xp_op(&xp, 3, "b.remat", "loop fusion", PROGRAM, 3);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 100);
	given_event(&xp, 2, 0, 60);
	given_event(&xp, 3, 70, 25);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_name(given, 0, "a"); /* by self time: 60, 25, 15 */
	assert_name(given, 1, "b.remat");
	assert_name(given, 2, "while.1");
	assert_cell(given, 2, "total_time_ps", 100 * US);
	assert_cell(given, 2, "self_time_ps", 15 * US);
	assert_true(cell(given, "ops", "ops", 1, "is_remat").as.b);
	assert_false(cell(given, "ops", "ops", 0, "is_remat").as.b);
	done(given);
}

/* XProf's table has no op without a program or symbol; their time counts in the breakdown. */
TEST(what_is_no_op_is_not_listed)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "listed", "loop fusion", PROGRAM, 1);
	xp_op(&xp, 2, "no symbol", "loop fusion", PROGRAM, 0);
	xp_op(&xp, 3, "never ran", "loop fusion", PROGRAM, 3);
	xp_name(&xp, 4, "no program");
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 2, 10, 10);
	given_event(&xp, 4, 20, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "ops", "ops"), 1);
	assert_name(given, 0, "listed");
	assert_us(given, "time", "wall_ps", 30);
	done(given);
}

/* A kernel's events say what it did: 300 FLOPs in two runs are 150 each. Other ops' do not count. */
TEST(custom_calls_cost_what_their_events_say)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "kernel", "custom-call", PROGRAM, 1);
	xp_op(&xp, 2, "f", "loop fusion", PROGRAM, 2);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 4; i++) {
		size_t mark = xp_begin_event(&xp, 1 + i / 2, i * 10 * US, (5 - i) * US);

		xp_stat_int(&xp, XP_EVENT_STATS, "flops", i ? 200 : 100);
		xp_stat_int(&xp, XP_EVENT_STATS, "bytes_accessed", 50);
		ts_pbw_end(&given->bytes, mark);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_name(given, 0, "kernel");
	assert_cell(given, 0, "flops", 150);
	assert_cell(given, 0, "bytes_accessed", 50);
	assert_name(given, 1, "f");
	assert_cell(given, 1, "flops", 1000);
	done(given);
}

TEST(an_op_of_two_programs_is_two)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "f", "loop fusion", 7, 1);
	xp_op(&xp, 2, "f", "loop fusion", UINT64_MAX, 1);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 2, 20, 30);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "ops", "ops"), 2);
	assert_true(cell(given, "ops", "ops", 0, "program_id").as.u == UINT64_MAX);
	assert_true(cell(given, "ops", "ops", 1, "program_id").as.u == 7);
	done(given);
}

/* A module whose compiled form is not there ran all the same. */
TEST(modules_count_their_executions)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_name(&xp, 1, "jit_f(7)");
	xp_line(&xp, "XLA Modules", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 1, 20, 12);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "ops", "modules"), 1);
	assert_true(ts_bytes_is(cell(given, "ops", "modules", 0, "name").as.s, "jit_f"));
	assert_int_equal(ts_value_int(cell(given, "ops", "modules", 0, "executions")), 2);
	assert_int_equal(ts_value_int(cell(given, "ops", "modules", 0, "total_time_ps")), 22 * US);
	assert_int_equal(cell(given, "ops", "modules", 0, "flops").type, TS_VALUE_NULL);
	done(given);
}

/* An op that takes no time has no rate: unknown, not infinite. */
TEST(no_time_no_rate)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	costly_op(&xp, 1, "f", 1000, 1000);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 0);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_cell(given, 0, "occurrences", 1);
	assert_int_equal(cell(given, "ops", "ops", 0, "mxu_utilization_pct").type, TS_VALUE_NULL);
	assert_int_equal(cell(given, "ops", "ops", 0, "hbm_bytes_per_s").type, TS_VALUE_NULL);
	done(given);
}
