/* SPDX-License-Identifier: MIT */
/*
 * What the analysis async knows: of each transfer that runs beside the core's work how long the core
 * waited for it, and what could be computed meanwhile. Times are sums over all cores and the run.
 */
#ifndef TS_ANALYSIS_FACTS_ASYNC_H
#define TS_ANALYSIS_FACTS_ASYNC_H

#include "base/bytes.h"

/* A start and its done, or a collective that is one op. */
struct ts_async_op {
	uint32_t op; /* index into profile->ops: the start, or the op itself */
	struct ts_bytes name, done, module; /* .done .n 0: the op is one */
	bool is_collective, is_host;	    /* host: to or from the host */
	int64_t occurrences;
	int64_t interval_ps;	       /* from start to done: exposed_ps + hidden_ps */
	int64_t exposed_ps, hidden_ps; /* exposed: the core waited */
	int64_t coverable_ps;	       /* of the exposed time, at most; -1: unknown */
	struct ts_bytes could_hide;    /* the longest op that could run meanwhile; .n 0: unknown */
};

struct ts_async_facts {
	const struct ts_async_op *items; /* the most exposed first */
	size_t nr;
};

#endif
