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

static enum ts_status known_put(struct ts_aten_known *known, uint32_t op, struct ts_bytes dims,
				const struct ts_aten_work *work, struct ts_error *err)
{
	if (!dims.p || known->nr >= KNOWN_CALLS)
		return TS_OK;
	if (!ts_grow(&known->works, &known->cap, known->nr + 1, sizeof(*known->works)) ||
	    !ts_map_set(&known->places, known_key(op, dims), (uint32_t)known->nr))
		return ts_fail_nomem(err);
	known->works[known->nr++] = *work;
	return TS_OK;
}

enum ts_status ts_aten_known_work(struct ts_aten_known *known, uint32_t op,
				  struct ts_aten_call *call, ts_aten_ask *ask, const void *ctx,
				  struct ts_aten_work *work, struct ts_error *err)
{
	uint32_t at =
		call->dims.p ? ts_map_find(&known->places, known_key(op, call->dims)) : TS_NONE;

	TS_ASSERT_HOT(known && call && ask && work);
	if (at != TS_NONE) {
		*work = known->works[at];
		return TS_OK;
	}
	call->types = ask(ctx, "Input type");
	call->values = ask(ctx, "Concrete Inputs");
	*work = ts_aten_work_of(call);
	return known_put(known, op, call->dims, work, err);
}

void ts_aten_known_release(struct ts_aten_known *known)
{
	TS_ASSERT(known);
	ts_map_release(&known->places);
	free(known->works);
	*known = (struct ts_aten_known){ .works = NULL };
}
