/* SPDX-License-Identifier: MIT */
/* What the analysis resharding knows: of each collective of the modules why it is there. Texts live as long as the results. */
#ifndef TS_ANALYSIS_FACTS_RESHARDING_H
#define TS_ANALYSIS_FACTS_RESHARDING_H

#include "model/partition.h"

struct ts_resharding_op {
	uint32_t module, instr; /* of the profile; of the module */
	uint32_t op;   /* of the profile: the start, or the op itself; TS_NONE: it did not run */
	int64_t bytes; /* without padding: of an all-gather the result, of others the operands */
	int64_t time_ps, hidden_ps; /* of all cores and executions; -1: unknown */
	bool is_suspicious;
	enum ts_cause_kind cause;
	uint32_t cause_instr; /* of the module as the partitioner got it; TS_NONE: unknown */
	/* Empty where unknown. CAUSE_SOURCE: "file.py:9" */
	struct ts_bytes axes, from, to, cause_source, cause_op, mend, reason;
};

struct ts_resharding_facts {
	const struct ts_resharding_op *items; /* the longest first */
	size_t nr;
};

#endif
