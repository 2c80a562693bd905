/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZIP, on libarchive: members one after the other into a new file. There is no time in it, so the same
 * members give the same bytes. Names are ASCII.
 *
 *	struct ts_zip zip = TS_ZIP_INIT;
 *	ts_zip_open(&zip, file, err);
 *	ts_zip_begin(&zip, "trace.json", err);	for each member
 *	ts_zip_put(&zip, bytes, err);		as often as needed
 *	ts_zip_close(&zip, err);
 *	ts_zip_release(&zip);					in every case
 */
#ifndef TS_IO_ZIP_H
#define TS_IO_ZIP_H

#include "io/newfile.h"

struct archive;

struct ts_zip {
	struct archive *a;
	struct ts_newfile *file;
	struct ts_error story; /* of the file, where it could not be written */
};

#define TS_ZIP_INIT  { NULL, NULL, TS_ERROR_INIT }
#define TS_ZIP_LEVEL 3 /* of deflate, as of gzip: 6 takes twice the time for a fifth less */

/* FILE is open, and the caller's until release. */
enum ts_status ts_zip_open(struct ts_zip *zip, struct ts_newfile *file, struct ts_error *err);
enum ts_status ts_zip_begin(struct ts_zip *zip, const char *name, struct ts_error *err);
enum ts_status ts_zip_put(struct ts_zip *zip, struct ts_bytes bytes, struct ts_error *err);
enum ts_status ts_zip_close(struct ts_zip *zip, struct ts_error *err);
void ts_zip_release(struct ts_zip *zip);

/* Appends the first MAX unpacked bytes (fewer when there are fewer) of the first member to OUT, where
 * that is a deflated one of the name. */
void ts_zip_head(struct ts_bytes bytes, const char *name, size_t max, struct ts_buf *out);

#endif
