/* SPDX-License-Identifier: MIT */
/* Runs held against each other, as `tpusight compare --json` prints it: the first is the baseline. */
#ifndef TS_SERVE_COMPARISON_H
#define TS_SERVE_COMPARISON_H

#include "serve/reports.h"

/* IDS: of two runs or more, commas between them; TS_COMPARE_MAX at most (compare/compare.h). May be NULL. */
struct ts_answer ts_comparison_get(struct ts_reports *reports, const char *ids,
				   const struct ts_halt *halt);

#endif
