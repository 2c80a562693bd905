/* SPDX-License-Identifier: MIT */
/* Our tracks in the order that viewers shall show them. */
#ifndef TS_TRACE_TRACKS_H
#define TS_TRACE_TRACKS_H

#include "result/result.h"

/*
 * The next track of DEVICE behind LAST (NULL: the first); NULL: it was the last. Empty ones are
 * passed over. *PLACE belongs to the caller's walk, 0 when it begins.
 */
const struct ts_track *ts_trace_next_track(const struct ts_results *results, uint32_t device,
					   const struct ts_track *last, size_t *place);

#endif
