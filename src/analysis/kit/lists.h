/* SPDX-License-Identifier: MIT */
/*
 * Lists inside a cell. The list of names and values of an item is declared once, as a table's columns
 * are (result/schema.h):
 *
 *	#define AXIS_ITEMS(X)                   \
 *		X(places, ts_text(axis->where)) \
 *		X(padded_pct, ts_share_pct(axis->waste_share))
 *
 *	static const char *const names[] = { AXIS_ITEMS(TS_ITEM_NAME) };
 *	...
 *	AXIS_ITEMS(TS_ITEM_PUT)			(moves ITEMS to the next item)
 */
#ifndef TS_ANALYSIS_KIT_LISTS_H
#define TS_ANALYSIS_KIT_LISTS_H

#include "result/result.h"

#define TS_ITEM_NAME(name, value) #name,
#define TS_ITEM_PUT(name, value)  *items++ = (value);

/* Null when memory is out, as the results then know. */
struct ts_value ts_text_list(struct ts_result *result, const struct ts_bytes *texts, size_t nr);
struct ts_value ts_int_list(struct ts_result *result, const int64_t *numbers, size_t nr);

#endif
