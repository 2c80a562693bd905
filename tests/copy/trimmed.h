/* SPDX-License-Identifier: MIT */
/*
 * A trimmed copy out of memory, for tests and fuzz targets: bytes -> profile -> plan -> bytes. And a
 * look through an xplane's bytes as protobuf libraries take them: every message in every message.
 */
#ifndef TESTS_COPY_TRIMMED_H
#define TESTS_COPY_TRIMMED_H

#include "codec/pb.h"
#include "codec/xspace.h"
#include "copy/trim.h"
#include "run/outline.h"
#include "read/reader.h"
#include "tests/run/memory_run.h"

#define TRIM_ALL ((struct ts_trim_choice){ .from_ps = INT64_MIN, .to_ps = INT64_MAX })

/* The copy is appended to OUT; below TS_COPY_BUFFER bytes, since there is no file. */
static inline enum ts_status trimmed_as(uint32_t reader, struct ts_bytes bytes,
					const struct ts_trim_choice *choice, struct ts_buf *out,
					struct ts_trim_report *report, struct ts_error *err)
{
	struct ts_copy_out copy = { .file = TS_NEWFILE_INIT };
	struct ts_trim trim = { .profile = NULL };
	struct memory_run mem;
	enum ts_status st;

	*report = (struct ts_trim_report){ .damage = TS_ERROR_INIT };
	memory_run_init(&mem);
	st = memory_run_add_as(&mem, reader, bytes, "host", err);
	if (st == TS_OK)
		st = ts_profile_finish(&mem.run.profile, err);
	if (st == TS_OK && choice->has_steps)
		st = ts_outline_make(&mem.run.profile, 1, &mem.run.outline, err);
	if (st == TS_OK)
		st = ts_trim_plan(&trim, &mem.run.profile, &mem.run.outline.steps, choice, err);
	if (st == TS_OK && ts_reader_of(&mem.run.profile, 0)->form == TS_FORM_TRACE)
		st = ts_trim_trace(&trim, 0, bytes, false, &copy, report, err);
	else if (st == TS_OK)
		st = ts_trim_xplane(&trim, 0, bytes, &copy, report, err);
	ts_buf_put(out, ts_buf_bytes(&copy.text));
	ts_trim_release(&trim);
	ts_copy_release(&copy);
	memory_run_release(&mem);
	return st;
}

/* Which messages are in which: the field, and the row of what is in it. */
struct xspace_below {
	uint8_t message, field, below;
};

enum { IN_SPACE, IN_PLANE, IN_LINE, IN_EVENT, IN_ENTRY, IN_METADATA, IN_STAT, IN_STAT_ENTRY };

static const struct xspace_below xspace_belows[] = {
	{ IN_SPACE, XSPACE_PLANES, IN_PLANE },
	{ IN_PLANE, XPLANE_LINES, IN_LINE },
	{ IN_PLANE, XPLANE_EVENT_METADATA, IN_ENTRY },
	{ IN_PLANE, XPLANE_STAT_METADATA, IN_STAT_ENTRY },
	{ IN_PLANE, XPLANE_STATS, IN_STAT },
	{ IN_LINE, XLINE_EVENTS, IN_EVENT },
	{ IN_EVENT, XEVENT_STATS, IN_STAT },
	{ IN_ENTRY, MAP_VALUE, IN_METADATA },
	{ IN_METADATA, XEVENTMETA_STATS, IN_STAT },
	{ IN_STAT_ENTRY, MAP_VALUE, IN_STAT },
};

static inline bool is_sound(struct ts_pb pb, uint8_t message)
{
	while (ts_pb_next(&pb))
		for (size_t i = 0; i < TS_NELEM(xspace_belows); i++)
			if (xspace_belows[i].message == message &&
			    xspace_belows[i].field == pb.field && pb.wire == TS_PB_BYTES &&
			    !is_sound(ts_pb_enter(&pb), xspace_belows[i].below))
				return false;
	return !pb.err->cause;
}

static inline bool is_sound_xspace(struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };

	return is_sound(ts_pb_of(bytes, &error), IN_SPACE);
}

#endif
