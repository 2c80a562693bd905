/* SPDX-License-Identifier: MIT */
/*
 * Status and error: a status comes back, the story is in the last argument.
 *
 * 0 is good, negative is not. Who fails first writes the cause with ts_fail(); callers on the way
 * up put where it happened in front with ts_fail_at(). Only cli/ prints. Every function accepts a
 * NULL error: the story is then dropped, the status is not.
 */
#ifndef TS_BASE_STATUS_H
#define TS_BASE_STATUS_H

#include "base/banned.h"

enum ts_status {
	TS_OK = 0,
	TS_FORMAT = -1, /* other people's bytes are not what they should be */
	TS_IO = -2,	/* the system refused: errno's words are in the story */
	TS_NOMEM = -3,
	TS_USAGE = -4, /* the caller of the program asked for something that cannot be */
	TS_LIMIT = -5, /* a bound of ours was met (depth, size, count) */
	TS_NOTFOUND = -6,
	TS_UNSUPPORTED = -7, /* well-formed, but no reader here knows it */
	TS_UNSORTED = -8,    /* a line's events are not in the order of their starts */
	TS_HALTED = -9,	     /* it is not wanted any more (base/halt.h) */
};

struct ts_error {
	enum ts_status status;
	char text[512]; /* "where: cause (what to do)"; cut, never overrun */
};

#define TS_ERROR_INIT { TS_OK, "" }

#if defined(__GNUC__)
#define TS_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define TS_PRINTF(fmt, first)
#endif

/* Both give back the status, so that a caller can `return ts_fail(...)`. */
enum ts_status ts_fail(struct ts_error *err, enum ts_status status, const char *fmt, ...)
	TS_PRINTF(3, 4);
enum ts_status ts_fail_at(struct ts_error *err, enum ts_status status, const char *fmt, ...)
	TS_PRINTF(3, 4);
enum ts_status ts_fail_nomem(struct ts_error *err);

/*
 * The system's words for ERRNUM and what to do about it: "PATH: cannot WHAT: cause (what to do)". A
 * missing PATH gives TS_NOTFOUND, memory that ran out TS_NOMEM, all else TS_IO.
 */
enum ts_status ts_fail_errno(struct ts_error *err, int errnum, const char *path, const char *what);
/* For messages: cuts the front off a very long *PATH, and gives the dots to show in its place. */
const char *ts_path_tail(const char **path);

#endif
