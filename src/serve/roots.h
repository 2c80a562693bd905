/* SPDX-License-Identifier: MIT */
/*
 * The folders and files that are served. A link below them may lead elsewhere, and may have been made
 * by another user than the one who serves; so what a session is read from must lie below a path that was
 * given, by its real name.
 */
#ifndef TS_SERVE_ROOTS_H
#define TS_SERVE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct ts_runs;
struct ts_session;

#define TS_ROOTS_OUTSIDE \
	"a link leads out of what is served (give tpusight serve the folder that it leads to, too)"

/* Adds what is below paths[at], as ts_runs_find() does; what a link out of all of them leads to is not looked at, and becomes a
 * problem. */
enum ts_status ts_roots_find(struct ts_runs *runs, char *const *paths, size_t nr_paths, size_t at,
			     struct ts_error *err);
/* Do all files of the session lie below the paths? Standard input does. */
bool ts_roots_hold(char *const *paths, size_t nr_paths, const struct ts_session *session);
/* Does the file lie below them, or in the folder of a file among them? */
bool ts_roots_hold_beside(char *const *paths, size_t nr_paths, const char *file);

#endif
