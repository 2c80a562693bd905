/* SPDX-License-Identifier: MIT */
/*
 * Protobuf wire format, outward (protobuf.dev, "Encoding"; the reader is codec/pb.c).
 *
 * The length of a nested message is not known when it begins: one byte is kept free for it, and
 * when the length needs more bytes, the message moves up. Most are below 128 bytes and stay where
 * they are.
 */
#include "codec/pbw.h"

#include "base/check.h"
#include "codec/pb.h"
#include "codec/utf8.h"

static void varint(struct ts_buf *out, uint64_t value)
{
	if (!ts_buf_room(out, TS_PBW_VARINT))
		return;
	out->n = (size_t)(ts_pbw_store(out->p + out->n, value) - out->p);
}

static void tag(struct ts_buf *out, uint32_t field, enum ts_pb_wire wire)
{
	varint(out, (uint64_t)field << 3 | wire);
}

void ts_pbw_u64(struct ts_buf *out, uint32_t field, uint64_t value)
{
	TS_ASSERT_HOT(out);
	tag(out, field, TS_PB_VARINT);
	varint(out, value);
}

void ts_pbw_i64(struct ts_buf *out, uint32_t field, int64_t value)
{
	TS_ASSERT_HOT(out);
	ts_pbw_u64(out, field, (uint64_t)value);
}

void ts_pbw_fixed64(struct ts_buf *out, uint32_t field, uint64_t value)
{
	uint8_t bytes[8];

	TS_ASSERT_HOT(out);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	tag(out, field, TS_PB_FIXED64);
	ts_buf_put(out, (struct ts_bytes){ bytes, sizeof(bytes) });
}

void ts_pbw_double(struct ts_buf *out, uint32_t field, double value)
{
	uint64_t bits;

	TS_ASSERT_HOT(out);
	memcpy(&bits, &value, sizeof(bits));
	ts_pbw_fixed64(out, field, bits);
}

void ts_pbw_bytes(struct ts_buf *out, uint32_t field, struct ts_bytes bytes)
{
	TS_ASSERT_HOT(out);
	TS_ASSERT_HOT(bytes.p || bytes.n == 0);
	tag(out, field, TS_PB_BYTES);
	varint(out, bytes.n);
	ts_buf_put(out, bytes);
}

static void pbw_put_utf8(struct ts_buf *out, struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = text.p ? text.p + text.n : text.p;

	while (p < end) {
		const uint8_t *start = p;

		if (ts_utf8_next(&p, end) == TS_UTF8_BAD)
			ts_buf_puts(out, TS_UTF8_REPLACEMENT);
		else
			ts_buf_put(out, (struct ts_bytes){ start, (size_t)(p - start) });
	}
}

void ts_pbw_text(struct ts_buf *out, uint32_t field, struct ts_bytes text)
{
	size_t mark = ts_pbw_begin(out, field);

	TS_ASSERT_HOT(out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	pbw_put_utf8(out, text);
	ts_pbw_end(out, mark);
}

size_t ts_pbw_begin(struct ts_buf *out, uint32_t field)
{
	TS_ASSERT_HOT(out && field > 0);
	tag(out, field, TS_PB_BYTES);
	ts_buf_putc(out, 0);
	return out->n;
}

void ts_pbw_end(struct ts_buf *out, size_t mark)
{
	size_t len, more;

	TS_ASSERT_HOT(out);
	if (out->failed)
		return;
	TS_ASSERT_HOT(mark > 0 && mark <= out->n);
	len = out->n - mark;
	more = ts_pbw_size(len) - 1;
	if (more) {
		if (!ts_buf_room(out, more))
			return;
		memmove(out->p + mark + more, out->p + mark, len);
		out->n += more;
	}
	(void)ts_pbw_store(out->p + mark - 1, len);
}
