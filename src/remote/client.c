/* SPDX-License-Identifier: MIT */
/* One thread reads both of the helper's pipes; one lock guards everything. */
#include "remote/client.h"

#include "base/check.h"
#include "base/clock.h"
#include "codec/json.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#define VERSION	   1
#define LOOK_MS	   200
#define WORDS_ROOM 1024
#define READ_ROOM  16384

struct ts_client {
	struct ts_helper helper;
	pthread_mutex_t lock;
	pthread_cond_t news;
	pthread_t thread;
	bool has_thread, is_dead;
	struct ts_remote_call *calls; /* that no reply has ended */
	uint64_t last_id;
	size_t jobs; /* 0: hello was not said */
	int64_t silence_ms;
	struct ts_buf line;
	char words[WORDS_ROOM]; /* the end of what it says */
	struct ts_error why;	/* it is dead */
};

static int64_t silence_ms(void)
{
	const char *text = getenv("TPUSIGHT_REMOTE_TIMEOUT");
	uint64_t seconds = 0;

	if (!text || !ts_bytes_u64(ts_bytes_of(text), &seconds) || seconds == 0)
		seconds = TS_REMOTE_SILENCE_S;
	return (int64_t)TS_MIN(seconds, INT32_MAX) * 1000;
}

struct ts_client *ts_client_new(const struct ts_helper *helper)
{
	struct ts_client *client = calloc(1, sizeof(*client));

	TS_ASSERT(helper);
	if (!client)
		return NULL;
	client->helper = *helper;
	client->silence_ms = silence_ms();
	pthread_mutex_init(&client->lock, NULL);
	pthread_cond_init(&client->news, NULL);
	return client;
}

/* The last line that the helper said, without what ends it. */
static struct ts_bytes last_words(const struct ts_client *client)
{
	struct ts_bytes words = ts_bytes_of(client->words);
	size_t at;

	while (words.n > 0 && words.p[words.n - 1] <= ' ')
		words.n--;
	for (at = words.n; at > 0 && words.p[at - 1] != '\n';)
		at--;
	return ts_bytes_cut(words, at, words.n);
}

/* With the lock held. The first cause counts. */
static void die(struct ts_client *client, const char *cause)
{
	struct ts_bytes words = last_words(client);
	const char *name = strrchr(client->helper.program, '/');

	if (client->is_dead)
		return;
	client->is_dead = true;
	ts_fail(&client->why, TS_IO, "%s %s%s%.*s%s", name ? name + 1 : client->helper.program,
		cause, words.n ? ": " : "", (int)words.n, words.p ? (const char *)words.p : "",
		ts_bytes_ends(words, ")") ? "" : " (run it again)");
	for (struct ts_remote_call *call = client->calls; call; call = call->next) {
		call->is_done = true;
		call->status = TS_IO;
		call->reply = (struct ts_remote_reply){ .kind = TS_REMOTE_FAILED };
	}
	client->calls = NULL;
	pthread_cond_broadcast(&client->news);
}

static struct ts_remote_call *client_find(struct ts_client *client, uint64_t id)
{
	struct ts_remote_call *call = client->calls;

	while (call && call->id != id)
		call = call->next;
	return call;
}

static void client_forget(struct ts_client *client, const struct ts_remote_call *done)
{
	struct ts_remote_call **at = &client->calls;

	while (*at && *at != done)
		at = &(*at)->next;
	if (*at)
		*at = done->next;
}

static const char *client_copy(struct ts_remote_call *call, const char *text)
{
	return text ? (const char *)ts_arena_copy(&call->arena, ts_bytes_of(text)).p : NULL;
}

/* The reply that ends a call, with its texts in the call's own arena. */
static void client_finish(struct ts_client *client, struct ts_remote_call *call,
			  const struct ts_remote_reply *reply)
{
	static const enum ts_status statuses[] = {
		[TS_REMOTE_IO] = TS_IO,	      [TS_REMOTE_NOT_FOUND] = TS_NOTFOUND,
		[TS_REMOTE_CHANGED] = TS_IO,  [TS_REMOTE_DENIED] = TS_IO,
		[TS_REMOTE_EXISTS] = TS_IO,   [TS_REMOTE_BUSY] = TS_IO,
		[TS_REMOTE_NO_SPACE] = TS_IO, [TS_REMOTE_UNSUPPORTED] = TS_UNSUPPORTED,
	};

	client_forget(client, call);
	call->reply = *reply;
	call->reply.name = NULL;
	call->reply.generation = client_copy(call, reply->generation);
	call->reply.how = client_copy(call, reply->how);
	call->reply.text = client_copy(call, reply->text);
	call->status = reply->kind == TS_REMOTE_DONE ? TS_OK : statuses[reply->code];
	if (call->arena.failed)
		call->status = TS_NOMEM;
	call->is_done = true;
	pthread_cond_broadcast(&client->news);
}

