/* SPDX-License-Identifier: MIT */
/*
 * Arena: memory that dies together. Everything read from an input, and everything an analysis
 * says, lives in one; nothing inside is freed alone. Not for two threads at once.
 *
 * All functions give NULL when memory is out; then only the new piece is missing.
 */
#ifndef TS_BASE_ARENA_H
#define TS_BASE_ARENA_H

#include "base/bytes.h"

struct ts_arena_chunk;
struct ts_rooms;
struct ts_arena {
	struct ts_arena_chunk *chunks;
	uint8_t *at, *end;
	size_t total;		      /* bytes asked of the system */
	bool failed;		      /* memory ran out once: something is missing in here */
	const struct ts_rooms *rooms; /* where large pieces lie (base/room.h); NULL: in memory */
	/* Small pieces lie there too: what is written once and read once, or not at all. */
	bool is_seldom_read;
};

#define TS_ARENA_INIT { NULL, NULL, NULL, 0, false, NULL, false }

void ts_arena_release(struct ts_arena *arena);		 /* frees all; usable again after */
void *ts_arena_alloc(struct ts_arena *arena, size_t n);	 /* aligned for any type, not cleared */
void *ts_arena_zalloc(struct ts_arena *arena, size_t n); /* cleared */
void *ts_arena_array(struct ts_arena *arena, size_t nr,
		     size_t size); /* cleared; checks nr x size */
/* A copy of NR items. */
void *ts_arena_dup(struct ts_arena *arena, const void *items, size_t nr, size_t size);
/* A copy of the bytes, with a terminating NUL behind that .n does not count. .p NULL: no memory. */
struct ts_bytes ts_arena_copy(struct ts_arena *arena, struct ts_bytes bytes);
struct ts_bytes ts_arena_printf(struct ts_arena *arena, const char *fmt, ...) TS_PRINTF(2, 3);

/*
 * A heap array that grows by doubling: gives room for at least NEED elements of SIZE bytes in
 * *ITEMS (old content kept, new room cleared), with the capacity in *CAP. False: no memory, and
 * the old array stands. Free with free().
 */
bool ts_grow(void *items, size_t *cap, size_t need, size_t size);

#endif
