/* SPDX-License-Identifier: MIT */
/* Members through libarchive's writer; the first one's header by hand (APPNOTE.TXT, 4.3.7). */
#include "codec/zip.h"

#include "base/check.h"
#include "base/units.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <zlib.h>

enum { HEADER_METHOD = 8, HEADER_NAME_BYTES = 26, HEADER_EXTRA_BYTES = 28, HEADER_END = 30 };
enum { METHOD_DEFLATE = 8 };
#define RAW_DEFLATE (-15) /* without zlib's header */

static enum ts_status zip_fail(struct ts_zip *zip, struct ts_error *err)
{
	if (zip->story.status) {
		if (err)
			*err = zip->story;
		return zip->story.status;
	}
	if (!zip->a || archive_errno(zip->a) == ENOMEM)
		return ts_fail_nomem(err);
	return ts_fail(err, TS_IO, "cannot write the archive: %s", archive_error_string(zip->a));
}

/* The library does not hear of a failure: it would give up at once, and leave its deflate's memory behind. */
static la_ssize_t zip_put_bytes(struct archive *a, void *ctx, const void *p, size_t n)
{
	struct ts_zip *zip = ctx;

	if (!zip->story.status)
		zip->story.status = zip->take(zip->arg, (struct ts_bytes){ p, n }, &zip->story);
	return (la_ssize_t)n;
}

enum ts_status ts_zip_open(struct ts_zip *zip,
			   enum ts_status (*take)(void *arg, struct ts_bytes piece,
						  struct ts_error *err),
			   void *arg, struct ts_error *err)
{
	char level[] = { '0' + TS_ZIP_LEVEL, '\0' };

	TS_ASSERT(zip && take);
	*zip = (struct ts_zip){
		.a = archive_write_new(), .take = take, .arg = arg, .story = TS_ERROR_INIT
	};
	if (!zip->a || archive_write_set_format_zip(zip->a) != ARCHIVE_OK ||
	    archive_write_zip_set_compression_deflate(zip->a) != ARCHIVE_OK ||
	    archive_write_set_format_option(zip->a, "zip", "compression-level", level) <
		    ARCHIVE_WARN ||
	    archive_write_set_bytes_in_last_block(zip->a, 1) != ARCHIVE_OK ||
	    archive_write_open(zip->a, zip, NULL, zip_put_bytes, NULL) != ARCHIVE_OK)
		return zip_fail(zip, err);
	return TS_OK;
}

enum ts_status ts_zip_begin(struct ts_zip *zip, const char *name, int64_t nr_bytes,
			    struct ts_error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int result;

	TS_ASSERT(zip && name);
	if (!entry)
		return ts_fail_nomem(err);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	if (nr_bytes != TS_ZIP_ANY)
		archive_entry_set_size(entry, nr_bytes);
	result = archive_write_header(zip->a, entry);
	archive_entry_free(entry);
	return result < ARCHIVE_WARN || zip->story.status ? zip_fail(zip, err) : TS_OK;
}

enum ts_status ts_zip_put(struct ts_zip *zip, struct ts_bytes bytes, struct ts_error *err)
{
	TS_ASSERT(zip);
	while (bytes.n > 0) {
		la_ssize_t n = archive_write_data(zip->a, bytes.p, bytes.n);

		if (n <= 0 || zip->story.status)
			return zip_fail(zip, err);
		bytes = ts_bytes_cut(bytes, (size_t)n, bytes.n);
	}
	return TS_OK;
}

enum ts_status ts_zip_close(struct ts_zip *zip, struct ts_error *err)
{
	TS_ASSERT(zip);
	return archive_write_close(zip->a) < ARCHIVE_WARN || zip->story.status ? zip_fail(zip, err)
									       : TS_OK;
}

void ts_zip_release(struct ts_zip *zip)
{
	TS_ASSERT(zip);
	if (zip->a)
		archive_write_free(zip->a);
	zip->a = NULL;
}

static size_t zip_number_at(struct ts_bytes bytes, size_t at)
{
	return (size_t)bytes.p[at] | (size_t)bytes.p[at + 1] << 8;
}

static void inflate_head(struct ts_bytes packed, struct ts_buf *out, size_t max)
{
	z_stream z = { .next_in = (Bytef *)packed.p, .avail_in = (uInt)TS_MIN(packed.n, 2 * max) };

	if (!ts_buf_room(out, max) || inflateInit2(&z, RAW_DEFLATE) != Z_OK) {
		out->failed = true;
		return;
	}
	z.next_out = out->p + out->n;
	z.avail_out = (uInt)max;
	(void)inflate(&z, Z_SYNC_FLUSH); /* of what is damaged, that which came out */
	out->n += max - z.avail_out;
	inflateEnd(&z);
}

void ts_zip_head(struct ts_bytes bytes, const char *name, size_t max, struct ts_buf *out)
{
	size_t at;

	TS_ASSERT(bytes.p || bytes.n == 0);
	TS_ASSERT(name && out);
	if (!ts_bytes_starts(bytes, "PK\003\004") || bytes.n < HEADER_END ||
	    zip_number_at(bytes, HEADER_METHOD) != METHOD_DEFLATE)
		return;
	at = HEADER_END + zip_number_at(bytes, HEADER_NAME_BYTES);
	if (!ts_bytes_is(ts_bytes_cut(bytes, HEADER_END, at - HEADER_END), name))
		return;
	at += zip_number_at(bytes, HEADER_EXTRA_BYTES);
	inflate_head(ts_bytes_cut(bytes, at, bytes.n), out, max);
}
