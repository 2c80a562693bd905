/* SPDX-License-Identifier: MIT */
/* Pieces of a text, handed on. */
#include "base/drain.h"

#include "base/check.h"

void ts_drain_offer(struct ts_drain *drain, struct ts_buf *buf)
{
	TS_ASSERT_HOT(drain && drain->take && buf);
	if (buf->n < TS_DRAIN_PIECE || buf->failed)
		return;
	if (drain->status == TS_OK)
		drain->status = drain->take(drain->arg, ts_buf_bytes(buf), drain->err);
	ts_buf_clear(buf);
}
