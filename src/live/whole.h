/* SPDX-License-Identifier: MIT */
/*
 * Is a file whole, or was it read while a program still wrote or copied it? Its bytes show it:
 *  - an xplane's fields follow one another; the last one must end where the file ends. Only
 *    the head of each is read. A file that is cut exactly between two planes passes for whole.
 *  - a file packed with gzip must unpack to its end, where its length and checksum stand;
 *  - a trace in JSON must close what it has opened.
 * About other files nothing is known: they are whole when they are not empty.
 *
 * The file is mapped, so ask when it is at rest (io/input.h says what happens when a file becomes
 * shorter).
 */
#ifndef TS_LIVE_WHOLE_H
#define TS_LIVE_WHOLE_H

#include "base/bytes.h"

/* TS_FORMAT: it is not whole; the story has the place and the cause. TS_IO, TS_NOTFOUND,
 * TS_NOMEM. */
enum ts_status ts_file_is_whole(const char *path, struct ts_error *err);

#endif
