/* SPDX-License-Identifier: MIT */
/*
 * An answer: a route makes it, and the server sends it.
 *
 * Its body is complete, or it has a source. A complete body is shared and counts its users, so that
 * one report can be sent to many clients while a newer one takes its place. It has a text, the text
 * packed by gzip where that pays, and a tag that changes when the text does. A source is asked for
 * piece after piece while the answer is sent.
 */
#ifndef TS_SERVE_ANSWER_H
#define TS_SERVE_ANSWER_H

#include <stdatomic.h>

#include "base/buf.h"

struct ts_body {
	atomic_uint nr_users;
	struct ts_buf text, packed; /* packed is empty where it does not pay */
	char etag[24];		    /* with quotes */
};

/* Takes TEXT over in any case. NULL: no memory. The caller is the first user. */
struct ts_body *ts_body_new(struct ts_buf *text, bool pack);
struct ts_body *ts_body_use(struct ts_body *body);
void ts_body_drop(struct ts_body *body); /* NULL is fine */

enum ts_source_state {
	TS_SOURCE_MORE, /* *N bytes, at least one */
	TS_SOURCE_END,
	TS_SOURCE_BROKEN /* it is not complete and there is no more: the connection is cut */
};

struct ts_source {
	/* Called on the client's own thread. May wait, but for less than the server's time limit
	 * (server.h). */
	enum ts_source_state (*read)(void *ctx, char *out, size_t cap, size_t *n);
	void (*drop)(void *ctx); /* called once, after the last read */
	void *ctx;
	uint64_t nr_bytes; /* of all pieces; 0: it has no end that is known */
};

struct ts_answer {
	unsigned status; /* the status of HTTP */
	const char *type;
	bool is_shared;		 /* ui.perfetto.dev may read it: it says nothing of any run */
	struct ts_body *body;	 /* the answer holds one use of it; NULL: it has a source */
	struct ts_source source; /* .read is NULL too where there was no memory for an answer */
};

/* {"error": {"status", "message"}}: the message is one line that people read. */
struct ts_answer ts_answer_error(unsigned status, const char *fmt, ...) TS_PRINTF(2, 3);
/* Takes TEXT over. */
struct ts_answer ts_answer_json(struct ts_buf *text);

#endif
