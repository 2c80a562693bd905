/* SPDX-License-Identifier: MIT */
/* Which resource bounds an op. A chip of 100 FLOP/s, 10 B/s of HBM and 50 B/s of VMEM. */
#include "tests/test.h"
#include "hw/chips.h"

static const struct ts_rates rates = {
	.peak_flops_per_s = 100,
	.hbm_bytes_per_s = 10,
	.vmem_bytes_per_s = 50,
};

TEST(test_the_slowest_resource_bounds)
{
	static const struct {
		double flops, hbm, vmem;
		enum ts_bound bound;
		double least_s; /* by hand: flops / 100, hbm / 10, vmem / 50, the largest */
	} rows[] = {
		{ 500, 10, 50, TS_BOUND_COMPUTE, 5 },
		{ 100, 30, 50, TS_BOUND_HBM, 3 },
		{ 100, 10, 200, TS_BOUND_VMEM, 4 },
		{ 100, 10, 50, TS_BOUND_COMPUTE, 1 }, /* all the same: compute */
		{ 100, NAN, NAN, TS_BOUND_COMPUTE, 1 },
		{ NAN, 30, NAN, TS_BOUND_HBM, 3 },
		{ 0, 30, NAN, TS_BOUND_HBM, 3 },
		{ 0, 0, 0, TS_BOUND_UNKNOWN, 0 },
		{ NAN, NAN, NAN, TS_BOUND_UNKNOWN, NAN },
		{ -1, -1, -1, TS_BOUND_UNKNOWN, NAN },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_roofline line =
			ts_roofline_of(&rates, rows[i].flops, rows[i].hbm, rows[i].vmem);

		if (line.bound != rows[i].bound)
			fail_msg("row %zu is bound by %s", i, ts_bound_name(line.bound));
		if (isnan(rows[i].least_s))
			assert_true(isnan(line.least_s));
		else
			assert_true(line.least_s == rows[i].least_s);
	}
}

TEST(test_an_unknown_chip_bounds_nothing)
{
	struct ts_rates unknown = { .peak_flops_per_s = NAN,
				    .hbm_bytes_per_s = NAN,
				    .vmem_bytes_per_s = NAN };
	struct ts_roofline line = ts_roofline_of(&unknown, 1e9, 1e9, 1e9);

	assert_int_equal(line.bound, TS_BOUND_UNKNOWN);
	assert_true(isnan(line.least_s) && isnan(line.compute_s) && isnan(line.hbm_s));
}

/* A v6e: ridge point 918e12 / 1638e9 = 560 FLOP/B. */
TEST(test_the_ridge_point_divides_compute_from_memory)
{
	struct ts_chip_query query = { .kind = TS_LIT("TPU v6e"), .memory_bytes = -1 };
	struct ts_rates v6e = ts_rates_of(&query, NAN, NAN, NAN, -1);

	assert_int_equal(ts_roofline_of(&v6e, 559e6, 1e6, NAN).bound, TS_BOUND_HBM);
	assert_int_equal(ts_roofline_of(&v6e, 562e6, 1e6, NAN).bound, TS_BOUND_COMPUTE);
}

/* v6e: int8 runs at 1836 TOP/s, twice the bf16 peak, fp8 at the bf16 rate; a v7x has no rate for
 * int8 and twice the peak for fp8. */
TEST(test_8_bit_products_count_by_their_own_rate)
{
	struct ts_chip_query query = { .kind = TS_LIT("TPU v6e"), .memory_bytes = -1 };
	struct ts_rates v6e = ts_rates_of(&query, NAN, NAN, NAN, -1), v7x;

	query.kind = TS_LIT("TPU7x");
	v7x = ts_rates_of(&query, NAN, NAN, NAN, -1);
	assert_true(ts_bf16_flops(&v6e, 1000, 1000, 0, 0) == 1000);
	assert_true(ts_bf16_flops(&v6e, 1000, 1000, 1000, 0) == 500);
	assert_true(ts_bf16_flops(&v6e, 1100, 1000, 1000, 0) == 600); /* 100 are no product */
	assert_true(ts_bf16_flops(&v6e, 500, 1000, 1000, 0) == 500);  /* normalised before */
	assert_true(ts_bf16_flops(&v6e, 1000, 1000, 0, 1000) == 1000);
	assert_true(ts_bf16_flops(&v7x, 1000, 1000, 1000, 0) == 1000);
	assert_true(ts_bf16_flops(&v7x, 1000, 1000, 0, 1000) == 500);
}

TEST(test_bounds_have_xprofs_names)
{
	assert_string_equal(ts_bound_name(TS_BOUND_COMPUTE), "Compute");
	assert_string_equal(ts_bound_name(TS_BOUND_HBM), "HBM");
	assert_string_equal(ts_bound_name(TS_BOUND_VMEM), "VMEM");
	assert_string_equal(ts_bound_name(TS_BOUND_UNKNOWN), "Unknown");
	assert_string_equal(ts_bound_name((enum ts_bound)99), "Unknown");
}
