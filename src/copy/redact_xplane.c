/* SPDX-License-Identifier: MIT */
/*
 * Redacting an xplane on the wire, a plane at a time: first over its lines, to see which stats name
 * what and how long each line will be, then all but the lines into memory, then line after line. An
 * event whose stats are all numbers is copied as it stands, and most are.
 *
 * A text may be given as the name of a stat (a ref): such a name is public, if the schema has it; a name
 * like others, if one of the stats that refer to it may hold names; else hashed whole.
 *
 * A module's execution is called by its program's id, and a thread's line by the thread's, "jit_f(12190760917235803885)" and
 * "main/3116817": such a number stays where the file has it as an id anyway.
 *
 * Fields that the schema does not have are left out, and so are numbers of more than four digits in stats that are not
 * known: they may be an id or a date.
 */
#include "base/arena.h"

#include "base/check.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "codec/xspace.h"
#include "copy/redact.h"

#define OUR_PLANE "/device:CUSTOM:TPUsight"

#define BIT(field) (UINT32_C(1) << (field))

/* Fields with a number, of each message. */
static const uint32_t plane_numbers = BIT(XPLANE_ID);
static const uint32_t line_numbers =
	BIT(XLINE_ID) | BIT(XLINE_TIMESTAMP_NS) | BIT(XLINE_DURATION_PS) | BIT(XLINE_DISPLAY_ID);
static const uint32_t event_numbers = BIT(XEVENT_METADATA_ID) | BIT(XEVENT_OFFSET_PS) |
				      BIT(XEVENT_DURATION_PS) | BIT(XEVENT_NUM_OCCURRENCES);
static const uint32_t stat_numbers = BIT(XSTAT_METADATA_ID) | BIT(XSTAT_DOUBLE) |
				     BIT(XSTAT_UINT64) | BIT(XSTAT_INT64) | BIT(XSTAT_REF);
static const uint32_t metadata_numbers = BIT(XEVENTMETA_ID) | BIT(XEVENTMETA_CHILD_ID);
static const uint32_t entry_numbers = BIT(MAP_KEY);

struct line {
	uint64_t nr_bytes;
	const uint8_t *end; /* of its body, less what is damaged */
	int64_t ids[2];	    /* id, display_id */
};

struct plane {
	struct ts_map kinds; /* stat metadata id -> enum ts_key_kind, of those that are known */
	struct ts_map uses;  /* stat metadata id -> 1, of those that texts of names refer to */
	struct line *lines;
	size_t nr_lines, cap_lines;
};

struct redacting {
	const struct ts_names *names;
	struct ts_copy_out *out;
	struct ts_redact_report *report;
	struct ts_bytes file;
	struct ts_map programs; /* ids -> 1 */
	struct plane plane;
	struct ts_buf rest;  /* of the plane: all but its lines */
	struct ts_buf piece; /* an event */
};

static void redact_xplane_note_damage(struct redacting *redacting, const struct ts_pb_error *error)
{
	if (error->cause && redacting->report->damage.text[0] == '\0')
		ts_fail(&redacting->report->damage, TS_FORMAT, "byte %llu: %s",
			(unsigned long long)(error->at - redacting->file.p), error->cause);
}

static enum ts_key_kind redact_xplane_kind_of(const struct redacting *redacting, int64_t id)
{
	uint32_t kind = ts_map_find(&redacting->plane.kinds, (uint64_t)id);

	return kind == TS_NONE ? TS_KEY_UNKNOWN : (enum ts_key_kind)kind;
}

static bool is_number_of(const struct ts_pb *pb, uint32_t numbers)
{
	return pb->wire != TS_PB_BYTES && pb->field < 32 && (numbers & BIT(pb->field));
}

/* A field with a number, if it is one of NUMBERS. */
static void copy_number(struct ts_buf *out, const uint8_t *from, const struct ts_pb *pb,
			uint32_t numbers)
{
	if (!is_number_of(pb, numbers))
		return;
	ts_buf_put(out, (struct ts_bytes){ from, (size_t)(pb->p - from) });
}

