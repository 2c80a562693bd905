/* SPDX-License-Identifier: MIT */
/* Which client gives way, and when: on pairs of sockets. */
#include "tests/test.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "serve/clients.h"

#define NR 4
#define NEVER_MS 3600000

static const struct ts_clients_limits patient = { NR, NEVER_MS, NEVER_MS, 1 };

struct peer {
	int ours, theirs;
	struct ts_client *client;
};

static void come(struct ts_clients *clients, struct peer *peer)
{
	int both[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
	peer->theirs = both[0];
	peer->ours = both[1];
	peer->client = ts_clients_enter(clients, peer->ours);
	assert_non_null(peer->client);
}

static void go(struct ts_clients *clients, struct peer *peer)
{
	ts_clients_leave(clients, peer->client);
	close(peer->ours);
	close(peer->theirs);
}

/* Was it shut down, at the latest after WITHIN_MS? */
static bool is_cut(const struct peer *peer, int within_ms)
{
	struct pollfd ready = { peer->theirs, POLLIN, 0 };
	char c;

	return poll(&ready, 1, within_ms) == 1 && recv(peer->theirs, &c, 1, MSG_DONTWAIT) == 0;
}

static size_t count_cut(const struct peer *peers, size_t nr)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += is_cut(&peers[i], 0);
	return n;
}

TEST(the_one_that_asks_for_longest_gives_way)
{
	struct ts_clients *clients = ts_clients_new(&patient);
	struct peer peers[NR + 2];

	for (size_t i = 0; i < NR; i++)
		come(clients, &peers[i]);
	assert_int_equal(count_cut(peers, NR), 0);
	ts_clients_turn(clients, peers[0].client, TS_CLIENT_TAKES, 0);
	come(clients, &peers[NR]);
	assert_true(is_cut(&peers[1], 0));
	usleep(2000); /* it asks anew, and so is the last of those that ask */
	ts_clients_turn(clients, peers[2].client, TS_CLIENT_ASKS, 0);
	come(clients, &peers[NR + 1]);
	assert_true(is_cut(&peers[3], 0));
	assert_int_equal(count_cut(peers, NR + 2), 2);
	for (size_t i = 0; i < NR + 2; i++)
		go(clients, &peers[i]);
	ts_clients_free(clients);
}

TEST(one_that_takes_gives_way_when_no_client_asks_and_others_never)
{
	static const enum ts_client_state states[NR] = { TS_CLIENT_WAITS, TS_CLIENT_LISTENS,
							 TS_CLIENT_TAKES, TS_CLIENT_WAITS };
	struct ts_clients *clients = ts_clients_new(&patient);
	struct peer peers[NR + 2];

	for (size_t i = 0; i < NR; i++) {
		come(clients, &peers[i]);
		ts_clients_turn(clients, peers[i].client, states[i], 0);
	}
	come(clients, &peers[NR]);
	assert_true(is_cut(&peers[2], 0));
	ts_clients_turn(clients, peers[NR].client, TS_CLIENT_WAITS, 0);
	come(clients, &peers[NR + 1]); /* there is none to give way: it comes in nevertheless */
	assert_int_equal(count_cut(peers, NR + 2), 1);
	for (size_t i = 0; i < NR + 2; i++)
		go(clients, &peers[i]);
	ts_clients_free(clients);
}

TEST(a_place_that_is_left_is_free)
{
	struct ts_clients *clients = ts_clients_new(&patient);
	struct peer kept[NR - 1], other;

	for (size_t i = 0; i < NR - 1; i++)
		come(clients, &kept[i]);
	for (int i = 0; i < 100; i++) {
		come(clients, &other);
		go(clients, &other);
	}
	assert_int_equal(count_cut(kept, NR - 1), 0);
	for (size_t i = 0; i < NR - 1; i++)
		go(clients, &kept[i]);
	ts_clients_free(clients);
}

TEST(a_deadline_ends_a_request_and_an_answer_but_no_work_and_no_stream)
{
	static const struct ts_clients_limits hasty = { 8, 20, 20, 1 };
	struct ts_clients *clients = ts_clients_new(&hasty);
	struct peer asks, takes, waits, listens, takes_much;

	come(clients, &waits);
	ts_clients_turn(clients, waits.client, TS_CLIENT_WAITS, 0);
	come(clients, &listens);
	ts_clients_turn(clients, listens.client, TS_CLIENT_LISTENS, 0);
	come(clients, &takes_much); /* 1 byte a ms: it has an hour */
	ts_clients_turn(clients, takes_much.client, TS_CLIENT_TAKES, NEVER_MS);
	come(clients, &takes);
	ts_clients_turn(clients, takes.client, TS_CLIENT_TAKES, 1);
	come(clients, &asks);
	assert_true(is_cut(&asks, 30000));
	assert_true(is_cut(&takes, 30000));
	assert_false(is_cut(&waits, 0) || is_cut(&listens, 0) || is_cut(&takes_much, 0));
	go(clients, &asks);
	go(clients, &takes);
	go(clients, &waits);
	go(clients, &listens);
	go(clients, &takes_much);
	ts_clients_free(clients);
}
