/* SPDX-License-Identifier: MIT */
/*
 * What `tpusight check` says of each session: the verdict, the causes, and what to do about them. As
 * text for people, or as one JSON document:
 *	{"schema", "generator", "checks": [{"session", "verdict", "causes": [{id, severity, verdict,
 *	confidence, what, evidence, fix, code}]}], "tensorboard": {"program", "packages", "causes"} or null}
 * A path without a readable profile is a check too: empty, of the cause no_profile or unreadable.
 * Notes are causes that say nothing of the figures: where the profile lies, who could read it, what the viewer
 * lacks. They stand behind the others and leave the verdict as it is.
 */
#ifndef TS_WRITE_CHECK_H
#define TS_WRITE_CHECK_H

#include "codec/json.h"
#include "write/output.h"

struct ts_check_note {
	const char *id, *severity, *confidence;
	const char *what;
	const char *evidence; /* a sentence */
	const char *fix;
};

struct ts_check {
	const char *session;		 /* as people name it */
	const struct ts_result *capture; /* NULL: nothing could be read */
	const char *cause, *problem;	 /* then: why */
	const struct ts_check_note *notes;
	size_t nr_notes;
};

/* The TensorBoard of this environment. */
struct ts_check_viewer {
	const char *program, *packages; /* NULL: there is none, or nothing is known of it */
	const struct ts_check_note *notes;
	size_t nr_notes;
};

/* Good or usable. */
bool ts_check_holds(const struct ts_check *check);
void ts_check_text(struct ts_buf *out, const struct ts_check *check, const struct ts_report *form);
/* Nothing where there is nothing to do. */
void ts_check_viewer_text(struct ts_buf *out, const struct ts_check_viewer *viewer,
			  const struct ts_report *form);

void ts_check_json_begin(struct ts_json *json, const struct ts_report *form);
void ts_check_json(struct ts_json *json, const struct ts_check *check);
void ts_check_json_end(struct ts_json *json, const struct ts_check_viewer *viewer);

#endif
