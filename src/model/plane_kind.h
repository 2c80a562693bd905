/* SPDX-License-Identifier: MIT */
/* What planes and lines are for, by the names that profilers give them, for all formats. */
#ifndef TS_MODEL_PLANE_KIND_H
#define TS_MODEL_PLANE_KIND_H

#include "model/profile.h"

/* What a trace has behind the name of a device of which nothing was measured: this, the topology, and a bracket. */
#define TS_PREDICTED_FOR " (predicted for "

/* A line of counters on a device's plane (xplane_schema.cc: kCounterEventsLineName). */
#define TS_COUNTER_LINE "_counters_"

/* The plane of a host on which libtpu traces transfers between slices. */
#define TS_MEGASCALE_PLANE "/device:CUSTOM:Megascale Trace"

enum ts_plane_kind ts_plane_kind_of(struct ts_bytes name);
enum ts_line_kind ts_line_kind_of(enum ts_plane_kind plane, struct ts_bytes name);

/* The plane's device, made from its name: /device:GPU:3 is number 3. NULL: no memory. */
struct ts_device *ts_profile_add_plane_device(struct ts_profile *profile, uint32_t plane);

#endif
