/* SPDX-License-Identifier: MIT */
/*
 * Tracks over time in the report's JSON: what the viewers draw, coarse enough for a page.
 *
 *	"tracks": [{ "name", "device_id", "unit", "description", "labels": [...],
 *		     "slices": [start_ps, end_ps, label, ...] or "points": [at_ps, value, ...] }]
 *
 * In the order of devices, then of rows. Slices and points are flat arrays of threes and twos. A
 * point's value holds until the next one. Slices are joined as in the overlay (result/result.h), points
 * are means over their time, until all tracks together have no more than the budget; a point counts twice, as a chart has
 * no use for more of them than pixels. Tracks that show what tables of the report say are left out.
 */
#ifndef TS_WRITE_REPORT_TRACKS_H
#define TS_WRITE_REPORT_TRACKS_H

#include "codec/json.h"
#include "result/result.h"

/* The key and its array, inside an object. A BUDGET of 0 writes nothing. */
void ts_report_tracks(struct ts_json *json, const struct ts_results *results, size_t budget);

#endif
