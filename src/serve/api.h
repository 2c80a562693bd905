/*
 * What the server answers: the page and its parts, and the API that the page asks.
 *
 *	/			the page
 *	/page.js /page.css	its parts
 *	/api/runs		{"runs": [{"id", "title", "run", "session", "hosts", "bytes"}], "problems"}
 *	/api/report?run=ID	tpusight/1, with tracks
 *	/api/profiler/NAME?run=ID	a part of it: memory, timeline, kernels, compile
 */
#ifndef TS_SERVE_API_H
#define TS_SERVE_API_H

#include "serve/reports.h"
#include "serve/server.h"

struct ts_api;

struct ts_api *ts_api_new(const struct ts_reports_options *options); /* NULL: no memory */
void ts_api_free(struct ts_api *api);
struct ts_answer ts_api_answer(void *api, const struct ts_request *request); /* ts_server_fn */

#endif
