/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ZIP onto a buffer, by hand on zlib's deflate: for outputs, which are bytes in memory. (io/zip.h writes files of any
 * size.) There is no time in it, so the same members give the same bytes.
 *
 *	struct ts_zipw zip = ts_zipw_of(&buf);
 *
 *	ts_zipw_member(&zip, "a.xml", text);	for each member
 *	ts_zipw_end(&zip);			in every case: it releases what it holds
 *
 * Names are ASCII. Only the buffer is the caller's; when memory runs out, or a member is larger than ZIP can say without
 * its extension for 64 bits (4 GiB), its .failed is set. The buffer may hold something before.
 */
#ifndef TS_CODEC_ZIPW_H
#define TS_CODEC_ZIPW_H

#include "base/buf.h"

struct ts_zipw {
	struct ts_buf *out;
	size_t start;		 /* of the archive in the buffer */
	struct ts_buf directory; /* of the members so far */
	size_t nr_members;
};

static inline struct ts_zipw ts_zipw_of(struct ts_buf *out)
{
	return (struct ts_zipw){ .out = out, .start = out->n, .directory = TS_BUF_INIT };
}

void ts_zipw_member(struct ts_zipw *zip, const char *name, struct ts_bytes bytes);
void ts_zipw_end(struct ts_zipw *zip);

#endif
