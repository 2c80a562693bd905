/* SPDX-License-Identifier: MIT */
/* Counters over time and by op, throttling, and what differs from the model. */
#include "tests/analysis/hardware/given_counters.h"

static void given_sample(struct xp *xp, int64_t key, int64_t at_us, double value)
{
	size_t event = xp_begin_event(xp, key, at_us * US, 0);

	xp_stat_real(xp, XP_EVENT_STATS, "whatever", value);
	ts_pbw_end(xp->out, event);
}

/* Two ops of 100 us in a module of 300 us. */
static void given_ops(struct xp *xp)
{
	xp_op(xp, 1, "custom-call.1", "custom-call", PROGRAM, 1);
	xp_op(xp, 2, "custom-call.2", "custom-call", PROGRAM, 2);
	xp_name(xp, 3, "jit_step(7)");
	xp_line(xp, "XLA Modules", 0);
	given_event(xp, 3, 0, 300);
	xp_line_end(xp);
	xp_line(xp, "XLA Ops", 0);
	given_event(xp, 1, 0, 100);
	given_event(xp, 2, 100, 100);
	xp_line_end(xp);
}

static size_t by_op_row(struct given *given, const char *op, const char *name)
{
	size_t nr = nr_rows(given, "counters", "by_op");

	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_is(cell(given, "counters", "by_op", i, "op").as.s, op) &&
		    ts_bytes_is(cell(given, "counters", "by_op", i, "name").as.s, name))
			return i;
	fail_msg("no row of %s and %s", op, name);
	return 0;
}

TEST(a_level_holds_until_its_next_sample)
{
	struct given *given = given_nothing();
	struct xp xp = given_chip(given, "TPU v6 Lite");

	given_ops(&xp);
	xp_name(&xp, 4, "MXU");
	xp_line(&xp, "_counters_", 0);
	given_sample(&xp, 4, 0, 80);
	given_sample(&xp, 4, 50, 40);
	given_sample(&xp, 4, 150, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "counters", "series"), 1);
	assert_int_equal(ts_value_int(cell(given, "counters", "series", 0, "samples")), 3);
	assert_true(fabs(number(given, "series", 0, "mean") - 9500. / 300) < 1e-9);
	assert_true(number(given, "series", 0, "max") == 80);
	assert_true(number(given, "series", 0, "last") == 10);
	assert_true(number(given, "by_op", by_op_row(given, "custom-call.1", "MXU"), "mean") == 60);
	assert_true(number(given, "by_op", by_op_row(given, "custom-call.2", "MXU"), "mean") == 25);
	done(given);
}

TEST(a_running_total_grows_evenly_between_its_samples)
{
	struct given *given = given_nothing();
	struct xp xp = given_chip(given, "TPU v6 Lite");
	size_t row;

	given_ops(&xp);
	xp_name(&xp, 4, "COUNT_SYNC_WAIT");
	xp_line(&xp, "_counters_", 0);
	given_sample(&xp, 4, 0, 1000);
	given_sample(&xp, 4, 50, 1000);
	given_sample(&xp, 4, 150, 176000);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_true(number(given, "series", 0, "total") == 175000);
	row = by_op_row(given, "custom-call.1", "COUNT_SYNC_WAIT");
	assert_true(fabs(number(given, "by_op", row, "total") - 87500) < 1e-6);
	assert_true(fabs(number(given, "by_op", row, "cycles_pct") - 50) < 1e-9); /* of 1.75 GHz */
	done(given);
}

/* More samples than points are kept: what they say of the whole and of an op stays. */
TEST(many_samples_are_thinned_out_and_add_up)
{
	struct given *given = given_nothing();
	struct xp xp = given_chip(given, "TPU v6 Lite");

	xp_op(&xp, 1, "custom-call.1", "custom-call", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 100000);
	xp_line_end(&xp);
	xp_name(&xp, 4, "MXU");
	xp_line(&xp, "_counters_", 0);
	for (int64_t i = 0; i < 100000; i++)
		given_sample(&xp, 4, i, i % 2 ? 30 : 50);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_true(fabs(number(given, "series", 0, "mean") - 40) < 1e-9);
	assert_true(fabs(number(given, "by_op", 0, "mean") - 40) < 1e-2);
	done(given);
}

/* --- findings */

/* An op of 100 us, ten times; from the fifth on it takes 150 us. */
static struct xp given_slower(struct given *given)
{
	struct xp xp = given_chip(given, "TPU v7x");

	xp_op(&xp, 1, "fusion.1", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 10; i++)
		given_event(&xp, 1, 200 * i, i < 5 ? 100 : 150);
	xp_line_end(&xp);
	return xp;
}

