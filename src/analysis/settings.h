/*
 * Thresholds of the doctor, settable with --threshold NAME=VALUE and the config file. Shares are in
 * percent here, as people write them; they are shares of core time (wall time x cores) where the
 * comment names nothing else.
 */
#ifndef TS_ANALYSIS_SETTINGS_H
#define TS_ANALYSIS_SETTINGS_H

#include "base/bytes.h"

struct ts_settings {
	double mxu_utilization_low;	/* %, critical below */
	double mxu_utilization_warning; /* %, warning below */
	double mxu_fill_low;		/* % of the array that a product's shape can fill */
	double padding_waste_high;	/* %, warning above */
	double compilation_time_high;	/* ms, warning above */
	double idle_high;
	double communication_high;
	double host_transfer_high;
	double memory_wait_high;
	double layout_copy_high;
	double input_high;
	double rematerialization_high;
	double dominant_op_high;
	double small_op_time;	/* us, mean time of an op below which it is tiny */
	double small_ops_high;	/* %, of core time in tiny ops */
	double op_chains_high;	/* %, of core time in tiny ops in series */
	double unfused_high;	/* %, of core time in intermediates through HBM, a reason */
	double slow_step_high;	/* %, over the median step */
	double impact_critical; /* %, of core time from which a finding is critical */
	double impact_warning;
	double finding_min; /* % below which a finding is not worth a line */
	double max_findings;
	double large_transfer_size;   /* MiB of one transfer between host and device */
	double small_transfer_size;   /* KiB, below it is small */
	double small_transfers_count; /* so many small ones are many */
	/* bands of the key figures that no rule has a threshold for */
	double device_utilization_good; /* % */
	double device_utilization_fair;
	double kernel_duration_good; /* ms */
	double kernel_duration_fair;
	double host_overhead_good; /* % */
	double host_overhead_fair;
	double memory_bandwidth_good; /* % */
	double memory_bandwidth_fair;
	double compilation_time_good; /* s */
	double compilation_time_fair;
	double occupancy_good;		 /* % */
	double capture_compilation_high; /* %, of core time: the profile shows compilation */
	double capture_steps_high;	 /* steps that a profile needs at most */
	double peak_memory_high;	 /* %, of the device's memory that a program needs */
	double donation_high;		 /* %, of it that donated arguments could save */
	double upcasts_high;		 /* %, of core time in bytes of arrays stored too wide */
	double hbm_bandwidth_low;	 /* %, of HBM's peak: what memory-bound ops should reach */
	double kernel_roofline_low;	 /* % of its roofline, below it a kernel is slow */
	double async_exposed_high;	 /* %, of core time waiting for asynchronous copies */
	double memory_growth_high; /* %, of a device's memory that its heap grows, step after step */
	double fragmentation_high;   /* %, of what is reserved at the peak and not allocated */
	double allocator_calls_high; /* %, of core time in calls of the driver's allocator */
	double kernel_gap_short; /* us, a shorter gap on a stream is between two kernels, no wait */
	double kernel_short;	 /* us, a kernel that takes less is short */
	double launch_queue_full;   /* launches that wait on a stream when the next one blocks */
	double short_kernels_count; /* so many kernels of less than kernel_short are many */
	double kernel_gaps_high;    /* %, of GPU time between kernels that were launched in time */
	double short_kernels_high;  /* %, of GPU time in short kernels */
	double launch_queue_high;   /* %, of the time that a stream's queue is full */
	double late_rank_high;	    /* %, of core time waiting for one rank alone */
};

struct ts_setting {
	const char *name, *unit, *help;
	size_t offset; /* of the double in struct ts_settings */
	double value;  /* by default */
};
extern const struct ts_setting ts_setting_list[]; /* name NULL at the end */
void ts_settings_init(struct ts_settings *settings);
/* False: no such threshold, or the value is negative or no number. */
bool ts_settings_set(struct ts_settings *settings, struct ts_bytes name, double value);

#endif
