/* SPDX-License-Identifier: MIT */
/* Releasing and summing what tables of members describe. */
#include "base/record.h"

#include <math.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/room.h"

#define AT(self, offset) ((void *)((char *)(self) + (offset)))
#define CONST_AT(self, offset) ((const void *)((const char *)(self) + (offset)))

size_t ts_number_size(enum ts_number type)
{
	static const uint8_t sizes[] = {
		[TS_NUM_I8] = 1,  [TS_NUM_U8] = 1,
		[TS_NUM_I16] = 2, [TS_NUM_U16] = 2,
		[TS_NUM_I32] = 4, [TS_NUM_U32] = 4,
		[TS_NUM_I64] = 8, [TS_NUM_U64] = 8,
		[TS_NUM_F64] = 8, [TS_NUM_BOOL] = sizeof(bool),
	};

	TS_ASSERT((size_t)type < TS_NELEM(sizes));
	return sizes[type];
}

int64_t ts_number_get(const void *number, enum ts_number type)
{
	switch (type) {
	case TS_NUM_I8:	  return *(const int8_t *)number;
	case TS_NUM_U8:	  return *(const uint8_t *)number;
	case TS_NUM_I16:  return *(const int16_t *)number;
	case TS_NUM_U16:  return *(const uint16_t *)number;
	case TS_NUM_I32:  return *(const int32_t *)number;
	case TS_NUM_U32:  return *(const uint32_t *)number;
	case TS_NUM_I64:  return *(const int64_t *)number;
	case TS_NUM_U64:  return (int64_t)*(const uint64_t *)number;
	case TS_NUM_BOOL: return *(const bool *)number;
	case TS_NUM_F64:  break;
	}
	TS_ASSERT(type != TS_NUM_F64);
	return 0;
}

bool ts_number_set(void *number, enum ts_number type, int64_t value)
{
	switch (type) {
	case TS_NUM_I8:	  *(int8_t *)number = (int8_t)value; break;
	case TS_NUM_U8:	  *(uint8_t *)number = (uint8_t)value; break;
	case TS_NUM_I16:  *(int16_t *)number = (int16_t)value; break;
	case TS_NUM_U16:  *(uint16_t *)number = (uint16_t)value; break;
	case TS_NUM_I32:  *(int32_t *)number = (int32_t)value; break;
	case TS_NUM_U32:  *(uint32_t *)number = (uint32_t)value; break;
	case TS_NUM_I64:  *(int64_t *)number = value; break;
	case TS_NUM_U64:  *(uint64_t *)number = (uint64_t)value; break;
	case TS_NUM_BOOL: *(bool *)number = value != 0; break;
	case TS_NUM_F64:  TS_ASSERT(type != TS_NUM_F64); return false;
	}
	return ts_number_get(number, type) == value;
}

size_t ts_member_nr(const void *self, const struct ts_member *member)
{
	return *(const size_t *)CONST_AT(self, member->nr_at);
}

void ts_member_set_nr(void *self, const struct ts_member *member, size_t nr)
{
	*(size_t *)AT(self, member->nr_at) = nr;
	if (member->cap_at != TS_NO_CAP)
		*(size_t *)AT(self, member->cap_at) = nr;
}

/* Of all NUMBERS and STRUCTS, or of one item of an array. */
size_t ts_member_width(const struct ts_member *member)
{
	if (member->kind == TS_MEMBER_NUMBERS || member->kind == TS_MEMBER_ARRAY)
		return member->item / ts_number_size(member->type);
	if (member->kind == TS_MEMBER_STRUCTS || member->kind == TS_MEMBER_RECORDS)
		return member->item / member->of->size;
	return 1;
}

bool ts_record_is_empty(const struct ts_record *record, const void *item)
{
	return record->empty_at > 0 && *(const int64_t *)CONST_AT(item, record->empty_at - 1) == 0;
}

static void *pointer_at(void *self, const struct ts_member *member)
{
	return *(void **)AT(self, member->offset);
}

static void free_items(const struct ts_member *member, void *items)
{
	if (member->is_room)
		ts_room_free(items);
	else
		free(items);
}

void *ts_member_array(const struct ts_member *member, size_t nr)
{
	return member->is_room ? ts_room_array(NULL, nr, member->item) : calloc(nr, member->item);
}

/* Is there memory that a struct of this kind has apart? */
static bool owns_memory(const struct ts_record *record)
{
	bool owns = false;

	for (size_t i = 0; i < record->nr_members && !owns; i++) {
		const struct ts_member *member = &record->members[i];

		owns = member->kind == TS_MEMBER_STRUCTS ? owns_memory(member->of)
							 : member->kind != TS_MEMBER_NUMBERS &&
								   member->kind != TS_MEMBER_TEXT;
	}
	return owns;
}

