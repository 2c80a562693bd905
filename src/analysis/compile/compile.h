/* SPDX-License-Identifier: MIT */
/*
 * The compile analysis's own interface: what the events of host threads show of compiled code
 * (compile_thread.c) and how it is reported (compile_*.c). No other analysis includes this; the doctor
 * reads facts/compile.h.
 *
 * A region is the compiled code of one frame of Python and one compilation of it, known by its compile
 * id. Regions, phases and nestings are as many as the program has, not as it has events.
 */
#ifndef TS_ANALYSIS_COMPILE_H
#define TS_ANALYSIS_COMPILE_H

#define TS_NEEDS(X) X(ops) X(time) X(cache) X(compile_devices)
#include "analysis/kit/needs.h"

#include "analysis/facts/compile.h"
#include "analysis/kit/torch.h"
#include "base/check.h"
#include "base/map.h"

#define COMPILE_MAX_PIECES 1024 /* of a thread, that wait for the event around them */
#define COMPILE_MAX_DEPTH  256	/* of nesting, below which what ran inside is not counted */

struct compile_region {
	struct ts_compile_id id;
	uint32_t frame_op;		    /* of the Python frame that it is, or TS_NONE */
	int64_t nr_calls, time_ps, self_ps; /* self: without regions and compilations inside */
	int64_t first_ps;
	int64_t nr_compiles, compile_ps, nr_restarts;
};

struct compile_nesting {	/* CHILD's code runs inside PARENT's: the graph is broken there */
	uint64_t parent, child; /* keys of compile ids */
	int64_t nr, time_ps;
};

struct compile_phase {
	uint32_t op;
	int64_t nr, time_ps, self_ps;
};

struct compile_kernel { /* of generated code on a host */
	uint32_t op;
	int64_t nr, time_ps;
};

/* What waits for the event around it. */
struct compile_piece {
	enum ts_torch_event event;
	struct ts_compile_id id;
	int64_t start_ps, end_ps;
	int64_t attempt; /* of a compilation: the highest that was seen */
};

struct compile_counts {
	int64_t nr_graph_calls, graph_ps;
	int64_t nr_functions, nr_backwards, backward_ps;
	int64_t nr_lookups, lookup_ps, overhead_ps;
	int64_t nr_compiles, compile_ps; /* the outermost ones: no moment of a thread twice */
	int64_t nr_graph_launches, nr_kernel_launches;
	int64_t nr_library_ops; /* ops inside graphs that are not generated code */
	int64_t max_nested;	/* regions inside one outermost region, of traces without ids */
	int64_t nr_regions;	/* calls of regions in all */
};

struct compile_state {
	/* of a line */
	struct compile_piece
		*pieces; /* those that still wait when the line ends count by themselves */
	size_t nr_pieces, cap_pieces;
	/* of a line, while its events come */
	bool is_asked, is_trace;
	uint8_t *events;			 /* of each op, see ts_torch_event_once() */
	uint32_t last_op[COMPILE_MAX_DEPTH + 1]; /* closed last at each depth */
	uint32_t inside[COMPILE_MAX_DEPTH + 1];	 /* ops that compute, of the open event above */
	/* of a line and of the sum */
	struct compile_region *regions;
	size_t nr_regions, cap_regions;
	struct ts_map region_of_key;
	struct compile_nesting *nestings;
	size_t nr_nestings, cap_nestings;
	struct ts_map nesting_of_key;
	struct compile_phase *phases;
	size_t nr_phases, cap_phases;
	struct ts_map phase_of_op;
	struct compile_kernel *kernels;
	size_t nr_kernels, cap_kernels;
	struct ts_map kernel_of_op;
	struct compile_counts counts;
};

/* compile_thread.c: an event of a host thread, in the order of ends. */
enum ts_status ts_compile_thread_event(struct compile_state *state, const struct ts_block *block,
				       size_t i, struct ts_error *err);
/* What waits for an event around it counts by itself: the thread has ended. */
enum ts_status ts_compile_thread_end(struct compile_state *state, struct ts_error *err);

