/* SPDX-License-Identifier: MIT */
/*
 * ZIP, on libarchive: members one after the other, in pieces to whoever takes them. There is no time in it, so
 * the same members give the same bytes. Names are ASCII.
 *
 *	struct ts_zip zip = TS_ZIP_INIT;
 *	ts_zip_open(&zip, ts_newfile_take, &file, err);
 *	ts_zip_begin(&zip, "trace.json", TS_ZIP_ANY, err);	for each member
 *	ts_zip_put(&zip, bytes, err);		as often as needed
 *	ts_zip_close(&zip, err);
 *	ts_zip_release(&zip);					in every case
 */
#ifndef TS_CODEC_ZIP_H
#define TS_CODEC_ZIP_H

#include "base/buf.h"
#include "base/status.h"

struct archive;

struct ts_zip {
	struct archive *a;
	enum ts_status (*take)(void *arg, struct ts_bytes piece, struct ts_error *err);
	void *arg;
	struct ts_error story; /* of the first piece that was not taken */
};

#define TS_ZIP_INIT  { NULL, NULL, NULL, TS_ERROR_INIT }
#define TS_ZIP_ANY   (-1) /* a member of any size: it has the form for more than 4 GiB, which Excel does not read */
#define TS_ZIP_LEVEL 3 /* of deflate, as of gzip: 6 takes twice the time for a fifth less */

enum ts_status ts_zip_open(struct ts_zip *zip,
			   enum ts_status (*take)(void *arg, struct ts_bytes piece,
						  struct ts_error *err),
			   void *arg, struct ts_error *err);
/* NR_BYTES follow, or TS_ZIP_ANY. */
enum ts_status ts_zip_begin(struct ts_zip *zip, const char *name, int64_t nr_bytes,
			    struct ts_error *err);
enum ts_status ts_zip_put(struct ts_zip *zip, struct ts_bytes bytes, struct ts_error *err);
enum ts_status ts_zip_close(struct ts_zip *zip, struct ts_error *err);
void ts_zip_release(struct ts_zip *zip);

/* Appends the first MAX unpacked bytes (fewer when there are fewer) of the first member to OUT, where
 * that is a deflated one of the name. */
void ts_zip_head(struct ts_bytes bytes, const char *name, size_t max, struct ts_buf *out);

#endif