/* --- names with ids at their ends */

/* Where the digits at the end of a text begin; an id of a thread may be negative. */
static size_t number_start(struct ts_bytes text)
{
	size_t at = text.n;

	while (at > 0 && text.p[at - 1] >= '0' && text.p[at - 1] <= '9')
		at--;
	return at > 0 && at < text.n && text.p[at - 1] == '-' ? at - 1 : at;
}

static bool is_program(const struct redacting *redacting, struct ts_bytes digits)
{
	uint64_t id;

	return ts_bytes_u64(digits, &id) && ts_map_find(&redacting->programs, id) != TS_NONE;
}

/* A text of names; the id of a program in brackets at its end stays. */
static void put_names(const struct redacting *redacting, struct ts_bytes text, struct ts_buf *out)
{
	struct ts_bytes inner = ts_bytes_cut(text, 0, text.n > 0 ? text.n - 1 : 0);
	size_t at = number_start(inner);

	if (!ts_bytes_ends(text, ")") || at < 2 || inner.p[at - 1] != '(' ||
	    !is_program(redacting, ts_bytes_cut(inner, at, inner.n))) {
		ts_names_put(redacting->names, text, out);
		return;
	}
	ts_names_put(redacting->names, ts_bytes_cut(text, 0, at - 1), out);
	ts_buf_put(out, ts_bytes_cut(text, at - 1, text.n));
}

static void put_value(const struct redacting *redacting, enum ts_key_kind kind,
		      struct ts_bytes text, struct ts_buf *out)
{
	if (kind == TS_KEY_NAMES)
		put_names(redacting, text, out);
	else
		ts_names_value(redacting->names, kind, text, out);
}

/* The name of a line; ID and DISPLAY_ID are its. */
static void put_line_name(const struct redacting *redacting, const int64_t ids[2],
			  struct ts_bytes text, struct ts_buf *out)
{
	size_t at = number_start(text);
	int64_t id;

	if (at == 0 || text.p[at - 1] != '/' ||
	    !ts_bytes_i64(ts_bytes_cut(text, at, text.n), &id) || (id != ids[0] && id != ids[1])) {
		ts_names_put(redacting->names, text, out);
		return;
	}
	ts_names_put(redacting->names, ts_bytes_cut(text, 0, at), out);
	ts_buf_put(out, ts_bytes_cut(text, at, text.n));
}

/* --- stats */

static void redact_xplane_put_bytes(struct redacting *redacting, enum ts_key_kind kind,
				    struct ts_bytes value, struct ts_buf *out)
{
	if (kind == TS_KEY_HLO)
		ts_redact_hlo(redacting->names, value, out);
	else if (kind == TS_KEY_NUMBERS || kind == TS_KEY_ACCESS)
		ts_redact_numbers(redacting->names, value, kind, out);
	/* else: bytes with unknown content */
}

static int64_t stat_id(struct ts_pb pb)
{
	int64_t id = 0;

	while (ts_pb_next(&pb))
		if (pb.field == XSTAT_METADATA_ID)
			id = ts_pb_i64(&pb);
	return id;
}

/* A number of more than four digits. */
static bool is_long(const struct ts_pb *pb)
{
	double value = 0;

	if (pb->field == XSTAT_UINT64)
		return ts_pb_u64(pb) > 9999;
	if (pb->field == XSTAT_INT64)
		return ts_pb_i64(pb) > 9999 || ts_pb_i64(pb) < -9999;
	if (pb->field == XSTAT_DOUBLE)
		value = ts_pb_double(pb);
	return !(value >= -9999 && value <= 9999 && value == (double)(int64_t)value);
}

/* A field of a stat that is no text. */
static bool tells_nothing(enum ts_key_kind kind, const struct ts_pb *pb)
{
	return is_number_of(pb, stat_numbers) && (kind != TS_KEY_UNKNOWN || !is_long(pb));
}

