/* SPDX-License-Identifier: MIT */
/*
 * A drain takes a long text in pieces while it is made, so that it is never held as one. Who makes the text
 * offers what a buffer has, as often as it likes; when that is a piece, it goes, and the buffer is empty.
 */
#ifndef TS_BASE_DRAIN_H
#define TS_BASE_DRAIN_H

#include "base/buf.h"
#include "base/status.h"

#define TS_DRAIN_PIECE 262144 /* bytes, at least, but for the last one */

struct ts_drain {
	enum ts_status (*take)(void *arg, struct ts_bytes piece, struct ts_error *err);
	void *arg;
	struct ts_error *err; /* the story of .status */
	enum ts_status
		status; /* of the first piece that was not taken: all further ones are dropped */
};

void ts_drain_offer(struct ts_drain *drain, struct ts_buf *buf);

#endif
