/* SPDX-License-Identifier: MIT */
/*
 * URLs on the command line: `gs://bucket/logs`. A path is one when it begins with a scheme, a letter and then
 * letters or digits, and "://"; a folder of that name is `./gs://bucket`.
 *
 * A URL is a relative path, too, whose first folder is "gs:": where what it names is mirrored
 * (remote/remote.h) below the current folder, it is opened by its own name.
 */
#ifndef TS_IO_URL_H
#define TS_IO_URL_H

#include "base/bytes.h"

/* The length of "gs://"; 0: PATH is not a URL. */
size_t ts_url_scheme(const char *path);
static inline bool ts_url_is(const char *path)
{
	return ts_url_scheme(path) > 0;
}
/* What may stand in a URL and can be a path. TS_USAGE. */
enum ts_status ts_url_check(const char *url, struct ts_error *err);
/* The same of a name below it, "a/b.pb": of each part. */
bool ts_url_name_is_good(struct ts_bytes name);
/* The length of the scheme and what follows it, up to the first slash: the bucket. */
size_t ts_url_bucket(const char *url);

#endif
