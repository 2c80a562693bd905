/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that lies in a temporary file: what is written once and read once, or not at all, and would else grow with the
 * number of hosts. The system keeps of it in memory what it has room for. One thread at a time takes.
 */
#ifndef TS_IO_SPILL_H
#define TS_IO_SPILL_H

#include "io/scratch.h"

struct ts_spill {
	struct ts_scratch scratch; /* its folder and its file; .nr_bytes are given out in pieces */
	struct ts_bytes *pieces;
	size_t nr_pieces, cap_pieces;
	uint8_t *next; /* in the last piece */
	size_t left;
	bool is_full; /* the disk would not take more */
};

#define TS_SPILL_INIT { .scratch = TS_SCRATCH_INIT }

/* As .take of a struct ts_store, whose .ctx is the spill. NULL: there is no room on the disk. */
void *ts_spill_take(void *spill, size_t nr_bytes);
/* All that was taken is gone. Harmless when nothing was, or twice. */
void ts_spill_release(struct ts_spill *spill);

#endif
