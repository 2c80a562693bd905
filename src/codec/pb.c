/* SPDX-License-Identifier: MIT */
/*
 * Protobuf wire format (protobuf.dev, "Encoding"): a tag varint, then a varint, 8 bytes, 4 bytes or
 * a length and that number of bytes. Groups (wire types 3 and 4) were given up in 2008 and are an
 * error. Of a number with more than 64 bits the upper ones are dropped, as protobuf's own classes do.
 */
#include "codec/pb.h"

#include "base/check.h"

bool ts_pb_varint_any(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	const uint8_t *q = *p;
	uint64_t v = 0;

	TS_ASSERT_HOT(value);
	for (unsigned shift = 0; q < end && shift < 70; shift += 7) {
		uint8_t byte = *q++;

		v |= (uint64_t)(byte & 127) << shift; /* of the tenth byte one bit is left */
		if (byte < 128) {
			*value = v;
			*p = q;
			return true;
		}
	}
	return false;
}

bool ts_pb_varint_long(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	TS_ASSERT_HOT(p && value);
	return end - *p < TS_PB_PADDING ? ts_pb_varint_any(p, end, value)
					: ts_pb_varint_padded(p, end, value);
}

bool ts_pb_fail(struct ts_pb *pb, const uint8_t *at, const char *cause)
{
	TS_ASSERT_HOT(pb && cause);
	if (!pb->err->cause)
		*pb->err = (struct ts_pb_error){ cause, at };
	pb->p = pb->end;
	return false;
}

static bool fixed(struct ts_pb *pb, size_t n)
{
	uint64_t value = 0;

	if ((size_t)(pb->end - pb->p) < n)
		return ts_pb_fail(pb, pb->p, "a fixed-size field is cut off");
	for (size_t i = n; i-- > 0;)
		value = value << 8 | pb->p[i];
	pb->value = value;
	pb->len = n;
	pb->p += n;
	return true;
}

bool ts_pb_next_any(struct ts_pb *pb)
{
	const uint8_t *start = pb->p;
	uint64_t tag;

	TS_ASSERT_HOT(pb);
	if (pb->p >= pb->end || pb->err->cause)
		return false;
	if (!ts_pb_varint(&pb->p, pb->end, &tag))
		return ts_pb_fail(pb, start, "a field's tag is cut off or too long");
	if (tag > UINT32_MAX || tag >> 3 == 0)
		return ts_pb_fail(pb, start, "no field has this tag");
	pb->field = (uint32_t)(tag >> 3);
	pb->wire = (uint32_t)(tag & 7);
	pb->data = pb->p;
	switch (pb->wire) {
	case TS_PB_VARINT:
		if (!ts_pb_varint(&pb->p, pb->end, &pb->value))
			return ts_pb_fail(pb, pb->data, "a number is cut off or too long");
		return true;
	case TS_PB_FIXED64: return fixed(pb, 8);
	case TS_PB_FIXED32: return fixed(pb, 4);
	case TS_PB_BYTES:
		if (!ts_pb_varint(&pb->p, pb->end, &pb->value))
			return ts_pb_fail(pb, pb->data, "a length is cut off or too long");
		if (pb->value > (uint64_t)(pb->end - pb->p))
			return ts_pb_fail(pb, pb->data, "a field is longer than what is left");
		pb->data = pb->p;
		pb->len = (size_t)pb->value;
		pb->p += pb->len;
		return true;
	default: return ts_pb_fail(pb, start, "a wire type that protobuf does not have");
	}
}

double ts_pb_double(const struct ts_pb *pb)
{
	uint64_t bits = pb->value;
	uint32_t half = (uint32_t)bits;
	double value = 0;
	float small = 0;

	TS_ASSERT_HOT(pb);
	if (pb->wire == TS_PB_FIXED64)
		memcpy(&value, &bits, sizeof(value));
	else if (pb->wire == TS_PB_FIXED32) {
		memcpy(&small, &half, sizeof(small));
		value = (double)small;
	}
	return value;
}
