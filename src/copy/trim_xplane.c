/* SPDX-License-Identifier: MIT */
/*
 * Trimming an xplane on the wire: what stays is copied as it stands, only lengths around it are
 * written anew. Three walks: over the events, to see which stay and what they refer to; over the
 * lines' lengths; over the events again, to copy them in runs. What is kept between them grows with
 * metadata and lines, never with events.
 */
#include "codec/pb.h"

#include "base/check.h"
#include "codec/pbw.h"
#include "codec/xspace.h"
#include "copy/trim.h"

enum role { ROLE_PROGRAM_ID = 1, ROLE_HLO_PROTO };

/* What is referred to in one plane. */
struct uses {
	struct ts_map roles;  /* stat metadata id -> enum role */
	struct ts_map events; /* event metadata ids that are needed */
	struct ts_map stats;  /* stat metadata ids likewise */
	struct ts_map bodies; /* event metadata id -> index into entries */
	struct ts_bytes *entries;
	int64_t *todo; /* needed, and not yet looked into */
	size_t nr_entries, cap_entries, nr_todo, cap_todo;
};

struct rest { /* of a line's body */
	uint64_t nr_bytes;
	const uint8_t *end; /* of the body, less what is damaged */
	bool gone;
};

struct trimming {
	const struct ts_trim *trim;
	struct ts_copy_out *out;
	struct ts_trim_report *report;
	struct ts_bytes file;
	struct uses *uses;  /* of each plane of the host */
	struct rest *rests; /* of each line of the host */
	uint32_t first_plane, nr_planes, first_line, nr_lines;
	struct ts_map programs; /* ids of programs that still have an op */
};

static void trim_xplane_need(struct trimming *trimming, struct ts_map *set, int64_t id)
{
	if (!ts_map_set(set, (uint64_t)id, 1))
		ts_copy_nomem(trimming->out);
}

static bool is_needed(const struct ts_map *set, int64_t id)
{
	return ts_map_find(set, (uint64_t)id) != TS_NONE;
}

static void trim_xplane_note_damage(struct trimming *trimming, const struct ts_pb_error *error)
{
	if (error->cause && trimming->report->damage.text[0] == '\0')
		ts_fail(&trimming->report->damage, TS_FORMAT, "byte %llu: %s",
			(unsigned long long)(error->at - trimming->file.p), error->cause);
}

/* --- what is referred to by that which stays */

static void use_stat(struct trimming *trimming, struct uses *uses, struct ts_pb pb)
{
	int64_t id = 0, number = 0;
	bool is_number = false;

	while (ts_pb_next(&pb)) {
		if (pb.field == XSTAT_METADATA_ID)
			id = ts_pb_i64(&pb);
		if (pb.field == XSTAT_REF)
			trim_xplane_need(trimming, &uses->stats, ts_pb_i64(&pb));
		if (pb.field == XSTAT_UINT64 || pb.field == XSTAT_INT64) {
			number = ts_pb_i64(&pb);
			is_number = true;
		}
	}
	if (!is_needed(&uses->stats, id))
		trim_xplane_need(trimming, &uses->stats, id);
	if (is_number && ts_map_find(&uses->roles, (uint64_t)id) == ROLE_PROGRAM_ID)
		trim_xplane_need(trimming, &trimming->programs, number);
}

static void use_metadata(struct trimming *trimming, struct uses *uses, int64_t id)
{
	if (is_needed(&uses->events, id))
		return;
	trim_xplane_need(trimming, &uses->events, id);
	if (!ts_grow(&uses->todo, &uses->cap_todo, uses->nr_todo + 1, sizeof(*uses->todo)))
		ts_copy_nomem(trimming->out);
	else
		uses->todo[uses->nr_todo++] = id;
}

