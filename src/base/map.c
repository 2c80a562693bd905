/* SPDX-License-Identifier: MIT */
/* Open addressing, linear probing, grown at three quarters full. */
#include "base/map.h"

#include "base/check.h"

struct ts_map_slot {
	uint64_t key;
	uint32_t value;
};

struct ts_strmap_slot {
	struct ts_bytes key;
	uint64_t hash;
	uint32_t value;
};

#define FIRST_CAP 16

static uint64_t base_map_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

uint64_t ts_hash(struct ts_bytes bytes, uint64_t seed)
{
	uint64_t h = base_map_mix(seed + 0x9e3779b97f4a7c15u + bytes.n);
	uint64_t word;
	size_t at = 0;

	TS_ASSERT_HOT(bytes.p || bytes.n == 0);
	for (; bytes.n - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes.p + at, sizeof(word));
		h = base_map_mix(h ^ word);
	}
	word = 0;
	if (bytes.n > at)
		memcpy(&word, bytes.p + at, bytes.n - at);
	return base_map_mix(h ^ word);
}

/*
 * The address of the map differs from run to run: that seed is good enough against prepared
 * collisions.
 */
static uint64_t seed_of(const void *slots)
{
	return (uint64_t)(uintptr_t)slots;
}

static struct ts_map_slot *map_slot(struct ts_map_slot *slots, size_t cap, uint64_t key)
{
	size_t at = base_map_mix(key ^ seed_of(slots)) & (cap - 1);

	while (slots[at].value != TS_NONE && slots[at].key != key)
		at = (at + 1) & (cap - 1);
	return &slots[at];
}

static bool map_grow(struct ts_map *map)
{
	size_t cap = map->cap ? map->cap * 2 : FIRST_CAP;
	struct ts_map_slot *slots;

	if (cap > SIZE_MAX / sizeof(*slots))
		return false;
	slots = malloc(cap * sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < cap; i++)
		slots[i].value = TS_NONE;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].value != TS_NONE)
			*map_slot(slots, cap, map->slots[i].key) = map->slots[i];
	free(map->slots);
	map->slots = slots;
	map->cap = cap;
	return true;
}

uint32_t ts_map_find(const struct ts_map *map, uint64_t key)
{
	TS_ASSERT_HOT(map);
	return map->cap ? map_slot(map->slots, map->cap, key)->value : TS_NONE;
}

bool ts_map_set(struct ts_map *map, uint64_t key, uint32_t value)
{
	struct ts_map_slot *slot;

	TS_ASSERT_HOT(map);
	if (map->nr + 1 > map->cap / 4 * 3 && !map_grow(map))
		return false;
	slot = map_slot(map->slots, map->cap, key);
	map->nr += slot->value == TS_NONE;
	*slot = (struct ts_map_slot){ key, value };
	return true;
}

/*
 * An item that stands behind a hole, and was pushed past it, moves up: so a search never ends too
 * early.
 */
void ts_map_drop(struct ts_map *map, uint64_t key)
{
	struct ts_map_slot *slots = map->slots;
	size_t mask = map->cap - 1, hole, home;

	TS_ASSERT_HOT(map);
	if (map->cap == 0 || map_slot(slots, map->cap, key)->value == TS_NONE)
		return;
	hole = (size_t)(map_slot(slots, map->cap, key) - slots);
	for (size_t at = (hole + 1) & mask; slots[at].value != TS_NONE; at = (at + 1) & mask) {
		home = base_map_mix(slots[at].key ^ seed_of(slots)) & mask;
		if (((at - home) & mask) < ((at - hole) & mask))
			continue; /* it stands no further back than the hole would be */
		slots[hole] = slots[at];
		hole = at;
	}
	slots[hole].value = TS_NONE;
	map->nr--;
}

bool ts_map_walk(const struct ts_map *map, size_t *at, uint64_t *key)
{
	while (*at < map->cap && map->slots[*at].value == TS_NONE)
		++*at;
	if (*at >= map->cap)
		return false;
	*key = map->slots[(*at)++].key;
	return true;
}

void ts_map_release(struct ts_map *map)
{
	TS_ASSERT(map);
	free(map->slots);
	*map = (struct ts_map){ NULL, 0, 0 };
}

static struct ts_strmap_slot *str_slot(struct ts_strmap_slot *slots, size_t cap,
				       struct ts_bytes key, uint64_t hash)
{
	size_t at = hash & (cap - 1);

	while (slots[at].value != TS_NONE &&
	       !(slots[at].hash == hash && ts_bytes_eq(slots[at].key, key)))
		at = (at + 1) & (cap - 1);
	return &slots[at];
}

static bool str_grow(struct ts_strmap *map)
{
	size_t cap = map->cap ? map->cap * 2 : FIRST_CAP;
	struct ts_strmap_slot *slots;

	if (cap > SIZE_MAX / sizeof(*slots))
		return false;
	slots = malloc(cap * sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < cap; i++)
		slots[i].value = TS_NONE;
	for (size_t i = 0; i < map->cap; i++) {
		struct ts_strmap_slot *old = &map->slots[i];

		if (old->value == TS_NONE)
			continue;
		old->hash = ts_hash(old->key, seed_of(slots));
		*str_slot(slots, cap, old->key, old->hash) = *old;
	}
	free(map->slots);
	map->slots = slots;
	map->cap = cap;
	return true;
}

uint32_t ts_strmap_find(const struct ts_strmap *map, struct ts_bytes key)
{
	TS_ASSERT_HOT(map);
	TS_ASSERT_HOT(key.p || key.n == 0);
	if (map->cap == 0)
		return TS_NONE;
	return str_slot(map->slots, map->cap, key, ts_hash(key, seed_of(map->slots)))->value;
}

bool ts_strmap_set(struct ts_strmap *map, struct ts_bytes key, uint32_t value)
{
	struct ts_strmap_slot *slot;
	uint64_t hash;

	TS_ASSERT_HOT(map);
	TS_ASSERT_HOT(key.p || key.n == 0);
	if (map->nr + 1 > map->cap / 4 * 3 && !str_grow(map))
		return false;
	hash = ts_hash(key, seed_of(map->slots));
	slot = str_slot(map->slots, map->cap, key, hash);
	map->nr += slot->value == TS_NONE;
	*slot = (struct ts_strmap_slot){ key, hash, value };
	return true;
}

void ts_strmap_release(struct ts_strmap *map)
{
	TS_ASSERT(map);
	free(map->slots);
	*map = (struct ts_strmap){ NULL, 0, 0 };
}
