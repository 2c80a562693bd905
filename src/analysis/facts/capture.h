/* SPDX-License-Identifier: MIT */
/*
 * What the analysis capture knows: whether the profile can be believed, and what speaks against it.
 */
#ifndef TS_ANALYSIS_FACTS_CAPTURE_H
#define TS_ANALYSIS_FACTS_CAPTURE_H

#include "result/result.h"

/* How much of the profile can be believed, the best first. */
enum ts_capture_verdict {
	TS_CAPTURE_GOOD,
	TS_CAPTURE_USABLE,
	TS_CAPTURE_MISLEADING,
	TS_CAPTURE_EMPTY
};

/* A cause for doubt. */
struct ts_capture_cause {
	const char *id;
	enum ts_severity severity;
	enum ts_capture_verdict verdict; /* what it makes of the profile */
	enum ts_confidence confidence;
	struct ts_bytes what, evidence, fix, code; /* .n 0: there is none */
};

/* What host threads do that belongs elsewhere: programs run by XLA's executor for CPUs; logging and
 * saving, while steps run. */
enum ts_host_work { TS_WORK_CPU, TS_WORK_LOG, TS_WORK_SAVE, TS_NR_HOST_WORKS };

/* Over all hosts; of events inside one another the outermost counts. */
struct ts_host_work_sum {
	uint64_t nr;
	int64_t total_ps;
};

struct ts_capture_facts {
	const struct ts_capture_cause *causes; /* in the order of the report */
	size_t nr_causes;
	enum ts_capture_verdict verdict; /* the worst of theirs */
	const char *verdict_name;	 /* NULL: there is no capture */
	struct ts_host_work_sum works[TS_NR_HOST_WORKS];
};

#endif
