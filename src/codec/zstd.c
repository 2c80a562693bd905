/* SPDX-License-Identifier: MIT */
/* Zstandard frames. */
#include "codec/zstd.h"

#include <zstd.h>

#include "base/check.h"

#define LEVEL 1 /* the quickest: tables are written once and mostly read soon */

void ts_zstd_put(struct ts_buf *out, struct ts_bytes bytes)
{
	size_t room = ZSTD_compressBound(bytes.n), n;

	TS_ASSERT(out);
	if (!ts_buf_room(out, room))
		return;
	n = ZSTD_compress(out->p + out->n, room, bytes.p, bytes.n, LEVEL);
	if (ZSTD_isError(n))
		out->failed = true;
	else
		out->n += n;
}
