/* SPDX-License-Identifier: MIT */
/*
 * Trimming a trace: the text is walked twice. First to see which of the events that come in pairs
 * stay, and which processes and threads have something left; then to copy what stays, each event as
 * it stands. In memory are a bit for each event of a pair, TS_PAIRS_MAX of them at a time, and the
 * tables of processes and threads.
 */
#include "copy/pairs.h"

#include "base/check.h"
#include "base/limits.h"
#include "codec/strict.h"
#include "read/trace.h"
#include "read/walk.h"

struct event { /* tokens; .p NULL: it has none */
	uint8_t phase;
	struct ts_bytes pid, tid, ts, dur, category, name, id, id2, scope;
};

struct open { /* a B that waits for its E */
	int64_t start_ps;
	uint64_t nr;
	uint32_t plane;
};

struct track { /* a thread, or a process */
	bool kept;
	uint32_t process; /* of a thread; else TS_NONE */
	struct open *open;
	size_t nr_open, cap_open;
};

struct trimming {
	const struct ts_trim *trim;
	struct ts_copy_out *out;
	struct ts_trim_report *report;
	struct ts_pairs pairs;
	struct ts_arena arena; /* keys of the maps */
	struct ts_strmap processes, threads;
	struct track *tracks; /* of processes and of threads alike */
	size_t nr_tracks, cap_tracks;
	struct ts_buf key, mended;
	uint64_t nr_pair; /* of the second walk */
	uint32_t host;
	bool comma, events_comma;
	enum ts_status st;
};

/* --- an event's members */

static struct event trim_trace_event_of(struct ts_bytes text)
{
	struct event event = { .phase = 0 };
	struct ts_jtok members = ts_jtok_enter(text);
	const struct {
		const char *name;
		struct ts_bytes *place;
	} places[] = {
		{ "pid", &event.pid }, { "tid", &event.tid },	   { "ts", &event.ts },
		{ "dur", &event.dur }, { "cat", &event.category }, { "name", &event.name },
		{ "id", &event.id },   { "id2", &event.id2 },	   { "scope", &event.scope },
	};

	while (ts_jtok_member(&members)) {
		struct ts_bytes value = ts_jtok_text(members.value);

		if (ts_bytes_is(members.key, "ph"))
			event.phase = value.n == 1 ? value.p[0] : 0;
		for (size_t i = 0; i < TS_NELEM(places); i++)
			if (ts_bytes_is(members.key, places[i].name))
				*places[i].place = value;
	}
	return event;
}

static uint32_t trim_trace_plane_of(const struct trimming *trimming, const struct event *event)
{
	struct ts_bytes none = { NULL, 0 };
	uint32_t plane = ts_trace_plane(trimming->trim->profile, trimming->host, event->pid,
					event->phase == 'X' ? event->category : none);

	return plane == TS_NONE ? (uint32_t)trimming->trim->profile->nr_planes : plane;
}

/* --- processes and threads */

static uint32_t trim_trace_add_track(struct trimming *trimming, struct ts_strmap *map,
				     struct ts_bytes key)
{
	if (trimming->nr_tracks >= TS_LIMIT_TRACE_TRACKS)
		return TS_NONE;
	key = ts_arena_copy(&trimming->arena, key);
	if (!key.p ||
	    !ts_grow(&trimming->tracks, &trimming->cap_tracks, trimming->nr_tracks + 1,
		     sizeof(*trimming->tracks)) ||
	    !ts_strmap_set(map, key, (uint32_t)trimming->nr_tracks)) {
		trimming->st = TS_NOMEM;
		return TS_NONE;
	}
	trimming->tracks[trimming->nr_tracks].process = TS_NONE;
	return (uint32_t)trimming->nr_tracks++;
}

static uint32_t track_of(struct trimming *trimming, struct ts_strmap *map, struct ts_bytes key)
{
	uint32_t at = ts_strmap_find(map, key);

	return at == TS_NONE ? trim_trace_add_track(trimming, map, key) : at;
}

static struct ts_bytes thread_key(struct trimming *trimming, const struct event *event)
{
	ts_buf_clear(&trimming->key);
	ts_buf_put(&trimming->key, event->pid);
	ts_buf_putc(&trimming->key, '\0');
	ts_buf_put(&trimming->key, event->tid);
	if (trimming->key.failed)
		trimming->st = TS_NOMEM;
	return ts_buf_bytes(&trimming->key);
}

