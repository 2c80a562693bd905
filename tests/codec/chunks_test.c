/* SPDX-License-Identifier: MIT */
/* Chunks put at any byte of a file are found again; tests/overlay/records_test.py holds them against another writer's. */
#include "codec/chunks.h"
#include "tests/test.h"

#define BLOCK 65536

static const uint8_t letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* A record of N bytes, which are not all the same. */
static void put_record(struct ts_buf *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ts_buf_putc(out, (char)letters[(i + i / 1000) % (sizeof(letters) - 1)]);
	assert_false(out->failed);
}

static void check_record(const struct ts_chunk *chunk, struct ts_bytes record)
{
	struct ts_chunk_data values = chunk->data;
	struct ts_buf got = TS_BUF_INIT;
	uint8_t packing;

	assert_true(ts_chunk_is_good(chunk));
	assert_int_equal(chunk->kind, TS_CHUNK_SIMPLE);
	assert_int_equal(chunk->nr_records, 1);
	assert_int_equal(chunk->decoded_size, record.n);
	assert_true(ts_chunk_values(&values, &packing));
	assert_int_equal(packing, 0);
	assert_int_equal(values.left, record.n);
	assert_true(ts_buf_room(&got, record.n + 1));
	got.n = ts_chunk_copy(&values, got.p, record.n);
	assert_true(ts_bytes_eq(ts_buf_bytes(&got), record));
	ts_buf_release(&got);
}

/* A file whose first AT bytes are of no interest. */
static void check_at(size_t at, size_t n)
{
	struct ts_buf file = TS_BUF_INIT, record = TS_BUF_INIT;
	struct ts_chunk chunk;

	put_record(&record, n);
	ts_buf_pad(&file, 'x', at);
	ts_chunk_put(&file, at, ts_buf_bytes(&record));
	assert_false(file.failed || file.n % BLOCK);
	assert_null(ts_chunk_at(ts_buf_bytes(&file), at, &chunk));
	check_record(&chunk, ts_buf_bytes(&record));
	if (chunk.end < file.n) {
		assert_null(ts_chunk_at(ts_buf_bytes(&file), chunk.end, &chunk));
		assert_true(ts_chunk_is_good(&chunk));
		assert_int_equal(chunk.kind, TS_CHUNK_PADDING);
	}
	assert_int_equal(chunk.end, file.n);
	ts_buf_release(&file);
	ts_buf_release(&record);
}

TEST(a_chunk_may_begin_at_any_byte)
{
	static const size_t sizes[] = { 0, 1, 100, BLOCK - 24, 3 * BLOCK };

	for (size_t i = 0; i < TS_NELEM(sizes); i++) {
		check_at(0, sizes[i]);
		for (size_t at = 64; at < BLOCK; at += at < BLOCK - 128 ? 4099 : 1)
			check_at(at, sizes[i]);
		check_at(5 * BLOCK, sizes[i]);
	}
}

/* Padding needs room for a header, or goes over the next block. */
TEST(a_chunk_may_end_at_any_byte)
{
	for (size_t n = BLOCK - 160; n < BLOCK; n++)
		check_at(0, n);
}

TEST(a_chunk_that_is_cut_is_not_whole)
{
	struct ts_buf file = TS_BUF_INIT, record = TS_BUF_INIT;
	struct ts_chunk chunk;
	size_t end;

	put_record(&record, 2 * BLOCK);
	ts_chunk_put(&file, 0, ts_buf_bytes(&record));
	assert_null(ts_chunk_at(ts_buf_bytes(&file), 0, &chunk));
	end = (size_t)chunk.end;
	for (size_t n = 1; n < end; n += n < 200 || n > end - 200 ? 1 : 1009) {
		uint8_t bytes[300];

		assert_non_null(ts_chunk_at(ts_bytes_cut(ts_buf_bytes(&file), 0, n), 0, &chunk));
		assert_true(ts_chunk_copy(&chunk.data, bytes, sizeof(bytes)) <= n);
	}
	ts_buf_release(&file);
	ts_buf_release(&record);
}

TEST(a_changed_byte_is_damage)
{
	struct ts_buf file = TS_BUF_INIT, record = TS_BUF_INIT;
	struct ts_chunk chunk;

	put_record(&record, 500);
	ts_chunk_put(&file, 0, ts_buf_bytes(&record));
	for (size_t i = 24; i < 24 + 40 + 500; i++) { /* behind the header of the block */
		file.p[i] ^= 0x10;
		assert_true(ts_chunk_at(ts_buf_bytes(&file), 0, &chunk) ||
			    !ts_chunk_is_good(&chunk));
		file.p[i] ^= 0x10;
	}
	ts_buf_release(&file);
	ts_buf_release(&record);
}
