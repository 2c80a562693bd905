/* SPDX-License-Identifier: MIT */
/* "schema" and "generator": the first members of every object of JSON that we write. */
#ifndef TS_WRITE_JSON_HEAD_H
#define TS_WRITE_JSON_HEAD_H

#include "codec/json.h"
#include "write/output.h"

void ts_json_head(struct ts_json *json, const struct ts_report *report);

#endif
