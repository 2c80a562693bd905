/* SPDX-License-Identifier: MIT */
/*
 * What the analysis kernels knows of the GPUs as a whole.
 */
#ifndef TS_ANALYSIS_FACTS_KERNELS_H
#define TS_ANALYSIS_FACTS_KERNELS_H

#include <stdint.h>

struct ts_kernels_facts {
	/* Of the kernels of all GPUs, copies and collectives aside, weighted by their time, in
	 * percent as profilers say it. NaN: unknown. */
	double occupancy_pct;
	/* Of GPUs' copies that say their bytes, by the way in their names; 0: no copy says them. */
	int64_t from_host_bytes, to_host_bytes;
	double mean_ps; /* of a kernel on a GPU, collectives included, copies not; NaN: unknown */
};

#endif
