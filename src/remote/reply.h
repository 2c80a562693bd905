/* SPDX-License-Identifier: MIT */
/*
 * Replies of a helper (docs/remote.md): one line of JSON each, read strictly. What a helper writes is as foreign
 * as any file: a name in a listing was chosen by whoever may write into the bucket.
 */
#ifndef TS_REMOTE_REPLY_H
#define TS_REMOTE_REPLY_H

#include "base/arena.h"

#define TS_REMOTE_LINE	     65536 /* bytes of a line */
#define TS_REMOTE_GENERATION 1024  /* bytes of a generation */

enum ts_remote_kind { TS_REMOTE_PROGRESS, TS_REMOTE_ENTRY, TS_REMOTE_DONE, TS_REMOTE_FAILED };

enum ts_remote_code {
	TS_REMOTE_IO, /* also what is not known */
	TS_REMOTE_NOT_FOUND,
	TS_REMOTE_CHANGED,
	TS_REMOTE_DENIED,
	TS_REMOTE_EXISTS,
	TS_REMOTE_BUSY,
	TS_REMOTE_UNSUPPORTED,
	TS_REMOTE_NO_SPACE,
};

/* Texts are in the arena and end with a NUL; a text that is not there is NULL. */
struct ts_remote_reply {
	uint64_t id;
	enum ts_remote_kind kind;
	const char *name; /* of an entry */
	bool is_folder;
	bool has_size;
	uint64_t size;
	int64_t mtime_ns;
	const char *generation;
	uint64_t done, uploaded;
	uint64_t version, jobs; /* of hello */
	const char *how;	/* of append and cut */
	enum ts_remote_code code;
	const char *text; /* of a failure */
};

/* TS_FORMAT: the line is not a reply. Members that are not known are passed over. */
enum ts_status ts_remote_reply_read(struct ts_remote_reply *reply, struct ts_bytes line,
				    struct ts_arena *arena, struct ts_error *err);

#endif
