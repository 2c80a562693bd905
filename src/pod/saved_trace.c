/* SPDX-License-Identifier: MIT */
/* What heads say of a part, by its members; rows as they are. */
#include "pod/saved_trace.h"

#include "base/check.h"
#include "codec/record.h"

enum { SECTION_TOLD, SECTION_ROWS };

#define TS_SELF struct ts_perfetto_process
static bool is_process(const void *self)
{
	const struct ts_perfetto_process *process = self;

	return process->machine >= TS_MACHINE_MIN && process->order > 0 &&
	       process->events_left_out <= process->events_total;
}
static TS_RECORD_WITH(process, TS_VALID_IF(is_process), TS_NUMBER(1, pid, TS_BY_HAND),
		      TS_NUMBER(2, order, TS_BY_HAND), TS_TEXT(3, name),
		      TS_NUMBER(4, machine, TS_BY_HAND), TS_NUMBER(5, has_tracks, TS_BY_HAND),
		      TS_NUMBER(6, has_lines, TS_BY_HAND), TS_NUMBER(7, events_total, TS_BY_HAND),
		      TS_NUMBER(8, events_left_out, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_perfetto_gpu
static bool saved_trace_is_gpu(const void *self)
{
	return ((const struct ts_perfetto_gpu *)self)->machine >= TS_MACHINE_MIN;
}
static TS_RECORD_WITH(gpu, TS_VALID_IF(saved_trace_is_gpu), TS_NUMBER(1, number, TS_BY_HAND),
		      TS_NUMBER(2, pid, TS_BY_HAND), TS_NUMBER(3, machine, TS_BY_HAND),
		      TS_TEXT(4, name), TS_TEXT(5, vendor), TS_TEXT(6, model));
#undef TS_SELF

#define TS_SELF struct ts_trace_told
static TS_RECORD(told,
		 TS_RECORDS(1, processes, nr_processes, process_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_RECORDS(2, gpus, nr_gpus, gpu_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_NUMBER(3, written, TS_BY_HAND), TS_NUMBER(4, own, TS_BY_HAND),
		 TS_NUMBER(5, next_process, TS_BY_HAND), TS_NUMBER(6, next_row, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_saved_trace
static bool is_trace(const void *self)
{
	return ((const struct ts_saved_trace *)self)->kind < TS_NR_TRACE_KINDS;
}
static TS_RECORD_WITH(trace, TS_VALID_IF(is_trace), TS_NUMBER(1, results, TS_BY_HAND),
		      TS_NUMBER(2, kind, TS_BY_HAND), TS_STRUCT(3, told, told_record));
#undef TS_SELF

enum ts_status ts_saved_trace_put(struct ts_buf *out, const struct ts_saved_trace *trace,
				  struct ts_bytes rows, const struct ts_parcel_head *head,
				  struct ts_error *err)
{
	struct ts_buf told = TS_BUF_INIT;
	enum ts_status st;

	TS_ASSERT(out && trace && head);
	ts_record_save(&trace_record, trace, &told);
	ts_parcel_begin(out, TS_PARCEL_TRACE, head);
	st = told.failed ? ts_fail_nomem(err) : ts_parcel_put(out, ts_buf_bytes(&told), err);
	if (st == TS_OK)
		ts_parcel_put_plain(out, rows);
	ts_parcel_end(out);
	ts_buf_release(&told);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_status ts_saved_trace_load(const struct ts_parcel *parcel, struct ts_arena *arena,
				   struct ts_saved_trace *trace, struct ts_bytes *rows,
				   struct ts_error *err)
{
	const struct ts_record_limits limits = { .nr = { 0 } };
	struct ts_buf told = TS_BUF_INIT;
	enum ts_status st = ts_parcel_unpack(parcel, SECTION_TOLD, &told, err);

	TS_ASSERT(arena && trace && rows);
	if (st == TS_OK)
		st = ts_record_load(&trace_record, trace, ts_buf_bytes(&told), &limits, arena, err);
	if (st == TS_OK)
		st = ts_parcel_plain(parcel, SECTION_ROWS, rows, err);
	ts_buf_release(&told);
	return st;
}

void ts_saved_trace_release(struct ts_saved_trace *trace)
{
	TS_ASSERT(trace);
	ts_record_release(&trace_record, trace);
}
