/* SPDX-License-Identifier: MIT */
/* Facts: RFC 9110, 4.2.3 (names of hosts), 7.2 (Host), 15.5 (statuses); RFC 9112, 3.2 (targets), 11.2
 * (smuggling), 5.1 (names of headers); W3C Fetch Metadata. */
#include "serve/guard.h"

#include <strings.h>

#include "base/check.h"
#include "serve/address.h"
#include "serve/extension.h"
#include "serve/mhd.h"
#include "serve/server.h"

#define MAX_HOST 300 /* a name has 253 characters at most */

struct heads {
	struct ts_bytes host, origin, site, mode;
	size_t nr_hosts;
	bool has_body, is_odd;
	char reached
		[TS_ADDRESS_CAP]; /* our end of the connection, where that may be a host; or "" */
};

static bool guard_is_word(struct ts_bytes text, const char *word)
{
	return text.n == strlen(word) && strncasecmp((const char *)text.p, word, text.n) == 0;
}

/* RFC 9110, 5.6.2: a token. "Host :" and "Ho st:" are none. */
static bool guard_is_token(struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] <= ' ' || text.p[i] > '~' || strchr("\"(),/:;<=>?@[\\]{}", text.p[i]))
			return false;
	return text.n > 0;
}

static mhd_result note_head(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_size,
			    const char *text, size_t size)
{
	struct heads *heads = ctx;
	struct ts_bytes name = { (const uint8_t *)key, key_size };
	struct ts_bytes value = { (const uint8_t *)text, text ? size : 0 };

	heads->is_odd |= !guard_is_token(name);
	if (guard_is_word(name, MHD_HTTP_HEADER_HOST)) {
		heads->host = value;
		heads->nr_hosts++;
	} else if (guard_is_word(name, MHD_HTTP_HEADER_ORIGIN)) {
		heads->origin = value;
	} else if (guard_is_word(name, "Sec-Fetch-Site")) {
		heads->site = value;
	} else if (guard_is_word(name, "Sec-Fetch-Mode")) {
		heads->mode = value;
	} else if (guard_is_word(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
		   (guard_is_word(name, MHD_HTTP_HEADER_CONTENT_LENGTH) &&
		    !guard_is_word(value, "0"))) {
		heads->has_body = true;
	}
	return MHD_YES;
}

/* Does NAME, or NAME with our port, stand there? Port 80 is left out by browsers. */
static bool guard_is_host(const struct ts_guard *guard, struct ts_bytes host, const char *name)
{
	char full[MAX_HOST];

	snprintf(full, sizeof(full), "%s:%u", name, (unsigned)guard->port);
	return guard_is_word(host, full) || (guard->port == 80 && guard_is_word(host, name));
}

static bool is_loopback(const struct ts_guard *guard, struct ts_bytes host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (guard_is_host(guard, host, names[i]))
			return true;
	return false;
}

static bool is_given(const struct ts_guard *guard, struct ts_bytes host)
{
	for (size_t i = 0; i < guard->nr_hosts; i++)
		if (guard_is_word(host, guard->hosts[i]) ||
		    guard_is_host(guard, host, guard->hosts[i]))
			return true;
	return false;
}

/* An address in numbers is not looked up, so that no other site can give it to a name of its own. */
static bool is_reached(const struct ts_guard *guard, const struct heads *heads,
		       struct ts_bytes host)
{
	return heads->reached[0] && guard_is_host(guard, host, heads->reached);
}

static void find_reached(struct heads *heads, struct MHD_Connection *client)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(client, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ts_address address;

	if (info && ts_address_of_socket(&address, info->connect_fd))
		ts_address_write(&address, heads->reached);
}

/* A name from the user may stand for a proxy that speaks TLS. */
static bool is_own_origin(const struct ts_guard *guard, const struct heads *heads)
{
	struct ts_bytes origin = heads->origin;
	static const char plain[] = "http://", secure[] = "https://";

	if (ts_bytes_starts(origin, plain)) {
		struct ts_bytes host = ts_bytes_cut(origin, strlen(plain), origin.n);

		return is_loopback(guard, host) || is_given(guard, host) ||
		       is_reached(guard, heads, host);
	}
	return ts_bytes_starts(origin, secure) &&
	       is_given(guard, ts_bytes_cut(origin, strlen(secure), origin.n));
}

/* Perfetto's page may read what an extension server has, and nothing else. */
static bool is_for_perfetto(const struct heads *heads, const char *path)
{
	return path && strncmp(path, TS_EXTENSION_PATH, strlen(TS_EXTENSION_PATH)) == 0 &&
	       ts_bytes_is(heads->origin, TS_EXTENSION_ORIGIN);
}

/* A link that somebody follows to us is fine; what another page loads by itself is not. */
static bool is_own_page(const struct ts_guard *guard, const struct heads *heads)
{
	if (heads->origin.p && !is_own_origin(guard, heads))
		return false;
	return !heads->site.p || guard_is_word(heads->site, "same-origin") ||
	       guard_is_word(heads->site, "none") || guard_is_word(heads->mode, "navigate");
}

enum ts_target ts_guard_target(const char *target)
{
	size_t n;

	TS_ASSERT(target != NULL);
	n = strlen(target);
	if (n > TS_TARGET_MAX)
		return TS_TARGET_LONG;
	if (target[0] != '/' || target[1] == '/' || strstr(target, "%00"))
		return TS_TARGET_ODD;
	for (size_t i = 0; i < n; i++)
		if (target[i] <= ' ' || target[i] > '~' || target[i] == '\\')
			return TS_TARGET_ODD;
	return TS_TARGET_PLAIN;
}

bool ts_guard_is_host(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]";

	TS_ASSERT(text != NULL);
	return text[0] && strlen(text) < MAX_HOST - sizeof(":65535") &&
	       text[strspn(text, letters)] == '\0';
}