static void client_take_line(struct ts_client *client, struct ts_bytes line)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_error story = TS_ERROR_INIT;
	struct ts_remote_reply reply;
	struct ts_remote_call *call;

	if (line.n == 0)
		return;
	if (ts_remote_reply_read(&reply, line, &arena, &story)) {
		die(client, story.text);
		ts_arena_release(&arena);
		return;
	}
	call = client_find(client, reply.id);
	if (call)
		call->heard_ms = ts_now_ms();
	if (call && reply.kind == TS_REMOTE_ENTRY && call->entry)
		call->entry(call->ctx, &reply);
	if (call && (reply.kind == TS_REMOTE_DONE || reply.kind == TS_REMOTE_FAILED))
		client_finish(client, call, &reply);
	ts_arena_release(&arena);
}

static void client_take_lines(struct ts_client *client)
{
	struct ts_buf *buf = &client->line;
	size_t at = 0, n;

	while ((n = ts_bytes_find(ts_bytes_cut(ts_buf_bytes(buf), at, buf->n), "\n")) <
	       buf->n - at) {
		client_take_line(client, ts_bytes_cut(ts_buf_bytes(buf), at, n));
		at += n + 1;
	}
	memmove(buf->p, buf->p + at, buf->n - at);
	buf->n -= at;
	if (buf->n > TS_REMOTE_LINE)
		die(client, "wrote a line that is too long");
}

/* False: it has closed its output. */
static bool read_replies(struct ts_client *client)
{
	ssize_t n = -1;

	if (ts_buf_room(&client->line, READ_ROOM))
		n = read(client->helper.from, client->line.p + client->line.n, READ_ROOM);
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	pthread_mutex_lock(&client->lock);
	client->line.n += (size_t)n;
	client_take_lines(client);
	pthread_mutex_unlock(&client->lock);
	return true;
}

/* Keeps the end of it. False: it has closed its standard error. */
static bool read_words(struct ts_client *client)
{
	char piece[WORDS_ROOM / 2];
	ssize_t n = read(client->helper.words, piece, sizeof(piece));
	size_t has = strlen(client->words);
	size_t over;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	for (ssize_t i = 0; i < n; i++)
		if (piece[i] == '\0')
			piece[i] = ' ';
	over = has + (size_t)n < WORDS_ROOM ? 0 : has + (size_t)n + 1 - WORDS_ROOM;
	pthread_mutex_lock(&client->lock);
	memmove(client->words, client->words + over, has - over);
	memcpy(client->words + has - over, piece, (size_t)n);
	client->words[has - over + (size_t)n] = '\0';
	pthread_mutex_unlock(&client->lock);
	return true;
}

static void look_for_silence(struct ts_client *client)
{
	int64_t now_ms = ts_now_ms();

	pthread_mutex_lock(&client->lock);
	for (struct ts_remote_call *call = client->calls; call; call = call->next)
		if (now_ms - call->heard_ms > client->silence_ms) {
			die(client, "does not answer");
			break;
		}
	pthread_mutex_unlock(&client->lock);
}

bool ts_client_is_dead(struct ts_client *client)
{
	bool is;

	TS_ASSERT(client);
	pthread_mutex_lock(&client->lock);
	is = client->is_dead;
	pthread_mutex_unlock(&client->lock);
	return is;
}

static void *client_read_all(void *arg)
{
	struct ts_client *client = arg;
	struct pollfd ends[] = { { .fd = client->helper.from, .events = POLLIN },
				 { .fd = client->helper.words, .events = POLLIN } };
	bool goes_on = true;

	while (goes_on && !ts_client_is_dead(client)) {
		int nr = poll(ends, TS_NELEM(ends), LOOK_MS);

		if (nr > 0 && ends[1].revents && !read_words(client))
			ends[1].fd = -1;
		if (nr > 0 && ends[0].revents)
			goes_on = read_replies(client);
		look_for_silence(client);
	}
	if (!goes_on) {
		/* what the helper said before it ended may come after the end of its output */
		struct pollfd words = { .fd = client->helper.words, .events = POLLIN };

		while (poll(&words, 1, LOOK_MS) > 0 && read_words(client))
			;
	}
	pthread_mutex_lock(&client->lock);
	die(client, "has ended");
	if (client->helper.to >= 0)
		close(client->helper.to);
	client->helper.to = -1;
	pthread_mutex_unlock(&client->lock);
	return NULL;
}

void ts_client_cancel(struct ts_client *client)
{
	TS_ASSERT(client);
	pthread_mutex_lock(&client->lock);
	die(client, "was ended");
	pthread_mutex_unlock(&client->lock);
}

void ts_client_free(struct ts_client *client)
{
	if (!client)
		return;
	ts_client_cancel(client);
	if (client->has_thread)
		pthread_join(client->thread, NULL);
	if (client->helper.to >= 0)
		close(client->helper.to);
	close(client->helper.from);
	close(client->helper.words);
	ts_buf_release(&client->line);
	pthread_cond_destroy(&client->news);
	pthread_mutex_destroy(&client->lock);
	free(client);
}

