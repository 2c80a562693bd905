/* SPDX-License-Identifier: MIT */
/*
 * What explains the time of an op while it runs: how long the matrix unit needs for its products at
 * the unit's peak, how long HBM needs for its bytes beyond that, and how long the compiler thinks
 * that it takes beyond both. What is left over is below the op's roofline. Of an op whose work is not
 * known the kind alone says what it does: it computes, or it moves data. Where not even that is known,
 * the time is unexplained.
 *
 * An op that waits, communicates, talks to the host or is computed again is not split: all of its
 * time is one bucket's (model/bucket.h). The sources of the three needs: products and fill
 * (model/op_work.h), traffic by memory (model/traffic.h), the backend config of libtpu's modules
 * (estimated_cycles); peaks and clock are those of the device (hw/chips.h).
 */
#ifndef TS_ANALYSIS_KIT_SPLIT_H
#define TS_ANALYSIS_KIT_SPLIT_H

#include "analysis/analysis.h"
#include "model/bucket.h"

enum ts_split_part {
	TS_SPLIT_MATRIX,   /* compute */
	TS_SPLIT_HBM,	   /* memory wait */
	TS_SPLIT_ESTIMATE, /* compute: vector and scalar units, as far as the compiler says */
	TS_NR_NEEDS,
	TS_SPLIT_KIND = TS_NR_NEEDS, /* compute, of unknown work or on a chip of unknown peaks */
	TS_SPLIT_MOVE,		     /* memory wait, likewise */
	TS_SPLIT_BELOW,		     /* below roofline */
	TS_SPLIT_REST,		     /* unexplained */
	TS_NR_SPLITS
};

/* Where an execution was faster than the chip's peak lets its FLOPs or its bytes of HBM be, what it needs is not believed:
 * all of it is unexplained. */
struct ts_split {
	enum ts_bucket whole;	      /* has all the time; TS_NR_BUCKETS: it is split */
	enum ts_split_part left;      /* has what is left of it */
	int64_t need_ps[TS_NR_NEEDS]; /* of one execution, each beyond those before it */
	int64_t least_ps;	      /* that an execution can take; 0: unknown */
};

/* Costs a walk through the op's fusion: once for each op of a line. */
struct ts_split ts_split_of(const struct ts_context *ctx, uint32_t device, const struct ts_op *op);
/* Of a custom call whose events say what one execution does; TS_UNKNOWN: they do not say. */
struct ts_split ts_split_of_call(const struct ts_context *ctx, uint32_t device,
				 const struct ts_op *op, int64_t flops, int64_t bytes);

/* Of a kernel of a trace, whose operator says what it does (the columns of a segment, model/block.h); CLASS is that
 * of its op alone. */
struct ts_split ts_split_of_kernel(const struct ts_context *ctx, uint32_t device,
				   const struct ts_split *class, int64_t flops, int64_t bytes,
				   uint8_t how);

/* Divides the time of one execution: each part takes what it needs, in their order, and never more
 * than is left. The parts sum to DUR_PS. Only for a split whose .whole is TS_NR_BUCKETS. */
void ts_split_time(const struct ts_split *split, int64_t dur_ps, int64_t parts[TS_NR_SPLITS]);

enum ts_bucket ts_split_bucket(enum ts_split_part part);

#endif