/* What is wrong with the form of a request, whoever sent it. */
static struct ts_answer refuse_form(const struct heads *heads, enum ts_target target,
				    size_t head_bytes)
{
	if (target == TS_TARGET_LONG)
		return ts_answer_error(MHD_HTTP_URI_TOO_LONG,
				       "the address has more than %d characters", TS_TARGET_MAX);
	if (head_bytes > TS_SERVER_HEAD_BYTES)
		return ts_answer_error(MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
				       "the headers take more than %d bytes", TS_SERVER_HEAD_BYTES);
	if (heads->nr_hosts > 1)
		return ts_answer_error(MHD_HTTP_BAD_REQUEST, "the request names two hosts");
	if (heads->is_odd)
		return ts_answer_error(MHD_HTTP_BAD_REQUEST, "a header has no proper name");
	return (struct ts_answer){ .body = NULL };
}

struct ts_answer ts_guard_refuse(const struct ts_guard *guard, struct MHD_Connection *client,
				 const char *method, enum ts_target target, const char *path,
				 size_t head_bytes, bool *has_body)
{
	struct heads heads = { .nr_hosts = 0 };
	struct ts_answer refusal;

	TS_ASSERT(guard != NULL && client != NULL && method != NULL && has_body != NULL);
	MHD_get_connection_values_n(client, MHD_HEADER_KIND, note_head, &heads);
	if (guard->is_open)
		find_reached(&heads, client);
	*has_body = heads.has_body;
	refusal = refuse_form(&heads, target, head_bytes);
	if (refusal.body)
		return refusal;
	if (!is_loopback(guard, heads.host) && !is_given(guard, heads.host) &&
	    !is_reached(guard, &heads, heads.host))
		return ts_answer_error(MHD_HTTP_FORBIDDEN,
				       "this server answers to 127.0.0.1:%u and localhost:%u%s "
				       "only (--allow-host adds a name)",
				       (unsigned)guard->port, (unsigned)guard->port,
				       guard->is_open ? " and its own address" : "");
	if (!is_for_perfetto(&heads, target == TS_TARGET_PLAIN ? path : NULL) &&
	    !is_own_page(guard, &heads))
		return ts_answer_error(MHD_HTTP_FORBIDDEN, "pages of other origins are refused");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return ts_answer_error(MHD_HTTP_METHOD_NOT_ALLOWED,
				       "only GET and HEAD are answered here");
	if (heads.has_body)
		return ts_answer_error(MHD_HTTP_BAD_REQUEST, "a request has no body here");
	if (target != TS_TARGET_PLAIN)
		return ts_answer_error(
			MHD_HTTP_BAD_REQUEST,
			"this is not a plain path (/ is the page, /api/runs the runs)");
	return (struct ts_answer){ .body = NULL };
}
