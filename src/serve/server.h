/*
 * A small HTTP server on 127.0.0.1 (libmicrohttpd), with GET and HEAD. Each client has a thread.
 *
 * It answers only requests that are meant for it: the Host must be its own address, so that another
 * name that resolves to this machine gets nothing, and pages of other origins are refused. A client
 * that sends or takes nothing for a minute is cut off; more than TS_SERVER_CLIENTS are refused.
 * Answers have a tag; a client that has the present one gets status 304. They are packed by gzip
 * for clients that accept it.
 */
#ifndef TS_SERVE_SERVER_H
#define TS_SERVE_SERVER_H

#include <stdint.h>

#include "serve/answer.h"

#define TS_SERVER_PORT	  6970
#define TS_SERVER_CLIENTS 512

struct ts_request {
	const char *path;
	/* The value of ?NAME=, or NULL. It is good during the call. */
	const char *(*argument)(const struct ts_request *request, const char *name);
	const char *(*header)(const struct ts_request *request, const char *name); /* likewise */
	void *client;
};

/* Called on many threads at once. */
typedef struct ts_answer ts_server_fn(void *ctx, const struct ts_request *request);

struct ts_server;

/* PORT 0: any port that is free. TS_IO: the server cannot listen on the port. */
enum ts_status ts_server_start(struct ts_server **server, uint16_t port, ts_server_fn *answer,
			       void *ctx, struct ts_error *err);
uint16_t ts_server_port(const struct ts_server *server);
/* Waits for answers that are being sent. NULL is fine. */
void ts_server_stop(struct ts_server *server);

#endif
