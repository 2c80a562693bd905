/* SPDX-License-Identifier: MIT */
/*
 * Thrift's compact protocol, written onto a buffer: what metadata of Parquet is made of.
 *
 *	struct ts_thrift page = ts_thrift_begin(out);
 *	ts_thrift_int(&page, 1, TS_THRIFT_I32, 3);
 *	struct ts_thrift inner = ts_thrift_struct(&page, 5);
 *	...
 *	ts_thrift_end(&inner);
 *	ts_thrift_end(&page);
 *
 * Fields are written in the order of their numbers. The specification:
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md. When memory runs out, the
 * buffer's .failed is set: check it once at the end.
 */
#ifndef TS_CODEC_THRIFT_H
#define TS_CODEC_THRIFT_H

#include "base/buf.h"

enum ts_thrift_type {
	TS_THRIFT_I32 = 5,
	TS_THRIFT_I64 = 6,
	TS_THRIFT_TEXT = 8,
	TS_THRIFT_LIST = 9,
	TS_THRIFT_STRUCT = 12,
};

/* A struct in the making. */
struct ts_thrift {
	struct ts_buf *out;
	int last; /* the number of its field that was written last */
};

struct ts_thrift ts_thrift_begin(struct ts_buf *out);
void ts_thrift_end(struct ts_thrift *thrift);
void ts_thrift_int(struct ts_thrift *thrift, int field, enum ts_thrift_type type, int64_t value);
void ts_thrift_text(struct ts_thrift *thrift, int field, struct ts_bytes text);
/* A struct in it, which its caller ends. */
struct ts_thrift ts_thrift_struct(struct ts_thrift *thrift, int field);
/* A list of NR items of this type, which follow: structs by ts_thrift_begin(), others by ts_thrift_item_...() */
void ts_thrift_list(struct ts_thrift *thrift, int field, enum ts_thrift_type type, size_t nr);
void ts_thrift_item_int(struct ts_buf *out, int64_t value);
void ts_thrift_item_text(struct ts_buf *out, struct ts_bytes text);

#endif
