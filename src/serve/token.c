/* SPDX-License-Identifier: MIT */
/* Facts: RFC 6750, 2.1 (Bearer); RFC 6265, 4.1 and 8.5 (cookies know no ports); RFC 3986, 2.3 (unreserved). */
#include "serve/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/check.h"
#include "base/siphash.h"
#include "serve/mhd.h"

#define COOKIE_CAP 24 /* tpusight-65535 */

enum ts_status ts_token_read(struct ts_token *token, struct ts_bytes text, struct ts_error *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

	TS_ASSERT(token);
	if (text.n < TS_TOKEN_LEAST || text.n > TS_TOKEN_MOST)
		return ts_fail(err, TS_USAGE,
			       "a token has %d to %d characters, this one has %zu (--token=auto "
			       "makes a good one)",
			       TS_TOKEN_LEAST, TS_TOKEN_MOST, text.n);
	for (size_t i = 0; i < text.n; i++)
		if (!text.p[i] || !strchr(letters, text.p[i]))
			return ts_fail(err, TS_USAGE,
				       "a token has letters, digits and -._~ only (--token=auto "
				       "makes a good one)");
	memcpy(token->text, text.p, text.n);
	token->text[text.n] = '\0';
	return TS_OK;
}

enum ts_status ts_token_new(struct ts_token *token, struct ts_error *err)
{
	struct ts_sipkey key;
	enum ts_status st = ts_sipkey_random(&key, err);

	TS_ASSERT(token);
	if (st)
		return st;
	snprintf(token->text, sizeof(token->text), "%016llx%016llx", (unsigned long long)key.k[0],
		 (unsigned long long)key.k[1]);
	return TS_OK;
}

/* Each byte of what was given is looked at, whatever came before it. */
bool ts_token_is(const struct ts_token *token, struct ts_bytes given)
{
	size_t n = strlen(token->text);
	volatile unsigned differs = given.n != n;

	TS_ASSERT(token);
	if (n == 0)
		return false;
	for (size_t i = 0; i < given.n; i++)
		differs |= (unsigned)given.p[i] ^ (uint8_t)token->text[i % n];
	return differs == 0;
}

/* The port of the address that the browser shows: "tpusight-6970". Without one it is HTTP's own. */
static void name_cookie(struct MHD_Connection *client, char out[COOKIE_CAP])
{
	const char *host =
		MHD_lookup_connection_value(client, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	const char *colon = host ? strrchr(host, ':') : NULL;
	long port = colon ? strtol(colon + 1, NULL, 10) : 0;

	snprintf(out, COOKIE_CAP, "tpusight-%d", port > 0 && port <= UINT16_MAX ? (int)port : 80);
}

static bool token_is_shown(const struct ts_token *token, const char *text)
{
	return text && ts_token_is(token, ts_bytes_of(text));
}

static bool is_in_header(const struct ts_token *token, struct MHD_Connection *client)
{
	static const char scheme[] = "Bearer ";
	const char *text =
		MHD_lookup_connection_value(client, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);

	return text && strncasecmp(text, scheme, strlen(scheme)) == 0 &&
	       token_is_shown(token, text + strlen(scheme));
}

bool ts_token_is_in_address(const struct ts_token *token, struct MHD_Connection *client)
{
	TS_ASSERT(token && client);
	return token_is_shown(token,
			      MHD_lookup_connection_value(client, MHD_GET_ARGUMENT_KIND, "token"));
}

bool ts_token_is_shown(const struct ts_token *token, struct MHD_Connection *client)
{
	char cookie[COOKIE_CAP];

	TS_ASSERT(token && client);
	name_cookie(client, cookie);
	return token_is_shown(token,
			      MHD_lookup_connection_value(client, MHD_COOKIE_KIND, cookie)) ||
	       is_in_header(token, client) || ts_token_is_in_address(token, client);
}

void ts_token_cookie(const struct ts_token *token, struct MHD_Connection *client,
		     char out[TS_TOKEN_COOKIE_CAP])
{
	char cookie[COOKIE_CAP];

	TS_ASSERT(token && client && out);
	name_cookie(client, cookie);
	snprintf(out, TS_TOKEN_COOKIE_CAP, "%s=%s; Path=/; HttpOnly; SameSite=Lax", cookie,
		 token->text);
}
