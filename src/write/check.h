/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tpusight check` says of each session: the verdict, the causes, and what to do about them. As
 * text for people, or as one JSON document:
 *	{"schema", "generator", "checks": [{"session", "verdict", "causes": [{id, severity, verdict,
 *	confidence, what, evidence, fix, code}]}]}
 * A path without a readable profile is a check too: empty, of the cause no_profile or unreadable.
 */
#ifndef TS_WRITE_CHECK_H
#define TS_WRITE_CHECK_H

#include "codec/json.h"
#include "write/output.h"

struct ts_check {
	const char *session;		 /* as people name it */
	const struct ts_result *capture; /* NULL: nothing could be read */
	const char *cause, *problem;	 /* then: why */
};

/* Good or usable. */
bool ts_check_holds(const struct ts_check *check);
void ts_check_text(struct ts_buf *out, const struct ts_check *check, const struct ts_report *form);

void ts_check_json_begin(struct ts_json *json, const struct ts_report *form);
void ts_check_json(struct ts_json *json, const struct ts_check *check);
void ts_check_json_end(struct ts_json *json);

#endif
