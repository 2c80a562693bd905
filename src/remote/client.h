/* SPDX-License-Identifier: MIT */
/*
 * The client of one helper (docs/remote.md): requests as lines of JSON, replies in any order.
 *
 *	struct ts_remote_call call = TS_REMOTE_CALL_INIT;
 *
 *	ts_client_send(client, &call, &(struct ts_remote_request){ .op = "stat", .url = url });
 *	st = ts_client_wait(client, &call, err);
 *	... call.reply
 *	ts_remote_call_release(&call)
 *
 * A thread reads the replies. Any thread may send, and each waits for its own calls; one that was sent must be
 * waited for. When the helper ends, hangs (no line for a call for TS_REMOTE_SILENCE_S) or writes what
 * is not a reply, every call fails with the cause and the helper's last words, and so do all later ones.
 */
#ifndef TS_REMOTE_CLIENT_H
#define TS_REMOTE_CLIENT_H

#include "remote/keeper.h"
#include "remote/reply.h"

#define TS_REMOTE_SILENCE_S 120 /* TPUSIGHT_REMOTE_TIMEOUT in the environment has another number */
#define TS_REMOTE_MAX_JOBS  64

/* What is NULL, or not said to be there, is left out. */
struct ts_remote_request {
	const char *op, *url, *file;
	bool is_recursive;
	bool has_size;
	uint64_t offset, size, at;
	const char *generation, *if_generation;
};

struct ts_remote_call;
/* On the client's thread, for each entry of a list; it must not wait for a call. */
typedef void ts_remote_entry_fn(void *ctx, const struct ts_remote_reply *entry);

struct ts_remote_call {
	ts_remote_entry_fn *entry;
	void *ctx;
	/* of the client, until it is waited for: */
	struct ts_remote_call *next;
	uint64_t id;
	bool is_done;
	int64_t heard_ms;
	enum ts_status status;
	/* afterwards; its texts are in the arena */
	struct ts_remote_reply reply;
	struct ts_arena arena;
};

#define TS_REMOTE_CALL_INIT { .arena = TS_ARENA_INIT }

struct ts_client;

/* Takes the helper's descriptors over. No thread is made before the first call. */
struct ts_client *ts_client_new(const struct ts_helper *helper);
void ts_client_free(struct ts_client *client); /* NULL is allowed */
bool ts_client_is_dead(struct ts_client *client);
/* All calls fail from now on, also those that are waited for. */
void ts_client_cancel(struct ts_client *client);
/* How many calls at once the helper does well; says hello first. 0: ERR has the cause. */
size_t ts_client_jobs(struct ts_client *client, struct ts_error *err);

void ts_client_send(struct ts_client *client, struct ts_remote_call *call,
		    const struct ts_remote_request *request);
/* TS_NOTFOUND, TS_UNSUPPORTED, TS_IO; .reply.code says more. Messages begin with the URL. */
enum ts_status ts_client_wait(struct ts_client *client, struct ts_remote_call *call,
			      const char *url, struct ts_error *err);
/* Both. */
enum ts_status ts_client_ask(struct ts_client *client, struct ts_remote_call *call,
			     const struct ts_remote_request *request, struct ts_error *err);
void ts_remote_call_release(struct ts_remote_call *call);

#endif
