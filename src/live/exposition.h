/* SPDX-License-Identifier: MIT */
/*
 * The figures of a watch in Prometheus' text format (version 0.0.4), in its base units: seconds, bytes, shares of 1. What is not
 * known has no line. Names are those of the JSON lines with another unit: tpusight_live_step_time_seconds.
 */
#ifndef TS_LIVE_EXPOSITION_H
#define TS_LIVE_EXPOSITION_H

#include "live/feed.h"

#define TS_EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

void ts_exposition_put(struct ts_buf *out, const struct ts_live_sample *sample);

#endif
