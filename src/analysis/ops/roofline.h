/*
 * The roofline analysis' own header: the work of ops, and what it is held against. Shared by
 * roofline.c (the pass, the sums) and roofline_rows.c (the rates of a row) only.
 */
#ifndef TS_ANALYSIS_ROOFLINE_H
#define TS_ANALYSIS_ROOFLINE_H

#define TS_NEEDS(X) X(ops)
#include "analysis/kit/needs.h"

/* What was done, in amounts. NaN: nobody knows. */
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

/* A device's peaks per second, by part; NaN where unknown, or where there is no such thing. */
struct roofline_peaks {
	double peak[NR_ROOF_PARTS];
};

struct roofline_peaks roofline_peaks_of(const struct ts_context *ctx, uint32_t device);

/* A row of the table. Texts may be empty. */
struct roofline_row {
	const char *kind;
	int64_t step; /* -1: none */
	bool has_program;
	uint64_t program_id;
	struct ts_bytes module, name, category, source;
	int64_t occurrences, total_ps, self_ps; /* -1: unknown */
	uint32_t op;				/* index into the profile's ops, or TS_NONE */
	struct roofline_work work;
};

struct ts_table *roofline_table(struct ts_result *result);
/* PROGRAM_PS is what shares of time are of. False: no memory. */
bool roofline_put_row(struct ts_result *result, struct ts_table *table,
		      const struct roofline_row *row, const struct roofline_peaks *peaks,
		      int64_t program_ps);
/* One row for each memory of each kind of device that ran. */
bool roofline_put_ridges(struct ts_result *result, const struct ts_context *ctx, const bool *ran);

#endif
