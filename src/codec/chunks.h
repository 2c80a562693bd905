/* SPDX-License-Identifier: MIT */
/*
 * Chunks, of which Riegeli/records files are made (github.com/google/riegeli, doc/riegeli_records_file_format.md): a header
 * with hashes, and data. What is between a file's bytes and the records in a chunk is here; records are unpacked
 * elsewhere (read/xplane/records.h).
 *
 * The header of a block stands at every multiple of 64 KiB, also inside of a chunk, so data comes in pieces. Headers of blocks
 * are for seeking: they are written, and passed over when read.
 */
#ifndef TS_CODEC_CHUNKS_H
#define TS_CODEC_CHUNKS_H

#include "base/buf.h"

enum {
	TS_CHUNK_SIGNATURE = 's', /* a file begins with one; others may stand anywhere */
	TS_CHUNK_METADATA = 'm',
	TS_CHUNK_PADDING = 'p',
	TS_CHUNK_SIMPLE = 'r',
	TS_CHUNK_TRANSPOSED = 't',
};

/* Data that is still to come. */
struct ts_chunk_data {
	struct ts_bytes file;
	uint64_t at, left;
};

struct ts_chunk {
	uint64_t begin, end; /* of the file: another chunk begins there, or the file ends */
	uint8_t kind;
	uint64_t nr_records, decoded_size;
	uint64_t data_size, data_hash;
	struct ts_chunk_data data;
};

/* Does a file begin as these do? */
bool ts_chunk_probe(struct ts_bytes file);
/*
 * The chunk at BEGIN. NULL: its header is good, and all of it is there; else what is wrong. .data can be looked at in any case,
 * of a damaged header up to the end of the file.
 */
const char *ts_chunk_at(struct ts_bytes file, uint64_t begin, struct ts_chunk *chunk);
bool ts_chunk_is_good(const struct ts_chunk *chunk); /* the data is what its hash says */

/* The next piece that stands together; false at the end, also of a file that is cut off. */
bool ts_chunk_piece(struct ts_chunk_data *data, struct ts_bytes *piece);
/* Copies the next bytes, N or as many as there are. */
size_t ts_chunk_copy(const struct ts_chunk_data *data, uint8_t *p, size_t n);
/* Of a simple chunk: goes on to the values of its records; PACKING is how they are packed, 0: they are not. */
bool ts_chunk_values(struct ts_chunk_data *data, uint8_t *packing);

/*
 * Appends to OUT what stands at byte AT of a file, where a chunk has ended: a chunk with RECORD as it is, and padding up to
 * the next block, as a profiler that goes on writes whole blocks behind it.
 */
void ts_chunk_put(struct ts_buf *out, uint64_t at, struct ts_bytes record);

#endif
