/* SPDX-License-Identifier: MIT */
/*
 * Runs in modes of one compiler, side by side, as results that the analyses could have left. What
 * real traces say is held against their own marks by tests/truth/torch_modes.py.
 */
#include "tests/test.h"
#include "base/units.h"
#include "compare/modes.h"
#include "result/schema/compile.def"
#include "result/schema/compile_modes.def"
#include "result/schema/timeline.def"

struct name_row {
	const char *name, *mode;
};

static const struct name_row name_rows[] = {
	{ "net_default.pt.trace.json", "default" },
	{ "logs/max-autotune.json.gz", "max-autotune" },
	{ "net.max_autotune_no_cudagraphs.json", "max-autotune-no-cudagraphs" },
	{ "Reduce-Overhead/worker0.123.pt.trace.json", "reduce-overhead" },
	{ "max-autotune/eager.json", "eager" }, /* the file's own name says more */
	{ "aot_eager.json", "aot_eager" },
	{ "aot-eager.json", "aot_eager" },
	{ "defaults.json", "" },
	{ "worker0.123.pt.trace.json", "" },
	{ "", "" },
};

TEST(a_name_tells_the_mode)
{
	for (size_t i = 0; i < TS_NELEM(name_rows); i++)
		if (!ts_bytes_is(ts_mode_of(ts_bytes_of(name_rows[i].name)), name_rows[i].mode))
			fail_msg("%s is not %s", name_rows[i].name, name_rows[i].mode);
}

#define NR_STEPS 6
#define EVERY_US 10000 /* a step begins */

struct side {
	struct ts_results results;
};

/* Steps of STEP_US, + 0 .. 5 us; COMPILE_MS and others NaN: unknown. */
static void given_side(struct side *side, int64_t step_us, double compile_ms, int64_t breaks,
		       int64_t kernels, int64_t graphs)
{
	struct ts_result *timeline, *compile;
	struct ts_table *table;

	ts_results_init(&side->results);
	timeline = TS_ADD(&side->results, timeline);
	table = TS_TABLE(timeline, timeline_steps);
	for (int i = 0; i <= NR_STEPS; i++) /* the last one was cut off */
		TS_PUT_ROW(timeline, table, timeline_steps,
			   .duration_ps = ts_int((step_us + i) * TS_PS_PER_US *
						 (i == NR_STEPS ? 1000 : 1)),
			   .counted = ts_bool(i < NR_STEPS),
			   .start_ps = ts_int(i * EVERY_US * TS_PS_PER_US));
	compile = TS_ADD(&side->results, compile);
	TS_SET(compile, compile, compile_time_ms, ts_real(compile_ms));
	TS_SET(compile, compile, graph_breaks, ts_int_or_null(breaks));
	TS_SET(compile, compile, ops_before_fusion, ts_int(120));
	TS_SET(compile, compile, ops_after_fusion, ts_int(kernels));
	TS_SET(compile, compile, fusion_ratio, ts_real(120.0 / (double)kernels));
	TS_SET(compile, compile, cuda_graph_launches, ts_int_or_null(graphs));
}

#define MODE(row) TS_ROW(table, compile_modes_modes, row)

TEST(a_row_a_run_with_speed_cost_and_what_became_of_the_ops)
{
	struct side sides[3];
	struct ts_compare_run runs[3] = { { .name = TS_LIT("eager.json") },
					  { .name = TS_LIT("default.json") },
					  { .name = TS_LIT("x.json"), .label = "tuned" } };
	const struct ts_compare_request request = { .runs = runs, .nr_runs = 3 };
	struct ts_results into;
	const struct ts_result *result;
	const struct ts_table *table;

	given_side(&sides[0], 1000, NAN, -1, 120, 0);
	given_side(&sides[1], 500, 30, 2, 60, 0);
	given_side(&sides[2], 1000, 90, 0, 40, 6);
	for (size_t i = 0; i < 3; i++)
		runs[i].results = &sides[i].results;
	ts_results_init(&into);
	assert_int_equal(ts_compare_modes(&request, &into, NULL), TS_OK);
	result = TS_FIND(&into, compile_modes);
	table = TS_RESULT_TABLE(result, compile_modes_modes);
	assert_int_equal(table->nr_rows, 3);
	assert_true(ts_bytes_is(ts_value_text(MODE(1)->mode), "default"));
	assert_true(ts_bytes_is(ts_value_text(MODE(2)->mode), "tuned"));
	assert_int_equal(ts_value_int(MODE(1)->steps), NR_STEPS);
	assert_true(fabs(ts_value_number(MODE(1)->step_time_ms) - 0.5025) < 1e-9);
	assert_true(fabs(ts_value_number(MODE(1)->speedup) - 1002.5 / 502.5) < 1e-9);
	/* 2 / (12 over 6) */
	assert_true(fabs(ts_value_number(MODE(1)->p_value) - 2.0 / 924) < 1e-9);
	assert_int_equal(ts_value_int(MODE(1)->pays_after_steps), 60); /* 30 ms / 0.5 ms */
	assert_int_equal(MODE(2)->pays_after_steps.type, TS_VALUE_NULL);
	assert_int_equal(MODE(0)->compile_time_ms.type, TS_VALUE_NULL);
	assert_int_equal(MODE(0)->graph_breaks.type, TS_VALUE_NULL);
	assert_true(fabs(ts_value_number(MODE(1)->kernels_a_step) - 10) < 1e-9);
	assert_true(!MODE(1)->uses_cuda_graphs.as.b && MODE(2)->uses_cuda_graphs.as.b);
	assert_true(ts_bytes_is(TS_GET(result, compile_modes, fastest_mode).as.s, "default"));
	/* on no clock: each in one block, as far as is known, which chance alone may have slowed */
	assert_int_equal(TS_GET(result, compile_modes, may_be_chance).type, TS_VALUE_NULL);
	assert_int_equal(MODE(1)->turns.type, TS_VALUE_NULL);
	assert_int_equal(result->nr_notes, 1);
	ts_results_release(&into);
	for (size_t i = 0; i < 3; i++)
		ts_results_release(&sides[i].results);
}

