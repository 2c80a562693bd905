/* SPDX-License-Identifier: MIT */
/* The head of our JSON objects. */
#include "write/json_head.h"

#include "base/check.h"

static void json_head_put_time(struct ts_json *json, const char *key, int64_t ps)
{
	ts_json_key(json, key);
	if (ps == INT64_MIN || ps == INT64_MAX)
		ts_json_null(json);
	else
		ts_json_i64(json, ps);
}

/* Every figure behind it is of that alone. */
static void json_head_put_part(struct ts_json *json, const struct ts_part *part)
{
	ts_json_key(json, "part");
	ts_json_object(json);
	json_head_put_time(json, "from_ps", part->from_ps);
	json_head_put_time(json, "to_ps", part->to_ps);
	ts_json_put_text(json, "device", part->device);
	ts_json_put_text(json, "host", part->host);
	ts_json_object_end(json);
}

void ts_json_head(struct ts_json *json, const struct ts_report *report)
{
	TS_ASSERT(json && report);
	TS_ASSERT(report->generator && report->version);
	ts_json_put_text(json, "schema", TS_REPORT_SCHEMA);
	ts_json_key(json, "generator");
	ts_json_object(json);
	ts_json_put_text(json, "name", report->generator);
	ts_json_put_text(json, "version", report->version);
	ts_json_object_end(json);
	if (report->part)
		json_head_put_part(json, report->part);
}