static void redact_xplane_put_stat(struct redacting *redacting, struct ts_pb pb, struct ts_buf *out)
{
	enum ts_key_kind kind = redact_xplane_kind_of(redacting, stat_id(pb));

	for (const uint8_t *at = pb.p; ts_pb_next(&pb); at = pb.p) {
		size_t mark;

		if (tells_nothing(kind, &pb))
			copy_number(out, at, &pb, stat_numbers);
		if (pb.wire != TS_PB_BYTES || (pb.field != XSTAT_STR && pb.field != XSTAT_BYTES))
			continue;
		mark = ts_pbw_begin(out, pb.field);
		if (pb.field == XSTAT_STR)
			put_value(redacting, kind, ts_pb_bytes(&pb), out);
		else
			redact_xplane_put_bytes(redacting, kind, ts_pb_bytes(&pb), out);
		ts_pbw_end(out, mark);
	}
}

/* The text that a stat refers to is one of names. */
static void redact_xplane_see_stat(struct redacting *redacting, struct ts_pb pb)
{
	if (redact_xplane_kind_of(redacting, stat_id(pb)) == TS_KEY_UNKNOWN)
		return;
	while (ts_pb_next(&pb))
		if (pb.field == XSTAT_REF && pb.wire != TS_PB_BYTES &&
		    !ts_map_set(&redacting->plane.uses, ts_pb_u64(&pb), 1))
			ts_copy_nomem(redacting->out);
}

/* --- events */

/* Has a stat only numbers that may stay? The kind of it is looked up only for those that may not. */
static bool stat_is_plain(struct redacting *redacting, struct ts_pb pb, bool see)
{
	struct ts_pb stat = pb;
	bool plain = true, is_known = false, looked = false;

	while (ts_pb_next(&pb)) {
		if (see && pb.field == XSTAT_REF)
			redact_xplane_see_stat(redacting, stat);
		if (is_number_of(&pb, stat_numbers & ~BIT(XSTAT_METADATA_ID)) &&
		    pb.field != XSTAT_REF && is_long(&pb)) {
			is_known = looked ? is_known
					  : redact_xplane_kind_of(redacting, stat_id(stat)) !=
						    TS_KEY_UNKNOWN;
			looked = true;
			plain &= is_known;
		}
		plain &= is_number_of(&pb, stat_numbers);
	}
	return plain;
}

/* Has it only numbers that may stay? All of it is checked: false also when it is damaged. */
static bool redact_xplane_is_plain(struct redacting *redacting, struct ts_pb pb, bool see)
{
	bool plain = true;

	while (ts_pb_next(&pb)) {
		if (pb.wire == TS_PB_BYTES && pb.field == XEVENT_STATS)
			plain &= stat_is_plain(redacting, ts_pb_enter(&pb), see);
		else
			plain &= is_number_of(&pb, event_numbers);
	}
	return plain;
}

static void redact_xplane_put_event(struct redacting *redacting, struct ts_pb pb,
				    struct ts_buf *out)
{
	for (const uint8_t *at = pb.p; ts_pb_next(&pb); at = pb.p) {
		size_t mark;

		copy_number(out, at, &pb, event_numbers);
		if (pb.wire == TS_PB_BYTES && pb.field == XEVENT_STATS) {
			mark = ts_pbw_begin(out, XEVENT_STATS);
			redact_xplane_put_stat(redacting, ts_pb_enter(&pb), out);
			ts_pbw_end(out, mark);
		}
	}
}

/* What becomes of a field of a line: a piece of the input, or of redacting->piece; false: the event is
 * damaged, and with it the line. */
