/* SPDX-License-Identifier: MIT */
/* A URL is taken as it stands: nothing in it is escaped. */
#include "io/url.h"

#include "base/check.h"

#define MAX_SCHEME 32
#define MAX_URL	   1024
#define MAX_PART   255 /* of a file's name */

static bool url_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

size_t ts_url_scheme(const char *path)
{
	size_t n = 0;

	TS_ASSERT(path);
	while (n < MAX_SCHEME &&
	       (url_is_letter(path[n]) || (n > 0 && path[n] >= '0' && path[n] <= '9')))
		n++;
	return n > 0 && strncmp(path + n, "://", 3) == 0 ? n + 3 : 0;
}

static bool part_is_good(struct ts_bytes part)
{
	for (size_t i = 0; i < part.n; i++)
		if (part.p[i] < ' ' || part.p[i] == 0x7f)
			return false;
	return part.n > 0 && part.n <= MAX_PART && !ts_bytes_is(part, ".") &&
	       !ts_bytes_is(part, "..");
}

bool ts_url_name_is_good(struct ts_bytes name)
{
	for (size_t at = 0; at <= name.n;) {
		size_t n = ts_bytes_find(ts_bytes_cut(name, at, name.n), "/");

		if (!part_is_good(ts_bytes_cut(name, at, n)))
			return false;
		at += n + 1;
	}
	return name.n <= MAX_URL;
}

enum ts_status ts_url_check(const char *url, struct ts_error *err)
{
	size_t n = ts_url_scheme(url);
	struct ts_bytes rest = ts_bytes_of(url + n);

	TS_ASSERT(n > 0);
	if (ts_bytes_starts(rest, "/")) /* file:///folder */
		rest = ts_bytes_cut(rest, 1, rest.n);
	if (ts_bytes_ends(rest, "/"))
		rest.n--;
	if (ts_url_name_is_good(rest))
		return TS_OK;
	return ts_fail(err, TS_USAGE,
		       "%s: not the address of an object or folder (%.*sBUCKET/FOLDER, without "
		       "empty parts, \".\" and \"..\")",
		       url, (int)n, url);
}

size_t ts_url_bucket(const char *url)
{
	size_t n = ts_url_scheme(url);

	TS_ASSERT(n > 0);
	return n + strcspn(url + n, "/");
}
