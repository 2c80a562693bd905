/* SPDX-License-Identifier: MIT */
/*
 * Names of runs: what a path says by itself, without reading the disk. Serves io/rundir.
 */
#ifndef TS_IO_RUNPATH_H
#define TS_IO_RUNPATH_H

#include "base/buf.h"

/* Where a folder stands in TensorBoard's layout. */
enum ts_place {
	TS_PLACE_ANY,
	TS_PLACE_PLUGINS, /* .../plugins */
	TS_PLACE_PROFILE, /* .../plugins/profile */
	TS_PLACE_SESSION, /* .../plugins/profile/NAME */
};

/* Appends PATH without doubled or trailing slashes and "." parts ("." if nothing is left); "gs://" stays. */
void ts_path_tidy(struct ts_buf *out, const char *path);
/* The last name of PATH[0..*N), a view; *N becomes the length before it, without its slash. */
struct ts_bytes ts_path_last(const char *path, size_t *n);
/* By names alone. *N gets the length of the part before plugins, or of PATH for TS_PLACE_ANY. */
enum ts_place ts_place_of(const char *path, size_t *n);
enum ts_place ts_place_below(enum ts_place parent, const char *name);
/* The part of the session folder DIR between LOGDIR and plugins; empty when LOGDIR is the run. */
struct ts_bytes ts_path_run(const char *logdir, const char *dir);

#endif
