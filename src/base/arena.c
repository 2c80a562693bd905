/* SPDX-License-Identifier: MIT */
/*
 * Arena of doubling chunks, from 4 KiB to 1 MiB; a piece larger than that has a chunk to itself. What is seldom read
 * lies in chunks that are large enough for a file, and grow slowly: few files, and little in memory at once.
 */
#include "base/arena.h"

#include "base/check.h"
#include "base/room.h"

#include <stdarg.h>
#include <stdalign.h>

#define FIRST_CHUNK 4096
#define LAST_CHUNK  (1 << 20)
#define FIRST_FILE  (2 * TS_ROOM_BYTES)
#define LAST_FILE   ((size_t)32 << 20)

struct ts_arena_chunk {
	struct ts_arena_chunk *next;
	size_t size;
	alignas(max_align_t) uint8_t bytes[];
};

void ts_arena_release(struct ts_arena *arena)
{
	TS_ASSERT(arena);
	while (arena->chunks) {
		struct ts_arena_chunk *next = arena->chunks->next;

		ts_room_free(arena->chunks);
		arena->chunks = next;
	}
	arena->at = arena->end = NULL;
	arena->total = 0;
	arena->failed = false;
}

static struct ts_arena_chunk *add_chunk(struct ts_arena *arena, size_t size)
{
	struct ts_arena_chunk *chunk = ts_room_alloc(arena->rooms, sizeof(*chunk) + size);

	if (arena->is_seldom_read)
		ts_room_rest(arena->chunks);
	if (!chunk) {
		arena->failed = true;
		return NULL;
	}
	chunk->size = size;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->total += size;
	return chunk;
}

static size_t next_size(const struct ts_arena *arena)
{
	return arena->is_seldom_read ? TS_MIN(TS_MAX(arena->total / 8, FIRST_FILE), LAST_FILE)
				     : TS_MIN(TS_MAX(arena->total, FIRST_CHUNK), LAST_CHUNK);
}

void *ts_arena_alloc(struct ts_arena *arena, size_t n)
{
	const size_t align = alignof(max_align_t);
	struct ts_arena_chunk *chunk;
	size_t size;
	void *piece;

	TS_ASSERT_HOT(arena && arena->at <= arena->end);
	if (n > SIZE_MAX / 2) {
		arena->failed = true;
		return NULL;
	}
	n = (n + align - 1) / align * align;
	if (n == 0)
		n = align;
	if (n > (size_t)(arena->end - arena->at)) {
		size = next_size(arena);
		chunk = add_chunk(arena, TS_MAX(size, n));
		if (!chunk)
			return NULL;
		if (n > size / 2) /* a large piece: go on filling the chunk before */
			return chunk->bytes;
		arena->at = chunk->bytes;
		arena->end = chunk->bytes + chunk->size;
	}
	piece = arena->at;
	arena->at += n;
	return piece;
}

void *ts_arena_zalloc(struct ts_arena *arena, size_t n)
{
	void *piece = ts_arena_alloc(arena, n);

	TS_ASSERT_HOT(arena);
	if (piece)
		memset(piece, 0, n);
	return piece;
}

/* SIZE_MAX, which is never given, where they are more than that. */
static size_t nr_bytes(size_t nr, size_t size)
{
	return size != 0 && nr > SIZE_MAX / size ? SIZE_MAX : nr * size;
}

void *ts_arena_array(struct ts_arena *arena, size_t nr, size_t size)
{
	TS_ASSERT_HOT(arena);
	return ts_arena_zalloc(arena, nr_bytes(nr, size));
}

void *ts_arena_dup(struct ts_arena *arena, const void *items, size_t nr, size_t size)
{
	void *copy = ts_arena_alloc(arena, nr_bytes(nr, size));

	TS_ASSERT_HOT(arena);
	TS_ASSERT_HOT(items || nr == 0);
	if (copy && nr > 0)
		memcpy(copy, items, nr * size);
	return copy;
}

struct ts_bytes ts_arena_copy(struct ts_arena *arena, struct ts_bytes bytes)
{
	uint8_t *copy = bytes.n < SIZE_MAX ? ts_arena_alloc(arena, bytes.n + 1) : NULL;

	TS_ASSERT_HOT(arena);
	TS_ASSERT_HOT(bytes.p || bytes.n == 0);
	if (!copy)
		return (struct ts_bytes){ NULL, 0 };
	if (bytes.n)
		memcpy(copy, bytes.p, bytes.n);
	copy[bytes.n] = '\0';
	return (struct ts_bytes){ copy, bytes.n };
}

struct ts_bytes ts_arena_printf(struct ts_arena *arena, const char *fmt, ...)
{
	struct ts_bytes none = { NULL, 0 };
	va_list ap;
	char *text;
	int n;

	TS_ASSERT(arena && fmt);
	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n < 0 ? NULL : ts_arena_alloc(arena, (size_t)n + 1);
	if (!text)
		return none;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return (struct ts_bytes){ (uint8_t *)text, (size_t)n };
}

bool ts_grow(void *items, size_t *cap, size_t need, size_t size)
{
	void *old, *grown;
	size_t room;

	if (need <= *cap)
		return true;
	if (need > SIZE_MAX / 2 / size)
		return false;
	room = TS_MAX(need, *cap < 8 ? 8 : *cap + *cap / 2);
	memcpy(&old, items, sizeof(old)); /* the caller's pointer, whatever its type */
	grown = realloc(old, room * size);
	if (!grown)
		return false;
	memset((uint8_t *)grown + *cap * size, 0, (room - *cap) * size);
	memcpy(items, &grown, sizeof(grown));
	*cap = room;
	return true;
}
