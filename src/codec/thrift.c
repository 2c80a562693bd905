/* SPDX-License-Identifier: MIT */
/* Thrift's compact protocol: field numbers as differences, integers as zigzag varints. */
#include "codec/thrift.h"

#include "base/check.h"
#include "codec/pbw.h"

#define LONG_LIST 15 /* from here on the number of items stands by itself */

static void thrift_put_varint(struct ts_buf *out, uint64_t value)
{
	if (!ts_buf_room(out, TS_PBW_VARINT))
		return;
	out->n = (size_t)(ts_pbw_store(out->p + out->n, value) - out->p);
}

void ts_thrift_item_int(struct ts_buf *out, int64_t value)
{
	TS_ASSERT(out);
	thrift_put_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void ts_thrift_item_text(struct ts_buf *out, struct ts_bytes text)
{
	TS_ASSERT(out);
	thrift_put_varint(out, text.n);
	ts_buf_put(out, text);
}

static void thrift_put_field(struct ts_thrift *thrift, int field, enum ts_thrift_type type)
{
	TS_ASSERT(thrift && field > thrift->last && field - thrift->last <= 15);
	ts_buf_putc(thrift->out, (char)((field - thrift->last) << 4 | (int)type));
	thrift->last = field;
}

struct ts_thrift ts_thrift_begin(struct ts_buf *out)
{
	return (struct ts_thrift){ out, 0 };
}

void ts_thrift_end(struct ts_thrift *thrift)
{
	TS_ASSERT(thrift);
	ts_buf_putc(thrift->out, '\0');
}

void ts_thrift_int(struct ts_thrift *thrift, int field, enum ts_thrift_type type, int64_t value)
{
	thrift_put_field(thrift, field, type);
	ts_thrift_item_int(thrift->out, value);
}

void ts_thrift_text(struct ts_thrift *thrift, int field, struct ts_bytes text)
{
	thrift_put_field(thrift, field, TS_THRIFT_TEXT);
	ts_thrift_item_text(thrift->out, text);
}

struct ts_thrift ts_thrift_struct(struct ts_thrift *thrift, int field)
{
	thrift_put_field(thrift, field, TS_THRIFT_STRUCT);
	return ts_thrift_begin(thrift->out);
}

void ts_thrift_list(struct ts_thrift *thrift, int field, enum ts_thrift_type type, size_t nr)
{
	thrift_put_field(thrift, field, TS_THRIFT_LIST);
	if (nr < LONG_LIST) {
		ts_buf_putc(thrift->out, (char)(nr << 4 | (size_t)type));
		return;
	}
	ts_buf_putc(thrift->out, (char)(LONG_LIST << 4 | (int)type));
	thrift_put_varint(thrift->out, nr);
}