/* "jit_f(12190760917235803885)" is an execution of this program. */
static bool trim_xplane_program_of(struct ts_bytes name, uint64_t *id)
{
	size_t open = name.n;

	if (!ts_bytes_ends(name, ")"))
		return false;
	while (open > 0 && name.p[open - 1] != '(')
		open--;
	return open > 0 && ts_bytes_u64(ts_bytes_cut(name, open, name.n - open - 1), id);
}

/* Children: int64 numbers, one a field or packed into one. */
static void use_children(struct trimming *trimming, struct uses *uses, const struct ts_pb *pb)
{
	struct ts_bytes packed = ts_pb_bytes(pb);
	const uint8_t *p = packed.p, *end = p ? p + packed.n : p;
	uint64_t id;

	if (pb->wire != TS_PB_BYTES)
		use_metadata(trimming, uses, ts_pb_i64(pb));
	while (p < end && ts_pb_varint(&p, end, &id))
		use_metadata(trimming, uses, (int64_t)id);
}

static void use_entry(struct trimming *trimming, struct uses *uses, struct ts_pb pb)
{
	uint64_t program;

	while (ts_pb_next(&pb)) {
		if (pb.field == XEVENTMETA_STATS)
			use_stat(trimming, uses, ts_pb_enter(&pb));
		if (pb.field == XEVENTMETA_CHILD_ID)
			use_children(trimming, uses, &pb);
		if (pb.field == XEVENTMETA_NAME &&
		    trim_xplane_program_of(ts_pb_bytes(&pb), &program))
			trim_xplane_need(trimming, &trimming->programs, (int64_t)program);
	}
}

/* What is needed needs others in turn. */
static void use_needed(struct trimming *trimming, struct uses *uses)
{
	while (uses->nr_todo > 0 && trimming->out->st == TS_OK) {
		int64_t id = uses->todo[--uses->nr_todo];
		uint32_t at = ts_map_find(&uses->bodies, (uint64_t)id);
		struct ts_pb_error error = { NULL, NULL };

		if (at != TS_NONE)
			use_entry(trimming, uses, ts_pb_of(uses->entries[at], &error));
	}
}

/* --- events */

struct when {
	int64_t offset_ps, dur_ps, metadata_id;
	bool always; /* a sum over the whole capture: it has no moment */
};

static struct when when_of(struct ts_pb pb)
{
	struct when when = { 0, 0, 0, false };
	bool summed = false, placed = false;

	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case XEVENT_METADATA_ID:     when.metadata_id = ts_pb_i64(&pb); break;
		case XEVENT_DURATION_PS:     when.dur_ps = ts_pb_i64(&pb); break;
		case XEVENT_NUM_OCCURRENCES: summed = true; break;
		case XEVENT_OFFSET_PS:
			when.offset_ps = ts_pb_i64(&pb);
			placed = true;
			break;
		default: break;
		}
	}
	when.always = summed && !placed;
	return when;
}

static void use_event(struct trimming *trimming, struct uses *uses, struct ts_pb pb,
		      const struct when *when)
{
	use_metadata(trimming, uses, when->metadata_id);
	while (ts_pb_next(&pb))
		if (pb.field == XEVENT_STATS)
			use_stat(trimming, uses, ts_pb_enter(&pb));
}

/* One walk over a line. */
struct walk {
	struct trimming *trimming;
	const struct ts_line *line;
	struct uses *uses; /* NULL: they are known, what stays is written */
	uint64_t nr_events, nr_kept, nr_bytes;
};

static bool field_stays(struct walk *walk, const struct ts_pb *pb)
{
	struct when when;

	if (pb->field != XLINE_EVENTS || pb->wire != TS_PB_BYTES)
		return true;
	when = when_of(ts_pb_enter(pb));
	if (pb->err->cause)
		return false; /* half an event is not an event */
	walk->nr_events++;
	if (!when.always && !ts_trim_keeps(walk->trimming->trim, walk->line->plane,
					   ts_i64_add(walk->line->start_ps, when.offset_ps),
					   TS_MAX(when.dur_ps, 0)))
		return false;
	if (walk->uses)
		use_event(walk->trimming, walk->uses, ts_pb_enter(pb), &when);
	if (pb->err->cause)
		return false;
	walk->nr_kept++;
	return true;
}

