/* SPDX-License-Identifier: MIT */
/*
 * Finding our planes at the end of a profile (overlay/xplane.h says what counts as ours). The walk
 * goes over the top-level fields; a plane is entered only as far as its name, and further only when
 * it has our name. Of records the walk goes over the chunks; ours has one record, not packed, so
 * that its first bytes show it.
 */
#include "codec/chunks.h"
#include "codec/pb.h"

#include "base/check.h"
#include "overlay/xplane.h"
#include "overlay/xspace.h"

#define NOT_OURS   SIZE_MAX
#define CUT_BYTES  64	 /* of a plane of ours: its name is in these */
#define HEAD_BYTES 65536 /* of a plane: its name and the stats that say whose it is */
#define CHUNK_HEAD 4096 /* likewise, copied: a device's name is cut to TS_LIMIT_NAME */
#define CUT_CHUNK  (CUT_BYTES + 128) /* with the headers of a chunk and of blocks */

/* Is this entry of stat_metadata the name of our mark? */
static bool names_mark(struct ts_pb entry)
{
	bool id = false, name = false;

	while (ts_pb_next(&entry)) {
		if (entry.field == MAP_KEY)
			id = ts_pb_u64(&entry) == OVERLAY_MARK_ID;
		if (entry.field != MAP_VALUE)
			continue;
		for (struct ts_pb value = ts_pb_enter(&entry); ts_pb_next(&value);)
			if (value.field == XSTATMETA_NAME)
				name = ts_bytes_is(ts_pb_bytes(&value), OVERLAY_MARK);
	}
	return id && name;
}

static size_t marked_bytes(struct ts_pb stat)
{
	size_t bytes = NOT_OURS;
	bool mark = false;

	while (ts_pb_next(&stat)) {
		if (stat.field == XSTAT_METADATA_ID)
			mark = ts_pb_u64(&stat) == OVERLAY_MARK_ID;
		if (stat.field == XSTAT_UINT64)
			bytes = ts_pb_u64(&stat);
	}
	return mark ? bytes : NOT_OURS;
}

/* The number of native bytes that a plane of ours carries. The name comes first in all planes that
 * a protobuf library writes, so a foreign one is left at once. */
static size_t plane_mark(struct ts_bytes plane)
{
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(plane, &damage);
	bool ours = false, named = false;
	size_t bytes = NOT_OURS, mark;

	while (ts_pb_next(&pb)) {
		if (pb.field == XPLANE_NAME) {
			ours = ts_bytes_starts(ts_pb_bytes(&pb), OVERLAY_PLANE);
			if (!ours)
				return NOT_OURS;
		} else if (pb.field == XPLANE_STAT_METADATA && ours) {
			named |= names_mark(ts_pb_enter(&pb));
		} else if (pb.field == XPLANE_STATS && ours) {
			mark = marked_bytes(ts_pb_enter(&pb));
			bytes = mark == NOT_OURS ? bytes : mark;
		}
	}
	return ours && named && !damage.cause ? bytes : NOT_OURS;
}

static enum ts_status find_in_space(struct ts_bytes file, size_t *native_bytes,
				    struct ts_error *err)
{
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(file, &damage);
	size_t start = 0, tail = NOT_OURS;

	for (; ts_pb_next(&pb); start = (size_t)(pb.p - file.p)) {
		size_t mark = NOT_OURS;

		if (pb.field == XSPACE_PLANES && pb.wire == TS_PB_BYTES)
			mark = plane_mark(ts_pb_bytes(&pb));
		if (mark == NOT_OURS || mark != tail)
			tail = mark == start ? start : NOT_OURS;
	}
	*native_bytes = damage.cause || tail == NOT_OURS ? file.n : tail;
	if (damage.cause)
		return ts_fail(err, TS_FORMAT, "%s at byte %zu (copy the profile again)",
			       damage.cause, (size_t)(damage.at - file.p));
	return TS_OK;
}

