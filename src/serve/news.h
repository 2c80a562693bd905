/* SPDX-License-Identifier: MIT */
/*
 * News: events go to all readers as server-sent events (text/event-stream; WHATWG HTML,
 * "Server-sent events").
 *
 * ts_news_add() copies an event and returns: it waits for no reader, and the lock is held for one
 * copy at a time. Of each kind of event the last .keep are kept, and of all together .max_bytes; a
 * new reader gets these first. A reader has no queue but a place in what is kept. When an event
 * that was added after the reader came is dropped before the reader has it, the reader is cut off.
 * It may come again and go on behind the last event it got (Last-Event-ID, or ?after=), with what
 * is still kept.
 *
 * Ids are numbers that rise, also from one run of the program to the next: they begin at the time
 * of day in microseconds. They are below 2^53, so that JavaScript reads them exactly.
 */
#ifndef TS_SERVE_NEWS_H
#define TS_SERVE_NEWS_H

#include "serve/server.h"

#define TS_NEWS_BYTES	 ((size_t)8 << 20)
#define TS_NEWS_READERS	 64
#define TS_NEWS_QUIET_MS 15000

struct ts_news_kind {
	const char *name; /* the name of its events */
	size_t keep;
};

struct ts_news_options {
	const struct ts_news_kind *kinds; /* must outlive the news */
	size_t nr_kinds;
	size_t max_bytes, max_readers;
	/* after so long without an event a reader gets a comment: each side sees the other */
	int64_t quiet_ms;
};

struct ts_news;

struct ts_news *ts_news_new(const struct ts_news_options *options); /* NULL: no memory */
void ts_news_free(struct ts_news *news); /* after the last reader; NULL is fine */

/* TEXT is one line. TS_LIMIT: it is larger than .max_bytes. No reader gets it where it fails. */
enum ts_status ts_news_add(struct ts_news *news, size_t kind, struct ts_bytes text,
			   struct ts_error *err);

/* There are no more events: all readers get what is there, then the end. Waits for them at most
 * PATIENCE_MS. */
void ts_news_close(struct ts_news *news, int64_t patience_ms);

/* A new reader; status 503 when there are .max_readers already. May be called on any thread. */
struct ts_answer ts_news_answer(struct ts_news *news, const struct ts_request *request);

#endif
