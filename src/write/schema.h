/* SPDX-License-Identifier: MIT */
/*
 * What the program says of its own results, of their declarations (result/schema.h): the glossary, the tables of docs/analyses, a
 * JSON Schema of the report, types for the page and for Python.
 */
#ifndef TS_WRITE_SCHEMA_H
#define TS_WRITE_SCHEMA_H

#include "base/arena.h"
#include "base/buf.h"
#include "result/schema.h"

struct ts_schema_format {
	const char *name, *ending; /* of its file */
	void (*put)(struct ts_buf *out);
};

extern const struct ts_schema_format
	ts_schema_formats[]; /* the first is the default; .name is NULL at the end */

void ts_schema_json(struct ts_buf *out);
void ts_schema_markdown(struct ts_buf *out);
void ts_schema_tables(struct ts_buf *out);
void ts_schema_typescript(struct ts_buf *out);
void ts_schema_python(struct ts_buf *out);

/*
 * What bears a label in a report: the last part of a path ("time_ps") or more of it ("ops.time_ps"). A path has the label
 * of the longest name that it ends with. Of the columns that are called alike, most of one label need the last part only.
 */
struct ts_bearer {
	struct ts_bytes name; /* with a 0 behind it */
	const struct ts_term *term;
	struct ts_bytes own; /* a label in place of the term's; empty: none */
};

struct ts_bearers {
	struct ts_arena arena;
	struct ts_bearer *items;
	size_t nr, cap;
	bool failed; /* memory ran out */
};

void ts_bearers_of_schema(struct ts_bearers *names); /* NAMES begins as zeros */
void ts_bearers_release(struct ts_bearers *names);

#endif
