/* SPDX-License-Identifier: MIT */
/* Chunks of Riegeli/records files, read and written (codec/chunks.h). Numbers are little-endian, as on all machines here. */
#include "codec/chunks.h"

#include "base/check.h"
#include "codec/highway.h"
#include "codec/pb.h"
#include "codec/pbw.h"

#define BLOCK	     65536
#define BLOCK_HEADER 24
#define USABLE	     (BLOCK - BLOCK_HEADER)
#define CHUNK_HEADER 40
#define NR_WORDS     (CHUNK_HEADER / 8)

static const uint64_t hash_key[4] = { 0x2f696c6567656952, 0x0a7364726f636572, 0x2f696c6567656952,
				      0x0a7364726f636572 }; /* "Riegeli/records\n" twice */

static const uint8_t signature[] = { 0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f, 0, 0, 0, 0,
				     0,	   0,	 0,    0,    0x40, 0,	 0,    0,    0, 0, 0, 0 };

bool ts_chunk_probe(struct ts_bytes file)
{
	TS_ASSERT(file.p || file.n == 0);
	return file.n >= sizeof(signature) && memcmp(file.p, signature, sizeof(signature)) == 0;
}

/* Reading */

bool ts_chunk_piece(struct ts_chunk_data *data, struct ts_bytes *piece)
{
	size_t n;

	TS_ASSERT(data && piece);
	if (data->at % BLOCK == 0)
		data->at += BLOCK_HEADER;
	if (data->left == 0 || data->at >= data->file.n)
		return false;
	n = (size_t)TS_MIN(data->left, BLOCK - data->at % BLOCK);
	*piece = ts_bytes_cut(data->file, (size_t)data->at, n);
	data->at += piece->n;
	data->left -= piece->n;
	return piece->n == n;
}

size_t ts_chunk_copy(const struct ts_chunk_data *data, uint8_t *p, size_t n)
{
	struct ts_chunk_data part = { data->file, data->at, TS_MIN(n, data->left) };
	struct ts_bytes piece;
	size_t nr_copied = 0;

	TS_ASSERT(data && p);
	for (bool is_whole = true; is_whole && part.left > 0; nr_copied += piece.n) {
		piece = (struct ts_bytes){ NULL, 0 };
		is_whole = ts_chunk_piece(&part, &piece);
		if (piece.n > 0)
			memcpy(p + nr_copied, piece.p, piece.n);
	}
	return nr_copied;
}

static bool chunk_skip(struct ts_chunk_data *data, uint64_t n)
{
	struct ts_chunk_data part = { data->file, data->at, n };
	struct ts_bytes piece;

	TS_ASSERT(data);
	if (n > data->left)
		return false;
	while (ts_chunk_piece(&part, &piece))
		continue;
	data->at = part.at;
	data->left -= n;
	return part.left == 0;
}

static bool chunk_take(struct ts_chunk_data *data, uint8_t *p, size_t n)
{
	TS_ASSERT(data && p);
	return n <= data->left && ts_chunk_copy(data, p, n) == n && chunk_skip(data, n);
}

static bool chunk_varint(struct ts_chunk_data *data, uint64_t *value)
{
	uint8_t bytes[10];
	size_t n = 0;

	TS_ASSERT(data && value);
	do {
		if (n == sizeof(bytes) || !chunk_take(data, &bytes[n], 1))
			return false;
	} while (bytes[n++] >= 128);
	return ts_pb_varint(&(const uint8_t *){ bytes }, bytes + n, value);
}

bool ts_chunk_values(struct ts_chunk_data *data, uint8_t *packing)
{
	uint64_t sizes_size, unpacked_size;

	TS_ASSERT(data && packing);
	return chunk_take(data, packing, 1) && chunk_varint(data, &sizes_size) &&
	       chunk_skip(data, sizes_size) &&
	       (*packing == 0 || chunk_varint(data, &unpacked_size));
}

static uint64_t chunks_hash_of(struct ts_chunk_data data)
{
	struct ts_highway hash;
	struct ts_bytes piece;

	ts_highway_init(&hash, hash_key);
	while (ts_chunk_piece(&data, &piece))
		ts_highway_add(&hash, piece);
	return ts_highway_finish(&hash);
}

bool ts_chunk_is_good(const struct ts_chunk *chunk)
{
	TS_ASSERT(chunk);
	return chunks_hash_of(chunk->data) == chunk->data_hash;
}

/* Where a chunk ends: behind its data, and its padding is so long that each record has a byte of the file. */
static uint64_t chunks_end_of(const struct ts_chunk *chunk)
{
	uint64_t size = CHUNK_HEADER + chunk->data_size;
	uint64_t overhead = (size + (chunk->begin + USABLE - 1) % BLOCK) / USABLE;
	uint64_t by_data = chunk->begin + size + overhead * BLOCK_HEADER;
	uint64_t by_records = chunk->begin + chunk->nr_records;
	uint64_t left = BLOCK - 1 - (by_records + BLOCK - 1) % BLOCK;

	by_records += left > USABLE - 1 ? left - (USABLE - 1) : 0;
	return TS_MAX(by_data, by_records);
}

