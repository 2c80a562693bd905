/* SPDX-License-Identifier: MIT */
/*
 * The launches seen last, by their link (TS_COL_LINK): a kernel that starts later finds what was
 * noted when it was launched.
 *
 * A ring: of launches whose links are 65,536 apart the older one is forgotten, so memory is 1 MiB
 * whatever the run. Queues are far shorter (CUDA's holds 1,024 kernels a stream), and links count up.
 */
#ifndef TS_MODEL_LAUNCHES_H
#define TS_MODEL_LAUNCHES_H

#include "base/map.h"

#define TS_LAUNCHES 65536

struct ts_launch_slot {
	uint64_t link;
	uint32_t value;
};

struct ts_launches {
	struct ts_launch_slot *slots; /* of the heap; NULL: nothing was noted */
};

/* A launch noted again has the newer value. */
enum ts_status ts_launches_note(struct ts_launches *launches, uint64_t link, uint32_t value,
				struct ts_error *err);
/* TS_NONE: it was not noted, or is forgotten. */
uint32_t ts_launches_find(const struct ts_launches *launches, uint64_t link);
/* The same, and it is forgotten. */
uint32_t ts_launches_take(struct ts_launches *launches, uint64_t link);

#endif
