/*
 * Merging: the wanted lines of a host streamed once, on threads, and handed on as one stream in the
 * order of starts (model/merged.h). Memory is bounded whatever the number of events; beyond some
 * hundred thousand they go through a temporary file, 48 bytes each.
 */
#ifndef TS_FLOW_MERGE_H
#define TS_FLOW_MERGE_H

#include "model/merged.h"

/* WANTED: one a line of the profile. A line that is damaged gives what stands before the damage; one
 * found unsorted is marked in the profile. */
enum ts_status ts_merge_host(struct ts_profile *profile, uint32_t host, const bool *wanted,
			     size_t nr_threads, const struct ts_merged_sink *sink,
			     struct ts_error *err);

#endif
