/* SPDX-License-Identifier: MIT */
/* The names of profiles: HOST.xplane.pb, and HOST.xplane.riegeli for the same in records. */
#ifndef TS_IO_XPLANEFILE_H
#define TS_IO_XPLANEFILE_H

#include "base/bytes.h"

#define TS_XPLANE_SUFFIX ".xplane.pb"
#define TS_RIEGELI_SUFFIX ".xplane.riegeli"

bool ts_xplanefile_is(struct ts_bytes name);
/* NAME without its suffix; all of it where it is not one. */
struct ts_bytes ts_xplanefile_host(struct ts_bytes name);

/* Content of a profile without a plane: nothing at all, or names and messages of the profiler alone. */
bool ts_xplanefile_is_empty(struct ts_bytes bytes);

#endif
