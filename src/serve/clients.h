/* SPDX-License-Identifier: MIT */
/*
 * The connections of a server, and which of them gives way.
 *
 * All clients of a loopback server have one address, so a limit for each address would be a limit for
 * all. Instead the connections have places. When all are taken, a new client gets the place of the one
 * that has gone longest without a complete request, else of the one that takes longest over its answer:
 * that one's socket is shut down. A client whose answer is made, or that reads a stream without an end,
 * is never the one: how many of these there are is bounded by those who make the answers (reports.h,
 * latest.h, news.h). All others have a deadline besides.
 *
 * A socket is only shut down here. The server closes it, after ts_clients_leave().
 */
#ifndef TS_SERVE_CLIENTS_H
#define TS_SERVE_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

enum ts_client_state {
	TS_CLIENT_ASKS,	  /* from its connection, or its last answer, to the end of a request */
	TS_CLIENT_WAITS,  /* its answer is made */
	TS_CLIENT_TAKES,  /* its answer is sent */
	TS_CLIENT_LISTENS /* it reads a stream that has no end */
};

struct ts_clients_limits {
	size_t max_clients;
	int64_t ask_ms;	 /* for a request */
	int64_t take_ms; /* for an answer, and 1 ms more for each bytes_per_ms of it */
	size_t bytes_per_ms;
};

struct ts_clients;
struct ts_client;

/* NULL: no memory, or no thread for the deadlines. */
struct ts_clients *ts_clients_new(const struct ts_clients_limits *limits);
void ts_clients_free(struct ts_clients *clients); /* after the last client has left; NULL is fine */

/* All from here on may be called on any thread. The client asks. NULL: no memory; the socket is shut down. */
struct ts_client *ts_clients_enter(struct ts_clients *clients, int fd);
void ts_clients_leave(struct ts_clients *clients, struct ts_client *client); /* NULL is fine */

/* NR_BYTES of an answer that it takes; 0 in all other states. */
void ts_clients_turn(struct ts_clients *clients, struct ts_client *client,
		     enum ts_client_state state, uint64_t nr_bytes);

#endif
