/* SPDX-License-Identifier: MIT */
/*
 * The names in a folder that may be ours: of profiles, which may have an overlay, of all that we write,
 * and of temporaries. Only the content shows whether they are. Only files of src/overlay include it.
 */
#ifndef TS_OVERLAY_FOLDER_H
#define TS_OVERLAY_FOLDER_H

#include "base/arena.h"
#include "io/rundir.h"

enum ts_name_kind {
	TS_NAME_PROFILE,
	TS_NAME_COPY,	/* STEM.tpusight.json.gz, STEM.tpusight.pftrace */
	TS_NAME_REPORT, /* STEM.tpusight.report.json */
	TS_NAME_SQL,	/* STEM.tpusight.sql */
	TS_NAME_SHARED, /* one that is the same in every session */
	TS_NAME_TEMP,
	TS_NAME_OTHER,
};

extern const char *const ts_overlay_shared_names[]; /* all of that kind; NULL at the end */
enum ts_name_kind ts_overlay_name_kind(const char *name);

struct ts_names {
	const char **items; /* sorted */
	size_t nr;
};

/* All names of DIR but the last kind. Kept in ARENA. */
enum ts_status ts_overlay_names(struct ts_arena *arena, const char *dir, struct ts_names *names,
				struct ts_error *err);

/* A session of all profiles in the folder DIR, by NAMES; there may be none. */
enum ts_status ts_overlay_session_of(struct ts_arena *arena, const char *dir,
				     const struct ts_names *names, struct ts_session *session,
				     struct ts_error *err);

#endif
