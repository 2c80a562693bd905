/* SPDX-License-Identifier: MIT */
/* Records to bytes and back, by their tables of members. */
#include "codec/record.h"

#include "base/check.h"
#include "base/limits.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "base/order.h"

#define AT(self, offset)       ((void *)((char *)(self) + (offset)))
#define CONST_AT(self, offset) ((const void *)((const char *)(self) + (offset)))

/* Behind the two come the columns, at 2 + the member's number; or the items, at 3. */
enum { ITEMS_NR = 1, ITEMS_PLACES, ITEMS_MESSAGES };
enum { MAP_KEYS = 1, MAP_VALUES };

static uint64_t codec_record_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t zagzig(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* ---- saving ---- */

static void codec_record_put_varint(struct ts_buf *out, uint64_t value)
{
	uint8_t bytes[TS_PBW_VARINT];

	ts_buf_put(out, (struct ts_bytes){ bytes, (size_t)(ts_pbw_store(bytes, value) - bytes) });
}

/* Whether a column has its numbers as they are in memory. */
static bool codec_record_is_plain(enum ts_number type)
{
	return type == TS_NUM_F64 || type == TS_NUM_I8 || type == TS_NUM_U8;
}

/* A number of a column, and the number before it, from which it is the difference. */
static void put_in_column(struct ts_buf *out, const void *number, enum ts_number type,
			  int64_t *before)
{
	if (codec_record_is_plain(type)) {
		ts_buf_put(out, (struct ts_bytes){ number, ts_number_size(type) });
		return;
	}
	codec_record_put_varint(
		out, codec_record_zigzag(
			     (int64_t)((uint64_t)ts_number_get(number, type) - (uint64_t)*before)));
	*before = ts_number_get(number, type);
}

static void codec_record_put_column(struct ts_buf *out, uint32_t field, const void *numbers,
				    enum ts_number type, size_t nr)
{
	size_t mark = ts_pbw_begin(out, field);
	int64_t before = 0;

	for (size_t i = 0; i < nr; i++)
		put_in_column(out, CONST_AT(numbers, i * ts_number_size(type)), type, &before);
	ts_pbw_end(out, mark);
}

static void codec_record_put_numbers(struct ts_buf *out, const struct ts_member *member,
				     const void *numbers)
{
	size_t width = ts_member_width(member);

	if (ts_bytes_are_zero((struct ts_bytes){ numbers, member->item }))
		return;
	if (width > 1)
		codec_record_put_column(out, member->number, numbers, member->type, width);
	else if (member->type == TS_NUM_F64)
		ts_pbw_double(out, member->number, *(const double *)numbers);
	else
		ts_pbw_u64(out, member->number,
			   codec_record_zigzag(ts_number_get(numbers, member->type)));
}

/* Whether the items of an array can be saved column by column. */
static bool is_flat(const struct ts_record *record)
{
	for (size_t i = 0; i < record->nr_members; i++)
		if (record->members[i].kind != TS_MEMBER_NUMBERS ||
		    ts_member_width(&record->members[i]) != 1)
			return false;
	return true;
}

/* The items of an array of records or of pointers to them; NULL: the item holds nothing. */
struct items {
	const struct ts_record *record;
	const void *at;
	size_t nr;
	bool pointers;
};

static const void *item_at(const struct items *items, size_t i)
{
	const void *item = items->pointers ? ((void *const *)items->at)[i]
					   : CONST_AT(items->at, i * items->record->size);

	return item && (items->pointers || !ts_record_is_empty(items->record, item)) ? item : NULL;
}

static void codec_record_put_places(struct ts_buf *out, const struct items *items)
{
	size_t mark = ts_pbw_begin(out, ITEMS_PLACES);
	int64_t before = 0;

	for (size_t i = 0; i < items->nr; i++) {
		int64_t place = (int64_t)i;

		if (item_at(items, i))
			put_in_column(out, &place, TS_NUM_I64, &before);
	}
	ts_pbw_end(out, mark);
}

static void put_item_column(struct ts_buf *out, const struct items *items,
			    const struct ts_member *member)
{
	size_t mark = ts_pbw_begin(out, ITEMS_PLACES + member->number);
	int64_t before = 0;

	for (size_t i = 0; i < items->nr; i++)
		if (item_at(items, i))
			put_in_column(out, CONST_AT(item_at(items, i), member->offset),
				      member->type, &before);
	ts_pbw_end(out, mark);
}

static void codec_record_put_items(struct ts_buf *out, uint32_t field, const struct items *items)
{
	size_t mark = ts_pbw_begin(out, field), message;

	ts_pbw_u64(out, ITEMS_NR, items->nr);
	if (items->pointers || items->record->empty_at > 0)
		codec_record_put_places(out, items);
	for (size_t m = 0; is_flat(items->record) && m < items->record->nr_members; m++)
		put_item_column(out, items, &items->record->members[m]);
	for (size_t i = 0; !is_flat(items->record) && i < items->nr; i++) {
		if (!item_at(items, i))
			continue;
		message = ts_pbw_begin(out, ITEMS_MESSAGES);
		ts_record_save(items->record, item_at(items, i), out);
		ts_pbw_end(out, message);
	}
	ts_pbw_end(out, mark);
}

static void put_map(struct ts_buf *out, uint32_t field, const struct ts_map *map)
{
	uint64_t *keys = malloc((map->nr + 1) * sizeof(*keys));
	size_t mark, column, nr = 0, at = 0;
	int64_t before = 0;
	uint64_t key;

	if (!keys) {
		out->failed = true;
		return;
	}
	while (ts_map_walk(map, &at, &key))
		keys[nr++] = key;
	qsort(keys, nr, sizeof(*keys), ts_u64_order);
	mark = ts_pbw_begin(out, field);
	codec_record_put_column(out, MAP_KEYS, keys, TS_NUM_U64, nr);
	column = ts_pbw_begin(out, MAP_VALUES);
	for (size_t i = 0; i < nr; i++) {
		uint32_t value = ts_map_find(map, keys[i]);

		put_in_column(out, &value, TS_NUM_U32, &before);
	}
	ts_pbw_end(out, column);
	ts_pbw_end(out, mark);
	free(keys);
}

static void put_struct(struct ts_buf *out, const struct ts_member *member, const void *self)
{
	size_t width = ts_member_width(member), mark;

	if (width > 1) {
		codec_record_put_items(
			out, member->number,
			&(struct items){ .record = member->of, .at = self, .nr = width });
		return;
	}
	mark = ts_pbw_begin(out, member->number);
	ts_record_save(member->of, self, out);
	ts_pbw_end(out, mark);
}

static void codec_record_put_member(struct ts_buf *out, const struct ts_member *member,
				    const void *self)
{
	const void *at = CONST_AT(self, member->offset), *items = at;
	size_t nr = 0, mark;

	if (member->kind >= TS_MEMBER_ARRAY && member->kind <= TS_MEMBER_POINTER)
		items = *(void *const *)at;
	if (member->kind >= TS_MEMBER_ARRAY && member->kind <= TS_MEMBER_POINTERS)
		nr = items ? ts_member_nr(self, member) * ts_member_width(member) : 0;
	switch (member->kind) {
	case TS_MEMBER_NUMBERS: codec_record_put_numbers(out, member, at); break;
	case TS_MEMBER_STRUCTS: put_struct(out, member, at); break;
	case TS_MEMBER_ARRAY:
		if (nr > 0)
			codec_record_put_column(out, member->number, items, member->type, nr);
		break;
	case TS_MEMBER_RECORDS:
	case TS_MEMBER_POINTERS:
		if (nr > 0)
			codec_record_put_items(
				out, member->number,
				&(struct items){ member->of, items, nr,
						 member->kind == TS_MEMBER_POINTERS });
		break;
	case TS_MEMBER_POINTER:
		if (!items)
			break;
		mark = ts_pbw_begin(out, member->number);
		ts_record_save(member->of, items, out);
		ts_pbw_end(out, mark);
		break;
	case TS_MEMBER_TEXT:
		if (((const struct ts_bytes *)at)->p)
			ts_pbw_bytes(out, member->number, *(const struct ts_bytes *)at);
		break;
	case TS_MEMBER_MAP:
		if (((const struct ts_map *)at)->nr > 0)
			put_map(out, member->number, at);
		break;
	case TS_MEMBER_SCRATCH: break;
	}
}

void ts_record_save(const struct ts_record *record, const void *self, struct ts_buf *out)
{
	for (size_t i = 0; i < record->nr_members; i++)
		if (record->members[i].number > 0)
			codec_record_put_member(out, &record->members[i], self);
}

/* ---- loading ---- */

/* A load in progress. */
struct load {
	const struct ts_record *record; /* the outermost, for the story */
	struct ts_bytes bytes;
	const struct ts_record_limits *limits;
	struct ts_arena *arena;
	struct ts_pb_error damage;
	int depth;
	struct ts_error *err;
};

static enum ts_status load_record(struct load *load, const struct ts_record *record, void *self,
				  struct ts_pb pb);

/* Of what was read so far: the cursor notes where it met damage. */
static enum ts_status codec_record_check(const struct load *load)
{
	if (!load->damage.cause)
		return TS_OK;
	return ts_fail(load->err, TS_FORMAT, "%s: %s at byte %zu (save the state again)",
		       load->record->name, load->damage.cause,
		       (size_t)(load->damage.at - load->bytes.p));
}

static enum ts_status codec_record_bad(struct load *load, const uint8_t *at, const char *cause)
{
	if (!load->damage.cause)
		load->damage = (struct ts_pb_error){ cause, at };
	return codec_record_check(load);
}

static bool is_in_range(const struct load *load, const struct ts_member *member, int64_t value)
{
	if (member->by == TS_BY_NOTHING || (value == TS_NONE && !member->is_known))
		return true;
	return value >= 0 && (uint64_t)value < load->limits->nr[member->by];
}

/* The numbers of a column, one after the other. */
struct column {
	const uint8_t *p, *end;
	int64_t before;
};

static enum ts_status next_in_column(struct load *load, struct column *column, void *number,
				     enum ts_number type)
{
	size_t size = ts_number_size(type);
	uint64_t value;

	if (codec_record_is_plain(type)) {
		if ((size_t)(column->end - column->p) < size)
			return codec_record_bad(load, column->p, "a column is too short");
		memcpy(number, column->p, size);
		column->p += size;
		return TS_OK;
	}
	if (!ts_pb_varint(&column->p, column->end, &value))
		return codec_record_bad(load, column->p, "a column is too short");
	column->before = (int64_t)((uint64_t)column->before + (uint64_t)zagzig(value));
	if (!ts_number_set(number, type, column->before))
		return codec_record_bad(load, column->p, "a number is too large");
	return TS_OK;
}

static struct column column_of(const struct ts_pb *pb)
{
	struct ts_bytes bytes = ts_pb_bytes(pb);

	return (struct column){ bytes.p, bytes.p ? bytes.p + bytes.n : NULL, 0 };
}

static enum ts_status load_column(struct load *load, const struct ts_pb *pb, void *numbers,
				  enum ts_number type, size_t nr)
{
	struct column column = column_of(pb);
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = next_in_column(load, &column, AT(numbers, i * ts_number_size(type)), type);
	return st || column.p == column.end
		       ? st
		       : codec_record_bad(load, column.p, "a column is too long");
}

/* Numbers in a column: every varint has one byte that ends it. */
static size_t count_column(const struct ts_pb *pb, enum ts_number type)
{
	struct ts_bytes bytes = ts_pb_bytes(pb);
	size_t nr = 0;

	if (codec_record_is_plain(type))
		return bytes.n / ts_number_size(type);
	for (size_t i = 0; i < bytes.n; i++)
		nr += bytes.p[i] < 128;
	return nr;
}

static enum ts_status load_number(struct load *load, const struct ts_member *member, void *number,
				  const struct ts_pb *pb)
{
	if (member->type == TS_NUM_F64)
		*(double *)number = ts_pb_double(pb);
	else if (!ts_number_set(number, member->type, zagzig(ts_pb_u64(pb))) ||
		 !is_in_range(load, member, ts_number_get(number, member->type)))
		return codec_record_bad(load, pb->data, "a number is out of range");
	return TS_OK;
}

static enum ts_status load_numbers(struct load *load, const struct ts_member *member, void *numbers,
				   const struct ts_pb *pb)
{
	size_t width = ts_member_width(member), size = ts_number_size(member->type);
	enum ts_status st;

	if (width == 1)
		return load_number(load, member, numbers, pb);
	st = load_column(load, pb, numbers, member->type, width);
	if (st)
		return st;
	for (size_t i = 0; i < width && member->by != TS_BY_NOTHING; i++)
		if (!is_in_range(load, member, ts_number_get(AT(numbers, i * size), member->type)))
			return codec_record_bad(load, pb->data, "a number is out of range");
	return TS_OK;
}

/* Room for NR items in an empty array; a field that comes twice is damage. */
static enum ts_status make_items(struct load *load, const struct ts_member *member, void *self,
				 size_t nr, const struct ts_pb *pb)
{
	void **items = AT(self, member->offset);

	if (*items || ts_member_nr(self, member) > 0)
		return codec_record_bad(load, pb->data, "an array comes twice");
	if (member->by != TS_BY_NOTHING && nr > load->limits->nr[member->by])
		return codec_record_bad(load, pb->data,
					"an array is longer than what it is indexed by");
	*items = ts_member_array(member, nr + 1);
	if (!*items)
		return ts_fail_nomem(load->err);
	ts_member_set_nr(self, member, nr);
	return TS_OK;
}

static enum ts_status load_array(struct load *load, const struct ts_member *member, void *self,
				 const struct ts_pb *pb)
{
	size_t width = ts_member_width(member), nr = count_column(pb, member->type);
	void **items = AT(self, member->offset);
	enum ts_status st;

	if (nr % width != 0)
		return codec_record_bad(load, pb->data, "an array ends inside an item");
	st = make_items(load, member, self, nr / width, pb);
	return st ? st : load_column(load, pb, *items, member->type, nr);
}

/* The fields in front of the items of an array of records. */
struct shape {
	size_t nr, nr_full;
	struct column places;
	bool has_places;
};

static enum ts_status codec_record_read_shape(struct load *load, const struct ts_pb *field,
					      size_t limit, struct shape *shape)
{
	struct ts_pb pb = ts_pb_of(ts_pb_bytes(field), &load->damage);
	size_t n = ts_pb_bytes(field).n;

	*shape = (struct shape){ .nr = 0 };
	while (ts_pb_next(&pb)) {
		if (pb.field == ITEMS_NR)
			shape->nr = ts_pb_u64(&pb);
		if (pb.field != ITEMS_PLACES)
			continue;
		shape->has_places = true;
		shape->places = column_of(&pb);
		shape->nr_full = count_column(&pb, TS_NUM_I64);
	}
	if (!shape->has_places)
		shape->nr_full = shape->nr;
	/* Each full item has a byte at least; empty ones are bounded by what the array is indexed by. */
	if (shape->nr_full > n || shape->nr_full > shape->nr || shape->nr > TS_MAX(n, limit))
		return codec_record_bad(load, field->data, "an array is longer than its bytes");
	return codec_record_check(load);
}

/* The place of the next full item, or of each in turn. */
static enum ts_status next_place(struct load *load, struct shape *shape, size_t *place)
{
	int64_t at, before = (int64_t)*place;
	bool first = *place == SIZE_MAX;
	enum ts_status st;

	if (!shape->has_places) {
		++*place;
		return TS_OK;
	}
	st = next_in_column(load, &shape->places, &at, TS_NUM_I64);
	if (st)
		return st;
	if (at < 0 || (uint64_t)at >= shape->nr || (!first && at <= before))
		return codec_record_bad(load, shape->places.p,
					"an item stands at a place that cannot be");
	*place = (size_t)at;
	return TS_OK;
}

/* Where the items of a loaded array are. */
struct room {
	const struct ts_record *record;
	void *items;
	bool pointers;
};

static enum ts_status codec_record_next_item(struct load *load, const struct room *room,
					     struct shape *shape, size_t *place, void **item)
{
	void **pointers = room->items;
	enum ts_status st = next_place(load, shape, place);

	if (st)
		return st;
	if (!room->pointers) {
		*item = AT(room->items, *place * room->record->size);
		return TS_OK;
	}
	if (!pointers[*place])
		pointers[*place] = calloc(1, room->record->size);
	*item = pointers[*place];
	return *item ? TS_OK : ts_fail_nomem(load->err);
}

static enum ts_status load_item_column(struct load *load, const struct room *room,
				       struct shape shape, const struct ts_member *member,
				       const struct ts_pb *pb)
{
	struct column column = column_of(pb);
	size_t place = SIZE_MAX;

	for (size_t i = 0; i < shape.nr_full; i++) {
		void *item, *number;
		enum ts_status st = codec_record_next_item(load, room, &shape, &place, &item);

		if (st)
			return st;
		number = AT(item, member->offset);
		st = next_in_column(load, &column, number, member->type);
		if (st)
			return st;
		if (member->type != TS_NUM_F64 &&
		    !is_in_range(load, member, ts_number_get(number, member->type)))
			return codec_record_bad(load, column.p, "a number is out of range");
	}
	return column.p == column.end ? TS_OK
				      : codec_record_bad(load, column.p, "a column is too long");
}

static const struct ts_member *find_member(const struct ts_record *record, uint32_t number)
{
	for (size_t i = 0; i < record->nr_members; i++)
		if (record->members[i].number == number && number > 0)
			return &record->members[i];
	return NULL;
}

static enum ts_status load_flat(struct load *load, const struct room *room,
				const struct shape *shape, struct ts_pb pb)
{
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb)) {
		const struct ts_member *member = find_member(room->record, pb.field - ITEMS_PLACES);

		if (pb.field > ITEMS_PLACES && member)
			st = load_item_column(load, room, *shape, member, &pb);
	}
	return st ? st : codec_record_check(load);
}

