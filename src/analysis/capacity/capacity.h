/*
 * The capacity analysis' own interface: between a module's buffers (capacity_ranges.c, where the
 * compiler's own plan is missing; capacity_assigned.c, where it is there), the arguments that could
 * be donated (capacity_donate.c), the facts (capacity_facts.c), the tables (capacity_report.c), what
 * a memory profile says is held (capacity_sites.c) and the whole (capacity.c). No other analysis
 * includes this.
 */
#ifndef TS_ANALYSIS_CAPACITY_H
#define TS_ANALYSIS_CAPACITY_H

#include "analysis/analysis.h"
#include "analysis/facts/capacity.h"
#include "base/check.h"

/* A piece of memory, and from which to which position of the schedule it is needed. */
struct buffer {
	uint32_t instr, leaf; /* of the op that makes it; TS_NONE: unknown */
	int64_t nr_bytes;
	uint32_t from, to;
	enum ts_buffer_kind kind;
	int64_t space; /* enum ts_memory_space */
};

/* What a module needs of device memory, and all of its buffers. */
struct program {
	struct ts_capacity_program sum;
	uint32_t *order; /* the instruction at each position; TS_NONE: unknown */
	struct buffer *buffers;
	size_t nr_buffers, cap_buffers;
};

/* Both fill a zeroed program but for .module. False: no memory. */
bool ts_capacity_simulate(struct program *program);
bool ts_capacity_assigned(struct program *program);
/* From the buffers: the peaks and temp_bytes. */
bool ts_capacity_find_peaks(struct program *program);
void ts_capacity_program_release(struct program *program);
bool ts_capacity_is_alive(const struct program *program,
			  const struct buffer *buffer); /* at the peak */
int ts_capacity_by_peak(const void *a, const void *b);	/* programs, the largest peak first */

/* capacity_rows.c. PROGRAMS come with the largest peak first. */
enum ts_status ts_capacity_rows(const struct ts_context *ctx, const struct program *programs,
				size_t nr, struct ts_result *result, struct ts_error *err);

/* capacity_sites.c: what a memory profile holds, where there is one; HBM_BYTES -1 unknown. False: no
 * memory. */
bool ts_capacity_sites(const struct ts_context *ctx, int64_t hbm_bytes, struct ts_result *result);

#endif
