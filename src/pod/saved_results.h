/* SPDX-License-Identifier: MIT */
/*
 * What map overlay must know of the run as a whole, saved: the facts that its analyses read and that one
 * host's file cannot give. These are the findings, with the ops and times that they are about, what ops lose to
 * padding, and the first ops of the matrix units (analysis/draw); what the hosts have for a trace; and, for reduce trace, what its head
 * and its rows of the run say.
 */
#ifndef TS_POD_SAVED_RESULTS_H
#define TS_POD_SAVED_RESULTS_H

#include "analysis/analysis.h"
#include "base/buf.h"
#include "trace/facts.h"
#include "trace/wants.h"

/* Of a run, beside the facts of its analyses. Zeroed at first; .wants are the owner's to release. */
struct ts_saved_known {
	bool is_damaged; /* bytes of a file of the run */
	struct ts_trace_wants wants;
	struct ts_perfetto_fact facts[TS_TRACE_FACTS]; /* of the head of a trace */
	size_t nr_facts;
	const struct ts_track *story; /* of a trace (trace/story.h) */
	size_t nr_story;
};
void ts_saved_known_release(struct ts_saved_known *known);
/* TS_FORMAT, with PATH: there is damage, so nothing is written, as on one machine. */
enum ts_status ts_saved_check_damage(const struct ts_saved_known *known, const char *path,
				     struct ts_error *err);

/* FACTS: ctx->facts of a run whose analyses are closed. Check OUT->failed at the end. */
void ts_saved_put_results(struct ts_buf *out, const struct ts_saved_known *known,
			  const void *const *facts);
/*
 * Into the facts of these analyses, in place of what stands there. They lie in the arena of PROFILE, which
 * is finished. TS_FORMAT: not such bytes. TS_LIMIT: more than any run has. KNOWN is zeroed.
 */
enum ts_status ts_saved_load_results(struct ts_bytes bytes, struct ts_profile *profile,
				     const void **facts, struct ts_saved_known *known,
				     struct ts_error *err);

#endif
