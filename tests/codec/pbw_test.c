/* SPDX-License-Identifier: MIT */
/* The protobuf writer against bytes worked out by hand, and against the cursor that reads them. */
#include "tests/test.h"

#include <float.h>

#include "codec/pb.h"
#include "codec/pbw.h"

static void assert_bytes(const struct ts_buf *buf, struct ts_bytes expected)
{
	assert_false(buf->failed);
	assert_int_equal(buf->n, expected.n);
	assert_memory_equal(buf->p, expected.p, expected.n);
}

TEST(the_encodings_of_the_specification)
{
	struct ts_buf buf = TS_BUF_INIT;
	size_t mark;

	ts_pbw_u64(&buf, 1, 150);
	ts_pbw_text(&buf, 2, TS_LIT("testing"));
	mark = ts_pbw_begin(&buf, 3);
	ts_pbw_u64(&buf, 1, 150);
	ts_pbw_end(&buf, mark);
	ts_pbw_i64(&buf, 4, -2);
	ts_pbw_double(&buf, 5, 1.0);
	assert_bytes(&buf, TS_LIT("\x08\x96\x01"
				  "\x12\x07testing"
				  "\x1a\x03\x08\x96\x01"
				  "\x20\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
				  "\x29\x00\x00\x00\x00\x00\x00\xf0\x3f"));
	ts_buf_release(&buf);
}

TEST(numbers_come_back)
{
	static const uint64_t numbers[] = { 0,	       1,     127,	  128,
					    16383,     16384, UINT32_MAX, (uint64_t)1 << 63,
					    UINT64_MAX };
	static const double reals[] = { 0, -0.0, 1.5, -DBL_MAX, DBL_TRUE_MIN };
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_pb_error err = { 0 };
	struct ts_pb pb;

	for (size_t i = 0; i < TS_NELEM(numbers); i++)
		ts_pbw_u64(&buf, (uint32_t)(536870911 - i), numbers[i]);
	for (size_t i = 0; i < TS_NELEM(reals); i++)
		ts_pbw_double(&buf, 16, reals[i]);
	pb = ts_pb_of(ts_buf_bytes(&buf), &err);
	for (size_t i = 0; i < TS_NELEM(numbers); i++) {
		assert_true(ts_pb_next(&pb));
		assert_int_equal(pb.field, 536870911 - i);
		assert_true(ts_pb_u64(&pb) == numbers[i]);
	}
	for (size_t i = 0; i < TS_NELEM(reals); i++) {
		double real;

		assert_true(ts_pb_next(&pb));
		real = ts_pb_double(&pb);
		assert_memory_equal(&real, &reals[i], sizeof(real));
	}
	assert_false(ts_pb_next(&pb));
	assert_null(err.cause);
	ts_buf_release(&buf);
}

/* A message of LEN bytes inside one inside one: each length field has to grow on its own. */
static void nested(struct ts_buf *buf, size_t len)
{
	size_t outer = ts_pbw_begin(buf, 1), middle, inner;

	ts_pbw_u64(buf, 2, len);
	middle = ts_pbw_begin(buf, 3);
	inner = ts_pbw_begin(buf, 4);
	ts_buf_pad(buf, '\x08', len); /* field 1, value 8: two bytes a field */
	ts_pbw_end(buf, inner);
	ts_pbw_end(buf, middle);
	ts_pbw_u64(buf, 5, ~(uint64_t)len);
	ts_pbw_end(buf, outer);
}

static void assert_nested(struct ts_bytes bytes, size_t len)
{
	struct ts_pb_error err = { 0 };
	struct ts_pb top = ts_pb_of(bytes, &err), pb, middle, inner;
	size_t nr = 0;

	assert_true(ts_pb_next(&top));
	pb = ts_pb_enter(&top);
	assert_true(ts_pb_next(&pb) && pb.field == 2 && ts_pb_u64(&pb) == len);
	assert_true(ts_pb_next(&pb) && pb.field == 3);
	middle = ts_pb_enter(&pb);
	assert_true(ts_pb_next(&middle) && middle.field == 4);
	for (inner = ts_pb_enter(&middle); ts_pb_next(&inner); nr++)
		assert_true(inner.field == 1 && ts_pb_u64(&inner) == 8);
	assert_int_equal(nr, len / 2);
	assert_false(ts_pb_next(&middle));
	assert_true(ts_pb_next(&pb) && pb.field == 5 && ts_pb_u64(&pb) == ~(uint64_t)len);
	assert_false(ts_pb_next(&pb) || ts_pb_next(&top));
	assert_null(err.cause);
}

TEST(messages_nest_at_every_size_of_a_length)
{
	static const size_t lens[] = { 0,     2,     118,     120,     122,	124,	 126,
				       128,   130,   16370,   16376,   16380,	16382,	 16384,
				       16386, 20000, 2097140, 2097148, 2097150, 2097152, 2097154 };
	struct ts_buf buf = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(lens); i++) {
		ts_buf_clear(&buf);
		nested(&buf, lens[i]);
		assert_false(buf.failed);
		assert_nested(ts_buf_bytes(&buf), lens[i]);
	}
	ts_buf_release(&buf);
}

TEST(strings_are_made_utf8)
{
	struct ts_buf buf = TS_BUF_INIT;

	ts_pbw_text(&buf, 1, TS_LIT("a\xffz"));
	ts_pbw_text(&buf, 1, TS_LIT("\xc3\xa9"));
	ts_pbw_text(&buf, 1, TS_LIT("\xc3"));
	ts_pbw_text(&buf, 1, (struct ts_bytes){ NULL, 0 });
	ts_pbw_bytes(&buf, 1, TS_LIT("\xff"));
	assert_bytes(&buf, TS_LIT("\x0a\x05"
				  "a\xef\xbf\xbdz"
				  "\x0a\x02\xc3\xa9"
				  "\x0a\x03\xef\xbf\xbd"
				  "\x0a\x00"
				  "\x0a\x01\xff"));
	ts_buf_release(&buf);
}

TEST(a_failed_buffer_stays_failed)
{
	struct ts_buf buf = TS_BUF_INIT;
	size_t mark;

	mark = ts_pbw_begin(&buf, 1);
	buf.failed = true;
	ts_pbw_u64(&buf, 1, 1);
	ts_pbw_end(&buf, mark);
	ts_pbw_end(&buf, ts_pbw_begin(&buf, 2));
	assert_true(buf.failed);
	ts_buf_release(&buf);
}
