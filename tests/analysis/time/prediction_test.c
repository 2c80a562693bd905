/* SPDX-License-Identifier: MIT */
/*
 * Prediction: modules made here for a v5e (197 TFLOP/s, 819 GB/s of HBM, 1.5 GHz), times worked out by hand; what was
 * measured of the same ops; and what was predicted, as a profile.
 */
#include "tests/analysis/given.h"

#include "run/predict.h"
#include "read/hlo.h"
#include "tests/read/hlo_make.h"
#include "write/predicted.h"

#define BIG   "f32[8192,8192]{1,0:T(8,128)}" /* 256 MiB */
#define BYTES (8192. * 8192 * 4)
#define HBM   819e9
#define PS    1e12

/* CYCLES of backend_config; 0: the op has no estimate. */
static void make_estimated(struct make *make, const char *name, const char *opcode, int64_t id,
			   size_t nr, const int64_t *operands, long cycles)
{
	struct ts_buf config = TS_BUF_INIT;

	make_begin_op(make, name, opcode, BIG, id, nr, operands);
	ts_buf_printf(&config, "{\"window_config\":{\"estimated_cycles\":\"%ld\"}}", cycles);
	if (cycles > 0)
		ts_pbw_bytes(&make->out, 43, ts_buf_bytes(&config));
	make_end_op(make);
	ts_buf_release(&config);
}

/*
 * Four ops that move 512 or 768 MiB: one without an estimate, one whose estimate is above what its bytes need (655 us), one below, one at more than
 * twice that; a kernel that says nothing of its cost.
 */
static void make_module(struct make *make)
{
	size_t comp = make_comp(make, "main");

	make_param(make, 0, BIG, 1);
	make_estimated(make, "plain", "negate", 2, 1, (int64_t[]){ 1 }, 0);
	make_estimated(make, "above", "negate", 3, 1, (int64_t[]){ 2 }, 1200000);  /* 800 us */
	make_estimated(make, "below", "negate", 4, 1, (int64_t[]){ 3 }, 300000);   /* 200 us */
	make_estimated(make, "absurd", "negate", 5, 1, (int64_t[]){ 4 }, 3000000); /* 2 ms */
	make_begin_op(make, "kernel", "custom-call", BIG, 6, 1, (int64_t[]){ 5 });
	ts_pbw_text(&make->out, 28, TS_LIT("tpu_custom_call"));
	make_end_op(make);
	make_end_comp(make, comp, 1, 6);
}

static void given_proto(struct given *given, struct make *make)
{
	struct xp xp = xp_plane(&given->bytes, "/host:metadata");
	struct ts_buf proto = TS_BUF_INIT;
	struct xp_meta meta;

	ts_pbw_bytes(&proto, 1, make_end(make, 1));
	meta = xp_meta(&xp, PROGRAM, "jit_test(7)", NULL);
	xp_stat_bytes(&xp, XP_META_STATS, "Hlo Proto", ts_buf_bytes(&proto));
	xp_meta_end(&xp, meta);
	xp_plane_end(&xp);
	ts_buf_release(&proto);
}

/* Each op once, a millisecond long. */
static struct given *given_run(void)
{
	static const char *const names[] = { "plain", "above", "below", "absurd", "kernel" };
	struct given *given = given_nothing();
	struct make make = MAKE_INIT;
	struct xp xp = given_core(given, "/device:TPU:0");

	for (int64_t i = 0; i < 5; i++)
		xp_op(&xp, i + 1, names[i], i < 4 ? "negate" : "custom-call", PROGRAM,
		      (uint64_t)i + 2);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 5; i++)
		given_event(&xp, i + 1, i * 1000, 1000);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	make_module(&make);
	given_proto(given, &make);
	ts_buf_release(&make.out);
	analyse(given, 0);
	return given;
}

static size_t op_row(struct given *given, const char *name)
{
	for (size_t i = 0; i < nr_rows(given, "prediction", "ops"); i++)
		if (ts_bytes_is(cell(given, "prediction", "ops", i, "op").as.s, name))
			return i;
	fail_msg("%s has no row", name);
	return 0;
}

