/* SPDX-License-Identifier: MIT */
/* By realpath(). A link that is made between this look and the reading is not seen. */
#include "serve/roots.h"

#include <stdlib.h>

#include "base/check.h"
#include "io/file.h"
#include "io/rundir.h"

static bool roots_is_below(const char *path, const char *root)
{
	char *real = realpath(root, NULL);
	size_t n = real ? strlen(real) : 0;
	bool is_root = n == 1; /* "/" */
	bool below = real && strncmp(path, real, n) == 0 &&
		     (is_root || path[n] == '/' || path[n] == '\0');

	free(real);
	return below;
}

/* Are both in one folder, and is ROOT a file? Two names of one file are. */
static bool is_beside(const char *path, const char *root)
{
	char *real = realpath(root, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL, *own = strrchr(path, '/');
	bool beside = slash && own && slash - real == own - path &&
		      strncmp(real, path, (size_t)(own - path)) == 0 && !ts_dir_exists(real);

	free(real);
	return beside;
}

static bool roots_holds(char *const *paths, size_t nr_paths, const char *path)
{
	char *real = realpath(path, NULL);
	bool found = false;

	for (size_t i = 0; real && !found && i < nr_paths; i++)
		found = roots_is_below(real, paths[i]);
	free(real);
	return found;
}

struct served {
	char *const *paths;
	size_t nr_paths;
};

static bool roots_enters(const void *ctx, const char *path)
{
	const struct served *served = ctx;

	return roots_holds(served->paths, served->nr_paths, path);
}

enum ts_status ts_roots_find(struct ts_runs *runs, char *const *paths, size_t nr_paths, size_t at,
			     struct ts_error *err)
{
	const struct served served = { paths, nr_paths };
	enum ts_status st;

	TS_ASSERT(runs != NULL && paths != NULL && at < nr_paths);
	runs->enters = roots_enters;
	runs->enters_ctx = &served;
	runs->outside = TS_ROOTS_OUTSIDE;
	st = ts_runs_find(runs, paths[at], err);
	runs->enters = NULL;
	runs->enters_ctx = NULL;
	return st;
}

bool ts_roots_hold(char *const *paths, size_t nr_paths, const struct ts_session *session)
{
	TS_ASSERT(paths != NULL || nr_paths == 0);
	TS_ASSERT(session != NULL);
	if (session->kind == TS_SESSION_STREAM)
		return true;
	for (size_t i = 0; i < session->nr_files; i++)
		if (!roots_holds(paths, nr_paths, session->files[i].path))
			return false;
	for (size_t i = 0; i < session->nr_extras; i++)
		if (!roots_holds(paths, nr_paths, session->extras[i].path))
			return false;
	return true;
}

bool ts_roots_hold_beside(char *const *paths, size_t nr_paths, const char *file)
{
	char *real = realpath(file, NULL);
	bool found = false;

	TS_ASSERT(paths != NULL || nr_paths == 0);
	for (size_t i = 0; real && !found && i < nr_paths; i++)
		found = roots_is_below(real, paths[i]) || is_beside(real, paths[i]);
	free(real);
	return found;
}
