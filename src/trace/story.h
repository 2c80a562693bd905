/* SPDX-License-Identifier: MIT */
/*
 * What the report says of times, as tracks of the run: its steps, its critical path and the gaps of its devices, with arrows along
 * the path and from what a host did to the gap that it made. Read from the tables of the results, so a trace and the report cannot
 * differ. Slices of a track that overlap stand on further tracks of the same name, "Steps (2)".
 */
#ifndef TS_TRACE_STORY_H
#define TS_TRACE_STORY_H

#include "model/profile.h"
#include "result/result.h"

/*
 * *NR tracks in ARENA, in the order of display; HOST: gaps of its devices alone, TS_NONE: of all. RESULTS may be NULL.
 */
enum ts_status ts_trace_story(const struct ts_results *results, const struct ts_profile *profile,
			      uint32_t host, struct ts_arena *arena, const struct ts_track **tracks,
			      size_t *nr, struct ts_error *err);

#endif
