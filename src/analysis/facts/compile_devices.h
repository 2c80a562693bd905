/* SPDX-License-Identifier: MIT */
/* What the analysis compile_devices knows: the kernels of compiled regions, over all GPUs. */
#ifndef TS_ANALYSIS_FACTS_COMPILE_DEVICES_H
#define TS_ANALYSIS_FACTS_COMPILE_DEVICES_H

#include "model/torch_event.h"

struct ts_compile_device_region {
	struct ts_compile_id id;
	int64_t nr_launches, nr_kernels;
	int64_t device_ps, backward_ps; /* device time of its kernels; of those of its backward */
};

struct ts_compile_devices_facts {
	const struct ts_compile_device_region *regions; /* one an id, in the order of time */
	size_t nr_regions;				/* 0: all of this is unknown */
	int64_t outside_ps; /* device time of kernels that no region launched */
};

#endif
