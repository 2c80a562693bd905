/* SPDX-License-Identifier: MIT */
/*
 * The encodings of Parquet that are written here (https://parquet.apache.org/docs/file-format/data-pages/encodings/):
 * runs and packed bits for small numbers, differences for large ones.
 */
#ifndef TS_WRITE_COLUMNS_PAGES_H
#define TS_WRITE_COLUMNS_PAGES_H

#include "base/buf.h"

/* RLE: NR numbers below 2^WIDTH, as runs of one value and as packed groups of eight. */
void ts_pages_runs(struct ts_buf *out, const uint32_t *values, size_t nr, unsigned width);
/* DELTA_BINARY_PACKED: NR integers of 64 bits. */
void ts_pages_differences(struct ts_buf *out, const int64_t *values, size_t nr);
/* Bits that a number below NR needs, at least one. */
unsigned ts_pages_width(size_t nr);

#endif
