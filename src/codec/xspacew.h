/* SPDX-License-Identifier: MIT */
/*
 * Pieces of an XSpace (codec/xspace.h), written onto a buffer: what all who write one need. A piece that is begun is ended
 * with ts_pbw_end(), metadata with ts_xspacew_meta_end(). When memory runs out, the buffer's .failed is set.
 *
 *	size_t line = ts_xspacew_line_begin(out, 1, TS_LIT("Steps"));
 *	size_t event = ts_xspacew_event_begin(out, META_STEP, start_ps);
 *	ts_xspacew_u64_stat(out, XEVENT_STATS, STAT_STEP, 3);
 *	ts_pbw_end(out, event);
 *	ts_pbw_end(out, line);
 */
#ifndef TS_CODEC_XSPACEW_H
#define TS_CODEC_XSPACEW_H

#include "codec/pbw.h"
#include "codec/xspace.h"

/* FIELD: whose stats they are, XPLANE_STATS, XEVENT_STATS or XEVENTMETA_STATS; ID: of the stat's metadata. */
size_t ts_xspacew_stat_begin(struct ts_buf *out, uint32_t field, uint32_t id);
void ts_xspacew_u64_stat(struct ts_buf *out, uint32_t field, uint32_t id, uint64_t value);
void ts_xspacew_i64_stat(struct ts_buf *out, uint32_t field, uint32_t id, int64_t value);
void ts_xspacew_double_stat(struct ts_buf *out, uint32_t field, uint32_t id, double value);
void ts_xspacew_text_stat(struct ts_buf *out, uint32_t field, uint32_t id, struct ts_bytes text);

/* An entry of XPLANE_EVENT_METADATA or XPLANE_STAT_METADATA, which may get more than its name. */
struct ts_xspacew_meta {
	size_t entry, value;
};
struct ts_xspacew_meta ts_xspacew_meta_begin(struct ts_buf *out, uint32_t field, uint64_t id,
					     struct ts_bytes name);
void ts_xspacew_meta_end(struct ts_buf *out, struct ts_xspacew_meta meta);
/* One that has its name alone. */
void ts_xspacew_name(struct ts_buf *out, uint32_t field, uint64_t id, struct ts_bytes name);

size_t ts_xspacew_plane_begin(struct ts_buf *out, int64_t id, struct ts_bytes name);
size_t ts_xspacew_line_begin(struct ts_buf *out, uint64_t id, struct ts_bytes name);
/* META: the id of its metadata. A duration follows, where it has one. */
size_t ts_xspacew_event_begin(struct ts_buf *out, uint64_t meta, uint64_t offset_ps);

#endif
