/* SPDX-License-Identifier: MIT */
/*
 * Records: what the members of a struct are, in one table, from which follow its release, its sum
 * with another one, and its saved form (codec/record.h). For the states of analyses, which are made
 * on one thread, summed up on another, and may be saved on one machine and loaded on the next.
 *
 *	#define TS_SELF struct op_sum
 *	static TS_RECORD_WITH(op_sum, TS_EMPTY(occurrences), TS_NUMBER(1, occurrences, TS_ADD),
 *			      TS_NUMBER(2, self_ps, TS_ADD),
 *			      TS_INDEX(3, device, TS_BY_DEVICE, TS_KEEP));
 *	#undef TS_SELF
 *
 *	#define TS_SELF struct ops_state
 *	static TS_RECORD(ops, TS_RECORDS(1, ops, nr_ops, op_sum_record, TS_BY_OP, TS_ADD),
 *			 TS_SCRATCH(seen));
 *	#undef TS_SELF
 *
 * The first argument is the member's number in the saved form: it stays with the member for ever,
 * and a number that was used once is not used again. A member that is not in the table is not saved,
 * not summed and not freed: a position inside a line, a pointer to what another owns.
 *
 * Ownership: arrays and pointers are of the heap and belong to the record. Texts are views; a loaded
 * text lies in the arena that was given to the load.
 */
#ifndef TS_BASE_RECORD_H
#define TS_BASE_RECORD_H

#include <stddef.h>

#include "base/map.h"

enum ts_member_kind {
	TS_MEMBER_NUMBERS,  /* one number or a fixed array of them, inside the struct */
	TS_MEMBER_STRUCTS,  /* one record or a fixed array of them, inside the struct */
	TS_MEMBER_ARRAY,    /* a heap array of numbers, or of fixed arrays of them */
	TS_MEMBER_RECORDS,  /* a heap array of records, or of fixed arrays of them */
	TS_MEMBER_POINTERS, /* a heap array of pointers, each to a record of the heap or NULL */
	TS_MEMBER_POINTER,  /* to a record of the heap, or NULL */
	TS_MEMBER_TEXT,	    /* struct ts_bytes */
	TS_MEMBER_MAP,	    /* struct ts_map */
	TS_MEMBER_SCRATCH,  /* heap memory that is freed, and neither saved nor summed */
};

enum ts_number {
	TS_NUM_I8,
	TS_NUM_U8,
	TS_NUM_I16,
	TS_NUM_U16,
	TS_NUM_I32,
	TS_NUM_U32,
	TS_NUM_I64,
	TS_NUM_U64,
	TS_NUM_F64,
	TS_NUM_BOOL
};

/* How a member of one state is summed with that of another. Arrays are summed item by item, and the
 * sum has the length of the longer one; or they are appended. */
enum ts_sum {
	TS_BY_HAND,    /* not here: the analysis' own .merge does it */
	TS_KEEP,       /* the first one's value stays */
	TS_KEEP_KNOWN, /* likewise, of indices; the first that is not TS_NONE */
	TS_ADD,	       /* integers saturate */
	TS_ADD_KNOWN,  /* likewise; -1 is unknown, and adds nothing to a known one */
	TS_MAX_OF,
	TS_MIN_OF,
	TS_OR,
	TS_APPEND, /* of arrays: the items of the second behind those of the first */
};

/* What a number is an index into, or what an array is indexed by. A loaded index is held against the
 * counts of the run, so that it can be used without another look; UINT32_MAX (TS_NONE) passes where
 * the member may be unknown, and not in a TS_INDEX_KNOWN. */
enum ts_by {
	TS_BY_NOTHING,
	TS_BY_HOST,
	TS_BY_PLANE,
	TS_BY_LINE,
	TS_BY_DEVICE,
	TS_BY_OP,
	TS_BY_MODULE,
	TS_NR_BY
};

struct ts_record;
struct ts_member {
	const char *name;
	uint32_t number; /* in the saved form; 0: scratch */
	enum ts_member_kind kind;
	enum ts_number type; /* of numbers */
	enum ts_sum sum;
	enum ts_by by;
	bool is_known; /* of an index: it is never TS_NONE */
	bool is_room; /* of a heap array: made as a room (base/room.h), as all are that have an item an op */
	size_t offset;
	size_t item; /* bytes of an item of a heap array; of NUMBERS and STRUCTS: of it all */
	size_t nr_at,
		cap_at; /* offsets of the array's size_t members; cap_at NO_CAP: it has none */
	const struct ts_record *of;
};
#define TS_NO_CAP SIZE_MAX