static enum ts_status load_messages(struct load *load, const struct room *room, struct shape shape,
				    struct ts_pb pb)
{
	size_t place = SIZE_MAX, nr = 0;
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb)) {
		void *item;

		if (pb.field != ITEMS_MESSAGES)
			continue;
		if (nr++ == shape.nr_full)
			return codec_record_bad(load, pb.data,
						"an array has more items than it says");
		st = codec_record_next_item(load, room, &shape, &place, &item);
		if (st == TS_OK)
			st = load_record(load, room->record, item, ts_pb_enter(&pb));
	}
	if (st == TS_OK)
		st = codec_record_check(load);
	if (st || nr == shape.nr_full)
		return st;
	return codec_record_bad(load, pb.p, "an array has fewer items than it says");
}

static enum ts_status check_items(struct load *load, const struct room *room, size_t nr,
				  const struct ts_pb *pb)
{
	if (!room->record->is_valid || !is_flat(room->record))
		return TS_OK; /* those that are messages were checked one by one */
	for (size_t i = 0; i < nr; i++) {
		const void *item = room->pointers ? ((void **)room->items)[i]
						  : AT(room->items, i * room->record->size);

		if (item && !ts_record_is_empty(room->record, item) &&
		    !room->record->is_valid(item))
			return codec_record_bad(load, pb->data, "an item cannot be");
	}
	return TS_OK;
}

