/*
 * Compiled modules remembered between samples. They are most of a profile's bytes and do not change,
 * so a server is asked for them only when there are new ones, and what it said is put behind every
 * later XSpace: an XSpace is a repeated field of planes, bytes of another one behind it are more
 * planes.
 */
#ifndef TS_LIVE_KEPT_MODULES_H
#define TS_LIVE_KEPT_MODULES_H

#include "base/buf.h"

#define TS_KEPT_MODULES_BYTES \
	(256 * 1024 * 1024) /* more is not remembered, but asked for each time */

struct ts_kept_modules {
	struct ts_buf planes; /* fields of an XSpace: its /host:metadata planes as they came */
	bool is_too_large;    /* what came last could not be remembered */
};

void ts_kept_modules_release(struct ts_kept_modules *kept);
void ts_kept_modules_forget(struct ts_kept_modules *kept); /* another process answers now */

/* Takes the modules out of XSPACE; one that has none, or is damaged, changes nothing. False: no
 * memory. */
bool ts_kept_modules_take(struct ts_kept_modules *kept, struct ts_bytes xspace);
/* Has XSPACE modules of its own? */
bool ts_xspace_has_modules(struct ts_bytes xspace);

#endif
