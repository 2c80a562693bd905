/* SPDX-License-Identifier: MIT */
/*
 * A growing buffer to write into. The first failure sticks: later writes do nothing, and the owner
 * looks at .failed once at the end. Owned by the caller; free with ts_buf_release().
 */
#ifndef TS_BASE_BUF_H
#define TS_BASE_BUF_H

#include "base/bytes.h"

struct ts_buf {
	uint8_t *p;
	size_t n, cap;
	bool failed; /* memory ran out: the content is not whole */
};

#define TS_BUF_INIT { NULL, 0, 0, false }

void ts_buf_release(struct ts_buf *buf);
void ts_buf_clear(struct ts_buf *buf);		/* empty again, memory kept, .failed reset */
bool ts_buf_room(struct ts_buf *buf, size_t n); /* at least N bytes free behind .p + .n */
void ts_buf_put(struct ts_buf *buf, struct ts_bytes bytes);
void ts_buf_puts(struct ts_buf *buf, const char *s);
void ts_buf_putc(struct ts_buf *buf, char c);
void ts_buf_pad(struct ts_buf *buf, char c, size_t n); /* N times C */
void ts_buf_u64(struct ts_buf *buf, uint64_t value);   /* decimal */
void ts_buf_i64(struct ts_buf *buf, int64_t value);
void ts_buf_printf(struct ts_buf *buf, const char *fmt, ...) TS_PRINTF(2, 3);
struct ts_bytes ts_buf_bytes(const struct ts_buf *buf); /* a view, until the next write */

#endif
