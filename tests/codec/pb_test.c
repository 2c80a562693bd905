/* SPDX-License-Identifier: MIT */
/* The protobuf cursor: rows of bytes, and what must come of them. */
#include "tests/test.h"
#include "codec/pb.h"

/*
 * One line a message, in the notation of the expected column: field:wire=value for numbers,
 * field:2[length] for bytes, then "end", or "bad at OFFSET".
 */
static void describe(struct ts_bytes bytes, char *text, size_t size)
{
	struct ts_pb_error err = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &err);
	size_t n = 0;

	while (ts_pb_next(&pb)) {
		if (pb.wire == TS_PB_BYTES)
			n += (size_t)snprintf(text + n, size - n, "%u:2[%zu] ", pb.field,
					      ts_pb_bytes(&pb).n);
		else
			n += (size_t)snprintf(text + n, size - n, "%u:%u=%llu ", pb.field, pb.wire,
					      (unsigned long long)ts_pb_u64(&pb));
	}
	assert_false(ts_pb_next(&pb)); /* for good */
	if (err.cause)
		snprintf(text + n, size - n, "bad at %zu", (size_t)(err.at - bytes.p));
	else
		snprintf(text + n, size - n, "end");
}

struct row {
	struct ts_bytes in;
	const char *out;
};

