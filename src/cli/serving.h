/* What the commands that serve pages share. */
#ifndef TS_CLI_SERVING_H
#define TS_CLI_SERVING_H

#include "cli/cli.h"
#include "live/feed.h"
#include "serve/api.h"

enum ts_status ts_set_port(struct ts_cli *cli, const char *value, struct ts_error *err);
#define TS_OPTION_PORT \
	{ "port", 0, "N", "listen there (default 6970; 0: any that is free)", ts_set_port }

struct ts_reports_options ts_serving_reports(const struct ts_cli *cli); /* of the given paths */
/* Prints the address on standard output, or on standard error when standard output has JSON lines.
 * With -q it prints nothing. */
void ts_serving_print_address(const struct ts_cli *cli, uint16_t port);

/*
 * A feed (live/feed.h) shown on pages: its events go to /api/live, and the report of the latest
 * sample to a client that asks for it. Where no job is sampled, the reports are those of the runs
 * below the paths.
 */
struct ts_serving;

enum ts_status ts_serving_start(struct ts_serving **serving, const struct ts_cli *cli,
				struct ts_error *err);
void ts_serving_event(void *serving, const struct ts_feed_event *event); /* a ts_feed_fn */
/* Readers get the last event; it does not wait long for them. NULL is fine. */
void ts_serving_stop(struct ts_serving *serving);
uint16_t ts_serving_port(const struct ts_serving *serving); /* 0 where SERVING is NULL */

#endif
