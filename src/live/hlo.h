/*
 * Compiled modules remembered between samples. They are most of a profile's bytes and do not change,
 * so a server is asked for them only when there are new ones, and what it said is put behind every
 * later XSpace: an XSpace is a repeated field of planes, bytes of another one behind it are more
 * planes.
 */
#ifndef TS_LIVE_HLO_H
#define TS_LIVE_HLO_H

#include "base/buf.h"

#define TS_HLO_MAX_BYTES (256 * 1024 * 1024) /* more is not remembered, but asked for each time */

struct ts_hlo_memory {
	struct ts_buf planes; /* fields of an XSpace: its /host:metadata planes as they came */
	bool is_too_large;    /* what came last could not be remembered */
};

void ts_hlo_release(struct ts_hlo_memory *hlo);
void ts_hlo_forget(struct ts_hlo_memory *hlo); /* another process answers now */

/* Takes the modules out of XSPACE; one that has none, or is damaged, changes nothing. False: no
 * memory. */
bool ts_hlo_remember(struct ts_hlo_memory *hlo, struct ts_bytes xspace);
/* Has XSPACE modules of its own? */
bool ts_hlo_is_in(struct ts_bytes xspace);

#endif
