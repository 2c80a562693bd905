/* SPDX-License-Identifier: MIT */
/* Runs that may be shown, with what is known of each. */
#ifndef TS_SERVE_LISTED_H
#define TS_SERVE_LISTED_H

#include "serve/card.h"
#include "serve/reports.h"

struct ts_listed {
	const struct ts_session *session;
	char id[TS_REPORTS_ID];
	int64_t when_ms; /* its start, as far as it is known, else when its first file was written */
	bool is_known;
	struct ts_card card;
};

struct ts_listed_runs {
	struct ts_listed *items; /* the newest first */
	size_t nr;
	bool is_known; /* of all of which more can come to be known */
};

/* Members of a run into an object that is open. */
void ts_listed_put(struct ts_json *json, const struct ts_listed *listed);

#endif
