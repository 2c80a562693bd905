/* SPDX-License-Identifier: MIT */
/*
 * Profiles of servers that cannot send them (XLA before emit_xspace). Such a server writes
 * REPOSITORY/SESSION/HOST.xplane.pb on its own disk, with _ for each : of the name, and answers
 * when it is done. Where this machine sees the folder too, the profile is taken from there.
 */
#ifndef TS_LIVE_REPOSITORY_H
#define TS_LIVE_REPOSITORY_H

#include "base/buf.h"

struct ts_repository {
	const char *dir, *session, *host; /* as in the request; DIR is an absolute path */
	size_t max_bytes;
};

/*
 * Reads the profile into OUT and removes the file, and its folder if nothing else is in it. Waits
 * for PATIENCE_MS while the file is not there or not whole yet, as the folder may be a network's;
 * after that TS_NOTFOUND or TS_FORMAT.
 */
enum ts_status ts_repository_take(const struct ts_repository *at, int64_t patience_ms,
				  struct ts_buf *out, struct ts_error *err);

#endif
