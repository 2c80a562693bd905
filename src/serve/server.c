/* The HTTP server, by libmicrohttpd. */
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include "base/check.h"

#define CLIENT_TIMEOUT_S 60
#define MAX_HOST	 64
#define PIECE_BYTES	 (32 << 10) /* of a source, in one read */

/* What our page may do, and what other pages may not do with it. */
#define POLICY                                                                            \
	"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "       \
	"connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " \
	"frame-ancestors 'none'"

struct ts_server {
	struct MHD_Daemon *daemon;
	ts_server_fn *answer;
	void *ctx;
	_Atomic uint16_t
		port; /* 0 until it is known, when the first clients may be there already */
};

#ifndef MHD_VERSION
#error "microhttpd.h without a version"
#endif
#if MHD_VERSION < 0x00097002 /* older versions return int */
typedef int mhd_result;
#else
typedef enum MHD_Result mhd_result;
#endif

static const char *header(struct MHD_Connection *client, const char *name)
{
	return MHD_lookup_connection_value(client, MHD_HEADER_KIND, name);
}

static const char *header_of(const struct ts_request *request, const char *name)
{
	return header(request->client, name);
}

static const char *argument(const struct ts_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->client, MHD_GET_ARGUMENT_KIND, name);
}

/* Is HOST one of the loopback names of this machine with our port, as in "localhost:6970"? */
static bool is_us(const struct ts_server *server, const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	TS_ASSERT(host != NULL);
	for (size_t i = 0; i < TS_NELEM(names); i++) {
		char ours[MAX_HOST];
		unsigned port = server->port;

		snprintf(ours, sizeof(ours), "%s:%u", names[i], port);
		if (strcmp(host, ours) == 0 || (port == 80 && strcmp(host, names[i]) == 0))
			return true;
	}
	return false;
}

