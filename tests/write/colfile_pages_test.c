/* SPDX-License-Identifier: MIT */
/* Parquet's encodings, read back by decoders that are written from its specification. */
#include "tests/test.h"
#include "write/columns/pages.h"

#include <stdlib.h>

#define MANY 5000

struct reader {
	const uint8_t *p;
	size_t bit; /* of packed bits */
};

static uint64_t read_varint(struct reader *reader)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		uint8_t byte = *reader->p++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

static int64_t read_zigzag(struct reader *reader)
{
	uint64_t value = read_varint(reader);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static uint64_t read_bits(struct reader *reader, unsigned width)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++, reader->bit++)
		value |= (uint64_t)(reader->p[reader->bit / 8] >> reader->bit % 8 & 1) << i;
	return value;
}

static void end_bits(struct reader *reader)
{
	assert_int_equal(reader->bit % 8, 0);
	reader->p += reader->bit / 8;
	reader->bit = 0;
}

static void assert_runs(const uint32_t *values, size_t nr, unsigned width)
{
	struct ts_buf out = TS_BUF_INIT;
	struct reader reader;
	size_t at = 0;

	ts_pages_runs(&out, values, nr, width);
	reader = (struct reader){ out.p, 0 };
	while (out.n > (size_t)(reader.p - out.p)) {
		uint64_t head = read_varint(&reader);
		uint64_t more = head & 1 ? head / 2 * 8 : head / 2, value = 0;

		for (unsigned i = 0; !(head & 1) && i < (width + 7) / 8; i++)
			value |= (uint64_t)*reader.p++ << (8 * i);
		for (uint64_t i = 0; i < more; i++, at++) {
			uint64_t found = head & 1 ? read_bits(&reader, width) : value;

			assert_int_equal(found, at < nr ? values[at] : 0);
		}
		end_bits(&reader);
	}
	assert_true(at >= nr && at < nr + 8);
	assert_int_equal(reader.p - out.p, out.n);
	ts_buf_release(&out);
}

TEST(runs_and_packed_bits_are_read_back)
{
	static uint32_t values[MANY];

	srand(1);
	for (unsigned width = 1; width <= 32; width++)
		for (size_t nr = 0; nr < MANY; nr = nr < 40 ? nr + 1 : nr * 3) {
			for (size_t i = 0, run = 0; i < nr; i++, run -= run > 0) {
				uint32_t any = (uint32_t)rand() * 2u + (uint32_t)rand();

				values[i] = run > 0 ? values[i - 1] : any >> (32 - width);
				if (run == 0 && rand() % 10 == 0)
					run = (size_t)rand() % 40;
			}
			assert_runs(values, nr, width);
		}
}

static void assert_differences(const int64_t *values, size_t nr)
{
	struct ts_buf out = TS_BUF_INIT;
	struct reader reader;
	uint64_t block, parts, at = 1;
	int64_t value;

	ts_pages_differences(&out, values, nr);
	reader = (struct reader){ out.p, 0 };
	block = read_varint(&reader);
	parts = read_varint(&reader);
	assert_int_equal(block % 128, 0);
	assert_int_equal(block / parts % 32, 0);
	assert_int_equal(read_varint(&reader), nr);
	value = read_zigzag(&reader);
	assert_int_equal(value, nr ? values[0] : 0);
	while (at < nr) {
		int64_t least = read_zigzag(&reader);
		const uint8_t *widths = reader.p;

		reader.p += parts;
		for (uint64_t part = 0; part < parts && at < nr; part++) {
			for (uint64_t i = 0; i < block / parts; i++, at++) {
				uint64_t above = read_bits(&reader, widths[part]);

				value = (int64_t)((uint64_t)value + (uint64_t)least + above);
				if (at < nr)
					assert_int_equal(value, values[at]);
			}
			end_bits(&reader);
		}
	}
	assert_ptr_equal(reader.p, out.p + out.n);
	ts_buf_release(&out);
}

TEST(differences_are_read_back)
{
	static int64_t values[MANY];

	srand(2);
	for (int bits = 1; bits <= 64; bits++)
		for (size_t nr = 0; nr < 600; nr = nr < 4 ? nr + 1 : nr * 2 + 1) {
			for (size_t i = 0; i < nr; i++) {
				uint64_t any = (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^
					       (uint64_t)rand();

				any |= (uint64_t)(rand() & 1) << 63;
				values[i] = (int64_t)(any >> (64 - bits)) - (bits == 7 ? 60 : 0);
			}
			assert_differences(values, nr);
		}
}

TEST(differences_of_the_extremes_wrap)
{
	const int64_t values[] = { INT64_MIN, INT64_MAX, 0, INT64_MAX, INT64_MIN, -1, 1 };

	assert_differences(values, TS_NELEM(values));
}

TEST(width_has_room_for_the_largest)
{
	static const struct {
		size_t nr;
		unsigned width;
	} rows[] = { { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 2 }, { 256, 8 }, { 257, 9 } };

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		assert_int_equal(ts_pages_width(rows[i].nr), rows[i].width);
}
