/* SPDX-License-Identifier: MIT */
/*
 * Where the findings of a report are, out of its JSON: those with times, one for each device that they name.
 *
 * What does not look like a report has none. At most TS_PLACES_MAX are taken.
 */
#ifndef TS_SERVE_PLACES_H
#define TS_SERVE_PLACES_H

#include "picture/picture.h"

#define TS_PLACES_MAX 1024

struct ts_places {
	struct ts_arena arena;
	struct ts_picture_finding *items; /* in the order of the report */
	size_t nr, cap;
};

/* PLACES are empty before. */
enum ts_status ts_places_read(struct ts_places *places, struct ts_bytes report,
			      struct ts_error *err);
void ts_places_release(struct ts_places *places);

#endif
