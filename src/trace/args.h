/* SPDX-License-Identifier: MIT */
/*
 * What an event says of itself, for its slice in the trace: the reader's stats, each name once, less
 * those that the slice or its op has in any case. One that says otherwise than its op has a name of
 * its own (event_tf_op). Kept from one event to the next for its memory.
 */
#ifndef TS_TRACE_ARGS_H
#define TS_TRACE_ARGS_H

#include "model/block.h"
#include "trace/perfetto/perfetto.h"

/* What the name of a stat says, kept by where the name lies: it is the same bytes for all events. */
struct ts_trace_known {
	struct ts_bytes name;
	enum ts_perfetto_key key; /* of the op's args; TS_NR_KEYS: it is another's */
};

#define TS_TRACE_KNOWN 32

struct ts_trace_args {
	struct ts_perfetto_stat *items;
	size_t nr, cap;
	struct ts_bytes category; /* of an op with variants, the event's; else empty */
	enum ts_status st;	  /* of what was read */
	/* while they are read */
	struct ts_perfetto_op op;
	struct ts_perfetto_arg op_args[TS_NR_KEYS];
	size_t nr_op_args; /* 0: they were not asked for */
	struct ts_trace_known known[TS_TRACE_KNOWN];
};

/* Reads them anew for an event of OP. */
enum ts_status ts_trace_args_read(struct ts_trace_args *args, const struct ts_profile *profile,
				  const struct ts_line *line, uint32_t op, struct ts_bytes body,
				  ts_stats_each *each, struct ts_error *err);
void ts_trace_args_release(struct ts_trace_args *args);

#endif
