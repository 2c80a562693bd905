/* SPDX-License-Identifier: MIT */
/*
 * Work: many independent jobs on a few threads. Jobs are taken in the order of their numbers, so
 * that the largest come first when the caller has sorted them.
 */
#ifndef TS_BASE_WORK_H
#define TS_BASE_WORK_H

#include "base/bytes.h"

/* JOB is 0..nr_jobs-1, THREAD 0..nr_threads-1 (for scratch space of its own). A bad status stops
 * further jobs from being taken. */
typedef enum ts_status ts_work_fn(void *ctx, size_t job, size_t thread, struct ts_error *err);

/*
 * Runs all jobs and waits. The status is that of the failed job with the lowest number, with its
 * story. With one thread, or when no thread can be made, the caller's own thread does the work.
 */
enum ts_status ts_work_run(size_t nr_threads, size_t nr_jobs, ts_work_fn *fn, void *ctx,
			   struct ts_error *err);

/* Processors this process may use; at least 1. */
size_t ts_work_cpus(void);

#endif
