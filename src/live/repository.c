/* SPDX-License-Identifier: MIT */
/* The name of the file is that of SaveXSpace() in xla/tsl/profiler/rpc/client/save_profile.cc. */
#include "live/repository.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "io/file.h"
#include "io/input.h"
#include "io/rundir.h"
#include "live/whole.h"

#define NAP_MS 20

/* The path; *SLASH is where its last / stands. */
static char *make_path(const struct ts_repository *at, size_t *slash)
{
	struct ts_buf path = TS_BUF_INIT;

	ts_buf_printf(&path, "%s/%s", at->dir, at->session);
	*slash = path.n;
	ts_buf_printf(&path, "/%s" TS_XPLANE_SUFFIX, at->host);
	ts_buf_putc(&path, '\0');
	if (path.failed) {
		ts_buf_release(&path);
		return NULL;
	}
	for (size_t i = *slash; i < path.n; i++)
		if (path.p[i] == ':')
			path.p[i] = '_';
	return (char *)path.p;
}

static enum ts_status repository_read_file(const char *path, size_t max_bytes, struct ts_buf *out,
					   struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open_plain(&input, path, err);

	if (st)
		return st;
	ts_buf_clear(out);
	if (input.bytes.n > max_bytes)
		st = ts_fail(err, TS_LIMIT, "%s: %zu bytes are too many (a shorter --sample-ms)",
			     path, input.bytes.n);
	else
		ts_buf_put(out, input.bytes);
	if (out->failed)
		st = ts_fail_nomem(err);
	ts_input_release(&input);
	return st;
}

enum ts_status ts_repository_take(const struct ts_repository *at, int64_t patience_ms,
				  struct ts_buf *out, struct ts_error *err)
{
	TS_ASSERT(at != NULL && out != NULL);
	TS_ASSERT(at->dir[0] == '/'); /* else it is another folder for the server */
	TS_ASSERT(at->session[0] != '\0' && !strchr(at->session, '/'));
	TS_ASSERT(at->host[0] != '\0' && !strchr(at->host, '/'));
	TS_ASSERT(patience_ms >= 0);

	static const struct timespec nap = { 0, NAP_MS * 1000000 };
	int64_t until_ms = ts_now_ms() + patience_ms;
	size_t slash;
	char *path = make_path(at, &slash);
	enum ts_status st;

	if (!path)
		return ts_fail_nomem(err);
	while ((st = ts_file_is_whole(path, err)) != TS_OK && st != TS_NOMEM &&
	       ts_now_ms() < until_ms)
		nanosleep(&nap, NULL);
	if (st == TS_OK)
		st = repository_read_file(path, at->max_bytes, out, err);
	if (st != TS_NOTFOUND)
		unlink(path);
	path[slash] = '\0';
	rmdir(path); /* another host's file may be there still */
	free(path);
	return st;
}