static void trim_xplane_piece(struct walk *walk, const uint8_t *from, const uint8_t *to)
{
	struct ts_bytes bytes = { from, (size_t)(to - from) };

	if (bytes.n == 0)
		return;
	walk->nr_bytes += bytes.n;
	if (!walk->uses)
		ts_copy_put(walk->trimming->out, bytes);
}

/* Over a line's body up to END; gives where it is damaged, or END. */
static const uint8_t *trim_xplane_walk_line(struct walk *walk, const uint8_t *end)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_bytes body = { walk->line->body.p, (size_t)(end - walk->line->body.p) };
	struct ts_pb pb = ts_pb_of(body, &error);
	const uint8_t *from = pb.p, *at = pb.p;

	for (; ts_pb_next(&pb); at = pb.p) {
		if (field_stays(walk, &pb))
			continue;
		trim_xplane_piece(walk, from, at);
		from = pb.p;
		if (error.cause)
			break;
	}
	if (from < at)
		trim_xplane_piece(walk, from, at);
	trim_xplane_note_damage(walk->trimming, &error);
	return at;
}

/* --- planes */

static const uint32_t no_messages[] = { 0 };
static const uint32_t statements[] = { XPLANE_STATS, 0 };
static const uint32_t stat_names[] = { XPLANE_STAT_METADATA, MAP_VALUE, 0 };
static const uint32_t event_names[] = { XPLANE_EVENT_METADATA, MAP_VALUE, XEVENTMETA_STATS, 0 };

/* The fields of a message, and of the messages below on this way, down to its end. */
static bool is_whole_below(struct ts_pb pb, const uint32_t *way)
{
	while (ts_pb_next(&pb))
		if (pb.field == *way && !is_whole_below(ts_pb_enter(&pb), way + 1))
			return false;
	return !pb.err->cause;
}

/*
 * Messages in a field of a plane that is copied as it stands are looked through first: one bad byte
 * there, and protobuf libraries refuse the whole file.
 */
static bool trim_xplane_is_whole(struct trimming *trimming, const struct ts_pb *pb)
{
	const uint32_t *const ways[] = { statements, stat_names, event_names };
	struct ts_pb_error error = { NULL, NULL };
	const uint32_t *way = no_messages;

	for (size_t i = 0; i < TS_NELEM(ways); i++)
		if (pb->field == ways[i][0])
			way = ways[i];
	if (way == no_messages || is_whole_below(ts_pb_of(ts_pb_bytes(pb), &error), way + 1))
		return true;
	trim_xplane_note_damage(trimming, &error);
	return false;
}

static bool read_entry(struct ts_bytes bytes, int64_t *key, struct ts_bytes *value)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb entry = ts_pb_of(bytes, &error);

	*key = 0;
	*value = (struct ts_bytes){ NULL, 0 };
	while (ts_pb_next(&entry)) {
		if (entry.field == MAP_KEY)
			*key = ts_pb_i64(&entry);
		if (entry.field == MAP_VALUE)
			*value = ts_pb_bytes(&entry);
	}
	return value->p != NULL && !error.cause;
}

static void take_stat_name(struct trimming *trimming, struct uses *uses, struct ts_bytes entry)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_bytes value;
	int64_t key;
	enum role role = 0;

	if (!read_entry(entry, &key, &value))
		return;
	for (struct ts_pb pb = ts_pb_of(value, &error); ts_pb_next(&pb);) {
		struct ts_bytes name = ts_pb_bytes(&pb);

		if (pb.field != XSTATMETA_NAME)
			continue;
		if (ts_bytes_is(name, "program_id"))
			role = ROLE_PROGRAM_ID;
		if (ts_bytes_is(name, "Hlo Proto") || ts_bytes_is(name, "hlo_proto"))
			role = ROLE_HLO_PROTO;
	}
	if (role)
		if (!ts_map_set(&uses->roles, (uint64_t)key, role))
			ts_copy_nomem(trimming->out);
}