static uint32_t trim_trace_thread_of(struct trimming *trimming, const struct event *event)
{
	uint32_t thread = track_of(trimming, &trimming->threads, thread_key(trimming, event));
	uint32_t process;

	if (thread == TS_NONE || trimming->tracks[thread].process != TS_NONE)
		return thread;
	process = track_of(trimming, &trimming->processes, event->pid);
	trimming->tracks[thread].process = process;
	return thread;
}

/* An event stays on this thread, and so do the names of the thread and of its process. */
static void trim_trace_mark(void *ctx, uint32_t thread)
{
	struct trimming *trimming = ctx;

	if (thread == TS_NONE)
		return;
	trimming->tracks[thread].kept = true;
	if (trimming->tracks[thread].process != TS_NONE)
		trimming->tracks[trimming->tracks[thread].process].kept = true;
}

static bool trim_trace_is_kept(const struct trimming *trimming, const struct ts_strmap *map,
			       struct ts_bytes key)
{
	uint32_t at = ts_strmap_find(map, key);

	return at != TS_NONE && trimming->tracks[at].kept;
}

/* --- the first walk */

static bool keeps(const struct trimming *trimming, const struct event *event, int64_t *start_ps,
		  bool *timed)
{
	int64_t dur_ps = event->phase == 'X' ? ts_trace_length(event->dur) : 0;

	*timed = ts_trace_time(trimming->trim->profile, trimming->host, event->ts, start_ps);
	return *timed && ts_trim_keeps(trimming->trim, trim_trace_plane_of(trimming, event),
				       *start_ps, dur_ps);
}

static void see_begin(struct trimming *trimming, const struct event *event, uint32_t thread,
		      int64_t start_ps)
{
	uint64_t nr = ts_pairs_number(&trimming->pairs, &trimming->st);
	struct track *track = thread == TS_NONE ? NULL : &trimming->tracks[thread];

	if (trimming->st || !track || track->nr_open >= TS_LIMIT_TRACE_OPEN)
		return;
	if (!ts_grow(&track->open, &track->cap_open, track->nr_open + 1, sizeof(*track->open))) {
		trimming->st = TS_NOMEM;
		return;
	}
	track->open[track->nr_open++] =
		(struct open){ start_ps, nr, trim_trace_plane_of(trimming, event) };
}

static void see_end(struct trimming *trimming, uint32_t thread, int64_t end_ps)
{
	uint64_t nr = ts_pairs_number(&trimming->pairs, &trimming->st);
	struct track *track = thread == TS_NONE ? NULL : &trimming->tracks[thread];
	struct open open;

	if (trimming->st || !track || track->nr_open == 0)
		return;
	open = track->open[--track->nr_open];
	if (!ts_trim_keeps(trimming->trim, open.plane, open.start_ps,
			   TS_MAX(ts_i64_sub(end_ps, open.start_ps), 0)))
		return;
	ts_pairs_keep(&trimming->pairs, open.nr);
	ts_pairs_keep(&trimming->pairs, nr);
	trim_trace_mark(trimming, thread);
}

/* What never ended lasts to the end of the trace. */
static void trim_trace_close_all(struct trimming *trimming)
{
	for (uint32_t t = 0; t < trimming->nr_tracks; t++) {
		struct track *track = &trimming->tracks[t];

		for (; track->nr_open > 0; track->nr_open--) {
			const struct open *open = &track->open[track->nr_open - 1];

			if (!ts_trim_keeps(trimming->trim, open->plane, open->start_ps, INT64_MAX))
				continue;
			ts_pairs_keep(&trimming->pairs, open->nr);
			trim_trace_mark(trimming, t);
		}
	}
}

struct pair_row {
	uint8_t phase, kind, end;
};

static const struct pair_row pair_rows[] = {
	{ 's', TS_PAIR_FLOW, TS_PAIR_BEGIN },
	{ 't', TS_PAIR_FLOW, TS_PAIR_BETWEEN },
	{ 'f', TS_PAIR_FLOW, TS_PAIR_END },
	{ 'b', TS_PAIR_ASYNC, TS_PAIR_BEGIN },
	{ 'n', TS_PAIR_ASYNC, TS_PAIR_BETWEEN },
	{ 'e', TS_PAIR_ASYNC, TS_PAIR_END },
	/* async events as they were before 2015 */
	{ 'S', TS_PAIR_ASYNC, TS_PAIR_BEGIN },
	{ 'T', TS_PAIR_ASYNC, TS_PAIR_BETWEEN },
	{ 'p', TS_PAIR_ASYNC, TS_PAIR_BETWEEN },
	{ 'F', TS_PAIR_ASYNC, TS_PAIR_END },
};

