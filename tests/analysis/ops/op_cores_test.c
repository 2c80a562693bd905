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
