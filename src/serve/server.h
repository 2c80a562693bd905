/* SPDX-License-Identifier: MIT */
/*
 * A small HTTP server (libmicrohttpd), with GET and HEAD, on 127.0.0.1 or another address. Each client has
 * a thread.
 *
 * It answers only requests that are meant for it (guard.h), and where it has a token only those that show it
 * (token.h). At most TS_SERVER_CLIENTS are connected; one
 * more takes the place of the slowest (clients.h). Deadlines: TS_SERVER_ASK_MS for a request,
 * TS_SERVER_TAKE_MS for an answer, longer for a long one, and a minute without a byte.
 * Answers have a tag; a client that has the present one gets status 304. They are packed by gzip
 * for clients that accept it.
 */
#ifndef TS_SERVE_SERVER_H
#define TS_SERVE_SERVER_H

#include <stdint.h>

#include "serve/answer.h"

#define TS_SERVER_PORT	       6970
#define TS_SERVER_CLIENTS      512
#define TS_SERVER_ASK_MS       30000
#define TS_SERVER_TAKE_MS      60000
#define TS_SERVER_BYTES_PER_MS 16	  /* a slower client does not get a long answer */
#define TS_SERVER_HEAD_BYTES   (32 << 10) /* of the headers, with the request line */

struct ts_request {
	const char *path;
	/* The value of ?NAME=, or NULL. It is good during the call. */
	const char *(*argument)(const struct ts_request *request, const char *name);
	const char *(*header)(const struct ts_request *request, const char *name); /* likewise */
	/* Has the client left, or will it send no more? On any thread, during the call. */
	bool (*is_gone)(const struct ts_request *request);
	void *client;
};

/* Called on many threads at once. */
typedef struct ts_answer ts_server_fn(void *ctx, const struct ts_request *request);

struct ts_server;

struct ts_server_options {
	const char *address; /* in numbers (address.h); NULL: 127.0.0.1 */
	uint16_t port;	     /* 0: any that is free */
	const char *token;   /* NULL or "": every request is let in. It must outlive the server */
	/* names beside those of the loopback (guard.h); must outlive the server */
	const char *const *hosts;
	size_t nr_hosts;
	ts_server_fn *answer;
	void *ctx;
};

/* TS_IO: the server cannot listen there; TS_USAGE: the address is not one. */
enum ts_status ts_server_start(struct ts_server **server, const struct ts_server_options *options,
			       struct ts_error *err);
uint16_t ts_server_port(const struct ts_server *server);
/* Waits for answers that are being sent. NULL is fine. */
void ts_server_stop(struct ts_server *server);

#endif
