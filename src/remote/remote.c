/* SPDX-License-Identifier: MIT */
/* The beginning and the end: a scratch folder, and a helper for each bucket. */
#include "remote/inside.h"

#include "base/buf.h"
#include "base/check.h"
#include "io/scratch.h"
#include "io/url.h"

#include <errno.h>
#include <unistd.h>

#define HELPER	"tpusight-remote"
#define PATTERN "/tpusight-remote-XXXXXX"

/* DIR/tpusight-remote-SCHEME, with its absolute path, if it can be run; the one for ANY scheme is not called after
 * one. */
static char *helper_in(struct ts_bytes dir, const char *url, bool any)
{
	struct ts_buf path = TS_BUF_INIT;
	char *real = NULL;

	ts_buf_put(&path, dir);
	ts_buf_puts(&path, "/" HELPER);
	if (!any)
		ts_buf_printf(&path, "-%.*s", (int)ts_url_scheme(url) - 3, url);
	ts_buf_putc(&path, '\0');
	if (dir.n > 0 && !path.failed && access((const char *)path.p, X_OK) == 0)
		real = realpath((const char *)path.p, NULL);
	ts_buf_release(&path);
	return real;
}

/* $TPUSIGHT_REMOTE_DIR, beside the program, then $PATH. */
static char *find_helper(const char *url, const char *beside, bool any)
{
	struct ts_bytes path = ts_bytes_of(getenv("PATH"));
	char *found = helper_in(ts_bytes_of(getenv("TPUSIGHT_REMOTE_DIR")), url, any);

	if (!found)
		found = helper_in(ts_bytes_of(beside), url, any);
	while (!found && path.n > 0) {
		size_t n = ts_bytes_find(path, ":");

		found = helper_in(ts_bytes_cut(path, 0, n), url, any);
		path = ts_bytes_cut(path, n + 1, path.n);
	}
	return found;
}

static enum ts_status missing(const char *url, struct ts_error *err)
{
	static const char *const extras[] = { "gs", "s3", "az" };
	int n = (int)ts_url_scheme(url) - 3;
	const char *extra = "remote";

	for (size_t i = 0; i < TS_NELEM(extras); i++)
		if (strncmp(url, extras[i], (size_t)n) == 0 && extras[i][n] == '\0')
			extra = extras[i];
	return ts_fail(err, TS_NOTFOUND,
		       "%s: the program " HELPER "-%.*s was not found, which reads %.*s:// (pip "
		       "install 'tpusight[%s]')",
		       url, n, url, n, url, extra);
}

static enum ts_status add_helper(struct ts_remote *remote, const char *url, struct ts_error *err)
{
	struct ts_helper *helper = &remote->helpers[remote->nr];
	enum ts_status st = ts_url_check(url, err);

	for (size_t i = 0; i < remote->nr && !st; i++)
		if (ts_url_bucket(remote->helpers[i].url) == ts_url_bucket(url) &&
		    strncmp(remote->helpers[i].url, url, ts_url_bucket(url)) == 0)
			return TS_OK;
	if (st)
		return st;
	helper->program = find_helper(url, remote->options.beside, false);
	if (!helper->program)
		helper->program = find_helper(url, remote->options.beside, true);
	if (!helper->program)
		return missing(url, err);
	helper->to = helper->from = helper->words = -1;
	helper->url = strdup(url);
	if (!helper->url)
		return ts_fail_nomem(err);
	remote->nr++;
	return TS_OK;
}

/* A name of its own in the folder for temporary files; the first that can be written. */
static enum ts_status make_scratch(struct ts_remote *remote, struct ts_error *err)
{
	size_t tried = 0;
	const char *folder = ts_scratch_folder(tried);
	struct ts_buf path = TS_BUF_INIT;

	while (folder && access(folder, W_OK) != 0)
		folder = ts_scratch_folder(++tried);
	if (!folder)
		return ts_fail(err, TS_IO,
			       "no folder for temporary files can be written (set TMPDIR)");
	ts_buf_puts(&path, folder);
	ts_buf_puts(&path, PATTERN);
	ts_buf_putc(&path, '\0');
	if (path.failed)
		ts_fail_nomem(err);
	else if (!mkdtemp((char *)path.p))
		ts_fail_errno(err, errno, folder, "make a temporary folder in it");
	else
		remote->scratch = realpath((const char *)path.p, NULL);
	ts_buf_release(&path);
	return remote->scratch ? TS_OK : TS_IO;
}

