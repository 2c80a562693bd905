/* SPDX-License-Identifier: MIT */
/* The HTTP server, by libmicrohttpd. */
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>

#include "base/check.h"
#include "serve/address.h"
#include "serve/clients.h"
#include "serve/extension.h"
#include "serve/guard.h"
#include "serve/mhd.h"
#include "serve/token.h"

#ifdef POLLRDHUP
#define LEFT POLLRDHUP
#else
#define LEFT 0 /* seen when something was sent */
#endif

#define SILENT_S    60		/* without a byte in either direction */
#define PIECE_BYTES (32 << 10) /* of a source, in one read */
/* That were shut down and are not closed yet, which takes a moment on a busy machine: beyond it new clients are refused. */
#define MORE_SOCKETS 384

/* In which libmicrohttpd keeps a request: each argument, cookie and header takes 64 bytes beside its own. Where it is used up the
 * connection ends without an answer; so it holds what TS_SERVER_HEAD_BYTES may have of them. Nobody's pages are touched before. */
#define HEAD_ROOM (40 * TS_SERVER_HEAD_BYTES)

static const struct ts_clients_limits limits = { .max_clients = TS_SERVER_CLIENTS,
						 .ask_ms = TS_SERVER_ASK_MS,
						 .take_ms = TS_SERVER_TAKE_MS,
						 .bytes_per_ms = TS_SERVER_BYTES_PER_MS };

/* What our page may do, and what other pages may not do with it. */
#define POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "       \
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " \
	"require-trusted-types-for 'script'; trusted-types 'none'"

struct ts_server {
	struct MHD_Daemon *daemon;
	struct ts_clients *clients;
	struct ts_guard guard;
	struct ts_token token;
	ts_server_fn *answer;
	void *ctx;
};

/* A connection, with the request that it is at. */
struct connection {
	struct ts_client *client;
	enum ts_target target;
	bool is_read; /* its headers */
};

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

