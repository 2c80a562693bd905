/* SPDX-License-Identifier: MIT */
/* Growing buffer with a sticky failure. */
#include "base/buf.h"

#include "base/check.h"

#include <stdarg.h>

void ts_buf_release(struct ts_buf *buf)
{
	TS_ASSERT(buf);
	free(buf->p);
	*buf = (struct ts_buf)TS_BUF_INIT;
}

void ts_buf_clear(struct ts_buf *buf)
{
	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	buf->n = 0;
	buf->failed = false;
}

bool ts_buf_room(struct ts_buf *buf, size_t n)
{
	size_t cap;
	uint8_t *p;

	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	if (buf->failed)
		return false;
	if (n <= buf->cap - buf->n)
		return true;
	cap = n > SIZE_MAX / 2 - buf->n ? 0 : TS_MAX(buf->n + n, buf->cap + buf->cap / 2);
	cap = cap ? TS_MAX(cap, 256) : 0;
	p = cap ? realloc(buf->p, cap) : NULL;
	if (!p) {
		buf->failed = true;
		return false;
	}
	buf->p = p;
	buf->cap = cap;
	return true;
}

void ts_buf_put(struct ts_buf *buf, struct ts_bytes bytes)
{
	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	TS_ASSERT_HOT(bytes.p || bytes.n == 0);
	if (bytes.n == 0 || !ts_buf_room(buf, bytes.n))
		return;
	memcpy(buf->p + buf->n, bytes.p, bytes.n);
	buf->n += bytes.n;
}

void ts_buf_puts(struct ts_buf *buf, const char *s)
{
	TS_ASSERT_HOT(buf && s && buf->n <= buf->cap);
	ts_buf_put(buf, ts_bytes_of(s));
}

void ts_buf_putc(struct ts_buf *buf, char c)
{
	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	if (ts_buf_room(buf, 1))
		buf->p[buf->n++] = (uint8_t)c;
}

void ts_buf_pad(struct ts_buf *buf, char c, size_t n)
{
	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	if (n == 0 || !ts_buf_room(buf, n))
		return;
	memset(buf->p + buf->n, c, n);
	buf->n += n;
}

void ts_buf_u64(struct ts_buf *buf, uint64_t value)
{
	uint8_t digits[20];
	size_t at = sizeof(digits);

	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	do {
		digits[--at] = (uint8_t)('0' + value % 10);
		value /= 10;
	} while (value);
	ts_buf_put(buf, (struct ts_bytes){ digits + at, sizeof(digits) - at });
}

void ts_buf_i64(struct ts_buf *buf, int64_t value)
{
	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	if (value < 0)
		ts_buf_putc(buf, '-');
	ts_buf_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void ts_buf_printf(struct ts_buf *buf, const char *fmt, ...)
{
	va_list ap;
	int n;

	TS_ASSERT(buf && fmt);
	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !ts_buf_room(buf, (size_t)n + 1)) {
		buf->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf((char *)buf->p + buf->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	buf->n += (size_t)n;
}

struct ts_bytes ts_buf_bytes(const struct ts_buf *buf)
{
	TS_ASSERT_HOT(buf && buf->n <= buf->cap);
	return (struct ts_bytes){ buf->p, buf->n };
}
