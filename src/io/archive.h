/* SPDX-License-Identifier: MIT */
/*
 * Archives: the files inside a .tar, .tar.gz, .tgz, .tar.xz, .tar.zst, .tar.bz2 or .zip, known by
 * their content, one after the other in memory. Nothing is ever written to disk, and a name inside
 * is a string to show, not a place. Links, folders and devices inside are passed over.
 *
 * A small archive that unpacks to something huge is refused: an entry may have max_entry_bytes, and
 * one entry, and all entries together, may have TS_LIMIT_PACKED_RATIO times the archive's own size (64
 * MiB at least).
 */
#ifndef TS_IO_ARCHIVE_H
#define TS_IO_ARCHIVE_H

#include "base/buf.h"
#include "base/limits.h"

struct ts_archive_visitor {
	/* Should this entry be unpacked? NULL: all are. */
	bool (*want)(void *ctx, const char *name);
	/*
	 * One file. CONTENT is gone after the call, unless the visitor moves it out
	 * (`mine = *content; *content = (struct ts_buf)TS_BUF_INIT`). A bad status ends the visit.
	 */
	enum ts_status (*entry)(void *ctx, const char *name, struct ts_buf *content,
				struct ts_error *err);
	void *ctx;
	uint64_t max_entry_bytes; /* 0 means TS_LIMIT_ARCHIVE_ENTRY */
};

/* Is this an archive? A plain .json.gz or .pb.gz is not. BYTES is the whole file. */
bool ts_archive_probe(struct ts_bytes bytes);
/*
 * Visits all entries in the order of the archive. Damaged: TS_FORMAT after the entries before the
 * damage; too large: TS_LIMIT. Stories do not name the archive's path: the caller puts it in front.
 */
enum ts_status ts_archive_each(struct ts_bytes bytes, const struct ts_archive_visitor *visitor,
			       struct ts_error *err);

#endif
