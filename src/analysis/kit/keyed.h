/* SPDX-License-Identifier: MIT */
/*
 * Lists whose rows are found by a key: a heap array that grows, with a map from the key to the index of
 * the row.
 */
#ifndef TS_ANALYSIS_KIT_KEYED_H
#define TS_ANALYSIS_KIT_KEYED_H

#include "base/map.h"

struct ts_keyed {
	struct ts_map *index_of;
	void *items; /* address of the array's pointer */
	size_t *nr, *cap;
	size_t size; /* bytes of a row */
};

/* Of the members NAME, nr_NAME and cap_NAME of STATE, and of its map. */
#define TS_KEYED(state, name, map) \
	((struct ts_keyed){ &(state)->map, &(state)->name, &(state)->nr_##name, \
			    &(state)->cap_##name, sizeof(*(state)->name) })

/* The row of KEY; when there was not one before, a copy of FRESH. NULL: no memory. A row that is new may
 * move the others. */
void *ts_keyed_row(struct ts_keyed list, uint64_t key, const void *fresh);

/* Adds the rows of FROM to those of the same keys in INTO, by the table ROW; FROM stays as it is. Rows do not
 * own memory. */
struct ts_record;
enum ts_status ts_keyed_sum(struct ts_keyed into, struct ts_keyed from, const struct ts_record *row,
			    struct ts_error *err);

/* Whether a map and the number of rows belong together: asked of what was loaded. */
bool ts_keyed_is_valid(const struct ts_map *index_of, size_t nr);

#endif
