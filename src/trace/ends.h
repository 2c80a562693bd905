/* SPDX-License-Identifier: MIT */
/*
 * Ends of launch arrows: events that have a number in common with one on the other side of a launch.
 *
 *   - what a GPU does, and the calls of CUDA or HIP behind it: correlation_id, which counts in a host;
 *   - arrows that a trace in JSON has of its own (read/flows.h), both of whose ends are the host's;
 *   - the runs of a TPU's modules, and the events of its runtime on the host: run_id, which counts on
 *     a device, that the host's events name by device_ordinal.
 *
 * An array of ends grows with the events that have such a number and are written.
 */
#ifndef TS_TRACE_ENDS_H
#define TS_TRACE_ENDS_H

#include "model/block.h"
#include "model/trace_class.h"

struct ts_trace_end {
	uint64_t number;
	uint32_t host, device; /* where the number counts: the n of /device:TPU:n, or one of: */
#define TS_END_OF_HOST TS_NONE
#define TS_END_OF_FLOW (TS_NONE - 1)
	enum ts_trace_side side;
	uint32_t row;	/* links.c's */
	uint64_t slice; /* its number among those of the row; TS_NO_SLICE: it is not written */
	int64_t start_ns;
};
#define TS_NO_SLICE UINT64_MAX

struct ts_trace_ends {
	struct ts_trace_end *items;
	size_t nr, cap;
};

/* Where events of the line stand when they are ends; TS_SIDE_NONE: they never are. */
enum ts_trace_side ts_trace_end_side(const struct ts_profile *profile, uint32_t line);
/* The columns that ts_trace_ends_add() needs of it. */
unsigned ts_trace_end_columns(const struct ts_profile *profile, uint32_t line);

/* Adds the event if it is an end, its row and slice still unknown. *NUMBER: its index + 1; 0: it is
 * not an end. */
enum ts_status ts_trace_ends_add(struct ts_trace_ends *ends, const struct ts_block *block, size_t i,
				 uint32_t *number, struct ts_error *err);
/* Forgets those that are not written, and puts the others in the order of slices. */
void ts_trace_ends_tidy(struct ts_trace_ends *ends);

#endif
