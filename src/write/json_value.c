/* SPDX-License-Identifier: MIT */
/* Lists inside lists are made by analyses, never by input: their depth is ours. */
#include "write/json_value.h"

#include "base/check.h"

static void json_value_put_list(struct ts_json *json, const struct ts_list *list)
{
	const struct ts_value *item = list->items;

	ts_json_array(json);
	for (size_t i = 0; i < list->nr; i++) {
		if (!list->columns) {
			ts_json_value(json, *item++);
			continue;
		}
		ts_json_object(json);
		for (size_t k = 0; k < list->nr_columns; k++) {
			ts_json_key(json, list->columns[k].name);
			ts_json_value(json, *item++);
		}
		ts_json_object_end(json);
	}
	ts_json_array_end(json);
}

void ts_json_value(struct ts_json *json, struct ts_value value)
{
	TS_ASSERT_HOT(json);
	switch (value.type) {
	case TS_VALUE_IMPOSSIBLE:
	case TS_VALUE_NULL:	  ts_json_null(json); break;
	case TS_VALUE_INT:	  ts_json_i64(json, value.as.i); break;
	case TS_VALUE_ID:	  ts_json_u64_string(json, value.as.u); break;
	case TS_VALUE_REAL:	  ts_json_double(json, value.as.r); break;
	case TS_VALUE_TEXT:	  ts_json_string(json, value.as.s); break;
	case TS_VALUE_BOOL:	  ts_json_bool(json, value.as.b); break;
	case TS_VALUE_LIST:	  json_value_put_list(json, value.as.list); break;
	}
}