/* Damaged planes. A field's own bytes are looked at, with its tag and length; both may be wrong. */

struct plane_head {
	bool ours;
	size_t mark; /* NOT_OURS: it cannot be read */
};

/* The fields of a plane, as many as can be read. */
static struct plane_head tail_look_inside(struct ts_bytes head, struct ts_pb pb)
{
	struct plane_head found = { false, NOT_OURS };
	bool named = false;

	while (ts_pb_next(&pb)) {
		if (pb.field == XPLANE_NAME)
			named |= ts_bytes_starts(ts_pb_bytes(&pb), OVERLAY_PLANE);
		if (pb.field == XPLANE_STATS && found.mark == NOT_OURS)
			found.mark = marked_bytes(ts_pb_enter(&pb));
	}
	found.ours = ts_bytes_has(head, OVERLAY_NOTE) ||
		     (named && ts_bytes_has(head, OVERLAY_GENERATOR));
	return found;
}

static struct plane_head look_at_field(struct ts_bytes field)
{
	struct ts_bytes head = ts_bytes_cut(field, 0, HEAD_BYTES);
	struct ts_pb_error damage = { 0 };
	struct ts_bytes body = { NULL, 0 };
	const uint8_t *p = head.p + 1;
	uint64_t length;

	if (head.n > 1 && ts_pb_varint(&p, head.p + head.n, &length))
		body = ts_bytes_cut(head, (size_t)(p - head.p), head.n);
	return tail_look_inside(head, ts_pb_of(body, &damage));
}

/* Planes of ours that nothing else has followed so far. */
struct run {
	size_t start;	/* of the first; NOT_OURS: there is none */
	bool proven;	/* one of them says that they begin there */
	bool displaced; /* there were others before */
};

static void add_to_run(struct run *run, size_t start, struct plane_head head)
{
	bool begins = head.ours && (run->start == NOT_OURS || (head.mark == start && !run->proven));

	if (run->start != NOT_OURS && (begins || !head.ours))
		run->displaced = true;
	if (begins || !head.ours)
		*run = (struct run){ head.ours ? start : NOT_OURS, false, run->displaced };
	run->proven |= head.ours && head.mark == run->start;
}

/* Behind a damaged place. A plane of ours says whose it is within CUT_BYTES, and again later. */
static bool may_hold_ours(struct ts_bytes rest, size_t cut_bytes)
{
	return rest.n < cut_bytes || ts_bytes_has(rest, OVERLAY_PLANE) ||
	       ts_bytes_has(rest, OVERLAY_NOTE);
}

static enum ts_status tail_not_known(const char *cause, size_t at, struct ts_error *err)
{
	return ts_fail(err, TS_FORMAT,
		       "%s at byte %zu, so it is not known whether an annotation stands "
		       "behind it (copy the profile again; this file was not changed)",
		       cause, at);
}

static enum ts_status cut_space(struct ts_bytes file, struct run *run, struct ts_error *err)
{
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(file, &damage);
	size_t start = 0;

	for (; ts_pb_next(&pb); start = (size_t)(pb.p - file.p))
		add_to_run(
			run, start,
			look_at_field(ts_bytes_cut(file, start, (size_t)(pb.p - file.p) - start)));
	if (!damage.cause)
		return TS_OK;
	file = ts_bytes_cut(file, start, file.n);
	add_to_run(run, start, look_at_field(file));
	if (run->start == NOT_OURS && may_hold_ours(file, CUT_BYTES))
		return tail_not_known(damage.cause, start + (size_t)(damage.at - file.p), err);
	return TS_OK;
}

/* Records */

/* By the first bytes of its values, or of its data where they are packed or cannot be found. */
static struct plane_head look_at_chunk(const struct ts_chunk *chunk)
{
	struct ts_chunk_data values = chunk->data;
	uint8_t bytes[CHUNK_HEAD], packing;
	struct plane_head head;