TEST(throttling_is_found_where_a_line_says_so)
{
	struct given *given = given_nothing();
	struct xp xp = given_slower(given);
	const struct ts_finding *finding;

	xp_name(&xp, 4, "Throttle");
	xp_line(&xp, "Power Throttle", 0);
	given_event(&xp, 4, 1000, 1000);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "counters", "throttled_ps", 1000);
	assert_us(given, "counters", "throttle_lost_ps", 250);
	finding = finding_by(given, "throttled");
	assert_non_null(finding);
	assert_int_equal(finding->impact_ps, 250 * US);
	assert_int_equal(finding->nr_when, 1);
	done(given);
}

TEST(throttling_is_found_where_a_counter_says_so)
{
	struct given *given = given_nothing();
	struct xp xp = given_slower(given);

	xp_name(&xp, 4, "VDD Core FW Throttle(%)");
	xp_line(&xp, "_counters_", 0);
	given_sample(&xp, 4, 0, 0);
	given_sample(&xp, 4, 1000, 35);
	given_sample(&xp, 4, 2000, 0);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "counters", "throttle_lost_ps", 250);
	assert_non_null(finding_by(given, "throttled"));
	done(given);
}

TEST(a_fall_of_power_alone_is_no_throttling)
{
	struct given *given = given_nothing();
	struct xp xp = given_slower(given);

	xp_name(&xp, 4, "VDD Core FW Power Meter PL1(W)");
	xp_name(&xp, 5, "VDD Core FW Throttle(%)");
	xp_line(&xp, "_counters_", 0);
	given_sample(&xp, 4, 0, 165);
	given_sample(&xp, 5, 0, 0);
	given_sample(&xp, 4, 1000, 99);
	given_sample(&xp, 5, 2000, 0);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_null(finding_by(given, "throttled"));
	assert_int_equal(field(given, "counters", "throttled_ps").type, TS_VALUE_NULL);
	done(given);
}

/* The op has 1000 FLOPs of 1 TFLOP/s in 1 ns of cycles; BUSY of 1750 cycles. */
static void given_busy(struct given *given, int64_t busy)
{
	struct xp xp = given_chip(given, "TPU v6 Lite");

	xp_op(&xp, 1, "fusion.1", "convolution fusion", PROGRAM, 1);
	xp_name(&xp, 2, "counter");
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 500; i++)
		xp_event(&xp, 1, 2000 * i, 1000);
	xp_line_end(&xp);
	xp_line(&xp, "counters", 0);
	given_counter(&xp, 2, V6E_CYCLES, 1750);
	given_counter(&xp, 2, V6E_MXU_2, busy);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
}

TEST(matrix_units_busier_than_the_model_says_are_reported)
{
	struct given *given = given_nothing();

	given_busy(given, 1400);
	assert_true(fabs(ts_value_number(field(given, "counters", "mxu_measured_pct")) - 80) <
		    1e-9);
	assert_true(fabs(ts_value_number(field(given, "counters", "mxu_modelled_pct")) - 50) <
		    1e-9);
	assert_non_null(finding_by(given, "mxu_differs"));
	done(given);
}

TEST(matrix_units_as_busy_as_the_model_says_are_not)
{
	struct given *given = given_nothing();

	given_busy(given, 1000);
	assert_null(finding_by(given, "mxu_differs"));
	assert_null(finding_by(given, "hbm_differs"));
	done(given);
}

/* The op's bytes of HBM are 1 MB; the memory's counters saw READS of 32 bytes. */
static void given_traffic(struct given *given, int64_t reads)
{
	struct xp xp = given_chip(given, "TPU v6 Lite");
	struct xp_meta meta = xp_meta(&xp, 1, "fusion.1", "fusion.1");

	xp_stat_text(&xp, XP_META_STATS, "hlo_category", "loop fusion");
	xp_stat_uint(&xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(&xp, XP_META_STATS, "symbol_id", 1);
	xp_stat_int(&xp, XP_META_STATS, "bytes_accessed", 1000000);
	xp_meta_end(&xp, meta);
	xp_name(&xp, 2, "counter");
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	xp_line_end(&xp);
	xp_line(&xp, "counters", 0);
	given_counter(&xp, 2, V6E_CYCLES, 17500);
	given_counter(&xp, 2, V6E_READ, reads);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
}

TEST(traffic_that_differs_from_the_model_is_reported)
{
	static const struct {
		int64_t reads;
		bool differs;
	} cases[] = { { 20000, true }, { 31250, false }, { 60000, true } };

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct given *given = given_nothing();

		given_traffic(given, cases[i].reads);
		assert_int_equal(ts_value_int(field(given, "counters", "hbm_measured_bytes")),
				 32 * cases[i].reads);
		assert_int_equal(finding_by(given, "hbm_differs") != NULL, cases[i].differs);
		done(given);
	}
}
