/* SPDX-License-Identifier: MIT */
/*
 * States of analyses: made, summed, freed, and sent through their saved form, all by the record that
 * the analysis names in .state (base/record.h).
 */
#ifndef TS_RUN_STATE_H
#define TS_RUN_STATE_H

#include "analysis/analysis.h"
#include "base/buf.h"

/* A zeroed state, or NULL: no memory. */
void *ts_state_new(const struct ts_analysis *analysis);
/* Frees *STATE and sets it to NULL; NULL is fine. */
void ts_state_free(const struct ts_analysis *analysis, void **state);
/* Adds FROM to INTO: by the analysis' .merge, or by its record. */
enum ts_status ts_state_merge(const struct ts_analysis *analysis, void *into, void *from,
			      const struct ts_context *ctx, struct ts_error *err);

/* What saved indices are held against: how many hosts, lines, ops and so on the profile has. */
struct ts_record_limits ts_state_limits(const struct ts_profile *profile);

/* The saved form of a state, behind what OUT holds. The analysis has .state. */
void ts_state_save(const struct ts_analysis *analysis, const void *state, struct ts_buf *out);
/* Fills a zeroed STATE from its saved form; indices are held against PROFILE. Texts go into ARENA. */
enum ts_status ts_state_load(const struct ts_analysis *analysis, void *state, struct ts_bytes bytes,
			     const struct ts_profile *profile, struct ts_arena *arena,
			     struct ts_error *err);
/* Is shown the saved form of each state, before it is summed and again of the sum. One thread at a time. */
struct ts_state_sink {
	void *ctx;
	void (*put)(void *ctx, const struct ts_analysis *analysis, struct ts_bytes saved);
};

/* Saves STATE, shows it to SINK, releases it and loads it again: what its table does not name is lost. */
enum ts_status ts_state_pass_on(const struct ts_analysis *analysis, void *state,
				const struct ts_state_sink *sink, const struct ts_profile *profile,
				struct ts_arena *arena, struct ts_error *err);

#endif
