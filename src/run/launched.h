/* SPDX-License-Identifier: MIT */
/* The work of kernels, found before the first pass hands them over. */
#ifndef TS_RUN_LAUNCHED_H
#define TS_RUN_LAUNCHED_H

#include "model/profile.h"

/*
 * Of NR_HOSTS hosts from FIRST_HOST on: streams the threads that launch, then the lines of devices, and sets
 * PROFILE->launched (model/launched.h). Of other profiles than PyTorch's there is nothing to find. Marks unsorted
 * lines; damage is noted by the passes.
 */
enum ts_status ts_launched_make(struct ts_profile *profile, uint32_t first_host, uint32_t nr_hosts,
				size_t nr_threads, struct ts_error *err);

#endif
