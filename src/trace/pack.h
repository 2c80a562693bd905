/* SPDX-License-Identifier: MIT */
/*
 * Rows on threads, packed: each piece of text becomes a gzip member of its own, whichever thread
 * packs it, and the members stand in the order of the rows. So the bytes do not depend on threads,
 * and memory is a few pieces a thread.
 *
 *	ts_trace_pack_new(&pack, &file, nr_rows, nr_threads, false, err);
 *	ts_trace_pack_begin(pack, &file, head, err);
 *	ts_trace_pack_run(pack, make_row, ctx, err);
 *	ts_trace_pack_end(pack, tail, err);
 *	ts_trace_pack_free(pack);
 *
 * Rows are begun in their order. What comes in its turn goes straight to the file, with one thread
 * all; the rest waits in a temporary file without a name, in the folder of the target. Where the head
 * is known only when all rows are made, begin() comes after run(), and all of them wait.
 *
 * A thread that makes a row packs its own pieces, but hands them to a thread that has nothing to
 * do: one long row keeps all threads busy.
 */
#ifndef TS_TRACE_PACK_H
#define TS_TRACE_PACK_H

#include "base/buf.h"
#include "io/newfile.h"

struct ts_trace_pack;

/* Makes row JOB on thread THREAD, its text piece by piece through ts_trace_pack_piece(). */
typedef enum ts_status ts_trace_make_fn(void *ctx, size_t job, size_t thread,
					struct ts_trace_pack *pack, struct ts_error *err);

/* FILE, open, says where temporaries may be; nothing is written to it yet. IS_PLAIN:
 * nothing is packed. */
enum ts_status ts_trace_pack_new(struct ts_trace_pack **pack, const struct ts_newfile *file,
				 size_t nr_rows, size_t nr_threads, bool is_plain,
				 struct ts_error *err);
void ts_trace_pack_free(struct ts_trace_pack *pack); /* NULL is fine */

/* Puts HEAD down in FILE, where all rows go. */
enum ts_status ts_trace_pack_begin(struct ts_trace_pack *pack, struct ts_newfile *file,
				   struct ts_bytes head, struct ts_error *err);
/* Calls FN for every row. Before begin() it may be more than once. */
enum ts_status ts_trace_pack_run(struct ts_trace_pack *pack, ts_trace_make_fn *fn, void *ctx,
				 struct ts_error *err);
/* The next piece of ROW, from the thread that makes it. TEXT is empty afterwards. */
enum ts_status ts_trace_pack_piece(struct ts_trace_pack *pack, size_t row, size_t thread,
				   struct ts_buf *text, struct ts_error *err);
/* The same of a piece that is packed already. */
enum ts_status ts_trace_pack_ready(struct ts_trace_pack *pack, size_t row, struct ts_bytes packed,
				   struct ts_error *err);
/* After both: what waits, and TAIL. */
enum ts_status ts_trace_pack_end(struct ts_trace_pack *pack, struct ts_bytes tail,
				 struct ts_error *err);

#endif
