/* SPDX-License-Identifier: MIT */
/*
 * What the analysis fusion knows: arrays that pass through HBM between two ops, and tiny ops in
 * series. Indices are those of instructions of the module.
 */
#ifndef TS_ANALYSIS_FACTS_FUSION_H
#define TS_ANALYSIS_FACTS_FUSION_H

#include "analysis/facts/reason.h"
#include "model/hlo.h"

struct ts_fusion_pair {
	const struct ts_hlo_module *module;
	uint32_t producer, consumer;
	const struct ts_reason *reason; /* of the largest array between them */
	int64_t largest_bytes;
	int64_t read_bytes, write_bytes; /* an execution of consumer and producer */
	int64_t executions;		 /* of the consumer; -1: no run */
	int64_t total_bytes;		 /* of all executions; of one without a run */
	double impact_ps;		 /* NaN: unknown */
};

/* A run of kernels in the schedule, each of them tiny. */
struct ts_fusion_chain {
	const struct ts_hlo_module *module;
	uint32_t first, last;
	int64_t nr_ops, executions;   /* the most executions that one of them has */
	int64_t occurrences, time_ps; /* of all of them */
};

/* Those of the tables. */
struct ts_fusion_facts {
	const struct ts_fusion_pair *pairs; /* the largest impact first */
	size_t nr_pairs;
	const struct ts_fusion_chain *chains; /* the longest first */
	size_t nr_chains;
};

#endif
