/* SPDX-License-Identifier: MIT */
/* A plain file is one window, a packed one is unpacked into a buffer of ours. */
#include "io/window.h"

#include "base/check.h"

#include <sys/mman.h>
#include <unistd.h>

#define FORGET_BYTES (4 * 1024 * 1024)

enum ts_status ts_window_open(struct ts_window *text, struct ts_bytes bytes, bool mapped,
			      struct ts_error *err)
{
	TS_ASSERT(text);
	TS_ASSERT(bytes.p || bytes.n == 0);
	*text = (struct ts_window){
		.p = bytes.p,
		.start = bytes.p,
		.end = bytes.n ? bytes.p + bytes.n : bytes.p,
		.forgotten = bytes.p,
		.mapped = mapped,
		.packed = ts_gzip_probe(bytes),
		.gz = TS_GUNZIP_INIT,
		.ended = true,
	};
	if (!text->packed)
		return TS_OK;
	text->window = malloc(TS_WINDOW_BYTES);
	if (!text->window)
		return ts_fail_nomem(err);
	text->cap = TS_WINDOW_BYTES;
	text->p = text->start = text->end = text->window;
	text->ended = false;
	return ts_gunzip_open(&text->gz, bytes, err);
}

/* The rest of the window goes to its front. A window that is all rest grows. */
static enum ts_status window_make_room(struct ts_window *text, size_t rest, struct ts_error *err)
{
	uint8_t *bigger;

	text->start_at += (uint64_t)(text->p - text->start);
	memmove(text->window, text->p, rest);
	if (rest * 2 > text->cap && text->cap < TS_WINDOW_MAX) {
		bigger = realloc(text->window, text->cap * 2);
		if (!bigger)
			return ts_fail_nomem(err);
		text->window = bigger;
		text->cap *= 2;
	}
	text->p = text->start = text->window;
	text->end = text->window + rest;
	return TS_OK;
}

/* A copy that the disk has no room for is dropped: the text is read all the same. */
static enum ts_status window_keep(struct ts_window *text, struct ts_bytes piece,
				  struct ts_error *err)
{
	enum ts_status st = text->copy ? ts_scratch_put(text->copy, piece, NULL) : TS_OK;

	if (st == TS_OK)
		return TS_OK;
	ts_scratch_release(text->copy);
	text->copy = NULL;
	return st == TS_NOMEM ? ts_fail_nomem(err) : TS_OK;
}

enum ts_status ts_window_more(struct ts_window *text, bool *more, struct ts_error *err)
{
	size_t rest = (size_t)(text->end - text->p), got = 0;
	enum ts_status st, unpacked;

	TS_ASSERT_HOT(text && more && text->start <= text->p && text->p <= text->end);
	*more = false;
	if (text->ended)
		return TS_OK;
	st = window_make_room(text, rest, err);
	if (st || rest == text->cap)
		return st;
	unpacked = ts_gunzip_read(&text->gz, text->window + rest, text->cap - rest, &got,
				  &text->damage);
	if (unpacked == TS_NOMEM)
		return ts_fail_nomem(err);
	st = window_keep(text, (struct ts_bytes){ text->end, got }, err);
	if (text->see && got > 0)
		text->see(text->see_ctx, (struct ts_bytes){ text->end, got });
	text->end += got;
	text->ended = unpacked || got == 0;
	ts_window_forget(text);
	*more = got > 0;
	return st;
}

/* Pages of the input that were read: the mapping is private and never written, so they can go. */
void ts_window_forget(struct ts_window *text)
{
	TS_ASSERT_HOT(text);
#ifdef MADV_DONTNEED
	const uint8_t *upto = text->packed ? text->gz.bytes.p + text->gz.at : text->p;
	uintptr_t page, from, to;

	if (!text->mapped || upto - text->forgotten < FORGET_BYTES)
		return;
	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	from = ((uintptr_t)text->forgotten + page - 1) & ~(page - 1);
	to = (uintptr_t)upto & ~(page - 1);
	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
	text->forgotten = upto;
#else
#endif
}

void ts_window_release(struct ts_window *text)
{
	TS_ASSERT(text);
	ts_gunzip_release(&text->gz);
	free(text->window);
	text->window = NULL;
}
