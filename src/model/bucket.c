/* SPDX-License-Identifier: MIT */
/* Buckets of core time. */
#include "model/bucket.h"

#include "base/check.h"
#include "model/kernel_name.h"

static const struct {
	const char *name, *title;
} buckets[TS_NR_BUCKETS] = {
	[TS_BUCKET_COMPUTE] = { "compute", "Compute" },
	[TS_BUCKET_BELOW_ROOFLINE] = { "below_roofline", "Below roofline" },
	[TS_BUCKET_MEMORY_WAIT] = { "memory_wait", "Memory wait" },
	[TS_BUCKET_COMMUNICATION] = { "communication", "Communication" },
	[TS_BUCKET_HOST_TRANSFER] = { "host_transfer", "Host transfer" },
	[TS_BUCKET_REMATERIALIZATION] = { "rematerialization", "Rematerialization" },
	[TS_BUCKET_UNEXPLAINED] = { "unexplained", "Unexplained" },
	[TS_BUCKET_COMPILATION] = { "compilation", "Compilation" },
	[TS_BUCKET_INPUT] = { "input", "Input" },
	[TS_BUCKET_LAUNCH] = { "launch", "Launch" },
	[TS_BUCKET_IDLE] = { "idle", "Idle" },
};

const char *ts_bucket_name(enum ts_bucket bucket)
{
	return buckets[bucket].name;
}

const char *ts_bucket_title(enum ts_bucket bucket)
{
	return buckets[bucket].title;
}

/* GPU kernels and copies without an XLA op behind them are known by their names. */
static bool bucket_named(const struct ts_op *op, const char *const *parts)
{
	if (op->has_program)
		return false;
	for (size_t i = 0; parts[i]; i++)
		if (ts_bytes_has(op->name, parts[i]))
			return true;
	return false;
}

static enum ts_bucket bucket_by_name(const struct ts_op *op)
{
	static const char *const host[] = { "MemcpyH2D",  "MemcpyD2H",	 "MemcpyHToD",
					    "MemcpyDToH", "Memcpy HtoD", "Memcpy DtoH",
					    NULL };
	static const char *const copies[] = { "Memcpy", "MEMCPY",     "Memset",	    "MEMSET",
					      "memset", "copyBuffer", "fillBuffer", NULL };

	if (!op->has_program && !op->is_traced &&
	    ts_kernel_class_of(op->name).category == TS_CATEGORY_COMMUNICATION)
		return TS_BUCKET_COMMUNICATION;
	if (bucket_named(op, host))
		return TS_BUCKET_HOST_TRANSFER;
	if (bucket_named(op, copies))
		return TS_BUCKET_MEMORY_WAIT;
	return TS_NR_BUCKETS;
}

/* A copy without a program is a GPU's; one of a program is split unless it is a wait. */
static enum ts_bucket bucket_of_move(const struct ts_op *op)
{
	return op->has_program && op->async == TS_ASYNC_NONE ? TS_NR_BUCKETS
							     : TS_BUCKET_MEMORY_WAIT;
}

enum ts_bucket ts_op_bucket(const struct ts_op *op)
{
	TS_ASSERT_HOT(op);
	if (op->is_remat)
		return TS_BUCKET_REMATERIALIZATION;
	switch (op->kind) {
	case TS_OP_COLLECTIVE: return TS_BUCKET_COMMUNICATION;
	case TS_OP_HOST:       return TS_BUCKET_HOST_TRANSFER;
	case TS_OP_MOVE:       return bucket_of_move(op);
	default:	       return bucket_by_name(op);
	}
}
