/* SPDX-License-Identifier: MIT */
/* Launches and kernels that wait for each other, in two generations: the older one is forgotten. */
#include "analysis/gpu/flame.h"

#include "base/check.h"
#include "base/record.h"

static void turn_over(struct flame_links *links)
{
	struct flame_launch *launches = links->launches[1];
	size_t cap = links->cap_launches[1];

	ts_map_release(&links->by_link[1]);
	links->by_link[1] = links->by_link[0];
	links->by_link[0] = (struct ts_map){ NULL, 0, 0 };
	links->launches[1] = links->launches[0];
	links->nr_launches[1] = links->nr_launches[0];
	links->cap_launches[1] = links->cap_launches[0];
	links->launches[0] = launches;
	links->nr_launches[0] = 0;
	links->cap_launches[0] = cap;
}

enum ts_status ts_flame_links_add(struct flame_links *links, const struct flame_launch *launch,
				  struct ts_error *err)
{
	size_t *nr = &links->nr_launches[0];

	if (*nr >= FLAME_LAUNCHES)
		turn_over(links);
	if (!ts_grow(&links->launches[0], &links->cap_launches[0], *nr + 1, sizeof(*launch)) ||
	    !ts_map_set(&links->by_link[0], launch->link, (uint32_t)*nr))
		return ts_fail_nomem(err);
	links->launches[0][(*nr)++] = *launch;
	return TS_OK;
}

const struct flame_launch *ts_flame_links_find(const struct flame_links *links, uint64_t link)
{
	for (size_t i = 0; i < TS_NELEM(links->by_link); i++) {
		uint32_t at = ts_map_find(&links->by_link[i], link);

		if (at != TS_NONE)
			return &links->launches[i][at];
	}
	return NULL;
}

enum ts_status ts_flame_links_wait(struct flame_links *links, uint64_t link, uint32_t op,
				   int64_t dur_ps, struct ts_error *err)
{
	uint32_t at = (uint32_t)links->nr_waiting;
	uint32_t next = ts_map_find(&links->waiting_by_link, link);

	TS_ASSERT_HOT(links->nr_waiting < FLAME_LAUNCHES && dur_ps >= 0);
	if (!ts_grow(&links->waiting, &links->cap_waiting, links->nr_waiting + 1,
		     sizeof(*links->waiting)) ||
	    !ts_map_set(&links->waiting_by_link, link, at))
		return ts_fail_nomem(err);
	links->waiting[links->nr_waiting++] = (struct flame_waiting){ link, dur_ps, op, next };
	return TS_OK;
}

uint32_t ts_flame_links_waiting(const struct flame_links *links, uint64_t link)
{
	return links->nr_waiting ? ts_map_find(&links->waiting_by_link, link) : TS_NONE;
}

void ts_flame_links_forget_waiting(struct flame_links *links)
{
	ts_map_release(&links->waiting_by_link);
	links->nr_waiting = 0;
}

void ts_flame_links_moved(struct flame_links *links, enum flame_kind tree, const uint32_t *moved)
{
	TS_ASSERT((int)tree < FLAME_NR_LIVE && moved);
	for (size_t i = 0; i < TS_NELEM(links->launches); i++)
		for (size_t k = 0; k < links->nr_launches[i]; k++) {
			uint32_t *node = &links->launches[i][k].node[tree];

			*node = *node == TS_NONE ? TS_NONE : moved[*node];
		}
}

#define TS_SELF struct flame_waiting
static TS_RECORD(waiting, TS_NUMBER(1, link, TS_BY_HAND), TS_NUMBER(2, dur_ps, TS_BY_HAND),
		 TS_INDEX_KNOWN(3, op, TS_BY_OP, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct flame_links
TS_RECORD_AS(ts_flame_links_record, links, , TS_LIST(1, waiting, waiting_record, TS_BY_HAND),
	     TS_SCRATCH(launches[0]), TS_SCRATCH(launches[1]), TS_SCRATCH(by_link[0].slots),
	     TS_SCRATCH(by_link[1].slots), TS_SCRATCH(waiting_by_link.slots));
#undef TS_SELF
