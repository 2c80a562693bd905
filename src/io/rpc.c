/* SPDX-License-Identifier: MIT */
/*
 * One unary call by libcurl: the multi interface with a single handle, because only that can be
 * woken from another thread. It keeps the connection for the next call.
 *
 * Facts: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, and the status codes of
 * doc/statuscodes.md there. Left out: compression (none is offered, so none may come), TLS,
 * metadata, and reading more than one message.
 */
#include "io/rpc.h"

#include "base/check.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREFIX	    5 /* compressed?, length */
#define POLL_MS	    1000
#define END_MS	    10		/* when some of the answer is there */
#define MAX_HEADERS (64 * 1024) /* all of an answer's together: libcurl's own limit is a line's */
#define MAX_STORY   256
#define MAX_DRAINS  64 /* reads of what an idle connection still sends */

struct ts_rpc {
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	char *address;
	atomic_bool cancelled;
	/* of the call under way */
	struct ts_rpc_answer *answer;
	size_t max_bytes, header_bytes;
	bool too_large;
	char story[MAX_STORY]; /* grpc-message */
	char cause[CURL_ERROR_SIZE];
	struct ts_buf request;
	/*
	 * A connection that answered and that libcurl is done with, or -1: its end shows the peer's
	 */
	int kept;
	bool peer_left;
	bool is_broken; /* the last call failed: the next one is not made on the same connection */
};

/* Has the peer ended this connection? */
static bool has_left(int fd)
{
	uint8_t piece[4096];
	ssize_t n = 1;

	if (fd < 0)
		return false;
	for (int i = 0; i < MAX_DRAINS && n > 0; i++)
		n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
	return n == 0 || (n < 0 && (errno == ECONNRESET || errno == EPIPE || errno == ETIMEDOUT));
}

static void rpc_let_go(struct ts_rpc *rpc, int fd)
{
	if (fd < 0)
		return;
	rpc->peer_left |= has_left(fd);
	close(fd);
}

/* libcurl is done with a connection. One that answered this call to the end stays open: a server that
 * is killed between two calls and started again is known by it, and by nothing else. */
static int take_socket(void *arg, curl_socket_t fd)
{
	struct ts_rpc *rpc = arg;

	if (!rpc->answer || rpc->answer->code < 0) {
		rpc_let_go(rpc, fd);
		return 0;
	}
	if (rpc->kept >= 0)
		close(rpc->kept);
	rpc->kept = fd;
	return 0;
}

/* The port's digits; NULL: this is not HOST:PORT. */
static const char *port_of(const char *address)
{
	const char *colon = strrchr(address, ':');
	uint64_t port;

	if (!colon || colon == address || strpbrk(address, "/?#@\\ \t\r\n%"))
		return NULL;
	if (address[0] == '[' ? colon[-1] != ']' : strchr(address, ':') != colon)
		return NULL;
	if (!ts_bytes_u64(ts_bytes_of(colon + 1), &port) || port == 0 || port > UINT16_MAX)
		return NULL;
	return colon + 1;
}

bool ts_rpc_is_address(const char *address)
{
	TS_ASSERT(address);
	return port_of(address) != NULL;
}

static size_t take_body(char *data, size_t size, size_t nr, void *arg)
{
	struct ts_rpc *rpc = arg;
	struct ts_bytes piece = { (const uint8_t *)data, size * nr };
	struct ts_buf *body = &rpc->answer->body;

	if (piece.n > rpc->max_bytes || body->n > rpc->max_bytes - piece.n) {
		rpc->too_large = true;
		return 0;
	}
	ts_buf_put(body, piece);
	return body->failed ? 0 : piece.n;
}

static int hex_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 32) >= 'a' && (c | 32) <= 'f')
		return (c | 32) - 'a' + 10;
	return -1;
}

/* grpc-message is percent-encoded; characters that are not encoded stay as they are. */
static void unescape(char *out, size_t cap, struct ts_bytes text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n && n + 1 < cap; i++) {
		bool coded = text.p[i] == '%' && i + 2 < text.n && hex_of(text.p[i + 1]) >= 0 &&
			     hex_of(text.p[i + 2]) >= 0;

		out[n++] = coded ? (char)(hex_of(text.p[i + 1]) << 4 | hex_of(text.p[i + 2]))
				 : (char)text.p[i];
		i += coded ? 2 : 0;
	}
	out[n] = '\0';
}