const char *ts_chunk_at(struct ts_bytes file, uint64_t begin, struct ts_chunk *chunk)
{
	struct ts_chunk_data head = { file, begin, CHUNK_HEADER }, hashed;
	uint64_t words[NR_WORDS];

	TS_ASSERT(chunk && begin < file.n);
	*chunk = (struct ts_chunk){ .begin = begin, .end = file.n };
	if (!chunk_take(&head, (uint8_t *)words, 8))
		return "the header of a chunk is cut off";
	hashed = head;
	if (!chunk_take(&head, (uint8_t *)&words[1], CHUNK_HEADER - 8))
		return "the header of a chunk is cut off";
	chunk->data = (struct ts_chunk_data){ file, head.at, file.n - TS_MIN(head.at, file.n) };
	if (chunks_hash_of(hashed) != words[0])
		return "the header of a chunk is damaged";
	chunk->data_size = words[1];
	chunk->data_hash = words[2];
	chunk->kind = (uint8_t)words[3];
	chunk->nr_records = words[3] >> 8;
	chunk->decoded_size = words[4];
	if (chunk->data_size > file.n)
		return "a chunk is cut off";
	chunk->data.left = chunk->data_size;
	chunk->end = chunks_end_of(chunk);
	return chunk->end - chunk->nr_records > file.n &&
			       !chunk_skip(
				       &(struct ts_chunk_data){ file, head.at, chunk->data_size },
				       chunk->data_size)
		       ? "a chunk is cut off"
		       : NULL;
}

/* Writing */

static uint64_t hash_of_bytes(struct ts_bytes bytes)
{
	struct ts_highway hash;

	ts_highway_init(&hash, hash_key);
	ts_highway_add(&hash, bytes);
	return ts_highway_finish(&hash);
}

/* Says how far it is to the chunk's begin, and to its end. */
static void put_block_header(struct ts_buf *out, const struct ts_chunk *chunk, uint64_t at)
{
	const uint64_t words[] = { at - chunk->begin, chunk->end - at };
	struct ts_bytes bytes = { (const uint8_t *)words, sizeof(words) };
	uint64_t hash = hash_of_bytes(bytes);

	ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)&hash, sizeof(hash) });
	ts_buf_put(out, bytes);
}

/* BYTES of CHUNK that stand at *AT of the file. */
static void chunks_put_bytes(struct ts_buf *out, const struct ts_chunk *chunk, uint64_t *at,
			     struct ts_bytes bytes)
{
	while (bytes.n > 0) {
		size_t n;

		if (*at % BLOCK == 0) {
			put_block_header(out, chunk, *at);
			*at += BLOCK_HEADER;
		}
		n = TS_MIN(bytes.n, (size_t)(BLOCK - *at % BLOCK));
		ts_buf_put(out, ts_bytes_cut(bytes, 0, n));
		bytes = ts_bytes_cut(bytes, n, bytes.n);
		*at += n;
	}
}

/* A chunk at .begin with the data of FRONT and BACK. */
static void put_chunk(struct ts_buf *out, struct ts_chunk *chunk, struct ts_bytes front,
		      struct ts_bytes back)
{
	uint64_t words[NR_WORDS] = { 0 }, at = chunk->begin;
	struct ts_highway hash;

	ts_highway_init(&hash, hash_key);
	ts_highway_add(&hash, front);
	ts_highway_add(&hash, back);
	chunk->data_size = front.n + back.n;
	chunk->end = chunks_end_of(chunk);
	words[1] = chunk->data_size;
	words[2] = ts_highway_finish(&hash);
	words[3] = chunk->kind | chunk->nr_records << 8;
	words[4] = chunk->decoded_size;
	words[0] = hash_of_bytes((struct ts_bytes){ (const uint8_t *)&words[1], CHUNK_HEADER - 8 });
	chunks_put_bytes(out, chunk, &at,
			 (struct ts_bytes){ (const uint8_t *)words, sizeof(words) });
	chunks_put_bytes(out, chunk, &at, front);
	chunks_put_bytes(out, chunk, &at, back);
}

/* Up to the next block, and over it where there is no room for a header. */
static void chunks_put_padding(struct ts_buf *out, uint64_t at)
{
	static const uint8_t zeros[USABLE];
	size_t left = (size_t)(BLOCK - at % BLOCK);

	if (left == BLOCK)
		return;
	left += left < CHUNK_HEADER ? USABLE : 0;
	put_chunk(out, &(struct ts_chunk){ .begin = at, .kind = TS_CHUNK_PADDING },
		  (struct ts_bytes){ NULL, 0 }, (struct ts_bytes){ zeros, left - CHUNK_HEADER });
}

void ts_chunk_put(struct ts_buf *out, uint64_t at, struct ts_bytes record)
{
	struct ts_chunk chunk = {
		.begin = at, .kind = TS_CHUNK_SIMPLE, .nr_records = 1, .decoded_size = record.n
	};
	uint8_t head[1 + TS_PBW_VARINT + TS_PBW_VARINT] = { 0 }; /* not packed */
	uint8_t *p = ts_pbw_store(head + 1, ts_pbw_size(record.n));

	TS_ASSERT(out);
	TS_ASSERT(record.p || record.n == 0);
	p = ts_pbw_store(p, record.n);
	put_chunk(out, &chunk, (struct ts_bytes){ head, (size_t)(p - head) }, record);
	chunks_put_padding(out, chunk.end);
}
