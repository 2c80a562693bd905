/* SPDX-License-Identifier: MIT */
/*
 * Hash maps to a uint32_t (an index into an array of the caller's): from a 64-bit id, and from
 * bytes.
 *
 * Keys of the byte map are views; their bytes must outlive it. The hash is seeded per map, so that
 * a file cannot be built to make every key collide. Free with release().
 */
#ifndef TS_BASE_MAP_H
#define TS_BASE_MAP_H

#include "base/bytes.h"

#define TS_NONE UINT32_MAX /* not an index */

struct ts_map {
	struct ts_map_slot *slots;
	size_t nr, cap;
};

struct ts_strmap {
	struct ts_strmap_slot *slots;
	size_t nr, cap;
};

/* The index kept under KEY, or TS_NONE. */
uint32_t ts_map_find(const struct ts_map *map, uint64_t key);
/* Keeps VALUE under KEY (the newest wins). False: no memory. VALUE is not TS_NONE. */
bool ts_map_set(struct ts_map *map, uint64_t key, uint32_t value);
/* Forgets KEY; harmless when it is not there. */
void ts_map_drop(struct ts_map *map, uint64_t key);
/* Each key in turn, in no order: *AT is 0 at first. False: there are no more. */
bool ts_map_walk(const struct ts_map *map, size_t *at, uint64_t *key);
void ts_map_release(struct ts_map *map);

uint32_t ts_strmap_find(const struct ts_strmap *map, struct ts_bytes key);
bool ts_strmap_set(struct ts_strmap *map, struct ts_bytes key, uint32_t value);
void ts_strmap_release(struct ts_strmap *map);

/* A 64-bit hash of the bytes, for tables of other shapes and for stable ids. Not cryptographic. */
uint64_t ts_hash(struct ts_bytes bytes, uint64_t seed);

#endif