/* The value of header NAME (in small letters, as HTTP/2 has them), or false. */
static bool header_is(struct ts_bytes line, const char *name, struct ts_bytes *value)
{
	size_t n = strlen(name);

	if (line.n <= n || line.p[n] != ':' || !ts_bytes_starts(line, name))
		return false;
	*value = ts_bytes_cut(line, n + 1, line.n);
	while (value->n > 0 && (value->p[0] == ' ' || value->p[0] == '\t'))
		*value = ts_bytes_cut(*value, 1, value->n);
	while (value->n > 0 && (value->p[value->n - 1] <= ' '))
		value->n--;
	return true;
}

/* Headers and trailers alike: an answer without a message has its status among the headers. */
static size_t take_header(char *data, size_t size, size_t nr, void *arg)
{
	struct ts_rpc *rpc = arg;
	struct ts_bytes line = { (const uint8_t *)data, size * nr }, value;
	uint64_t code;

	rpc->header_bytes += line.n;
	if (rpc->header_bytes > MAX_HEADERS) {
		rpc->too_large = true;
		return 0;
	}
	if (header_is(line, "grpc-status", &value))
		rpc->answer->code = ts_bytes_u64(value, &code) && code < 1000 ? (int)code : 2;
	if (header_is(line, "grpc-message", &value))
		unescape(rpc->story, sizeof(rpc->story), value);
	return line.n;
}

static bool set_headers(struct ts_rpc *rpc)
{
	static const char *const lines[] = { "content-type: application/grpc", "te: trailers",
					     "expect:", "accept:" };

	for (size_t i = 0; i < TS_NELEM(lines); i++) {
		struct curl_slist *more = curl_slist_append(rpc->headers, lines[i]);

		if (!more)
			return false;
		rpc->headers = more;
	}
	return true;
}

/*
 * libcurl 7.87 and 7.88 lay HTTP/2 over a kept connection a second time, which breaks it
 * (https://github.com/curl/curl/pull/10643): with those each call has a connection of its own.
 */
static bool can_keep_connections(void)
{
	unsigned version = curl_version_info(CURLVERSION_NOW)->version_num;

	return version < 0x075700 || version >= 0x080000;
}

static bool rpc_set_up(struct ts_rpc *rpc)
{
	CURL *easy = rpc->easy;
	long forbid = !can_keep_connections();
	bool good = set_headers(rpc);

	good = good && curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, forbid) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, take_socket) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, rpc) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_HTTPHEADER, rpc->headers) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
					(long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700 /* a cancelled call does not wait until a name is found */
	good = good && curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
#endif
	good = good && curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, rpc->cause) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_WRITEDATA, rpc) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_HEADERDATA, rpc) == CURLE_OK;
	return good &&
	       curl_multi_setopt(rpc->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L) == CURLM_OK;
}

enum ts_status ts_rpc_new(struct ts_rpc **out, const char *address, struct ts_error *err)
{
	struct ts_rpc *rpc;

	TS_ASSERT(out);
	*out = NULL;
	if (!ts_rpc_is_address(address))
		return ts_fail(err, TS_USAGE, "%s is not HOST:PORT (localhost:9012)", address);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return ts_fail_nomem(err);
	rpc = calloc(1, sizeof(*rpc));
	if (!rpc) {
		curl_global_cleanup();
		return ts_fail_nomem(err);
	}
	atomic_init(&rpc->cancelled, false);
	rpc->kept = -1;
	rpc->address = strdup(address);
	rpc->multi = curl_multi_init();
	rpc->easy = curl_easy_init();
	if (!rpc->address || !rpc->multi || !rpc->easy || !rpc_set_up(rpc)) {
		ts_rpc_free(rpc);
		return ts_fail_nomem(err);
	}
	*out = rpc;
	return TS_OK;
}

