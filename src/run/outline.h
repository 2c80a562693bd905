/* SPDX-License-Identifier: MIT */
/* The first look at a run: steps, and what the hosts were doing while devices waited. */
#ifndef TS_RUN_OUTLINE_H
#define TS_RUN_OUTLINE_H

#include "model/outline.h"

/* Streams the lines of steps, modules and host threads and fills OUTLINE (owned by the caller;
 * ts_outline_release). Marks unsorted lines and notes damage in the profile. */
enum ts_status ts_outline_make(struct ts_profile *profile, size_t nr_threads,
			       struct ts_outline *outline, struct ts_error *err);

#endif
