/*
 * An answer in the making: what a route gives to the server, which sends it.
 *
 * A body of which all is there is either constant (of the program) or shared: counted, so that one report can be sent to
 * many clients while a newer one takes its place. A body has its text, its text packed by gzip where
 * that pays, and a tag that changes when the text does. Of others a source is asked for piece after
 * piece while they are sent.
 */
#ifndef TS_SERVE_ANSWER_H
#define TS_SERVE_ANSWER_H

#include <stdatomic.h>

#include "base/buf.h"

struct ts_body {
	atomic_uint nr_users;
	struct ts_buf text, packed; /* packed is empty: not worth it */
	char etag[24];		    /* with its quotes */
};

/* Takes TEXT over, whatever comes out. NULL: no memory. The caller is its first user. */
struct ts_body *ts_body_new(struct ts_buf *text, bool pack);
struct ts_body *ts_body_use(struct ts_body *body);
void ts_body_drop(struct ts_body *body); /* NULL is nobody's */

enum ts_source_state {
	TS_SOURCE_MORE, /* *N bytes, at least one */
	TS_SOURCE_END,
	TS_SOURCE_BROKEN /* not the end, and there is no more: the connection is cut */
};

struct ts_source {
	/* On the client's own thread: may wait, but for less than the server's patience (server.h). */
	enum ts_source_state (*read)(void *ctx, char *out, size_t cap, size_t *n);
	void (*drop)(void *ctx); /* once, when nobody reads any more */
	void *ctx;
};

struct ts_answer {
	unsigned status; /* of HTTP */
	const char *type;
	struct ts_body *body;	 /* one use of it is the answer's; NULL: */
	struct ts_source source; /* .read NULL too: there is no memory to answer */
};

/* {"error": {"status", "message"}}: the message is one line, for people. */
struct ts_answer ts_answer_error(unsigned status, const char *fmt, ...) TS_PRINTF(2, 3);
/* TEXT is taken over. */
struct ts_answer ts_answer_json(struct ts_buf *text);

#endif
