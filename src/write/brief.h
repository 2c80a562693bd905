/* SPDX-License-Identifier: MIT */
/*
 * The report for a reader with little room (a chat message, the context of a language model): the
 * run in one line, its top numbers, then the findings, the most valuable first, in whole sentences
 * and never in more bytes than the budget. What did not fit is counted, with the command that shows
 * it.
 *
 * What is said grows in one order of steps, so a larger budget never says less: the run, the
 * numbers, then of three findings at a time their titles, the first sentence of their evidence and
 * of their advice; then the rest of the sentences; then the code. The largest number of steps that
 * fits is taken. As JSON it is one object; a budget below three bytes has room for none, and gives
 * nothing.
 */
#ifndef TS_WRITE_BRIEF_H
#define TS_WRITE_BRIEF_H

#include "write/output.h"

#define TS_BRIEF_FINDINGS 100 /* at most; the others are counted */

/* Appends at most report->budget bytes. TS_USAGE: a view other than the doctor's was asked for. */
enum ts_status ts_brief_text(struct ts_buf *out, const struct ts_results *results,
			     const struct ts_report *report, struct ts_error *err);
enum ts_status ts_brief_json(struct ts_buf *out, const struct ts_results *results,
			     const struct ts_report *report, struct ts_error *err);

#endif
