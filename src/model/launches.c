/* SPDX-License-Identifier: Apache-2.0 */
/* A slot for each of the lowest bits of a link. */
#include "model/launches.h"

#include "base/check.h"
#include "model/block.h"

static bool make_slots(struct ts_launches *launches)
{
	launches->slots = calloc(TS_LAUNCHES, sizeof(*launches->slots));
	if (!launches->slots)
		return false;
	for (size_t i = 0; i < TS_LAUNCHES; i++)
		launches->slots[i].link = TS_NO_LINK;
	return true;
}

bool ts_launches_note(struct ts_launches *launches, uint64_t link, uint32_t value)
{
	TS_ASSERT_HOT(launches);
	if (!launches->slots && !make_slots(launches))
		return false;
	launches->slots[link % TS_LAUNCHES] = (struct ts_launch_slot){ link, value };
	return true;
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
