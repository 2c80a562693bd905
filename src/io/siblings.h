/* SPDX-License-Identifier: MIT */
/*
 * Sibling sessions: hosts of one job that were captured together, each into a session of its own.
 *
 * `jax.profiler.trace` on many hosts with one log directory names each session by that host's own
 * clock, so that a difference of a few seconds makes two folders of one capture. Nothing in the
 * folders says that they belong together; so they are only joined when a user asks.
 */
#ifndef TS_IO_SIBLINGS_H
#define TS_IO_SIBLINGS_H

#include "io/rundir.h"

#define TS_SIBLING_S 60 /* how far apart siblings may have begun, by their names */

/*
 * Joins traces of one folder that were named one by one (ranks of a job), and sessions of one run:
 * neighbours in time whose names are times at most TS_SIBLING_S after the first one's, as long as no
 * host is in two of them. The joined session goes by the first one's
 * name, has the files of all, and keeps the sessions it was made of as .members.
 */
enum ts_status ts_runs_join(struct ts_runs *runs, struct ts_error *err);

#endif
