/* SPDX-License-Identifier: MIT */
/* How runs went over time: in its order, with what a gate says of each. */
#ifndef TS_SERVE_TREND_H
#define TS_SERVE_TREND_H

#include "serve/listed.h"
#include "serve/server.h"

/* runs=, program= and gate= of the request. TS_USAGE: it asks for what it cannot have. */
enum ts_status ts_trend_put(struct ts_json *json, const struct ts_listed_runs *runs,
			    const struct ts_request *request, struct ts_error *err);

#endif
