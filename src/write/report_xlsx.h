/* SPDX-License-Identifier: MIT */
/*
 * The report as a spreadsheet: Office Open XML (ECMA-376, part 1), a sheet for each table. The first sheet has the
 * single values and the notes by their names; the others are named after their tables (ops, operators.by_name), in the
 * 31 characters that a name may have. Names and units are those of JSON. Numbers are numbers, unknown is an empty cell,
 * a list is its JSON. Integers above 2^53, which a spreadsheet cannot hold, and ids are texts. What a sheet has no room
 * for (rows above 1,048,576, texts above 32,767 characters) is cut.
 */
#ifndef TS_WRITE_REPORT_XLSX_H
#define TS_WRITE_REPORT_XLSX_H

#include "write/output.h"

/* Appends the file: of report->view, or of all. TS_USAGE: there is no such view. */
enum ts_status ts_report_xlsx(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err);

#endif