/* An answer that says why the request is refused; .body is NULL where it is not. */
static struct ts_answer refuse(const struct ts_server *server, struct MHD_Connection *client,
			       const char *method)
{
	const char *host = header(client, MHD_HTTP_HEADER_HOST);
	const char *origin = header(client, MHD_HTTP_HEADER_ORIGIN);
	const char *site = header(client, "Sec-Fetch-Site");
	static const char scheme[] = "http://";

	if (!host || !is_us(server, host))
		return ts_answer_error(MHD_HTTP_FORBIDDEN,
				       "this server answers to 127.0.0.1:%u and localhost:%u only",
				       server->port, server->port);
	if ((origin && (strncmp(origin, scheme, strlen(scheme)) != 0 ||
			!is_us(server, origin + strlen(scheme)))) ||
	    (site && strcmp(site, "cross-site") == 0 && header(client, "Sec-Fetch-Mode") &&
	     strcmp(header(client, "Sec-Fetch-Mode"), "navigate") != 0))
		return ts_answer_error(MHD_HTTP_FORBIDDEN, "pages of other origins are refused");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return ts_answer_error(MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not GET", method);
	return (struct ts_answer){ .body = NULL };
}

/* Is WORD in the list TEXT, as in Accept-Encoding: "br, gzip;q=1.0"? With q=0 it is not
 * accepted. */
static bool takes(const char *text, const char *word)
{
	size_t n = strlen(word);

	while (text && *text) {
		text += strspn(text, " ,\t");
		if (strncmp(text, word, n) == 0 && strchr(" ,;\t", text[n]))
			return strstr(text + n, "q=0") != text + n + 1 ||
			       (text[n + 4] == '.' && text[n + 5] != '0');
		text += strcspn(text, ",");
	}
	return false;
}

static void drop_body(void *body)
{
	ts_body_drop(body);
}

static struct MHD_Response *response_of(struct ts_body *body, bool packed)
{
	const struct ts_buf *bytes = packed ? &body->packed : &body->text;
#if MHD_VERSION >= 0x00097300
	return MHD_create_response_from_buffer_with_free_callback_cls(bytes->n, bytes->p, drop_body,
								      body);
#else
	struct MHD_Response *response =
		MHD_create_response_from_buffer(bytes->n, bytes->p, MHD_RESPMEM_MUST_COPY);

	drop_body(body);
	return response;
#endif
}

static ssize_t read_source(void *ctx, uint64_t at, char *out, size_t cap)
{
	const struct ts_source *source = ctx;
	size_t n = 0;

	switch (source->read(source->ctx, out, TS_MIN(cap, SSIZE_MAX), &n)) {
	case TS_SOURCE_MORE:   return (ssize_t)n;
	case TS_SOURCE_END:    return MHD_CONTENT_READER_END_OF_STREAM;
	case TS_SOURCE_BROKEN: break;
	}
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void drop_source(void *ctx)
{
	struct ts_source *source = ctx;

	source->drop(source->ctx);
	free(source);
}

/* NULL: no memory; the source was dropped. */
static struct MHD_Response *response_of_source(const struct ts_source *given)
{
	struct ts_source *source = malloc(sizeof(*source));
	struct MHD_Response *response = NULL;

	if (source) {
		*source = *given;
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES,
							     read_source, source, drop_source);
	}
	if (!response) {
		given->drop(given->ctx);
		free(source);
	}
	return response;
}

static void add_headers(struct MHD_Response *response, const struct ts_answer *answer,
			const char *etag, bool packed)
{
	static const char *const fixed[][2] = {
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache" },
		{ MHD_HTTP_HEADER_VARY, "Accept-Encoding" },
		{ "Content-Security-Policy", POLICY },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
	};

	for (size_t i = 0; i < TS_NELEM(fixed); i++)
		MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	if (etag)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
	if (packed)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

static mhd_result send_response(struct MHD_Connection *client, unsigned status,
				struct MHD_Response *response)
{
	mhd_result queued = MHD_queue_response(client, status, response);

	MHD_destroy_response(response);
	return queued;
}

static mhd_result send_source(struct MHD_Connection *client, const struct ts_answer *answer)
{
	struct MHD_Response *response = response_of_source(&answer->source);

	if (!response)
		return MHD_NO;
	add_headers(response, answer, NULL, false);
	return send_response(client, answer->status, response);
}

static mhd_result send_answer(struct MHD_Connection *client, struct ts_answer answer)
{
	const char *has = header(client, MHD_HTTP_HEADER_IF_NONE_MATCH);
	struct MHD_Response *response;
	char etag[sizeof(answer.body->etag)];
	bool packed, same;

	if (answer.source.read)
		return send_source(client, &answer);
	if (!answer.body)
		return MHD_NO; /* there is no memory for an answer: the connection ends */
	memcpy(etag, answer.body->etag, sizeof(etag));
	same = answer.status == MHD_HTTP_OK && has && strstr(has, etag);
	packed = !same && answer.body->packed.n > 0 &&
		 takes(header(client, MHD_HTTP_HEADER_ACCEPT_ENCODING), "gzip");
	if (same) {
		ts_body_drop(answer.body);
		answer.status = MHD_HTTP_NOT_MODIFIED;
		response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	} else {
		response = response_of(answer.body, packed);
	}
	if (!response)
		return MHD_NO;
	add_headers(response, &answer, answer.status < 300 || same ? etag : NULL, packed);
	return send_response(client, answer.status, response);
}

/* libmicrohttpd calls this once for the headers, and again for each piece of an upload, which we do
 * not use. */
static mhd_result on_request(void *ctx, struct MHD_Connection *client, const char *url,
			     const char *method, const char *version, const char *upload,
			     size_t *upload_size, void **state)
{
	const struct ts_server *server = ctx;
	struct ts_request request = {
		.path = url, .argument = argument, .header = header_of, .client = client
	};
	struct ts_answer answer;
	static int seen;

	if (!*state) { /* the headers only; also HEAD and refusals wait for the second call */
		*state = &seen;
		return MHD_YES;
	}
	if (*upload_size > 0) {
		*upload_size = 0;
		return MHD_YES;
	}
	answer = refuse(server, client, method);
	if (!answer.body)
		answer = server->answer(server->ctx, &request);
	return send_answer(client, answer);
}

static uint16_t bound_port(struct MHD_Daemon *daemon, uint16_t asked)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info && info->port ? info->port : asked;
}

enum ts_status ts_server_start(struct ts_server **out, uint16_t port, ts_server_fn *answer,
			       void *ctx, struct ts_error *err)
{
	TS_ASSERT(out != NULL && answer != NULL);

	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct ts_server *server = calloc(1, sizeof(*server));

	if (!server)
		return ts_fail_nomem(err);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server->answer = answer;
	server->ctx = ctx;
	server->port = port;
	errno = 0;
	server->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO,
		port, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR, &address,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CLIENT_TIMEOUT_S,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)TS_SERVER_CLIENTS, MHD_OPTION_END);
	if (!server->daemon) {
		free(server);
		return ts_fail(err, TS_IO,
			       "127.0.0.1:%u: cannot listen there: %s (give another --port)", port,
			       errno ? strerror(errno) : "it is refused");
	}
	server->port = bound_port(server->daemon, port);
	*out = server;
	return TS_OK;
}

uint16_t ts_server_port(const struct ts_server *server)
{
	TS_ASSERT(server != NULL);
	return server->port;
}

void ts_server_stop(struct ts_server *server)
{
	if (!server)
		return;
	MHD_stop_daemon(server->daemon);
	free(server);
}
