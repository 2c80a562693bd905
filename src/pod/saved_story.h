/* SPDX-License-Identifier: MIT */
/* What the report says of times as tracks (trace/story.h), by its members: map overlay's parts of a trace do not need it, reduce trace does. */
#ifndef TS_POD_SAVED_STORY_H
#define TS_POD_SAVED_STORY_H

#include "base/arena.h"
#include "base/record.h"
#include "result/result.h"

/* As it is saved; zeroed at first. */
struct ts_saved_story {
	struct saved_story_track *tracks;
	size_t nr;
};

extern const struct ts_record ts_saved_story_record; /* of struct ts_saved_story */

/* What it points to is the tracks'; false: no memory. Free with ts_saved_story_drop(). */
bool ts_saved_story_of(const struct ts_track *tracks, size_t nr, struct ts_saved_story *saved);
void ts_saved_story_drop(struct ts_saved_story *saved);
/* Tracks in ARENA of what was loaded; NULL: no memory. */
const struct ts_track *ts_saved_story_tracks(const struct ts_saved_story *saved,
					     struct ts_arena *arena);

#endif
