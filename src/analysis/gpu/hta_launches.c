/* SPDX-License-Identifier: MIT */
/*
 * Calls of the runtime whose kernels are still to come: a ring in the order of the calls, and open
 * addressing by link. A call leaves when it is the oldest of HTA_LAUNCHES_MAX, since the launch of
 * a graph has many kernels and a call that only waits does not have any. A stream holds some
 * thousand launches at most, so that is late enough.
 */
#include "analysis/gpu/hta.h"

#include "base/check.h"

#define SLOTS (2 * HTA_LAUNCHES_MAX)

enum ts_status ts_hta_launches_init(struct hta_launches *launches, struct ts_error *err)
{
	launches->ring = calloc(HTA_LAUNCHES_MAX, sizeof(*launches->ring));
	launches->nr_ring = HTA_LAUNCHES_MAX;
	launches->slots = calloc(SLOTS, sizeof(*launches->slots));
	return launches->ring && launches->slots ? TS_OK : ts_fail_nomem(err);
}

/* The ring's address differs from run to run: it is the seed against prepared collisions. */
static size_t home(const struct hta_launches *launches, uint64_t link)
{
	uint64_t x = link ^ (uint64_t)(uintptr_t)launches->ring;

	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return (size_t)(x * UINT64_C(0xd6e8feb86659fd93) >> 40) % SLOTS;
}

static struct hta_launch *at_slot(const struct hta_launches *launches, size_t slot)
{
	return &launches->ring[launches->slots[slot] - 1];
}

/* Its slot, or the empty one where it would be. */
static size_t seek(const struct hta_launches *launches, uint64_t link)
{
	size_t slot = home(launches, link);

	while (launches->slots[slot] && at_slot(launches, slot)->link != link)
		slot = (slot + 1) % SLOTS;
	return slot;
}

struct hta_launch *ts_hta_launches_find(const struct hta_launches *launches, uint64_t link)
{
	size_t slot = seek(launches, link);

	return launches->slots[slot] ? at_slot(launches, slot) : NULL;
}

bool ts_hta_launches_full(const struct hta_launches *launches)
{
	return launches->next - launches->first == HTA_LAUNCHES_MAX;
}

/* Where two calls have the same link, the newer one is found. */
void ts_hta_launches_add(struct hta_launches *launches, const struct hta_launch *launch)
{
	uint32_t place = (uint32_t)(launches->next++ % HTA_LAUNCHES_MAX);

	TS_ASSERT_HOT(launches->next - launches->first <= HTA_LAUNCHES_MAX);
	launches->ring[place] = *launch;
	launches->slots[seek(launches, launch->link)] = place + 1;
}

/* What stands behind an emptied slot moves up, so that no search ends before it. */
static void hta_launches_empty(struct hta_launches *launches, size_t hole)
{
	for (size_t slot = (hole + 1) % SLOTS; launches->slots[slot]; slot = (slot + 1) % SLOTS) {
		size_t wanted = home(launches, at_slot(launches, slot)->link);

		if ((slot - wanted + SLOTS) % SLOTS < (slot - hole + SLOTS) % SLOTS)
			continue;
		launches->slots[hole] = launches->slots[slot];
		hole = slot;
	}
	launches->slots[hole] = 0;
}

bool ts_hta_launches_pop(struct hta_launches *launches, struct hta_launch *out)
{
	uint32_t place = (uint32_t)(launches->first % HTA_LAUNCHES_MAX);
	size_t slot;

	if (launches->first == launches->next)
		return false;
	*out = launches->ring[place];
	launches->first++;
	if (!launches->slots)
		return true; /* out of a saved state, in which no more kernels come */
	slot = seek(launches, out->link);
	if (launches->slots[slot] == place + 1)
		hta_launches_empty(launches, slot);
	return true;
}