static enum ts_status load_items(struct load *load, const struct room *room, struct shape *shape,
				 const struct ts_pb *field)
{
	struct ts_pb pb = ts_pb_enter(field);
	enum ts_status st;

	if (!is_flat(room->record))
		return load_messages(load, room, *shape, pb);
	st = load_flat(load, room, shape, pb);
	return st ? st : check_items(load, room, shape->nr, field);
}

static enum ts_status load_records(struct load *load, const struct ts_member *member, void *self,
				   const struct ts_pb *pb)
{
	size_t width = ts_member_width(member);
	size_t limit = member->by == TS_BY_NOTHING ? 0 : load->limits->nr[member->by] * width;
	struct room room = { member->of, NULL, member->kind == TS_MEMBER_POINTERS };
	struct shape shape;
	enum ts_status st = codec_record_read_shape(load, pb, limit, &shape);

	if (st)
		return st;
	if (shape.nr % width != 0)
		return codec_record_bad(load, pb->data, "an array ends inside an item");
	st = make_items(load, member, self, shape.nr / width, pb);
	if (st)
		return st;
	room.items = *(void **)AT(self, member->offset);
	return load_items(load, &room, &shape, pb);
}

static enum ts_status load_structs(struct load *load, const struct ts_member *member, void *self,
				   const struct ts_pb *pb)
{
	size_t width = ts_member_width(member);
	struct room room = { member->of, self, false };
	struct shape shape;
	enum ts_status st;

	if (width == 1)
		return load_record(load, member->of, self, ts_pb_enter(pb));
	st = codec_record_read_shape(load, pb, width, &shape);
	if (st)
		return st;
	if (shape.nr != width)
		return codec_record_bad(load, pb->data, "a fixed array has another length");
	return load_items(load, &room, &shape, pb);
}

