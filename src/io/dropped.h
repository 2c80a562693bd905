/* SPDX-License-Identifier: MIT */
/* Profiles that a profiler gave up, or wrote in another form: what is left of them, in words. */
#ifndef TS_IO_DROPPED_H
#define TS_IO_DROPPED_H

#include "base/bytes.h"

/* Is PATH an empty file of a profile's name? Then ERR gets, in place of its story, how such a file comes about,
 * and what to do. */
bool ts_dropped_explain(const char *path, struct ts_error *err);

#endif