/* Rows, made when they are new; NULL: no memory. */
struct compile_region *ts_compile_region_get(struct compile_state *state, struct ts_compile_id id);
struct compile_nesting *ts_compile_nesting_get(struct compile_state *state, uint64_t parent,
					       uint64_t child);
struct compile_phase *ts_compile_phase_get(struct compile_state *state, uint32_t op);
struct compile_kernel *ts_compile_kernel_get(struct compile_state *state, uint32_t op);

/* compile_fusion.c: ops and kernels. */
struct compile_fusion {
	int64_t nr_before, nr_after; /* -1: unknown */
	int64_t nr_generated;	     /* executions of generated kernels */
	int64_t nr_kernels;	     /* different generated kernels */
	int64_t generated_ps;
};
/* Also adds the table of generated kernels. */
enum ts_status ts_compile_fusion_torch(const struct compile_state *sum,
				       const struct ts_context *ctx, struct ts_result *result,
				       struct compile_fusion *fusion, struct ts_error *err);
struct compile_fusion ts_compile_fusion_xla(const struct ts_context *ctx);

/* What is reported, and of what. */
struct compile_report {
	const struct compile_state *sum;
	const struct ts_context *ctx;
	struct ts_compile_facts *facts;
	struct ts_result *result;
	const struct compile_region **regions; /* the longest first */
	struct ts_map logged, reasons;	       /* key of an id -> the log's first record of it */
};

static inline const struct ts_torch_log *compile_log(const struct compile_report *report)
{
	return &report->ctx->profile->torch_log;
}

static inline bool compile_has_log(const struct compile_report *report)
{
	return compile_log(report)->nr_files > 0;
}

/* compile_cells.c */
/* Did PyTorch's compiler leave anything in the profile or beside it? */
bool ts_compile_is_seen(const struct compile_state *sum, const struct ts_profile *profile);
/* The same for all compilations of a frame. */
uint64_t ts_compile_frame_key(struct ts_compile_id id);
const struct compile_region *ts_compile_region_of(const struct compile_report *report,
						  uint64_t key); /* or NULL */
/* The Python frame of a region; false: the tracer was off. */
bool ts_compile_frame_of(const struct compile_report *report, const struct compile_region *region,
			 struct ts_torch_frame *frame);
void ts_compile_put_time(struct ts_result *result, int64_t compile_ps, const char *source);
void ts_compile_put_fusion(const struct compile_fusion *fusion, struct ts_result *result);

/* compile_breaks.c: graph breaks as facts, and their table. */
enum ts_status ts_compile_find_breaks(const struct compile_report *report, struct ts_error *err);
void ts_compile_put_breaks(const struct compile_report *report);

/* compile_log.c: of the log that TORCH_TRACE had written. */
enum ts_status ts_compile_log_index(struct compile_report *report, struct ts_error *err);
/* Of a frame's compilation, forward; NULL: the log does not have it. */
const struct ts_torch_compilation *ts_compile_logged(const struct compile_report *report,
						     struct ts_compile_id id);
const struct ts_torch_recompile *ts_compile_reason(const struct compile_report *report,
						   struct ts_compile_id id); /* or NULL */
int64_t ts_compile_log_ps(const struct compile_report *report); /* of all; -1: unknown */
void ts_compile_put_log(const struct compile_report *report);	/* the table of compilations */

/* compile_again.c: recompilations as facts, and their table. */
enum ts_status ts_compile_find_recompiles(const struct compile_report *report,
					  struct ts_error *err);
void ts_compile_put_recompiles(const struct compile_report *report);

/* compile_report.c: of PyTorch's compiler. Fills .facts too. */
enum ts_status ts_compile_report(struct compile_report *report, struct ts_error *err);

/* compile_xla.c: of a profile without PyTorch's compiler. */
void ts_compile_report_xla(const struct ts_context *ctx, struct ts_compile_facts *facts,
			   struct ts_result *result);

#endif
