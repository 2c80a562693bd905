/* SPDX-License-Identifier: MIT */
/*
 * Seams: where the text of a trace (JSON) can be opened to put something in, so that all that stands
 * there stays as it is. An annotated copy is made of them:
 *
 *	text up to .head_at; a member (an element, of a bare list) and its comma;
 *	text up to .events_at; a comma when .needs_comma; events; text up to .end_at; .closing
 *
 * is JSON again where the text was, and also where the text was cut in the middle: then .end_at is
 * behind the last thing that was whole.
 */
#ifndef TS_READ_SEAMS_H
#define TS_READ_SEAMS_H

#include "model/profile.h"

#define TS_NO_SEAM UINT64_MAX

struct ts_seams {
	struct ts_bytes bytes; /* the input, packed or not; offsets count in the text */
	bool mapped;
	bool is_array; /* a bare list of events, not an object */
	uint64_t head_at, events_at;
	uint64_t end_at; /* TS_NO_SEAM: the text's end */
	bool needs_comma;
	bool has_items;	     /* the list of events has one */
	bool is_refused;     /* strict readers refuse the text; false where it was not asked for */
	const char *closing; /* "" for a text that was whole */
	/* Time t of the run (ps) is base_us us and t + base_ps ps on the file's own clock. */
	int64_t base_us, base_ps;
	int64_t first_ps, last_ps; /* the events' extent in the time of the run */
	uint32_t free_id; /* no pid or tid of the file is in [free_id, free_id + TS_FREE_IDS) */
};

#define TS_FREE_IDS 10000000

/* False: HOST was not a trace in JSON. After ts_profile_finish(). */
bool ts_seams_of(const struct ts_profile *profile, uint32_t host, struct ts_seams *seams);

#endif
