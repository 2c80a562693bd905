/* SPDX-License-Identifier: MIT */
/*
 * Captures that an alert asks for: the answers of one round, kept as a session of a log directory,
 * DIR/alert_RULE/plugins/profile/TIME/HOST.xplane.pb, as the job's own profiler would have written it.
 */
#ifndef TS_LIVE_CAPTURED_H
#define TS_LIVE_CAPTURED_H

#include "live/sampler.h"

#define TS_CAPTURE_MS	    2000
#define TS_CAPTURE_PAUSE_MS 60000 /* from one capture to the next */

/* FOLDER is the session's, a string; it is empty where nothing was written. */
enum ts_status ts_captured_write(const char *dir, const char *rule, const struct ts_round *round,
				 int64_t unix_ms, struct ts_buf *folder, struct ts_error *err);

#endif
