/* What the commands share that serve pages. */
#ifndef TS_CLI_SERVING_H
#define TS_CLI_SERVING_H

#include "cli/cli.h"
#include "live/feed.h"
#include "serve/api.h"

enum ts_status ts_set_port(struct ts_cli *cli, const char *value, struct ts_error *err);
#define TS_OPTION_PORT \
	{ "port", 0, "N", "listen there (default 6970; 0: any that is free)", ts_set_port }

struct ts_reports_options ts_serving_reports(const struct ts_cli *cli); /* of the paths given */
/* Where it is, on standard output; on standard error when that is for JSON lines; not with -q. */
void ts_serving_say(const struct ts_cli *cli, uint16_t port);

/*
 * A feed (live/feed.h) on pages: what the listener hears goes to /api/live, the report of the latest
 * sample to who asks for it. Without a sampled job the reports are of the runs below the paths.
 */
struct ts_serving;

enum ts_status ts_serving_start(struct ts_serving **serving, const struct ts_cli *cli,
				struct ts_error *err);
void ts_serving_event(void *serving, const struct ts_feed_event *event); /* a ts_feed_fn */
/* Readers get the last event; those that do not take it are left. NULL is none. */
void ts_serving_stop(struct ts_serving *serving);
uint16_t ts_serving_port(const struct ts_serving *serving); /* of none: 0 */

#endif
