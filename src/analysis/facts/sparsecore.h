/* SPDX-License-Identifier: MIT */
/*
 * What the analysis sparsecore knows: of each op that TensorCores hand to SparseCores what they wait
 * for it, and what it would take themselves. Times are sums over all cores and the run.
 */
#ifndef TS_ANALYSIS_FACTS_SPARSECORE_H
#define TS_ANALYSIS_FACTS_SPARSECORE_H

#include "base/bytes.h"

struct ts_offload {
	uint32_t op;			    /* index into profile->ops: the start */
	struct ts_bytes name, done, module; /* .done .n 0: the profile has no done */
	int64_t executions;
	int64_t work_ps;	       /* on SparseCores; -1: unknown */
	int64_t exposed_ps, hidden_ps; /* exposed: the core waited; -1: without a done */
	int64_t estimate_ps;	       /* on TensorCores at their peaks; -1: unknown */
	int64_t loss_ps; /* what is waited for, less the estimate, never below 0; -1: unknown */
	const char *linked_by; /* how its work was found: "stats", "hlo", "overlap" */
};

struct ts_sparsecore_facts {
	const struct ts_offload *offloads; /* the largest loss first */
	size_t nr_offloads;
};

#endif
