/* SPDX-License-Identifier: MIT */
/* Profiles that a profiler gave up, or wrote in another form: what is left of them, in words. */
#ifndef TS_IO_DROPPED_H
#define TS_IO_DROPPED_H

#include "io/rundir.h"

/* Is PATH an empty file of a profile's name? Then ERR gets, in place of its story, how such a file comes about,
 * and what to do. */
bool ts_dropped_explain(const char *path, struct ts_error *err);

/*
 * The trace that JAX wrote beside FILE, an xplane without a plane: of the same host, and whole where the xplane was
 * given up. *TRACE gets it, in ARENA, with .stands_for; else *FOUND is false.
 */
enum ts_status ts_dropped_find_trace(struct ts_arena *arena, const struct ts_hostfile *file,
				     struct ts_hostfile *trace, bool *found, struct ts_error *err);

#endif
