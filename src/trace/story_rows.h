/* SPDX-License-Identifier: MIT */
/*
 * Rows of slices in the making, each slice with a label of its own, and arrows between slices of any rows. For story.c alone.
 *
 *	row = ts_story_row(&story, "Steps", NULL);
 *	at = ts_story_add(&story, row, start_ps, end_ps, name);		true args of the slice follow:
 *	ts_story_put(&story, "step", ts_int(3));
 *	ts_story_arrow(&story, from, at);
 *	ts_story_finish(&story, &tracks, &nr, err);
 */
#ifndef TS_TRACE_STORY_ROWS_H
#define TS_TRACE_STORY_ROWS_H

#include "base/arena.h"
#include "result/result.h"

#define TS_STORY_ARGS 24 /* of a slice */

/* A slice, by its row and its place there. */
struct ts_story_at {
	uint32_t row, slice;
};

struct ts_story_slice {
	int64_t start_ps, end_ps;
	uint32_t place, track; /* where it comes to stand */
};

struct ts_story_row {
	const char *name, *description;
	struct ts_story_slice *slices;
	struct ts_label *labels;
	size_t nr, cap, cap_labels;
};

struct ts_story_arrow {
	struct ts_story_at from, to;
};

/* Failure of memory is noted in .failed. */
struct ts_story {
	struct ts_arena *arena;
	struct ts_story_row *rows;
	struct ts_story_arrow *arrows;
	size_t nr_rows, cap_rows, nr_arrows, cap_arrows;
	struct ts_arg args[TS_STORY_ARGS]; /* of the last slice */
	size_t nr_args;
	struct ts_story_at last;
	bool failed;
};

/* The row of that name; a new one where there is none. NAME lives as long as the arena. */
uint32_t ts_story_row(struct ts_story *story, const char *name, const char *description);
struct ts_story_at ts_story_add(struct ts_story *story, uint32_t row, int64_t start_ps,
				int64_t end_ps, struct ts_bytes name);
void ts_story_put(struct ts_story *story, const char *key, struct ts_value value);
/* TO does not begin before FROM. */
void ts_story_arrow(struct ts_story *story, struct ts_story_at from, struct ts_story_at to);
/* Tracks in the arena, in the order in which rows were named. */
enum ts_status ts_story_finish(struct ts_story *story, const struct ts_track **tracks, size_t *nr,
			       struct ts_error *err);
void ts_story_release(struct ts_story *story);

#endif
