/* SPDX-License-Identifier: MIT */
/* Events to many readers: what is kept, which readers are cut off, and the way through the
 * server. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/news.h"

enum { SAMPLE, ALERT };
static const struct ts_news_kind kinds[] = { { "sample", 4 }, { "alert", 2 } };
#define BUSY_MS 30000 /* half of what a client is waited for: a busy machine takes less */

static const struct ts_news_options small = { kinds, 2, 4096, 3, 60000 };

/* A request that has nothing but what a test gives it. */
struct asked {
	struct ts_request request; /* first */
	const char *last_event_id, *after;
};

static const char *header_of(const struct ts_request *request, const char *name)
{
	const struct asked *asked = (const struct asked *)request;

	return strcmp(name, "Last-Event-ID") == 0 ? asked->last_event_id : NULL;
}

static const char *argument_of(const struct ts_request *request, const char *name)
{
	const struct asked *asked = (const struct asked *)request;

	return strcmp(name, "after") == 0 ? asked->after : NULL;
}

static struct ts_source open_reader(struct ts_news *news, const char *last_event_id,
				    const char *after)
{
	struct asked asked = { { "/api/live", argument_of, header_of, NULL },
			       last_event_id,
			       after };
	struct ts_answer answer = ts_news_answer(news, &asked.request);

	assert_int_equal(answer.status, 200);
	assert_string_equal(answer.type, "text/event-stream");
	assert_non_null(answer.source.read);
	return answer.source;
}

static void drop(struct ts_source *source)
{
	source->drop(source->ctx);
}

static enum ts_source_state read_some(struct ts_source *source, struct ts_buf *out, size_t cap)
{
	char piece[65536];
	size_t n = 0;
	enum ts_source_state state =
		source->read(source->ctx, piece, TS_MIN(cap, sizeof(piece)), &n);

	ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)piece, n });
	return state;
}

/* The data of all events in the text, a blank behind each: "s1 a1 ". */
static const char *data_of(const struct ts_buf *text)
{
	static char out[65536];
	size_t n = 0;
	struct ts_bytes left = ts_buf_bytes(text);

	out[0] = '\0';
	while (left.n > 0) {
		const uint8_t *end = memchr(left.p, '\n', left.n);
		size_t line = end ? (size_t)(end - left.p) : left.n;

		if (line > 6 && memcmp(left.p, "data: ", 6) == 0)
			n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s ", (int)(line - 6),
					      (const char *)left.p + 6);
		left = ts_bytes_cut(left, line + (end != NULL), left.n);
	}
	return out;
}

/* What it gets at once; it must not be cut off. */
static void must_get(struct ts_source *source, const char *data)
{
	struct ts_buf text = TS_BUF_INIT;

	assert_int_equal(read_some(source, &text, 65536), TS_SOURCE_MORE);
	assert_string_equal(data_of(&text), data);
	ts_buf_release(&text);
}

static void add(struct ts_news *news, size_t kind, const char *format, int number)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_printf(&text, "%s%d", format, number);
	assert_int_equal(ts_news_add(news, kind, ts_buf_bytes(&text), NULL), TS_OK);
	ts_buf_release(&text);
}

TEST(a_reader_that_comes_later_gets_the_past_first)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source early = open_reader(news, NULL, NULL), late;

	add(news, SAMPLE, "s", 1);
	must_get(&early, "s1 ");
	add(news, ALERT, "a", 1);
	add(news, SAMPLE, "s", 2);
	late = open_reader(news, NULL, NULL);
	must_get(&late, "s1 a1 s2 ");
	must_get(&early, "a1 s2 ");
	add(news, SAMPLE, "s", 3);
	must_get(&late, "s3 ");
	drop(&early);
	drop(&late);
	ts_news_free(news);
}