static const struct pair_row *pair_row(uint8_t phase)
{
	for (size_t i = 0; i < TS_NELEM(pair_rows); i++)
		if (pair_rows[i].phase == phase)
			return &pair_rows[i];
	return NULL;
}

/*
 * Pairs are known by id, category and scope; id2 may be an object, and is then one of the process.
 */
static uint64_t trim_trace_key_of(const struct event *event, uint8_t kind)
{
	uint64_t key = ts_hash(event->id, kind);

	key = ts_hash(event->category, key);
	key = ts_hash(event->scope, key);
	if (event->id2.p)
		key = ts_hash(event->pid, ts_hash(event->id2, key));
	return key;
}

static enum ts_status trim_trace_see_pair(struct trimming *trimming, const struct event *event,
					  const struct pair_row *row, uint32_t thread,
					  int64_t start_ps, struct ts_error *err)
{
	struct ts_pair_event pair = {
		.key = trim_trace_key_of(event, row->kind),
		.nr = ts_pairs_number(&trimming->pairs, &trimming->st),
		.ps = start_ps,
		.plane = trim_trace_plane_of(trimming, event),
		.track = thread,
		.kind = row->kind,
		.end = row->end,
	};

	return trimming->st ? TS_OK : ts_pairs_put(&trimming->pairs, &pair, err);
}

static bool is_paired(uint8_t phase)
{
	return phase == 'B' || phase == 'E' || pair_row(phase);
}

static enum ts_status see(struct trimming *trimming, const struct event *event,
			  struct ts_error *err)
{
	const struct pair_row *row = pair_row(event->phase);
	enum ts_status st = TS_OK;
	uint32_t thread;
	int64_t start_ps;
	bool timed, keep = keeps(trimming, event, &start_ps, &timed);

	if (!timed || (!keep && !is_paired(event->phase)))
		return TS_OK;
	thread = trim_trace_thread_of(trimming, event);
	if (event->phase == 'B')
		see_begin(trimming, event, thread, start_ps);
	else if (event->phase == 'E')
		see_end(trimming, thread, start_ps);
	else if (row)
		st = trim_trace_see_pair(trimming, event, row, thread, start_ps, err);
	else
		trim_trace_mark(trimming, thread);
	if (trimming->st == TS_NOMEM)
		st = ts_fail_nomem(err);
	return st;
}

/* --- the second walk */

static void trim_trace_put_item(struct trimming *trimming, bool *comma)
{
	ts_copy_puts(trimming->out, *comma ? ",\n" : "\n");
	*comma = true;
}

/* As it stands, or as strict readers take it. */
static void trim_trace_put_value(struct trimming *trimming, struct ts_bytes token)
{
	ts_buf_clear(&trimming->mended);
	if (!trimming->trim->exact)
		trimming->report->nr_mended += ts_strict_value(token, &trimming->mended);
	if (trimming->mended.failed)
		ts_copy_nomem(trimming->out);
	ts_copy_put(trimming->out,
		    trimming->mended.n > 0 ? ts_buf_bytes(&trimming->mended) : token);
}

static bool stays(struct trimming *trimming, const struct event *event)
{
	int64_t start_ps;
	bool timed, keep;

	if (event->phase == 'M') {
		if (ts_bytes_starts(event->name, "thread_"))
			return trim_trace_is_kept(trimming, &trimming->threads,
						  thread_key(trimming, event));
		return !event->pid.p ||
		       trim_trace_is_kept(trimming, &trimming->processes, event->pid);
	}
	keep = keeps(trimming, event, &start_ps, &timed);
	if (timed && is_paired(event->phase))
		keep = ts_pairs_stays(&trimming->pairs, trimming->nr_pair++);
	trimming->report->nr_kept += keep;
	trimming->report->nr_dropped += timed && !keep;
	trimming->report->nr_left_out += !timed;
	return keep;
}

static enum ts_status trim_trace_see_event(void *ctx, struct ts_bytes text, struct ts_error *err)
{
	struct event event = trim_trace_event_of(text);

