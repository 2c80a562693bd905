/*
 * Rows on threads, packed: each piece of text becomes a gzip member of its own, whichever thread
 * packs it, and goes to an anonymous temporary file in the folder of the target; in the end the
 * members are put down in the order of the rows. So the bytes do not depend on threads, and memory
 * is a few pieces a thread.
 *
 * A thread that makes a row packs its own pieces, but hands them to a thread that has nothing to
 * do: one long row keeps all threads busy.
 */
#ifndef TS_FLOW_TRACE_PACK_H
#define TS_FLOW_TRACE_PACK_H

#include "base/buf.h"
#include "io/newfile.h"

struct ts_trace_pack;

/* Makes row JOB on thread THREAD, its text piece by piece through ts_trace_pack_piece(). */
typedef enum ts_status ts_trace_make_fn(void *ctx, size_t job, size_t thread,
					struct ts_trace_pack *pack, struct ts_error *err);

#define TS_TRACE_PLAIN (-1)

/* FILE, open, says where temporaries may be; nothing is written to it yet. LEVEL 1..9; with
 * TS_TRACE_PLAIN nothing is packed. */
enum ts_status ts_trace_pack_new(struct ts_trace_pack **pack, const struct ts_newfile *file,
				 size_t nr_rows, size_t nr_threads, int level,
				 struct ts_error *err);
void ts_trace_pack_free(struct ts_trace_pack *pack); /* NULL is fine */

/* Calls FN for every row, begun in the order of ORDER (row numbers). */
enum ts_status ts_trace_pack_run(struct ts_trace_pack *pack, const uint32_t *order,
				 ts_trace_make_fn *fn, void *ctx, struct ts_error *err);
/* The next piece of ROW, from the thread that makes it. TEXT is empty afterwards. */
enum ts_status ts_trace_pack_piece(struct ts_trace_pack *pack, size_t row, size_t thread,
				   struct ts_buf *text, struct ts_error *err);
/* Puts HEAD, all rows and TAIL down in FILE. */
enum ts_status ts_trace_pack_write(struct ts_trace_pack *pack, struct ts_newfile *file,
				   struct ts_bytes head, struct ts_bytes tail,
				   struct ts_error *err);

#endif