/* The form that browsers read: a field a line, an empty line behind each event. */
TEST(events_have_an_id_a_name_and_their_text)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source source = open_reader(news, NULL, NULL);
	struct ts_buf text = TS_BUF_INIT;
	uint64_t first = 0, second = 0;
	int end = 0;

	add(news, ALERT, "{}", 7);
	add(news, SAMPLE, "{}", 8);
	read_some(&source, &text, 65536);
	ts_buf_putc(&text, '\0');
	sscanf((const char *)text.p,
	       "retry: 1000\n\nid: %" SCNu64 "\nevent: alert\ndata: {}7\n\nid: %" SCNu64
	       "\nevent: sample\ndata: {}8\n\n%n",
	       &first, &second, &end);
	assert_int_equal(end, text.n - 1);
	assert_int_equal(second, first + 1);
	assert_true(second < UINT64_C(1) << 53);
	ts_buf_release(&text);
	drop(&source);
	ts_news_free(news);
}

TEST(of_each_kind_so_many_are_kept)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source source;

	for (int i = 1; i <= 3; i++)
		add(news, ALERT, "a", i);
	for (int i = 1; i <= 9; i++)
		add(news, SAMPLE, "s", i);
	source = open_reader(news, NULL, NULL);
	must_get(&source, "a2 a3 s6 s7 s8 s9 ");
	drop(&source);
	ts_news_free(news);
}

TEST(all_together_are_bounded_in_bytes)
{
	static const struct ts_news_options options = { kinds, 2, 400, 3, 60000 };
	struct ts_news *news = ts_news_new(&options);
	struct ts_source source;
	struct ts_buf text = TS_BUF_INIT;
	char line[401] = "";

	memset(line, 'x', sizeof(line) - 1);
	assert_int_equal(ts_news_add(news, SAMPLE, ts_bytes_of(line), NULL),
			 TS_LIMIT); /* more than all may be */
	line[100] = '\0';
	for (char c = 'a'; c <= 'd'; c++) { /* with what is around them two fit, three do not */
		line[0] = c;
		assert_int_equal(ts_news_add(news, SAMPLE, ts_bytes_of(line), NULL), TS_OK);
	}
	source = open_reader(news, NULL, NULL);
	read_some(&source, &text, 65536);
	assert_in_range(text.n, 200, 400 + strlen("retry: 1000\n\n"));
	assert_non_null(strstr(data_of(&text), "cxx"));
	assert_non_null(strstr(data_of(&text), "dxx"));
	assert_null(strchr(data_of(&text), 'b'));
	ts_buf_release(&text);
	drop(&source);
	ts_news_free(news);
}

/* The id of the event with this text, as a reader sees it. */
static void id_of(struct ts_news *news, const char *data, char out[32])
{
	struct ts_source source = open_reader(news, NULL, NULL);
	struct ts_buf text = TS_BUF_INIT;
	char *at, *id;

	read_some(&source, &text, 65536);
	ts_buf_putc(&text, '\0');
	at = strstr((char *)text.p, data);
	assert_non_null(at);
	id = (char *)text.p;
	for (char *next = id; next && next < at; next = strstr(next + 1, "id: "))
		id = next;
	snprintf(out, 32, "%.*s", (int)strcspn(id + 4, "\n"), id + 4);
	ts_buf_release(&text);
	drop(&source);
}

TEST(a_reader_that_comes_back_goes_on_behind_its_last_event)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source source;
	char id[32];

	for (int i = 1; i <= 3; i++)
		add(news, SAMPLE, "s", i);
	id_of(news, "data: s2", id);
	source = open_reader(news, id, NULL);
	must_get(&source, "s3 ");
	drop(&source);
	source = open_reader(news, NULL, id);
	must_get(&source, "s3 ");
	drop(&source);
	for (int i = 4; i <= 9;
	     i++) /* what lies between is not kept any more: with what there is */
		add(news, SAMPLE, "s", i);
	source = open_reader(news, id, NULL);
	must_get(&source, "s6 s7 s8 s9 ");
	drop(&source);
	ts_news_free(news);
}

