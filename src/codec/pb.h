/* SPDX-License-Identifier: MIT */
/*
 * A cursor over protobuf wire bytes, read in place.
 *
 *	while (ts_pb_next(&pb))
 *		switch (pb.field) {
 *		case LINE_NAME:   name = ts_pb_bytes(&pb);           break;
 *		case LINE_EVENTS: read_event(ts_pb_enter(&pb));      break;
 *		}
 *
 * ts_pb_next() checks tag, length and end before it says true; unknown fields are skipped by not
 * asking for them. Bytes are views into the input. The first bad byte is noted in the ts_pb_error
 * that all nested cursors share; then every loop ends, and the outermost reader checks the error
 * once. A field of another wire type than asked for reads as 0 or empty, as a newer writer may
 * send.
 */
#ifndef TS_CODEC_PB_H
#define TS_CODEC_PB_H

#include "base/bytes.h"

struct ts_pb_error {
	const char *cause; /* NULL: all is well */
	const uint8_t *at; /* the bad byte */
};

enum ts_pb_wire { TS_PB_VARINT = 0, TS_PB_FIXED64 = 1, TS_PB_BYTES = 2, TS_PB_FIXED32 = 5 };

struct ts_pb {
	const uint8_t *p, *end;
	struct ts_pb_error *err;
	uint32_t field;
	uint32_t wire;
	uint64_t value; /* of a varint or fixed field */
	const uint8_t
		*data; /* of a length-delimited field; at other times where the value begins */
	size_t len;
};

static inline struct ts_pb ts_pb_of(struct ts_bytes bytes, struct ts_pb_error *err)
{
	return (struct ts_pb){ .p = bytes.p,
			       .end = bytes.p ? bytes.p + bytes.n : bytes.p,
			       .err = err };
}

bool ts_pb_fail(struct ts_pb *pb, const uint8_t *at, const char *cause); /* false; the first wins */

/* A varint's low seven bits of each of eight bytes, put together. */
static inline uint64_t ts_pb_squeeze(uint64_t w)
{
	w = (w & 0x7f007f007f007f00u) >> 1 | (w & 0x007f007f007f007fu);
	w = (w & 0x3fff00003fff0000u) >> 2 | (w & 0x00003fff00003fffu);
	return w >> 32 << 28 | (uint32_t)w;
}

bool ts_pb_varint_any(const uint8_t **p, const uint8_t *end, uint64_t *value);
bool ts_pb_varint_long(const uint8_t **p, const uint8_t *end, uint64_t *value);

#define TS_PB_PADDING 8 /* bytes that may be looked at behind an end */

/*
 * Reads a varint at *P into *VALUE and moves *P behind it. False: it does not end before END, or is
 * longer than ten bytes. Up to eight bytes are taken at once: times in ps have seven. TS_PB_PADDING bytes
 * at *P may be looked at, wherever END is.
 */
static inline bool ts_pb_varint_padded(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	const uint8_t *q = *p;
	uint64_t word, stops;

	memcpy(&word, q, sizeof(word)); /* little-endian: configure sees to it */
	if (q < end && (word & 128) == 0) {
		*value = word & 127;
		*p = q + 1;
		return true;
	}
	stops = ~word & 0x8080808080808080u;
	if (stops == 0)
		return ts_pb_varint_any(p, end, value);
	q += (unsigned)__builtin_ctzll(stops) / 8 + 1;
	if (q > end)
		return false;
	*value = ts_pb_squeeze(word & (stops ^ (stops - 1)));
	*p = q;
	return true;
}

/* The same of bytes that may be looked at up to END alone. */
static inline bool ts_pb_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	const uint8_t *q = *p;

	if (q < end && *q < 128) {
		*value = *q;
		*p = q + 1;
		return true;
	}
	return ts_pb_varint_long(p, end, value);
}

bool ts_pb_next_any(struct ts_pb *pb); /* ts_pb_next() without its short cut */

/*
 * The next field. False at the end, and for good after an error. Most fields of an event have a tag
 * of one byte and a number or length of a few bytes: those are read right here.
 */
static inline bool ts_pb_next(struct ts_pb *pb)
{
	const uint8_t *p = pb->p;
	uint64_t value;
	uint8_t tag;

	if (pb->end - p < 2 || p[0] >= 128 || p[0] < 8 || ((p[0] & 7) & ~TS_PB_BYTES) != 0 ||
	    pb->err->cause)
		return ts_pb_next_any(pb);
	tag = *p++;
	pb->data = p;
	if (!ts_pb_varint(&p, pb->end, &value))
		return ts_pb_next_any(pb);
	if ((tag & 7) == TS_PB_BYTES) {
		if (value > (uint64_t)(pb->end - p))
			return ts_pb_next_any(pb);
		pb->data = p;
		pb->len = (size_t)value;
		p += pb->len;
	}
	pb->field = tag >> 3;
	pb->wire = tag & 7;
	pb->value = value;
	pb->p = p;
	return true;
}

static inline uint64_t ts_pb_u64(const struct ts_pb *pb)
{
	return pb->wire == TS_PB_BYTES ? 0 : pb->value;
}

static inline int64_t ts_pb_i64(const struct ts_pb *pb)
{
	return (int64_t)ts_pb_u64(pb);
}

static inline struct ts_bytes ts_pb_bytes(const struct ts_pb *pb)
{
	if (pb->wire != TS_PB_BYTES)
		return (struct ts_bytes){ NULL, 0 };
	return (struct ts_bytes){ pb->data, pb->len };
}

static inline struct ts_pb ts_pb_enter(const struct ts_pb *pb)
{
	return ts_pb_of(ts_pb_bytes(pb), pb->err);
}

double ts_pb_double(const struct ts_pb *pb);

#endif
