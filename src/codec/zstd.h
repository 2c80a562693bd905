/* SPDX-License-Identifier: MIT */
/* Zstandard (RFC 8878): one frame of bytes that are in memory. */
#ifndef TS_CODEC_ZSTD_H
#define TS_CODEC_ZSTD_H

#include "base/buf.h"

/* Appends a frame of BYTES at the quickest level, which says how long they are. No memory: OUT has failed. */
void ts_zstd_put(struct ts_buf *out, struct ts_bytes bytes);

#endif