TEST(ids_of_others_mean_nothing)
{
	static const char *const ids[] = { "",
					   "0",
					   "1",
					   "x",
					   "-1",
					   "9007199254740991",
					   "18446744073709551615",
					   "99999999999999999999999" };
	struct ts_news *news = ts_news_new(&small);

	add(news, SAMPLE, "s", 1);
	add(news, SAMPLE, "s", 2);
	for (size_t i = 0; i < TS_NELEM(ids); i++) {
		struct ts_source source = open_reader(news, ids[i], NULL);

		must_get(&source, "s1 s2 ");
		drop(&source);
	}
	ts_news_free(news);
}

TEST(ids_rise_from_one_life_to_the_next)
{
	struct ts_news *news = ts_news_new(&small);
	int64_t begin_us = ts_unix_us();
	struct ts_source source;
	char id[32];

	add(news, SAMPLE, "s", 1);
	id_of(news, "data: s1", id);
	ts_news_free(news);
	while (ts_unix_us() <= begin_us) /* all this may take less than a microsecond */
		;
	news = ts_news_new(&small);
	add(news, SAMPLE, "t", 1);
	source = open_reader(news, id, NULL);
	must_get(&source, "t1 ");
	drop(&source);
	ts_news_free(news);
}

TEST(only_a_reader_that_is_too_slow_is_cut_off)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source slow, quick, within;
	struct ts_buf text = TS_BUF_INIT;

	for (int i = 1; i <= 4; i++)
		add(news, SAMPLE, "s", i);
	slow = open_reader(news, NULL, NULL);
	quick = open_reader(news, NULL, NULL);
	must_get(&quick, "s1 s2 s3 s4 ");
	for (int i = 5; i <= 8; i++) { /* the past is dropped, which is not a loss yet */
		add(news, SAMPLE, "s", i);
		must_get(&quick, i == 5 ? "s5 " : i == 6 ? "s6 " : i == 7 ? "s7 " : "s8 ");
	}
	within = open_reader(news, NULL, NULL);
	assert_int_equal(read_some(&within, &text, 20), TS_SOURCE_MORE); /* in the middle of s5 */
	add(news, SAMPLE, "s", 9); /* lets s5 go, which slow was to have */
	assert_int_equal(read_some(&slow, &text, 65536), TS_SOURCE_BROKEN);
	assert_int_equal(read_some(&slow, &text, 65536), TS_SOURCE_BROKEN);
	assert_int_equal(read_some(&within, &text, 65536), TS_SOURCE_BROKEN);
	must_get(&quick, "s9 ");
	drop(&slow);
	drop(&quick);
	drop(&within);
	ts_buf_release(&text);
	ts_news_free(news);
}

TEST(in_small_pieces_it_is_the_same)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source whole = open_reader(news, NULL, NULL);
	struct ts_source pieces = open_reader(news, NULL, NULL);
	struct ts_buf a = TS_BUF_INIT, b = TS_BUF_INIT;

	for (int i = 1; i <= 4; i++)
		add(news, SAMPLE, "some text of sample ", i);
	read_some(&whole, &a, 65536);
	while (b.n < a.n)
		assert_int_equal(read_some(&pieces, &b, 1 + b.n % 13), TS_SOURCE_MORE);
	assert_int_equal(b.n, a.n);
	assert_memory_equal(a.p, b.p, a.n);
	ts_buf_release(&a);
	ts_buf_release(&b);
	drop(&whole);
	drop(&pieces);
	ts_news_free(news);
}

TEST(when_nothing_happens_a_comment_comes)
{
	struct ts_news_options options = small;
	struct ts_news *news;
	struct ts_source source;
	struct ts_buf text = TS_BUF_INIT;

	options.quiet_ms = 10;
	news = ts_news_new(&options);
	source = open_reader(news, NULL, NULL);
	read_some(&source, &text, 65536);
	ts_buf_clear(&text);
	assert_int_equal(read_some(&source, &text, 65536), TS_SOURCE_MORE);
	assert_int_equal(text.n, 3);
	assert_memory_equal(text.p, ":\n\n", 3);
	ts_buf_release(&text);
	drop(&source);
	ts_news_free(news);
}

