/* SPDX-License-Identifier: MIT */
/*
 * A pass: every wanted line streamed once, its blocks shown to every analysis that wants the line.
 *
 * Lines run on threads, the largest first; states are merged in the order of the lines, so the outcome
 * does not depend on threads. A line found unsorted is marked in the profile and streamed again,
 * sorted, with fresh states. Damage inside a line is noted in the profile; what stood before it
 * counts.
 */
#ifndef TS_RUN_PASS_H
#define TS_RUN_PASS_H

#include "analysis/analysis.h"
#include "base/halt.h"
#include "base/meter.h"
#include "model/duration_counter.h"
#include "run/state.h"

/* What the passes of a run share; but for the results and .states zeroed at first. Analyses with a
 * .report keep their sum and their result here until what they show is closed. */
struct ts_passes {
	struct ts_results *results; /* of the run */
	void *sums[TS_MAX_ANALYSES];
	struct ts_result *waiting[TS_MAX_ANALYSES];
	const struct ts_state_sink *states; /* NULL: states are not saved */
	struct ts_meter *meter;	    /* of the events that are shown; NULL: it is not asked for */
	const struct ts_halt *halt; /* asked after each block: TS_HALTED; or NULL */
};

/*
 * Runs the analyses of pass NUMBER over the profile: opens, feeds and merges their states, then
 * closes them in the order of their needs: their facts go into ctx->facts, their results into
 * shared->results. Those without .block are closed with a zeroed state.
 */
enum ts_status ts_pass_run(struct ts_profile *profile, struct ts_context *ctx, enum ts_pass number,
			   const struct ts_duration_counter *counter, struct ts_passes *shared,
			   size_t nr_threads, struct ts_error *err);

/*
 * A part of a run: the lines of some hosts alone, on a machine that has only their files. Nothing is
 * summed or closed; each state is handed over, in the order of the lines, to be summed elsewhere.
 */
struct ts_pass_part {
	uint32_t first_host, nr_hosts;
	bool closes;
	const struct ts_duration_counter *counter; /* of the first pass; NULL: nothing is counted */
	void *ctx;
	/* Of TS_PASS_INTERLEAVED: the state of a host. */
	enum ts_status (*take)(void *ctx, const struct ts_analysis *analysis, const void *state,
			       struct ts_error *err);
	/* LINE could not be read to its end, or as it is; what is said lasts for the call. */
	enum ts_status (*take_damage)(void *ctx, uint32_t line, const struct ts_damage *damage,
				      struct ts_error *err);
};

/*
 * But for analyses with .serves_part: these are summed, too, and closed into ctx->facts. Where the part
 * .closes, all are, as if these hosts were all of the run; .take may be NULL then, and .take_damage is not
 * called.
 */
enum ts_status ts_pass_run_part(struct ts_profile *profile, struct ts_context *ctx,
				enum ts_pass number, const struct ts_pass_part *part,
				struct ts_passes *shared, size_t nr_threads, struct ts_error *err);

/* States that were handed over: FEED calls ts_pass_add() for each, in the order of the run's lines. */
struct ts_pass_sums;
typedef enum ts_status ts_pass_feed(void *ctx, enum ts_pass number, struct ts_pass_sums *sums,
				    struct ts_error *err);
enum ts_status ts_pass_add(struct ts_pass_sums *sums, const struct ts_analysis *analysis,
			   struct ts_bytes saved, struct ts_error *err);

/* The same as ts_pass_run(), of these states. PROFILE has no events. */
enum ts_status ts_pass_run_saved(struct ts_profile *profile, struct ts_context *ctx,
				 enum ts_pass number, ts_pass_feed *feed, void *feed_ctx,
				 struct ts_passes *shared, struct ts_error *err);

void ts_passes_release(struct ts_passes *shared);

#endif
