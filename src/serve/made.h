/* SPDX-License-Identifier: MIT */
/*
 * Reports that were made before: by a pod, whose profiles lie elsewhere, or by `tpusight report -o NAME.json`. The file is what
 * is served, as it stands; there is nothing to analyse. Such a report is a session of one file.
 *
 * It is looked for where a path names it, and in folders that were searched and have no session of their own: beside
 * profiles, what they say counts.
 */
#ifndef TS_SERVE_MADE_H
#define TS_SERVE_MADE_H

#include "base/buf.h"
#include "io/rundir.h"

/* Does PATH name a report of ours on this machine? It is known by its ending and its first bytes. */
bool ts_made_is(const char *path);
/* Adds the one that PATH names to the sessions. */
enum ts_status ts_made_add(struct ts_runs *runs, const char *path, struct ts_error *err);
/* Adds those in the folders that were searched. */
enum ts_status ts_made_find(struct ts_runs *runs, struct ts_error *err);
/* TS_LIMIT: it is larger than what is kept of all reports. */
enum ts_status ts_made_read(const struct ts_session *session, struct ts_buf *text,
			    struct ts_error *err);

#endif
