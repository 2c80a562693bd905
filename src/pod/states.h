/* SPDX-License-Identifier: MIT */
/*
 * The states of the lines of one file, as map pass and map overlay save them and reduce report sums them: those of each
 * pass by themselves, in the order of the lines, each with the name of its analysis.
 */
#ifndef TS_POD_STATES_H
#define TS_POD_STATES_H

#include "pod/mapped_run.h"
#include "run/pass.h"
#include "trace/wants.h"

#define TS_STATES_PASSES 4 /* TS_PASS_FIRST to TS_PASS_OVERLAY */

/* Gathered; zeroed at first. */
struct ts_states {
	enum ts_pass pass; /* of what is taken next */
	struct ts_buf passes[TS_STATES_PASSES];
	struct ts_line_damages damages;
	struct ts_trace_wants wants; /* of the file's hosts */
	struct ts_arena arena;	     /* of their texts */
};

/* As struct ts_pass_part wants them; CTX is a struct ts_states. */
enum ts_status ts_states_take(void *ctx, const struct ts_analysis *analysis, const void *state,
			      struct ts_error *err);
enum ts_status ts_states_take_damage(void *ctx, uint32_t line, const struct ts_damage *damage,
				     struct ts_error *err);
/* What map pass writes: all but those of the overlay's pass. */
enum ts_status ts_states_put(struct ts_buf *out, const struct ts_states *states,
			     const struct ts_parcel_head *head, struct ts_error *err);
/* What map overlay and map tracks write: those of the overlay's pass, and TRACKS (pod/saved_tracks.h). KIND says which; map
 * tracks has PICTURES too (picture/picture.h; .p NULL: none). */
enum ts_status ts_states_put_tracks(struct ts_buf *out, enum ts_parcel_kind kind,
				    const struct ts_states *states, struct ts_bytes tracks,
				    struct ts_bytes pictures, const struct ts_parcel_head *head,
				    struct ts_error *err);
void ts_states_release(struct ts_states *states);

/* Adds the states that the parcel has of this pass: states, or, of TS_PASS_OVERLAY, tracks. */
enum ts_status ts_states_add(const struct ts_parcel *parcel, enum ts_pass pass,
			     struct ts_pass_sums *sums, struct ts_error *err);
/* What the file's hosts have for a trace, added to WANTS. */
enum ts_status ts_states_add_wants(const struct ts_parcel *parcel, size_t nr_hosts,
				   struct ts_trace_wants *wants, struct ts_error *err);
/* Notes the damage that its passes met. */
enum ts_status ts_states_note_damage(const struct ts_parcel *parcel, struct ts_profile *profile,
				     struct ts_error *err);

#endif
