/* SPDX-License-Identifier: MIT */
/*
 * Profiles for tests, written field by field: an XSpace with planes, lines, events and metadata.
 * Field numbers: tsl/profiler/protobuf/xplane.proto.
 *
 *	struct ts_buf out = TS_BUF_INIT;
 *	struct xp xp = xp_plane(&out, "/device:TPU:0");
 *	xp_op(&xp, 1, "fusion.1", "loop fusion", 7, 11);
 *	xp_line(&xp, "XLA Ops", 0);
 *	xp_event(&xp, 1, 0, 5000000);
 *	xp_line_end(&xp);
 *	xp_plane_end(&xp);
 *
 * Stats go by name: xp_stat_id() gives a name its id on first use and writes its metadata when the
 * plane ends. Metadata of events may be written before or after the lines, like everything here.
 */
#ifndef TESTS_READ_XPLANE_MAKE_H
#define TESTS_READ_XPLANE_MAKE_H

#include "codec/pbw.h"

#define XP_MAX_STATS 64

struct xp {
	struct ts_buf *out;
	size_t plane, line;
	const char *stats[XP_MAX_STATS];
	size_t nr_stats;
};

static inline int64_t xp_stat_id(struct xp *xp, const char *name)
{
	size_t i = 0;

	while (i < xp->nr_stats && strcmp(xp->stats[i], name) != 0)
		i++;
	if (i == xp->nr_stats && i < XP_MAX_STATS)
		xp->stats[xp->nr_stats++] = name;
	return (int64_t)i + 1;
}

static inline struct xp xp_plane(struct ts_buf *out, const char *name)
{
	struct xp xp = { .out = out, .plane = ts_pbw_begin(out, 1) };

	ts_pbw_text(out, 2, ts_bytes_of(name));
	return xp;
}

static inline void xp_stat_metadata(struct xp *xp, int64_t key, const char *name)
{
	size_t entry = ts_pbw_begin(xp->out, 5), value;

	ts_pbw_i64(xp->out, 1, key);
	value = ts_pbw_begin(xp->out, 2);
	ts_pbw_i64(xp->out, 1, key);
	ts_pbw_text(xp->out, 2, ts_bytes_of(name));
	ts_pbw_end(xp->out, value);
	ts_pbw_end(xp->out, entry);
}

static inline void xp_plane_end(struct xp *xp)
{
	for (size_t i = 0; i < xp->nr_stats; i++)
		xp_stat_metadata(xp, (int64_t)i + 1, xp->stats[i]);
	ts_pbw_end(xp->out, xp->plane);
}

/* Opens an XStat in FIELD of what is open; its value is the caller's next write. */
static inline size_t xp_stat(struct xp *xp, uint32_t field, const char *name)
{
	size_t mark = ts_pbw_begin(xp->out, field);

	ts_pbw_i64(xp->out, 1, xp_stat_id(xp, name));
	return mark;
}

static inline void xp_stat_int(struct xp *xp, uint32_t field, const char *name, int64_t value)
{
	size_t mark = xp_stat(xp, field, name);

	ts_pbw_i64(xp->out, 4, value);
	ts_pbw_end(xp->out, mark);
}

static inline void xp_stat_uint(struct xp *xp, uint32_t field, const char *name, uint64_t value)
{
	size_t mark = xp_stat(xp, field, name);

	ts_pbw_u64(xp->out, 3, value);
	ts_pbw_end(xp->out, mark);
}

static inline void xp_stat_real(struct xp *xp, uint32_t field, const char *name, double value)
{
	size_t mark = xp_stat(xp, field, name);

	ts_pbw_double(xp->out, 2, value);
	ts_pbw_end(xp->out, mark);
}

static inline void xp_stat_bytes(struct xp *xp, uint32_t field, const char *name,
				 struct ts_bytes value)
{
	size_t mark = xp_stat(xp, field, name);

	ts_pbw_bytes(xp->out, 6, value);
	ts_pbw_end(xp->out, mark);
}

