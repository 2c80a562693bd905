/* SPDX-License-Identifier: MIT */
/* protobuf.dev/programming-guides/encoding; groups are no fields here, as in codec/pb.h. */
#include "io/wire.h"

#include "base/check.h"

enum { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 = 5 };

bool ts_wire_varint(struct ts_bytes *text, uint64_t *value)
{
	TS_ASSERT(text && value);
	*value = 0;
	for (unsigned shift = 0; text->n > 0 && shift < 64; shift += 7) {
		uint8_t byte = text->p[0];

		*text = ts_bytes_cut(*text, 1, text->n);
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

bool ts_wire_field(struct ts_bytes *text, uint64_t *tag, struct ts_bytes *value)
{
	uint64_t n = 0;

	TS_ASSERT(text && tag && value);
	*value = (struct ts_bytes){ NULL, 0 };
	if (!ts_wire_varint(text, tag))
		return false;
	switch (*tag & 7) {
	case WIRE_VARINT:  return ts_wire_varint(text, &n);
	case WIRE_FIXED64: n = 8; break;
	case WIRE_FIXED32: n = 4; break;
	case WIRE_BYTES:
		if (!ts_wire_varint(text, &n))
			return false;
		break;
	default: return false;
	}
	*value = ts_bytes_cut(*text, 0, (size_t)TS_MIN(n, text->n));
	*text = ts_bytes_cut(*text, value->n, text->n);
	return true;
}