static bool server_is_gone(const struct ts_request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->client, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct pollfd client = { .fd = info ? info->connect_fd : -1, .events = LEFT };

	return poll(&client, 1, 0) > 0 && (client.revents & (LEFT | POLLHUP | POLLERR)) != 0;
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

static ssize_t server_read_source(void *ctx, uint64_t at, char *out, size_t cap)
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
		response = MHD_create_response_from_callback(
			given->nr_bytes ? given->nr_bytes : MHD_SIZE_UNKNOWN, PIECE_BYTES,
			server_read_source, source, drop_source);
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
		{ "X-Frame-Options", "DENY" }, /* for browsers that do not know frame-ancestors */
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		/* a window that the page opens may answer it: Perfetto (plugin/page/src/perfetto.js) */
		{ "Cross-Origin-Opener-Policy", "same-origin-allow-popups" },
		{ "Cross-Origin-Embedder-Policy", "require-corp" },
	};

	for (size_t i = 0; i < TS_NELEM(fixed); i++)
		MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	if (answer->is_shared)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN,
					TS_EXTENSION_ORIGIN);
	if (etag)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
	if (packed)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (answer->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (answer->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	if (answer->status == MHD_HTTP_BAD_REQUEST) /* what follows it may be of the same kind */
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static mhd_result send_response(struct MHD_Connection *client, unsigned status,
				struct MHD_Response *response)
{
	mhd_result queued = MHD_queue_response(client, status, response);

	MHD_destroy_response(response);
	return queued;
}

static mhd_result send_answer(struct MHD_Connection *client, struct ts_answer answer)
{
	const char *has = header(client, MHD_HTTP_HEADER_IF_NONE_MATCH);
	struct MHD_Response *response;
	char etag[sizeof(answer.body->etag)];
	bool packed, same;

	if (answer.source.read) {
		response = response_of_source(&answer.source);
		if (!response)
			return MHD_NO;
		add_headers(response, &answer, NULL, false);
		return send_response(client, answer.status, response);
	}
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

static struct connection *connection_of(struct MHD_Connection *client)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(client, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Before the target is cut in parts and its escapes are gone. */
static void *on_target(void *ctx, const char *target, struct MHD_Connection *client)
{
	struct connection *connection = connection_of(client);

	if (connection) {
		connection->target = ts_guard_target(target);
		connection->is_read = false;
	}
	return NULL;
}

static uint64_t server_size_of(const struct ts_answer *answer)
{
	if (answer->source.read)
		return answer->source.nr_bytes;
	return answer->body ? answer->body->text.n : 0;
}

static mhd_result answer_request(const struct ts_server *server, struct MHD_Connection *client,
				 struct ts_client *place, const char *path)
{
	struct ts_request request = { .path = path,
				      .argument = argument,
				      .header = header_of,
				      .is_gone = server_is_gone,
				      .client = client };
	struct ts_answer answer;

	ts_clients_turn(server->clients, place, TS_CLIENT_WAITS, 0);
	answer = server->answer(server->ctx, &request);
	if (answer.source.read && answer.source.nr_bytes == 0)
		ts_clients_turn(server->clients, place, TS_CLIENT_LISTENS, 0);
	else
		ts_clients_turn(server->clients, place, TS_CLIENT_TAKES, server_size_of(&answer));
	return send_answer(client, answer);
}

static bool server_is_page(const char *path)
{
	return strcmp(path, "/") == 0 || strcmp(path, "/index.html") == 0;
}

/* The page's address with the token: the browser gets the cookie, and goes to the address without it. */
static mhd_result send_cookie(const struct ts_server *server, struct MHD_Connection *client)
{
	const struct ts_answer answer = { .status = MHD_HTTP_SEE_OTHER,
					  .type = "text/plain; charset=utf-8" };
	struct MHD_Response *response =
		MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	char cookie[TS_TOKEN_COOKIE_CAP];

	if (!response)
		return MHD_NO;
	ts_token_cookie(&server->token, client, cookie);
	add_headers(response, &answer, NULL, false);
	MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
	MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, "./");
	return send_response(client, answer.status, response);
}

static struct ts_answer refuse_stranger(void)
{
	return ts_answer_error(MHD_HTTP_UNAUTHORIZED,
			       "this server wants its token: open the address that it printed when "
			       "it began, /?token=TOKEN (programs may send Authorization: Bearer "
			       "TOKEN)");
}

/* Whether the request shows the token, where there is one. */
static bool is_let_in(const struct ts_server *server, struct MHD_Connection *client)
{
	return !server->token.text[0] || ts_token_is_shown(&server->token, client);
}

static mhd_result answer_guest(const struct ts_server *server, struct MHD_Connection *client,
			       struct ts_client *place, const char *path)
{
	bool has_token = server->token.text[0] != '\0';

	if (is_let_in(server, client) &&
	    !(has_token && server_is_page(path) && ts_token_is_in_address(&server->token, client)))
		return answer_request(server, client, place, path);
	ts_clients_turn(server->clients, place, TS_CLIENT_TAKES, 0);
	if (is_let_in(server, client))
		return send_cookie(server, client);
	return send_answer(client, refuse_stranger());
}

static size_t head_bytes_of(struct MHD_Connection *client)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(client, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	return info ? info->header_size : 0;
}

/*
 * libmicrohttpd calls this for the headers, and again when all is read. What has a body is refused at
 * once, and its connection ends there: nothing of the body is read as a request.
 */
static mhd_result on_request(void *ctx, struct MHD_Connection *client, const char *path,
			     const char *method, const char *version, const char *upload,
			     size_t *upload_size, void **state)
{
	const struct ts_server *server = ctx;
	struct connection *connection = connection_of(client);
	struct ts_answer refusal;
	bool has_body;

	if (!connection || *upload_size > 0)
		return MHD_NO;
	refusal = ts_guard_refuse(&server->guard, client, method, connection->target, path,
				  head_bytes_of(client), &has_body);
	if (!connection->is_read && !has_body) {
		ts_body_drop(refusal.body);
		connection->is_read = true;
		return MHD_YES;
	}
	if (!refusal.body)
		return answer_guest(server, client, connection->client, path);
	ts_clients_turn(server->clients, connection->client, TS_CLIENT_TAKES, 0);
	return send_answer(client, refusal);
}

static void on_end(void *ctx, struct MHD_Connection *client, void **state,
		   enum MHD_RequestTerminationCode how)
{
	const struct ts_server *server = ctx;
	struct connection *connection = connection_of(client);

	if (connection)
		ts_clients_turn(server->clients, connection->client, TS_CLIENT_ASKS, 0);
}

static struct connection *open_connection(const struct ts_server *server, int fd)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (connection)
		connection->client = ts_clients_enter(server->clients, fd);
	if (connection && connection->client)
		return connection;
	free(connection);
	return NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *client, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	const struct ts_server *server = ctx;
	struct connection *connection = *context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(client, MHD_CONNECTION_INFO_CONNECTION_FD);

		*context = info ? open_connection(server, info->connect_fd) : NULL;
	} else if (connection) {
		ts_clients_leave(server->clients, connection->client);
		free(connection);
		*context = NULL;
	}
}

static uint16_t bound_port(struct MHD_Daemon *daemon, uint16_t asked)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info && info->port ? info->port : asked;
}

