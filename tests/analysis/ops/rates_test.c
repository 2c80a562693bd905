/* SPDX-License-Identifier: MIT */
/* Counters over time: utilization of the matrix unit and bytes of HBM, bin by bin. */
#include "tests/analysis/given.h"

static const struct ts_track *counter(struct given *given, const char *name, uint32_t device)
{
	const struct ts_result *rates = view(given, "rates");

	for (size_t i = 0; i < rates->nr_tracks; i++)
		if (strcmp(rates->tracks[i].name, name) == 0 && rates->tracks[i].device == device)
			return &rates->tracks[i];
	return NULL;
}

/* The value that holds at a moment: of the last point at or before it; 0 before the first. */
static double value_at(const struct ts_track *track, int64_t us)
{
	double value = 0;

	for (size_t i = 0; i < track->nr_points && track->points[i].at_ps <= us * US; i++)
		value = track->points[i].value;
	return value;
}

/* Integral over time, in units of the counter x seconds. */
static double area(const struct ts_track *track)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < track->nr_points; i++)
		sum += track->points[i].value *
		       (double)(track->points[i + 1].at_ps - track->points[i].at_ps);
	return sum * 1e-12;
}

static void op(struct xp *xp, int64_t key, const char *name, int64_t flops, int64_t bytes)
{
	struct xp_meta meta = xp_meta(xp, key, name, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", "convolution fusion");
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)key);
	xp_stat_int(xp, XP_META_STATS, "flops", flops);
	xp_stat_int(xp, XP_META_STATS, "bytes_accessed", bytes);
	xp_meta_end(xp, meta);
}

/* 10 us at half the peak of 197 TFLOP/s and at 400 GB/s, 10 us of nothing, 10 us at a tenth. */
TEST(each_ops_work_is_spread_over_its_time)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	const struct ts_track *mxu, *hbm;

	op(&xp, 1, "half", 985000000, 4000000);
	op(&xp, 2, "tenth", 197000000, 0);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 2, 20, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 1000);
	mxu = counter(given, "MXU utilization (%)", 0);
	hbm = counter(given, "HBM bandwidth (GB/s)", 0);
	assert_true(mxu && hbm);
	assert_true(fabs(value_at(mxu, 0) - 50) < 1e-9 && fabs(value_at(mxu, 9) - 50) < 1e-9);
	assert_true(fabs(value_at(mxu, 15)) < 1e-9);
	assert_true(fabs(value_at(mxu, 25) - 10) < 1e-9);
	assert_true(fabs(value_at(mxu, 31)) < 1e-9);
	assert_true(fabs(value_at(hbm, 5) - 400) < 1e-9);
	assert_true(fabs(value_at(hbm, 15)) < 1e-9);
	done(given);
}

/* An addition has FLOPs, too: 985e6 in 10 us would be 50 % of the peak, but the matrix units do nothing of it. */
TEST(without_products_the_matrix_units_have_no_counter)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	struct xp_meta meta = xp_meta(&xp, 1, "add", "add");

	xp_stat_text(&xp, XP_META_STATS, "hlo_category", "loop fusion");
	xp_stat_uint(&xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(&xp, XP_META_STATS, "symbol_id", 1);
	xp_stat_int(&xp, XP_META_STATS, "flops", 985000000);
	xp_stat_int(&xp, XP_META_STATS, "bytes_accessed", 4000000);
	xp_meta_end(&xp, meta);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 1000);
	assert_null(counter(given, "MXU utilization (%)", 0));
	assert_non_null(counter(given, "HBM bandwidth (GB/s)", 0));
	done(given);
}

/* 50 ms of ops of 7 us each: wider bins, and not a FLOP lost. */
TEST(a_long_run_keeps_the_sum)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	const struct ts_track *mxu;
	const int64_t nr = 5000;

	op(&xp, 1, "f", 197000000, 0);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < nr; i++)
		given_event(&xp, 1, i * 10, 7);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 1000);
	mxu = counter(given, "MXU utilization (%)", 0);
	assert_non_null(mxu);
	assert_true(mxu->nr_points <= TS_BINS + 1);
	/* all FLOPs over the peak, in percent x seconds; a counter has six digits */
	assert_true(fabs(area(mxu) / (197e6 * (double)nr / 197e12 * 100) - 1) < 1e-5);
	done(given);
}

