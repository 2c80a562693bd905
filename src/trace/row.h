/* SPDX-License-Identifier: MIT */
/*
 * One row of the trace: a line of the profile, or a track of ours, as text in pieces of a MiB, in
 * whatever form the writer was made for (trace/perfetto/perfetto.h).
 *
 * A line's events come in the order of their ends; the file has them in the order of their starts,
 * a parent before its children. Chosen events are kept (64 bytes each) until nothing can start
 * before them any more, which is when an outermost event ends: so a row holds 64 Ki events, or
 * those of its longest outermost event, and never more than the trace's budget.
 *
 * Lanes: slices of one thread must nest. What overlaps without nesting goes to the next lane that
 * has room ("Async XLA Ops (2)"); past the lanes that the form has it is left out and counted.
 *
 * The text of a row depends on the row alone. A writer is one thread's.
 */
#ifndef TS_TRACE_ROW_H
#define TS_TRACE_ROW_H

#include "trace/ends.h"
#include "trace/plan.h"
#include "result/result.h"
#include "trace/perfetto/perfetto.h"

#define TS_TRACE_TIDS	     100 /* a row's; lane L of it is its tid + L where lanes have one */
#define TS_TRACE_PIECE_BYTES (1u << 20)

/* An end of a launch arrow (trace/links.h): the slice of that number, as the row counts them. */
struct ts_trace_arrow {
	uint64_t slice;
	uint64_t id;  /* the arrow's, in the file */
	uint32_t row; /* of the host's */
	bool on_gpu;  /* else on a TPU */
	enum ts_perfetto_arrow end;
};

struct ts_trace_row {
	struct ts_perfetto_row at;	     /* .track is NULL for a line: */
	uint32_t line;			     /* or TS_NONE */
	const struct ts_trace_arrow *arrows; /* in the order of its slices */
	size_t nr_arrows;
};

/* Where the text goes. TEXT is taken or copied, and empty afterwards. */
struct ts_trace_out {
	void *ctx;
	enum ts_status (*piece)(void *ctx, struct ts_buf *text, struct ts_error *err);
};

struct ts_trace_counts {
	uint64_t written, own, flows, no_lane;
};

/* A time t of the run stands in the file as the whole ns of t + ps, and ns more. */
struct ts_trace_clock {
	int64_t ps, ns;
};

struct ts_trace_writer; /* NULL: no memory */
struct ts_trace_writer *ts_trace_writer_new(const struct ts_trace_plan *plan,
					    const struct ts_perfetto_form *form,
					    struct ts_trace_clock clock);
void ts_trace_writer_free(struct ts_trace_writer *writer);

/* How many slices of a track are written: of classes what a viewer cannot show is told by the next of its class. False: no memory. */
bool ts_trace_drawn_slices(const struct ts_track *track, uint64_t *nr);

/* Adds to COUNTS. Damage in a line ends the row, with what stood before it. */
enum ts_status ts_trace_row_write(struct ts_trace_writer *writer, const struct ts_trace_row *row,
				  const struct ts_trace_out *out, struct ts_trace_counts *counts,
				  struct ts_error *err);

/* Writes nothing: adds to ENDS what of a line's slices is an end of a launch arrow. */
enum ts_status ts_trace_row_scan(struct ts_trace_writer *writer, const struct ts_trace_row *row,
				 struct ts_trace_ends *ends, struct ts_error *err);

/* Both ends of an event are rounded down, so what nests in ps nests in ns. */
static inline int64_t ts_trace_ns(int64_t ps)
{
	return ps / TS_PS_PER_NS - (ps % TS_PS_PER_NS < 0);
}

#endif