static enum ts_status load_pointer(struct load *load, const struct ts_member *member, void **to,
				   const struct ts_pb *pb)
{
	if (!*to)
		*to = calloc(1, member->of->size);
	if (!*to)
		return ts_fail_nomem(load->err);
	return load_record(load, member->of, *to, ts_pb_enter(pb));
}

static enum ts_status load_pairs(struct load *load, struct ts_map *map, struct column keys,
				 struct column values)
{
	while (keys.p < keys.end) {
		uint64_t key;
		uint32_t value;
		enum ts_status st = next_in_column(load, &keys, &key, TS_NUM_U64);

		if (st == TS_OK)
			st = next_in_column(load, &values, &value, TS_NUM_U32);
		if (st)
			return st;
		if (value == TS_NONE)
			return codec_record_bad(load, values.p, "a map has a value that cannot be");
		if (!ts_map_set(map, key, value))
			return ts_fail_nomem(load->err);
	}
	return values.p == values.end
		       ? TS_OK
		       : codec_record_bad(load, values.p, "a map has more values than keys");
}

static enum ts_status load_map(struct load *load, struct ts_map *map, const struct ts_pb *field)
{
	struct column keys = { NULL, NULL, 0 }, values = keys;
	struct ts_pb pb = ts_pb_enter(field);
	enum ts_status st;

