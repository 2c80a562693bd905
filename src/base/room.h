/* SPDX-License-Identifier: MIT */
/*
 * Room for large arrays: what a run of very many ops has of each. A small array lies in memory; from
 * TS_ROOM_BYTES on it lies in a file, where somebody gives files (struct ts_rooms), so that the system
 * can take its pages away and bring them back. Where there is no file or the disk is full, it lies in
 * memory like the others. What is in such an array must not be larger than what memory would have had
 * of it: the disk is taken for it when it is made, and given back when it is freed.
 *
 * An array is freed with ts_room_free() and with nothing else. Threads may make and free at once.
 */
#ifndef TS_BASE_ROOM_H
#define TS_BASE_ROOM_H

#include "base/bytes.h"

#define TS_ROOM_BYTES (size_t)(2 << 20)

/* Who gives files: io/scratch.h. */
struct ts_rooms {
	/* A file of so many bytes, all zero, in place. NULL: there is no room on the disk. */
	void *(*map)(int *file, size_t nr_bytes);
	/* The file gets longer, and may come to lie elsewhere. NULL: likewise, and P stands. */
	void *(*remap)(int file, void *p, size_t has, size_t nr_bytes);
	void (*unmap)(int file, void *p, size_t nr_bytes);
	void (*rest)(void *p, size_t nr_bytes);
};

/* ROOMS may be NULL: in memory. NULL: memory is out, too. */
void *ts_room_alloc(const struct ts_rooms *rooms, size_t nr_bytes); /* aligned; not cleared */
/* Cleared; checks nr x size. */
void *ts_room_array(const struct ts_rooms *rooms, size_t nr, size_t size);
/* As ts_grow(), of an array that is NULL or was made here. */
bool ts_room_grow(const struct ts_rooms *rooms, void *items, size_t *cap, size_t need, size_t size);
void ts_room_free(void *array); /* harmless when NULL */
/* It is not looked at for a while: what of it is in a file need not be in memory, too. Harmless when NULL. */
void ts_room_rest(void *array);
/* Whether it lies in a file. */
bool ts_room_is_file(const void *array);

#endif
