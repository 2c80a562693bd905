/* SPDX-License-Identifier: MIT */
/*
 * Remote calls: unary gRPC over plain-text HTTP/2, as a job's profiler server speaks it. One message
 * goes out, one comes back; the connection stays open for the next call (where libcurl can: rpc.c).
 *
 *	struct ts_rpc *rpc;
 *	ts_rpc_new(&rpc, "localhost:9012", err);
 *	ts_rpc_call(rpc, "/tensorflow.ProfilerService/Profile", message, limits, &answer, err);
 *
 * gRPC's own rules are few here (its PROTOCOL-HTTP2.md): a POST, a body of one byte "not
 * compressed", four of the length, and the message; the answer likewise, and the trailers
 * grpc-status and grpc-message. Nothing is encrypted, proxies are not used, and only the given name
 * is looked up.
 *
 * A connection that has answered stays open until the next one has (even where libcurl makes one a
 * call): when the peer closes it, the caller knows that the server was killed and came back between
 * two calls.
 *
 * A server may be anything: an answer is never larger than the limit, a call never longer. One
 * thread at a time may make calls of one ts_rpc; only new and free are for the thread that started
 * the program's other threads (libcurl's own rule).
 */
#ifndef TS_IO_RPC_H
#define TS_IO_RPC_H

#include "base/buf.h"

struct ts_rpc;

struct ts_rpc_limits {
	int64_t connect_ms, call_ms; /* the call's holds the connect's */
	size_t max_bytes;	     /* of the answer */
};

/* What became of a call that did not give TS_OK. */
enum ts_rpc_fault {
	TS_RPC_NONE,
	TS_RPC_UNREACHABLE, /* no server answered, or the connection broke */
	TS_RPC_SLOW,	    /* a limit of time was met */
	TS_RPC_REFUSED,	    /* the server answered with a status that is not OK */
	TS_RPC_GARBLED,	    /* what came is not an answer of gRPC, or is larger than the limit */
	TS_RPC_CANCELLED,
	TS_RPC_MEMORY,
};

struct ts_rpc_answer {
	struct ts_buf body;	 /* all that came, for the next call to use again; release it */
	struct ts_bytes message; /* of it: a view */
	enum ts_rpc_fault fault;
	int code;	/* grpc-status; -1: it did not come */
	bool peer_left; /* the process that answered before has gone: this may be another */
};

#define TS_RPC_ANSWER_INIT { TS_BUF_INIT, { NULL, 0 }, TS_RPC_NONE, -1, false }

bool ts_rpc_is_address(const char *address); /* HOST:PORT, [ADDRESS]:PORT */

/* ADDRESS is HOST:PORT, [ADDRESS]:PORT; nothing is connected yet. TS_USAGE: it is neither. */
enum ts_status ts_rpc_new(struct ts_rpc **rpc, const char *address, struct ts_error *err);
void ts_rpc_free(struct ts_rpc *rpc); /* NULL is fine */

/* The story has the address in front. ANSWER's body is used again from call to call. */
enum ts_status ts_rpc_call(struct ts_rpc *rpc, const char *method, struct ts_bytes message,
			   struct ts_rpc_limits limits, struct ts_rpc_answer *answer,
			   struct ts_error *err);

/* The message inside the body of an answer. TS_FORMAT: prefix and length are not what they should be. */
enum ts_status ts_rpc_unframe(struct ts_bytes body, struct ts_bytes *message, struct ts_error *err);

/* From any thread: a call under way ends at once, and so does every later one. */
void ts_rpc_cancel(struct ts_rpc *rpc);

#endif