struct ts_record {
	const char *name;
	size_t size;
	const struct ts_member *members;
	size_t nr_members;
	/* 1 + the offset of an int64_t that is 0 in an item that holds nothing; 0: there is none. Empty
	 * items of an array are not saved, and in a sum an empty item becomes the other one. */
	size_t empty_at;
	/* Whether loaded members make a state that could have been saved; NULL: any do. */
	bool (*is_valid)(const void *record);
};

/* clang-format off */
#define TS_RECORD(name, ...) TS_RECORD_AS(name##_record, name, , __VA_ARGS__)
#define TS_RECORD_WITH(name, option, ...) TS_RECORD_AS(name##_record, name, option, __VA_ARGS__)
#define TS_RECORD_AS(record, of_members, option, ...) \
	const struct ts_record record = { \
		.name = #of_members "_members", .size = sizeof(TS_SELF), \
		.members = (const struct ts_member[]){ __VA_ARGS__ }, \
		.nr_members = TS_NELEM(((const struct ts_member[]){ __VA_ARGS__ })), option }
/* Options. */
#define TS_EMPTY(count) .empty_at = 1 + offsetof(TS_SELF, count)
#define TS_VALID_IF(function) .is_valid = (function)

#define TS_NUMBER(id, name, how) TS_INDEX(id, name, TS_BY_NOTHING, how)
#define TS_INDEX(id, name, what, how) \
	{ TS_MEMBER_(id, NUMBERS, name), TS_NUMBER_(TS_OF_SELF(name), how), .by = (what), \
	  .item = sizeof(TS_OF_SELF(name)) }
#define TS_INDEX_KNOWN(id, name, what, how) \
	{ TS_MEMBER_(id, NUMBERS, name), TS_NUMBER_(TS_OF_SELF(name), how), .by = (what), \
	  .is_known = true, .item = sizeof(TS_OF_SELF(name)) }
#define TS_NUMBERS(id, name, how) /* a fixed array inside */ \
	{ TS_MEMBER_(id, NUMBERS, name), TS_NUMBER_(TS_OF_SELF(name)[0], how), \
	  .item = sizeof(TS_OF_SELF(name)) }
#define TS_INDICES(id, name, what, how) /* likewise */ \
	{ TS_MEMBER_(id, NUMBERS, name), TS_NUMBER_(TS_OF_SELF(name)[0], how), .by = (what), \
	  .item = sizeof(TS_OF_SELF(name)) }
#define TS_STRUCT(id, name, record) /* one, or a fixed array inside */ \
	{ TS_MEMBER_(id, STRUCTS, name), .of = &(record), .item = sizeof(TS_OF_SELF(name)) }

#define TS_ARRAY(id, name, nr, what, how) \
	{ TS_MEMBER_(id, ARRAY, name), TS_NUMBER_(TS_OF_SELF(name)[0], how), TS_ITEMS_(name, nr, what), \
	  .cap_at = TS_NO_CAP }
#define TS_ARRAY_OF_ARRAYS(id, name, nr, what, how) /* int64_t (*step_ps)[8] */ \
	{ TS_MEMBER_(id, ARRAY, name), TS_NUMBER_(TS_OF_SELF(name)[0][0], how), \
	  TS_ITEMS_(name, nr, what), .cap_at = TS_NO_CAP }
#define TS_RECORDS(id, name, nr, record, what, how) \
	{ TS_MEMBER_(id, RECORDS, name), .of = &(record), .sum = (how), TS_ITEMS_(name, nr, what), \
	  .is_room = (what) == TS_BY_OP, .cap_at = TS_NO_CAP }
#define TS_POINTERS(id, name, nr, record, what, how) \
	{ TS_MEMBER_(id, POINTERS, name), .of = &(record), .sum = (how), TS_ITEMS_(name, nr, what), \
	  .cap_at = TS_NO_CAP }
#define TS_POINTER(id, name, record) \
	{ TS_MEMBER_(id, POINTER, name), .of = &(record) }
