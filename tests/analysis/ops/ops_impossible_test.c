/* SPDX-License-Identifier: MIT */
/*
 * What a profile says of an op's work is held against what the chip can do in the op's time. TPU v5e: 197
 * TFLOP/s, 819 GB/s.
 */
#include "tests/analysis/given.h"

static void costly(struct xp *xp, int64_t key, const char *name, const char *category,
		   const char *text, int64_t flops, int64_t bytes)
{
	struct xp_meta meta = xp_meta(xp, key, text, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", category);
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)key);
	xp_stat_int(xp, XP_META_STATS, "flops", flops);
	xp_stat_int(xp, XP_META_STATS, "bytes_accessed", bytes);
	xp_meta_end(xp, meta);
}

static bool has_cause(struct given *given, const char *id)
{
	for (size_t i = 0; i < nr_rows(given, "capture", "causes"); i++)
		if (ts_bytes_is(cell(given, "capture", "causes", i, "id").as.s, id))
			return true;
	return false;
}

/* 985e6 FLOPs in 1 us are 985 TFLOP/s, five times the peak; 985e6 in 10 us are half of it. */
TEST(too_many_flops_are_impossible_everywhere)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	costly(&xp, 1, "fast", "convolution fusion", "fast", 985000000, 1000);
	costly(&xp, 2, "half", "convolution fusion", "half", 985000000, 1000);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 1);
	given_event(&xp, 2, 10, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_near(cell(given, "ops", "ops", 0, "mxu_utilization_pct"), 50, 1e-9);
	assert_int_equal(cell(given, "ops", "ops", 1, "mxu_utilization_pct").type,
			 TS_VALUE_IMPOSSIBLE);
	/* half of all FLOPs cannot be true, so what is made of all cannot be believed */
	assert_int_equal(field(given, "systolic", "mxu_utilization_pct").type, TS_VALUE_IMPOSSIBLE);
	assert_int_equal(field(given, "overview", "overview.mxu_utilization_pct").type,
			 TS_VALUE_IMPOSSIBLE);
	assert_true(has_cause(given, "impossible_rate"));
	done(given);
}

/* 8190 bytes in 1 us are 8.19 GB/s. 8,190,000 bytes in 1 us are ten times the peak of 819 GB/s. */
TEST(too_many_bytes_are_impossible)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	costly(&xp, 1, "fast", "loop fusion", "fast", 0, 8190000);
	costly(&xp, 2, "slow", "loop fusion", "slow", 0, 8190);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 1);
	given_event(&xp, 2, 10, 1);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(cell(given, "ops", "ops", 0, "hbm_bytes_per_s").type, TS_VALUE_IMPOSSIBLE);
	assert_near(cell(given, "ops", "ops", 1, "hbm_bytes_per_s"), 8.19e9, 1);
	assert_int_equal(field(given, "memory", "hbm_pct").type, TS_VALUE_IMPOSSIBLE);
	assert_int_equal(field(given, "overview", "overview.hbm_utilization_pct").type,
			 TS_VALUE_IMPOSSIBLE);
	assert_true(has_cause(given, "impossible_rate"));
	done(given);
}

#define COPY_TYPE "(f32[1024]{0:T(1024)S(1)}, f32[1024]{0:T(1024)}, u32[]{:S(2)})"

/*
 * A start of 1 us at 0, a done of 1 us that ends at 21 us: 21 us under way. 8190 bytes over 21 us are 390 MB/s,
 * not the 8.19 GB/s that the start alone would need.
 */
TEST(an_asynchronous_copy_has_the_time_it_was_under_way)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	costly(&xp, 1, "copy-start.1", "copy-start",
	       "%copy-start.1 = " COPY_TYPE " copy-start(f32[1024]{0:T(1024)} %p)", 0, 8190);
	costly(&xp, 2, "copy-done.1", "copy-done",
	       "%copy-done.1 = f32[1024]{0:T(1024)S(1)} copy-done(" COPY_TYPE " %copy-start.1)", 0,
	       8190);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 1);
	given_event(&xp, 2, 20, 1);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_near(cell(given, "ops", "ops", 0, "hbm_bytes_per_s"), 0,
		    0); /* the done: see the start */
	assert_near(cell(given, "ops", "ops", 1, "hbm_bytes_per_s"), 390e6, 1);
	assert_false(has_cause(given, "impossible_rate"));
	done(given);
}

/* The program before this one made the copy: how long it took is unknown, and not impossible. */
TEST(a_copy_across_programs_has_no_rate)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	costly(&xp, 1, "copy-start.1", "copy-start",
	       "%copy-start.1 = " COPY_TYPE
	       " copy-start(f32[1024]{0:T(1024)} %p), cross_program_prefetch_index=0",
	       0, 819000000);
	costly(&xp, 2, "copy-done.1", "copy-done",
	       "%copy-done.1 = f32[1024]{0:T(1024)S(1)} copy-done(" COPY_TYPE " %copy-start.1)", 0,
	       819000000);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 1);
	given_event(&xp, 2, 1, 1);
	given_event(&xp, 1, 9, 1);
	given_event(&xp, 2, 10, 1);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(cell(given, "ops", "ops", 0, "hbm_bytes_per_s").type, TS_VALUE_NULL);
	assert_int_equal(cell(given, "memory", "ops", 0, "hbm_bytes_per_s").type, TS_VALUE_NULL);
	assert_false(has_cause(given, "impossible_rate"));
	done(given);
}
