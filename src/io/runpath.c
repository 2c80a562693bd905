/* SPDX-License-Identifier: MIT */
/* Cutting paths. The parent of "a" has length 0, that of "/a" 1: the slash of the root stays. */
#include "io/runpath.h"

#include "base/check.h"
#include "io/url.h"

void ts_path_tidy(struct ts_buf *out, const char *path)
{
	size_t scheme = ts_url_scheme(path);
	size_t start;

	TS_ASSERT(out);
	ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)path, scheme });
	start = out->n;
	path += scheme;
	if (path[0] == '/')
		ts_buf_putc(out, '/');
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n > 0 && !(n == 1 && path[0] == '.')) {
			if (out->n > start && out->p[out->n - 1] != '/')
				ts_buf_putc(out, '/');
			ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)path, n });
		}
		path += n + (path[n] == '/');
	}
	if (out->n == start)
		ts_buf_putc(out, '.');
}

struct ts_bytes ts_path_last(const char *path, size_t *n)
{
	size_t at = *n;
	struct ts_bytes name;

	TS_ASSERT(path && n);
	while (at > 0 && path[at - 1] != '/')
		at--;
	name = (struct ts_bytes){ (const uint8_t *)path + at, *n - at };
	*n = at > 1 ? at - 1 : at; /* the slash of the root stays */
	return name;
}

enum ts_place ts_place_of(const char *path, size_t *n)
{
	size_t at[4] = { strlen(path) };
	struct ts_bytes name[3];

	TS_ASSERT(path && n);
	for (size_t i = 0; i < 3; i++) {
		at[i + 1] = at[i];
		name[i] = ts_path_last(path, &at[i + 1]);
	}
	*n = at[0];
	if (ts_bytes_is(name[2], "plugins") && ts_bytes_is(name[1], "profile") && name[0].n) {
		*n = at[3];
		return TS_PLACE_SESSION;
	}
	if (ts_bytes_is(name[1], "plugins") && ts_bytes_is(name[0], "profile")) {
		*n = at[2];
		return TS_PLACE_PROFILE;
	}
	if (ts_bytes_is(name[0], "plugins")) {
		*n = at[1];
		return TS_PLACE_PLUGINS;
	}
	return TS_PLACE_ANY;
}

enum ts_place ts_place_below(enum ts_place parent, const char *name)
{
	TS_ASSERT(name);
	if (parent == TS_PLACE_PROFILE)
		return TS_PLACE_SESSION;
	if (parent == TS_PLACE_PLUGINS && strcmp(name, "profile") == 0)
		return TS_PLACE_PROFILE;
	return strcmp(name, "plugins") == 0 ? TS_PLACE_PLUGINS : TS_PLACE_ANY;
}

struct ts_bytes ts_path_run(const char *logdir, const char *dir)
{
	size_t n, skip = strcmp(logdir, ".") == 0 ? 0 : strlen(logdir);

	TS_ASSERT(logdir && dir);
	if (ts_place_of(dir, &n) != TS_PLACE_SESSION || n <= skip || memcmp(dir, logdir, skip) != 0)
		return (struct ts_bytes){ NULL, 0 };
	while (dir[skip] == '/')
		skip++;
	return (struct ts_bytes){ (const uint8_t *)dir + skip, n > skip ? n - skip : 0 };
}
