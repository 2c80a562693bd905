/*
 * The parts of a session: its files as they stand on disk now. What counts:
 *  - inputs: the profiles (or traces) themselves, memory profiles, and a Perfetto trace, whose name
 *    an annotation takes. When one changes, the session is another;
 *  - files beside them: traces for viewers, which the same profiler writes next;
 *  - temporaries: names that copying programs use while they write one of those.
 * Whatever else is there (caches, our own files, logs that grow) is passed over.
 */
#ifndef TS_LIVE_PARTS_H
#define TS_LIVE_PARTS_H

#include "io/file.h"
#include "io/rundir.h"

enum ts_part_role { TS_PART_NONE, TS_PART_INPUT, TS_PART_BESIDE, TS_PART_TEMPORARY };

struct ts_part {
	const char *name, *path;
	enum ts_part_role role;
	struct ts_file_look look;
};

struct ts_parts {
	struct ts_part *items;
	size_t nr, cap;
	struct ts_arena arena;
	bool failed; /* memory was out */
};

#define TS_PARTS_INIT { NULL, 0, 0, TS_ARENA_INIT, false }

/* False: no memory. */
bool ts_parts_read(struct ts_parts *parts, const struct ts_session *session);
void ts_parts_release(struct ts_parts *parts);

/* A number that is another one when anything about the files is. */
uint64_t ts_parts_state(const struct ts_parts *parts);
/* The same of the inputs' contents alone, less those that have one of NAMES. */
uint64_t ts_parts_inputs(const struct ts_parts *parts, const char *const *names, size_t nr);

/* TS_FORMAT and others as of ts_file_is_whole(): of the first file that is not. */
enum ts_status ts_parts_are_whole(const struct ts_parts *parts, struct ts_error *err);
/* Has a program one of them open for writing? Is one a temporary? The story says which. */
bool ts_parts_are_open(const struct ts_parts *parts, struct ts_error *story);
bool ts_parts_have_temporary(const struct ts_parts *parts, struct ts_error *story);
/* Is a report of ours there that is not older than any input? Sets .failed too. */
bool ts_parts_are_annotated(struct ts_parts *parts, const struct ts_session *session);

#endif
