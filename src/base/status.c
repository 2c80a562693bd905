/* SPDX-License-Identifier: MIT */
/*
 * Status and error. The story is built from its end: first the cause, then the places in front of
 * it.
 */
#include "base/status.h"

#include "base/check.h"
#include "base/bytes.h"

#include <errno.h>
#include <stdarg.h>

#define PATH_SHOWN 300 /* of the 511 bytes of a story; the cause must fit behind it */

enum ts_status ts_fail(struct ts_error *err, enum ts_status status, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		err->status = status;
	}
	return status;
}

enum ts_status ts_fail_at(struct ts_error *err, enum ts_status status, const char *fmt, ...)
{
	char cause[sizeof(err->text)];
	size_t at, left;
	va_list ap;
	int n;

	if (!err)
		return status;
	memcpy(cause, err->text, sizeof(cause));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	at = n < 0 ? 0 : TS_MIN((size_t)n, sizeof(err->text) - 1);
	left = TS_MIN(strlen(cause), sizeof(err->text) - 1 - at);
	if (left > 2) {
		memcpy(err->text + at, ": ", 2);
		left = TS_MIN(left, sizeof(err->text) - 3 - at);
		memcpy(err->text + at + 2, cause, left);
		err->text[at + 2 + left] = '\0';
	}
	err->status = status;
	return status;
}

enum ts_status ts_fail_nomem(struct ts_error *err)
{
	return ts_fail(err, TS_NOMEM, "out of memory");
}

struct cause {
	int errnum;
	const char *words;
	const char *advice;
};

static const struct cause causes[] = {
	{ ENOENT, "no such file or folder", "check the path" },
	{ ENOTDIR, "a part of the path is not a folder", "check the path" },
	{ EACCES, "permission denied", "check who owns it, and the folder's permissions" },
	{ EPERM, "not permitted", "check who owns it, and its attributes" },
	{ EROFS, "the file system is read-only", "work on a copy elsewhere" },
	{ ENOSPC, "the disk is full", "free some space and run again; this file was not changed" },
	{ EDQUOT, "the quota is used up",
	  "free some space and run again; this file was not changed" },
	{ EFBIG, "larger than a file may be",
	  "raise ulimit -f and run again; this file was not changed" },
	{ EISDIR, "it is a folder", "name a file" },
	{ ELOOP, "its symbolic links go round in a circle", "remove or correct the link" },
	{ EMFILE, "too many open files", "raise ulimit -n" },
	{ ENAMETOOLONG, "the name is too long", "use a shorter path" },
	{ EIO, "input/output error", "check the disk or the network mount" },
	{ ESTALE, "the network file is gone", "check the network mount and run again" },
	{ ENODEV, "it cannot be mapped", "copy it to a local disk" },
};

const char *ts_path_tail(const char **path)
{
	size_t n = strlen(*path);

	if (n <= PATH_SHOWN)
		return "";
	*path += n - PATH_SHOWN;
	while (((uint8_t)**path & 0xc0) == 0x80) /* not into a character of UTF-8 */
		(*path)++;
	return "...";
}

enum ts_status ts_fail_errno(struct ts_error *err, int errnum, const char *path, const char *what)
{
	enum ts_status status = errnum == ENOMEM   ? TS_NOMEM
				: errnum == ENOENT ? TS_NOTFOUND
						   : TS_IO;

	TS_ASSERT(path && what);
	const char *dots = ts_path_tail(&path);

	for (size_t i = 0; i < TS_NELEM(causes); i++)
		if (causes[i].errnum == errnum)
			return ts_fail(err, status, "%s%s: cannot %s: %s (%s)", dots, path, what,
				       causes[i].words, causes[i].advice);
	return ts_fail(err, status, "%s%s: cannot %s: %s", dots, path, what, strerror(errnum));
}
