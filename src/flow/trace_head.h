/*
 * The head of a trace, which is made last: only then is it known what was written.
 */
#ifndef TS_FLOW_TRACE_HEAD_H
#define TS_FLOW_TRACE_HEAD_H

#include "flow/trace_layout.h"

/* COUNTS has those of each row. The rest of HEAD is the caller's; here it gets what is known of the run and one more
 * event of ours, where events were left out. False: no memory. */
bool ts_trace_head_put(struct ts_trace_layout *layout, const struct ts_trace_counts *counts,
		       struct ts_perfetto_head *head, struct ts_buf *out);

#endif
