/* SPDX-License-Identifier: MIT */
/* What the commands that serve pages share. */
#ifndef TS_CLI_SERVING_H
#define TS_CLI_SERVING_H

#include "cli/cli.h"
#include "live/feed.h"
#include "serve/api.h"
#include "serve/server.h"
#include "serve/token.h"

#define TS_MAX_HOSTS 16

/* Where a command serves its pages. */
struct ts_serving_at {
	const char *address; /* in numbers (serve/address.h) */
	uint16_t port;
	struct ts_token token;
	bool has_new_token;		 /* no person knows it yet */
	const char *hosts[TS_MAX_HOSTS]; /* names beside those of the loopback (serve/guard.h) */
	size_t nr_hosts;
	const char *perfetto_ui; /* address of the page that traces are opened in */
};

#define TS_SERVING_AT_INIT                                         \
	{ .address = "127.0.0.1", .port = TS_SERVER_PORT, .perfetto_ui = "https://ui.perfetto.dev" }

/* Appends a name to the ts_serving_at at AT: the function of an option. */
enum ts_status ts_serving_add_host(void *at, const char *value, struct ts_error *err);
/* TOKEN, @FILE or auto, likewise. */
enum ts_status ts_serving_set_token(void *at, const char *value, struct ts_error *err);
enum ts_status ts_serving_set_ui(void *at, const char *value, struct ts_error *err); /* likewise */

/* Rows for the table of a command whose struct TYPE has MEMBER, a ts_serving_at. */
#define TS_SERVING_OPTIONS(type, member)                                         \
	TS_OPT_TEXT(type, member.address, "host", 0, "ADDRESS",                  \
		    "listen at this address (default 127.0.0.1; another wants --token)"), \
	TS_OPT_CALL(type, member, "token", "TOKEN", ts_serving_set_token,        \
		    "answer only who shows it: a text, @FILE, or auto, which makes one"), \
	TS_OPT_COUNT(type, member.port, "port", 0, "N", 0, UINT16_MAX, "a port", \
		     .unit = "; 0: any that is free",                            \
		     .help = "listen there (default 6970; 0: any that is free)"), \
	TS_OPT_CALL(type, member, "allow-host", "NAME[:PORT]", ts_serving_add_host, \
		    "answer requests for this name too: of a tunnel, a proxy (repeatable)"), \
	TS_OPT_CALL(type, member, "perfetto-ui", "URL", ts_serving_set_ui,          \
		    "open traces in this copy of ui.perfetto.dev")

/* TS_USAGE: other machines could read without a token what is served. For .prepare of a command. */
enum ts_status ts_serving_check(const struct ts_serving_at *at, struct ts_error *err);
/* What the server of these is started with. */
struct ts_server_options ts_serving_server(const struct ts_serving_at *at, struct ts_api *api);
struct ts_reports_options ts_serving_reports(const struct ts_cli *cli); /* of the paths given */
/* Prints where it is. JSON: standard output is for JSON lines, so on standard error. With -q only where it made a
 * token, which no person knows. */
void ts_serving_print(const struct ts_cli *cli, const struct ts_serving_at *at, uint16_t port,
		      bool json);

/*
 * A feed (live/feed.h) on pages: what the listener hears goes to /api/live, the report of the latest
 * sample to the reader that asks for it. Without a sampled job the reports are of the runs below the paths.
 */
struct ts_serving;

struct ts_serving_options {
	const struct ts_serving_at *at;
	const char *services; /* of the job that is sampled; NULL: none is */
	bool json;	      /* standard output is for JSON lines */
};

enum ts_status ts_serving_start(struct ts_serving **serving, const struct ts_cli *cli,
				const struct ts_serving_options *options, struct ts_error *err);
void ts_serving_event(void *serving, const struct ts_feed_event *event); /* a ts_feed_fn */
/* Readers get the last event; it does not wait for those that do not take it. NULL is allowed. */
void ts_serving_stop(struct ts_serving *serving);
/* The page's address, with its token; NULL where SERVING is NULL. */
const char *ts_serving_page(const struct ts_serving *serving);

#endif
