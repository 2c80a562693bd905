/* SPDX-License-Identifier: MIT */
/* Which row a device gets, and whose figures win. */
#include "tests/test.h"
#include "hw/chips.h"

static struct ts_chip_query tpu(const char *kind, bool megacore)
{
	return (struct ts_chip_query){
		.kind = ts_bytes_of(kind),
		.has_megacore = megacore,
		.clock_khz = -1,
		.core_count = -1,
		.cc_major = -1,
		.cc_minor = -1,
		.memory_bytes = -1,
	};
}

static struct ts_rates table_rates(const struct ts_chip_query *query)
{
	return ts_rates_of(query, NAN, NAN, NAN, -1);
}

static void assert_near(double value, double expected, double share)
{
	if (!(fabs(value - expected) <= share * fabs(expected)))
		fail_msg("%g is not %g", value, expected);
}

/* Every way libtpu, JAX, Cloud and GKE write a TPU's name. */
TEST(test_names_are_recognised)
{
	static const struct {
		const char *kind, *expected;
	} rows[] = {
		{ "TPU v2", "TPU v2" },
		{ "TPU v3", "TPU v3" },
		{ "v3-8", "TPU v3" },
		{ "TPU v4 Lite", "TPU v4i" },
		{ "TPU v4 lite", "TPU v4i" },
		{ "TPU v4", "TPU v4" },
		{ "TPU V4", "TPU v4" },
		{ "v4-8", "TPU v4" },
		{ "tpu-v4-podslice", "TPU v4" },
		{ "TPU v5 Lite", "TPU v5e" },
		{ "TPU v5 lite", "TPU v5e" },
		{ "TPU v5e", "TPU v5e" },
		{ "v5litepod-4", "TPU v5e" },
		{ "v5e:2x2", "TPU v5e" },
		{ "tpu-v5-lite-podslice", "TPU v5e" },
		{ "TPU v5", "TPU v5p" },
		{ "TPU v5p", "TPU v5p" },
		{ "v5p-128", "TPU v5p" },
		{ "v5p:2x2x1", "TPU v5p" },
		{ "TPU v6 Lite", "TPU v6e" },
		{ "TPU v6 lite", "TPU v6e" },
		{ "TPU v6e", "TPU v6e" },
		{ "v6e-16", "TPU v6e" },
		{ "TPU v7x", "TPU v7x" },
		{ "TPU7x", "TPU v7x" },
		{ "TPU7", "TPU v7x" },
		{ "tpu7x:2x2x1", "TPU v7x" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_chip_query query = tpu(rows[i].kind, false);
		const struct ts_chip *chip = ts_chip_find(&query);

		if (!chip)
			fail_msg("\"%s\" was not recognised", rows[i].kind);
		assert_string_equal(chip->name, rows[i].expected);
	}
}

TEST(test_unknown_chips_have_no_rates)
{
	static const char *const kinds[] = {
		"",	     "TPU",
		"Cloud TPU", "TPU v8",
		"TPU v55",   "v5x",
		"-4",	     ":",
		"4",	     "TPU v5 Lite but with a name that is far too long for any chip"
	};

	for (size_t i = 0; i < TS_NELEM(kinds); i++) {
		struct ts_chip_query query = tpu(kinds[i], false);
		struct ts_rates rates = table_rates(&query);

		assert_null(ts_chip_find(&query));
		assert_null(rates.name);
		assert_false(rates.from_profile);
		assert_true(isnan(rates.peak_flops_per_s) && isnan(rates.hbm_bytes_per_s));
		assert_true(isnan(rates.peak_int8_per_s) && isnan(rates.peak_fp8_per_s));
		assert_true(isnan(rates.clock_hz) && isnan(rates.host_bytes_per_s));
		assert_true(isnan(rates.vmem_bytes_per_s));
		assert_int_equal(rates.hbm_bytes, -1);
		assert_int_equal(rates.vmem_bytes, -1);
		assert_int_equal(rates.mxu_dim, -1);
		assert_int_equal(rates.mxu_count, -1);
	}
}

/* The figures XProf's own tests expect of a chip; its 1200 GB/s of a v4 is rounded from 1228. */
TEST(test_rows_agree_with_xprofs_figures)
{
	static const struct {
		const char *kind;
		double peak_tflops, hbm_gbytes_per_s, hbm_share;
		int64_t hbm_gib;
	} rows[] = {
		{ "TPU v6 Lite", 918, 1638, 0, 32 },
		{ "TPU v5 Lite", 197, 819, 0, 16 },
		{ "TPU v4", 275, 1200, 0.025, 32 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_chip_query query = tpu(rows[i].kind, true);
		struct ts_rates rates = table_rates(&query);

		assert_near(rates.peak_flops_per_s, rows[i].peak_tflops * 1e12, 1e-12);
		assert_near(rates.hbm_bytes_per_s, rows[i].hbm_gbytes_per_s * 1e9,
			    rows[i].hbm_share + 1e-12);
		assert_int_equal(rates.hbm_bytes, rows[i].hbm_gib << 30);
	}
}

/* A matrix unit does dim x dim multiply-adds a cycle (a v6e's and a v7x's twice that, as their peak
 * says): count x dim^2 x 2 x clock must give the published peak. v7x peaks at 2.2 GHz, not 1.9. */
TEST(test_peak_follows_from_the_array_and_the_clock)
{
	static const struct {
		const char *kind;
		bool megacore;
		double passes, clock_hz;
	} rows[] = {
		{ "TPU v2", false, 1, 700e6 },	 { "TPU v3", false, 1, 940e6 },
		{ "TPU v4i", false, 1, 1050e6 }, { "TPU v4", false, 1, 1050e6 },
		{ "TPU v4", true, 1, 1050e6 },	 { "TPU v5e", false, 1, 1500e6 },
		{ "TPU v5p", false, 1, 1750e6 }, { "TPU v5p", true, 1, 1750e6 },
		{ "TPU v6e", false, 2, 1750e6 }, { "TPU v7x", false, 2, 2200e6 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_chip_query query = tpu(rows[i].kind, rows[i].megacore);
		struct ts_rates rates = table_rates(&query);

		assert_near(rates.peak_flops_per_s,
			    rows[i].passes * rates.mxu_count * rates.mxu_dim * rates.mxu_dim * 2 *
				    rows[i].clock_hz,
			    0.01);
	}
}

TEST(test_a_megacore_has_the_rates_of_two_cores)
{
	static const char *const kinds[] = { "TPU v4", "TPU v5p" };

	for (size_t i = 0; i < TS_NELEM(kinds); i++) {
		struct ts_chip_query core = tpu(kinds[i], false), mega = tpu(kinds[i], true);
		struct ts_rates one = table_rates(&core), two = table_rates(&mega);

		assert_near(two.peak_flops_per_s, 2 * one.peak_flops_per_s, 1e-12);
		assert_near(two.hbm_bytes_per_s, 2 * one.hbm_bytes_per_s, 1e-12);
		assert_int_equal(two.hbm_bytes, 2 * one.hbm_bytes);
		assert_int_equal(two.mxu_count, 2 * one.mxu_count);
		assert_int_equal(two.mxu_dim, one.mxu_dim);
	}
}

/* A v7x plane says 1028.75 TF and 3686.156 GB/s; the table has 1153.5 and 3690. */
TEST(test_the_profiles_own_figures_win)
{
	struct ts_chip_query query = tpu("TPU v7x", false);
	struct ts_rates rates = ts_rates_of(&query, 1028.75e12, 3686.156e9, 20e12, 100);

	assert_true(rates.from_profile);
	assert_string_equal(rates.name, "TPU v7x");
	assert_true(rates.peak_flops_per_s == 1028.75e12);
	assert_true(rates.hbm_bytes_per_s == 3686.156e9);
	assert_true(rates.vmem_bytes_per_s == 20e12);
	assert_int_equal(rates.hbm_bytes, 100);
	assert_true(rates.clock_hz == 1.9e9);
	assert_int_equal(rates.mxu_dim, 256);
}

TEST(test_an_unknown_chip_keeps_what_its_profile_says)
{
	struct ts_chip_query query = tpu("TPU v9", false);
	struct ts_rates rates = ts_rates_of(&query, 5e15, 1e13, 0, -1);

	assert_null(rates.name);
	assert_true(rates.from_profile);
	assert_true(rates.peak_flops_per_s == 5e15);
	assert_true(rates.hbm_bytes_per_s == 1e13);
	assert_true(isnan(rates.vmem_bytes_per_s)); /* a stat of 0 is not a rate */
	assert_int_equal(rates.hbm_bytes, -1);
}

/* Rows of stats as seen in real planes and Kineto files, and made from XLA's device descriptions. */
TEST(test_gpus_are_known_by_their_stats)
{
	static const struct {
		const char *vendor, *kind;
		int64_t khz, cores, memory, major, minor;
		const char *expected; /* NULL: none of the table */
	} rows[] = {
		{ "", "", 1530000, 80, 16945512448, 7, 0, "V100 16 GB" },
		{ "Nvidia", "Tesla V100-SXM2-32GB", -1, 80, 34089730048, 7, 0, "V100 32 GB" },
		{ "Nvidia", "", 1590000, 40, 15843721216, 7, 5, "T4" },
		{ "Nvidia", "NVIDIA A100-PG509-200", -1, 108, 42297524224, 8, 0, "A100 40 GB" },
		{ "Nvidia", "", 1410000, 108, 85100068864, 8, 0, "A100 80 GB" },
		{ "Nvidia", "", 1410000, 42, 20000000000, 8, 0, NULL }, /* a MIG slice */
		{ "Nvidia", "", 2040000, 58, 23600000000, 8, 9, "L4" },
		{ "Nvidia", "", 1755000, 114, 84942979072, 9, 0, "H100 PCIe" },
		{ "Nvidia", "", 1980000, 132, 84942979072, 9, 0, "H100 SXM" },
		{ "Nvidia", "", 1980000, 132, 151397597184, 9, 0, "H200 SXM" },
		{ "Nvidia", "NVIDIA B200", -1, 148, 191503138816, 10, 0, "B200" },
		{ "AMD", "", 2100000, 304, 206141652992, 9, 4, "MI300X" },
		{ "", "", -1, 304, 206141652992, 9, 4, "MI300X" },
		{ "AMD", "", 2100000, 304, 274877906944, 9, 4, "MI325X" },
		{ "AMD", "", 2400000, 256, 309220868096, 9, 5, "MI355X" },
		{ "AMD", "", 2200000, 256, 309220868096, 9, 5, NULL }, /* MI350X */
		{ "AMD", "AMD Instinct MI100", -1, 120, 34342961152, 9, 0, "MI100" },
		{ "", "AMD Instinct MI210", -1, 104, 68702699520, 9, 0, "MI210" },
		{ "", "AMD Instinct MI300X VF", -1, -1, -1, -1, -1, "MI300X" },
		{ "", "Intel(R) Data Center GPU Max 1550", -1, -1, 68719476736, -1, -1,
		  "Max 1550 (one of two)" },
		{ "", "Intel(R) Data Center GPU Max 1100", -1, 448, 51539607552, -1, -1,
		  "Max 1100" },
		{ "", "Intel(R) Arc(TM) A770 Graphics", -1, -1, -1, -1, -1, "Arc A770" },
		{ "", "Intel(R) Arc(TM) B580 Graphics", -1, -1, -1, -1, -1, "Arc B580" },
		{ "", "Intel(R) Iris(R) Xe Graphics", -1, -1, -1, -1, -1, NULL },
		{ "", "AMD Radeon Graphics", -1, 104, 68702699520, 9, 0, "MI250 (one of two)" },
		{ "AMD", "", 1700000, 110, 68702699520, 9, 0, "MI250X (one of two)" },
		{ "Nvidia", "", 1000000, 104, 80000000000, 9, 0, NULL },
		{ "Nvidia", "NVIDIA H100 80GB HBM3", -1, -1, -1, -1, -1, "H100 SXM" },
		{ "Nvidia", "NVIDIA A100-SXM4-80GB", -1, -1, -1, -1, -1, "A100 80 GB" },
		{ "Nvidia", "NVIDIA L4", -1, -1, -1, -1, -1, "L4" },
		{ "Nvidia", "Tesla T4", -1, -1, -1, -1, -1, "T4" },
		{ "Nvidia", "NVIDIA GH200 480GB", -1, -1, -1, -1, -1, NULL },
		{ "Nvidia", "NVIDIA GeForce RTX 3090", -1, -1, -1, -1, -1, NULL },
		{ "Nvidia", "NVIDIA L40", -1, -1, -1, -1, -1, NULL },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_chip_query query = {
			.kind = ts_bytes_of(rows[i].kind),
			.vendor = ts_bytes_of(rows[i].vendor),
			.is_gpu = true,
			.clock_khz = rows[i].khz,
			.core_count = rows[i].cores,
			.cc_major = rows[i].major,
			.cc_minor = rows[i].minor,
			.memory_bytes = rows[i].memory,
		};
		const struct ts_chip *chip = ts_chip_find(&query);

		if (!rows[i].expected && chip)
			fail_msg("row %zu is not %s", i, chip->name);
		if (rows[i].expected && !chip)
			fail_msg("row %zu is a %s", i, rows[i].expected);
		if (chip)
			assert_string_equal(chip->name, rows[i].expected);
	}
}

static struct ts_chip_query mi300x(int64_t cores)
{
	return (struct ts_chip_query){
		.vendor = TS_LIT("AMD"),
		.is_gpu = true,
		.clock_khz = 2100000,
		.core_count = cores,
		.cc_major = 9,
		.cc_minor = 4,
		.memory_bytes = 206141652992,
	};
}

/* The plane's memory_bandwidth, 2662.4 GB/s, is half of what the card has. */
TEST(test_amds_halved_bandwidth_is_not_taken)
{
	struct ts_chip_query query = mi300x(304);
	struct ts_rates rates = ts_rates_of(&query, NAN, 2662400000000., NAN, 206141652992);

	assert_string_equal(rates.name, "MI300X");
	assert_true(rates.hbm_bytes_per_s == 5300e9);
	assert_true(rates.peak_flops_per_s == 1307e12);
	assert_int_equal(rates.mxu_dim, -1);
}

/* A partition with 38 of 304 CUs: 38 x 2.1 GHz x 2048 = 163.4 TF; its bandwidth is not published. */
TEST(test_a_part_of_a_card_has_the_peak_of_its_cores)
{
	struct ts_chip_query query = mi300x(38);
	struct ts_rates rates = ts_rates_of(&query, NAN, 2662400000000., NAN, -1);

	assert_null(rates.name);
	assert_false(rates.from_profile);
	assert_near(rates.peak_flops_per_s, 163.4e12, 0.001);
	assert_true(isnan(rates.hbm_bytes_per_s));
}

/* XProf's peak of cards without a row: an A6000 (8.6, 84 SMs, 1800 MHz) 154.8 TF; an unheard-of
 * architecture has none. */
TEST(test_cards_without_a_row_are_computed_or_unknown)
{
	struct ts_chip_query query = mi300x(84);
	struct ts_rates rates;

	query.vendor = TS_LIT("Nvidia");
	query.clock_khz = 1800000;
	query.cc_major = 8;
	query.cc_minor = 6;
	rates = ts_rates_of(&query, NAN, 768e9, NAN, -1);
	assert_near(rates.peak_flops_per_s, 154.8e12, 0.001);
	assert_true(rates.hbm_bytes_per_s == 768e9);
	query.cc_major = 13;
	assert_true(isnan(table_rates(&query).peak_flops_per_s));
}

TEST(test_matrix_units_have_their_makers_name)
{
	struct ts_chip_query query = mi300x(304);

	assert_string_equal(table_rates(&query).matrix_units, "matrix cores");
	query.vendor = TS_LIT("Nvidia");
	query.cc_major = 9;
	query.cc_minor = 0;
	assert_string_equal(table_rates(&query).matrix_units, "tensor cores");
	query.vendor = query.kind = TS_LIT("Intel(R) Data Center GPU Max 1550");
	assert_string_equal(table_rates(&query).matrix_units, "matrix units");
	query.is_gpu = false;
	query.kind = TS_LIT("TPU v6e");
	assert_string_equal(table_rates(&query).matrix_units, "MXU");
}
