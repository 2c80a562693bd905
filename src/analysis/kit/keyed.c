/* Rows by key: the row of a key that was met before, or a new one. */
#include "analysis/kit/keyed.h"

#include "base/arena.h"
#include "base/check.h"

void *ts_keyed_row(struct ts_keyed list, uint64_t key, const void *fresh)
{
	uint32_t at = ts_map_find(list.index_of, key);
	uint8_t *rows;

	TS_ASSERT_HOT(fresh && *list.nr <= *list.cap);
	TS_ASSERT_HOT(at == TS_NONE || at < *list.nr);
	if (at == TS_NONE) {
		if (*list.nr >= TS_NONE ||
		    !ts_grow(list.items, list.cap, *list.nr + 1, list.size) ||
		    !ts_map_set(list.index_of, key, (uint32_t)*list.nr))
			return NULL;
		at = (uint32_t)(*list.nr)++;
		memcpy(&rows, list.items, sizeof(rows)); /* the pointer, whatever its type */
		return memcpy(rows + at * list.size, fresh, list.size);
	}
	memcpy(&rows, list.items, sizeof(rows));
	return rows + at * list.size;
}
