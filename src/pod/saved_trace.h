/* SPDX-License-Identifier: MIT */
/*
 * A host's part of a Perfetto trace, saved: the members of its rows, as the trace has them, and what heads say of them. map overlay
 * makes it, reduce trace puts all of a run together (trace/trace.h).
 */
#ifndef TS_POD_SAVED_TRACE_H
#define TS_POD_SAVED_TRACE_H

#include "run/annotate.h"
#include "pod/parcel.h"
#include "trace/trace.h"

struct ts_saved_trace {
	uint64_t results; /* the id of those that it was made with */
	enum ts_trace_kind kind;
	struct ts_trace_told told; /* when loaded, of the heap */
};

enum ts_status ts_saved_trace_put(struct ts_buf *out, const struct ts_saved_trace *trace,
				  struct ts_bytes rows, const struct ts_parcel_head *head,
				  struct ts_error *err);
/* SAVED, zeroed, is released by the caller in any case; its texts lie in ARENA. ROWS are a view into the parcel. */
enum ts_status ts_saved_trace_load(const struct ts_parcel *parcel, struct ts_arena *arena,
				   struct ts_saved_trace *trace, struct ts_bytes *rows,
				   struct ts_error *err);
void ts_saved_trace_release(struct ts_saved_trace *trace);

#endif