static bool line_field(struct redacting *redacting, const struct line *line, const struct ts_pb *pb,
		       const uint8_t *at, bool see, struct ts_bytes *piece)
{
	struct ts_buf *out = &redacting->piece;
	bool is_event = pb->field == XLINE_EVENTS && pb->wire == TS_PB_BYTES;
	bool plain = is_number_of(pb, line_numbers) ||
		     (is_event && redact_xplane_is_plain(redacting, ts_pb_enter(pb), see));
	size_t mark;

	*piece = (struct ts_bytes){ at, (size_t)(pb->p - at) };
	if (plain || pb->err->cause)
		return !pb->err->cause;
	ts_buf_clear(out);
	*piece = (struct ts_bytes){ NULL, 0 };
	if (pb->wire != TS_PB_BYTES ||
	    (!is_event && pb->field != XLINE_NAME && pb->field != XLINE_DISPLAY_NAME))
		return true;
	mark = ts_pbw_begin(out, pb->field);
	if (is_event)
		redact_xplane_put_event(redacting, ts_pb_enter(pb), out);
	else
		put_line_name(redacting, line->ids, ts_pb_bytes(pb), out);
	ts_pbw_end(out, mark);
	if (out->failed)
		ts_copy_nomem(redacting->out);
	*piece = ts_buf_bytes(out);
	return true;
}

/* Over a line up to LINE->end: measures it (SEE), or writes it. */
static void redact_xplane_walk_line(struct redacting *redacting, const uint8_t *body,
				    struct line *line, bool see)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of((struct ts_bytes){ body, (size_t)(line->end - body) }, &error);
	const uint8_t *at = pb.p;
	struct ts_bytes piece;

	for (; ts_pb_next(&pb) && redacting->out->st == TS_OK; at = pb.p) {
		if (!line_field(redacting, line, &pb, at, see, &piece)) {
			redacting->report->nr_left_out += see;
			break;
		}
		if (see)
			line->nr_bytes += piece.n;
		else
			ts_copy_put(redacting->out, piece);
	}
	if (see)
		line->end = at;
	redact_xplane_note_damage(redacting, &error);
}

static void see_line(struct redacting *redacting, struct ts_bytes body)
{
	struct plane *plane = &redacting->plane;
	struct line line = { .end = body.p + body.n };
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);

	while (ts_pb_next(&pb))
		if (pb.field == XLINE_ID || pb.field == XLINE_DISPLAY_ID)
			line.ids[pb.field == XLINE_DISPLAY_ID] = ts_pb_i64(&pb);
	if (!ts_grow(&plane->lines, &plane->cap_lines, plane->nr_lines + 1, sizeof(line))) {
		ts_copy_nomem(redacting->out);
		return;
	}
	if (body.n > 0)
		redact_xplane_walk_line(redacting, body.p, &line, true);
	plane->lines[plane->nr_lines++] = line;
}

/* --- metadata */

static struct ts_bytes field_in(struct ts_bytes message, uint32_t field)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(message, &error);
	struct ts_bytes found = { NULL, 0 };

	while (ts_pb_next(&pb))
		if (pb.field == field)
			found = ts_pb_bytes(&pb);
	return found;
}

static int64_t redact_xplane_key_of(struct ts_bytes entry)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(entry, &error);
	int64_t key = 0;

	while (ts_pb_next(&pb))
		if (pb.field == MAP_KEY)
			key = ts_pb_i64(&pb);
	return key;
}

static void see_stat_name(struct redacting *redacting, struct ts_bytes entry)
{
	struct ts_bytes name = field_in(field_in(entry, MAP_VALUE), XSTATMETA_NAME);
	enum ts_key_kind kind = ts_names_key(redacting->names, name);

	if (kind != TS_KEY_UNKNOWN &&
	    !ts_map_set(&redacting->plane.kinds, (uint64_t)redact_xplane_key_of(entry), kind))
		ts_copy_nomem(redacting->out);
}

static void put_stat_name(struct redacting *redacting, int64_t id, struct ts_bytes name,
			  struct ts_buf *out)
{
	bool is_used = ts_map_find(&redacting->plane.uses, (uint64_t)id) != TS_NONE;

	if (ts_names_key(redacting->names, name) != TS_KEY_UNKNOWN)
		ts_buf_put(out, name);
	else
		put_value(redacting, is_used ? TS_KEY_NAMES : TS_KEY_UNKNOWN, name, out);
}