	return event.phase == 'M' ? TS_OK : see(ctx, &event, err);
}

static enum ts_status copy_event(void *ctx, struct ts_bytes text, struct ts_error *err)
{
	struct trimming *trimming = ctx;
	struct event event = trim_trace_event_of(text);

	if (stays(trimming, &event)) {
		trim_trace_put_item(trimming, &trimming->events_comma);
		trim_trace_put_value(trimming, text);
	}
	return TS_OK;
}

static enum ts_status copy_begin(void *ctx, bool is_object, struct ts_error *err)
{
	struct trimming *trimming = ctx;

	if (is_object)
		ts_copy_puts(trimming->out, "{");
	return TS_OK;
}

static enum ts_status copy_member(void *ctx, struct ts_bytes key, struct ts_bytes value,
				  struct ts_error *err)
{
	struct trimming *trimming = ctx;

	trim_trace_put_item(trimming, &trimming->comma);
	ts_buf_clear(&trimming->key);
	ts_buf_putc(&trimming->key, '"');
	ts_buf_put(&trimming->key, key);
	ts_buf_putc(&trimming->key, '"');
	if (trimming->key.failed)
		return ts_fail_nomem(err);
	trim_trace_put_value(trimming, ts_buf_bytes(&trimming->key));
	ts_copy_puts(trimming->out, ": ");
	trim_trace_put_value(trimming, value);
	return TS_OK;
}

static enum ts_status copy_events_begin(void *ctx, bool is_object, struct ts_error *err)
{
	struct trimming *trimming = ctx;

	if (is_object) {
		trim_trace_put_item(trimming, &trimming->comma);
		ts_copy_puts(trimming->out, "\"traceEvents\": ");
	}
	ts_copy_puts(trimming->out, "[");
	trimming->events_comma = false;
	return TS_OK;
}

static enum ts_status copy_events_end(void *ctx, struct ts_error *err)
{
	struct trimming *trimming = ctx;

	ts_copy_puts(trimming->out, "\n]");
	return TS_OK;
}

static enum ts_status copy_end(void *ctx, bool is_object, struct ts_error *err)
{
	struct trimming *trimming = ctx;

	ts_copy_puts(trimming->out, is_object ? "\n}\n" : "\n");
	return TS_OK;
}

static void trim_trace_release(struct trimming *trimming)
{
	for (size_t i = 0; i < trimming->nr_tracks; i++)
		free(trimming->tracks[i].open);
	free(trimming->tracks);
	ts_strmap_release(&trimming->processes);
	ts_strmap_release(&trimming->threads);
	ts_arena_release(&trimming->arena);
	ts_buf_release(&trimming->key);
	ts_buf_release(&trimming->mended);
	ts_pairs_release(&trimming->pairs);
}

enum ts_status ts_trim_trace(const struct ts_trim *trim, uint32_t host, struct ts_bytes bytes,
			     bool mapped, struct ts_copy_out *out, struct ts_trim_report *report,
			     struct ts_error *err)
{
	struct trimming trimming = { .trim = trim, .out = out, .report = report, .host = host };
	const struct ts_walk_visitor seeing = { .ctx = &trimming, .event = trim_trace_see_event };
	const struct ts_walk_visitor copying = {
		.ctx = &trimming,
		.begin = copy_begin,
		.member = copy_member,
		.events_begin = copy_events_begin,
		.event = copy_event,
		.events_end = copy_events_end,
		.end = copy_end,
	};
	struct ts_walk_report events;
	enum ts_status st;

	TS_ASSERT(trim && out);
	TS_ASSERT(bytes.p || bytes.n == 0);
	*report = (struct ts_trim_report){ .damage = TS_ERROR_INIT };
	ts_pairs_init(&trimming.pairs, trim);
	trimming.pairs.ctx = &trimming;
	trimming.pairs.kept = trim_trace_mark;
	st = ts_walk_all(bytes, mapped, &seeing, &events, err);
	if (st == TS_OK)
		trim_trace_close_all(&trimming);
	if (st == TS_OK)
		st = ts_pairs_decide(&trimming.pairs, err);
	if (st == TS_OK)
		st = ts_walk_all(bytes, mapped, &copying, &events, err);
	report->damage = events.damage;
	report->nr_left_out += events.nr_too_long;
	trim_trace_release(&trimming);
	return st;
}
