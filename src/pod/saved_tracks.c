/* SPDX-License-Identifier: MIT */
/* Tracks of a host, by their members. */
#include "pod/saved_tracks.h"

#include "base/check.h"
#include "pod/saved.h"
#include "run/state.h"

#define TS_SELF struct ts_point
static TS_RECORD(point, TS_NUMBER(1, at_ps, TS_BY_HAND), TS_NUMBER(2, value, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_label
static TS_RECORD(label, TS_TEXT(1, name));
#undef TS_SELF

struct saved_track {
	struct ts_bytes result; /* the name of its analysis */
	struct ts_bytes name, unit, axis, description;
	enum ts_track_kind kind;
	uint32_t device;
	int order;
	struct ts_label *labels;
	struct ts_slices slices;
	struct ts_point *points;
	size_t nr_labels, nr_points;
};

#define TS_SELF struct saved_track
static bool saved_tracks_is_track(const void *self)
{
	const struct saved_track *saved = self;

	for (size_t i = 0; i < saved->slices.nr; i++)
		if (saved->slices.items[i].label >= saved->nr_labels)
			return false;
	return saved->name.p && saved->kind <= TS_TRACK_COUNTER;
}
static TS_RECORD_WITH(track, TS_VALID_IF(saved_tracks_is_track), TS_TEXT(1, result),
		      TS_TEXT(2, name), TS_TEXT(3, unit), TS_TEXT(4, axis), TS_TEXT(5, description),
		      TS_NUMBER(6, kind, TS_BY_HAND),
		      TS_INDEX_KNOWN(7, device, TS_BY_DEVICE, TS_BY_HAND),
		      TS_NUMBER(8, order, TS_BY_HAND),
		      TS_RECORDS(9, labels, nr_labels, label_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_STRUCT(10, slices, ts_slices_record),
		      TS_RECORDS(11, points, nr_points, point_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

struct saved_tracks {
	struct saved_track *items;
	size_t nr, cap;
};

#define TS_SELF struct saved_tracks
static TS_RECORD(tracks,
		 TS_RECORDS_CAP(1, items, nr, cap, track_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

/* ---- out */

static struct ts_bytes saved_tracks_text_of(const char *text)
{
	return ts_bytes_of(text ? text : "");
}

static struct saved_track view_of(const struct ts_result *result, const struct ts_track *track)
{
	return (struct saved_track){
		.result = ts_bytes_of(result->name),
		.name = ts_bytes_of(track->name),
		.unit = saved_tracks_text_of(track->unit),
		.axis = saved_tracks_text_of(track->axis),
		.description = saved_tracks_text_of(track->description),
		.kind = track->kind,
		.device = track->device,
		.order = track->order,
		.labels = (struct ts_label *)(uintptr_t)track->labels,
		.nr_labels = track->nr_labels,
		.slices = { .items = track->slices,
			    .nr = track->nr_slices,
			    .nr_folded = track->nr_folded },
		.points = track->points,
		.nr_points = track->nr_points,
	};
}

static bool is_of_overlay(const struct ts_result *result)
{
	for (size_t i = 0; ts_analyses[i]; i++)
		if (strcmp(ts_analyses[i]->schema->name, result->name) == 0)
			return ts_analyses[i]->pass == TS_PASS_OVERLAY;
	return false;
}

static void list_tracks(struct saved_tracks *saved, const struct ts_result *result,
			const struct ts_profile *profile, uint32_t first, uint32_t nr,
			struct ts_buf *out)
{
	for (size_t i = 0; i < result->nr_tracks && !out->failed; i++) {
		const struct ts_track *track = &result->tracks[i];

		if (track->device >= profile->nr_devices ||
		    profile->devices[track->device].host < first ||
		    profile->devices[track->device].host - first >= nr)
			continue;
		out->failed |=
			!ts_grow(&saved->items, &saved->cap, saved->nr + 1, sizeof(*saved->items));
		if (!out->failed)
			saved->items[saved->nr++] = view_of(result, track);
	}
}

void ts_saved_put_tracks(struct ts_buf *out, const struct ts_profile *profile, uint32_t first,
			 uint32_t nr, const struct ts_results *results)
{
	struct saved_tracks saved = { .nr = 0 };

	TS_ASSERT(out && profile && results);
	for (size_t i = 0; i < results->nr; i++)
		if (!is_of_overlay(results->items[i]))
			list_tracks(&saved, results->items[i], profile, first, nr, out);
	ts_record_save(&tracks_record, &saved, out);
	free(saved.items); /* what they name is the results' */
}

/* ---- and in */

static struct ts_result *result_of(struct ts_results *results, struct ts_bytes name)
{
	for (size_t i = 0; i < results->nr; i++)
		if (ts_bytes_is(name, results->items[i]->name) && !is_of_overlay(results->items[i]))
			return results->items[i];
	return NULL;
}

static const char *text_or_null(struct ts_bytes text)
{
	return text.n > 0 ? (const char *)text.p : NULL;
}

static enum ts_status saved_tracks_add_track(struct ts_result *result, struct saved_track *saved,
					     struct ts_error *err)
{
	struct ts_arena *arena = &result->owner->arena;
	struct ts_track *track = ts_result_track(result, saved->kind, (const char *)saved->name.p,
						 saved->device, saved->order);

	if (!track)
		return ts_fail_nomem(err);
	track->labels =
		ts_arena_dup(arena, saved->labels, saved->nr_labels, sizeof(*saved->labels));
	track->nr_labels = saved->nr_labels;
	track->points =
		ts_arena_dup(arena, saved->points, saved->nr_points, sizeof(*saved->points));
	track->nr_points = saved->nr_points;
	if (!track->labels || !track->points)
		return ts_fail_nomem(err);
	track->unit = text_or_null(saved->unit);
	track->axis = text_or_null(saved->axis);
	track->description = text_or_null(saved->description);
	if (saved->slices.nr == 0)
		return TS_OK;
	return ts_slices_finish(&saved->slices, result, track) ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status saved_tracks_add_all(struct saved_tracks *saved,
					   const struct ts_profile *profile, uint32_t first,
					   uint32_t nr, struct ts_results *results,
					   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < saved->nr && st == TS_OK; i++) {
		struct ts_result *result = result_of(results, saved->items[i].result);
		uint32_t host = profile->devices[saved->items[i].device].host;

		if (!result || host < first || host - first >= nr)
			return ts_fail(err, TS_FORMAT, "a track in it is not of its host");
		st = saved_tracks_add_track(result, &saved->items[i], err);
	}
	return st;
}

enum ts_status ts_saved_add_tracks(struct ts_bytes bytes, const struct ts_profile *profile,
				   uint32_t first, uint32_t nr, struct ts_results *results,
				   struct ts_error *err)
{
	const struct ts_record_limits limits = ts_state_limits(profile);
	struct saved_tracks saved = { .nr = 0 };
	enum ts_status st =
		ts_record_load(&tracks_record, &saved, bytes, &limits, &results->arena, err);

	TS_ASSERT(profile && results);
	if (st == TS_OK)
		st = saved_tracks_add_all(&saved, profile, first, nr, results, err);
	ts_record_release(&tracks_record, &saved);
	return st;
}
