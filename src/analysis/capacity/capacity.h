/*
 * The capacity analysis' own interface: between a module's buffers (capacity_live.c, where the
 * compiler's own plan is missing; capacity_assigned.c, where it is there), what is said of them
 * (capacity_rows.c), what a memory profile says is held (capacity_sites.c) and the whole
 * (capacity.c). No other analysis includes this.
 */
#ifndef TS_ANALYSIS_CAPACITY_H
#define TS_ANALYSIS_CAPACITY_H

#include "analysis/analysis.h"

enum ts_buffer_kind {
	TS_BUFFER_PARAMETER,
	TS_BUFFER_OUTPUT,
	TS_BUFFER_DONATED, /* a parameter whose memory an output takes */
	TS_BUFFER_TEMP,
	TS_BUFFER_CONSTANT,
	TS_NR_BUFFER_KINDS
};

/* A piece of memory, and from which to which position of the schedule it is needed. */
struct ts_capacity_buffer {
	uint32_t instr, leaf; /* of the op that makes it; TS_NONE: nobody says */
	int64_t nr_bytes;
	uint32_t from, to;
	enum ts_buffer_kind kind;
	int64_t space; /* enum ts_memory_space */
};

/* What a module needs of device memory. Sizes are of HBM where nothing else is said. */
struct ts_capacity_program {
	const struct ts_hlo_module *module;
	bool is_assigned; /* by the compiler; else its live ranges were simulated */
	int64_t argument_bytes, output_bytes, alias_bytes, temp_bytes, constant_bytes;
	int64_t peak_bytes;	   /* the most that is alive at one position */
	int64_t onchip_peak_bytes; /* the most of VMEM and its like, which is not in peak_bytes */
	int64_t reserved_bytes;	   /* what running it takes: gaps between buffers too */
	uint32_t nr_positions, peak_at;
	uint32_t *order; /* the instruction at each position; TS_NONE unknown */
	struct ts_capacity_buffer *buffers;
	size_t nr_buffers, cap_buffers;
};

/* Both fill a zeroed program but for .module. False: no memory. */
bool ts_capacity_simulate(struct ts_capacity_program *program);
bool ts_capacity_assigned(struct ts_capacity_program *program);
/* From the buffers: the peaks and temp_bytes. */
bool ts_capacity_find_peaks(struct ts_capacity_program *program);
void ts_capacity_program_release(struct ts_capacity_program *program);
bool ts_capacity_is_alive(const struct ts_capacity_program *program,
			  const struct ts_capacity_buffer *buffer); /* at the peak */
int ts_capacity_by_peak(const void *a, const void *b); /* programs, the largest peak first */

/* capacity_rows.c. PROGRAMS come with the largest peak first. */
enum ts_status ts_capacity_rows(const struct ts_context *ctx,
				const struct ts_capacity_program *programs, size_t nr,
				struct ts_result *result, struct ts_error *err);

/* capacity_sites.c: what a memory profile holds, where there is one; HBM_BYTES -1 unknown. False: no
 * memory. */
bool ts_capacity_sites(const struct ts_context *ctx, int64_t hbm_bytes, struct ts_result *result);

#endif