/* Asked once for all: each line has a struct for every op. */
static void release_records(const struct ts_record *record, void *items, size_t nr)
{
	if (!items || nr == 0 || !owns_memory(record))
		return;
	for (size_t i = 0; i < nr; i++)
		ts_record_release(record, AT(items, i * record->size));
}

static void release_pointers(const struct ts_record *record, void **items, size_t nr)
{
	for (size_t i = 0; items && i < nr; i++) {
		if (items[i])
			ts_record_release(record, items[i]);
		free(items[i]);
	}
}

static void release_member(const struct ts_member *member, void *self)
{
	size_t width = ts_member_width(member);

	switch (member->kind) {
	case TS_MEMBER_NUMBERS:
	case TS_MEMBER_TEXT:	break;
	case TS_MEMBER_STRUCTS: release_records(member->of, AT(self, member->offset), width); break;
	case TS_MEMBER_MAP:	ts_map_release(AT(self, member->offset)); break;
	case TS_MEMBER_RECORDS:
		release_records(member->of, pointer_at(self, member),
				ts_member_nr(self, member) * width);
		free_items(member, pointer_at(self, member));
		break;
	case TS_MEMBER_POINTERS:
		release_pointers(member->of, pointer_at(self, member), ts_member_nr(self, member));
		free(pointer_at(self, member));
		break;
	case TS_MEMBER_POINTER:
		if (pointer_at(self, member))
			ts_record_release(member->of, pointer_at(self, member));
		free(pointer_at(self, member));
		break;
	case TS_MEMBER_ARRAY:
	case TS_MEMBER_SCRATCH: free_items(member, pointer_at(self, member)); break;
	}
}

void ts_record_release(const struct ts_record *record, void *self)
{
	for (size_t i = 0; i < record->nr_members; i++)
		release_member(&record->members[i], self);
	memset(self, 0, record->size);
}

static int64_t base_record_sum_of(int64_t x, int64_t y, enum ts_sum sum, enum ts_number type)
{
	switch (sum) {
	case TS_ADD:
		return type == TS_NUM_U64 ? (int64_t)((uint64_t)x + (uint64_t)y) : ts_i64_add(x, y);
	case TS_KEEP_KNOWN: return x == TS_NONE ? y : x;
	case TS_ADD_KNOWN:  return x == -1 || y == -1 ? TS_MAX(x, y) : ts_i64_add(x, y);
	case TS_MAX_OF:	    return TS_MAX(x, y);
	case TS_MIN_OF:	    return TS_MIN(x, y);
	case TS_OR:	    return x | y;
	default:	    return x;
	}
}

static double real_sum_of(double x, double y, enum ts_sum sum)
{
	switch (sum) {
	case TS_ADD:	return x + y;
	case TS_MAX_OF: return fmax(x, y);
	case TS_MIN_OF: return fmin(x, y);
	default:	return x;
	}
}

static void merge_numbers(const struct ts_member *member, void *into, const void *from, size_t nr)
{
	size_t size = ts_number_size(member->type);

	if (member->sum == TS_KEEP || member->sum == TS_BY_HAND)
		return;
	for (size_t i = 0; i < nr; i++) {
		void *to = AT(into, i * size);
		const void *add = CONST_AT(from, i * size);

		if (member->type == TS_NUM_F64)
			*(double *)to =
				real_sum_of(*(double *)to, *(const double *)add, member->sum);
		else
			ts_number_set(to, member->type,
				      base_record_sum_of(ts_number_get(to, member->type),
							 ts_number_get(add, member->type),
							 member->sum, member->type));
	}
}

static enum ts_status merge_records(const struct ts_record *record, void *into, void *from,
				    size_t nr, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr && st == TS_OK; i++) {
		void *to = AT(into, i * record->size), *add = AT(from, i * record->size);

		if (ts_record_is_empty(record, add))
			continue;
		if (ts_record_is_empty(record, to)) {
			ts_record_release(record, to);
			/* the other owns what this one owned */
			memcpy(to, add, record->size);
			memset(add, 0, record->size);
		} else {
			st = ts_record_merge(record, to, add, err);
		}
	}
	return st;
}

/* Makes the array of INTO at least NR items long; new ones are zero. */
static enum ts_status base_record_lengthen(const struct ts_member *member, void *into, size_t nr,
					   struct ts_error *err)
{
	size_t has = ts_member_nr(into, member), cap = has;

