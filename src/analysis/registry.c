/* SPDX-License-Identifier: MIT */
/* The table of analyses. */
#include "analysis/analysis.h"
#include "analysis/list.h"

#define DECLARE(name) extern const struct ts_analysis ts_analysis_##name;
#define ADDRESS(name) &ts_analysis_##name,
TS_ANALYSES(DECLARE)
const struct ts_analysis *const ts_analyses[] = { TS_ANALYSES(ADDRESS) NULL };
