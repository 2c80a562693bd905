/* SPDX-License-Identifier: MIT */
/*
 * One view of the report as CSV: the rows that JSON has, under the same names. Unknown is an empty
 * cell. A list is its items with "; " between them, each part of an object as name=value. Findings
 * have the op, module and source of their first place and their links in the last columns.
 */
#ifndef TS_WRITE_REPORT_CSV_H
#define TS_WRITE_REPORT_CSV_H

#include "write/output.h"

/* Appends the table of report->view, its rows as report->sort and report->top say. TS_USAGE: there is no such
 * view or column, or the view is NULL; the story lists those there are. */
enum ts_status ts_report_csv(struct ts_buf *out, const struct ts_results *results,
			     const struct ts_report *report, struct ts_error *err);

#endif
