/* Thresholds: one row each, from which --help, --threshold and the config file are made. */
#include "analysis/settings.h"

#include <math.h>
#include <stddef.h>

#define ROW(name, unit, value, help) \
	{ #name, unit, help, offsetof(struct ts_settings, name), value }

const struct ts_setting ts_setting_list[] = {
	ROW(mxu_utilization_low, "%", 30, "matrix-unit utilization below this is critical"),
	ROW(mxu_utilization_warning, "%", 50, "matrix-unit utilization below this is a warning"),
	ROW(mxu_fill_low, "%", 70, "a product whose shape fills less of the array is reported"),
	ROW(padding_waste_high, "%", 30, "an op that wastes more on tile padding is reported"),
	ROW(compilation_time_high, "ms", 5000, "more host time in compilation is a warning"),
	ROW(idle_high, "%", 10, "more core time with nothing running is reported"),
	ROW(communication_high, "%", 10, "more core time in exposed collectives is reported"),
	ROW(host_transfer_high, "%", 5, "more core time waiting for host memory is reported"),
	ROW(memory_wait_high, "%", 40, "more core time bound by memory is reported"),
	ROW(layout_copy_high, "%", 5, "more core time in copies and transposes is reported"),
	ROW(input_high, "%", 5, "more core time waiting for input is reported"),
	ROW(rematerialization_high, "%", 10, "more core time in recomputation is reported"),
	ROW(dominant_op_high, "%", 50, "one op with more of the core time is reported"),
	ROW(small_op_time, "us", 2, "an op whose mean time is shorter is tiny"),
	ROW(small_ops_high, "%", 10, "more core time in tiny ops is reported"),
	ROW(op_chains_high, "%", 2, "more core time in series of tiny ops is reported"),
	ROW(unfused_high, "%", 5,
	    "more core time that fusing could save, for one reason, is reported"),
	ROW(slow_step_high, "%", 20, "a step longer than the median by more is slow"),
	ROW(impact_critical, "%", 25, "a finding with this share of core time is critical"),
	ROW(impact_warning, "%", 5, "a finding with this share of core time is a warning"),
	ROW(finding_min, "%", 0.5, "a finding with less of the core time is dropped"),
	ROW(max_findings, "", 20, "findings that are kept, the largest first"),
	ROW(large_transfer_size, "MiB", 64, "one transfer of the host with more is large"),
	ROW(small_transfer_size, "KiB", 64, "a transfer of the host with less is small"),
	ROW(small_transfers_count, "", 1000, "so many small transfers are many"),
	ROW(device_utilization_good, "%", 80, "key figure: duty cycle, good from here"),
	ROW(device_utilization_fair, "%", 50, "fair from here, below poor"),
	ROW(kernel_duration_good, "ms", 1, "key figure: mean time of a launch, good from here"),
	ROW(kernel_duration_fair, "ms", 0.1, "fair from here, below poor"),
	ROW(host_overhead_good, "%", 10,
	    "key figure: core time waiting for the host, good to here"),
	ROW(host_overhead_fair, "%", 20, "fair to here, above poor"),
	ROW(memory_bandwidth_good, "%", 60, "key figure: HBM bandwidth, good from here"),
	ROW(memory_bandwidth_fair, "%", 40, "fair from here, below poor"),
	ROW(compilation_time_good, "s", 2, "key figure: host time in compilation, good to here"),
	ROW(compilation_time_fair, "s", 10, "fair to here, above poor"),
	ROW(occupancy_good, "%", 50, "key figure: occupancy of a GPU, good from here"),
	ROW(capture_compilation_high, "%", 50,
	    "a profile with more core time in compilation is misleading"),
	ROW(capture_steps_high, "", 1000, "a profile with more steps is longer than it need be"),
	ROW(peak_memory_high, "%", 90,
	    "a program that needs more of a device's memory is reported"),
	ROW(donation_high, "%", 5,
	    "more of a device's memory that donated arguments could save is reported"),
	ROW(upcasts_high, "%", 1,
	    "more core time that arrays stored too wide may cost is reported"),
	ROW(hbm_bandwidth_low, "%", 60,
	    "an op bound by HBM that reaches less of its peak is reported"),
	ROW(kernel_roofline_low, "%", 30,
	    "a custom call below so much of its roofline is reported"),
	ROW(async_exposed_high, "%", 5,
	    "more core time waiting for copies within the device is reported"),
	ROW(memory_growth_high, "%", 1,
	    "more of a device's memory that its heap gains, rising step after step, is reported"),
	ROW(fragmentation_high, "%", 30,
	    "more of what PyTorch's allocator has reserved at the peak, not in use, is reported"),
	ROW(allocator_calls_high, "%", 1,
	    "more core time in calls of the driver's allocator while steps run is reported"),
	ROW(kernel_gap_short, "us", 30,
	    "a shorter gap between two kernels that were launched in time is the price of a "
	    "launch"),
	ROW(kernel_short, "us", 10, "a GPU's kernel that takes less is short"),
	ROW(launch_queue_full, "", 1022, "so many launches that wait on a stream are a full queue"),
	ROW(short_kernels_count, "", 1000,
	    "so many kernels, short in the mean and launched one by one, are reported"),
	ROW(kernel_gaps_high, "%", 2,
	    "more of a GPU's time between kernels that were launched in time is reported"),
	ROW(short_kernels_high, "%", 10, "more of a GPU's time in short kernels is reported"),
	ROW(launch_queue_high, "%", 25, "a launch queue that is full for longer is reported"),
	ROW(late_rank_high, "%", 2,
	    "more core time waiting for one rank at collectives is reported"),
	{ NULL, NULL, NULL, 0, 0 },
};

static double *place(struct ts_settings *settings, const struct ts_setting *row)
{
	return (double *)(void *)((char *)settings + row->offset);
}

void ts_settings_init(struct ts_settings *settings)
{
	for (const struct ts_setting *row = ts_setting_list; row->name; row++)
		*place(settings, row) = row->value;
}

bool ts_settings_set(struct ts_settings *settings, struct ts_bytes name, double value)
{
	if (!isfinite(value) || value < 0)
		return false;
	for (const struct ts_setting *row = ts_setting_list; row->name; row++) {
		if (!ts_bytes_is(name, row->name))
			continue;
		*place(settings, row) = value;
		return true;
	}
	return false;
}
