/* SPDX-License-Identifier: MIT */
/* Lists inside lists are made by analyses, never by input: their depth is ours. */
#include "write/json_value.h"

#include "base/check.h"
#include "result/view.h"

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

#define PUT_MEMBERS(kind, nr, of)                                    \
	for (size_t k = 0; k < (nr); k++) {                          \
		ts_json_key(json, ts_##kind##_columns[k]);           \
		ts_json_value(json, ts_##kind##_value(of, k));       \
	}

#define PUT_ROWS(kind, nr)                                \
	ts_json_array(json);                              \
	for (size_t i = 0; i < finding->nr_##kind; i++) { \
		ts_json_object(json);                     \
		PUT_MEMBERS(kind, nr, &finding->kind[i])  \
		ts_json_object_end(json);                 \
	}                                                 \
	ts_json_array_end(json);

void ts_json_places(struct ts_json *json, const struct ts_finding *finding)
{
	TS_ASSERT(json && finding);
	PUT_ROWS(where, TS_WHERE_COLUMNS)
}

void ts_json_times(struct ts_json *json, const struct ts_finding *finding)
{
	TS_ASSERT(json && finding);
	PUT_ROWS(when, TS_WHEN_COLUMNS)
}

static void json_value_put_root(struct ts_json *json, const struct ts_root *root)
{
	if (!root->kind) {
		ts_json_null(json);
		return;
	}
	ts_json_object(json);
	PUT_MEMBERS(root, TS_ROOT_COLUMNS, root)
	ts_json_key(json, "chain");
	ts_json_array(json);
	for (size_t i = 0; i < root->nr_chain; i++)
		ts_json_string(json, root->chain[i]);
	ts_json_array_end(json);
	ts_json_object_end(json);
}

void ts_json_finding(struct ts_json *json, const struct ts_finding *finding)
{
	TS_ASSERT(json && finding);
	ts_json_object(json);
	PUT_MEMBERS(finding, TS_FINDING_COLUMNS, finding)
	ts_json_key(json, "cause");
	json_value_put_root(json, &finding->root);
	ts_json_key(json, "where");
	ts_json_places(json, finding);
	ts_json_key(json, "time_ranges");
	ts_json_times(json, finding);
	ts_json_key(json, "links");
	ts_json_object(json);
	PUT_MEMBERS(link, TS_LINK_COLUMNS, &finding->links)
	ts_json_object_end(json);
	ts_json_key(json, "merged");
	PUT_ROWS(merged, TS_MERGED_COLUMNS)
	ts_json_object_end(json);
}
