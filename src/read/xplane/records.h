/* SPDX-License-Identifier: MIT */
/*
 * Riegeli/records files (github.com/google/riegeli, doc/riegeli_records_file_format.md): records one after the other,
 * packed in chunks. What XLA's profiler writes as HOST.xplane.riegeli are simple chunks, packed with Brotli; Zstd and
 * chunks that are not packed are read, too. Memory is bounded: records go to a temporary file as they are unpacked.
 *
 * Headers and data of chunks are held against their hashes (codec/chunks.h). A chunk whose data is damaged is left out. A damaged header of a chunk ends the file.
 * Left out: transposed chunks, Snappy, and what the metadata says of the records.
 */
#ifndef TS_READ_XPLANE_RECORDS_H
#define TS_READ_XPLANE_RECORDS_H

#include "io/scratch.h"

struct ts_records_damage {
	const char *cause; /* NULL: all is well */
	uint64_t at;	   /* byte of the file */
};

/*
 * Appends all records to OUT, without anything between them. The first damage is noted; records before it, and those
 * behind a chunk that is damaged, count. TS_LIMIT: a small file that unpacks to something huge.
 */
enum ts_status ts_records_unpack(struct ts_bytes bytes, struct ts_scratch *out,
				 struct ts_records_damage *damage, struct ts_error *err);

#endif
