/* SPDX-License-Identifier: MIT */
/*
 * Compiled modules that are kept from sample to sample. They are most of a profile's bytes and do
 * not change, so a server is asked for them only when there are new ones. What it sent is put
 * behind every later XSpace: the planes of an XSpace are a repeated field, so the bytes of a second
 * XSpace behind the first one are more planes.
 */
#ifndef TS_LIVE_KEPT_MODULES_H
#define TS_LIVE_KEPT_MODULES_H

#include "base/buf.h"

/* More than that is not kept, but asked for each time. */
#define TS_KEPT_MODULES_BYTES (256 * 1024 * 1024)

struct ts_kept_modules {
	struct ts_buf planes; /* the /host:metadata planes as they came: fields of an XSpace */
	bool is_too_large;    /* the last modules were too large to be kept */
};

void ts_kept_modules_release(struct ts_kept_modules *kept);
void ts_kept_modules_forget(struct ts_kept_modules *kept); /* for when another process answers */

/* Keeps the modules of XSPACE instead of those before. An XSPACE without modules, or a damaged one,
 * changes nothing. */
enum ts_status ts_kept_modules_take(struct ts_kept_modules *kept, struct ts_bytes xspace,
				    struct ts_error *err);
/* Does XSPACE have modules of its own? */
bool ts_xspace_has_modules(struct ts_bytes xspace);

#endif
