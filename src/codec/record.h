/* SPDX-License-Identifier: MIT */
/*
 * The saved form of records (base/record.h), in protobuf's wire format, so that any protobuf library
 * can walk it: each member is a field with the member's number. Members that are zero are left out.
 *
 *	number				varint, zigzag; a double: fixed64
 *	fixed array			bytes: the numbers as in a column
 *	struct				message
 *	array of numbers		bytes: a column
 *	array of records		message: 1 the number of items; 2 a column of the places of those that
 *					are not empty, where some may be; then, of a record that is numbers
 *					alone, at 2 + its number a column of each member; else 3 a message
 *					an item
 *	pointers			as an array of records, those that are NULL being the empty ones
 *	text				bytes
 *	map				message: 1 the column of keys in their order, 2 of their values
 *
 * A column is a varint, zigzag, of each number's difference to the one before it; of doubles and of
 * numbers of eight bits it is the numbers as they are. The bytes depend on the content alone, so equal states have equal bytes.
 */
#ifndef TS_CODEC_RECORD_H
#define TS_CODEC_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/record.h"

/* When memory runs out, the buffer's .failed is set: check it once at the end. */
void ts_record_save(const struct ts_record *record, const void *self, struct ts_buf *out);

/* What a loaded record may refer to. */
struct ts_record_limits {
	size_t nr[TS_NR_BY]; /* indices of each kind are below; of TS_BY_NOTHING it is not asked */
};

/*
 * Fills SELF, which is zeroed, from saved bytes. Texts go into ARENA. Fields of a newer version are
 * passed over; an index out of range, or an array that does not fit, is TS_FORMAT. SELF is released
 * by the caller in any case.
 */
enum ts_status ts_record_load(const struct ts_record *record, void *self, struct ts_bytes bytes,
			      const struct ts_record_limits *limits, struct ts_arena *arena,
			      struct ts_error *err);

#endif
