/* SPDX-License-Identifier: MIT */
/*
 * The latest report of a watched job, served as a run of its own. The watch makes it only when a
 * client asks. Functions may be called on any thread; only ts_latest_get() waits.
 */
#ifndef TS_SERVE_LATEST_H
#define TS_SERVE_LATEST_H

#include "serve/answer.h"

#define TS_LATEST_ID	      "live"
#define TS_LATEST_PATIENCE_MS 10000
#define TS_LATEST_WAITING     256

struct ts_latest;

/* TITLE of the run is copied. NULL: no memory. */
struct ts_latest *ts_latest_new(const char *title, int64_t patience_ms);
void ts_latest_free(struct ts_latest *latest); /* after the last client; NULL is fine */

/* For the watch: does a client wait? Here is a report (TEXT is taken over). There will be no
 * more. */
bool ts_latest_is_wanted(struct ts_latest *latest);
void ts_latest_give(struct ts_latest *latest, struct ts_buf *text);
void ts_latest_close(struct ts_latest *latest);

/* As ts_reports_list(), of the one run. */
struct ts_answer ts_latest_list(struct ts_latest *latest);
/* A report that is made after the call. Where none comes in time it is the last one, or status
 * 503, as for a client behind TS_LATEST_WAITING others. */
struct ts_answer ts_latest_get(struct ts_latest *latest, const char *id);

#endif