void ts_rpc_free(struct ts_rpc *rpc)
{
	if (!rpc)
		return;
	rpc->answer = NULL; /* the caller's may be gone */
	if (rpc->easy)
		curl_easy_cleanup(rpc->easy);
	if (rpc->multi)
		curl_multi_cleanup(rpc->multi);
	if (rpc->kept >= 0)
		close(rpc->kept);
	curl_slist_free_all(rpc->headers);
	ts_buf_release(&rpc->request);
	free(rpc->address);
	free(rpc);
	curl_global_cleanup();
}

void ts_rpc_cancel(struct ts_rpc *rpc)
{
	TS_ASSERT(rpc);
	atomic_store(&rpc->cancelled, true);
	curl_multi_wakeup(rpc->multi);
}

static enum ts_status rpc_make_request(struct ts_rpc *rpc, struct ts_bytes message,
				       struct ts_error *err)
{
	struct ts_buf *out = &rpc->request;

	if (message.n > INT32_MAX)
		return ts_fail(err, TS_LIMIT, "the message is too long");
	ts_buf_clear(out);
	ts_buf_putc(out, 0);
	for (int shift = 24; shift >= 0; shift -= 8)
		ts_buf_putc(out, (char)(message.n >> shift & 255));
	ts_buf_put(out, message);
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

static bool aim(struct ts_rpc *rpc, const char *method, struct ts_rpc_limits limits)
{
	struct ts_buf url = TS_BUF_INIT;
	CURL *easy = rpc->easy;
	bool good;

	ts_buf_printf(&url, "http://%s%s", rpc->address, method);
	ts_buf_putc(&url, '\0');
	good = !url.failed && curl_easy_setopt(easy, CURLOPT_URL, (char *)url.p) == CURLE_OK;
	ts_buf_release(&url); /* libcurl has a copy */
	good = good &&
	       curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)rpc->request.n) == CURLE_OK;
	good = good &&
	       curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (char *)rpc->request.p) == CURLE_OK;
	good = good && curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)limits.connect_ms) ==
			       CURLE_OK;
	return good && curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)limits.call_ms) == CURLE_OK;
}

/* The message's length, from the prefix. False: the prefix has not come yet. */
static bool promised(struct ts_bytes body, uint64_t *n)
{
	*n = 0;
	for (int i = 1; i < PREFIX && body.n >= PREFIX; i++)
		*n = *n << 8 | body.p[i];
	return body.n >= PREFIX;
}

/*
 * libcurl 7.88 may have read the end of an answer off the socket and not look at it until something
 * wakes it: a second is lost. To be paused and let go makes it look.
 */
static void nudge(struct ts_rpc *rpc)
{
	struct ts_bytes body = ts_buf_bytes(&rpc->answer->body);
	uint64_t n;

	if (!promised(body, &n) || n > body.n - PREFIX)
		return;
	curl_easy_pause(rpc->easy, CURLPAUSE_RECV);
	curl_easy_pause(rpc->easy, CURLPAUSE_CONT);
}

/* Until it is done or cancelled. False: cancelled. */
static bool drive(struct ts_rpc *rpc, CURLcode *code)
{
	int nr_running = 1, nr_left;
	CURLMsg *message;

	*code = CURLE_OUT_OF_MEMORY;
	while (nr_running > 0 && !atomic_load(&rpc->cancelled)) {
		if (curl_multi_perform(rpc->multi, &nr_running) != CURLM_OK)
			return true;
		if (nr_running == 0)
			break;
		curl_multi_poll(rpc->multi, NULL, 0, rpc->answer->body.n ? END_MS : POLL_MS, NULL);
		nudge(rpc);
	}
	message = curl_multi_info_read(rpc->multi, &nr_left);
	if (message && message->msg == CURLMSG_DONE)
		*code = message->data.result;
	return message != NULL;
}

static enum ts_status fault(struct ts_rpc_answer *answer, enum ts_rpc_fault kind)
{
	static const enum ts_status status[] = {
		[TS_RPC_UNREACHABLE] = TS_IO, [TS_RPC_SLOW] = TS_IO,
		[TS_RPC_REFUSED] = TS_IO,     [TS_RPC_GARBLED] = TS_FORMAT,
		[TS_RPC_CANCELLED] = TS_IO,   [TS_RPC_MEMORY] = TS_NOMEM,
	};

