/* SPDX-License-Identifier: MIT */
/*
 * Which requests are meant for this server. All others are refused before a route sees them.
 *
 * A page of another origin can make a browser ask any address, and a name of its own can be made to
 * lead to 127.0.0.1 (DNS rebinding). So the Host must be a name that is known to be ours: a loopback
 * name with our port, where other machines can reach us the address that the connection came to, or a name
 * that the user gave. Where the browser says which page asks (Origin,
 * Sec-Fetch-Site), that page must be ours too; the one other that may is Perfetto's, and only what is below
 * TS_EXTENSION_PATH, which is the same for all runs.
 *
 * What two programs could read in two ways is refused as well: two Hosts, a header whose name is no word, a body, a
 * target that is not a plain path.
 */
#ifndef TS_SERVE_GUARD_H
#define TS_SERVE_GUARD_H

#include "serve/answer.h"

struct MHD_Connection;

struct ts_guard {
	_Atomic uint16_t port;	  /* 0 until it is known */
	bool is_open;		  /* other machines can reach the server */
	const char *const *hosts; /* NAME or NAME:PORT, from the user; must outlive the guard */
	size_t nr_hosts;
};

/* What a target is, as it was sent: a path that reads the same everywhere, one that does not, or one that is too long. */
enum ts_target { TS_TARGET_PLAIN, TS_TARGET_ODD, TS_TARGET_LONG };

#define TS_TARGET_MAX 16384 /* characters: runs= has 512 ids of 16, their commas escaped */

enum ts_target ts_guard_target(const char *target);

/* Is TEXT a value for .hosts? */
bool ts_guard_is_host(const char *text);

/* PATH: that of TARGET, where it is plain. HEAD_BYTES: of the request line and the headers. An answer that says why; .body
 * is NULL where the request is not refused. *HAS_BODY: it has, or may have. */
struct ts_answer ts_guard_refuse(const struct ts_guard *guard, struct MHD_Connection *client,
				 const char *method, enum ts_target target, const char *path,
				 size_t head_bytes, bool *has_body);

#endif
