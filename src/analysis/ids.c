/* SPDX-License-Identifier: MIT */
/* Where in the list each analysis stands. It needs no analysis, so all of them may need it. */
#include "analysis/analysis.h"
#include "analysis/list.h"

#define ID(name) ID_##name,
enum { TS_ANALYSES(ID) NR_ANALYSES };
_Static_assert(NR_ANALYSES <= TS_MAX_ANALYSES, "raise TS_MAX_ANALYSES in analysis/analysis.h");

#define DEFINE(name) \
	extern const size_t ts_id_##name; \
	const size_t ts_id_##name = ID_##name;
TS_ANALYSES(DEFINE)
