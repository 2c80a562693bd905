/* SPDX-License-Identifier: MIT */
/*
 * Files that people have beside a profile, or take for one, and that no reader reads: known by what stands
 * in their head, or by their names, so that they can be named, with what to give instead.
 */
#ifndef TS_IO_FOREIGN_H
#define TS_IO_FOREIGN_H

#include "base/bytes.h"

struct ts_foreign {
	const char *what; /* "a trace in Perfetto's own form" */
	const char *give; /* what to do, in the imperative */
};

/* What the content shows, packed (gzip) or not; NULL: nothing that is known. */
const struct ts_foreign *ts_foreign_of(struct ts_bytes bytes);
/* What the name says, for a file whose content nothing knows, or that is only listed. */
const struct ts_foreign *ts_foreign_named(struct ts_bytes name);
/* Fails with its name. FOREIGN may be NULL: then nothing is known of it, and TS_OK comes back. */
enum ts_status ts_foreign_refuse(const struct ts_foreign *foreign, struct ts_error *err);

#endif
