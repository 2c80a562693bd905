/* SPDX-License-Identifier: MIT */
/*
 * Protobuf wire format, written onto a buffer.
 *
 *	size_t plane = ts_pbw_begin(out, SPACE_PLANES);
 *	ts_pbw_text(out, PLANE_NAME, name);
 *	ts_pbw_end(out, plane);
 *
 * Lengths are the shortest varints, as every protobuf library writes them, so the bytes depend on
 * the content alone. Every field is written: to leave a field at its default, the caller does not
 * write it. When memory runs out, the buffer's .failed is set (base/buf.h): check it once at the
 * end.
 */
#ifndef TS_CODEC_PBW_H
#define TS_CODEC_PBW_H

#include "base/buf.h"

#define TS_PBW_VARINT 10 /* bytes of the longest */

/* The two halves of a varint, for a writer that knows how much room it needs. */
static inline size_t ts_pbw_size(uint64_t value)
{
	return (70 - (size_t)__builtin_clzll(value | 1)) / 7;
}

static inline uint8_t *ts_pbw_store(uint8_t *p, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*p++ = (uint8_t)(value | 128);
	*p = (uint8_t)value;
	return p + 1;
}

void ts_pbw_u64(struct ts_buf *out, uint32_t field, uint64_t value);
void ts_pbw_i64(struct ts_buf *out, uint32_t field, int64_t value); /* int64, not sint64 */
void ts_pbw_fixed64(struct ts_buf *out, uint32_t field, uint64_t value);
void ts_pbw_double(struct ts_buf *out, uint32_t field, double value);
void ts_pbw_bytes(struct ts_buf *out, uint32_t field, struct ts_bytes bytes);
/*
 * A field of type string. Protobuf libraries refuse a whole message for one string that is not
 * UTF-8, so bytes that are not UTF-8 become U+FFFD.
 */
void ts_pbw_text(struct ts_buf *out, uint32_t field, struct ts_bytes text);

/* A message inside a message: gives the mark that end() wants. They nest to any depth. */
size_t ts_pbw_begin(struct ts_buf *out, uint32_t field);
void ts_pbw_end(struct ts_buf *out, size_t mark);

#endif
