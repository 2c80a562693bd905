/* SPDX-License-Identifier: MIT */
/*
 * The chip table: peak rates, matrix units and memory of TPUs and GPUs, a row a chip.
 *
 * A profile's own figures win over the table (they are what the run's libtpu planned with);
 * an unknown chip has a name and no rates: NaN and -1, never a guess.
 * Rates are per JAX device (a core on v2, v3, v7x; a megacore on v4, v5p; facts in chips.c).
 */
#ifndef TS_HW_CHIPS_H
#define TS_HW_CHIPS_H

#include <math.h>

#include "base/bytes.h"

struct ts_chip {
	const char *name; /* TPU v6e, H100 SXM */
	bool is_gpu;
	double peak_flops_per_s; /* bf16 (fp16 where there is no bf16), dense; NaN unknown */
	double peak_int8_per_s;	 /* NaN: none or unknown */
	double peak_fp8_per_s;
	double peak_f32_per_s; /* of GPUs: TF32 where the card has it */
	double hbm_bytes_per_s;
	int64_t hbm_bytes;
	int64_t vmem_bytes;	    /* per core */
	double host_bytes_per_s;    /* PCIe to the host, one way, per chip */
	double clock_hz;	    /* TensorCore clock: estimated_cycles count in it */
	int mxu_dim;		    /* 128 or 256; -1: there is no matrix unit, or it is unknown */
	int mxu_count;		    /* per device */
	double link_bytes_per_s;    /* of one link between chips (ICI), one way */
	bool halves_bandwidth_stat; /* AMD: the profile's memory_bandwidth is half the true one */
};

/* What a profile knows of a device. */
struct ts_chip_query {
	struct ts_bytes kind; /* device_type_string, device_kind or a GPU's name */
	struct ts_bytes vendor;
	bool is_gpu;
	bool has_megacore;
	int64_t clock_khz, core_count, cc_major, cc_minor, memory_bytes; /* -1 unknown */
};

/* The row, or NULL for a chip that is not in the table. Names match without case; "TPU v5 lite",
 * "TPU v5e" and "v5litepod-4" are one. */
const struct ts_chip *ts_chip_find(const struct ts_chip_query *query);

/* What is used for a device: the profile's figures, then the table's. */
struct ts_rates {
	const char *name;  /* the table's name, or NULL when the chip is unknown */
	bool from_profile; /* peak_flops came from the profile */
	double peak_flops_per_s, hbm_bytes_per_s, vmem_bytes_per_s, host_bytes_per_s;
	double peak_int8_per_s, peak_fp8_per_s, peak_f32_per_s;
	double link_bytes_per_s;
	double clock_hz;
	int64_t hbm_bytes, vmem_bytes;
	int mxu_dim, mxu_count;
	const char *
		matrix_units; /* what its maker calls them: "MXU", "tensor cores", "matrix cores" */
};

/* PEAK_FLOPS and HBM_BYTES_PER_S are what the profile says, NaN when it does not. */
struct ts_rates ts_rates_of(const struct ts_chip_query *query, double peak_flops,
			    double hbm_bytes_per_s, double vmem_bytes_per_s, int64_t hbm_bytes);

/*
 * FLOPs in terms of the bf16 peak, which 8-bit products can pass: of FLOPS as counted, INT8 and FP8
 * are products of 8-bit operands and PRODUCTS all of them. FLOPS below PRODUCTS were put in these
 * terms by the profile already (libtpu does so) and are given back as they are.
 */
double ts_bf16_flops(const struct ts_rates *rates, double flops, double products, double int8,
		     double fp8);

/* The resource that bounds an op of so much work by the roofline: the one that needs the longest. */
enum ts_bound {
	TS_BOUND_UNKNOWN,
	TS_BOUND_COMPUTE,
	TS_BOUND_HBM,
	TS_BOUND_VMEM,
	/* of transfers and waits, which have no place on a roofline; not of ts_roofline_of() */
	TS_BOUND_HOST_LINK,
	TS_BOUND_INTERCONNECT,
	TS_BOUND_WAITING,
	TS_NR_BOUNDS
};
struct ts_roofline {
	enum ts_bound bound;
	double least_s; /* no op can be faster than this; NaN unknown */
	double compute_s, hbm_s, vmem_s;
};
struct ts_roofline ts_roofline_of(const struct ts_rates *rates, double flops, double hbm_bytes,
				  double vmem_bytes); /* NaN: unknown, no bound from it */
const char *ts_bound_name(enum ts_bound bound);	      /* the first four: XProf's words */

#endif