TEST(readers_have_a_limit)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source sources[3];
	struct asked asked = { { "/api/live", argument_of, header_of, NULL }, NULL, NULL };
	struct ts_answer answer;

	for (size_t i = 0; i < 3; i++)
		sources[i] = open_reader(news, NULL, NULL);
	answer = ts_news_answer(news, &asked.request);
	assert_int_equal(answer.status, 503);
	assert_null(answer.source.read);
	ts_body_drop(answer.body);
	drop(&sources[1]);
	sources[1] = open_reader(news, NULL, NULL);
	for (size_t i = 0; i < 3; i++)
		drop(&sources[i]);
	ts_news_free(news);
}

static void *read_to_the_end(void *arg)
{
	struct ts_source *source = arg;
	static struct ts_buf text;

	while (read_some(source, &text, 65536) == TS_SOURCE_MORE)
		;
	assert_string_equal(data_of(&text), "s1 s2 ");
	ts_buf_release(&text);
	drop(source);
	return NULL;
}

TEST(the_end_comes_behind_the_last_event_and_does_not_wait_long)
{
	struct ts_news *news = ts_news_new(&small);
	struct ts_source reads = open_reader(news, NULL, NULL);
	struct ts_source sleeps = open_reader(news, NULL, NULL), late;
	struct ts_buf text = TS_BUF_INIT;
	pthread_t thread;
	int64_t begin_ms;

	assert_int_equal(pthread_create(&thread, NULL, read_to_the_end, &reads), 0);
	add(news, SAMPLE, "s", 1);
	add(news, SAMPLE, "s", 2);
	begin_ms = ts_now_ms();
	ts_news_close(news, 200);
	assert_in_range(ts_now_ms() - begin_ms, 190, BUSY_MS);
	pthread_join(thread, NULL);
	drop(&sleeps);
	begin_ms = ts_now_ms();
	ts_news_close(news, 60000); /* there are no readers any more */
	assert_in_range(ts_now_ms() - begin_ms, 0, BUSY_MS);
	late = open_reader(news, NULL, NULL);
	must_get(&late, "s1 s2 ");
	assert_int_equal(read_some(&late, &text, 65536), TS_SOURCE_END);
	drop(&late);
	ts_buf_release(&text);
	ts_news_free(news);
}

/* Through the server: sockets, as browsers and worse have them. */
struct served {
	struct ts_news *news;
	struct ts_server *server;
};

static struct ts_answer answer_news(void *ctx, const struct ts_request *request)
{
	return ts_news_answer(ctx, request);
}

static void serve(struct served *served, const struct ts_news_options *options)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_server_options how = { .answer = answer_news };

	how.ctx = served->news = ts_news_new(options);
	assert_int_equal(ts_server_start(&served->server, &how, &err), TS_OK);
}

static int ask(const struct served *served, const char *host, const char *more)
{
	uint16_t port = ts_server_port(served->server);
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), few = 4096;
	char request[512];

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	snprintf(request, sizeof(request), "GET /api/live HTTP/1.1\r\nHost: %s:%u\r\n%s\r\n", host,
		 port, more);
	assert_int_equal(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
	return fd;
}

/* Reads until WORD came. False: the connection is over, or nothing came for so long. */
static bool wait_for(int fd, struct ts_buf *text, const char *word)
{
	for (;;) {
		struct pollfd ready = { fd, POLLIN, 0 };
		char piece[4096];
		ssize_t n;

		if (text->n > 0 && memmem(text->p, text->n, word, strlen(word)))
			return true;
		if (poll(&ready, 1, BUSY_MS) != 1)
			return false;
		n = recv(fd, piece, sizeof(piece), 0);
		if (n <= 0)
			return false;
		ts_buf_put(text, (struct ts_bytes){ (const uint8_t *)piece, (size_t)n });
	}
}

