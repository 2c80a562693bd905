/* SPDX-License-Identifier: MIT */
/*
 * The findings of a run as tracks of their own, for the process that every trace of ours has: a
 * track and a slice each, in the order of the report. So none is missing, also where it is about no op and
 * no device. A slice is as long as the time that its finding is about, else as long as the run.
 */
#ifndef TS_TRACE_FINDINGS_H
#define TS_TRACE_FINDINGS_H

#include "result/result.h"

#define TS_TRACE_RUN "TPUsight" /* the process of what is the run's: findings, and story.h */

struct ts_trace_extent {
	int64_t first_ps, last_ps; /* of the events of a file */
};

/*
 * *NR tracks in ARENA; names are "1 critical". RESULTS may be NULL.
 */
enum ts_status ts_trace_findings(const struct ts_results *results, struct ts_trace_extent extent,
				 struct ts_arena *arena, const struct ts_track **tracks, size_t *nr,
				 struct ts_error *err);

#endif
