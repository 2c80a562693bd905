/* SPDX-License-Identifier: MIT */
/*
 * Profiler servers for tests in Python, out of fake_service.h: fake_server FILE...
 *
 * A server a FILE (an XSpace), whose port is printed, a line each. Then lines of standard input are
 * obeyed until it ends, and answered with "ok":
 *	say I FILE	server I answers with that XSpace
 *	way I WAY	and in that way (a number of enum fake_way)
 *	delay I MS	and as late as that
 *	kill I		it is gone
 *	start I		and there again, on its port
 */
#include "codec/pbw.h"
#include "io/input.h"
#include "tests/live/fake_service.h"

#define MAX_SERVERS 16
enum { RESPONSE_XSPACE = 8 };

struct server {
	struct fake_service fake;
	struct ts_buf answer;
	uint16_t port;
};

static bool load(struct ts_buf *answer, const char *path)
{
	struct ts_input input = TS_INPUT_INIT;
	struct ts_error err = TS_ERROR_INIT;

	if (ts_input_open(&input, path, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return false;
	}
	ts_buf_clear(answer);
	ts_pbw_bytes(answer, RESPONSE_XSPACE, input.bytes);
	ts_input_release(&input);
	return !answer->failed;
}

/* The text an answer is in may be on its way out: a new one has a buffer of its own. */
static bool set_answer(struct server *server, const char *path)
{
	struct ts_buf answer = TS_BUF_INIT, old = server->answer;

	if (!load(&answer, path))
		return false;
	fake_stop(&server->fake);
	server->answer = answer;
	ts_buf_release(&old);
	return fake_start(&server->fake, server->port, ts_buf_bytes(&server->answer));
}

static bool start(struct server *server)
{
	if (!fake_start(&server->fake, server->port, ts_buf_bytes(&server->answer)))
		return false;
	server->port = server->fake.port;
	return true;
}

static bool obey(struct server *servers, const char *line)
{
	char word[16], text[1024] = "";
	unsigned i;

	if (sscanf(line, "%15s %u %1023s", word, &i, text) < 2 || i >= MAX_SERVERS)
		return false;
	if (strcmp(word, "say") == 0)
		return set_answer(&servers[i], text);
	if (strcmp(word, "way") == 0)
		atomic_store(&servers[i].fake.way, (int)strtol(text, NULL, 10));
	if (strcmp(word, "delay") == 0)
		atomic_store(&servers[i].fake.delay_ms, (unsigned)strtoul(text, NULL, 10));
	if (strcmp(word, "kill") == 0)
		fake_stop(&servers[i].fake);
	return strcmp(word, "start") != 0 || start(&servers[i]);
}

int main(int argc, char **argv)
{
	static struct server servers[MAX_SERVERS];
	char line[1200];

	for (int i = 0; i < argc - 1 && i < MAX_SERVERS; i++) {
		if (!load(&servers[i].answer, argv[i + 1]) || !start(&servers[i]))
			return 1;
		printf("%u\n", servers[i].port);
	}
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!obey(servers, line))
			return 1;
		puts("ok");
		fflush(stdout);
	}
	return 0;
}
