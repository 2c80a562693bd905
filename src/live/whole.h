/*
 * Is a file whole, or was it read in the middle of being written (or of a copy)? Told by its bytes:
 *  - an xplane's fields follow one another; the last one must end where the file ends. A look at the
 *    head of each, whatever the size. What it cannot see: a file cut exactly between two planes.
 *  - what is packed with gzip must unpack to its end, where its length and checksum stand;
 *  - a trace in JSON must close what it opened.
 * Of other files nothing is known; they are whole when there is something in them.
 *
 * The file is mapped: ask when it is at rest (see io/input.h of files that become shorter).
 */
#ifndef TS_LIVE_WHOLE_H
#define TS_LIVE_WHOLE_H

#include "base/bytes.h"

/* TS_FORMAT: it is not, with the place and the cause; TS_IO, TS_NOTFOUND, TS_NOMEM: as they say. */
enum ts_status ts_file_is_whole(const char *path, struct ts_error *err);

#endif
