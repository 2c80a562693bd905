/*
 * The latest report of what goes on, as a run of its own: made by whoever has it, when somebody asks.
 * Any thread; only who asks waits.
 */
#ifndef TS_SERVE_LATEST_H
#define TS_SERVE_LATEST_H

#include "serve/answer.h"

#define TS_LATEST_ID	      "live"
#define TS_LATEST_PATIENCE_MS 10000

struct ts_latest;

/* TITLE of the run is copied. NULL: no memory. */
struct ts_latest *ts_latest_new(const char *title, int64_t patience_ms);
void ts_latest_free(struct ts_latest *latest); /* nobody may ask any more; NULL is fine */

/* For who makes it: somebody waits; here it is (TEXT is taken over); there will be no more. */
bool ts_latest_is_wanted(struct ts_latest *latest);
void ts_latest_give(struct ts_latest *latest, struct ts_buf *text);
void ts_latest_close(struct ts_latest *latest);

/* As ts_reports_list(): the one run. */
struct ts_answer ts_latest_list(struct ts_latest *latest);
/* One that is made from now on; when none comes in time the last there was, or 503. */
struct ts_answer ts_latest_get(struct ts_latest *latest, const char *id);

#endif
