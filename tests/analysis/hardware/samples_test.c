/* SPDX-License-Identifier: MIT */
/* Counters when the capture ended: rows of units by ids, wherever ids and values stand. */
#include "tests/analysis/hardware/given_counters.h"

/* 1000 cycles, in half of which both units were busy. */
static void given_reading(struct xp *xp, const char *line, int64_t sample)
{
	xp_name(xp, 901, "COUNT_CYCLES");
	xp_name(xp, 902, "COUNT_MXU_BUSY_2");
	xp_line(xp, line, 0);
	ts_pbw_i64(xp->out, 1, sample);
	given_counter(xp, 901, V6E_CYCLES, 1000);
	given_counter(xp, 902, V6E_MXU_2, 500);
	xp_line_end(xp);
}

/* The row of this name and node; it is there. */
static size_t unit_row(struct given *given, const char *name, int64_t node)
{
	size_t nr = nr_rows(given, "counters", "utilization");

	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_is(cell(given, "counters", "utilization", i, "name").as.s, name) &&
		    ts_value_int(cell(given, "counters", "utilization", i, "node")) == node)
			return i;
	fail_msg("no row %s of node %d", name, (int)node);
	return 0;
}

static void then_unit_is(struct given *given, const char *name, double achieved, double peak)
{
	size_t row = unit_row(given, name, 0);

	assert_true(fabs(number(given, "utilization", row, "achieved") - achieved) < 1e-6);
	assert_true(fabs(number(given, "utilization", row, "peak") - peak) < 1e-6 * fabs(peak));
}

TEST(counters_of_a_v6e_become_the_rows_of_its_units)
{
	struct given *given = given_nothing();
	struct xp xp = given_chip(given, "TPU v6 Lite");

	given_reading(&xp, "any name", 3);
	xp_plane_end(&xp);
	analyse(given, 0);
	/* 21 of the core, HBM without traffic, ICI both ways, 16 of each SparseCore */
	assert_int_equal(nr_rows(given, "counters", "utilization"), 21 + 1 + 2 + 2 * 16);
	then_unit_is(given, "Avg MXU Busy", 500, 1000);
	then_unit_is(given, "Scalar Unit", 0, 2000);
	then_unit_is(given, "XLU0", 0, 250);
	then_unit_is(given, "HBM Rd+Wr - core 0", 0, 1525.5 * (1 << 30) * 1000 / 1.75e9);
	then_unit_is(given, "ICI (Read)", 0, 1000 * 294.947368421);
	assert_int_equal(ts_value_int(cell(given, "counters", "utilization", 0, "device")), 5);
	assert_int_equal(ts_value_int(cell(given, "counters", "utilization", 0, "sample")), 3);
	done(given);
}

/* Of the same counters on another chip nothing follows. */
TEST(ids_of_one_chip_say_nothing_of_another)
{
	static const char *const chips[] = { "TPU v5 lite", "TPU v6", "TPU v7", "TPU v6 Lite pod" };

	for (size_t i = 0; i < TS_NELEM(chips); i++) {
		struct given *given = given_nothing();
		struct xp xp = given_chip(given, chips[i]);

		given_reading(&xp, "counters", 0);
		xp_plane_end(&xp);
		analyse(given, 0);
		assert_int_equal(nr_rows(given, "counters", "utilization"), 0);
		assert_int_equal(nr_rows(given, "counters", "raw"), 2);
		assert_int_equal(nr_rows(given, "counters", "unread"), 1);
		assert_true(
			ts_bytes_is(cell(given, "counters", "unread", 0, "chip").as.s, chips[i]));
		assert_int_equal(ts_value_int(cell(given, "counters", "unread", 0, "count")), 2);
		done(given);
	}
}

/* On the event, on its metadata, or the metadata's own id; whole or not; the later one counts. */
TEST(ids_and_values_are_found_wherever_they_stand)
{
	struct given *given = given_nothing();
	struct xp xp = given_chip(given, "TPU v6 Lite");
	struct xp_meta meta = xp_meta(&xp, 1, "COUNT_MXU_BUSY_1", NULL);
	size_t event;

	xp_stat_uint(&xp, XP_META_STATS, "performance_counter_id", V6E_MXU_1);
	xp_stat_real(&xp, XP_META_STATS, "counter_value", 100.75);
	xp_meta_end(&xp, meta);
	xp_name(&xp, V6E_MXU_2, "COUNT_MXU_BUSY_2");
	xp_name(&xp, 2, "COUNT_CYCLES");
	xp_line(&xp, "", 1234567890123456789);
	xp_event(&xp, 1, 0, 0);
	event = xp_begin_event(&xp, V6E_MXU_2, 7 * US, 0);
	xp_stat_uint(&xp, XP_EVENT_STATS, "counter_value", 200);
	ts_pbw_end(xp.out, event);
	given_counter(&xp, 2, V6E_CYCLES, 5);
	given_counter(&xp, 2, V6E_CYCLES, 1000);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	then_unit_is(given, "1 MXU Busy", 100, 1000);
	then_unit_is(given, "Avg MXU Busy", 250, 1000);
	assert_true(number(given, "raw", 0, "value") == 100.75);
	done(given);
}

/* A core that counted no cycle has no rows; both dies have theirs. */
TEST(each_die_of_a_v7x_has_rows_of_its_own)
{
	struct given *given = given_nothing();
	struct xp xp = given_chip(given, "TPU v7x");

	xp_name(&xp, 1, "CYCLE_COUNT");
	xp_line(&xp, "counters", 0);
	given_counter(&xp, 1, 2847490056 + 536870912, 1000); /* of die 1 */
	given_counter(&xp, 1, 2847490056 + 536870912 + 8, 30);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	/* 23 of core 1, 16 of each of four SparseCores */
	assert_int_equal(nr_rows(given, "counters", "utilization"), 23 + 4 * 16);
	assert_true(number(given, "utilization", unit_row(given, "Clocks Skipped", 1), "percent") ==
		    3);
	done(given);
}

TEST(a_capture_of_counters_alone_is_not_empty)
{
	struct given *given = given_nothing();
	struct xp xp = given_chip(given, "TPU v6 Lite");

	given_reading(&xp, "counters", 0);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_true(ts_bytes_is(field(given, "capture", "verdict").as.s, "usable"));
	assert_true(ts_bytes_is(cell(given, "capture", "causes", 0, "id").as.s, "counters_only"));
	assert_int_equal(nr_rows(given, "capture", "causes"), 1);
	done(given);
}
