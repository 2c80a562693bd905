/* SPDX-License-Identifier: MIT */
/* A value of a result as JSON: unknown and impossible ones are null, lists are arrays. */
#ifndef TS_WRITE_JSON_VALUE_H
#define TS_WRITE_JSON_VALUE_H

#include "codec/json.h"
#include "result/result.h"

void ts_json_value(struct ts_json *json, struct ts_value value);

/* A finding as the report has it; of one, a list of its places, and of its times. */
void ts_json_finding(struct ts_json *json, const struct ts_finding *finding);
void ts_json_places(struct ts_json *json, const struct ts_finding *finding);
void ts_json_times(struct ts_json *json, const struct ts_finding *finding);

#endif