static void take_event_metadata(struct trimming *trimming, struct uses *uses, struct ts_bytes entry)
{
	struct ts_bytes value;
	int64_t key;

	if (!read_entry(entry, &key, &value))
		return;
	if (!ts_grow(&uses->entries, &uses->cap_entries, uses->nr_entries + 1, sizeof(value)) ||
	    !ts_map_set(&uses->bodies, (uint64_t)key, (uint32_t)uses->nr_entries)) {
		ts_copy_nomem(trimming->out);
		return;
	}
	uses->entries[uses->nr_entries++] = value;
}

/* The metadata of a plane, by its ids. */
static void index_plane(struct trimming *trimming, struct uses *uses, struct ts_bytes plane)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(plane, &error);

	while (ts_pb_next(&pb)) {
		if (!trim_xplane_is_whole(trimming, &pb))
			continue;
		if (pb.field == XPLANE_STAT_METADATA)
			take_stat_name(trimming, uses, ts_pb_bytes(&pb));
		if (pb.field == XPLANE_EVENT_METADATA)
			take_event_metadata(trimming, uses, ts_pb_bytes(&pb));
	}
	trim_xplane_note_damage(trimming, &error);
}

static void use_line(struct trimming *trimming, struct uses *uses, uint32_t index)
{
	const struct ts_line *line = &trimming->trim->profile->lines[index];
	struct walk walk = { .trimming = trimming, .line = line, .uses = uses };
	struct rest *rest = &trimming->rests[index - trimming->first_line];

	if (line->body.n > 0)
		rest->end = trim_xplane_walk_line(&walk, line->body.p + line->body.n);
	rest->nr_bytes = walk.nr_bytes;
	/* A line that loses all of its events goes; a line that was empty stays. */
	rest->gone = walk.nr_events > 0 && walk.nr_kept == 0;
	trimming->report->nr_kept += walk.nr_kept;
	trimming->report->nr_dropped += walk.nr_events - walk.nr_kept;
}

/* A program's HLO, of a program without an op? Other entries of /host:metadata stay. */
static bool is_idle_program(const struct trimming *trimming, const struct uses *uses, int64_t key,
			    struct ts_bytes value)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(value, &error);
	uint64_t program = (uint64_t)key;
	bool holds_hlo = false;

	while (ts_pb_next(&pb)) {
		if (pb.field == XEVENTMETA_NAME)
			trim_xplane_program_of(ts_pb_bytes(&pb), &program);
		if (pb.field != XEVENTMETA_STATS)
			continue;
		for (struct ts_pb stat = ts_pb_enter(&pb); ts_pb_next(&stat);)
			holds_hlo |= stat.field == XSTAT_METADATA_ID &&
				     ts_map_find(&uses->roles, stat.value) == ROLE_HLO_PROTO;
	}
	return holds_hlo && !is_needed(&trimming->programs, key) &&
	       !is_needed(&trimming->programs, (int64_t)program);
}

static void use_programs(struct trimming *trimming, struct uses *uses, struct ts_bytes plane)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(plane, &error);
	struct ts_bytes value;
	int64_t key;

	while (ts_pb_next(&pb))
		if (pb.field == XPLANE_EVENT_METADATA &&
		    read_entry(ts_pb_bytes(&pb), &key, &value) &&
		    !is_idle_program(trimming, uses, key, value))
			use_metadata(trimming, uses, key);
}

/*
 * PLANE: its index in the profile. Planes of programs come last: the others show which are needed.
 */
