/* SPDX-License-Identifier: MIT */
/*
 * The roofline analysis' own header: the work of ops, and what it is held against. Shared by
 * roofline.c (the pass), roofline_report.c (the sums) and roofline_row.c (the rates of a row) only.
 */
#ifndef TS_ANALYSIS_ROOFLINE_H
#define TS_ANALYSIS_ROOFLINE_H

#include "analysis/facts/ops.h"

#define TS_NEEDS(X) X(ops)
#include "analysis/kit/needs.h"
#include "analysis/kit/others.h"

#include "model/op_kind.h"

/* What was done, in amounts. NaN: it is unknown. */
enum roofline_part {
	ROOF_FLOPS, /* in terms of the bf16 peak */
	ROOF_MODEL_FLOPS,
	ROOF_BYTES, /* in all memories */
	ROOF_HBM,
	ROOF_CMEM_READ,
	ROOF_CMEM_WRITE,
	ROOF_VMEM_READ,
	ROOF_VMEM_WRITE,
	NR_ROOF_PARTS
};

struct roofline_work {
	double amount[NR_ROOF_PARTS];
};

struct roofline_device {
	int64_t nr_events;
	int64_t first_ps, last_ps; /* of its ops and steps, by its own clock */
};

struct roofline_state {
	struct roofline_device *devices; /* those that a line or the sum has seen are not empty */
	size_t nr_devices;
	struct roofline_work
		*steps; /* one a step that is listed, and of all others; over all devices */
	size_t nr_steps;
	/* of a line */
	struct roofline_work *ops; /* of an execution of each op; NULL: no steps to give it to */
	bool *is_custom;	   /* the op is a custom call: its events may say what they did */
	struct roofline_device *own;
	const struct ts_device_steps *own_steps;
	size_t hint;
	int64_t from_ps, until_ps; /* TO is for events that start here */
	struct roofline_work *to;  /* of a step, or NULL: between two */
};

static inline bool roofline_has_breakdown(const struct ts_op *op)
{
	return op->hbm_read_bytes != TS_UNKNOWN || op->hbm_write_bytes != TS_UNKNOWN ||
	       op->onchip_bytes != TS_UNKNOWN;
}

static inline void roofline_add(struct roofline_work *restrict to,
				const struct roofline_work *restrict work)
{
	for (int part = 0; part < NR_ROOF_PARTS; part++)
		to->amount[part] += work->amount[part];
}

/* A device's peaks per second, by part; NaN where it is unknown or does not exist. */
struct roofline_peaks {
	double peak[NR_ROOF_PARTS];
};

/* A row of the table. Texts may be empty. */
struct roofline_row {
	const char *kind;
	int64_t step; /* -1: none */
	bool has_program;
	uint64_t program_id;
	struct ts_bytes module, name, category, source;
	int64_t occurrences, total_ps, self_ps; /* -1: unknown */
	int64_t work_ps;			/* that rates are over; -1: unknown */
	enum ts_bound transfer;			/* that bounds it; TS_BOUND_UNKNOWN: none does */
	struct ts_bytes flops_cause, hbm_cause; /* why these cannot be true; .n 0: they can */
	uint32_t op;				/* index into the profile's ops, or TS_NONE */
	struct roofline_work work;
};

/* roofline_report.c */
enum ts_status ts_roofline_report(const struct roofline_state *sum, const struct ts_context *ctx,
				  struct ts_result *result, struct ts_error *err);

/* roofline_row.c */
struct roofline_peaks ts_roofline_peaks_of(const struct ts_context *ctx, uint32_t device);
struct ts_table *ts_roofline_table(struct ts_result *result);
/* PROGRAM_PS is what shares of time are of. */
void ts_roofline_put_row(struct ts_result *result, struct ts_table *table,
			 const struct roofline_row *row, const struct roofline_peaks *peaks,
			 int64_t program_ps);
/* One row for each memory of each kind of device that ran. */
void ts_roofline_put_ridges(struct ts_result *result, const struct ts_context *ctx,
			    const struct roofline_state *sum);

#endif