TEST(the_rule_takes_the_estimate_where_it_can_be)
{
	struct given *given = given_run();
	const double roof_ps = 2 * BYTES / HBM * PS;
	static const struct {
		const char *name;
		double ps; /* 0: what its bytes need */
	} rows[] = { { "plain", 0 }, { "above", 800e6 }, { "below", 0 }, { "absurd", 0 } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		size_t row = op_row(given, rows[i].name);

		assert_near(cell(given, "prediction", "ops", row, "predicted_ps"),
			    rows[i].ps > 0 ? rows[i].ps : roof_ps, 1);
		assert_near(cell(given, "prediction", "ops", row, "roofline_ps"), roof_ps, 1);
		assert_int_equal(ts_value_int(cell(given, "prediction", "ops", row, "measured_ps")),
				 1000 * US);
	}
	/* three by the roofline, one of 800 us, and the kernel's arrays once */
	assert_near(field(given, "prediction", "step_ps"), 4 * roof_ps + 800e6, 4);
	/* all by their bytes */
	assert_near(field(given, "prediction", "step_low_ps"), 5 * roof_ps, 5);
	/* the estimates of two, and of the kernel ten times its arrays */
	assert_near(field(given, "prediction", "step_high_ps"), 2 * roof_ps + 2800e6 + 10 * roof_ps,
		    5);
	done(given);
}

TEST(what_is_unknown_is_said_with_its_range)
{
	struct given *given = given_run();
	const double arrays_ps = 2 * BYTES / HBM * PS;

	assert_int_equal(ts_value_int(field(given, "prediction", "unknown_count")), 1);
	assert_int_equal(nr_rows(given, "prediction", "unknown"), 1);
	assert_true(ts_bytes_is(cell(given, "prediction", "unknown", 0, "op").as.s, "kernel"));
	assert_near(cell(given, "prediction", "unknown", 0, "low_ps"), arrays_ps, 1);
	assert_near(cell(given, "prediction", "unknown", 0, "high_ps"), 10 * arrays_ps, 1);
	done(given);
}

TEST(a_measured_run_shows_how_far_off_it_was)
{
	struct given *given = given_run();
	const double roof_ps = 2 * BYTES / HBM * PS;
	double off_ps = 3 * fabs(roof_ps - 1e9) + 200e6;

	/* the kernel is not among them: nothing was predicted of it */
	assert_int_equal(nr_rows(given, "prediction", "measured"), 1);
	assert_int_equal(ts_value_int(cell(given, "prediction", "measured", 0, "count")), 4);
	assert_near(cell(given, "prediction", "measured", 0, "bias_pct"),
		    100 * (3 * roof_ps + 800e6 - 4e9) / 4e9, 1e-6);
	assert_near(cell(given, "prediction", "measured", 0, "error_pct"), 100 * off_ps / 4e9,
		    1e-6);
	done(given);
}

static void make_product(struct make *make, const char *name, int64_t id, int64_t a, int64_t b)
{
	size_t dims;

	make_begin_op(make, name, "dot", BIG, id, 2, (int64_t[]){ a, b });
	dims = ts_pbw_begin(&make->out, 30);
	ts_pbw_i64(&make->out, 1, 1); /* the last of the one with the first of the other */
	ts_pbw_i64(&make->out, 2, 0);
	ts_pbw_end(&make->out, dims);
	make_end_op(make);
}

/*
 * Two products of 8192 x 8192 x 8192 without an estimate: 2 x 8192^3 / 197e12 = 5581 us each, which their bytes do not need;
 * a copy of 256 MiB, 328 us of DMA, is hidden behind the first: the core begins it, and finds it done.
 */
