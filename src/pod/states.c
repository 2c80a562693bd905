/* SPDX-License-Identifier: MIT */
/* States one after the other: a message each, with the name of the analysis and the state's saved form. */
#include "pod/states.h"

#include "base/check.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "codec/record.h"

enum { FIELD_STATE = 1 };
enum { STATE_NAME = 1, STATE_SAVED };

/* Of states: those of the passes but the overlay's, damage, what a trace wants. Of tracks: those of the overlay's pass, tracks. */
enum { SECTION_DAMAGE = TS_STATES_PASSES - 1, SECTION_WANTS };

static size_t states_place(enum ts_pass pass)
{
	TS_ASSERT(pass >= TS_PASS_FIRST && pass < TS_PASS_FIRST + TS_STATES_PASSES);
	return (size_t)(pass - TS_PASS_FIRST);
}

enum ts_status ts_states_take(void *ctx, const struct ts_analysis *analysis, const void *state,
			      struct ts_error *err)
{
	struct ts_states *states = ctx;
	struct ts_buf *out = &states->passes[states_place(states->pass)];
	size_t mark = ts_pbw_begin(out, FIELD_STATE), saved;

	ts_pbw_bytes(out, STATE_NAME, ts_bytes_of(analysis->schema->name));
	saved = ts_pbw_begin(out, STATE_SAVED);
	ts_state_save(analysis, state, out);
	ts_pbw_end(out, saved);
	ts_pbw_end(out, mark);
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

enum ts_status ts_states_take_damage(void *ctx, uint32_t line, const struct ts_damage *damage,
				     struct ts_error *err)
{
	struct ts_states *states = ctx;
	struct ts_line_damages *damages = &states->damages;
	struct ts_line_damage kept = { .line = line,
				       .text = ts_arena_copy(&states->arena, damage->cause),
				       .offset = damage->offset,
				       .nr_events = damage->nr_events };

