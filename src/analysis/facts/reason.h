/* SPDX-License-Identifier: MIT */
/*
 * Why the compiler left something as it is, and what can be done about it: inferred, with how sure
 * that is. Constants of the analyses that give them.
 */
#ifndef TS_ANALYSIS_FACTS_REASON_H
#define TS_ANALYSIS_FACTS_REASON_H

#include "result/result.h"

struct ts_reason {
	const char *code, *words;
	const char *advice; /* NULL: the program cannot change it */
	enum ts_confidence confidence;
	const char *
		name; /* a few words for a heading: which arrays it is about; NULL: there are none */
};

#endif
