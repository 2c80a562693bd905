/* SPDX-License-Identifier: MIT */
/*
 * Scopes: stretches of a host thread to which the user's program gave a name
 * (jax.profiler.TraceAnnotation and StepTraceAnnotation, torch.profiler.record_function).
 *
 * Summed by name over all threads of all hosts; epochs stand one by one. Times are in picoseconds
 * since the run's start.
 */
#ifndef TS_MODEL_SCOPES_H
#define TS_MODEL_SCOPES_H

#include "base/map.h"
#include "base/spans.h"

#define TS_EPOCHS_MAX 10000 /* that are kept; a scope counts them all */

/* What a thread did in a scope: each moment belongs to the innermost event that has a part. */
enum ts_scope_part {
	TS_PART_INPUT,	  /* data pipeline, transfers in */
	TS_PART_TRACE,	  /* tracing and lowering */
	TS_PART_COMPILE,  /* compilers, and the caches of what they made */
	TS_PART_DISPATCH, /* calls of compiled functions, less the above */
	TS_PART_OTHER,	  /* Python, and what the runtime does on its own */
	TS_NR_PARTS
};

struct ts_scope {
	uint32_t op; /* of the profile: its name */
	uint32_t
		parent; /* op of the scope around it; TS_NONE: there is none, or not always the same */
	bool is_epoch;	 /* known from the first on */
	uint64_t number; /* of an epoch, as its name says; TS_NO_NUMBER */
	int64_t nr, total_ps, min_ps, max_ps;
	int64_t part_ps[TS_NR_PARTS]; /* their sum is total_ps */
	struct ts_spans spans;	      /* when at least one of this name was open */
};

struct ts_epoch {
	uint32_t op;
	int64_t start_ps, end_ps;
	uint64_t number; /* TS_NO_NUMBER: its name has no number */
};

struct ts_scopes {
	struct ts_scope *items; /* in the order of the lines */
	size_t nr, cap;
	struct ts_epoch *epochs; /* by start */
	size_t nr_epochs, cap_epochs;
};

void ts_scopes_release(struct ts_scopes *scopes);

/*
 * Is this the name of an epoch: the word "epoch", after another word or alone, and perhaps a number?
 * *NUMBER is that number, or TS_NO_NUMBER.
 */
bool ts_scope_is_epoch(struct ts_bytes name, uint64_t *number);

#endif
