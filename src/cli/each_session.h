/* SPDX-License-Identifier: MIT */
/*
 * The sessions of a command line: small ones on threads, several at once, a large one with all threads by itself. What is said
 * of them comes in their order, each whole. Sessions of one folder follow each other: they share its lock and its
 * files.
 */
#ifndef TS_CLI_EACH_SESSION_H
#define TS_CLI_EACH_SESSION_H

#include "base/meter.h"
#include "cli/cli.h"

struct ts_session_work {
	void *ctx;
	size_t slot_size; /* what is kept of a session between the two; zeroed once */
	/* On any thread, and with so many of its own: nothing is printed. METER may be NULL. */
	void (*work)(void *ctx, void *slot, size_t session, size_t nr_threads,
		     struct ts_meter *meter);
	/* One at a time, in the order of the sessions: what there is to say of it. */
	void (*finish)(void *ctx, void *slot, size_t session);
};

/* TS_NOMEM alone. */
enum ts_status ts_each_session(const struct ts_cli *cli, const struct ts_runs *runs,
			       const struct ts_session_work *work, struct ts_error *err);

#endif