	while (ts_pb_next(&pb)) {
		if (pb.field == MAP_KEYS)
			keys = column_of(&pb);
		if (pb.field == MAP_VALUES)
			values = column_of(&pb);
	}
	st = codec_record_check(load);
	return st ? st : load_pairs(load, map, keys, values);
}

static enum ts_status load_text(struct load *load, struct ts_bytes *text, const struct ts_pb *pb)
{
	*text = ts_arena_copy(load->arena, ts_pb_bytes(pb));
	return text->p ? TS_OK : ts_fail_nomem(load->err);
}

static enum ts_status load_member(struct load *load, const struct ts_member *member, void *self,
				  const struct ts_pb *pb)
{
	void *at = AT(self, member->offset);

	switch (member->kind) {
	case TS_MEMBER_NUMBERS:	 return load_numbers(load, member, at, pb);
	case TS_MEMBER_STRUCTS:	 return load_structs(load, member, at, pb);
	case TS_MEMBER_ARRAY:	 return load_array(load, member, self, pb);
	case TS_MEMBER_RECORDS:
	case TS_MEMBER_POINTERS: return load_records(load, member, self, pb);
	case TS_MEMBER_POINTER:	 return load_pointer(load, member, at, pb);
	case TS_MEMBER_TEXT:	 return load_text(load, at, pb);
	case TS_MEMBER_MAP:	 return load_map(load, at, pb);
	case TS_MEMBER_SCRATCH:	 break;
	}
	return TS_OK;
}

static enum ts_status load_record(struct load *load, const struct ts_record *record, void *self,
				  struct ts_pb pb)
{
	enum ts_status st = TS_OK;

	if (++load->depth > TS_LIMIT_RECORD_DEPTH)
		st = codec_record_bad(load, pb.p,
				      "records nest too deep " TS_OVER(TS_LIMIT_RECORD_DEPTH));
	while (st == TS_OK && ts_pb_next(&pb)) {
		const struct ts_member *member = find_member(record, pb.field);

		if (member)
			st = load_member(load, member, self, &pb);
	}
	load->depth--;
	if (st == TS_OK)
		st = codec_record_check(load);
	if (st == TS_OK && record->is_valid && !record->is_valid(self))
		st = codec_record_bad(load, pb.p, "a state cannot be");
	return st;
}

enum ts_status ts_record_load(const struct ts_record *record, void *self, struct ts_bytes bytes,
			      const struct ts_record_limits *limits, struct ts_arena *arena,
			      struct ts_error *err)
{
	struct load load = {
		.record = record, .bytes = bytes, .limits = limits, .arena = arena, .err = err
	};

	TS_ASSERT(record && self && limits && arena);
	return load_record(&load, record, self, ts_pb_of(bytes, &load.damage));
}