/* An XStatMetadata: its id and name; its description is text for people. */
static void put_stat_metadata(struct redacting *redacting, int64_t id, struct ts_pb pb,
			      struct ts_buf *out)
{
	for (const uint8_t *at = pb.p; ts_pb_next(&pb); at = pb.p) {
		size_t mark;

		copy_number(out, at, &pb, BIT(XSTATMETA_ID));
		if (pb.wire == TS_PB_BYTES && pb.field == XSTATMETA_NAME) {
			mark = ts_pbw_begin(out, XSTATMETA_NAME);
			put_stat_name(redacting, id, ts_pb_bytes(&pb), out);
			ts_pbw_end(out, mark);
		}
	}
}

static void put_event_metadata(struct redacting *redacting, struct ts_pb pb, struct ts_buf *out)
{
	for (const uint8_t *at = pb.p; ts_pb_next(&pb); at = pb.p) {
		size_t mark;

		copy_number(out, at, &pb, metadata_numbers);
		if (pb.wire != TS_PB_BYTES)
			continue;
		if (pb.field == XEVENTMETA_CHILD_ID && pb.len > 0 &&
		    pb.data[pb.len - 1] < 0x80) /* packed */
			ts_buf_put(out, (struct ts_bytes){ at, (size_t)(pb.p - at) });
		if (pb.field != XEVENTMETA_NAME && pb.field != XEVENTMETA_DISPLAY_NAME &&
		    pb.field != XEVENTMETA_STATS)
			continue;
		mark = ts_pbw_begin(out, pb.field);
		if (pb.field == XEVENTMETA_STATS)
			redact_xplane_put_stat(redacting, ts_pb_enter(&pb), out);
		else
			put_names(redacting, ts_pb_bytes(&pb), out);
		ts_pbw_end(out, mark);
	}
}

/* An entry of one of the two maps. */
static void put_entry(struct redacting *redacting, const struct ts_pb *field, struct ts_buf *out)
{
	int64_t id = redact_xplane_key_of(ts_pb_bytes(field));
	struct ts_pb pb = ts_pb_enter(field);
	size_t entry = ts_pbw_begin(out, field->field), mark;

	for (const uint8_t *at = pb.p; ts_pb_next(&pb); at = pb.p) {
		copy_number(out, at, &pb, entry_numbers);
		if (pb.wire != TS_PB_BYTES || pb.field != MAP_VALUE)
			continue;
		mark = ts_pbw_begin(out, MAP_VALUE);
		if (field->field == XPLANE_STAT_METADATA)
			put_stat_metadata(redacting, id, ts_pb_enter(&pb), out);
		else
			put_event_metadata(redacting, ts_pb_enter(&pb), out);
		ts_pbw_end(out, mark);
	}
	ts_pbw_end(out, entry);
}

/* --- planes */

/* What the texts of a plane that are referred to are for. */
static void see_metadata(struct redacting *redacting, struct ts_bytes body)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb names = ts_pb_of(body, &error), pb = names;

	while (ts_pb_next(&names))
		if (names.field == XPLANE_STAT_METADATA)
			see_stat_name(redacting, ts_pb_bytes(&names));
	redact_xplane_note_damage(redacting, &error);
	error = (struct ts_pb_error){ NULL, NULL };
	while (ts_pb_next(&pb)) {
		struct ts_pb_error inner = { NULL, NULL };
		struct ts_pb value = ts_pb_of(pb.field == XPLANE_EVENT_METADATA
						      ? field_in(ts_pb_bytes(&pb), MAP_VALUE)
						      : (struct ts_bytes){ NULL, 0 },
					      &inner);

		if (pb.field == XPLANE_STATS)
			redact_xplane_see_stat(redacting, ts_pb_of(ts_pb_bytes(&pb), &inner));
		while (ts_pb_next(&value))
			if (value.field == XEVENTMETA_STATS)
				redact_xplane_see_stat(redacting, ts_pb_enter(&value));
	}
}

