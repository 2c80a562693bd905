/* SPDX-License-Identifier: MIT */
/*
 * A text as a window that moves over it: of a plain file the whole mapping, of a packed one (gzip)
 * what was unpacked of it, so that a text of any size is read in bounded memory.
 *
 * The reader moves .p and asks for more when .end is too near. What lies before .p is gone after
 * the next ts_window_more(), and views into it with it.
 */
#ifndef TS_IO_WINDOW_H
#define TS_IO_WINDOW_H

#include "io/gzip.h"
#include "io/scratch.h"

#define TS_WINDOW_BYTES (1 * 1024 * 1024) /* of unpacked text; grows for one long token */
#define TS_WINDOW_MAX	(8 * 1024 * 1024)

struct ts_window {
	const uint8_t *p, *end; /* what can be seen, from the cursor on */
	const uint8_t *start;	/* of the window */
	uint64_t start_at;	/* where in the text the window starts */
	bool mapped;		/* pages behind the cursor can be given back */
	const uint8_t *forgotten;
	struct ts_gunzip gz; /* of a packed text */
	bool packed, ended;
	uint8_t *window;
	size_t cap;
	struct ts_error damage; /* of the packing: the text ends there */
	/* What is unpacked goes there too, so that it need not be unpacked again; NULL: it does not,
	 * or the disk would not take it */
	struct ts_scratch *copy;
	/* Is shown each piece that was unpacked; NULL: nobody asks. Of a plain text all can be seen at once. */
	void (*see)(void *ctx, struct ts_bytes piece);
	void *see_ctx;
};

/* BYTES must live as long as the window. MAPPED: they are a file's, and pages can be given back. */
enum ts_status ts_window_open(struct ts_window *text, struct ts_bytes bytes, bool mapped,
			      struct ts_error *err);
/*
 * More text behind what is seen; p moves, the text under it does not. *MORE false: the text has
 * ended, or the window is full (.ended says which). Fails when memory is out, and only then.
 */
enum ts_status ts_window_more(struct ts_window *text, bool *more, struct ts_error *err);
void ts_window_forget(struct ts_window *text); /* what lies before the cursor: now and then */
void ts_window_release(struct ts_window *text);

static inline uint64_t ts_window_at(const struct ts_window *text, const uint8_t *p)
{
	return text->start_at + (uint64_t)(p - text->start);
}

#endif
