/* SPDX-License-Identifier: MIT */
/*
 * The head of a trace, and the heads of its parts: what must be known of what is written. It is said of each
 * part by itself, so that a part may have been made elsewhere.
 */
#ifndef TS_TRACE_HEAD_H
#define TS_TRACE_HEAD_H

#include "trace/layout.h"

/* What heads say of a part: a host's, or what is the run's own. */
struct ts_trace_told {
	struct ts_perfetto_process *processes; /* in the order of the file */
	struct ts_perfetto_gpu *gpus;
	size_t nr_processes, nr_gpus;
	uint64_t written, own;		 /* events; of the profile, and ours */
	uint32_t next_process, next_row; /* the numbers behind its own */
};

/* Of a part whose rows have these COUNTS. What is pointed to lies in ARENA or is the profile's. */
enum ts_status ts_trace_tell(const struct ts_trace_layout *layout,
			     const struct ts_trace_counts *counts, size_t part,
			     struct ts_arena *arena, struct ts_trace_told *told,
			     struct ts_error *err);

/* Of all parts. */
struct ts_trace_heads {
	const struct ts_perfetto_form *form;
	struct ts_perfetto_head head;
	const struct ts_trace_told *parts; /* one a host, then the run's */
	size_t nr;
	int64_t first_ns, last_ns; /* of the run's events, as the file has them */
};

/* How many events are not in the file. */
uint64_t ts_trace_left_out(const struct ts_trace_heads *heads);
void ts_trace_head_put(const struct ts_trace_heads *heads, struct ts_buf *out);
/* The processes of a part, which its rows follow. The run's own part says how many events were left out. */
void ts_trace_part_put(const struct ts_trace_heads *heads, size_t part, struct ts_buf *out);

#endif