/* A field of a plane that is not a line. A field that cannot be read to its end is left out. */
static void put_plane_field(struct redacting *redacting, const struct ts_pb *field,
			    const uint8_t *at)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = *field;
	struct ts_buf *out = &redacting->rest;
	size_t start = out->n, mark;

	pb.err = &error;
	if (pb.wire != TS_PB_BYTES) {
		copy_number(out, at, field, plane_numbers);
	} else if (pb.field == XPLANE_EVENT_METADATA || pb.field == XPLANE_STAT_METADATA) {
		put_entry(redacting, &pb, out);
	} else if (pb.field == XPLANE_NAME || pb.field == XPLANE_STATS) {
		mark = ts_pbw_begin(out, pb.field);
		if (pb.field == XPLANE_NAME)
			ts_names_put(redacting->names, ts_pb_bytes(&pb), out);
		else
			redact_xplane_put_stat(redacting, ts_pb_enter(&pb), out);
		ts_pbw_end(out, mark);
	}
	if (error.cause && !out->failed)
		out->n = start;
	redact_xplane_note_damage(redacting, &error);
}

static void see_plane(struct redacting *redacting, struct ts_bytes body)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);

	see_metadata(redacting, body);
	while (ts_pb_next(&pb) && redacting->out->st == TS_OK)
		if (pb.field == XPLANE_LINES && pb.wire == TS_PB_BYTES)
			see_line(redacting, ts_pb_bytes(&pb));
	error = (struct ts_pb_error){ NULL, NULL };
	pb = ts_pb_of(body, &error);
	for (const uint8_t *at = pb.p; ts_pb_next(&pb) && redacting->out->st == TS_OK; at = pb.p) {
		if (pb.field != XPLANE_LINES)
			put_plane_field(redacting, &pb, at);
		if (redacting->rest.failed)
			ts_copy_nomem(redacting->out);
	}
}

static void redact_xplane_put_head(struct ts_copy_out *out, uint32_t field, uint64_t nr_bytes)
{
	uint8_t bytes[2 * TS_PBW_VARINT];
	uint8_t *end = ts_pbw_store(bytes, (uint64_t)field << 3 | TS_PB_BYTES);

	end = ts_pbw_store(end, nr_bytes);
	ts_copy_put(out, (struct ts_bytes){ bytes, (size_t)(end - bytes) });
}

static void redact_xplane_put_plane(struct redacting *redacting, struct ts_bytes body)
{
	struct plane *plane = &redacting->plane;
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);
	uint64_t nr_bytes = redacting->rest.n;
	size_t at = 0;

	for (size_t i = 0; i < plane->nr_lines; i++)
		nr_bytes += 1 + ts_pbw_size(plane->lines[i].nr_bytes) + plane->lines[i].nr_bytes;
	redact_xplane_put_head(redacting->out, XSPACE_PLANES, nr_bytes);
	ts_copy_put(redacting->out, ts_buf_bytes(&redacting->rest));
	while (ts_pb_next(&pb) && redacting->out->st == TS_OK) {
		if (pb.field != XPLANE_LINES || pb.wire != TS_PB_BYTES)
			continue;
		redact_xplane_put_head(redacting->out, XPLANE_LINES, plane->lines[at].nr_bytes);
		if (pb.len > 0)
			redact_xplane_walk_line(redacting, pb.data, &plane->lines[at], false);
		at++;
	}
}

static bool see_program(struct redacting *redacting, struct ts_pb stat, const struct ts_map *stats)
{
	bool good = true;

	if (ts_map_find(stats, (uint64_t)stat_id(stat)) == TS_NONE)
		return true;
	while (ts_pb_next(&stat))
		if (stat.field == XSTAT_UINT64 || stat.field == XSTAT_INT64)
			good &= ts_map_set(&redacting->programs, ts_pb_u64(&stat), 1);
	return good;
}