	answer->fault = kind;
	return status[kind];
}

/* What libcurl's codes mean here; all others are a connection that broke. */
static enum ts_rpc_fault fault_of(CURLcode code)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:	 return TS_RPC_SLOW;
	case CURLE_OUT_OF_MEMORY:	 return TS_RPC_MEMORY;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:	 return TS_RPC_GARBLED;
	default:			 return TS_RPC_UNREACHABLE;
	}
}

static const char *story_of(const struct ts_rpc *rpc, CURLcode code)
{
	return rpc->cause[0] ? rpc->cause : curl_easy_strerror(code);
}

static enum ts_status transport_failed(struct ts_rpc *rpc, CURLcode code,
				       struct ts_rpc_limits limits, struct ts_error *err)
{
	struct ts_rpc_answer *answer = rpc->answer;
	enum ts_rpc_fault kind = rpc->too_large ? TS_RPC_GARBLED : fault_of(code);
	enum ts_status st = fault(answer, kind);

	if (kind == TS_RPC_MEMORY || answer->body.failed)
		return fault(answer, TS_RPC_MEMORY), ts_fail_nomem(err);
	if (rpc->too_large)
		return ts_fail(err, st,
			       "%s: the answer is larger than %zu bytes (shorten the samples)",
			       rpc->address, rpc->max_bytes);
	if (kind == TS_RPC_GARBLED)
		return ts_fail(err, st,
			       "%s: what answers there does not speak gRPC: %s (is it the port of "
			       "the profiler's server?)",
			       rpc->address, story_of(rpc, code));
	if (kind == TS_RPC_SLOW)
		return ts_fail(err, st, "%s: no answer within %lld ms", rpc->address,
			       (long long)limits.call_ms);
	if (code == CURLE_COULDNT_CONNECT)
		return ts_fail(err, st, "%s: no server answers there", rpc->address);
	if (rpc->header_bytes == 0 && code != CURLE_COULDNT_RESOLVE_HOST)
		return ts_fail(err, st,
			       "%s: the connection ended without an answer: %s (has the job ended? "
			       "is it the port of its profiler's server?)",
			       rpc->address, story_of(rpc, code));
	return ts_fail(err, st, "%s: %s", rpc->address, story_of(rpc, code));
}

static const char *code_name(int code)
{
	static const char *const names[] = {
		"OK",
		"CANCELLED",
		"UNKNOWN",
		"INVALID_ARGUMENT",
		"DEADLINE_EXCEEDED",
		"NOT_FOUND",
		"ALREADY_EXISTS",
		"PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION",
		"ABORTED",
		"OUT_OF_RANGE",
		"UNIMPLEMENTED",
		"INTERNAL",
		"UNAVAILABLE",
		"DATA_LOSS",
		"UNAUTHENTICATED",
	};

	return code >= 0 && (size_t)code < TS_NELEM(names) ? names[code] : "an unknown status";
}

enum ts_status ts_rpc_unframe(struct ts_bytes body, struct ts_bytes *message, struct ts_error *err)
{
	uint64_t n;

	TS_ASSERT(message);
	TS_ASSERT(body.p || body.n == 0);
	if (!promised(body, &n))
		return ts_fail(err, TS_FORMAT, "the answer has no message");
	if (body.p[0] != 0)
		return ts_fail(err, TS_FORMAT,
			       "the answer is compressed, though the call did not ask for that");
	if (n != body.n - PREFIX)
		return ts_fail(err, TS_FORMAT, "the answer says it has %llu bytes and has %zu",
			       (unsigned long long)n, body.n - PREFIX);
	*message = ts_bytes_cut(body, PREFIX, body.n);
	return TS_OK;
}

static enum ts_status unframe(struct ts_rpc *rpc, struct ts_error *err)
{
	struct ts_rpc_answer *answer = rpc->answer;

	if (ts_rpc_unframe(ts_buf_bytes(&answer->body), &answer->message, err) == TS_OK)
		return TS_OK;
	return ts_fail_at(err, fault(answer, TS_RPC_GARBLED), "%s", rpc->address);
}

