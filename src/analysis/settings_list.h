/* SPDX-License-Identifier: MIT */
/*
 * The thresholds, a line each: the name, its unit, the default, and what --help says. The struct,
 * the options and the config file follow from this list. Shares are in percent, as people write
 * them, and shares of core time (wall time x cores) where the help names nothing else. The *_good
 * and *_fair are the bands of key figures that no rule has a threshold for.
 */
#ifndef TS_ANALYSIS_SETTINGS_LIST_H
#define TS_ANALYSIS_SETTINGS_LIST_H

#include "base/bytes.h"

#define TS_SETTINGS(X)                                                                             \
	X(mxu_utilization_low, "%", 30, "matrix-unit utilization below this is poor")              \
	X(mxu_utilization_warning, "%", 50, "matrix-unit utilization below this is reported")      \
	X(mxu_fill_low, "%", 70, "a product whose shape fills less of the array is reported")      \
	X(padding_waste_high, "%", 30, "an op that wastes more on tile padding is reported")       \
	X(compilation_time_high, "ms", 5000, "more host time in compilation is a warning")         \
	X(throttling_high, "%", 1, "more of a core's time lost to throttling is reported")             \
	X(counters_differ_high, "%", 20,                                                           \
	  "a measured figure that differs from the modelled one by more is reported")              \
	X(idle_high, "%", 10, "more core time with nothing running is reported")                   \
	X(launch_high, "%", 5, "more core time waiting for launches is reported")                  \
	X(communication_high, "%", 10, "more core time in exposed collectives is reported")        \
	X(host_transfer_high, "%", 5, "more core time waiting for host memory is reported")        \
	X(memory_wait_high, "%", 40, "more core time bound by memory is reported")                 \
	X(layout_copy_high, "%", 5, "more core time in copies and transposes is reported")         \
	X(input_high, "%", 5, "more core time waiting for input is reported")                      \
	X(rematerialization_high, "%", 10, "more core time in recomputation is reported")          \
	X(dominant_op_high, "%", 50, "one op with more of the core time is reported")              \
	X(small_op_time, "\u00b5s", 2, "an op whose mean time is shorter is tiny")                      \
	X(small_ops_high, "%", 10, "more core time in tiny ops is reported")                       \
	X(op_chains_high, "%", 2, "more core time in series of tiny ops is reported")              \
	X(unfused_high, "%", 5,                                                                    \
	  "more core time that fusing could save, for one reason, is reported")                    \
	X(slow_step_high, "%", 20, "a step longer than the median by more is slow")                \
	X(impact_critical, "%", 25, "a finding with this gain, of the run, is critical")           \
	X(impact_warning, "%", 5, "a finding with this gain, of the run, is a warning")             \
	X(finding_min, "%", 0.5, "a finding with less of the core time is dropped")                \
	X(max_findings, "", 20, "findings that are kept, the largest first")                       \
	X(large_transfer_size, "MiB", 64, "one transfer of the host with more is large")           \
	X(small_transfer_size, "KiB", 64, "a transfer of the host with less is small")             \
	X(small_transfers_count, "", 1000, "so many small transfers are many")                     \
	X(device_utilization_good, "%", 80, "key figure: duty cycle, good from here")              \
	X(device_utilization_fair, "%", 50, "fair from here, below poor")                          \
	X(kernel_duration_good, "ms", 1, "key figure: mean time of a launch, good from here")      \
	X(kernel_duration_fair, "ms", 0.1, "fair from here, below poor")                           \
	X(host_overhead_good, "%", 10, "key figure: core time waiting for the host, good to here") \
	X(host_overhead_fair, "%", 20, "fair to here, above poor")                                 \
	X(memory_bandwidth_good, "%", 60, "key figure: HBM bandwidth, good from here")             \
	X(memory_bandwidth_fair, "%", 40, "fair from here, below poor")                            \
	X(compilation_time_good, "s", 2, "key figure: host time in compilation, good to here")     \
	X(compilation_time_fair, "s", 10, "fair to here, above poor")                              \
	X(occupancy_good, "%", 50, "key figure: occupancy of a GPU, good from here")               \
	X(capture_compilation_high, "%", 50,                                                       \
	  "a profile with more core time in compilation is misleading")                            \
	X(capture_steps_high, "", 1000, "a profile with more steps is longer than it need be")     \
	X(peak_memory_high, "%", 90, "a program that needs more of a device's memory is reported") \
	X(donation_high, "%", 5,                                                                   \
	  "more of a device's memory that donated arguments could save is reported")               \
	X(op_ms_high, "ms", 50, "an op of which an execution takes longer is reported")      \
	X(op_count_high, "", 1000, "an op that runs more often in a step, on a core, is reported")  \
	X(other_time_high, "%", 30, "more of a trace's steps in the class Other is reported")       \
	X(cpu_fallback_high, "%", 1,                                                               \
	  "more of the run with XLA's executor for CPUs at work, beside devices, is reported")     \
	X(logging_high, "%", 1, "more of the run with hosts logging or saving in steps is reported") \
	X(attention_high, "%", 10,                                                                 \
	  "more core time in softmax and products that are not fused is reported")                 \
	X(upcasts_high, "%", 1, "more core time that arrays stored too wide may cost is reported") \
	X(hbm_bandwidth_low, "%", 60,                                                              \
	  "an op bound by HBM that reaches less of its peak is reported")                          \
	X(kernel_roofline_low, "%", 30, "a custom call below so much of its roofline is reported") \
	X(async_exposed_high, "%", 5,                                                              \
	  "more core time waiting for copies within the device is reported")                       \
	X(memory_growth_high, "%", 1,                                                              \
	  "more of a device's memory that its heap gains, rising step after step, is reported")    \
	X(fragmentation_high, "%", 30,                                                             \
	  "more of what PyTorch's allocator has reserved at the peak, not in use, is reported")    \
	X(allocator_calls_high, "%", 1,                                                            \
	  "more core time in calls of the driver's allocator while steps run is reported")         \
	X(kernel_gap_short, "\u00b5s", 30,                                                              \
	  "a shorter gap between two kernels that were launched in time is the price of a launch") \
	X(kernel_short, "\u00b5s", 10, "a GPU's kernel that takes less is short")                       \
	X(launch_queue_full, "", 1022, "so many launches that wait on a stream are a full queue")  \
	X(short_kernels_count, "", 1000,                                                           \
	  "so many kernels, short in the mean and launched one by one, are reported")              \
	X(kernel_gaps_high, "%", 2,                                                                \
	  "more of a GPU's time between kernels that were launched in time is reported")           \
	X(short_kernels_high, "%", 10, "more of a GPU's time in short kernels is reported")        \
	X(launch_queue_high, "%", 25, "a launch queue that is full for longer is reported")        \
	X(late_rank_high, "%", 2, "more core time waiting for one rank at collectives is reported")

#define TS_SETTINGS_MEMBER(name, unit, value, help) double name;
struct ts_settings {
	TS_SETTINGS(TS_SETTINGS_MEMBER)
	struct ts_bytes input_names; /* of the config file, as ts_host_is_named() reads them */
	struct ts_bytes step_mark;   /* likewise, or of --step-mark */
};
#undef TS_SETTINGS_MEMBER

#endif