/* The programs that the stats of a plane's metadata name, or its metadata is the modules of. */
static void see_programs(struct redacting *redacting, struct ts_bytes body)
{
	bool is_modules = ts_bytes_is(field_in(body, XPLANE_NAME), "/host:metadata");
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);
	struct ts_map stats = { NULL, 0, 0 };
	bool good = true;

	while (ts_pb_next(&pb))
		if (pb.field == XPLANE_STAT_METADATA &&
		    ts_bytes_is(field_in(field_in(ts_pb_bytes(&pb), MAP_VALUE), XSTATMETA_NAME),
				"program_id"))
			good &= ts_map_set(&stats, (uint64_t)redact_xplane_key_of(ts_pb_bytes(&pb)),
					   1);
	pb = ts_pb_of(body, &error);
	while (ts_pb_next(&pb) && good) {
		struct ts_pb_error inner = { NULL, NULL };
		struct ts_pb value = ts_pb_of(field_in(ts_pb_bytes(&pb), MAP_VALUE), &inner);

		if (pb.field != XPLANE_EVENT_METADATA)
			continue;
		if (is_modules)
			good &= ts_map_set(&redacting->programs,
					   (uint64_t)redact_xplane_key_of(ts_pb_bytes(&pb)), 1);
		while (ts_pb_next(&value) && good)
			if (value.field == XEVENTMETA_STATS)
				good &= see_program(redacting, ts_pb_enter(&value), &stats);
	}
	ts_map_release(&stats);
	if (!good)
		ts_copy_nomem(redacting->out);
}

/* A field of the file that is not a plane: messages of the profiler, and the hosts that it saw. */
static void redact_xplane_put_message(struct redacting *redacting, const struct ts_pb *pb)
{
	struct ts_buf *out = &redacting->piece;
	size_t mark;

	if (pb->wire != TS_PB_BYTES || pb->field > XSPACE_HOSTNAMES)
		return;
	ts_buf_clear(out);
	mark = ts_pbw_begin(out, pb->field);
	if (pb->field == XSPACE_HOSTNAMES)
		ts_names_secret(redacting->names, ts_pb_bytes(pb), out);
	else
		ts_names_put(redacting->names, ts_pb_bytes(pb), out);
	ts_pbw_end(out, mark);
	if (out->failed)
		ts_copy_nomem(redacting->out);
	ts_copy_put(redacting->out, ts_buf_bytes(out));
}

enum ts_status ts_redact_xplane(const struct ts_names *names, struct ts_bytes bytes,
				struct ts_copy_out *out, struct ts_redact_report *report,
				struct ts_error *err)
{
	struct redacting redacting = {
		.names = names, .out = out, .report = report, .file = bytes
	};
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	TS_ASSERT(names && out);
	TS_ASSERT(bytes.p || bytes.n == 0);
	*report = (struct ts_redact_report){ .damage = TS_ERROR_INIT };
	while (ts_pb_next(&pb))
		if (pb.field == XSPACE_PLANES && pb.wire == TS_PB_BYTES)
			see_programs(&redacting, ts_pb_bytes(&pb));
	error = (struct ts_pb_error){ NULL, NULL };
	pb = ts_pb_of(bytes, &error);
	while (ts_pb_next(&pb) && out->st == TS_OK) {
		struct ts_bytes body = ts_pb_bytes(&pb);

		if (pb.field != XSPACE_PLANES || pb.wire != TS_PB_BYTES) {
			redact_xplane_put_message(&redacting, &pb);
		} else if (!ts_bytes_starts(field_in(body, XPLANE_NAME), OUR_PLANE)) {
			see_plane(&redacting, body);
			if (out->st == TS_OK)
				redact_xplane_put_plane(&redacting, body);
			ts_map_release(&redacting.plane.kinds);
			ts_map_release(&redacting.plane.uses);
			free(redacting.plane.lines);
			redacting.plane = (struct plane){ .lines = NULL };
			ts_buf_clear(&redacting.rest);
		}
	}
	redact_xplane_note_damage(&redacting, &error);
	ts_buf_release(&redacting.rest);
	ts_buf_release(&redacting.piece);
	ts_map_release(&redacting.programs);
	return ts_copy_status(out, err);
}
