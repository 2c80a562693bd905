/* SPDX-License-Identifier: MIT */
/*
 * Where a copy is written: a new file, packed (gzip) when its name ends in .gz, and it appears only
 * when it is whole (io/newfile.h).
 *
 * The first failure sticks: later writes do nothing, and ts_copy_commit() says what it was. Memory
 * is a buffer of TS_COPY_BUFFER bytes, of a packed file two of them and zlib's state.
 */
#ifndef TS_COPY_OUT_H
#define TS_COPY_OUT_H

#include "io/gzip.h"
#include "io/newfile.h"

#define TS_COPY_BUFFER (1 * 1024 * 1024)

struct ts_copy_out {
	struct ts_newfile file;
	struct ts_gzip gz;
	bool packed;
	struct ts_buf text, members;
	enum ts_status st;
	struct ts_error err;
	uint64_t nr_bytes; /* written so far, unpacked */
	const char *path;  /* the caller's, as long as this is used */
};

enum ts_status ts_copy_open(struct ts_copy_out *out, const char *path,
			    const struct ts_newfile_use *use, struct ts_error *err);
void ts_copy_put(struct ts_copy_out *out, struct ts_bytes bytes);
void ts_copy_puts(struct ts_copy_out *out, const char *text);
/* Memory ran out while a piece was made: this sticks as any failure does. */
void ts_copy_nomem(struct ts_copy_out *out);
/* What has stuck so far. */
enum ts_status ts_copy_status(const struct ts_copy_out *out, struct ts_error *err);
enum ts_status ts_copy_commit(struct ts_copy_out *out, struct ts_error *err);
void ts_copy_release(
	struct ts_copy_out *out); /* without a commit no file is there, or the old one */

#endif
