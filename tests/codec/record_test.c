/* SPDX-License-Identifier: MIT */
/* Records: released, summed, saved and loaded by their tables of members. */
#include <stdlib.h>

#include "tests/test.h"
#include "base/room.h"
#include "codec/record.h"

struct point {
	int64_t count, at_ps;
	uint32_t op;
	double value;
};

#define TS_SELF struct point
static TS_RECORD_WITH(point, TS_EMPTY(count), TS_NUMBER(1, count, TS_ADD),
		      TS_NUMBER(2, at_ps, TS_MIN_OF), TS_INDEX(3, op, TS_BY_OP, TS_KEEP),
		      TS_NUMBER(4, value, TS_MAX_OF));
#undef TS_SELF

struct row {
	struct ts_bytes name;
	uint32_t module;
	uint16_t *labels;
	size_t nr_labels, cap_labels;
};

#define TS_SELF struct row
static TS_RECORD(row, TS_TEXT(1, name), TS_NUMBER_LIST(2, labels, TS_APPEND),
		 TS_INDEX_KNOWN(3, module, TS_BY_MODULE, TS_KEEP));
#undef TS_SELF

struct whole {
	bool is_cut;
	int64_t totals[3];
	uint8_t *text;
	size_t nr_text;
	struct point inner, corners[2];
	struct point *by_op;
	size_t nr_ops;
	int64_t (*step_ps)[2];
	size_t nr_steps;
	struct row *rows;
	size_t nr_rows, cap_rows;
	struct point **some;
	size_t nr_some;
	struct point *one;
	struct ts_map ids;
	uint8_t *scratch;
	int position;
};

static bool is_whole(const void *self)
{
	return ((const struct whole *)self)->totals[2] != 666;
}

#define TS_SELF struct whole
static TS_RECORD_WITH(whole, TS_VALID_IF(is_whole), TS_NUMBER(1, is_cut, TS_OR),
		      TS_NUMBERS(2, totals, TS_ADD), TS_STRUCT(3, inner, point_record),
		      TS_STRUCT(4, corners, point_record),
		      TS_RECORDS(5, by_op, nr_ops, point_record, TS_BY_OP, TS_ADD),
		      TS_ARRAY_OF_ARRAYS(6, step_ps, nr_steps, TS_BY_NOTHING, TS_ADD),
		      TS_LIST(7, rows, row_record, TS_APPEND),
		      TS_POINTERS(8, some, nr_some, point_record, TS_BY_DEVICE, TS_ADD),
		      TS_POINTER(9, one, point_record), TS_MAP(10, ids), TS_SCRATCH(scratch),
		      TS_ARRAY(11, text, nr_text, TS_BY_NOTHING, TS_KEEP));
#undef TS_SELF

#define NR_OPS 5

static const struct ts_record_limits limits = {
	.nr = { [TS_BY_OP] = NR_OPS, [TS_BY_MODULE] = 1, [TS_BY_DEVICE] = 4 }
};

static void *array(size_t nr, size_t size)
{
	void *items = calloc(nr, size);

	assert_non_null(items);
	return items;
}

/* FIRST is added to what is told apart. */
static struct whole given(int64_t first)
{
	struct whole whole = {
		.is_cut = true,
		.totals = { first, -2, INT64_MAX },
		.inner = { 1, 7, 4, 0.5 },
		.corners = { { 0 }, { 3, -9, TS_NONE, -1e300 } },
		.by_op = ts_room_array(NULL, NR_OPS, sizeof(struct point)),
		.nr_ops = NR_OPS,
		.step_ps = array(2, sizeof(int64_t[2])),
		.nr_steps = 2,
		.rows = array(2, sizeof(struct row)),
		.nr_rows = 2,
		.cap_rows = 2,
		.some = array(3, sizeof(struct point *)),
		.nr_some = 3,
		.one = array(1, sizeof(struct point)),
		.scratch = array(1, 100),
		.position = 12,
	};

	whole.by_op[3] = (struct point){ first, 100 + first, 2, 0 };
	whole.step_ps[1][0] = 17;
	whole.rows[0].name = TS_LIT("first");
	whole.rows[1].name = TS_LIT("");
	whole.rows[1].labels = array(3, sizeof(uint16_t));
	whole.rows[1].labels[2] = 65535;
	whole.rows[1].nr_labels = whole.rows[1].cap_labels = 3;
	whole.some[1] = array(1, sizeof(struct point));
	*whole.some[1] = (struct point){ 2, INT64_MIN, 0, 3.25 };
	whole.one->count = 5;
	assert_true(ts_map_set(&whole.ids, UINT64_MAX, 8) && ts_map_set(&whole.ids, 3, 9));
	return whole;
}

static struct ts_buf saved(const struct whole *whole)
{
	struct ts_buf out = TS_BUF_INIT;

	ts_record_save(&whole_record, whole, &out);
	assert_false(out.failed);
	return out;
}

