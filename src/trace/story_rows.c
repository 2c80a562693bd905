/* SPDX-License-Identifier: MIT */
/* Slices in the order of time, each on the first track of its row that has room. */
#include "trace/story_rows.h"

#include "base/check.h"
#include "base/map.h"
#include "base/order.h"
#include "base/units.h"

#define MAX_LANES 64 /* of a row; what finds none is left out */

uint32_t ts_story_row(struct ts_story *story, const char *name, const char *description)
{
	for (size_t i = 0; i < story->nr_rows; i++)
		if (strcmp(story->rows[i].name, name) == 0)
			return (uint32_t)i;
	if (!ts_grow(&story->rows, &story->cap_rows, story->nr_rows + 1, sizeof(*story->rows))) {
		story->failed = true;
		return TS_NONE;
	}
	story->rows[story->nr_rows] =
		(struct ts_story_row){ .name = name, .description = description };
	return (uint32_t)story->nr_rows++;
}

/* The args of the slice that was added last become its label's. */
static void story_rows_close_label(struct ts_story *story)
{
	struct ts_label *label;

	if (story->nr_args == 0 || story->failed)
		return;
	label = &story->rows[story->last.row].labels[story->last.slice];
	label->args = ts_arena_dup(story->arena, story->args, story->nr_args, sizeof(*story->args));
	label->nr_args = story->nr_args;
	story->failed |= !label->args;
	story->nr_args = 0;
}

struct ts_story_at ts_story_add(struct ts_story *story, uint32_t row, int64_t start_ps,
				int64_t end_ps, struct ts_bytes name)
{
	struct ts_story_row *of;

	story_rows_close_label(story);
	story->last = (struct ts_story_at){ TS_NONE, 0 };
	if (row == TS_NONE || story->failed)
		return story->last;
	of = &story->rows[row];
	if (!ts_grow(&of->slices, &of->cap, of->nr + 1, sizeof(*of->slices)) ||
	    !ts_grow(&of->labels, &of->cap_labels, of->nr + 1, sizeof(*of->labels))) {
		story->failed = true;
		return story->last;
	}
	of->labels[of->nr] = (struct ts_label){ .name = name };
	of->slices[of->nr] = (struct ts_story_slice){ .start_ps = start_ps,
						      .end_ps = TS_MAX(start_ps, end_ps),
						      .place = (uint32_t)of->nr };
	story->last = (struct ts_story_at){ row, (uint32_t)of->nr++ };
	return story->last;
}

void ts_story_put(struct ts_story *story, const char *key, struct ts_value value)
{
	struct ts_arg arg = { key, value };

	if (story->last.row == TS_NONE) /* there is no such row, or no memory for the slice */
		return;
	TS_ASSERT(story->nr_args < TS_STORY_ARGS);
	if (ts_arg_is_shown(&arg))
		story->args[story->nr_args++] = arg;
}

void ts_story_arrow(struct ts_story *story, struct ts_story_at from, struct ts_story_at to)
{
	if (from.row == TS_NONE || to.row == TS_NONE)
		return;
	if (!ts_grow(&story->arrows, &story->cap_arrows, story->nr_arrows + 1,
		     sizeof(*story->arrows))) {
		story->failed = true;
		return;
	}
	story->arrows[story->nr_arrows++] = (struct ts_story_arrow){ from, to };
}

/* The longest first where several begin at once. */
TS_ORDER(story_rows_by_time, struct ts_story_slice, TS_UP(start_ps) TS_DOWN(end_ps) TS_UP(place))

/* As they were added. */
TS_ORDER(story_rows_by_place, struct ts_story_slice, TS_UP(place))

struct lane {
	struct ts_slice *slices;
	size_t nr, cap;
};

/* The tracks of one row. */
struct laying {
	struct ts_story *story;
	struct lane lanes[MAX_LANES];
	size_t nr_lanes;
};

static void story_rows_lay(struct laying *laying, struct ts_story_slice *slice)
{
	struct ts_slice put = { slice->start_ps, slice->end_ps, slice->place, 1,
				ts_i64_sub(slice->end_ps, slice->start_ps) };
	size_t at = 0;

	while (at < laying->nr_lanes &&
	       laying->lanes[at].slices[laying->lanes[at].nr - 1].end_ps > slice->start_ps)
		at++;
	slice->track = TS_NONE;
	if (at == MAX_LANES)
		return;
	if (!ts_grow(&laying->lanes[at].slices, &laying->lanes[at].cap, laying->lanes[at].nr + 1,
		     sizeof(put))) {
		laying->story->failed = true;
		return;
	}
	laying->nr_lanes = TS_MAX(laying->nr_lanes, at + 1);
	slice->track = (uint32_t)at;
	laying->lanes[at].slices[laying->lanes[at].nr++] = put;
}

static const char *story_rows_lane_name(struct ts_story *story, const char *name, size_t lane)
{
	struct ts_bytes text;

	if (lane == 0)
		return name;
	text = ts_arena_printf(story->arena, "%s (%zu)", name, lane + 1);
	story->failed |= !text.p;
	return (const char *)text.p;
}

