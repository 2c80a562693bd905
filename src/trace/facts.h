/* SPDX-License-Identifier: MIT */
/* What the head of a trace says of its run: chip, hosts, steps, health. */
#ifndef TS_TRACE_FACTS_H
#define TS_TRACE_FACTS_H

#include "base/arena.h"
#include "result/result.h"
#include "trace/perfetto/perfetto.h"

#define TS_TRACE_FACTS 6

/* The key of that name, as facts have it; NULL: none has. */
const char *ts_trace_fact_key(struct ts_bytes name);

/* Fills FACTS with the *NR of them that the results know. Texts are the arena's. */
enum ts_status ts_trace_facts(const struct ts_results *results, struct ts_arena *arena,
			      struct ts_perfetto_fact facts[TS_TRACE_FACTS], size_t *nr,
			      struct ts_error *err);

#endif