	if (!kept.text.p ||
	    !ts_grow(&damages->items, &damages->cap, damages->nr + 1, sizeof(*damages->items)))
		return ts_fail_nomem(err);
	damages->items[damages->nr++] = kept;
	return TS_OK;
}

enum ts_status ts_states_put_tracks(struct ts_buf *out, enum ts_parcel_kind kind,
				    const struct ts_states *states, struct ts_bytes tracks,
				    struct ts_bytes pictures, const struct ts_parcel_head *head,
				    struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(out && states && head);
	ts_parcel_begin(out, kind, head);
	st = ts_parcel_put(out, ts_buf_bytes(&states->passes[states_place(TS_PASS_OVERLAY)]), err);
	if (st == TS_OK)
		st = ts_parcel_put(out, tracks, err);
	if (st == TS_OK && pictures.p)
		st = ts_parcel_put(out, pictures, err);
	ts_parcel_end(out);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_status ts_states_put(struct ts_buf *out, const struct ts_states *states,
			     const struct ts_parcel_head *head, struct ts_error *err)
{
	struct ts_buf damages = TS_BUF_INIT, wants = TS_BUF_INIT;
	enum ts_status st = TS_OK;

	TS_ASSERT(out && states && head);
	ts_parcel_begin(out, TS_PARCEL_STATES, head);
	for (size_t i = 0; i < SECTION_DAMAGE && st == TS_OK; i++)
		st = ts_parcel_put(out, ts_buf_bytes(&states->passes[i]), err);
	ts_line_damages_put(&damages, &states->damages);
	ts_record_save(&ts_trace_wants_record, &states->wants, &wants);
	if (st == TS_OK && (damages.failed || wants.failed))
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = ts_parcel_put(out, ts_buf_bytes(&damages), err);
	if (st == TS_OK)
		st = ts_parcel_put(out, ts_buf_bytes(&wants), err);
	ts_parcel_end(out);
	ts_buf_release(&damages);
	ts_buf_release(&wants);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

void ts_states_release(struct ts_states *states)
{
	TS_ASSERT(states);
	for (size_t i = 0; i < TS_STATES_PASSES; i++)
		ts_buf_release(&states->passes[i]);
	free(states->damages.items);
	ts_record_release(&ts_trace_wants_record, &states->wants);
	ts_arena_release(&states->arena);
}

static const struct ts_analysis *states_named(struct ts_bytes name) /* or NULL */
{
	size_t i = 0;

	while (ts_analyses[i] && !ts_bytes_is(name, ts_analyses[i]->schema->name))
		i++;
	return ts_analyses[i];
}

static enum ts_status add_one(struct ts_pb pb, struct ts_pass_sums *sums, struct ts_error *err)
{
	struct ts_bytes name = { NULL, 0 }, saved = { NULL, 0 };
	const struct ts_analysis *analysis;

	while (ts_pb_next(&pb)) {
		if (pb.field == STATE_NAME)
			name = ts_pb_bytes(&pb);
		if (pb.field == STATE_SAVED)
			saved = ts_pb_bytes(&pb);
	}
	analysis = states_named(name);
	if (!analysis)
		return ts_fail(err, TS_FORMAT, "a state in it is not of an analysis");
	return ts_pass_add(sums, analysis, saved, err);
}

enum ts_status ts_states_add(const struct ts_parcel *parcel, enum ts_pass pass,
			     struct ts_pass_sums *sums, struct ts_error *err)
{
	struct ts_buf bytes = TS_BUF_INIT;
	struct ts_pb_error error = { NULL, NULL };
	size_t section = pass == TS_PASS_OVERLAY ? 0 : states_place(pass);
	enum ts_status st = ts_parcel_unpack(parcel, section, &bytes, err);
	struct ts_pb pb = ts_pb_of(ts_buf_bytes(&bytes), &error);

	while (st == TS_OK && ts_pb_next(&pb))
		if (pb.field == FIELD_STATE)
			st = add_one(ts_pb_enter(&pb), sums, err);
	if (st == TS_OK && error.cause)
		st = ts_fail(err, TS_FORMAT, "%s", error.cause);
	ts_buf_release(&bytes);
	return st;
}

enum ts_status ts_states_note_damage(const struct ts_parcel *parcel, struct ts_profile *profile,
				     struct ts_error *err)
{
	struct ts_line_damages damages = { NULL, 0, 0 };
	struct ts_buf bytes = TS_BUF_INIT;
	enum ts_status st = ts_parcel_unpack(parcel, SECTION_DAMAGE, &bytes, err);

	if (st == TS_OK)
		st = ts_line_damages_load(ts_buf_bytes(&bytes), profile, &damages, err);
	for (size_t i = 0; st == TS_OK && i < damages.nr; i++)
		ts_line_damage_note(&damages.items[i], profile);
	free(damages.items);
	ts_buf_release(&bytes);
	return st;
}

enum ts_status ts_states_add_wants(const struct ts_parcel *parcel, size_t nr_hosts,
				   struct ts_trace_wants *wants, struct ts_error *err)
{
	const struct ts_record_limits limits = { .nr = { 0 } };
	struct ts_trace_wants own = { .nr = 0 };
	struct ts_arena arena = TS_ARENA_INIT; /* there are no texts */
	struct ts_buf bytes = TS_BUF_INIT;
	enum ts_status st = ts_parcel_unpack(parcel, SECTION_WANTS, &bytes, err);

	if (st == TS_OK)
		st = ts_record_load(&ts_trace_wants_record, &own, ts_buf_bytes(&bytes), &limits,
				    &arena, err);
	if (st == TS_OK && own.nr != nr_hosts)
		st = ts_fail(err, TS_FORMAT, "it is not of the hosts of its file");
	if (st == TS_OK)
		st = ts_trace_wants_add(wants, &own, err);
	ts_record_release(&ts_trace_wants_record, &own);
	ts_arena_release(&arena);
	ts_buf_release(&bytes);
	return st;
}