static void must_answer(const struct served *served, const char *host, const char *more,
			const char *word)
{
	struct ts_buf text = TS_BUF_INIT;
	int fd = ask(served, host, more);

	assert_true(wait_for(fd, &text, word));
	ts_buf_release(&text);
	close(fd);
}

static void stop(struct served *served)
{
	ts_news_close(served->news, 200);
	ts_server_stop(served->server);
	ts_news_free(served->news);
}

TEST(other_hosts_and_origins_get_nothing)
{
	static const struct ts_news_options options = { kinds, 2, 4096, 64, 60000 };
	struct served served;

	serve(&served, &options);
	add(served.news, SAMPLE, "s", 1);
	must_answer(&served, "127.0.0.1", "", "data: s1");
	must_answer(&served, "localhost", "", "data: s1");
	must_answer(&served, "127.0.0.1", "", "X-Content-Type-Options: nosniff");
	must_answer(&served, "127.0.0.1", "", "Content-Security-Policy: default-src 'none'");
	must_answer(&served, "127.0.0.1", "", "Content-Type: text/event-stream");
	must_answer(&served, "evil.example", "", "403 Forbidden");
	must_answer(&served, "127.0.0.1", "Origin: http://evil.example\r\n", "403 Forbidden");
	must_answer(&served, "127.0.0.1", "Origin: null\r\n", "403 Forbidden");
	must_answer(&served, "127.0.0.1", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n",
		    "403 Forbidden");
	stop(&served);
}

#define NR_LARGE 3000 /* events, more than all buffers of the system between us hold */

TEST(a_client_that_takes_nothing_is_cut_off_and_holds_up_no_other)
{
	static const struct ts_news_kind few[] = { { "sample", 8 } };
	static const struct ts_news_options options = { few, 1, 1 << 20, 4, 60000 };
	struct served served;
	struct ts_buf text = TS_BUF_INIT, rest = TS_BUF_INIT;
	static char large[16384];
	int takes, stalls;
	int64_t begin_ms;

	memset(large, 'x', sizeof(large) - 1);
	serve(&served, &options);
	stalls = ask(&served, "127.0.0.1", "");
	takes = ask(&served, "127.0.0.1", "");
	assert_true(wait_for(takes, &text, "retry: "));
	for (int i = 0; i < NR_LARGE; i++) {
		snprintf(large, 16, "%015d", i);
		large[15] = 'x';
		assert_int_equal(ts_news_add(served.news, 0, ts_bytes_of(large), NULL), TS_OK);
		ts_buf_clear(&text);
		large[15] = '\0';
		assert_true(wait_for(takes, &text, large));
		large[15] = 'x';
	}
	assert_false(wait_for(stalls, &rest, "000000000002999")); /* it ends before */
	begin_ms = ts_now_ms();
	stop(&served);
	assert_in_range(ts_now_ms() - begin_ms, 0, BUSY_MS);
	close(takes);
	close(stalls);
	ts_buf_release(&text);
	ts_buf_release(&rest);
}

TEST(it_stops_at_once_and_the_last_word_arrives)
{
	struct served served;
	struct ts_buf text = TS_BUF_INIT;
	int64_t begin_ms;
	int fds[3];

	serve(&served, &small);
	for (size_t i = 0; i < 3; i++) {
		fds[i] = ask(&served, "127.0.0.1", "");
		ts_buf_clear(&text);
		assert_true(wait_for(fds[i], &text, "retry: "));
	}
	begin_ms = ts_now_ms();
	add(served.news, SAMPLE, "the end ", 1);
	stop(&served);
	assert_in_range(ts_now_ms() - begin_ms, 0, BUSY_MS);
	for (size_t i = 0; i < 3; i++) {
		ts_buf_clear(&text);
		assert_true(wait_for(fds[i], &text, "the end 1"));
		assert_true(wait_for(fds[i], &text, "\r\n0\r\n\r\n")); /* whole, as HTTP has it */
		close(fds[i]);
	}
	ts_buf_release(&text);
}
