/* SPDX-License-Identifier: MIT */
/* A slot for each of the lowest bits of a link. */
#include "model/launches.h"

#include "base/check.h"
#include "model/block.h"

static enum ts_status model_launches_make_slots(struct ts_launches *launches, struct ts_error *err)
{
	launches->slots = calloc(TS_LAUNCHES, sizeof(*launches->slots));
	if (!launches->slots)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < TS_LAUNCHES; i++)
		launches->slots[i].link = TS_NO_LINK;
	return TS_OK;
}

enum ts_status ts_launches_note(struct ts_launches *launches, uint64_t link, uint32_t value,
				struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(launches);
	if (!launches->slots)
		st = model_launches_make_slots(launches, err);
	if (st == TS_OK)
		launches->slots[link % TS_LAUNCHES] = (struct ts_launch_slot){ link, value };
	return st;
}

uint32_t ts_launches_find(const struct ts_launches *launches, uint64_t link)
{
	const struct ts_launch_slot *slot;

	TS_ASSERT_HOT(launches);
	if (!launches->slots || link == TS_NO_LINK)
		return TS_NONE;
	slot = &launches->slots[link % TS_LAUNCHES];
	return slot->link == link ? slot->value : TS_NONE;
}

uint32_t ts_launches_take(struct ts_launches *launches, uint64_t link)
{
	uint32_t value = ts_launches_find(launches, link);

	if (value != TS_NONE)
		launches->slots[link % TS_LAUNCHES].link = TS_NO_LINK;
	return value;
}