/* The row's slices become tracks, from the NR-th on; of each it is noted where it stands. */
static size_t story_rows_lay_row(struct ts_story *story, struct ts_story_row *row,
				 struct ts_track *tracks, size_t nr)
{
	struct ts_label *labels =
		ts_arena_dup(story->arena, row->labels, row->nr, sizeof(*row->labels));
	struct laying laying = { .story = story };

	story->failed |= !labels;
	TS_SORT(row->slices, row->nr, story_rows_by_time);
	for (size_t i = 0; i < row->nr; i++)
		story_rows_lay(&laying, &row->slices[i]);
	for (size_t i = 0; i < row->nr; i++)
		row->slices[i].track += row->slices[i].track == TS_NONE ? 0 : (uint32_t)nr;
	TS_SORT(row->slices, row->nr, story_rows_by_place); /* for the ends of arrows */
	for (size_t i = 0; i < laying.nr_lanes; i++) {
		struct lane *lane = &laying.lanes[i];

		tracks[nr++] = (struct ts_track){
			.kind = TS_TRACK_SLICES,
			.name = story_rows_lane_name(story, row->name, i),
			.description = row->description,
			.device = TS_NONE,
			.labels = labels,
			.nr_labels = row->nr,
			.slices = ts_arena_dup(story->arena, lane->slices, lane->nr,
					       sizeof(*lane->slices)),
			.nr_slices = lane->nr,
		};
		story->failed |= !tracks[nr - 1].slices;
		free(lane->slices);
	}
	return nr;
}

/* One end of an arrow, on the way to its track. */
struct end {
	uint32_t track;
	struct ts_track_end of;
};

/* By label, which says which slice it is; then in the order of the arrows. */
TS_ORDER(story_rows_by_track, struct end, TS_UP(track) TS_UP(of.label) TS_UP(of.number))

static const struct ts_story_slice *story_rows_slice_at(const struct ts_story *story,
							struct ts_story_at at)
{
	return &story->rows[at.row].slices[at.slice];
}

/* Viewers know arrows that go forward in time alone; of two slices that begin at once the one that they read first is the first. */
static bool story_rows_is_forward(const struct ts_story_slice *from,
				  const struct ts_story_slice *to)
{
	if (from->start_ps / TS_PS_PER_NS != to->start_ps / TS_PS_PER_NS)
		return from->start_ps < to->start_ps;
	return from->track != to->track ? from->track < to->track : from->place < to->place;
}

static void story_rows_give_ends(struct ts_story *story, struct ts_track *tracks)
{
	struct end *ends = ts_arena_array(story->arena, 2 * story->nr_arrows + 1, sizeof(*ends));
	struct ts_track_end *all =
		ts_arena_array(story->arena, 2 * story->nr_arrows + 1, sizeof(*all));
	size_t nr = 0;

	story->failed |= !ends || !all;
	for (size_t i = 0; !story->failed && i < story->nr_arrows; i++) {
		const struct ts_story_arrow *arrow = &story->arrows[i];
		const struct ts_story_slice *from = story_rows_slice_at(story, arrow->from);
		const struct ts_story_slice *to = story_rows_slice_at(story, arrow->to);
		bool is_forward = story_rows_is_forward(from, to);
		uint32_t number = (uint32_t)i + 1;

		if (from->track == TS_NONE || to->track == TS_NONE)
			continue;
		ends[nr++] = (struct end){ from->track,
					   { from->place, number, is_forward, to->start_ps } };
		ends[nr++] = (struct end){ to->track,
					   { to->place, number, !is_forward, from->start_ps } };
	}
	if (story->failed || nr == 0)
		return;
	TS_SORT(ends, nr, story_rows_by_track);
	for (size_t i = 0; i < nr; i++) {
		struct ts_track *track = &tracks[ends[i].track];

		all[i] = ends[i].of;
		if (track->nr_ends++ == 0)
			track->ends = &all[i];
	}
}

enum ts_status ts_story_finish(struct ts_story *story, const struct ts_track **tracks, size_t *nr,
			       struct ts_error *err)
{
	struct ts_track *made =
		ts_arena_array(story->arena, story->nr_rows * MAX_LANES + 1, sizeof(*made));

	story_rows_close_label(story);
	*nr = 0;
	for (size_t i = 0; made && i < story->nr_rows; i++)
		*nr = story_rows_lay_row(story, &story->rows[i], made, *nr);
	if (made)
		story_rows_give_ends(story, made);
	*tracks = made;
	return made && !story->failed ? TS_OK : ts_fail_nomem(err);
}

void ts_story_release(struct ts_story *story)
{
	for (size_t i = 0; i < story->nr_rows; i++) {
		free(story->rows[i].slices);
		free(story->rows[i].labels);
	}
	free(story->rows);
	free(story->arrows);
}