/* Arrays that grow: with their counts nr_NAME and cap_NAME. */
#define TS_LIST(id, name, record, how) \
	{ TS_MEMBER_(id, RECORDS, name), .of = &(record), .sum = (how), \
	  TS_ITEMS_(name, nr_##name, TS_BY_NOTHING), .cap_at = offsetof(TS_SELF, cap_##name) }
#define TS_ROOM_LIST(id, name, record, how) \
	{ TS_MEMBER_(id, RECORDS, name), .of = &(record), .sum = (how), \
	  TS_ITEMS_(name, nr_##name, TS_BY_NOTHING), .is_room = true, .cap_at = offsetof(TS_SELF, cap_##name) }
#define TS_NUMBER_LIST(id, name, how) \
	{ TS_MEMBER_(id, ARRAY, name), TS_NUMBER_(TS_OF_SELF(name)[0], how), \
	  TS_ITEMS_(name, nr_##name, TS_BY_NOTHING), .cap_at = offsetof(TS_SELF, cap_##name) }
/* Where the counts have other names. */
#define TS_RECORDS_CAP(id, name, nr, cap, record, what, how) \
	{ TS_MEMBER_(id, RECORDS, name), .of = &(record), .sum = (how), TS_ITEMS_(name, nr, what), \
	  .cap_at = offsetof(TS_SELF, cap) }
#define TS_ARRAY_CAP(id, name, nr, cap, what, how) \
	{ TS_MEMBER_(id, ARRAY, name), TS_NUMBER_(TS_OF_SELF(name)[0], how), TS_ITEMS_(name, nr, what), \
	  .cap_at = offsetof(TS_SELF, cap) }

#define TS_TEXT(id, name) { TS_MEMBER_(id, TEXT, name), .sum = TS_KEEP }
#define TS_MAP(id, name) { TS_MEMBER_(id, MAP, name) }
#define TS_SCRATCH(name) { TS_MEMBER_(0, SCRATCH, name) }
#define TS_SCRATCH_ROOM(name) { TS_MEMBER_(0, SCRATCH, name), .is_room = true }
#define TS_SCRATCH_RECORDS(name, nr, record) /* whose items own memory */ \
	{ TS_MEMBER_(0, RECORDS, name), .of = &(record), TS_ITEMS_(name, nr, TS_BY_NOTHING), \
	  .cap_at = TS_NO_CAP }

/* Pieces of the above. */
#define TS_OF_SELF(member) (((TS_SELF *)0)->member)
#define TS_MEMBER_(id, what, member) \
	.name = #member, .number = (id), .kind = TS_MEMBER_##what, .offset = offsetof(TS_SELF, member)
#define TS_ITEMS_(member, nr, what) \
	.item = sizeof(TS_OF_SELF(member)[0]), .nr_at = offsetof(TS_SELF, nr), .by = (what)
#define TS_NUMBER_(expression, how) .type = TS_NUMBER_TYPE(expression), .sum = (how)
#define TS_NUMBER_TYPE(expression) \
	_Generic((expression), bool: TS_NUM_BOOL, char: TS_NUM_I8, signed char: TS_NUM_I8, unsigned char: TS_NUM_U8, \
		 short: TS_NUM_I16, unsigned short: TS_NUM_U16, int: TS_NUM_I32, unsigned: TS_NUM_U32, \
		 long: TS_NUM_I64, unsigned long: TS_NUM_U64, long long: TS_NUM_I64, unsigned long long: TS_NUM_U64, \
		 double: TS_NUM_F64)
/* clang-format on */

/* Bytes of a number of this type. */
size_t ts_number_size(enum ts_number type);
/* Integers of all types as an int64_t (of 64 unsigned bits: the same bits). Not of TS_NUM_F64. */
int64_t ts_number_get(const void *number, enum ts_number type);
/* False: VALUE does not fit into the type. */
bool ts_number_set(void *number, enum ts_number type, int64_t value);

/* Items of a heap array, and the numbers or records in one item. */
size_t ts_member_nr(const void *self, const struct ts_member *member);
void ts_member_set_nr(void *self, const struct ts_member *member, size_t nr);
size_t ts_member_width(const struct ts_member *member);
/* A new array of that many items, cleared; NULL: no memory. */
void *ts_member_array(const struct ts_member *member, size_t nr);
/* Whether an item of an array of this record holds nothing. */
bool ts_record_is_empty(const struct ts_record *record, const void *item);

/* Frees what SELF owns and sets it to zero. */
void ts_record_release(const struct ts_record *record, void *self);

/* Adds FROM to INTO (zeroed before the first time). What FROM owns may move into INTO; FROM can only
 * be released afterwards. */
enum ts_status ts_record_merge(const struct ts_record *record, void *into, void *from,
			       struct ts_error *err);

#endif
