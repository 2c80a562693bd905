/* SPDX-License-Identifier: MIT */
/*
 * Joining: the outlines of files become those of a run, one file after the other in the order in which
 * one machine would read them. For the files of pod/map.h.
 */
#ifndef TS_POD_JOIN_H
#define TS_POD_JOIN_H

#include "pod/mapped_run.h"

/* A run that grows; zeroed at first, but for the profile, which is initialised. */
struct ts_joining {
	struct ts_profile *profile;    /* as readers would have left it */
	struct ts_saved_run saved;     /* its files */
	struct ts_outline_lines lines; /* of its lines; times are still each host's own */
	int64_t *from_ps;	       /* where each line began on its host's clock */
	struct ts_bytes *texts;	       /* that are kept: each once */
	struct ts_strmap places;       /* where they stand in that list */
	size_t nr_texts, cap_texts, cap_files, cap_lines, cap_from;
};

/* Adds what a file's outline has; nothing of it is needed afterwards. */
enum ts_status ts_join_add(struct ts_joining *joining, struct ts_profile *profile,
			   const struct ts_saved_run *saved, struct ts_outline_lines *lines,
			   const int64_t *from_ps, struct ts_error *err);
/* When the profile is finished: what lines gave, by the clock of the run. TS_UNSUPPORTED: hosts lie so far
 * apart in time that they cannot be of one run. */
enum ts_status ts_join_clocks(struct ts_joining *joining, struct ts_error *err);
void ts_join_release(struct ts_joining *joining);

#endif
