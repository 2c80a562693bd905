/* SPDX-License-Identifier: MIT */
/* The head of the report: step times as numpy has them, the run, its hosts and devices. */
#include "tests/analysis/given.h"

static void put_steps(struct given *given, const int64_t *dur_us, size_t nr)
{
	struct xp xp = given_core(given, "/device:TPU:0");
	int64_t at = 0;

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_name(&xp, 2, "0");
	xp_line(&xp, "Steps", 0);
	for (size_t i = 0; i < nr; i++, at += dur_us[i - 1])
		given_event(&xp, 2, at, dur_us[i]);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, at);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static void assert_ps(struct given *given, const char *what, int64_t ps)
{
	assert_int_equal(ts_value_int(field(given, "overview", what)), ps);
}

/*
 * >>> import numpy as np
 * >>> a = np.array([10, 20, 35, 50, 15, 80, 12]) * 1e6
 * >>> print(a.mean(), np.median(a), np.quantile(a, .9), np.quantile(a, .99), a.std())
 * 31714285.714285713 20000000.0 62000000.000000015 78199999.99999999 23765006.000505906
 */
TEST(step_times_are_numpys)
{
	static const int64_t steps[] = { 10, 20, 35, 50, 15, 80, 12 };
	struct given *given = given_nothing();

	put_steps(given, steps, TS_NELEM(steps));
	analyse(given, 0);
	assert_ps(given, "overview.step_count", 7);
	assert_ps(given, "overview.step_time_ps.mean", 31714286);
	assert_ps(given, "overview.step_time_ps.median", 20000000);
	assert_ps(given, "overview.step_time_ps.p90", 62000000);
	assert_ps(given, "overview.step_time_ps.p99", 78200000);
	assert_ps(given, "overview.step_time_ps.min", 10000000);
	assert_ps(given, "overview.step_time_ps.max", 80000000);
	assert_ps(given, "overview.step_time_ps.stddev", 23765006);
	done(given);
}

TEST(one_step_is_all_its_quantiles)
{
	static const int64_t steps[] = { 40 };
	struct given *given = given_nothing();

	put_steps(given, steps, 1);
	analyse(given, 0);
	assert_ps(given, "overview.step_count", 1);
	assert_ps(given, "overview.step_time_ps.p99", 40 * US);
	assert_ps(given, "overview.step_time_ps.median", 40 * US);
	assert_ps(given, "overview.step_time_ps.stddev", 0);
	done(given);
}

static enum ts_origin origin_of(struct given *given, const char *name)
{
	const struct ts_result *result = view(given, "overview");

	for (size_t i = 0; i < result->nr_fields; i++)
		if (strcmp(result->fields[i].name, name) == 0)
			return ts_field_origin(&result->fields[i]);
	fail_msg("%s is not there", name);
	return TS_DERIVED;
}

/* Three executions of one module, 20 us apart, and no markers. */
TEST(steps_that_are_not_marked_are_not_measured)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	const struct ts_table *steps;

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_name(&xp, 2, "jit_step(7)");
	xp_line(&xp, "XLA Modules", 0);
	for (int64_t i = 0; i < 3; i++)
		given_event(&xp, 2, 20 * i, 10);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 3; i++)
		given_event(&xp, 1, 20 * i, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_ps(given, "overview.step_count", 3);
	assert_int_equal(origin_of(given, "overview.step_count"), TS_INFERRED);
	assert_int_equal(origin_of(given, "overview.step_time_ps.median"), TS_INFERRED);
	steps = ts_result_find_table(view(given, "overview"), "steps");
	assert_int_equal(ts_table_cell(steps, 0, ts_table_column(steps, "duration_ps")).origin,
			 TS_INFERRED);
	done(given);
}

TEST(without_steps_their_number_is_unknown)
{
	struct given *given = given_nothing();

	put_steps(given, NULL, 0);
	analyse(given, 0);
	assert_int_equal(field(given, "overview", "overview.step_count").type, TS_VALUE_NULL);
	assert_int_equal(field(given, "overview", "overview.step_time_ps.mean").type,
			 TS_VALUE_NULL);
	done(given);
}

/* 3 runs of 2.0475e6 bytes in 30 us: 6.1425e6 / (30 us x 819 GB/s) = 25 %. A -done adds nothing. */
TEST(hbm_utilization_is_bytes_over_the_peaks)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	for (int64_t i = 1; i <= 2; i++) {
		struct xp_meta meta = xp_meta(&xp, i, i == 1 ? "copy-start" : "copy-done", NULL);

		xp_stat_text(&xp, XP_META_STATS, "hlo_category",
			     i == 1 ? "copy-start" : "copy-done");
		xp_stat_uint(&xp, XP_META_STATS, "program_id", PROGRAM);
		xp_stat_uint(&xp, XP_META_STATS, "symbol_id", 1);
		xp_stat_int(&xp, XP_META_STATS, "bytes_accessed", 2047500);
		xp_meta_end(&xp, meta);
	}
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 3; i++) {
		given_event(&xp, 1, i * 10, 1);
		given_event(&xp, 2, i * 10 + 2, 8);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_near(field(given, "overview", "overview.hbm_utilization_pct"), 25, 1e-9);
	done(given);
}

TEST(a_chip_that_is_not_known_is_named)
{
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/device:TPU:0");
	const struct ts_result *overview;
	bool told = false;

	xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", "TPU v99 turbo");
	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	overview = view(given, "overview");
	for (size_t i = 0; i < overview->nr_notes; i++)
		told |= ts_bytes_has(overview->notes[i], "TPU v99 turbo");
	assert_true(told);
	assert_int_equal(field(given, "overview", "overview.mxu_utilization_pct").type,
			 TS_VALUE_NULL);
	assert_int_equal(field(given, "overview", "overview.hbm_utilization_pct").type,
			 TS_VALUE_NULL);
	assert_int_equal(cell(given, "ops", "ops", 0, "mxu_utilization_pct").type, TS_VALUE_NULL);
	done(given);
}
