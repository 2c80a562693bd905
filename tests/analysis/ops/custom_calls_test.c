/* SPDX-License-Identifier: MIT */
/*
 * Custom calls: a module of two real Pallas kernels, compiled by libtpu for v5e
 * (tests/fixtures/make_pallas.py says what the first costs; the second does not say), on a simulated
 * timeline. Answers by hand.
 */
#include "tests/analysis/given.h"

#include "io/input.h"

#define SELF_US	   10
#define PEAK_BYTES 819e9

static struct ts_input module_input = TS_INPUT_INIT;

static void given_module(struct given *given)
{
	struct xp xp = xp_plane(&given->bytes, "/host:metadata");
	struct ts_buf proto = TS_BUF_INIT;
	struct xp_meta meta;

	ts_pbw_bytes(&proto, 1, module_input.bytes);
	meta = xp_meta(&xp, PROGRAM, "jit_step(7)", NULL);
	xp_stat_bytes(&xp, XP_META_STATS, "Hlo Proto", ts_buf_bytes(&proto));
	xp_meta_end(&xp, meta);
	xp_plane_end(&xp);
	ts_buf_release(&proto);
}

/* Each kernel twice, 10 us long, back to back: 40 us in all. */
static struct given *given_run(bool with_module)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "scale_rows.1", "custom-call", PROGRAM, 1);
	xp_op(&xp, 2, "step.1", "custom-call", PROGRAM, 2);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 4; i++)
		given_event(&xp, 1 + i % 2, i * SELF_US, SELF_US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	if (with_module)
		given_module(given);
	analyse(given, 0);
	return given;
}

static size_t row_of(struct given *given, const char *name)
{
	for (size_t i = 0; i < nr_rows(given, "custom_calls", "calls"); i++)
		if (ts_bytes_is(cell(given, "custom_calls", "calls", i, "name").as.s, name))
			return i;
	fail_msg("%s has no row", name);
	return 0;
}

static struct ts_value call(struct given *given, const char *name, const char *column)
{
	return cell(given, "custom_calls", "calls", row_of(given, name), column);
}

TEST(the_estimate_of_a_kernel_is_found_exactly)
{
	struct given *given = given_run(true);
	const char *name = "scale_rows.1";

	assert_near(call(given, name, "flops"), 131072, 0);
	assert_near(call(given, name, "transcendentals"), 7, 0);
	assert_near(call(given, name, "bytes_accessed"), 1048576, 0);
	assert_text(call(given, name, "cost_source"), "estimate");
	assert_text(call(given, name, "target"), "tpu_custom_call");
	assert_text(call(given, name, "kernel"), "scale_rows");
	assert_int_equal(ts_value_int(call(given, name, "vmem_bytes")), 524288);
	assert_int_equal(ts_value_int(call(given, name, "occurrences")), 2);
	assert_int_equal(ts_value_int(call(given, name, "self_time_ps")), 2 * SELF_US * US);
	assert_near(call(given, name, "time_pct"), 50, 1e-9);
	assert_near(call(given, name, "flops_per_s"), 131072 / 10e-6, 1e-3);
	assert_near(call(given, name, "bytes_per_s"), 1048576 / 10e-6, 1e-3);
	/* its bytes at the peak of HBM; its FLOPs need less */
	assert_near(call(given, name, "roofline_pct"), 100 * 1048576 / PEAK_BYTES / 10e-6, 1e-9);
	done(given);
}

TEST(without_an_estimate_arrays_are_bytes_and_flops_unknown)
{
	struct given *given = given_run(true);

	assert_text(call(given, "step.1", "cost_source"), "shapes");
	/* two operands and a result of f32[512,256] */
	assert_near(call(given, "step.1", "bytes_accessed"), 3 * 512 * 256 * 4, 0);
	assert_int_equal(call(given, "step.1", "flops").type, TS_VALUE_NULL);
	assert_int_equal(call(given, "step.1", "flops_per_s").type, TS_VALUE_NULL);
	assert_text(call(given, "step.1", "kernel"), "step.1"); /* it was given no name */
	assert_int_equal(ts_value_int(field(given, "custom_calls", "call_count")), 2);
	assert_int_equal(ts_value_int(field(given, "custom_calls", "unknown_count")), 1);
	assert_us(given, "custom_calls", "self_time_ps", 4 * SELF_US);
	assert_us(given, "custom_calls", "unknown_ps", 2 * SELF_US);
	done(given);
}

TEST(without_its_module_a_kernel_costs_what_the_profile_says)
{
	struct given *given = given_run(false);

	assert_text(call(given, "step.1", "cost_source"), "profile");
	assert_near(call(given, "step.1", "flops"), 1000, 0); /* the stat that xp_op() writes */
	assert_int_equal(call(given, "step.1", "bytes_accessed").type, TS_VALUE_NULL);
	assert_int_equal(call(given, "step.1", "target").type, TS_VALUE_NULL);
	done(given);
}

TEST(a_kernel_far_below_its_roofline_is_a_finding_with_what_it_loses)
{
	struct given *given = given_run(true);
	const struct ts_result *doctor = view(given, "doctor");
	const struct ts_finding *found = NULL;
	double share = 1048576 / PEAK_BYTES / 10e-6;
	size_t nr = 0;

	for (size_t i = 0; i < doctor->nr_findings; i++)
		if (strcmp(doctor->findings[i].rule, "kernel_roofline") == 0) {
			found = &doctor->findings[i];
			nr++;
		}
	assert_int_equal(nr, 1); /* arrays alone are no roofline */
	assert_true(ts_bytes_has(found->title, "scale_rows runs at 12.8 % of its roofline"));
	assert_true(fabs((double)found->impact_ps - 20e6 * (1 - share)) < 2);
	assert_int_equal(found->nr_where, 1);
	done(given);
}

TEST(a_kernel_near_its_roofline_is_none)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "scale_rows.1", "custom-call", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 4); /* 1.28 us of 4: 32 % */
	xp_line_end(&xp);
	xp_plane_end(&xp);
	given_module(given);
	analyse(given, 0);
	assert_null(finding_by(given, "kernel_roofline"));
	done(given);
}

static int open_module(void **state)
{
	const char *srcdir = getenv("srcdir");
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/pallas_v5e.hlo.pb", srcdir ? srcdir : ".");
	return ts_input_open(&module_input, path, NULL) == TS_OK ? 0 : -1;
}

static int close_module(void **state)
{
	ts_input_release(&module_input);
	return 0;
}

TEST_GROUP(open_module, close_module)