TEST(what_was_saved_is_loaded)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct whole whole = given(11), back = { .position = 0 };
	struct ts_buf bytes = saved(&whole), again;
	struct ts_error err = TS_ERROR_INIT;

	if (ts_record_load(&whole_record, &back, ts_buf_bytes(&bytes), &limits, &arena, &err))
		fail_msg("%s", err.text);
	assert_true(back.is_cut);
	assert_memory_equal(back.totals, whole.totals, sizeof(back.totals));
	assert_memory_equal(&back.corners, &whole.corners, sizeof(back.corners));
	assert_memory_equal(back.by_op, whole.by_op, NR_OPS * sizeof(*back.by_op));
	assert_int_equal(back.step_ps[1][0], 17);
	assert_int_equal(back.nr_rows, 2);
	assert_true(ts_bytes_is(back.rows[0].name, "first"));
	assert_non_null(back.rows[1].name.p);
	assert_int_equal(back.rows[1].labels[2], 65535);
	assert_null(back.some[0]);
	assert_true(back.some[1]->value == 3.25);
	assert_int_equal(back.one->count, 5);
	assert_int_equal(ts_map_find(&back.ids, UINT64_MAX), 8);
	assert_null(back.scratch);
	assert_int_equal(back.position, 0);
	again = saved(&back);
	assert_true(ts_bytes_eq(ts_buf_bytes(&again), ts_buf_bytes(&bytes)));
	ts_buf_release(&again);
	ts_buf_release(&bytes);
	ts_record_release(&whole_record, &whole);
	ts_record_release(&whole_record, &back);
	ts_arena_release(&arena);
}

TEST(sums_are_those_of_the_table)
{
	struct whole into = { .position = 0 }, one = given(11), other = given(100);

	assert_int_equal(ts_record_merge(&whole_record, &into, &one, NULL), TS_OK);
	assert_int_equal(ts_record_merge(&whole_record, &into, &other, NULL), TS_OK);
	ts_record_release(&whole_record, &one);
	ts_record_release(&whole_record, &other);
	assert_true(into.is_cut);
	assert_int_equal(into.totals[0], 111);
	assert_int_equal(into.totals[2], INT64_MAX); /* it saturates */
	assert_int_equal(into.by_op[3].count, 111);
	assert_int_equal(into.by_op[3].at_ps, 111);
	assert_int_equal(into.by_op[3].op, 2);
	assert_int_equal(into.by_op[0].count, 0);
	assert_int_equal(into.step_ps[1][0], 34);
	assert_int_equal(into.nr_rows, 4);
	assert_int_equal(into.rows[3].labels[2], 65535);
	assert_int_equal(into.some[1]->count, 4);
	assert_int_equal(into.one->count, 10);
	ts_record_release(&whole_record, &into);
}

/* What is packed already, as steps are, is neither longer when it is saved nor harder to pack. */
TEST(bytes_are_saved_as_they_are)
{
	static const uint8_t text[] = { 0, 255, 0, 255, 7, 128, 1, 250, 3, 0, 255, 0 };
	struct ts_arena arena = TS_ARENA_INIT;
	struct whole whole = { .text = array(sizeof(text), 1), .nr_text = sizeof(text) };
	struct whole back = { .position = 0 };
	struct ts_buf bytes;

	memcpy(whole.text, text, sizeof(text));
	bytes = saved(&whole);
	assert_non_null(memmem(bytes.p, bytes.n, text, sizeof(text)));
	assert_int_equal(
		ts_record_load(&whole_record, &back, ts_buf_bytes(&bytes), &limits, &arena, NULL),
		TS_OK);
	assert_int_equal(back.nr_text, sizeof(text));
	assert_memory_equal(back.text, text, sizeof(text));
	ts_buf_release(&bytes);
	ts_record_release(&whole_record, &whole);
	ts_record_release(&whole_record, &back);
	ts_arena_release(&arena);
}

static enum ts_status load(struct ts_bytes bytes, struct ts_error *err)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct whole back = { .position = 0 };
	enum ts_status st = ts_record_load(&whole_record, &back, bytes, &limits, &arena, err);

	ts_record_release(&whole_record, &back);
	ts_arena_release(&arena);
	return st;
}

TEST(every_truncation_and_every_flipped_bit_is_survived)
{
	struct whole whole = given(11);
	struct ts_buf bytes;

	whole.text = array(3, 1);
	whole.nr_text = 3;
	bytes = saved(&whole);
	for (size_t n = 0; n < bytes.n; n++) {
		uint8_t *cut = array(n + 1, 1);

		memcpy(cut, bytes.p, n);
		load((struct ts_bytes){ cut, n }, NULL);
		free(cut);
	}
	for (size_t bit = 0; bit < bytes.n * 8; bit++) {
		bytes.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		load(ts_buf_bytes(&bytes), NULL);
		bytes.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ts_buf_release(&bytes);
	ts_record_release(&whole_record, &whole);
}

TEST(what_cannot_be_is_refused_with_its_place)
{
	struct whole whole = given(11);
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf bytes;

	whole.inner.op = NR_OPS; /* one too many */
	bytes = saved(&whole);
	assert_int_equal(load(ts_buf_bytes(&bytes), &err), TS_FORMAT);
	assert_non_null(strstr(err.text, "out of range at byte"));
	ts_buf_release(&bytes);
	whole.inner.op = TS_NONE; /* which an op may be, and a known module may not */
	bytes = saved(&whole);
	assert_int_equal(load(ts_buf_bytes(&bytes), &err), TS_OK);
	ts_buf_release(&bytes);
	whole.rows[0].module = TS_NONE;
	bytes = saved(&whole);
	assert_int_equal(load(ts_buf_bytes(&bytes), &err), TS_FORMAT);
	assert_non_null(strstr(err.text, "out of range at byte"));
	ts_buf_release(&bytes);
	whole.rows[0].module = 0;
	whole.inner.op = 0;
	whole.totals[2] = 666;
	bytes = saved(&whole);
	assert_int_equal(load(ts_buf_bytes(&bytes), &err), TS_FORMAT);
	assert_non_null(strstr(err.text, "cannot be"));
	ts_buf_release(&bytes);
	ts_record_release(&whole_record, &whole);
}
