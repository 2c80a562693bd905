/* SPDX-License-Identifier: MIT */
/* The events of a line, whatever its format: blocks into a sink. */
#ifndef TS_READ_STREAM_H
#define TS_READ_STREAM_H

#include "model/block.h"

/*
 * Decodes one line into blocks (model/block.h). Threads may stream different lines of one profile
 * at once. TS_UNSORTED only before the first pass has marked the line; TS_FORMAT: damaged, what
 * stands before the damage was handed over.
 */
enum ts_status ts_stream_line(const struct ts_profile *profile, uint32_t line,
			      const struct ts_sink *sink, struct ts_error *err);
/* No thread asks for events of HOST or their stats now (read/reader.h): what can be made again is let go. */
void ts_stream_rest(struct ts_profile *profile, uint32_t host);

#endif
