/*
 * A Perfetto trace as JSON: Chrome's trace event format in its object form, as ui.perfetto.dev,
 * chrome://tracing and XProf read it. Formatting only: which events, on which rows and in which
 * order is the caller's affair (flow/trace.h).
 *
 * The file begins with TS_PERFETTO_MARK, by which it is known as ours. Every event begins with its
 * comma and line end, but the first behind ts_perfetto_open(); so pieces made apart can be put
 * together in any order. Times go in as whole nanoseconds and are printed as microseconds with
 * three decimals, in integers alone: what the importer reads back is the same nanosecond.
 *
 * Rows: Perfetto keeps thread names by tid alone, so each tid stands once in a file, whatever its
 * pid. Names and texts may be any bytes; they are escaped here. Failure of memory is the buffer's.
 */
#ifndef TS_WRITE_PERFETTO_JSON_H
#define TS_WRITE_PERFETTO_JSON_H

#include "base/buf.h"
#include "base/units.h"
#include "model/profile.h"
#include "result/result.h"

#define TS_PERFETTO_MARK "{\"otherData\":{\"generator\":\"tpusight\""

struct ts_perfetto_head {
	const char *version;
	const char *native_file; /* where the profiler's own trace was put; NULL: there was none */
	int64_t start_unix_ns;	 /* of the run; TS_UNKNOWN */
	int64_t shift_ns;	 /* added to every time of the run, so that none is negative */
	uint64_t events_total, events_written; /* of the profile, without our own tracks */
	uint64_t own_events;
};

/* A thread's row: what the events on it have in common. */
struct ts_perfetto_row {
	uint32_t pid, tid;
	uint8_t n;
	char text[55]; /* "pid":1,"tid":100,"ts": */
};

void ts_perfetto_open(struct ts_buf *out, const struct ts_perfetto_head *head);
void ts_perfetto_close(struct ts_buf *out);

void ts_perfetto_process(struct ts_buf *out, uint32_t pid, struct ts_bytes name, uint32_t order);
/* LANE counts from 0; from 1 on it shows in the name: "Async XLA Ops (2)". */
void ts_perfetto_thread(struct ts_buf *out, const struct ts_perfetto_row *row, struct ts_bytes name,
			uint32_t lane, uint32_t order);
struct ts_perfetto_row ts_perfetto_row_of(uint32_t pid, uint32_t tid);

/*
 * A slice in two parts. The tail is what is the same each time the op or label is drawn (name,
 * category, args), made once and kept by the caller; FULL adds the HLO text, shape and stack.
 */
void ts_perfetto_op_tail(struct ts_buf *out, const struct ts_profile *profile, uint32_t op,
			 bool full);
void ts_perfetto_slice(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t start_ns,
		       int64_t dur_ns, struct ts_bytes tail, int64_t self_ns);

/* A slice of ours, likewise. */
void ts_perfetto_label_tail(struct ts_buf *out, const struct ts_label *label);
void ts_perfetto_label_slice(struct ts_buf *out, const struct ts_perfetto_row *row,
			     int64_t start_ns, int64_t dur_ns, struct ts_bytes tail,
			     const struct ts_slice *slice);

/* A point of a counter named "MXU utilization (%)". A value that is no number is not written. */
void ts_perfetto_counter(struct ts_buf *out, uint32_t pid, const char *name, int64_t at_ns,
			 double value);
/* An arrow's end, to stand right behind the slice it belongs to. PHASE 's' begins it, 'f' ends. */
void ts_perfetto_flow(struct ts_buf *out, const struct ts_perfetto_row *row, char phase,
		      uint64_t id, int64_t at_ns);

#endif
