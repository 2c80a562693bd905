/* SPDX-License-Identifier: MIT */
/* The places are a list under one lock; a thread looks for deadlines that have passed. */
#include "serve/clients.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"

struct ts_client {
	struct ts_client *before, *after;
	enum ts_client_state state;
	bool is_cut;
	int fd;
	int64_t since_ms, until_ms; /* in this state; until 0: no deadline */
};

struct ts_clients {
	struct ts_clients_limits limits;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	pthread_t sweeper;
	struct ts_client *first;
	size_t nr_held; /* that are not cut */
	bool is_ended;
};

/* To be called with the lock held, as the next functions. */
static void clients_cut(struct ts_clients *clients, struct ts_client *client)
{
	TS_ASSERT(!client->is_cut && clients->nr_held > 0);
	client->is_cut = true;
	clients->nr_held--;
	shutdown(client->fd, SHUT_RDWR);
}

/* Of those in STATE, the one that has been in it the longest; NULL: there is none. */
static struct ts_client *find_oldest(struct ts_clients *clients, enum ts_client_state state)
{
	struct ts_client *oldest = NULL;

	for (struct ts_client *c = clients->first; c; c = c->after)
		if (!c->is_cut && c->state == state &&
		    (!oldest || c->since_ms <= oldest->since_ms)) /* later in the list is earlier */
			oldest = c;
	return oldest;
}

static void clients_make_room(struct ts_clients *clients)
{
	struct ts_client *oldest;

	if (clients->nr_held < clients->limits.max_clients)
		return;
	oldest = find_oldest(clients, TS_CLIENT_ASKS);
	if (!oldest)
		oldest = find_oldest(clients, TS_CLIENT_TAKES);
	if (oldest)
		clients_cut(clients, oldest);
}

/* A doze ends after a second at most, which is fine enough for deadlines of many seconds. */
static void *keep_deadlines(void *arg)
{
	struct ts_clients *clients = arg;
	int64_t pace_ms = TS_MIN(clients->limits.ask_ms, clients->limits.take_ms) / 4 + 1;

	pthread_mutex_lock(&clients->lock);
	while (!clients->is_ended) {
		int64_t now_ms = ts_now_ms();

		for (struct ts_client *c = clients->first; c; c = c->after)
			if (!c->is_cut && c->until_ms > 0 && c->until_ms <= now_ms)
				clients_cut(clients, c);
		ts_doze(&clients->ended, &clients->lock, now_ms + pace_ms);
	}
	pthread_mutex_unlock(&clients->lock);
	return NULL;
}

struct ts_clients *ts_clients_new(const struct ts_clients_limits *limits)
{
	TS_ASSERT(limits != NULL && limits->max_clients > 0);
	TS_ASSERT(limits->ask_ms > 0 && limits->take_ms > 0 && limits->bytes_per_ms > 0);

	struct ts_clients *clients = calloc(1, sizeof(*clients));

	if (!clients)
		return NULL;
	clients->limits = *limits;
	if (pthread_mutex_init(&clients->lock, NULL) != 0)
		goto no_lock;
	if (pthread_cond_init(&clients->ended, NULL) != 0)
		goto no_ended;
	if (pthread_create(&clients->sweeper, NULL, keep_deadlines, clients) != 0)
		goto no_sweeper;
	return clients;
no_sweeper:
	pthread_cond_destroy(&clients->ended);
no_ended:
	pthread_mutex_destroy(&clients->lock);
no_lock:
	free(clients);
	return NULL;
}

void ts_clients_free(struct ts_clients *clients)
{
	if (!clients)
		return;
	TS_ASSERT(clients->first == NULL);
	pthread_mutex_lock(&clients->lock);
	clients->is_ended = true;
	pthread_cond_signal(&clients->ended);
	pthread_mutex_unlock(&clients->lock);
	pthread_join(clients->sweeper, NULL);
	pthread_cond_destroy(&clients->ended);
	pthread_mutex_destroy(&clients->lock);
	free(clients);
}

/* To be called with the lock held. */
static void clients_turn(const struct ts_clients *clients, struct ts_client *client,
			 enum ts_client_state state, uint64_t nr_bytes)
{
	const struct ts_clients_limits *limits = &clients->limits;
	const int64_t times_ms[] = {
		[TS_CLIENT_ASKS] = limits->ask_ms,
		[TS_CLIENT_TAKES] = limits->take_ms + (int64_t)(nr_bytes / limits->bytes_per_ms),
		[TS_CLIENT_WAITS] = 0,
		[TS_CLIENT_LISTENS] = 0,
	};

	TS_ASSERT((size_t)state < TS_NELEM(times_ms));
	client->state = state;
	client->since_ms = ts_now_ms();
	client->until_ms = times_ms[state] > 0 ? client->since_ms + times_ms[state] : 0;
}

struct ts_client *ts_clients_enter(struct ts_clients *clients, int fd)
{
	TS_ASSERT(clients != NULL && fd >= 0);

	struct ts_client *client = calloc(1, sizeof(*client));

	if (!client) {
		shutdown(fd, SHUT_RDWR);
		return NULL;
	}
	pthread_mutex_lock(&clients->lock);
	clients_make_room(clients);
	client->fd = fd;
	client->after = clients->first;
	if (client->after)
		client->after->before = client;
	clients->first = client;
	clients->nr_held++;
	clients_turn(clients, client, TS_CLIENT_ASKS, 0);
	pthread_mutex_unlock(&clients->lock);
	return client;
}

void ts_clients_leave(struct ts_clients *clients, struct ts_client *client)
{
	TS_ASSERT(clients != NULL);
	if (!client)
		return;
	pthread_mutex_lock(&clients->lock);
	clients->nr_held -= !client->is_cut;
	if (client->before)
		client->before->after = client->after;
	else
		clients->first = client->after;
	if (client->after)
		client->after->before = client->before;
	pthread_mutex_unlock(&clients->lock);
	free(client);
}

void ts_clients_turn(struct ts_clients *clients, struct ts_client *client,
		     enum ts_client_state state, uint64_t nr_bytes)
{
	TS_ASSERT(clients != NULL && client != NULL);
	pthread_mutex_lock(&clients->lock);
	clients_turn(clients, client, state, nr_bytes);
	pthread_mutex_unlock(&clients->lock);
}
