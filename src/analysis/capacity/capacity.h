/* SPDX-License-Identifier: MIT */
/*
 * The capacity analysis' own interface. The way of a module: its buffers (capacity_assigned.c, by the
 * compiler's own plan; capacity_ranges.c, where that is missing), their peaks (capacity_peak.c), the
 * facts (capacity_facts.c), with the arguments that could be donated (capacity_donate.c), and the
 * tables (capacity_report.c, capacity_lines.c). Beside it stands what a memory profile says is held
 * (capacity_sites.c). capacity.c puts them together. No other analysis includes this.
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

/* What a module needs of device memory. */
struct program {
	struct ts_capacity_program sum; /* without its lists and texts */
	uint32_t *order;		/* the instruction at each position; TS_NONE: unknown */
	struct buffer *buffers;		/* all of them */
	size_t nr_buffers, cap_buffers;
};

static inline void release_program(struct program *program)
{
	free(program->order);
	free(program->buffers);
}

/* Of the program's module, or NULL: it is unknown. */
static inline const struct ts_hlo_instr *instr_of(const struct program *program, uint32_t index)
{
	const struct ts_hlo_module *module = program->sum.module;

	return index < module->nr_instrs ? &module->instrs[index] : NULL;
}

/* The name of an instruction, of a tuple with the part: "fusion.3{1}". In the results' arena. */
static inline struct ts_bytes part_name(struct ts_result *result, const struct ts_hlo_instr *instr,
					uint32_t leaf)
{
	if (!instr)
		return (struct ts_bytes){ NULL, 0 };
	if (instr->shape.dtype != TS_TUPLE || leaf == TS_NONE)
		return instr->name;
	return ts_result_text(result, "%.*s{%u}", TS_ARG(instr->name), leaf);
}

/*
 * Both fill a zeroed program but for .sum.module. REUSES: temporaries may stand in the memory of
 * results (capacity_reuse.c).
 */
enum ts_status ts_capacity_simulate(struct program *program, bool reuses, struct ts_error *err);
enum ts_status ts_capacity_assigned(struct program *program, struct ts_error *err);

/* capacity_peak.c. From the buffers: the peaks and temp_bytes. */
enum ts_status ts_capacity_find_peaks(struct program *program, struct ts_error *err);
bool ts_capacity_is_alive(const struct program *program,
			  const struct buffer *buffer); /* at the peak */

/* PROGRAMS come with the largest peak first. */
enum ts_status ts_capacity_make_facts(const struct ts_context *ctx, const struct program *programs,
				      size_t nr, struct ts_result *result,
				      struct ts_capacity_facts *facts, struct ts_error *err);

/* Fills the donations of TO, of which at most MAX are listed. */
enum ts_status ts_capacity_find_donations(const struct ts_hlo_module *module, size_t max,
					  struct ts_result *result, struct ts_capacity_program *to,
					  struct ts_error *err);

/* TOP is the program of the first fact. */
enum ts_status ts_capacity_report(const struct ts_capacity_facts *facts, const struct program *top,
				  struct ts_result *result, struct ts_error *err);
enum ts_status ts_capacity_put_lines(const struct program *program, struct ts_result *result,
				     struct ts_error *err);
enum ts_status ts_capacity_put_sites(const struct ts_context *ctx, int64_t hbm_bytes,
				     struct ts_result *result, struct ts_error *err);

#endif
