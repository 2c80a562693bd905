/* SPDX-License-Identifier: MIT */
/*
 * What the analysis doctor knows: the findings, the times of those that are about a time, and the
 * figures that stand at the head of the report.
 */
#ifndef TS_ANALYSIS_FACTS_DOCTOR_H
#define TS_ANALYSIS_FACTS_DOCTOR_H

#include "result/result.h"

/* A time that a finding is about. */
struct ts_finding_range {
	uint32_t finding; /* index into the findings */
	uint32_t device;  /* TS_NONE: all */
	int64_t start_ps, end_ps;
};

struct ts_doctor_facts {
	int64_t health_score;		   /* 0..100; -1: unknown */
	const struct ts_finding *findings; /* those of the result, the largest gain first */
	size_t nr_findings;
	const struct ts_finding_range *ranges; /* in the order of the findings */
	size_t nr_ranges;
};

#endif
