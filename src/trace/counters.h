/* SPDX-License-Identifier: MIT */
/*
 * Counters of a trace in JSON (ph C) as tracks: one for each of a counter's values, with the name that
 * Perfetto gives it when it reads the JSON, "bytes used". Values that are not numbers are left out.
 *
 * Memory: 16 bytes a point, of TS_LIMIT_TRACE_POINTS at most a line; the first are kept.
 */
#ifndef TS_TRACE_COUNTERS_H
#define TS_TRACE_COUNTERS_H

#include "model/profile.h"
#include "result/result.h"

/* Of a line that has_points. *TRACKS and all of them are in ARENA. */
enum ts_status ts_trace_counters(const struct ts_profile *profile, uint32_t line,
				 struct ts_arena *arena, const struct ts_track **tracks, size_t *nr,
				 struct ts_error *err);

#endif
