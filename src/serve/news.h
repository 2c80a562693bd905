/*
 * News: what goes on, told to everybody who reads along, as server-sent events (text/event-stream;
 * WHATWG HTML, "Server-sent events").
 *
 * Whoever tells something copies it in and goes: no reader is waited for, and the lock is held by
 * anybody for one copy of a piece only. Of each kind so many of the past are kept, of all together
 * .max_bytes; who comes later gets those first. A reader has no queue of its own but a place in what is
 * kept: one so slow that something told since it came was let go before it read it is cut off. It may
 * come again and go on behind the last it got (Last-Event-ID, or ?after=), with what there is still.
 *
 * Ids are numbers that rise, also from one run of the program to the next (they begin at the time of
 * day in microseconds; below 2^53, as JavaScript wants them).
 */
#ifndef TS_SERVE_NEWS_H
#define TS_SERVE_NEWS_H

#include "serve/server.h"

#define TS_NEWS_BYTES	 ((size_t)8 << 20)
#define TS_NEWS_READERS	 64
#define TS_NEWS_QUIET_MS 15000

struct ts_news_kind {
	const char *name; /* the event's */
	size_t keep;
};

struct ts_news_options {
	const struct ts_news_kind *kinds; /* must outlive the news */
	size_t nr_kinds;
	size_t max_bytes, max_readers;
	int64_t quiet_ms; /* then a reader gets a comment, so that it and we know that both are there */
};

struct ts_news;

struct ts_news *ts_news_new(const struct ts_news_options *options); /* NULL: no memory */
void ts_news_free(struct ts_news *news); /* nobody may read any more; NULL is fine */

/* TEXT: one line. False: it is larger than all that may be kept, or there is no memory: nobody gets it. */
bool ts_news_add(struct ts_news *news, size_t kind, struct ts_bytes text);

/* There is no more: all readers get what is there, then the end. Waits for them so long at most. */
void ts_news_close(struct ts_news *news, int64_t patience_ms);

/* A reader; 503 when there are .max_readers. Any thread. */
struct ts_answer ts_news_answer(struct ts_news *news, const struct ts_request *request);

#endif