static void use_plane(struct trimming *trimming, uint32_t index, struct ts_bytes body)
{
	const struct ts_plane *plane = &trimming->trim->profile->planes[index];
	struct uses *uses = &trimming->uses[index - trimming->first_plane];
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);

	index_plane(trimming, uses, body);
	while (ts_pb_next(&pb))
		if (pb.field == XPLANE_STATS && trim_xplane_is_whole(trimming, &pb))
			use_stat(trimming, uses, ts_pb_enter(&pb));
	for (uint32_t l = 0; l < plane->nr_lines && trimming->out->st == TS_OK; l++)
		use_line(trimming, uses, plane->first_line + l);
	if (plane->kind == TS_PLANE_METADATA)
		use_programs(trimming, uses, body);
	use_needed(trimming, uses);
}

/* --- writing */

static void trim_xplane_put_varint(struct ts_copy_out *out, uint64_t value)
{
	uint8_t bytes[TS_PBW_VARINT], *end = ts_pbw_store(bytes, value);

	ts_copy_put(out, (struct ts_bytes){ bytes, (size_t)(end - bytes) });
}

/* A field of so many bytes, which follow. */
static void trim_xplane_put_head(struct ts_copy_out *out, uint32_t field, uint64_t nr_bytes)
{
	trim_xplane_put_varint(out, (uint64_t)field << 3 | TS_PB_BYTES);
	trim_xplane_put_varint(out, nr_bytes);
}

/* A field of a plane that is not a line. */
static bool field_of_plane_stays(struct trimming *trimming, const struct uses *uses,
				 const struct ts_pb *pb)
{
	struct ts_bytes value;
	int64_t key;

	if (!trim_xplane_is_whole(trimming, pb))
		return false;
	if (pb->field != XPLANE_EVENT_METADATA && pb->field != XPLANE_STAT_METADATA)
		return true;
	read_entry(ts_pb_bytes(pb), &key, &value);
	return is_needed(pb->field == XPLANE_STAT_METADATA ? &uses->stats : &uses->events, key);
}

/* What stays of a line: its size, or with PUT its bytes. */
static uint64_t emit_line(struct trimming *trimming, uint32_t index, bool put)
{
	const struct ts_line *line = &trimming->trim->profile->lines[index];
	const struct rest *rest = &trimming->rests[index - trimming->first_line];
	struct walk walk = { .trimming = trimming, .line = line };

	if (rest->gone)
		return 0;
	if (put)
		trim_xplane_put_head(trimming->out, XPLANE_LINES, rest->nr_bytes);
	if (put && rest->nr_bytes > 0)
		trim_xplane_walk_line(&walk, rest->end);
	return ts_pbw_size((uint64_t)XPLANE_LINES << 3 | TS_PB_BYTES) +
	       ts_pbw_size(rest->nr_bytes) + rest->nr_bytes;
}

/* And of a plane. */
static uint64_t emit_plane(struct trimming *trimming, uint32_t index, struct ts_pb pb, bool put)
{
	const struct uses *uses = &trimming->uses[index - trimming->first_plane];
	const struct ts_plane *plane = &trimming->trim->profile->planes[index];
	uint32_t line = plane->first_line, behind = line + plane->nr_lines;
	uint64_t total = 0;

	for (const uint8_t *at = pb.p; ts_pb_next(&pb); at = pb.p) {
		if (pb.field == XPLANE_LINES && pb.wire == TS_PB_BYTES) {
			/* Behind damage there may be more of them than the reader read. */
			if (line < behind)
				total += emit_line(trimming, line++, put);
		} else if (field_of_plane_stays(trimming, uses, &pb)) {
			total += (uint64_t)(pb.p - at);
			if (put)
				ts_copy_put(trimming->out,
					    (struct ts_bytes){ at, (size_t)(pb.p - at) });
		}
	}
	return total;
}

static void trim_xplane_put_plane(struct trimming *trimming, uint32_t index, struct ts_bytes body)
{
	struct ts_pb_error error = { NULL, NULL };
	uint64_t bytes = emit_plane(trimming, index, ts_pb_of(body, &error), false);

	error = (struct ts_pb_error){ NULL, NULL };
	trim_xplane_put_head(trimming->out, XSPACE_PLANES, bytes);
	emit_plane(trimming, index, ts_pb_of(body, &error), true);
}

