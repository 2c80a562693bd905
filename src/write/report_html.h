/* SPDX-License-Identifier: MIT */
/*
 * The report, or a comparison of runs, as one HTML file: the page and the report inside it. Opens from disk; its policy forbids
 * it every connection. TS_UNSUPPORTED when the program was built without the page.
 */
#ifndef TS_WRITE_REPORT_HTML_H
#define TS_WRITE_REPORT_HTML_H

#include "write/output.h"

enum ts_status ts_report_html(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err);

#endif
