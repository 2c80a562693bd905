/* SPDX-License-Identifier: MIT */
/*
 * The TensorBoard of this environment: the program `tensorboard` that is first in PATH, and the packages of Python that
 * are installed beside it. Only names of files are looked at; no program is run.
 */
#ifndef TS_IO_TENSORBOARD_H
#define TS_IO_TENSORBOARD_H

#include <limits.h>
#include <stdbool.h>

struct ts_tensorboard {
	char program
		[PATH_MAX]; /* links followed; "": there is none, or its packages are not beside it */
	char packages[PATH_MAX]; /* the folder of its packages */
	bool has_xprof;		 /* the plugin with the tab Profile, under its new or old name */
	bool has_tpusight;	 /* ours */
};

/* PATH: a list of folders, as the variable has it; NULL is an empty one. */
void ts_tensorboard_find(struct ts_tensorboard *found, const char *path);

#endif