/* A relative TMPDIR is meant as seen from where the program was started. */
static void fix_tmpdir(void)
{
	const char *own = getenv("TMPDIR");
	char *real = own && own[0] && own[0] != '/' ? realpath(own, NULL) : NULL;

	if (real)
		setenv("TMPDIR", real, 1);
	free(real);
}

static enum ts_status remote_start(struct ts_remote *remote, struct ts_error *err)
{
	enum ts_status st = make_scratch(remote, err);

	if (st)
		return st;
	st = ts_keeper_start(&remote->keeper, remote->scratch, remote->helpers, remote->nr, err);
	if (st) {
		(void)rmdir(remote->scratch);
		return st;
	}
	fix_tmpdir();
	if (chdir(remote->scratch) != 0)
		return ts_fail_errno(err, errno, remote->scratch, "go there");
	for (size_t i = 0; i < remote->nr; i++) {
		remote->clients[i] = ts_client_new(&remote->helpers[i]);
		if (!remote->clients[i])
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

enum ts_status ts_remote_open(struct ts_remote **out, char *const *urls, size_t nr,
			      const struct ts_remote_options *options, struct ts_error *err)
{
	struct ts_remote *remote = calloc(1, sizeof(*remote));
	enum ts_status st = TS_OK;

	TS_ASSERT(out && urls && options);
	*out = NULL;
	if (!remote)
		return ts_fail_nomem(err);
	remote->options = *options;
	remote->looker = (struct ts_looker){ ts_mirror_look, remote };
	pthread_mutex_init(&remote->lock, NULL);
	pthread_mutex_init(&remote->ahead_lock, NULL);
	pthread_cond_init(&remote->news, NULL);
	remote->helpers = calloc(nr + 1, sizeof(*remote->helpers));
	remote->clients = calloc(nr + 1, sizeof(*remote->clients));
	if (!remote->helpers || !remote->clients)
		st = ts_fail_nomem(err);
	for (size_t i = 0; i < nr && !st; i++)
		st = add_helper(remote, urls[i], err);
	if (!st)
		st = remote_start(remote, err);
	if (st)
		ts_remote_close(remote);
	else
		*out = remote;
	return st;
}

void ts_remote_cancel(struct ts_remote *remote)
{
	for (size_t i = 0; remote && i < remote->nr; i++)
		if (remote->clients[i])
			ts_client_cancel(remote->clients[i]);
}

static void release_objects(struct ts_remote *remote)
{
	for (size_t i = 0; i < remote->nr_objects; i++) {
		free(remote->objects[i]->path);
		free(remote->objects[i]->generation);
		free(remote->objects[i]);
	}
	free(remote->objects);
	ts_strmap_release(&remote->by_path);
}

void ts_remote_close(struct ts_remote *remote)
{
	if (!remote)
		return;
	ts_remote_cancel(remote);
	ts_remote_fetch_ahead(remote, NULL, 0);
	for (size_t i = 0; i < remote->nr; i++)
		ts_client_free(remote->clients ? remote->clients[i] : NULL);
	ts_keeper_end(&remote->keeper);
	for (size_t i = 0; i < remote->nr; i++) {
		free((char *)remote->helpers[i].program);
		free((char *)remote->helpers[i].url);
	}
	release_objects(remote);
	free(remote->helpers);
	free(remote->clients);
	free(remote->scratch);
	pthread_cond_destroy(&remote->news);
	pthread_mutex_destroy(&remote->ahead_lock);
	pthread_mutex_destroy(&remote->lock);
	free(remote);
}

bool ts_remote_reads(struct ts_remote *remote, const char *path)
{
	TS_ASSERT(remote && path);
	return ts_remote_client(remote, path) != NULL;
}

bool ts_remote_is_dead(struct ts_remote *remote, const char *path)
{
	struct ts_client *client;

	TS_ASSERT(remote && path);
	client = ts_remote_client(remote, path);
	return client && ts_client_is_dead(client);
}