static inline void xp_stat_text(struct xp *xp, uint32_t field, const char *name, const char *text)
{
	size_t mark = xp_stat(xp, field, name);

	ts_pbw_text(xp->out, 5, ts_bytes_of(text));
	ts_pbw_end(xp->out, mark);
}

/* TEXT is given as the name of a stat, as libtpu does with words that come often. */
static inline void xp_stat_ref(struct xp *xp, uint32_t field, const char *name, const char *text)
{
	size_t mark = xp_stat(xp, field, name);

	ts_pbw_u64(xp->out, 7, (uint64_t)xp_stat_id(xp, text));
	ts_pbw_end(xp->out, mark);
}

enum { XP_PLANE_STATS = 6, XP_EVENT_STATS = 4, XP_META_STATS = 5 };

/* Event metadata that stays open for stats: marks of the entry and of its value. */
struct xp_meta {
	size_t entry, value;
};

static inline struct xp_meta xp_meta(struct xp *xp, int64_t key, const char *name,
				     const char *display)
{
	struct xp_meta meta = { ts_pbw_begin(xp->out, 4), 0 };

	ts_pbw_i64(xp->out, 1, key);
	meta.value = ts_pbw_begin(xp->out, 2);
	ts_pbw_i64(xp->out, 1, key);
	ts_pbw_text(xp->out, 2, ts_bytes_of(name));
	if (display)
		ts_pbw_text(xp->out, 4, ts_bytes_of(display));
	return meta;
}

static inline void xp_meta_end(struct xp *xp, struct xp_meta meta)
{
	ts_pbw_end(xp->out, meta.value);
	ts_pbw_end(xp->out, meta.entry);
}

static inline void xp_name(struct xp *xp, int64_t key, const char *name)
{
	xp_meta_end(xp, xp_meta(xp, key, name, NULL));
}

/* An op of a TPU as libtpu describes it: 1000 FLOPs and no bytes, so that compute bounds it. */
static inline void xp_op(struct xp *xp, int64_t key, const char *name, const char *category,
			 uint64_t program, uint64_t symbol)
{
	struct xp_meta meta = xp_meta(xp, key, name, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", category);
	xp_stat_uint(xp, XP_META_STATS, "program_id", program);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", symbol);
	xp_stat_int(xp, XP_META_STATS, "flops", 1000);
	xp_meta_end(xp, meta);
}

static inline void xp_line(struct xp *xp, const char *name, int64_t timestamp_ns)
{
	xp->line = ts_pbw_begin(xp->out, 3);
	ts_pbw_text(xp->out, 2, ts_bytes_of(name));
	ts_pbw_i64(xp->out, 3, timestamp_ns);
}

static inline void xp_line_end(struct xp *xp)
{
	ts_pbw_end(xp->out, xp->line);
}

/* An event that stays open for stats. */
static inline size_t xp_begin_event(struct xp *xp, int64_t key, int64_t offset_ps, int64_t dur_ps)
{
	size_t mark = ts_pbw_begin(xp->out, 4);

	ts_pbw_i64(xp->out, 1, key);
	ts_pbw_i64(xp->out, 2, offset_ps);
	ts_pbw_i64(xp->out, 3, dur_ps);
	return mark;
}

static inline void xp_event(struct xp *xp, int64_t key, int64_t offset_ps, int64_t dur_ps)
{
	ts_pbw_end(xp->out, xp_begin_event(xp, key, offset_ps, dur_ps));
}

static inline void xp_task(struct ts_buf *out, int64_t start_ns, int64_t stop_ns)
{
	struct xp xp = xp_plane(out, "Task Environment");

	xp_stat_uint(&xp, XP_PLANE_STATS, "profile_start_time", (uint64_t)start_ns);
	xp_stat_uint(&xp, XP_PLANE_STATS, "profile_stop_time", (uint64_t)stop_ns);
	xp_plane_end(&xp);
}

#endif
