/* The head of our JSON objects. */
#include "write/json_head.h"

#include "base/check.h"

void ts_json_head(struct ts_json *json, const struct ts_report *report)
{
	TS_ASSERT(json && report);
	TS_ASSERT(report->generator && report->version);
	ts_json_key(json, "schema");
	ts_json_text(json, TS_REPORT_SCHEMA);
	ts_json_key(json, "generator");
	ts_json_object(json);
	ts_json_key(json, "name");
	ts_json_text(json, report->generator);
	ts_json_key(json, "version");
	ts_json_text(json, report->version);
	ts_json_object_end(json);
}
