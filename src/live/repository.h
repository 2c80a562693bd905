/*
 * Profiles of servers that cannot send them (XLA before emit_xspace): such a server writes
 * REPOSITORY/SESSION/HOST.xplane.pb, with _ for each : of the name, on its own disk, and answers
 * that it is done. Where the folder is one that both see, the profile can be taken from there.
 */
#ifndef TS_LIVE_REPOSITORY_H
#define TS_LIVE_REPOSITORY_H

#include "base/buf.h"

struct ts_repository {
	const char *dir, *session, *host; /* as they were asked for */
	size_t max_bytes;
};

/*
 * The profile into OUT; the file, and its folder if nothing else is in it, are removed. Waits for
 * PATIENCE_MS for a file that is not there or not whole yet: the folder may be a network's.
 * TS_NOTFOUND, TS_FORMAT then.
 */
enum ts_status ts_repository_take(const struct ts_repository *at, int64_t patience_ms,
				  struct ts_buf *out, struct ts_error *err);

#endif