	if (nr <= has)
		return TS_OK;
	if (nr > SIZE_MAX / member->item)
		return ts_fail_nomem(err);
	if (member->cap_at != TS_NO_CAP)
		cap = *(size_t *)AT(into, member->cap_at);
	if (member->is_room ? !ts_room_grow(NULL, AT(into, member->offset), &cap, nr, member->item)
			    : !ts_grow(AT(into, member->offset), &cap, nr, member->item))
		return ts_fail_nomem(err);
	ts_member_set_nr(into, member, nr);
	if (member->cap_at != TS_NO_CAP)
		*(size_t *)AT(into, member->cap_at) = cap;
	return TS_OK;
}

/* The first array of all moves as it is. */
static bool takes_over(const struct ts_member *member, void *into, void *from)
{
	if (pointer_at(into, member) && ts_member_nr(into, member) > 0)
		return false;
	free_items(member, pointer_at(into, member));
	*(void **)AT(into, member->offset) = pointer_at(from, member);
	ts_member_set_nr(into, member, ts_member_nr(from, member));
	if (member->cap_at != TS_NO_CAP)
		*(size_t *)AT(into, member->cap_at) = *(size_t *)AT(from, member->cap_at);
	*(void **)AT(from, member->offset) = NULL;
	ts_member_set_nr(from, member, 0);
	return true;
}

static enum ts_status base_record_append(const struct ts_member *member, void *into, void *from,
					 struct ts_error *err)
{
	size_t has = ts_member_nr(into, member), nr = ts_member_nr(from, member);
	enum ts_status st;

	if (nr > SIZE_MAX - has)
		return ts_fail_nomem(err);
	st = base_record_lengthen(member, into, has + nr, err);
	if (st)
		return st;
	memcpy(AT(pointer_at(into, member), has * member->item), pointer_at(from, member),
	       nr * member->item);
	ts_member_set_nr(from, member, 0); /* what its items own has moved */
	return TS_OK;
}

static enum ts_status merge_array(const struct ts_member *member, void *into, void *from,
				  struct ts_error *err)
{
	size_t nr = ts_member_nr(from, member), width = ts_member_width(member);
	enum ts_status st;

	if (member->sum == TS_BY_HAND || nr == 0 || !pointer_at(from, member) ||
	    takes_over(member, into, from) || member->sum == TS_KEEP)
		return TS_OK;
	if (member->sum == TS_APPEND)
		return base_record_append(member, into, from, err);
	st = base_record_lengthen(member, into, nr, err);
	if (st)
		return st;
	if (member->kind == TS_MEMBER_RECORDS)
		return merge_records(member->of, pointer_at(into, member), pointer_at(from, member),
				     nr * width, err);
	merge_numbers(member, pointer_at(into, member), pointer_at(from, member), nr * width);
	return TS_OK;
}

static enum ts_status merge_pointer(const struct ts_record *record, void **into, void **from,
				    struct ts_error *err)
{
	if (*from && *into)
		return ts_record_merge(record, *into, *from, err);
	if (*from)
		*into = *from;
	*from = NULL;
	return TS_OK;
}

static enum ts_status merge_pointers(const struct ts_member *member, void *into, void *from,
				     struct ts_error *err)
{
	size_t nr = ts_member_nr(from, member);
	void **items = pointer_at(from, member);
	enum ts_status st;

	if (member->sum == TS_BY_HAND || nr == 0 || takes_over(member, into, from))
		return TS_OK;
	st = base_record_lengthen(member, into, nr, err);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = merge_pointer(member->of, (void **)pointer_at(into, member) + i, &items[i],
				   err);
	return st;
}

static enum ts_status merge_member(const struct ts_member *member, void *into, void *from,
				   struct ts_error *err)
{
	void *to = AT(into, member->offset), *add = AT(from, member->offset);
	struct ts_bytes *text = to;

	switch (member->kind) {
	case TS_MEMBER_NUMBERS: merge_numbers(member, to, add, ts_member_width(member)); break;
	case TS_MEMBER_STRUCTS:
		return merge_records(member->of, to, add, ts_member_width(member), err);
	case TS_MEMBER_ARRAY:
	case TS_MEMBER_RECORDS:	 return merge_array(member, into, from, err);
	case TS_MEMBER_POINTERS: return merge_pointers(member, into, from, err);
	case TS_MEMBER_POINTER:	 return merge_pointer(member->of, to, add, err);
	case TS_MEMBER_TEXT:
		if (!text->p)
			*text = *(struct ts_bytes *)add;
		break;
	case TS_MEMBER_MAP:
	case TS_MEMBER_SCRATCH: break;
	}
	return TS_OK;
}

enum ts_status ts_record_merge(const struct ts_record *record, void *into, void *from,
			       struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < record->nr_members && st == TS_OK; i++)
		st = merge_member(&record->members[i], into, from, err);
	return st;
}
