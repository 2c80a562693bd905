/* SPDX-License-Identifier: MIT */
/*
 * A server's token: who has it may read what is served.
 *
 * A request shows it in one of three places: ?token=TOKEN of the address, a cookie that the server gave, or
 * the header "Authorization: Bearer TOKEN". The page's own address with the token is answered with the
 * cookie and the address without it, so that the token stands neither in the browser's history nor in what
 * a person copies. The name of the cookie has the port that the browser sees: cookies of a host are shared
 * by all of its ports, and two tunnels may lead to two servers.
 *
 * It is compared in a time that does not depend on how much of it is right.
 */
#ifndef TS_SERVE_TOKEN_H
#define TS_SERVE_TOKEN_H

#include "base/bytes.h"
#include "base/status.h"

#define TS_TOKEN_LEAST 16
#define TS_TOKEN_MOST  128

struct ts_token {
	char text[TS_TOKEN_MOST + 1]; /* "": there is none, and every request is let in */
};

struct MHD_Connection;

/* TEXT is 16 to 128 letters, digits and -._~ (what an address holds as it is). TS_USAGE: it is not. The message does
 * not repeat it. */
enum ts_status ts_token_read(struct ts_token *token, struct ts_bytes text, struct ts_error *err);
/* 128 bits of /dev/urandom. */
enum ts_status ts_token_new(struct ts_token *token, struct ts_error *err);

bool ts_token_is(const struct ts_token *token, struct ts_bytes given);
/* Does the request show it? HOST: as the request names it. */
bool ts_token_is_shown(const struct ts_token *token, struct MHD_Connection *client);
/* Does its address show it? */
bool ts_token_is_in_address(const struct ts_token *token, struct MHD_Connection *client);
/* The value of Set-Cookie. */
#define TS_TOKEN_COOKIE_CAP (TS_TOKEN_MOST + 80)
void ts_token_cookie(const struct ts_token *token, struct MHD_Connection *client,
		     char out[TS_TOKEN_COOKIE_CAP]);

#endif
