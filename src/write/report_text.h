/* SPDX-License-Identifier: MIT */
/*
 * The report for people at a console: of each result its title, labelled fields, findings, titled
 * tables and notes. What has no label or title is for programs and is left to JSON and CSV. Text of
 * the profile is made safe for a terminal.
 */
#ifndef TS_WRITE_REPORT_TEXT_H
#define TS_WRITE_REPORT_TEXT_H

#include "write/output.h"

enum ts_status ts_report_text(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err);

#endif
