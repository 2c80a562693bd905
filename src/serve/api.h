/* SPDX-License-Identifier: MIT */
/*
 * What the server answers: the page and its parts, and the API that the page asks.
 *
 *	/			the page
 *	/page.js /page.css	its parts
 *	/api/runs		{"runs": [{"id", "title", ...}], "is_known", "problems"} (listing.h)
 *	/api/trend?runs=ID,ID	some of them in the order of time, and what a gate says of each
 *	/api/compare?runs=ID,ID	what `tpusight compare --json` prints of them (comparison.h)
 *	/api/report?run=ID	tpusight/1, with tracks; with from_ps=, to_ps=, device=, host= of that part of
 *				the run alone, which stands in it as {"part"}
 *	/api/slices?run=ID	what a timeline shows from from_ps= to to_ps=, width= places wide (slices.h)
 *	/api/profiler/NAME?run=ID	a part of it: hta, memory, timeline, kernels, compile, flame
 *				(run= may be left out where there is one run)
 *	/api/traces?run=ID	the traces for Perfetto that stand beside the run's profiles (traces.h)
 *	/api/trace?run=ID&file=NAME	the bytes of one of them
 *	/api/live		the events of a watch, as server-sent events (news.h)
 *	/metrics		its figures of now in Prometheus' text format (live/exposition.h)
 *	/perfetto/...		what ui.perfetto.dev asks an extension server for (extension.h)
 */
#ifndef TS_SERVE_API_H
#define TS_SERVE_API_H

#include "serve/held.h"
#include "serve/latest.h"
#include "serve/news.h"
#include "serve/reports.h"

struct ts_api;

struct ts_api_options {
	struct ts_reports_options reports; /* for reports of runs in folders */
	struct ts_latest *latest;	   /* where it is not NULL, the only report is this one */
	struct ts_news *news;		   /* NULL: nothing is watched */
	struct ts_held *figures;	   /* likewise */
	const char *perfetto_ui;	   /* address of Perfetto's page; must outlive the API */
};

struct ts_api *ts_api_new(const struct ts_api_options *options); /* NULL: no memory */
void ts_api_free(struct ts_api *api);
struct ts_answer ts_api_answer(void *api, const struct ts_request *request); /* ts_server_fn */

#endif
