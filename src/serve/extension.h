/* SPDX-License-Identifier: MIT */
/*
 * What ui.perfetto.dev reads of an extension server (perfetto.dev/docs/visualization/extension-server-protocol): a
 * manifest, the modules of the SQL package, and macros for its command palette.
 *
 * It is the same for every run and says nothing of any, so that page may read it (guard.h).
 */
#ifndef TS_SERVE_EXTENSION_H
#define TS_SERVE_EXTENSION_H

#include "base/buf.h"

#define TS_EXTENSION_PATH   "/perfetto/" /* its address, in front of what the protocol asks for */
#define TS_EXTENSION_ORIGIN "https://ui.perfetto.dev"

void ts_extension_manifest(struct ts_buf *out);
void ts_extension_macros(struct ts_buf *out);
void ts_extension_sql(struct ts_buf *out);

#endif
