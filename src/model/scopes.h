/*
 * Scopes: stretches of a host thread to which the user's program gave a name
 * (jax.profiler.TraceAnnotation and StepTraceAnnotation, torch.profiler.record_function).
 *
 * Summed by name over all threads of all hosts; epochs stand one by one. Times are in picoseconds
 * since the run's start.
 */
#ifndef TS_MODEL_SCOPES_H
#define TS_MODEL_SCOPES_H

#include "base/spans.h"

#define TS_EPOCHS_MAX 10000 /* that are kept; a scope counts them all */

struct ts_scope {
	uint32_t op; /* of the profile: its name */
	int64_t nr, total_ps, min_ps, max_ps;
	struct ts_spans spans; /* when at least one of this name was open */
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
