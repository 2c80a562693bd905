/* SPDX-License-Identifier: MIT */
/* What `tpusight live` shows: JSON lines, plain lines, or a view on a terminal that redraws
 * itself. */
#ifndef TS_CLI_LIVE_PRINT_H
#define TS_CLI_LIVE_PRINT_H

#include "cli/cli.h"
#include "live/feed.h"

#define TS_LIVE_LOG 6 /* lines of the past that the view shows */

struct ts_live_print {
	const struct ts_cli *cli;
	bool json, color;
	struct ts_buf text;
	bool is_broken; /* standard output is closed: the reader has gone */
	bool is_mute;	/* or cannot be written, which was complained of */
	/* of plain lines: what was said of the services, so that it is said once */
	enum ts_service_state *states;
	size_t nr_states;
	/* for the view */
	bool is_view, is_open;
	const char *page;     /* its address; NULL: without a page */
	size_t width, height; /* of the screen, asked for at each sample; height 0: unknown */
	struct ts_buf log[TS_LIVE_LOG];
	uint64_t nr_log;
};

/* The form is JSON lines if JSON says so, else the view where standard output is a terminal, else plain
 * lines. */
void ts_live_print_init(struct ts_live_print *print, const struct ts_cli *cli, bool json);
void ts_live_print_release(struct ts_live_print *print); /* gives the terminal back */
void ts_live_print_event(void *print, const struct ts_feed_event *event); /* a ts_feed_fn */

#endif
