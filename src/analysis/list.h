/* SPDX-License-Identifier: MIT */
/* Every analysis, in the order of the report. Adding one: its file and a line here (docs/adding). */
#ifndef TS_ANALYSIS_LIST_H
#define TS_ANALYSIS_LIST_H

#define TS_ANALYSES(X)     \
	X(overview)        \
	X(capture)         \
	X(ops)             \
	X(op_cores)        \
	X(time)            \
	X(gaps)            \
	X(scopes)          \
	X(timeline)        \
	X(kernels)         \
	X(operators)       \
	X(remat)           \
	X(systolic)        \
	X(padding)         \
	X(fusion)          \
	X(memory)          \
	X(roofline)        \
	X(custom_calls)    \
	X(collectives)     \
	X(resharding)      \
	X(async)           \
	X(dcn)             \
	X(sparsecore)      \
	X(streams)         \
	X(critical_path)   \
	X(cache)           \
	X(compile)         \
	X(compile_devices) \
	X(capacity)        \
	X(allocators)      \
	X(memory_timeline) \
	X(hta)             \
	X(hta_critical_path)\
	X(flame)           \
	X(samples)         \
	X(counters)        \
	X(rates)           \
	X(prediction)      \
	X(doctor)          \
	X(marks)           \
	X(heatmap)

#endif
