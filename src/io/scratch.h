/* SPDX-License-Identifier: MIT */
/*
 * Scratch: a temporary file without a name, for data that is too large for memory. It is gone when
 * it is released, and when the program ends in any way.
 *
 * It is a stream that one thread writes and any number may read, or the place of a large array (base/room.h).
 * It lies in $TMPDIR, else in /var/tmp (which is a disk where /tmp is memory), else in /tmp.
 */
#ifndef TS_IO_SCRATCH_H
#define TS_IO_SCRATCH_H

#include "base/bytes.h"
#include "base/room.h"

struct ts_scratch {
	int fd;		   /* -1: not open */
	uint64_t nr_bytes; /* written so far */
	struct ts_bytes map;
};

#define TS_SCRATCH_INIT { -1, 0, { NULL, 0 } }

/* Where it may lie, in the order in which it is tried; NULL behind the last. */
const char *ts_scratch_folder(size_t index);
enum ts_status ts_scratch_open(struct ts_scratch *scratch, struct ts_error *err);
/* Appends; opens the file when it is not open. */
enum ts_status ts_scratch_put(struct ts_scratch *scratch, struct ts_bytes bytes,
			      struct ts_error *err);
/* All N bytes from AT on, or an error. */
enum ts_status ts_scratch_read(const struct ts_scratch *scratch, uint64_t at, void *p, size_t n,
			       struct ts_error *err);
/* All that was written, in place, until the release. Nothing is written after it. */
enum ts_status ts_scratch_map(struct ts_scratch *scratch, struct ts_bytes *bytes,
			      struct ts_error *err);
void ts_scratch_release(struct ts_scratch *scratch); /* harmless when not open, or twice */

/* Arrays in scratches, one in each. */
extern const struct ts_rooms ts_scratch_rooms;

#endif