/* The stream that comes second in the file may have begun first. */
TEST(streams_of_a_gpu_sum_up)
{
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/device:GPU:0");
	const struct ts_track *hbm;

	op(&xp, 1, "f", 1000, 4000000);
	xp_line(&xp, "Stream #1(Compute)", 0);
	given_event(&xp, 1, 100, 10);
	xp_line_end(&xp);
	xp_line(&xp, "Stream #2(Compute)", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 1, 100, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 1000);
	hbm = counter(given, "HBM bandwidth (GB/s)", 0);
	assert_non_null(hbm);
	assert_true(fabs(area(hbm) - 12e6 * 1e-9) < 1e-12); /* three runs of 4 MB, in GB */
	assert_true(fabs(value_at(hbm, 105) - 800) < 1e-9);
	done(given);
}

/* 985e6 FLOPs in 1 us are five times the peak: 100 % is drawn, and the name says that it was cut there. */
TEST(what_is_above_the_peak_is_cut_there)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	const struct ts_track *mxu;

	op(&xp, 1, "fast", 985000000, 0);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 1);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 1000);
	assert_null(counter(given, "MXU utilization (%)", 0));
	mxu = counter(given, "MXU utilization, cut at the peak (%)", 0);
	assert_non_null(mxu);
	assert_true(fabs(value_at(mxu, 0) - 100) < 1e-9);
	assert_non_null(strstr(mxu->description,
			       "; 1 of 2 points are above the peak of 100 %, which no chip can do: "
			       "they are drawn at the peak"));
	done(given);
}

#define FAR	  "f32[1048576]{0:T(1024)}"
#define NEAR	  "f32[1048576]{0:T(1024)S(1)}"
#define COPY_TYPE "(" NEAR ", " FAR ", u32[]{:S(2)})"

static void copy(struct xp *xp, int64_t key, const char *name, const char *text)
{
	struct xp_meta meta = xp_meta(xp, key, text, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", name);
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)key);
	xp_stat_int(xp, XP_META_STATS, "bytes_accessed", 4194304);
	xp_meta_end(xp, meta);
}

/*
 * A copy of 4 MiB out of HBM is under way from 0 to 21 us, 200 GB/s when it is even. From 5 to 15 us an op
 * moves 819 GB/s, all that HBM can: the copy was made before and behind it.
 */
TEST(a_copy_under_way_makes_room_for_what_ran_meanwhile)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	const struct ts_track *hbm;

	copy(&xp, 1, "copy-start", "%copy-start = " COPY_TYPE " copy-start(" FAR " %p)");
	copy(&xp, 2, "copy-done", "%copy-done = " NEAR " copy-done(" COPY_TYPE " %copy-start)");
	op(&xp, 3, "full", 0, 8190000);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 1);
	given_event(&xp, 3, 5, 10);
	given_event(&xp, 2, 20, 1);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 1000);
	hbm = counter(given, "HBM bandwidth (GB/s)", 0);
	assert_non_null(hbm); /* nothing was cut */
	assert_true(fabs(value_at(hbm, 7) - 819) < 1e-3);
	assert_true(fabs(value_at(hbm, 2) - 4194304 / 11e3) < 1e-2); /* 11 us were left for it */
	assert_true(fabs(value_at(hbm, 18) - 4194304 / 11e3) < 1e-2);
	assert_true(fabs(area(hbm) * 1e9 - 8190000 - 4194304) < 100);
	done(given);
}

TEST(nothing_is_drawn_without_a_budget_or_rates)
{
	for (size_t budget = 0; budget <= 1000; budget += 1000) {
		struct given *given = given_nothing();
		struct xp xp = xp_plane(&given->bytes, "/device:TPU:0"); /* no chip, no peak */

		op(&xp, 1, "f", 1000, 0);
		xp_line(&xp, "XLA Ops", 0);
		given_event(&xp, 1, 0, 10);
		xp_line_end(&xp);
		xp_plane_end(&xp);
		analyse(given, budget);
		assert_null(counter(given, "MXU utilization (%)", 0));
		assert_null(counter(given, "HBM bandwidth (GB/s)", 0));
		done(given);
	}
}
