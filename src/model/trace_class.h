/* SPDX-License-Identifier: MIT */
/*
 * What an event of a trace is for: the eight classes into which PyTorch's TensorBoard page parted a
 * step (torch_tb_profiler, "Step Time Breakdown"), and HolisticTraceAnalysis' types of kernels.
 *
 * Known by the event's category where the trace has one (libkineto/src/ActivityType.cpp) and by the
 * line it stands on otherwise, as on GPU planes of xplanes.
 */
#ifndef TS_MODEL_TRACE_CLASS_H
#define TS_MODEL_TRACE_CLASS_H

#include "model/profile.h"

enum ts_trace_class { /* in the order in which a moment of several belongs to one */
		      TS_TRACE_KERNEL,
		      TS_TRACE_MEMCPY,
		      TS_TRACE_MEMSET,
		      TS_TRACE_COMMUNICATION,
		      TS_TRACE_RUNTIME, /* calls of the device's driver and runtime: launches, waits */
		      TS_TRACE_DATALOADER,
		      TS_TRACE_CPU_EXEC, /* operators */
		      TS_TRACE_OTHER,	 /* moments of a step that belong to not one of these */
		      TS_NR_TRACE_CLASSES,
		      TS_TRACE_NONE =
			      TS_NR_TRACE_CLASSES /* ranges, Python frames, the profiler's own */
};
extern const char *const ts_trace_class_names[]; /* as users see them: "CPU Exec" */

/* On which side of the launch a line is, if any: what a host's threads do, what devices do. */
enum ts_trace_side { TS_SIDE_NONE, TS_SIDE_DEVICE, TS_SIDE_HOST };
enum ts_trace_side ts_trace_side_of(const struct ts_profile *profile, const struct ts_line *line);

/* Of an op on a core of a TPU: collectives, what waits for the host, and all else but what holds
 * other ops, which has no class. */
enum ts_trace_class ts_trace_class_of(const struct ts_profile *profile, const struct ts_line *line,
				      const struct ts_op *op);

/* Of the categories that PyTorch's profiler gives operators, calls of a runtime (CUDA's, HIP's, XPU's)
 * and what devices do; TS_TRACE_NONE of all else. */
enum ts_trace_class ts_trace_class_of_category(enum ts_opcode category);

/* A frame of a Python tracer: torch.profiler's with_stack, jax.profiler's python_tracer. */
bool ts_trace_is_python(const struct ts_op *op);

/* Did PyTorch's profiler write it? Then the host's events have its categories. */
bool ts_profile_is_torch(const struct ts_profile *profile);

/* HolisticTraceAnalysis' words for what runs on a stream. */
enum ts_kernel_type {
	TS_KERNEL_COMPUTATION,
	TS_KERNEL_COMMUNICATION,
	TS_KERNEL_MEMORY,
	TS_KERNEL_OTHER, /* by HTA's own rule alone */
	TS_NR_KERNEL_TYPES
};
extern const char *const ts_kernel_type_names[];	       /* "COMPUTATION" */
enum ts_kernel_type ts_kernel_type_of(const struct ts_op *op); /* by model/kernel_name.h */
enum ts_kernel_type ts_hta_type_of(struct ts_bytes name); /* hta/utils/utils.py: get_kernel_type */
/* Tensor or matrix cores, by the names that libraries give their kernels; false: not known. */
bool ts_kernel_uses_tensor_cores(struct ts_bytes name);

#endif
