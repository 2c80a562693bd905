/* SPDX-License-Identifier: MIT */
/* Fields in the order of their numbers. Metadata of events and of stats have the same numbers for id and name. */
#include "codec/xspacew.h"

#include "base/check.h"

_Static_assert((int)XEVENTMETA_ID == (int)XSTATMETA_ID &&
		       (int)XEVENTMETA_NAME == (int)XSTATMETA_NAME,
	       "metadata are written by one function");

size_t ts_xspacew_stat_begin(struct ts_buf *out, uint32_t field, uint32_t id)
{
	size_t mark = ts_pbw_begin(out, field);

	ts_pbw_u64(out, XSTAT_METADATA_ID, id);
	return mark;
}

void ts_xspacew_u64_stat(struct ts_buf *out, uint32_t field, uint32_t id, uint64_t value)
{
	size_t mark = ts_xspacew_stat_begin(out, field, id);

	ts_pbw_u64(out, XSTAT_UINT64, value);
	ts_pbw_end(out, mark);
}

void ts_xspacew_i64_stat(struct ts_buf *out, uint32_t field, uint32_t id, int64_t value)
{
	size_t mark = ts_xspacew_stat_begin(out, field, id);

	ts_pbw_i64(out, XSTAT_INT64, value);
	ts_pbw_end(out, mark);
}

void ts_xspacew_double_stat(struct ts_buf *out, uint32_t field, uint32_t id, double value)
{
	size_t mark = ts_xspacew_stat_begin(out, field, id);

	ts_pbw_double(out, XSTAT_DOUBLE, value);
	ts_pbw_end(out, mark);
}

void ts_xspacew_text_stat(struct ts_buf *out, uint32_t field, uint32_t id, struct ts_bytes text)
{
	size_t mark = ts_xspacew_stat_begin(out, field, id);

	ts_pbw_text(out, XSTAT_STR, text);
	ts_pbw_end(out, mark);
}

struct ts_xspacew_meta ts_xspacew_meta_begin(struct ts_buf *out, uint32_t field, uint64_t id,
					     struct ts_bytes name)
{
	struct ts_xspacew_meta meta = { ts_pbw_begin(out, field), 0 };

	TS_ASSERT(field == XPLANE_EVENT_METADATA || field == XPLANE_STAT_METADATA);
	ts_pbw_u64(out, MAP_KEY, id);
	meta.value = ts_pbw_begin(out, MAP_VALUE);
	ts_pbw_u64(out, XEVENTMETA_ID, id);
	ts_pbw_text(out, XEVENTMETA_NAME, name);
	return meta;
}

void ts_xspacew_meta_end(struct ts_buf *out, struct ts_xspacew_meta meta)
{
	ts_pbw_end(out, meta.value);
	ts_pbw_end(out, meta.entry);
}

void ts_xspacew_name(struct ts_buf *out, uint32_t field, uint64_t id, struct ts_bytes name)
{
	ts_xspacew_meta_end(out, ts_xspacew_meta_begin(out, field, id, name));
}

size_t ts_xspacew_plane_begin(struct ts_buf *out, int64_t id, struct ts_bytes name)
{
	size_t mark = ts_pbw_begin(out, XSPACE_PLANES);

	ts_pbw_i64(out, XPLANE_ID, id);
	ts_pbw_text(out, XPLANE_NAME, name);
	return mark;
}

size_t ts_xspacew_line_begin(struct ts_buf *out, uint64_t id, struct ts_bytes name)
{
	size_t mark = ts_pbw_begin(out, XPLANE_LINES);

	ts_pbw_u64(out, XLINE_ID, id);
	ts_pbw_text(out, XLINE_NAME, name);
	return mark;
}

size_t ts_xspacew_event_begin(struct ts_buf *out, uint64_t meta, uint64_t offset_ps)
{
	size_t mark = ts_pbw_begin(out, XLINE_EVENTS);

	ts_pbw_u64(out, XEVENT_METADATA_ID, meta);
	ts_pbw_u64(out, XEVENT_OFFSET_PS, offset_ps);
	return mark;
}