static void client_put_text(struct ts_json *json, const char *key, const char *text)
{
	if (!text)
		return;
	ts_json_key(json, key);
	ts_json_text(json, text);
}

static void client_put_request(struct ts_buf *out, uint64_t id,
			       const struct ts_remote_request *request)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_put_i64(&json, "id", (int64_t)id);
	client_put_text(&json, "op", request->op);
	if (!request->url)
		ts_json_put_i64(&json, "version", (int64_t)VERSION);
	client_put_text(&json, "url", request->url);
	if (request->is_recursive)
		ts_json_put_bool(&json, "recursive", true);
	if (request->has_size)
		ts_json_put_i64(&json, "size", (int64_t)request->size);
	if (strcmp(request->op, "read") == 0) {
		ts_json_put_i64(&json, "offset", (int64_t)request->offset);
		ts_json_put_i64(&json, "at", (int64_t)request->at);
	}
	client_put_text(&json, "file", request->file);
	client_put_text(&json, "generation", request->generation);
	client_put_text(&json, "if_generation", request->if_generation);
	ts_json_object_end(&json);
	ts_buf_putc(out, '\n');
}

static bool client_write_all(int fd, struct ts_bytes bytes)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno != EINTR)
			return false;
		bytes = ts_bytes_cut(bytes, n > 0 ? (size_t)n : 0, bytes.n);
	}
	return true;
}

void ts_client_send(struct ts_client *client, struct ts_remote_call *call,
		    const struct ts_remote_request *request)
{
	struct ts_buf line = TS_BUF_INIT;

	TS_ASSERT(client && call && request && request->op);
	pthread_mutex_lock(&client->lock);
	if (!client->has_thread && !client->is_dead)
		client->has_thread =
			pthread_create(&client->thread, NULL, client_read_all, client) == 0;
	if (!client->has_thread)
		die(client, "cannot be read from: no thread can be made");
	call->id = ++client->last_id;
	call->is_done = false;
	call->heard_ms = ts_now_ms();
	client_put_request(&line, call->id, request);
	if (line.failed || client->is_dead) {
		call->status = line.failed ? TS_NOMEM : TS_IO;
		call->is_done = true;
		call->reply = (struct ts_remote_reply){ .kind = TS_REMOTE_FAILED };
	} else {
		call->next = client->calls;
		client->calls = call;
		/* what cannot be written will be noticed by the thread that reads */
		(void)client_write_all(client->helper.to, ts_buf_bytes(&line));
	}
	pthread_mutex_unlock(&client->lock);
	ts_buf_release(&line);
}

enum ts_status ts_client_wait(struct ts_client *client, struct ts_remote_call *call,
			      const char *url, struct ts_error *err)
{
	TS_ASSERT(client && call);
	pthread_mutex_lock(&client->lock);
	while (!call->is_done)
		ts_doze(&client->news, &client->lock, ts_now_ms() + LOOK_MS);
	pthread_mutex_unlock(&client->lock);
	if (call->status == TS_NOMEM)
		return ts_fail_nomem(err);
	if (call->status == TS_OK)
		return TS_OK;
	if (call->reply.text)
		return ts_fail(err, call->status, "%s: %s", url, call->reply.text);
	if (client->is_dead)
		return ts_fail(err, TS_IO, "%s: %s", url, client->why.text);
	return ts_fail(err, call->status, "%s: the store refuses it (run it again)", url);
}

enum ts_status ts_client_ask(struct ts_client *client, struct ts_remote_call *call,
			     const struct ts_remote_request *request, struct ts_error *err)
{
	const char *url = request->url ? request->url : client->helper.url;

	ts_client_send(client, call, request);
	return ts_client_wait(client, call, url, err);
}

size_t ts_client_jobs(struct ts_client *client, struct ts_error *err)
{
	struct ts_remote_call call = TS_REMOTE_CALL_INIT;

	TS_ASSERT(client);
	if (client->jobs > 0)
		return client->jobs;
	if (ts_client_ask(client, &call, &(struct ts_remote_request){ .op = "hello" }, err) ==
	    TS_OK) {
		client->jobs = TS_MIN(TS_MAX(call.reply.jobs, 1), TS_REMOTE_MAX_JOBS);
		if (call.reply.version != VERSION) {
			ts_fail(err, TS_UNSUPPORTED,
				"%s: %s speaks another version of the protocol (install both anew)",
				client->helper.url, client->helper.program);
			client->jobs = 0;
		}
	}
	ts_remote_call_release(&call);
	return client->jobs;
}

void ts_remote_call_release(struct ts_remote_call *call)
{
	TS_ASSERT(call);
	ts_arena_release(&call->arena);
}
