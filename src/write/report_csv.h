/*
 * One view of the report as CSV: the rows that JSON has, under the same names. Unknown is an empty
 * cell. A list is its items with "; " between them, each part of an object as name=value. Findings
 * have the op, module and source of their first place and their links in the last columns.
 */
#ifndef TS_WRITE_REPORT_CSV_H
#define TS_WRITE_REPORT_CSV_H

#include "write/output.h"

/* Appends the table. TS_USAGE: no such view, or VIEW is NULL; the story lists those there are. */
enum ts_status ts_report_csv(struct ts_buf *out, const struct ts_results *results, const char *view,
			     struct ts_error *err);

#endif
