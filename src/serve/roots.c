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

static bool roots_holds(char *const *paths, size_t nr_paths, const struct ts_hostfile *file)
{
	char *real = realpath(file->path, NULL);
	bool found = false;

	for (size_t i = 0; real && !found && i < nr_paths; i++)
		found = roots_is_below(real, paths[i]);
	free(real);
	return found;
}

bool ts_roots_hold(char *const *paths, size_t nr_paths, const struct ts_session *session)
{
	TS_ASSERT(paths != NULL || nr_paths == 0);
	TS_ASSERT(session != NULL);
	if (session->kind == TS_SESSION_STREAM)
		return true;
	for (size_t i = 0; i < session->nr_files; i++)
		if (!roots_holds(paths, nr_paths, &session->files[i]))
			return false;
	for (size_t i = 0; i < session->nr_extras; i++)
		if (!roots_holds(paths, nr_paths, &session->extras[i]))
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
