/* SPDX-License-Identifier: MIT */
/* Ops by core: who is slower than the others in an op, and since when. */
#include "tests/analysis/given.h"

#define NR_CORES 4
#define NR_RUNS	 10
#define STEP_US	 100

/* Cores that run an op of 20 us in each of their steps; core LATE one of LONG_US from execution SINCE on. */
static void add_core(struct given *given, const char *name, int late, int since, int64_t long_us)
{
	struct xp xp = given_core(given, name);

	xp_meta_end(&xp, xp_meta(&xp, 1, "fusion.1", "fusion.1"));
	xp_meta_end(&xp, xp_meta(&xp, 2, "fusion.2", "fusion.2"));
	xp_line(&xp, "XLA Ops", 0);
	for (int i = 0; i < NR_RUNS; i++) {
		given_event(&xp, 1, i * STEP_US, late && i >= since ? long_us : 20);
		given_event(&xp, 2, i * STEP_US + 80, 10);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static struct given *given_cores(int late, int since, int64_t long_us)
{
	static const char *const names[NR_CORES] = { "/device:TPU:0", "/device:TPU:1",
						     "/device:TPU:2", "/device:TPU:3" };
	struct given *given = given_nothing();

	for (int i = 0; i < NR_CORES; i++)
		add_core(given, names[i], i == late, since, long_us);
	analyse(given, 0);
	return given;
}

static int64_t number(struct given *given, const char *column)
{
	return ts_value_int(cell(given, "op_cores", "op_cores", 0, column));
}

TEST(the_slow_core_of_an_op_is_named)
{
	struct given *given = given_cores(2, 4, 50);

	assert_int_equal(nr_rows(given, "op_cores", "op_cores"), 1);
	assert_true(ts_bytes_is(cell(given, "op_cores", "op_cores", 0, "op").as.s, "fusion.1"));
	assert_int_equal(number(given, "device_id"), 2);
	assert_int_equal(number(given, "mean_ps"), 38 * US);
	assert_int_equal(number(given, "others_ps"), 20 * US);
	assert_int_equal(number(given, "excess_ps"), 180 * US);
	done(given);
}

TEST(it_is_said_from_when_on_the_core_is_slow)
{
	struct given *given = given_cores(1, 4, 50);

	assert_int_equal(number(given, "since_ps"), 4 * STEP_US * US);
	done(given);
}

TEST(of_a_core_that_is_always_slow_no_beginning_is_known)
{
	struct given *given = given_cores(3, 0, 50);

	assert_int_equal(number(given, "mean_ps"), 50 * US);
	assert_true(cell(given, "op_cores", "op_cores", 0, "since_ps").type == TS_VALUE_NULL);
	done(given);
}

TEST(cores_that_differ_by_little_are_not_named)
{
	struct given *given = given_cores(0, 0, 21);

	assert_int_equal(nr_rows(given, "op_cores", "op_cores"), 0);
	done(given);
}

/* One core with three ops of 20, 10 and 40 us a step, which take PCT of that from execution SINCE on. */
static struct given *given_slowdown(const int64_t pct[3], int since)
{
	static const int64_t usual_us[3] = { 20, 10, 40 };
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	for (int op = 1; op <= 3; op++) {
		char name[16];

		snprintf(name, sizeof(name), "fusion.%d", op);
		xp_meta_end(&xp, xp_meta(&xp, op, name, name));
	}
	xp_line(&xp, "XLA Ops", 0);
	for (int i = 0; i < NR_RUNS; i++)
		for (int op = 0; op < 3; op++)
			given_event(&xp, op + 1, i * 2 * STEP_US + op * 70,
				    usual_us[op] * (i >= since ? pct[op] : 100) / 100);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	return given;
}

/* 70 us a step become 105 in 6 of 10 steps: 210 us are lost. It is no clock where an op keeps its pace or has a factor of
 * its own, where the core is slow from the first execution on, or for one step alone; nor is a twentieth. */
TEST(a_core_whose_ops_all_slow_down_by_one_factor_is_named)
{
	static const struct {
		int64_t pct[3];
		int since;
		int64_t lost_us;
	} rows[] = {
		{ { 150, 150, 150 }, 4, 210 }, { { 155, 150, 150 }, 4, 216 },
		{ { 150, 150, 100 }, 4, -1 },  { { 200, 150, 150 }, 4, -1 },
		{ { 150, 150, 150 }, 0, -1 },  { { 150, 150, 150 }, 9, -1 },
		{ { 105, 105, 105 }, 4, -1 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given *given = given_slowdown(rows[i].pct, rows[i].since);
		const struct ts_finding *finding = finding_by(given, "slowdown");

		assert_int_equal(finding ? finding->impact_ps : -1,
				 rows[i].lost_us < 0 ? -1 : rows[i].lost_us * US);
		if (finding) {
			assert_true(
				ts_bytes_has(finding->title, "All ops of /device:TPU:0 take 5"));
			assert_int_equal(finding->confidence, TS_CERTAIN);
			assert_int_equal(finding->when[0].start_ps, 4 * 2 * STEP_US * US);
		}
		done(given);
	}
}