/* AFTER_US: the second run begins. */
static void check_turns(int64_t after_us, int64_t turns, enum ts_value_type certain)
{
	struct side sides[2];
	struct ts_profile profiles[2];
	struct ts_compare_run runs[2] = { { .name = TS_LIT("eager.json") },
					  { .name = TS_LIT("default.json") } };
	const struct ts_compare_request request = { .runs = runs, .nr_runs = 2 };
	struct ts_results into;
	const struct ts_result *result;
	const struct ts_table *table;

	for (size_t i = 0; i < 2; i++) {
		given_side(&sides[i], i ? 500 : 1000, NAN, -1, 120, 0);
		ts_profile_init(&profiles[i]);
		profiles[i].start_unix_ns = 1700000000000000000 + (i ? after_us * 1000 : 0);
		runs[i].profile = &profiles[i];
		runs[i].results = &sides[i].results;
	}
	ts_results_init(&into);
	assert_int_equal(ts_compare_modes(&request, &into, NULL), TS_OK);
	result = TS_FIND(&into, compile_modes);
	table = TS_RESULT_TABLE(result, compile_modes_modes);
	assert_int_equal(ts_value_int(MODE(1)->turns), turns);
	assert_int_equal(TS_GET(result, compile_modes, may_be_chance).type, certain);
	assert_int_equal(result->nr_notes, turns > 1 ? 0 : 1);
	if (turns > 1) { /* the interval of six ratios is all of them */
		assert_false(TS_GET(result, compile_modes, may_be_chance).as.b);
		assert_true(fabs(ts_value_number(MODE(1)->speedup_low) - 1005.0 / 505) < 1e-9);
		assert_true(fabs(ts_value_number(MODE(1)->speedup_high) - 1000.0 / 500) < 1e-9);
	}
	ts_results_release(&into);
	for (size_t i = 0; i < 2; i++) {
		ts_results_release(&sides[i].results);
		ts_profile_release(&profiles[i]);
	}
}

TEST(only_modes_that_took_turns_are_certain)
{
	check_turns(EVERY_US / 2, NR_STEPS, TS_VALUE_BOOL);
	check_turns(EVERY_US * 100, 1, TS_VALUE_NULL);
}

TEST(without_steps_nothing_is_said_of_speed)
{
	struct ts_results empty[2], into;
	struct ts_compare_run runs[2] = { { .name = TS_LIT("a") }, { .name = TS_LIT("b") } };
	const struct ts_compare_request request = { .runs = runs, .nr_runs = 2 };
	const struct ts_result *result;
	const struct ts_table *table;

	for (size_t i = 0; i < 2; i++) {
		ts_results_init(&empty[i]);
		runs[i].results = &empty[i];
	}
	ts_results_init(&into);
	assert_int_equal(ts_compare_modes(&request, &into, NULL), TS_OK);
	result = TS_FIND(&into, compile_modes);
	assert_int_equal(TS_GET(result, compile_modes, speedup).type, TS_VALUE_NULL);
	table = TS_RESULT_TABLE(result, compile_modes_modes);
	assert_int_equal(MODE(1)->speedup.type, TS_VALUE_NULL);
	assert_int_equal(result->nr_notes, 1);
	ts_results_release(&into);
	ts_results_release(&empty[0]);
	ts_results_release(&empty[1]);
}
