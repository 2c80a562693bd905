/* SPDX-License-Identifier: MIT */
/* Works of calls by operator and place of their arguments' text. */
#include "model/aten_known.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"

#define KNOWN_CALLS 65536

static uint64_t known_key(uint32_t op, struct ts_bytes dims)
{
	const uint64_t both[] = { (uint64_t)(uintptr_t)dims.p, op };

	return ts_hash((struct ts_bytes){ (const uint8_t *)both, sizeof(both) }, 0);
}

const struct ts_aten_work *ts_aten_known_find(const struct ts_aten_known *known, uint32_t op,
					      struct ts_bytes dims)
{
	uint32_t at = dims.p ? ts_map_find(&known->places, known_key(op, dims)) : TS_NONE;

	TS_ASSERT_HOT(known);
	return at == TS_NONE ? NULL : &known->works[at];
}

enum ts_status ts_aten_known_put(struct ts_aten_known *known, uint32_t op, struct ts_bytes dims,
				 const struct ts_aten_work *work, struct ts_error *err)
{
	TS_ASSERT_HOT(known && work);
	if (!dims.p || known->nr >= KNOWN_CALLS)
		return TS_OK;
	if (!ts_grow(&known->works, &known->cap, known->nr + 1, sizeof(*known->works)) ||
	    !ts_map_set(&known->places, known_key(op, dims), (uint32_t)known->nr))
		return ts_fail_nomem(err);
	known->works[known->nr++] = *work;
	return TS_OK;
}

void ts_aten_known_release(struct ts_aten_known *known)
{
	TS_ASSERT(known);
	ts_map_release(&known->places);
	free(known->works);
	*known = (struct ts_aten_known){ .works = NULL };
}
