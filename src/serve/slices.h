/* SPDX-License-Identifier: MIT */
/*
 * Pictures of a run's timeline, at any zoom, as JSON (picture/picture.h).
 *
 * TS_SLICES_OPEN runs are kept open with their index, those that were asked for last. Many clients may ask at once; an
 * index is made when nothing else is analysed.
 */
#ifndef TS_SERVE_SLICES_H
#define TS_SERVE_SLICES_H

#include "serve/reports.h"
#include "serve/server.h"

#define TS_SLICES_OPEN	    2
#define TS_SLICES_MAX_WIDTH 8192
#define TS_SLICES_WIDTH	    1024 /* where none is asked for */

struct ts_pictures;

struct ts_pictures *ts_pictures_new(struct ts_reports *reports); /* NULL: no memory */
void ts_pictures_free(struct ts_pictures *pictures);		 /* NULL is fine */

/* run=, from_ps=, to_ps=, width=, device=, host=, findings=. These are of the run's report, which is made if nobody has asked for it
 * yet; HALT: as of ts_reports_get(). */
struct ts_answer ts_pictures_get(struct ts_pictures *pictures, const struct ts_request *request,
				 const struct ts_halt *halt);

#endif
