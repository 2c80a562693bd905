/* SPDX-License-Identifier: MIT */
/*
 * Buckets: where a moment of a core's time goes (docs/analyses/time/time.md). Every moment belongs to
 * one, so that they sum to wall time x cores.
 */
#ifndef TS_MODEL_BUCKET_H
#define TS_MODEL_BUCKET_H

#include "model/profile.h"

enum ts_bucket {
	TS_BUCKET_COMPUTE,
	TS_BUCKET_BELOW_ROOFLINE, /* an op of known work runs longer than its work needs */
	TS_BUCKET_MEMORY_WAIT,
	TS_BUCKET_COMMUNICATION,
	TS_BUCKET_HOST_TRANSFER,
	TS_BUCKET_REMATERIALIZATION,
	TS_BUCKET_UNEXPLAINED, /* an op runs, and neither its work nor its kind explains it */
	TS_BUCKET_COMPILATION,
	TS_BUCKET_INPUT,
	TS_BUCKET_LAUNCH,
	TS_BUCKET_IDLE,
	TS_NR_BUCKETS,
};

/* Each, with the name that fields and columns of its time have. */
#define TS_EACH_BUCKET(X) \
	X(COMPUTE, compute_ps) \
	X(BELOW_ROOFLINE, below_roofline_ps) \
	X(MEMORY_WAIT, memory_wait_ps) \
	X(COMMUNICATION, communication_ps) \
	X(HOST_TRANSFER, host_transfer_ps) \
	X(REMATERIALIZATION, rematerialization_ps) \
	X(UNEXPLAINED, unexplained_ps) \
	X(COMPILATION, compilation_ps) \
	X(INPUT, input_ps) \
	X(LAUNCH, launch_ps) \
	X(IDLE, idle_ps)

/* The one bucket of all time in which an op runs; TS_NR_BUCKETS: what the op needs divides its time
 * among compute, below roofline, memory wait and unexplained (analysis/kit/split.h). */
enum ts_bucket ts_op_bucket(const struct ts_op *op);

/* Those of a time in which no op runs: by what the launching thread waited for or did; idle is the rest. */
#define TS_FIRST_PAUSE TS_BUCKET_COMPILATION
#define TS_NR_PAUSES   (TS_NR_BUCKETS - TS_FIRST_PAUSE)

/* One of the four that the time of ops that work is divided among? */
static inline bool ts_bucket_is_divided(enum ts_bucket bucket)
{
	return bucket == TS_BUCKET_COMPUTE || bucket == TS_BUCKET_BELOW_ROOFLINE ||
	       bucket == TS_BUCKET_MEMORY_WAIT || bucket == TS_BUCKET_UNEXPLAINED;
}

const char *ts_bucket_name(enum ts_bucket bucket);  /* compute, memory_wait: as in the report */
const char *ts_bucket_title(enum ts_bucket bucket); /* Compute, Memory wait: as people read it */

#endif
