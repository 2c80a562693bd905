/* SPDX-License-Identifier: MIT */
/*
 * A server for tests that speaks as much HTTP/2 as one gRPC call needs (RFC 9113, RFC 7541 without
 * Huffman codes), and answers as the test wants it to: well, badly, slowly, or not at all.
 *
 * One thread; a connection serves any number of calls. When there is a new one it is served, and
 * those before it stay open until the client closes them, or the server ends.
 */
#ifndef TESTS_LIVE_FAKE_SERVICE_H
#define TESTS_LIVE_FAKE_SERVICE_H

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "codec/pb.h"
#include "io/file.h"

enum fake_way {
	FAKE_ANSWER,	  /* the message, framed, status 0 */
	FAKE_RAW,	  /* the body as it is given */
	FAKE_STATUS,	  /* no message, but .status and .words */
	FAKE_NO_TRAILERS, /* the message, and the end without a status */
	FAKE_HTTP_500,
	FAKE_HANG_UP, /* when the request is there */
	FAKE_CUT,     /* in the middle of the body */
	FAKE_SILENT,  /* never */
	FAKE_ENDLESS, /* a body without an end */
	FAKE_GARBAGE, /* bytes that are not HTTP/2 */
	FAKE_HEADERS, /* far too many headers */
	FAKE_FILE, /* as XLA before emit_xspace: the message is a file's, where the request says, or
		    * the call fails when the folder cannot be made */
};

#define FAKE_MAX_PARKED 64

struct fake_service {
	int listener;
	int parked[FAKE_MAX_PARKED]; /* connections that are open and not served any more */
	size_t nr_parked;
	uint16_t port;
	pthread_t thread;
	atomic_bool stop;
	atomic_uint nr_calls, nr_connections;
	atomic_int way;		 /* enum fake_way */
	atomic_uint delay_ms;	 /* before it answers; may be changed while it waits */
	struct ts_bytes message; /* or the raw body; changed only between calls */
	const char *status, *words;
	struct ts_buf request; /* of the last call */
	uint8_t body[1 << 16]; /* of the frame that is read */
	pthread_mutex_t lock;  /* of the request and the message */
};

