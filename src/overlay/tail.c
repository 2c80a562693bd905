/*
 * Finding our planes at the end of a profile (overlay/xplane.h says what counts as ours). The walk
 * goes over the top-level fields; a plane is entered only as far as its name, and further only when
 * it has our name.
 */
#include "codec/pb.h"

#include "base/check.h"
#include "overlay/xplane.h"
#include "overlay/xspace.h"

#define NOT_OURS SIZE_MAX

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
			if (value.field == METADATA_NAME)
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

enum ts_status ts_overlay_find(struct ts_bytes file, size_t *native_bytes, struct ts_error *err)
{
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(file, &damage);
	size_t start = 0, tail = NOT_OURS;

	TS_ASSERT(native_bytes);
	TS_ASSERT(file.p || file.n == 0);
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

size_t ts_overlay_native_bytes(struct ts_bytes file)
{
	size_t native_bytes;

	TS_ASSERT(file.p || file.n == 0);
	ts_overlay_find(file, &native_bytes, NULL);
	return native_bytes;
}
