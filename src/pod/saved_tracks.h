/* SPDX-License-Identifier: MIT */
/*
 * The tracks of a file's hosts, saved: what map overlay or map tracks drew, for the report of the run. Those of analyses of the overlay's
 * pass are not among them: their states are saved, and make them anew (pod/states.h).
 */
#ifndef TS_POD_SAVED_TRACKS_H
#define TS_POD_SAVED_TRACKS_H

#include "analysis/analysis.h"
#include "base/buf.h"

/* Of the hosts from FIRST on, NR of them. Check OUT->failed at the end. */
void ts_saved_put_tracks(struct ts_buf *out, const struct ts_profile *profile, uint32_t first,
			 uint32_t nr, const struct ts_results *results);
/* Adds them to the results of their analyses, without the args of labels, which a report does not show. TS_FORMAT: not
 * such bytes, or they are not of the hosts from FIRST on, NR of them. */
enum ts_status ts_saved_add_tracks(struct ts_bytes bytes, const struct ts_profile *profile,
				   uint32_t first, uint32_t nr, struct ts_results *results,
				   struct ts_error *err);

#endif