TEST(products_run_at_the_peak_and_a_copy_hides_behind_them)
{
	struct given *given = given_nothing();
	struct make make = MAKE_INIT;
	struct xp xp = given_core(given, "/device:TPU:0");
	const double product_ps = 2 * 8192. * 8192 * 8192 / 197e12 * PS;
	const double issue_ps = (double)TS_SCHEDULE_ISSUE_PS;
	size_t comp;

	xp_op(&xp, 1, "first", "dot", PROGRAM, 3);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 6000);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	comp = make_comp(&make, "main");
	make_param(&make, 0, BIG, 1);
	make_op(&make, "fetch", "copy-start", "(" BIG ", " BIG ", u32[])", 2, 1, (int64_t[]){ 1 });
	make_product(&make, "first", 3, 1, 1);
	make_op(&make, "fetched", "copy-done", BIG, 4, 1, (int64_t[]){ 2 });
	make_product(&make, "second", 5, 3, 4);
	make_end_comp(&make, comp, 1, 5);
	given_proto(given, &make);
	ts_buf_release(&make.out);
	analyse(given, 0);
	assert_near(field(given, "prediction", "step_ps"), 2 * product_ps + 2 * issue_ps, 2);
	assert_near(field(given, "prediction", "dma_ps"), BYTES / HBM * PS, 1);
	assert_near(field(given, "prediction", "exposed_dma_ps"), issue_ps, 0);
	assert_int_equal(nr_rows(given, "prediction", "by_kind"), 2);
	assert_true(ts_bytes_is(cell(given, "prediction", "by_kind", 0, "kind").as.s,
				"matrix product"));
	assert_true(ts_bytes_is(cell(given, "prediction", "by_kind", 0, "basis").as.s,
				"matrix unit's peak"));
	assert_int_equal(ts_value_int(cell(given, "prediction", "by_kind", 0, "count")), 2);
	/* no evidence for products: that is said */
	assert_int_equal(cell(given, "prediction", "by_kind", 0, "error_pct").type, TS_VALUE_NULL);
	assert_int_equal(ts_value_int(cell(given, "prediction", "by_kind", 0, "error_count")), 0);
	done(given);
}

/* What is predicted becomes a profile, whose report says so and has the same times. */
TEST(a_prediction_is_a_profile)
{
	struct given *given = given_nothing();
	struct make make = MAKE_INIT;
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_hlo_module module;
	struct ts_predicted_module one = { .module = &module };
	struct ts_predicted predicted = { .modules = &one,
					  .nr_modules = 1,
					  .device_kind = "TPU v5 Lite",
					  .topology = TS_LIT("v5e:2x4"),
					  .nr_cores = 8,
					  .peak_flops_per_s = 197e12,
					  .hbm_bytes_per_s = HBM,
					  .version = "test" };
	struct ts_schedule walk = { .module = &module, .with_events = true };
	struct ts_schedule_op *ops;
	const char **basis;

	make_module(&make);
	assert_int_equal(ts_hlo_read(&arena, make_end(&make, 1), TS_LIT("a.pb"), &module, &err), 0);
	walk.ops = ops = calloc(module.nr_instrs, sizeof(*ops));
	walk.sums = calloc(module.nr_instrs, sizeof(*walk.sums));
	basis = calloc(module.nr_instrs, sizeof(*basis));
	for (uint32_t i = 0; i < module.nr_instrs; i++)
		ops[i] = (struct ts_schedule_op){ .ps = { i * US }, .start = TS_NONE };
	assert_int_equal(ts_schedule_walk(&walk, NULL), TS_OK);
	one.schedule = &walk;
	one.basis = basis;
	ts_predicted_write(&given->bytes, &predicted);
	analyse(given, 0);
	assert_true(field(given, "overview", "run.is_predicted").as.b);
	assert_true(field(given, "capture", "is_predicted").as.b);
	assert_us(given, "overview", "run.duration_ps", 1 + 2 + 3 + 4 + 5);
	assert_int_equal(ts_value_int(field(given, "overview", "overview.step_count")), 1);
	assert_true(ts_bytes_is(field(given, "prediction", "topology").as.s, "v5e:2x4"));
	assert_int_equal(ts_value_int(field(given, "prediction", "core_count")), 8);
	assert_int_equal(nr_rows(given, "prediction", "measured"), 0); /* it is no evidence */
	ts_schedule_release(&walk);
	free(ops);
	free(walk.sums);
	free(basis);
	ts_buf_release(&make.out);
	ts_arena_release(&arena);
	done(given);
}
