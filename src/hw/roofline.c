/* SPDX-License-Identifier: MIT */
/*
 * The roofline: an op is no faster than the slowest of its resources lets it be. XProf's formula
 * (openxla/xprof, xprof/convert/op_stats_to_roofline_model.cc), where "bound by" is the resource of
 * the highest utilization: for one and the same op that is the one that needs the longest.
 */
#include "hw/chips.h"

#include "base/check.h"

static double hw_roofline_seconds(double amount, double per_s)
{
	return amount >= 0 && per_s > 0 ? amount / per_s : NAN; /* NaN compares false */
}

static void hw_roofline_take(struct ts_roofline *line, double needed_s, enum ts_bound bound)
{
	if (isnan(needed_s) || needed_s <= line->least_s)
		return;
	line->least_s = needed_s;
	line->bound = needed_s > 0 ? bound : TS_BOUND_UNKNOWN;
}

struct ts_roofline ts_roofline_of(const struct ts_rates *rates, double flops, double hbm_bytes,
				  double vmem_bytes)
{
	struct ts_roofline line = {
		.bound = TS_BOUND_UNKNOWN,
		.least_s = -1,
		.compute_s = hw_roofline_seconds(flops, rates->peak_flops_per_s),
		.hbm_s = hw_roofline_seconds(hbm_bytes, rates->hbm_bytes_per_s),
		.vmem_s = hw_roofline_seconds(vmem_bytes, rates->vmem_bytes_per_s),
	};

	TS_ASSERT_HOT(rates);
	hw_roofline_take(&line, line.compute_s, TS_BOUND_COMPUTE);
	hw_roofline_take(&line, line.hbm_s, TS_BOUND_HBM);
	hw_roofline_take(&line, line.vmem_s, TS_BOUND_VMEM);
	if (line.least_s < 0)
		line.least_s = NAN;
	return line;
}

/* What FLOPS at a rate of their own take less than they would at the peak. */
static double saved(double flops, double peak, double own)
{
	return own > 0 && peak > 0 ? flops * (1 - peak / own) : 0;
}

double ts_bf16_flops(const struct ts_rates *rates, double flops, double products, double int8,
		     double fp8)
{
	double peak = rates->peak_flops_per_s;

	TS_ASSERT_HOT(rates);
	if (flops < 0.99 * products)
		return flops;
	return flops - saved(int8, peak, rates->peak_int8_per_s) -
	       saved(fp8, peak, rates->peak_fp8_per_s);
}

const char *ts_bound_name(enum ts_bound bound)
{
	static const char *const names[] = {
		[TS_BOUND_UNKNOWN] = "Unknown",
		[TS_BOUND_COMPUTE] = "Compute",
		[TS_BOUND_HBM] = "HBM",
		[TS_BOUND_VMEM] = "VMEM",
		[TS_BOUND_HOST_LINK] = "Host link",
		[TS_BOUND_INTERCONNECT] = "Interconnect",
		[TS_BOUND_WAITING] = "Waiting",
	};

	return (size_t)bound < TS_NELEM(names) ? names[bound] : "Unknown";
}
