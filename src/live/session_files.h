/* SPDX-License-Identifier: MIT */
/*
 * The files of a session as they are on disk now. What counts:
 *  - inputs: the profiles (or traces) themselves, memory profiles, and a Perfetto trace, whose name
 *    an annotation takes. When one of them changes, the session is another one;
 *  - files beside them: traces for viewers, which the profiler writes after the inputs;
 *  - temporaries: names that programs use while they copy one of those.
 * Everything else (caches, our own files, logs that grow) is passed over.
 */
#ifndef TS_LIVE_SESSION_FILES_H
#define TS_LIVE_SESSION_FILES_H

#include "io/look.h"
#include "io/rundir.h"

enum ts_session_file_role {
	TS_SESSION_FILE_NONE,
	TS_SESSION_FILE_INPUT,
	TS_SESSION_FILE_BESIDE,
	TS_SESSION_FILE_TEMPORARY
};

struct ts_session_file {
	const char *name, *path;
	enum ts_session_file_role role;
	struct ts_file_look look;
};

struct ts_session_files {
	struct ts_session_file *items;
	size_t nr, cap;
	struct ts_arena arena;
};

#define TS_SESSION_FILES_INIT { NULL, 0, 0, TS_ARENA_INIT }

enum ts_status ts_session_files_read(struct ts_session_files *files,
				     const struct ts_session *session, struct ts_error *err);
void ts_session_files_release(struct ts_session_files *files);

/* A number that changes when anything about the files changes. */
uint64_t ts_session_files_state(const struct ts_session_files *files);
/* The same for the contents of the inputs only, without those that have one of NAMES. */
uint64_t ts_session_files_inputs(const struct ts_session_files *files, const char *const *names,
				 size_t nr);

/* TS_FORMAT and others as of ts_file_is_whole(), for the first file that is not whole. */
enum ts_status ts_session_files_are_whole(const struct ts_session_files *files,
					  struct ts_error *err);
/* Does a program have one of them open for writing? Is one of them a temporary? STORY says
 * which. */
bool ts_session_files_are_open(const struct ts_session_files *files, struct ts_error *story);
bool ts_session_files_have_temporary(const struct ts_session_files *files, struct ts_error *story);
/* Is there a report of ours that is not older than any input? */
enum ts_status ts_session_files_are_annotated(const struct ts_session_files *files,
					      const struct ts_session *session, bool *are,
					      struct ts_error *err);

#endif
