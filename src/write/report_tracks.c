/* SPDX-License-Identifier: MIT */
/* Tracks in the report's JSON. */
#include "write/report_tracks.h"

#include "base/check.h"
#include "base/order.h"

#define MIN_ITEMS 32 /* of a track, whatever the budget: fewer say nothing */

struct tracks {
	const struct ts_track **items;
	size_t nr, cap;
};

TS_ORDER_AT(report_tracks_by_place, struct ts_track, TS_UP(device) TS_UP(order) TS_UP(name))

static void report_tracks_gather(const struct ts_results *results, struct tracks *tracks,
				 struct ts_buf *out)
{
	for (size_t i = 0; i < results->nr; i++)
		for (size_t k = 0; k < results->items[i]->nr_tracks; k++) {
			if (results->items[i]->tracks[k].is_of_viewers)
				continue;
			if (!ts_grow(&tracks->items, &tracks->cap, tracks->nr + 1,
				     sizeof(struct ts_track *))) {
				out->failed = true;
				return;
			}
			tracks->items[tracks->nr++] = &results->items[i]->tracks[k];
		}
	if (tracks->nr > 1)
		qsort(tracks->items, tracks->nr, sizeof(struct ts_track *), report_tracks_by_place);
}

static void report_tracks_put_slices(struct ts_json *json, const struct ts_track *track,
				     size_t budget)
{
	struct ts_slices slices = { .budget = budget };

	for (size_t i = 0; i < track->nr_slices && !json->out->failed; i++)
		json->out->failed |=
			!ts_slices_add(&slices, track->slices[i].start_ps, track->slices[i].end_ps,
				       track->slices[i].label);
	ts_json_key(json, "labels");
	ts_json_array(json);
	for (size_t i = 0; i < track->nr_labels; i++)
		ts_json_string(json, track->labels[i].name);
	ts_json_array_end(json);
	ts_json_key(json, "slices");
	ts_json_array(json);
	for (size_t i = 0; i < slices.nr; i++) {
		ts_json_i64(json, slices.items[i].start_ps);
		ts_json_i64(json, slices.items[i].end_ps);
		ts_json_i64(json, slices.items[i].label);
	}
	ts_json_array_end(json);
	ts_slices_release(&slices);
}

/* The mean from point FROM up to point TO, each held until the next; the last one has no time. */
static double report_tracks_mean(const struct ts_point *points, size_t from, size_t to, size_t nr)
{
	double sum = 0, span = 0;

	if (to >= nr)
		to = nr - 1;
	for (size_t i = from; i < to; i++) {
		double dt = (double)points[i + 1].at_ps - (double)points[i].at_ps;

		sum += points[i].value * dt;
		span += dt;
	}
	return span > 0 ? sum / span : points[from].value;
}

static void report_tracks_put_points(struct ts_json *json, const struct ts_track *track,
				     size_t budget)
{
	size_t most = TS_MAX(budget / 2, MIN_ITEMS), each = (track->nr_points + most - 1) / most;

	ts_json_key(json, "points");
	ts_json_array(json);
	for (size_t i = 0; i < track->nr_points; i += each) {
		ts_json_i64(json, track->points[i].at_ps);
		ts_json_double(json, each == 1 ? track->points[i].value
					       : report_tracks_mean(track->points, i, i + each,
								    track->nr_points));
	}
	ts_json_array_end(json);
}

static void report_tracks_put_track(struct ts_json *json, const struct ts_track *track,
				    size_t budget)
{
	ts_json_object(json);
	ts_json_put_text(json, "name", track->name);
	ts_json_put_i64(json, "device_id", track->device);
	ts_json_put_text(json, "unit", track->unit);
	ts_json_put_text(json, "description", track->description);
	if (track->kind == TS_TRACK_SLICES)
		report_tracks_put_slices(json, track, budget);
	else
		report_tracks_put_points(json, track, budget);
	ts_json_object_end(json);
}

void ts_report_tracks(struct ts_json *json, const struct ts_results *results, size_t budget)
{
	struct tracks tracks = { .nr = 0 };
	enum ts_json_style style = json->style;

	TS_ASSERT(json && results);
	if (budget > 0)
		report_tracks_gather(results, &tracks, json->out);
	if (tracks.nr > 0) {
		ts_json_key(json, "tracks");
		json->style =
			TS_JSON_COMPACT; /* three numbers a slice are not for people to read line by line */
		ts_json_array(json);
		for (size_t i = 0; i < tracks.nr && !json->out->failed; i++)
			report_tracks_put_track(json, tracks.items[i],
						TS_MAX(budget / tracks.nr, MIN_ITEMS));
		ts_json_array_end(json);
		json->style = style;
	}
	free(tracks.items);
}
