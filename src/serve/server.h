/*
 * A small HTTP server on 127.0.0.1 (libmicrohttpd): GET and HEAD, a thread a client.
 *
 * It answers requests that were meant for it alone: the Host must be its own address (so that a name
 * of somebody else's that resolves to this machine gets nothing), and pages of other origins are
 * refused. A client that sends or takes nothing for a minute is cut off; so are those beyond
 * TS_SERVER_CLIENTS. Answers carry a tag, and 304 where the client has it; gzip where it takes it.
 */
#ifndef TS_SERVE_SERVER_H
#define TS_SERVE_SERVER_H

#include <stdint.h>

#include "serve/answer.h"

#define TS_SERVER_PORT	  6970
#define TS_SERVER_CLIENTS 512

struct ts_request {
	const char *path;
	/* The value of ?NAME=, or NULL. Good during the call. */
	const char *(*argument)(const struct ts_request *request, const char *name);
	const char *(*header)(const struct ts_request *request, const char *name); /* likewise */
	void *client;
};

/* On many threads at once. */
typedef struct ts_answer ts_server_fn(void *ctx, const struct ts_request *request);

struct ts_server;

/* PORT 0: any that is free. TS_IO when the port cannot be had. */
enum ts_status ts_server_start(struct ts_server **server, uint16_t port, ts_server_fn *answer,
			       void *ctx, struct ts_error *err);
uint16_t ts_server_port(const struct ts_server *server);
/* Waits for answers under way. NULL is none. */
void ts_server_stop(struct ts_server *server);

#endif
