/* SPDX-License-Identifier: MIT */
/*
 * Sources: the files that an output is made of.
 *
 * An output may not be one of them, by whatever name or link, and no user may read it who may not
 * read all of them. Only plain files count: a pipe has no rights, and cannot be replaced.
 */
#ifndef TS_IO_SOURCES_H
#define TS_IO_SOURCES_H

#include "base/arena.h"
#include "base/map.h"
#include "io/rights.h"

struct ts_sources {
	struct ts_arena arena;
	struct ts_strmap files; /* by device and inode; .nr of them */
	/* Of all of them together, the owner only where they have one; when there are none, it says nothing. */
	struct ts_rights limit;
};

#define TS_SOURCES_INIT { .arena = TS_ARENA_INIT, .limit = TS_RIGHTS_INIT }

/* "-" is standard input. A file that is not there adds nothing. */
enum ts_status ts_sources_add(struct ts_sources *sources, const char *path, struct ts_error *err);
struct stat;
bool ts_sources_have(const struct ts_sources *sources, const struct stat *st);
void ts_sources_release(struct ts_sources *sources);

struct ts_session;
/* All files of a session, memory profiles and logs beside them included. */
enum ts_status ts_sources_add_session(struct ts_sources *sources, const struct ts_session *session,
				      struct ts_error *err);

#endif
