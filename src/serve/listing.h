/* SPDX-License-Identifier: MIT */
/*
 * Lists of runs: all of them, and how some went over time. Nothing is analysed for a list. What is not known of a run is
 * null, and the list says that it is not complete (is_known); from then on a thread of its own looks at the runs that are
 * missing, one after the other, and the next list has more. Runs in a bucket are not fetched for that.
 */
#ifndef TS_SERVE_LISTING_H
#define TS_SERVE_LISTING_H

#include "serve/reports.h"
#include "serve/server.h"

struct ts_listing;

struct ts_listing *ts_listing_new(struct ts_reports *reports); /* NULL: no memory */
/* Waits for the run that is looked at. NULL is fine. */
void ts_listing_free(struct ts_listing *listing);

struct ts_answer ts_listing_runs(struct ts_listing *listing);
/* runs=ID,ID,... or program=NAME; gate=EXPR (compare/gate.h) */
struct ts_answer ts_listing_trend(struct ts_listing *listing, const struct ts_request *request);

#endif
