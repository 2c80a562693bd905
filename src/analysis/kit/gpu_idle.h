/* SPDX-License-Identifier: MIT */
/*
 * How idle the GPUs of a run were: the one figure that every view shows. Other figures of idle time
 * are of a shorter window, and their labels name it.
 */
#ifndef TS_ANALYSIS_KIT_GPU_IDLE_H
#define TS_ANALYSIS_KIT_GPU_IDLE_H

#include "analysis/analysis.h"
#include "analysis/facts/time.h"

/*
 * The share (0..1) of the capture in which nothing runs on a GPU, neither a kernel nor a copy, as a
 * mean over the GPUs that ran something. The capture is from the profiler's start to its stop, or
 * the wall time where that is unknown. NaN: the run's devices are not GPUs.
 */
double ts_gpu_idle(const struct ts_context *ctx, const struct ts_time_facts *time);

#endif
