/*
 * What the analysis kernels knows of the GPUs as a whole.
 */
#ifndef TS_ANALYSIS_FACTS_KERNELS_H
#define TS_ANALYSIS_FACTS_KERNELS_H

struct ts_kernels_facts {
	/* Of the kernels of all GPUs, copies and collectives aside, weighted by their time, in
	 * percent as profilers say it. NaN: unknown. */
	double occupancy_pct;
	double mean_ps; /* of a kernel on a GPU, collectives included, copies not; NaN: unknown */
};

#endif