static const struct row rows[] = {
	{ TS_LIT(""), "end" },
	/* numbers */
	{ TS_LIT("\x08\x00"), "1:0=0 end" },
	{ TS_LIT("\x08\x96\x01"), "1:0=150 end" },
	{ TS_LIT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "1:0=18446744073709551615 end" },
	{ TS_LIT("\x08\x80\x80\x00\x10\x01"), "1:0=0 2:0=1 end" }, /* longer than needed */
	{ TS_LIT("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), "1:0=0 end" },
	{ TS_LIT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
	  "1:0=9223372036854775807 end" }, /* of 65 bits the upper one is dropped */
	{ TS_LIT("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), "bad at 1" }, /* 11 bytes */
	{ TS_LIT("\x0d\x01\x02\x03\x04"), "1:5=67305985 end" },
	{ TS_LIT("\x09\x01\0\0\0\0\0\0\x80"), "1:1=9223372036854775809 end" },
	{ TS_LIT("\x0d\x01\x02\x03"), "bad at 1" },
	{ TS_LIT("\x09\x01\x02\x03\x04\x05\x06\x07"), "bad at 1" },
	/* bytes */
	{ TS_LIT("\x0a\x00"), "1:2[0] end" },
	{ TS_LIT("\x0a\x03"
		 "abc\x10\x01"),
	  "1:2[3] 2:0=1 end" },
	{ TS_LIT("\x0a\x04"
		 "abc"),
	  "bad at 1" },
	{ TS_LIT("\x0a\xff\xff\xff\xff\x07"), "bad at 1" },
	{ TS_LIT("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "bad at 1" },
	{ TS_LIT("\x0a"), "bad at 1" },
	/* tags */
	{ TS_LIT("\xf8\xff\xff\xff\x0f\x01"), "536870911:0=1 end" }, /* the largest field */
	{ TS_LIT("\x88\x80\x00\x05"), "1:0=5 end" },		     /* a tag longer than needed */
	{ TS_LIT("\x80"), "bad at 0" },
	{ TS_LIT("\x00\x01"), "bad at 0" },		    /* field 0 */
	{ TS_LIT("\x02\x00"), "bad at 0" },		    /* field 0, bytes */
	{ TS_LIT("\x88\x80\x80\x80\x10\x01"), "bad at 0" }, /* past 32 bits */
	{ TS_LIT("\x08\x01\x0b\x0c"), "1:0=1 bad at 2" },   /* a group begins */
	{ TS_LIT("\x0c"), "bad at 0" },			    /* a group ends */
	{ TS_LIT("\x0e"), "bad at 0" },			    /* wire types there are not */
	{ TS_LIT("\x0f"), "bad at 0" },
	/* what came before a bad byte was read */
	{ TS_LIT("\x08\x01\x12\x01x\x1a\x09"
		 "short"),
	  "1:0=1 2:2[1] bad at 6" },
};

TEST(bytes_read_as_the_rows_say)
{
	char text[256];

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		/* a copy without a byte to spare, for the sanitizer */
		uint8_t *copy = malloc(rows[i].in.n + !rows[i].in.n);

		memcpy(copy, rows[i].in.p, rows[i].in.n);
		describe((struct ts_bytes){ copy, rows[i].in.n }, text, sizeof(text));
		if (strcmp(text, rows[i].out) != 0)
			fail_msg("row %zu: %s, not %s", i, text, rows[i].out);
		free(copy);
	}
}

/* One of each wire type; no cut is read past, and whole fields before the cut are seen. */
TEST(each_truncation_ends_or_is_noted)
{
	static const uint8_t message[] = { 0x08, 0x96, 0x01, 0x11, 1,	2,   3,	   4, 5, 6, 7,
					   8,	 0x1a, 3,    'a',  'b', 'c', 0x25, 1, 2, 3, 4 };
	static const size_t ends[] = { 0, 3, 12, 17, 22 };

	for (size_t n = 0; n <= sizeof(message); n++) {
		uint8_t *copy = malloc(n + !n);
		struct ts_pb_error err = { NULL, NULL };
		struct ts_pb pb;
		size_t nr = 0, whole = 0, expected = 0;

		memcpy(copy, message, n);
		pb = ts_pb_of((struct ts_bytes){ copy, n }, &err);
		while (ts_pb_next(&pb))
			nr++;
		for (size_t i = 0; i < TS_NELEM(ends); i++) {
			whole |= ends[i] == n;
			expected += i > 0 && ends[i] <= n;
		}
		assert_int_equal(nr, expected);
		assert_int_equal(err.cause == NULL, whole != 0);
		assert_true(!err.cause || (err.at >= copy && err.at <= copy + n));
		free(copy);
	}
}

TEST(each_truncation_of_a_number_is_an_error)
{
	static const uint8_t longest[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
	};
	const uint8_t *p;
	uint64_t value;

	for (size_t n = 0; n < sizeof(longest); n++) {
		uint8_t *copy = malloc(n + !n);

		memcpy(copy, longest, n);
		p = copy;
		value = 7;
		assert_false(ts_pb_varint(&p, copy + n, &value));
		assert_ptr_equal(p, copy); /* nothing is moved */
		assert_int_equal(value, 7);
		free(copy);
	}
	p = longest;
	assert_true(ts_pb_varint(&p, longest + sizeof(longest), &value));
	assert_true(value == UINT64_MAX);
	assert_ptr_equal(p, longest + sizeof(longest));
}

/* Bytes behind the end may be looked at, and are not part of the number. */
TEST(a_number_that_bytes_follow_is_read_as_any_other)
{
	static const struct ts_bytes numbers[] = {
		TS_LIT("\x00"),
		TS_LIT("\x7f"),
		TS_LIT("\xac\x82\x03"),
		TS_LIT("\x81\x82\x83\x84\x85\x86\x07"),
		TS_LIT("\xff\xff\xff\xff\xff\xff\xff\x7f"),
		TS_LIT("\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		TS_LIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		TS_LIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
	};

	for (size_t i = 0; i < TS_NELEM(numbers); i++)
		for (size_t n = 0; n <= numbers[i].n; n++) {
			uint8_t bytes[10 + TS_PB_PADDING] = { 0 };
			const uint8_t *p = bytes, *padded = bytes;
			uint64_t value = 7, expected = 7;
			bool good;

			memcpy(bytes, numbers[i].p, numbers[i].n);
			good = ts_pb_varint(&p, bytes + n, &expected);
			assert_int_equal(ts_pb_varint_padded(&padded, bytes + n, &value), good);
			assert_true(value == expected && padded == p);
			assert_int_equal(good, n == numbers[i].n && i + 1 < TS_NELEM(numbers));
		}
}

TEST(field_of_another_wire_type_reads_as_nothing)
{
	static const struct ts_bytes message = TS_LIT("\x08\x05\x0a\x02hi\x0d\0\0\x80\x3f");
	struct ts_pb_error err = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(message, &err), inner;

	assert_true(ts_pb_next(&pb)); /* a number, asked for as bytes, message, double */
	assert_int_equal(ts_pb_bytes(&pb).n, 0);
	inner = ts_pb_enter(&pb);
	assert_false(ts_pb_next(&inner));
	assert_true(ts_pb_double(&pb) == 0);
	assert_true(ts_pb_next(&pb)); /* bytes, asked for as numbers */
	assert_int_equal(ts_pb_u64(&pb), 0);
	assert_int_equal(ts_pb_i64(&pb), 0);
	assert_true(ts_pb_double(&pb) == 0);
	assert_true(ts_bytes_is(ts_pb_bytes(&pb), "hi"));
	assert_true(ts_pb_next(&pb)); /* a float, asked for as a double */
	assert_true(ts_pb_double(&pb) == 1);
	assert_false(ts_pb_next(&pb));
	assert_null(err.cause);
}

TEST(doubles_come_from_their_bits)
{
	static const struct ts_bytes message = TS_LIT("\x09\x18\x2d\x44\x54\xfb\x21\x09\x40");
	struct ts_pb_error err = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(message, &err);

	assert_true(ts_pb_next(&pb));
	assert_true(ts_pb_double(&pb) == 3.141592653589793);
}

TEST(bad_byte_inside_ends_every_loop_outside)
{
	/* 1: { 2: { a cut number } }, 3: 1 */
	static const struct ts_bytes message = TS_LIT("\x0a\x04\x12\x02\x08\x80\x18\x01");
	struct ts_pb_error err = { NULL, NULL };
	struct ts_pb outer = ts_pb_of(message, &err), middle, inner;

	assert_true(ts_pb_next(&outer));
	middle = ts_pb_enter(&outer);
	assert_true(ts_pb_next(&middle));
	inner = ts_pb_enter(&middle);
	assert_false(ts_pb_next(&inner));
	assert_non_null(err.cause);
	assert_ptr_equal(err.at, message.p + 5);
	assert_false(ts_pb_next(&middle));
	assert_false(ts_pb_next(&outer));
	assert_false(ts_pb_fail(&outer, message.p, "later"));
	assert_ptr_equal(err.at, message.p + 5); /* the first one stays */
}

TEST(random_bytes_are_never_read_past)
{
	uint64_t seed = 1;

	for (int round = 0; round < 100000; round++) {
		uint8_t bytes[24], *copy;
		struct ts_pb_error err = { NULL, NULL };
		struct ts_pb pb;
		size_t n, used = 0;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[i] = (uint8_t)(seed >> (seed >> 62 ? 33 : 60)); /* small ones often */
		}
		n = (size_t)(seed >> 40) % (sizeof(bytes) + 1);
		copy = malloc(n + !n);
		memcpy(copy, bytes, n);
		pb = ts_pb_of((struct ts_bytes){ copy, n }, &err);
		while (ts_pb_next(&pb)) {
			struct ts_bytes inside = ts_pb_bytes(&pb);

			assert_true(inside.n == 0 ||
				    (inside.p >= copy && inside.p + inside.n <= copy + n));
			assert_true((size_t)(pb.p - copy) > used); /* each field moves on */
			used = (size_t)(pb.p - copy);
		}
		free(copy);
	}
}
