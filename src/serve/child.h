/* SPDX-License-Identifier: MIT */
/*
 * Work in a process of its own: a crash in it, the memory that it takes and what a hostile profile makes of it
 * end there. A helper, forked while the program has one thread, forks a process for each work; so nothing is
 * executed, which a confined server may not do, and no lock of another thread is held in a child.
 *
 * A child sees the program as it was when the helper was made: what the work needs to know comes as bytes, and what
 * it makes goes back as bytes.
 */
#ifndef TS_SERVE_CHILD_H
#define TS_SERVE_CHILD_H

#include "base/buf.h"
#include "base/halt.h"
#include "base/status.h"

#define TS_CHILD_BYTES ((size_t)1 << 30) /* of an answer */

struct ts_helper;

/* In the child. CTX is as it was when the helper was made; HALT: does nobody wait any more? */
typedef enum ts_status ts_child_fn(void *ctx, struct ts_bytes question, const struct ts_halt *halt,
				   struct ts_buf *answer, struct ts_error *err);

/* Before the program makes threads. NULL: there is no memory, or no process. */
struct ts_helper *ts_helper_new(void *ctx);
/* Children that still work are told to stop. NULL is fine. */
void ts_helper_free(struct ts_helper *helper);

/* Runs FN in a child; its answer is appended. On any thread. TS_IO: the child ended before it had answered.
 * TS_HALTED: HALT asked for it. TS_LIMIT: the answer has more than TS_CHILD_BYTES. */
enum ts_status ts_child_run(const struct ts_helper *helper, ts_child_fn *fn,
			    struct ts_bytes question, const struct ts_halt *halt,
			    struct ts_buf *answer, struct ts_error *err);

#endif