static enum ts_status rpc_judge(struct ts_rpc *rpc, struct ts_error *err)
{
	struct ts_rpc_answer *answer = rpc->answer;
	long http = 0;

	curl_easy_getinfo(rpc->easy, CURLINFO_RESPONSE_CODE, &http);
	if (answer->code > 0)
		return ts_fail(err, fault(answer, TS_RPC_REFUSED), "%s: %s%s%s", rpc->address,
			       code_name(answer->code), rpc->story[0] ? ": " : "", rpc->story);
	if (http != 200)
		return ts_fail(err, fault(answer, TS_RPC_GARBLED),
			       "%s: HTTP status %ld (is it the port of the profiler's server?)",
			       rpc->address, http);
	if (answer->code < 0)
		return ts_fail(err, fault(answer, TS_RPC_GARBLED),
			       "%s: the answer ended without gRPC's status", rpc->address);
	return unframe(rpc, err);
}

/* Before a call, and before it is made once more. */
static void rpc_clear(struct ts_rpc *rpc)
{
	struct ts_rpc_answer *answer = rpc->answer;

	ts_buf_clear(&answer->body);
	answer->message = (struct ts_bytes){ NULL, 0 };
	answer->code = -1;
	answer->fault = TS_RPC_NONE;
	rpc->header_bytes = 0;
	rpc->too_large = false;
	rpc->story[0] = rpc->cause[0] = '\0';
}

/* The transfer itself, and what has become of the connection before it. False: cancelled. */
static bool rpc_transfer(struct ts_rpc *rpc, CURLcode *code)
{
	int before = rpc->kept;
	bool done;

	*code = CURLE_OUT_OF_MEMORY;
	curl_easy_setopt(rpc->easy, CURLOPT_FRESH_CONNECT, (long)rpc->is_broken);
	if (curl_multi_add_handle(rpc->multi, rpc->easy) != CURLM_OK)
		return true;
	rpc->kept = -1;
	done = drive(rpc, code);
	curl_multi_remove_handle(rpc->multi, rpc->easy);
	if (rpc->answer->code < 0 && !has_left(before))
		rpc->kept = before;
	else
		rpc_let_go(rpc, before);
	rpc->is_broken = *code != CURLE_OK;
	return done;
}

/* Was the call made on a connection of an earlier one, which had ended? libcurl does not always see
 * that in time. */
static bool was_stale(const struct ts_rpc *rpc, CURLcode code)
{
	long nr_new = 1;

	curl_easy_getinfo(rpc->easy, CURLINFO_NUM_CONNECTS, &nr_new);
	return code != CURLE_OK && nr_new == 0 && rpc->header_bytes == 0 &&
	       fault_of(code) == TS_RPC_UNREACHABLE;
}

static bool make_call(struct ts_rpc *rpc, CURLcode *code)
{
	bool done = rpc_transfer(rpc, code);

	if (done && was_stale(rpc, *code)) {
		rpc_clear(rpc);
		rpc->peer_left = true;
		done = rpc_transfer(rpc, code);
	}
	rpc->answer->peer_left = rpc->peer_left;
	return done;
}

enum ts_status ts_rpc_call(struct ts_rpc *rpc, const char *method, struct ts_bytes message,
			   struct ts_rpc_limits limits, struct ts_rpc_answer *answer,
			   struct ts_error *err)
{
	enum ts_status st = rpc_make_request(rpc, message, err);
	CURLcode code;

	TS_ASSERT(rpc && method && answer);
	TS_ASSERT(message.p || message.n == 0);
	rpc->answer = answer;
	rpc->max_bytes = limits.max_bytes;
	rpc->peer_left = answer->peer_left = false;
	rpc_clear(rpc);
	if (st)
		return fault(answer, TS_RPC_MEMORY), st;
	if (!aim(rpc, method, limits))
		return fault(answer, TS_RPC_MEMORY), ts_fail_nomem(err);
	if (!make_call(rpc, &code))
		return ts_fail(err, fault(answer, TS_RPC_CANCELLED), "%s: cancelled", rpc->address);
	if (code != CURLE_OK)
		return transport_failed(rpc, code, limits, err);
	return rpc_judge(rpc, err);
}