static inline bool fake_send(int fd, const void *p, size_t n)
{
	const uint8_t *at = p;

	while (n > 0) {
		ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		at += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* False: the connection or the server is over, or somebody else connects. */
static inline bool fake_receive(struct fake_service *fake, int fd, void *p, size_t n)
{
	uint8_t *at = p;

	while (n > 0) {
		struct pollfd ready[2] = { { fd, POLLIN, 0 }, { fake->listener, POLLIN, 0 } };
		ssize_t got;

		if (atomic_load(&fake->stop))
			return false;
		if (poll(ready, 2, 20) == 0)
			continue;
		if (!ready[0].revents)
			return false;
		got = recv(fd, at, n, 0);
		if (got <= 0)
			return false;
		at += got;
		n -= (size_t)got;
	}
	return true;
}

static inline bool fake_frame(int fd, uint8_t type, uint8_t flags, uint32_t stream, const void *p,
			      size_t n)
{
	uint8_t head[9] = { (uint8_t)(n >> 16),
			    (uint8_t)(n >> 8),
			    (uint8_t)n,
			    type,
			    flags,
			    (uint8_t)(stream >> 24),
			    (uint8_t)(stream >> 16),
			    (uint8_t)(stream >> 8),
			    (uint8_t)stream };

	return fake_send(fd, head, sizeof(head)) && fake_send(fd, p, n);
}

static inline void fake_field(struct ts_buf *out, const char *name, const char *value)
{
	ts_buf_putc(out, 0); /* a literal that is not indexed */
	ts_buf_putc(out, (char)strlen(name));
	ts_buf_puts(out, name);
	ts_buf_putc(out, (char)strlen(value));
	ts_buf_puts(out, value);
}

enum { FAKE_DATA = 0, FAKE_HEAD = 1, FAKE_SETTINGS = 4, FAKE_PING = 6 };
enum { FAKE_END_STREAM = 1, FAKE_ACK = 1, FAKE_END_HEADERS = 4 };

static inline bool fake_headers(int fd, uint32_t stream, bool error)
{
	struct ts_buf out = TS_BUF_INIT;
	bool good;

	ts_buf_putc(&out, (char)(error ? 0x8e : 0x88)); /* :status 500 or 200 */
	fake_field(&out, "content-type", "application/grpc");
	good = fake_frame(fd, FAKE_HEAD, FAKE_END_HEADERS | (error ? FAKE_END_STREAM : 0), stream,
			  out.p, out.n);
	ts_buf_release(&out);
	return good;
}

static inline bool fake_trailers(int fd, uint32_t stream, const char *status, const char *words)
{
	struct ts_buf out = TS_BUF_INIT;
	bool good;

	fake_field(&out, "grpc-status", status);
	if (words)
		fake_field(&out, "grpc-message", words);
	good = fake_frame(fd, FAKE_HEAD, FAKE_END_HEADERS | FAKE_END_STREAM, stream, out.p, out.n);
	ts_buf_release(&out);
	return good;
}

static inline bool fake_body(int fd, uint32_t stream, struct ts_bytes body, bool last)
{
	for (size_t at = 0; at < body.n || (last && at == 0); at += 16384) {
		struct ts_bytes piece = ts_bytes_cut(body, at, 16384);
		bool ends = last && at + 16384 >= body.n;

		if (!fake_frame(fd, FAKE_DATA, ends ? FAKE_END_STREAM : 0, stream, piece.p,
				piece.n))
			return false;
		if (body.n == 0)
			break;
	}
	return true;
}

static inline bool fake_message(int fd, uint32_t stream, struct ts_bytes message, size_t told,
				bool last)
{
	struct ts_buf body = TS_BUF_INIT;
	bool good;

	ts_buf_putc(&body, 0);
	for (int shift = 24; shift >= 0; shift -= 8)
		ts_buf_putc(&body, (char)(told >> shift & 255));
	ts_buf_put(&body, message);
	good = fake_body(fd, stream, ts_buf_bytes(&body), last);
	ts_buf_release(&body);
	return good;
}

/*
 * Writes the file as JAX 0.4.35 does it (SaveXSpace() of
 * xla/tsl/profiler/rpc/client/save_profile.cc): repository_root (5), session_id (6) and host_name
 * (7) of the request are joined, an empty one is left out, so the path is below the working
 * directory where there is no repository_root. False: the folder cannot be made; then nothing is
 * written, and REPOSITORY is to be named in the answer.
 */
static inline bool fake_write(struct fake_service *fake, struct ts_bytes message,
			      char repository[200])
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb =
		ts_pb_of(ts_bytes_cut(ts_buf_bytes(&fake->request), 5, fake->request.n), &error);
	char text[8][200] = { "" }, path[700];
	size_t made;
	FILE *f;

	while (ts_pb_next(&pb))
		if (pb.field < 8 && pb.wire == TS_PB_BYTES)
			snprintf(text[pb.field], sizeof(text[0]), "%.*s", TS_ARG(ts_pb_bytes(&pb)));
	for (char *at = text[7]; *at; at++)
		if (*at == ':')
			*at = '_';
	snprintf(repository, 200, "%s", text[5]);
	snprintf(path, sizeof(path), "%s%s%s%s%s.xplane.pb", text[5], text[5][0] ? "/" : "",
		 text[6], text[6][0] ? "/" : "", text[7]);
	f = ts_dir_make_for(path, 0777, &made, NULL) == TS_OK ? fopen(path, "wb") : NULL;
	if (!f)
		return false;
	fwrite(message.p, 1, message.n, f);
	return fclose(f) == 0;
}

/* The answer of a server that writes a file: an empty message, or the status INTERNAL. */
static inline bool fake_answer_file(struct fake_service *fake, int fd, uint32_t stream,
				    struct ts_bytes message)
{
	char repository[200], words[256];

	if (fake_write(fake, message, repository))
		return fake_headers(fd, stream, false) &&
		       fake_message(fd, stream, TS_LIT(""), 0, false) &&
		       fake_trailers(fd, stream, "0", NULL);
	snprintf(words, sizeof(words), "%.90s is not a directory",
		 repository); /* one byte has the length */
	return fake_headers(fd, stream, false) && fake_trailers(fd, stream, "13", words);
}

static inline bool fake_wait(struct fake_service *fake, int fd, const atomic_uint *ms)
{
	struct pollfd gone = { fd, POLLRDHUP, 0 };

	for (unsigned waited = 0; waited < atomic_load(ms); waited += 10)
		if (atomic_load(&fake->stop) || poll(&gone, 1, 10) != 0)
			return false;
	return true;
}

/* False: the connection is over. */
static inline bool fake_answer(struct fake_service *fake, int fd, uint32_t stream)
{
	static const uint8_t zeros[16384];
	static const atomic_uint minute_ms = 60000, soon_ms = 2000;
	struct ts_bytes message;
	bool good = fake_wait(fake, fd, &fake->delay_ms);

	pthread_mutex_lock(&fake->lock);
	message = fake->message;
	pthread_mutex_unlock(&fake->lock);
	if (!good)
		return false;
	switch ((enum fake_way)atomic_load(&fake->way)) {
	case FAKE_ANSWER:
		return fake_headers(fd, stream, false) &&
		       fake_message(fd, stream, message, message.n, false) &&
		       fake_trailers(fd, stream, "0", NULL);
	case FAKE_RAW:
		return fake_headers(fd, stream, false) && fake_body(fd, stream, message, false) &&
		       fake_trailers(fd, stream, "0", NULL);
	case FAKE_STATUS:
		return fake_headers(fd, stream, false) &&
		       fake_trailers(fd, stream, fake->status, fake->words);
	case FAKE_NO_TRAILERS:
		return fake_headers(fd, stream, false) &&
		       fake_message(fd, stream, message, message.n, true);
	case FAKE_HTTP_500: return fake_headers(fd, stream, true);
	case FAKE_HANG_UP:  return false;
	case FAKE_CUT:
		fake_headers(fd, stream, false);
		fake_message(fd, stream, ts_bytes_cut(message, 0, message.n / 2), message.n, false);
		return false;
	case FAKE_SILENT: return fake_wait(fake, fd, &minute_ms);
	case FAKE_ENDLESS:
		good = fake_headers(fd, stream, false);
		while (good && !atomic_load(&fake->stop))
			good = fake_frame(fd, FAKE_DATA, 0, stream, zeros, sizeof(zeros));
		return false;
	case FAKE_GARBAGE:
		fake_send(fd, "SSH-2.0-OpenSSH_9.2\r\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 37);
		return fake_wait(fake, fd, &soon_ms);
	case FAKE_HEADERS:
		good = fake_headers(fd, stream, false);
		for (int i = 0; good && i < 100000; i++)
			good = fake_trailers(fd, stream, "0", NULL);
		return false;
	case FAKE_FILE: return fake_answer_file(fake, fd, stream, message);
	}
	return false;
}

/* True: it is the server that ends the connection. */
static inline bool fake_talk(struct fake_service *fake, int fd)
{
	uint8_t preface[24], head[9];
	uint8_t *body = fake->body;

	if (!fake_receive(fake, fd, preface, sizeof(preface)) ||
	    !fake_frame(fd, FAKE_SETTINGS, 0, 0, "", 0))
		return true;
	while (fake_receive(fake, fd, head, sizeof(head))) {
		size_t n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
		uint32_t stream = (uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 |
				  (uint32_t)head[7] << 8 | head[8];

		if (n > sizeof(fake->body) || !fake_receive(fake, fd, body, n))
			return true;
		if (head[3] == FAKE_SETTINGS && !(head[4] & FAKE_ACK))
			fake_frame(fd, FAKE_SETTINGS, FAKE_ACK, 0, "", 0);
		if (head[3] == FAKE_PING && !(head[4] & FAKE_ACK))
			fake_frame(fd, FAKE_PING, FAKE_ACK, 0, body, n);
		if (head[3] != FAKE_DATA)
			continue;
		pthread_mutex_lock(&fake->lock);
		ts_buf_clear(&fake->request);
		ts_buf_put(&fake->request, (struct ts_bytes){ body, n });
		pthread_mutex_unlock(&fake->lock);
		if (!(head[4] & FAKE_END_STREAM))
			continue;
		atomic_fetch_add(&fake->nr_calls, 1);
		if (!fake_answer(fake, fd, stream))
			return true;
	}
	return false;
}

/* A connection that is over is closed; one that is not waits for its client to do so. */
static inline void fake_park(struct fake_service *fake, int fd, bool is_over)
{
	size_t nr = 0;

	for (size_t i = 0; i < fake->nr_parked; i++) {
		struct pollfd gone = { fake->parked[i], POLLRDHUP, 0 };

		if (poll(&gone, 1, 0) == 0)
			fake->parked[nr++] = fake->parked[i];
		else
			close(fake->parked[i]);
	}
	fake->nr_parked = nr;
	if (is_over || nr == FAKE_MAX_PARKED)
		close(fd);
	else
		fake->parked[fake->nr_parked++] = fd;
}

static inline void *fake_serve(void *arg)
{
	struct fake_service *fake = arg;

	while (!atomic_load(&fake->stop)) {
		struct pollfd ready = { fake->listener, POLLIN, 0 };
		int fd, one = 1;

		if (poll(&ready, 1, 20) <= 0)
			continue;
		fd = accept(fake->listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
			   sizeof(one)); /* or a piece waits 40 ms */
		atomic_fetch_add(&fake->nr_connections, 1);
		fake_park(fake, fd, fake_talk(fake, fd));
	}
	while (fake->nr_parked > 0)
		close(fake->parked[--fake->nr_parked]);
	return NULL;
}

/* PORT 0: any. False: the system said no. */
static inline bool fake_start(struct fake_service *fake, uint16_t port, struct ts_bytes message)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(at);
	int one = 1;

	memset(fake, 0, sizeof(*fake));
	fake->message = message;
	pthread_mutex_init(&fake->lock, NULL);
	fake->listener = socket(AF_INET, SOCK_STREAM, 0);
	if (fake->listener < 0)
		return false;
	setsockopt(fake->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fake->listener, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(fake->listener, 16) != 0 ||
	    getsockname(fake->listener, (struct sockaddr *)&at, &n) != 0)
		return false;
	fake->port = ntohs(at.sin_port);
	return pthread_create(&fake->thread, NULL, fake_serve, fake) == 0;
}

static inline void fake_stop(struct fake_service *fake)
{
	atomic_store(&fake->stop, true);
	pthread_join(fake->thread, NULL);
	close(fake->listener);
	ts_buf_release(&fake->request);
	pthread_mutex_destroy(&fake->lock);
}

static inline void fake_set_message(struct fake_service *fake, struct ts_bytes message)
{
	pthread_mutex_lock(&fake->lock);
	fake->message = message;
	pthread_mutex_unlock(&fake->lock);
}

static inline const char *fake_address(const struct fake_service *fake, char out[32])
{
	snprintf(out, 32, "127.0.0.1:%u", fake->port);
	return out;
}

#endif
