/* SPDX-License-Identifier: MIT */
/* Rows by key: the row of a key that was met before, or a new one; and sums of two lists. */
#include "analysis/kit/keyed.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/record.h"

/* The array's pointer, whatever its type. */
static uint8_t *rows_of(struct ts_keyed list)
{
	uint8_t *rows;

	memcpy(&rows, list.items, sizeof(rows));
	return rows;
}

void *ts_keyed_row(struct ts_keyed list, uint64_t key, const void *fresh)
{
	uint32_t at = ts_map_find(list.index_of, key);

	TS_ASSERT_HOT(fresh && *list.nr <= *list.cap);
	TS_ASSERT_HOT(at == TS_NONE || at < *list.nr);
	if (at != TS_NONE)
		return rows_of(list) + at * list.size;
	if (*list.nr >= TS_NONE || !ts_grow(list.items, list.cap, *list.nr + 1, list.size) ||
	    !ts_map_set(list.index_of, key, (uint32_t)*list.nr))
		return NULL;
	return memcpy(rows_of(list) + (*list.nr)++ * list.size, fresh, list.size);
}

enum ts_status ts_keyed_sum(struct ts_keyed into, struct ts_keyed from, const struct ts_record *row,
			    struct ts_error *err)
{
	uint64_t *keys = calloc(*from.nr + 1, sizeof(*keys)), key;
	enum ts_status st = TS_OK;
	size_t walk = 0;

	TS_ASSERT(into.size == from.size && row->size == from.size);
	if (!keys)
		return ts_fail_nomem(err);
	while (ts_map_walk(from.index_of, &walk, &key))
		keys[ts_map_find(from.index_of, key)] = key;
	for (size_t i = 0; i < *from.nr && st == TS_OK; i++) {
		uint8_t *add = rows_of(from) + i * from.size, *to;
		size_t nr = *into.nr;

		to = ts_keyed_row(into, keys[i], add);
		st = to ? TS_OK : ts_fail_nomem(err);
		if (st == TS_OK && *into.nr == nr)
			st = ts_record_merge(row, to, add, err);
	}
	free(keys);
	return st;
}

bool ts_keyed_is_valid(const struct ts_map *index_of, size_t nr)
{
	size_t walk = 0, nr_keys = 0;
	uint64_t key;

	for (; ts_map_walk(index_of, &walk, &key); nr_keys++)
		if (ts_map_find(index_of, key) >= nr)
			return false;
	return nr_keys == nr;
}