enum turn { USE_PLANES, USE_PROGRAMS, PUT };

static bool is_turn(const struct trimming *trimming, uint32_t index, enum turn turn)
{
	bool programs = trimming->trim->profile->planes[index].kind == TS_PLANE_METADATA;

	if (!trimming->trim->planes[index])
		return false;
	return turn == PUT || programs == (turn == USE_PROGRAMS);
}

/* All planes of the file in their order, as the reader met them. */
static void each_plane(struct trimming *trimming, enum turn turn)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(trimming->file, &error);
	uint32_t at = 0;

	for (const uint8_t *start = pb.p; ts_pb_next(&pb) && trimming->out->st == TS_OK;
	     start = pb.p) {
		uint32_t index = trimming->first_plane + at;

		if (pb.field != XSPACE_PLANES) {
			if (turn == PUT)
				ts_copy_put(trimming->out,
					    (struct ts_bytes){ start, (size_t)(pb.p - start) });
			continue;
		}
		if (at++ >= trimming->nr_planes || !is_turn(trimming, index, turn))
			continue;
		if (turn == PUT)
			trim_xplane_put_plane(trimming, index, ts_pb_bytes(&pb));
		else
			use_plane(trimming, index, ts_pb_bytes(&pb));
	}
	trim_xplane_note_damage(trimming, &error);
}

static void trim_xplane_release(struct trimming *trimming)
{
	for (uint32_t i = 0; trimming->uses && i < trimming->nr_planes; i++) {
		struct uses *uses = &trimming->uses[i];

		ts_map_release(&uses->roles);
		ts_map_release(&uses->events);
		ts_map_release(&uses->stats);
		ts_map_release(&uses->bodies);
		free(uses->entries);
		free(uses->todo);
	}
	ts_map_release(&trimming->programs);
	free(trimming->uses);
	free(trimming->rests);
}

/* The host's lines stand together, from the first one of its planes on. */
static void find_lines(struct trimming *trimming, const struct ts_profile *profile)
{
	trimming->first_line = (uint32_t)profile->nr_lines;
	for (uint32_t i = 0; i < trimming->nr_planes; i++) {
		const struct ts_plane *plane = &profile->planes[trimming->first_plane + i];

		if (plane->nr_lines == 0)
			continue;
		trimming->first_line = TS_MIN(trimming->first_line, plane->first_line);
		trimming->nr_lines = plane->first_line + plane->nr_lines - trimming->first_line;
	}
}

enum ts_status ts_trim_xplane(const struct ts_trim *trim, uint32_t host, struct ts_bytes bytes,
			      struct ts_copy_out *out, struct ts_trim_report *report,
			      struct ts_error *err)
{
	const struct ts_profile *profile = trim->profile;
	struct trimming trimming = {
		.trim = trim,
		.out = out,
		.report = report,
		.file = bytes,
		.first_plane = profile->hosts[host].first_plane,
		.nr_planes = profile->hosts[host].nr_planes,
	};

	TS_ASSERT(trim && out);
	TS_ASSERT(bytes.p || bytes.n == 0);
	*report = (struct ts_trim_report){ .damage = TS_ERROR_INIT };
	find_lines(&trimming, profile);
	trimming.uses = calloc(trimming.nr_planes + 1, sizeof(*trimming.uses));
	trimming.rests = calloc(trimming.nr_lines + 1, sizeof(*trimming.rests));
	if (!trimming.uses || !trimming.rests)
		ts_copy_nomem(out);
	for (enum turn turn = USE_PLANES; turn <= PUT && out->st == TS_OK; turn++)
		each_plane(&trimming, turn);
	trim_xplane_release(&trimming);
	return ts_copy_status(out, err);
}