static unsigned family_flags(const struct ts_address *address)
{
	if (address->as.any.sa_family != AF_INET6)
		return 0;
	return ts_address_is_any(address) ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
}

/* Its limits are ours and some sockets more: at its own it closes new clients, and not old ones. */
static struct MHD_Daemon *start_daemon(struct ts_server *server, const struct ts_address *address,
				       uint16_t port)
{
	errno = 0;
	return MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO |
			family_flags(address),
		port, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR, &address->as.any,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT_S, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(TS_SERVER_CLIENTS + MORE_SOCKETS), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HEAD_ROOM, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK,
		on_target, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, server, MHD_OPTION_END);
}

static void server_set_up(struct ts_server *server, const struct ts_server_options *options,
			  const struct ts_address *address)
{
	server->answer = options->answer;
	server->ctx = options->ctx;
	server->guard.hosts = options->hosts;
	server->guard.nr_hosts = options->nr_hosts;
	server->guard.port = options->port;
	server->guard.is_open = !ts_address_is_loopback(address);
	snprintf(server->token.text, sizeof(server->token.text), "%s",
		 options->token ? options->token : "");
}

static enum ts_status fail_to_listen(const struct ts_address *address, uint16_t port,
				     struct ts_error *err)
{
	const char *cause = errno ? strerror(errno) : "it is refused";
	const char *remedy = errno == EADDRNOTAVAIL
				     ? "hostname -I lists the addresses of this machine"
				     : "give another --port";
	char text[TS_ADDRESS_CAP];

	ts_address_write(address, text);
	if (errno == EADDRINUSE)
		return ts_fail(err, TS_IO, "port %u of %s is in use; choose another with --port",
			       port, text);
	return ts_fail(err, TS_IO, "%s:%u: cannot listen there: %s (%s)", text, port, cause,
		       remedy);
}

enum ts_status ts_server_start(struct ts_server **out, const struct ts_server_options *options,
			       struct ts_error *err)
{
	TS_ASSERT(out != NULL && options != NULL && options->answer != NULL);

	struct ts_server *server;
	struct ts_address address;
	enum ts_status st = ts_address_read(
		&address, options->address ? options->address : "127.0.0.1", options->port, err);

	if (st)
		return st;
	server = calloc(1, sizeof(*server));
	if (!server)
		return ts_fail_nomem(err);
	server->clients = ts_clients_new(&limits);
	if (!server->clients) {
		free(server);
		return ts_fail_nomem(err);
	}
	server_set_up(server, options, &address);
	server->daemon = start_daemon(server, &address, options->port);
	if (!server->daemon) {
		st = fail_to_listen(&address, options->port, err);
		ts_clients_free(server->clients);
		free(server);
		return st;
	}
	server->guard.port = bound_port(server->daemon, options->port);
	*out = server;
	return TS_OK;
}

uint16_t ts_server_port(const struct ts_server *server)
{
	TS_ASSERT(server != NULL);
	return server->guard.port;
}

void ts_server_stop(struct ts_server *server)
{
	if (!server)
		return;
	MHD_stop_daemon(server->daemon);
	ts_clients_free(server->clients);
	free(server);
}
