/* SPDX-License-Identifier: MIT */
/* Slices first, then counters; each by .order, then in the order of results. */
#include "trace/tracks.h"

#include "base/check.h"

static bool tracks_is_empty(const struct ts_track *track)
{
	return track->kind == TS_TRACK_SLICES ? track->nr_slices == 0 : track->nr_points == 0;
}

static int64_t tracks_key_of(const struct ts_track *track)
{
	return track->order + (track->kind == TS_TRACK_COUNTER ? (int64_t)1 << 32 : 0);
}

const struct ts_track *ts_trace_next_track(const struct ts_results *results, uint32_t device,
					   const struct ts_track *last, size_t *last_place)
{
	const struct ts_track *best = NULL;
	size_t place = 0, best_place = 0;

	TS_ASSERT(last_place);
	for (size_t r = 0; r < results->nr; r++) {
		const struct ts_result *result = results->items[r];

		for (size_t t = 0; t < result->nr_tracks; t++, place++) {
			const struct ts_track *track = &result->tracks[t];
			bool is_later = !last || tracks_key_of(track) > tracks_key_of(last) ||
					(tracks_key_of(track) == tracks_key_of(last) &&
					 place > *last_place);

			if (track->device != device || tracks_is_empty(track) || !is_later)
				continue;
			if (best && tracks_key_of(track) >= tracks_key_of(best))
				continue;
			best = track;
			best_place = place;
		}
	}
	*last_place = best_place;
	return best;
}
