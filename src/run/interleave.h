/* SPDX-License-Identifier: MIT */
/*
 * Merging: the wanted lines of a host streamed once, on threads, and handed on as one stream in the
 * order of starts (model/interleaved.h). Memory is bounded whatever the number of events; beyond some
 * hundred thousand they go through a temporary file, 48 bytes each.
 */
#ifndef TS_RUN_INTERLEAVE_H
#define TS_RUN_INTERLEAVE_H

#include "model/interleaved.h"

/* WANTED: one a line of the profile. A line that is damaged gives what stands before the damage; one
 * found unsorted is marked in the profile. */
enum ts_status ts_interleave_host(struct ts_profile *profile, uint32_t host, const bool *wanted,
				  size_t nr_threads, const struct ts_interleaved_sink *sink,
				  struct ts_error *err);

#endif
