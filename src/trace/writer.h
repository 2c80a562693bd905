/* SPDX-License-Identifier: MIT */
/*
 * What a writer of rows holds (trace/row.h), for the files that it is made of: row.c begins and
 * ends rows and has those of ours, line.c chooses the events of a line and puts them in order,
 * lanes.c gives each its lane and writes it. For these three alone.
 */
#ifndef TS_TRACE_WRITER_H
#define TS_TRACE_WRITER_H

#include "trace/args.h"
#include "trace/kernels.h"
#include "trace/row.h"

#define TS_TRACE_TAILS	      4096  /* of ops that are kept: a program has some thousand */
#define TS_TRACE_FLUSH_EVENTS 65536 /* are held before any is written */
#define TS_KEPT_FLOW_END      1u    /* lowest bit of .flow; the rest counts from 1 */

/* A chosen event. */
struct ts_kept {
	int64_t start_ps, dur_ps, self_ps;
	struct ts_bytes body; /* empty: the line's events have no stats */
	uint32_t op;
	uint32_t flow; /* 0: no arrow */
	uint32_t note; /* of ts_trace_event */
};

struct ts_trace_open {
	int64_t end_ps, end_ns;
	bool is_apart; /* as struct ts_perfetto_slice has it */
};

struct ts_trace_lane {
	struct ts_trace_open *open; /* innermost last */
	size_t nr, cap;
	int64_t last_start_ps;
	int64_t instant_ns; /* of its last slice of 0 ns */
	struct ts_perfetto_lane at;
};

struct ts_trace_tail {
	uint32_t op, n;
	bool has_stack;
	size_t at; /* in tails */
};

struct ts_trace_writer {
	const struct ts_trace_plan *plan;
	const struct ts_profile *profile;
	const struct ts_perfetto_form *form;
	struct ts_trace_clock clock;
	struct ts_buf text, tails, full_tail;
	struct ts_trace_tail slots[TS_TRACE_TAILS];
	uint32_t *described; /* per op: the last line, + 1, that described it in full */
	struct ts_kept *kept;
	uint32_t *order; /* twice nr_kept: sorting goes to and fro */
	size_t nr_kept, cap_kept, cap_order, flush_at;
	struct ts_trace_pairs pairs;
	struct ts_trace_lane *lanes;
	size_t nr_lanes, nr_used, cap_lanes; /* those used before keep their memory */
	struct ts_trace_args args;	     /* of the slice at work */
	/* of the row at work */
	const struct ts_trace_row *row;
	struct ts_perfetto_row at; /* of it, with a time to count from */
	int64_t last_ns;
	struct ts_perfetto_seen seen;
	const struct ts_trace_out *out;
	struct ts_trace_counts *counts;
	uint64_t nr_seen, quota, nr_slices;
	uint32_t nr_flows;
	ts_stats_each *each; /* NULL: the line's events have no stats */
	ts_stat_find *stat;  /* likewise */
	size_t next_arrow;
	struct ts_trace_kernels kernels;
	struct ts_trace_ends *ends; /* NULL: the row is written, else it is only looked through */
};

static inline int64_t ts_trace_clock_ns(const struct ts_trace_writer *writer, int64_t ps)
{
	return ts_i64_add(ts_trace_ns(ts_i64_add(ps, writer->clock.ps)), writer->clock.ns);
}

static inline int64_t ts_kept_end(const struct ts_kept *kept)
{
	return ts_i64_add(kept->start_ps, kept->dur_ps);
}

/* Hands the text on when FULL bytes are there, or at the row's end. */
static inline enum ts_status ts_trace_hand_on(struct ts_trace_writer *writer, size_t full,
					      struct ts_error *err)
{
	if (writer->text.failed || writer->tails.failed || writer->full_tail.failed ||
	    writer->kernels.tails.failed)
		return ts_fail_nomem(err);
	if (writer->text.n == 0 || writer->text.n < full)
		return TS_OK;
	return writer->out->piece(writer->out->ctx, &writer->text, err);
}

/* line.c: all of the row's line. */
enum ts_status ts_trace_write_line(struct ts_trace_writer *writer, struct ts_error *err);

/* lanes.c: the next slice, in the order of the file. */
enum ts_status ts_trace_put_kept(struct ts_trace_writer *writer, const struct ts_kept *kept,
				 struct ts_error *err);
void ts_trace_close_lanes(struct ts_trace_writer *writer); /* all that is open ends */
/* What tails refer to is known to their own row alone. */
void ts_trace_forget_tails(struct ts_trace_writer *writer);

#endif