	if (!ts_chunk_values(&values, &packing) || packing != 0)
		values = chunk->data;
	head = look_at_field(
		(struct ts_bytes){ bytes, ts_chunk_copy(&values, bytes, sizeof(bytes)) });
	if (chunk->kind == 0)
		head.mark = NOT_OURS; /* its header is damaged: others may stand behind it */
	return head;
}

static enum ts_status cut_chunks(struct ts_bytes file, struct run *run, struct ts_error *err)
{
	struct ts_chunk chunk = { .end = 0 };
	const char *cause = NULL;

	while (!cause && chunk.end < file.n) {
		cause = ts_chunk_at(file, chunk.end, &chunk);
		if (chunk.kind != TS_CHUNK_PADDING || run->start == NOT_OURS)
			add_to_run(run, (size_t)chunk.begin, look_at_chunk(&chunk));
	}
	file = ts_bytes_cut(file, (size_t)chunk.begin, file.n);
	if (cause && run->start == NOT_OURS && may_hold_ours(file, CUT_CHUNK))
		return tail_not_known(cause, (size_t)chunk.begin, err);
	return TS_OK;
}

static size_t chunk_mark(const struct ts_chunk *chunk)
{
	struct plane_head head = look_at_chunk(chunk);

	return head.ours && ts_chunk_is_good(chunk) ? head.mark : NOT_OURS;
}

static enum ts_status find_in_chunks(struct ts_bytes file, size_t *native_bytes,
				     struct ts_error *err)
{
	struct ts_chunk chunk = { .end = 0 };
	const char *cause = NULL;
	size_t tail = NOT_OURS, mark;

	while (!cause && chunk.end < file.n) {
		cause = ts_chunk_at(file, chunk.end, &chunk);
		mark = chunk.kind == TS_CHUNK_PADDING ? tail : chunk_mark(&chunk);
		if (mark == NOT_OURS || mark != tail)
			tail = mark == chunk.begin ? mark : NOT_OURS;
	}
	if (chunk.end > file.n)
		cause = "a chunk is cut off";
	*native_bytes = cause || tail == NOT_OURS ? file.n : tail;
	if (cause)
		return ts_fail(err, TS_FORMAT, "%s at byte %llu (copy the profile again)", cause,
			       (unsigned long long)chunk.begin);
	return TS_OK;
}

/* Both */

enum ts_status ts_overlay_find(struct ts_bytes file, size_t *native_bytes, struct ts_error *err)
{
	TS_ASSERT(native_bytes);
	TS_ASSERT(file.p || file.n == 0);
	return ts_chunk_probe(file) ? find_in_chunks(file, native_bytes, err)
				    : find_in_space(file, native_bytes, err);
}

size_t ts_overlay_native_bytes(struct ts_bytes file)
{
	size_t native_bytes;

	TS_ASSERT(file.p || file.n == 0);
	ts_overlay_find(file, &native_bytes, NULL);
	return native_bytes;
}

/* The same without what an earlier run put behind: one cut may uncover another overlay. */
static enum ts_status cut_once(struct ts_bytes file, size_t *native_bytes, bool *remains,
			       struct ts_error *err)
{
	struct run run = { NOT_OURS, false, false };
	enum ts_status st =
		ts_chunk_probe(file) ? cut_chunks(file, &run, err) : cut_space(file, &run, err);

	*native_bytes = run.proven ? run.start : file.n;
	*remains = run.displaced || (run.start != NOT_OURS && !run.proven);
	return st;
}

enum ts_status ts_overlay_cut(struct ts_bytes file, size_t *native_bytes, bool *remains,
			      struct ts_error *err)
{
	enum ts_status st;
	size_t n;

	TS_ASSERT(native_bytes && remains);
	TS_ASSERT(file.p || file.n == 0);
	do {
		n = file.n;
		st = cut_once(file, native_bytes, remains, err);
		file.n = st ? n : *native_bytes;
	} while (st == TS_OK && file.n < n);
	return st;
}
