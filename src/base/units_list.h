/* SPDX-License-Identifier: MIT */
/*
 * What the ending of a name says about its number: the one table of units, for C (base/units.h) and
 * for the page, whose build reads this file as text. So its form is fixed: one line a unit,
 *
 *	X(ENDING, KIND, UNIT, LABEL, SAID)
 *
 * ENDING	of a name in a report. The first line that fits is the unit, so the longer ending stands
 *		above the shorter one.
 *		Where a table's name must be a part of it (per_step.idle_ps), a dot stands between.
 * KIND		how the number is written for people: TIME (picoseconds: 1.23 ms), CORE (picoseconds
 *		summed over cores: 1.23 core-ms), THREAD (summed over threads: 1.23 thread-ms), BYTES (5.00 GiB),
 *		BANDWIDTH (bytes a second: 26.1 GB/s), SHARE (percent: 86.5 %), COUNT (1.34 G), RATE
 *		(a count a second), NUMBER (as it is).
 * UNIT		the unit of the number as it stands in JSON and CSV
 * LABEL	what is measured, in one word
 * SAID		1: the ending says its unit. 0: it does not, and the heading of a CSV adds it.
 */
#ifndef TS_BASE_UNITS_LIST_H
#define TS_BASE_UNITS_LIST_H

/* clang-format off */
#define TS_UNITS(X) \
	X("flops_per_s", RATE, "FLOP/s", "rate", 1) \
	X("bytes_per_s", BANDWIDTH, "B/s", "bandwidth", 1) \
	X("flops_per_byte", NUMBER, "FLOP/byte", "intensity", 1) \
	X("operational_intensity", NUMBER, "FLOP/byte", "intensity", 0) \
	X("_ms_per_min", NUMBER, "ms/min", "rate", 1) \
	X("_per_s", RATE, "/s", "rate", 1) \
	X("per_step.total_ps", CORE, "ps", "core time", 1) \
	X("per_step.compute_ps", CORE, "ps", "core time", 1) \
	X("per_step.below_roofline_ps", CORE, "ps", "core time", 1) \
	X("per_step.memory_wait_ps", CORE, "ps", "core time", 1) \
	X("per_step.communication_ps", CORE, "ps", "core time", 1) \
	X("per_step.host_transfer_ps", CORE, "ps", "core time", 1) \
	X("per_step.rematerialization_ps", CORE, "ps", "core time", 1) \
	X("per_step.compilation_ps", CORE, "ps", "core time", 1) \
	X("per_step.input_ps", CORE, "ps", "core time", 1) \
	X("per_step.launch_ps", CORE, "ps", "core time", 1) \
	X("per_step.idle_ps", CORE, "ps", "core time", 1) \
	X("per_step.unexplained_ps", CORE, "ps", "core time", 1) \
	X("per_host.total_ps", CORE, "ps", "core time", 1) \
	X("per_host.compute_ps", CORE, "ps", "core time", 1) \
	X("per_host.below_roofline_ps", CORE, "ps", "core time", 1) \
	X("per_host.memory_wait_ps", CORE, "ps", "core time", 1) \
	X("per_host.communication_ps", CORE, "ps", "core time", 1) \
	X("per_host.host_transfer_ps", CORE, "ps", "core time", 1) \
	X("per_host.rematerialization_ps", CORE, "ps", "core time", 1) \
	X("per_host.compilation_ps", CORE, "ps", "core time", 1) \
	X("per_host.input_ps", CORE, "ps", "core time", 1) \
	X("per_host.launch_ps", CORE, "ps", "core time", 1) \
	X("per_host.idle_ps", CORE, "ps", "core time", 1) \
	X("per_host.unexplained_ps", CORE, "ps", "core time", 1) \
	X("buckets.compute_ps", CORE, "ps", "core time", 1) \
	X("buckets.below_roofline_ps", CORE, "ps", "core time", 1) \
	X("buckets.memory_wait_ps", CORE, "ps", "core time", 1) \
	X("buckets.communication_ps", CORE, "ps", "core time", 1) \
	X("buckets.host_transfer_ps", CORE, "ps", "core time", 1) \
	X("buckets.rematerialization_ps", CORE, "ps", "core time", 1) \
	X("buckets.compilation_ps", CORE, "ps", "core time", 1) \
	X("buckets.input_ps", CORE, "ps", "core time", 1) \
	X("buckets.launch_ps", CORE, "ps", "core time", 1) \
	X("buckets.idle_ps", CORE, "ps", "core time", 1) \
	X("buckets.unexplained_ps", CORE, "ps", "core time", 1) \
	X("time.total_ps", CORE, "ps", "core time", 1) \
	X("steps.time_ps", CORE, "ps", "core time", 1) \
	X("gaps.gap_ps", CORE, "ps", "core time", 1) \
	X("gaps.listed_ps", CORE, "ps", "core time", 1) \
	X("gaps.explained_ps", CORE, "ps", "core time", 1) \
	X("gaps_by_event.total_ps", CORE, "ps", "core time", 1) \
	X("ops.total_time_ps", CORE, "ps", "core time", 1) \
	X("ops.self_time_ps", CORE, "ps", "core time", 1) \
	X("ops.exclusive_ps", CORE, "ps", "core time", 1) \
	X("ops.compute_ps", CORE, "ps", "core time", 1) \
	X("ops.below_roofline_ps", CORE, "ps", "core time", 1) \
	X("ops.memory_wait_ps", CORE, "ps", "core time", 1) \
	X("ops.unexplained_ps", CORE, "ps", "core time", 1) \
	X("ops.time_ps", CORE, "ps", "core time", 1) \
	X("ops.lost_ps", CORE, "ps", "core time", 1) \
	X("ops.waste_ps", CORE, "ps", "core time", 1) \
	X("modules.total_time_ps", CORE, "ps", "core time", 1) \
	X("modules.time_ps", CORE, "ps", "core time", 1) \
	X("modules.self_time_ps", CORE, "ps", "core time", 1) \
	X("programs.time_ps", CORE, "ps", "core time", 1) \
	X("categories.time_ps", CORE, "ps", "core time", 1) \
	X("categories.self_time_ps", CORE, "ps", "core time", 1) \
	X("families.time_ps", CORE, "ps", "core time", 1) \
	X("kinds.time_ps", CORE, "ps", "core time", 1) \
	X("chains.time_ps", CORE, "ps", "core time", 1) \
	X("arrays.time_ps", CORE, "ps", "core time", 1) \
	X("layout_copies.time_ps", CORE, "ps", "core time", 1) \
	X("upcasts.time_ps", CORE, "ps", "core time", 1) \
	X("host_link.time_ps", CORE, "ps", "core time", 1) \
	X("host_link.waited_ps", CORE, "ps", "core time", 1) \
	X("remat.time_ps", CORE, "ps", "core time", 1) \
	X("remat.regions.time_ps", CORE, "ps", "core time", 1) \
	X("straggler_cost_ps", CORE, "ps", "core time", 1) \
	X("straggler_excess_ps", CORE, "ps", "core time", 1) \
	X("collective_cores.cost_ps", CORE, "ps", "core time", 1) \
	X("collective_cores.excess_ps", CORE, "ps", "core time", 1) \
	X("prediction.measured.measured_ps", CORE, "ps", "core time", 1) \
	X("prediction.measured.predicted_ps", CORE, "ps", "core time", 1) \
	X("roofline.total_time_ps", CORE, "ps", "core time", 1) \
	X("roofline.self_time_ps", CORE, "ps", "core time", 1) \
	X("calls.self_time_ps", CORE, "ps", "core time", 1) \
	X("collectives.total_time_ps", CORE, "ps", "core time", 1) \
	X("exposed_ps", CORE, "ps", "core time", 1) \
	X("hidden_ps", CORE, "ps", "core time", 1) \
	X("coverable_ps", CORE, "ps", "core time", 1) \
	X("interval_ps", CORE, "ps", "core time", 1) \
	X("wait_attributed_ps", CORE, "ps", "core time", 1) \
	X("explained.hbm_ps", CORE, "ps", "core time", 1) \
	X("explained.estimate_ps", CORE, "ps", "core time", 1) \
	X("explained.kind_ps", CORE, "ps", "core time", 1) \
	X("explained.move_ps", CORE, "ps", "core time", 1) \
	X("exact.kernel_ps", CORE, "ps", "core time", 1) \
	X("exact.idle_ps", CORE, "ps", "core time", 1) \
	X("exact.compute_ps", CORE, "ps", "core time", 1) \
	X("exact.communication_ps", CORE, "ps", "core time", 1) \
	X("exact.exposed_communication_ps", CORE, "ps", "core time", 1) \
	X("exact.overlap_ps", CORE, "ps", "core time", 1) \
	X("exact.memory_ps", CORE, "ps", "core time", 1) \
	X("exact.short_ps", CORE, "ps", "core time", 1) \
	X("unfused_ps", CORE, "ps", "core time", 1) \
	X("unfused.impact_ps", CORE, "ps", "core time", 1) \
	X("findings.impact_ps", CORE, "ps", "core time", 1) \
	X("merged.impact_ps", CORE, "ps", "core time", 1) \
	X("layout_copy_ps", CORE, "ps", "core time", 1) \
	X("upcast_ps", CORE, "ps", "core time", 1) \
	X("matrix_ps", CORE, "ps", "core time", 1) \
	X("waste_ps", CORE, "ps", "core time", 1) \
	X("cause_excess_ps", CORE, "ps", "core time", 1) \
	X("op_excess_ps", CORE, "ps", "core time", 1) \
	X("compute_excess_ps", CORE, "ps", "core time", 1) \
	X("below_roofline_excess_ps", CORE, "ps", "core time", 1) \
	X("memory_wait_excess_ps", CORE, "ps", "core time", 1) \
	X("communication_excess_ps", CORE, "ps", "core time", 1) \
	X("host_transfer_excess_ps", CORE, "ps", "core time", 1) \
	X("rematerialization_excess_ps", CORE, "ps", "core time", 1) \
	X("unexplained_excess_ps", CORE, "ps", "core time", 1) \
	X("compilation_excess_ps", CORE, "ps", "core time", 1) \
	X("input_excess_ps", CORE, "ps", "core time", 1) \
	X("launch_excess_ps", CORE, "ps", "core time", 1) \
	X("idle_excess_ps", CORE, "ps", "core time", 1) \
	X("async_line_ps", CORE, "ps", "core time", 1) \
	X("between_ps", CORE, "ps", "core time", 1) \
	X("independent_ps", CORE, "ps", "core time", 1) \
	X("flame.device_time_ps", CORE, "ps", "core time", 1) \
	X("cpu_time_ps", THREAD, "ps", "thread time", 1) \
	X("_wait_ps", TIME, "ps", "time", 1) \
	X("wait_ps", CORE, "ps", "core time", 1) \
	X("_ps", TIME, "ps", "time", 1) \
	X("bytes", BYTES, "bytes", "bytes", 1) \
	X("bytes_accessed", BYTES, "bytes", "bytes", 1) \
	X("_pct", SHARE, "%", "share", 1) \
	X("flops", COUNT, "FLOP", "FLOPs", 1)
/* clang-format on */

#endif
